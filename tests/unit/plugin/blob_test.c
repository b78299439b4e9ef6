// SPDX-License-Identifier: MIT
#include "program/device_image/blob.h"

#include <criterion/criterion.h>
#include <string.h>

enum { VARIANTS = 300, BYTES = 4096 };

static struct zepi_blob *get(const void *bytes, size_t size_bytes)
{
    struct zepi_blob *blob = NULL;
    cr_assert_eq(zepi_blob_get(bytes, size_bytes, false, &blob), ZEPI_SUCCESS);
    cr_assert_eq(blob->size_bytes, size_bytes);
    cr_assert_arr_eq(blob->bytes, bytes, size_bytes);
    return blob;
}

Test(blob, has_equal_bytes_once)
{
    uint8_t first[BYTES] = {1, 2, 3}, second[BYTES] = {1, 2, 3};
    struct zepi_blob *a = get(first, sizeof(first));
    struct zepi_blob *b = get(second, sizeof(second));
    cr_assert_eq(a, b);
    // Other bytes at the same address.
    first[BYTES / 2] = 7;
    struct zepi_blob *c = get(first, sizeof(first));
    cr_assert_neq(a, c);
    zepi_blob_release(a);
    zepi_blob_release(b);
    zepi_blob_release(c);
}

// Images of a compiler at run time: of one length, different in a few bytes anywhere.
Test(blob, tells_many_variants_apart)
{
    static uint8_t bytes[BYTES];
    static struct zepi_blob *variants[VARIANTS];
    for (int place = 0; place < 8; place++) {
        const size_t at = BYTES / 8 * (size_t)place + 16;
        for (uint32_t i = 0; i < VARIANTS; i++) {
            memcpy(&bytes[at], &i, sizeof(i));
            variants[i] = get(bytes, sizeof(bytes));
        }
        for (uint32_t i = 0; i < VARIANTS; i++) {
            memcpy(&bytes[at], &i, sizeof(i));
            struct zepi_blob *again = get(bytes, sizeof(bytes));
            cr_assert_eq(again, variants[i]);
            zepi_blob_release(again);
        }
        for (uint32_t i = 0; i < VARIANTS; i++)
            zepi_blob_release(variants[i]);
    }
}

Test(blob, takes_any_length)
{
    const uint8_t bytes[64] = {9, 8, 7};
    for (size_t size = 1; size <= sizeof(bytes); size++)
        zepi_blob_release(get(bytes, size));
}
