// SPDX-License-Identifier: MIT
#include "cache/digest.h"

#include <criterion/criterion.h>

Test(digest, is_xxh3_128)
{
    char hex[ZEPI_DIGEST_HEX_LENGTH + 1];
    zepi_digest_to_hex(zepi_digest_of(NULL, 0), hex);
    cr_assert_str_eq(hex, "99aa06d3014798d86001c324468d497f");
}

Test(digest, of_parts_is_that_of_the_whole)
{
    const char text[] = "the same bytes, however they are cut";
    struct zepi_digest whole = zepi_digest_of(text, sizeof(text));
    for (size_t cut = 0; cut <= sizeof(text); cut++) {
        const struct zepi_digest_part parts[] = {
            {text, cut}, {NULL, 0}, {text + cut, sizeof(text) - cut}};
        cr_assert(zepi_digest_equal(whole, zepi_digest_of_parts(parts, 3)), "cut at %zu", cut);
    }
}

Test(digest, is_equal_to_none_that_differs_in_a_byte)
{
    const struct zepi_digest digest = zepi_digest_of("bytes", 5);
    cr_assert(zepi_digest_equal(digest, zepi_digest_of("bytes", 5)));
    for (size_t at = 0; at < sizeof(digest); at++) {
        struct zepi_digest other = digest;
        ((uint8_t *)&other)[at] ^= 1;
        cr_assert_not(zepi_digest_equal(digest, other), "byte %zu", at);
    }
}
