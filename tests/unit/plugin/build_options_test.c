// SPDX-License-Identifier: MIT
#include "program/build/build_options.h"

#include "core/alloc.h"
#include "device/device.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *text, const char *canonical)
{
    char out[256];
    const size_t length = zepi_build_options_normalize(text, out);
    cr_assert_eq(length, strlen(canonical), "'%s'", text);
    cr_assert_str_eq(out, canonical);
}

Test(build_options, differ_in_spacing_only_and_become_the_same)
{
    expect("", "");
    expect("   \t\n", "");
    expect("-a -b", "-a -b");
    expect("  -a \t  -b\n", "-a -b");
    expect("-a\r\n\v\f-b", "-a -b");
}

Test(build_options, keep_what_is_between_quotes)
{
    expect("-D  A=\"x  y\"", "-D A=\"x  y\"");
    expect("-D 'a \" b'   -c", "-D 'a \" b' -c");
    expect("\"a \\\" b\"  c", "\"a \\\" b\" c");
}

Test(build_options, with_an_open_quote_are_refused)
{
    char out[64];
    cr_assert_eq(zepi_build_options_normalize("-D \"x", out), SIZE_MAX);
    cr_assert_eq(zepi_build_options_normalize("'", out), SIZE_MAX);
    cr_assert_eq(zepi_build_options_normalize("\"a\\\"", out), SIZE_MAX);
}

Test(build_options, keep_their_order_and_get_debug_at_the_end)
{
    struct zepi_build_options options;
    const zepi_build_desc_t desc = {
        .size = sizeof(desc), .options = "-b   -a", .flags = ZEPI_BUILD_DEBUG};
    cr_assert_eq(zepi_build_options_init(&options, &desc), ZEPI_SUCCESS);
    cr_assert_str_eq(options.text, "-b -a -g");
    cr_assert_eq(options.length, 8);
    zepi_build_options_finish(&options);
    cr_assert_eq(zepi_build_options_init(&options, NULL), ZEPI_SUCCESS);
    cr_assert_str_eq(options.text, "");
    zepi_build_options_finish(&options);
}

static void expect_for(const zepi_build_desc_t *desc, bool has_large_allocations,
                       const char *expected)
{
    const struct zepi_device device = {.has_large_allocations = has_large_allocations};
    struct zepi_build_options options;
    cr_assert_eq(zepi_build_options_init(&options, desc), ZEPI_SUCCESS);
    char *text = zepi_build_options_for(&options, &device);
    cr_assert_str_eq(text, expected);
    zepi_free(text);
    zepi_build_options_finish(&options);
}

Test(build_options, name_large_allocations_for_devices_that_have_them)
{
    const zepi_build_desc_t desc = {
        .size = sizeof(desc), .options = "-a", .flags = ZEPI_BUILD_DEBUG};
    expect_for(&desc, true, "-a -g -ze-opt-greater-than-4GB-buffer-required");
    expect_for(&desc, false, "-a -g");
    expect_for(NULL, true, "-ze-opt-greater-than-4GB-buffer-required");
    expect_for(NULL, false, "");
}

Test(build_options, of_any_length_are_copied)
{
    static char text[10000];
    struct zepi_build_options options;
    memset(text, 'x', sizeof(text) - 1);
    const zepi_build_desc_t desc = {.size = sizeof(desc), .options = text};
    cr_assert_eq(zepi_build_options_init(&options, &desc), ZEPI_SUCCESS);
    cr_assert_eq(options.length, sizeof(text) - 1);
    zepi_build_options_finish(&options);
}

Test(build_options, that_are_not_known_are_refused)
{
    struct zepi_build_options options;
    zepi_build_desc_t desc = {.size = sizeof(desc), .flags = 0x10};
    cr_assert_eq(zepi_build_options_init(&options, &desc), ZEPI_ERROR_INVALID_VALUE);
    desc = (zepi_build_desc_t){.size = sizeof(desc), .native_policy = 7};
    cr_assert_eq(zepi_build_options_init(&options, &desc), ZEPI_ERROR_INVALID_VALUE);
    desc = (zepi_build_desc_t){.size = 4};
    cr_assert_eq(zepi_build_options_init(&options, &desc), ZEPI_ERROR_INVALID_SIZE);
}
