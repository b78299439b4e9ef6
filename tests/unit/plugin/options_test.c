// SPDX-License-Identifier: MIT
#include "core/options.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// Criterion runs each test in a process of its own, and the environment is read once a process.

Test(options, have_defaults_and_a_list_of_them)
{
    uint32_t count;
    unsetenv("ZEPI_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "/x", 1);
    cr_assert(zepi_options()->cache_is_on && zepi_options()->disk_is_on);
    cr_assert_str_eq(zepi_options()->cache_folder, "/x/zepi");
    const zepi_option_t *list = zepi_options_list(&count);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(list[i].name && list[i].value && list[i].description);
        cr_assert_eq(strncmp(list[i].name, "ZEPI_", 5), 0);
    }
    cr_assert_gt(count, 8);
}

Test(options, take_numbers_with_units_and_words)
{
    setenv("ZEPI_CACHE_DISK_BYTES", "3M", 1);
    setenv("ZEPI_CACHE_MEMORY_BYTES", "unlimited", 1);
    setenv("ZEPI_CACHE_BINARY_BYTES", "0", 1);
    setenv("ZEPI_CACHE_DISK", "off", 1);
    setenv("ZEPI_LINK", "dynamic", 1);
    setenv("ZEPI_LOG", "info", 1);
    setenv("ZEPI_CACHE_SHARED", "unix:///run/redis", 1);
    setenv("ZEPI_CACHE_SHARED_SECONDS", "3600", 1);
    cr_assert_str_eq(zepi_options()->shared, "unix:///run/redis");
    cr_assert_eq(zepi_options()->shared_seconds, 3600);
    cr_assert_eq(zepi_options()->disk_bytes, 3u << 20);
    cr_assert_eq(zepi_options()->memory_bytes, UINT64_MAX);
    cr_assert_eq(zepi_options()->binary_bytes, 0);
    cr_assert(!zepi_options()->disk_is_on);
    cr_assert_eq(zepi_options()->link_method, ZEPI_LINK_DYNAMIC);
    cr_assert_eq(zepi_options()->log_level, ZEPI_LOG_INFO);
}

Test(options, that_are_not_understood_count_as_unset)
{
    uint32_t count;
    setenv("ZEPI_CACHE_DISK_BYTES", "3X", 1);
    setenv("ZEPI_CACHE_MEMORY_BYTES", "-1", 1);
    setenv("ZEPI_CACHE_BINARY_BYTES", "99999999999999999999", 1);
    setenv("ZEPI_LINK", "sometimes", 1);
    setenv("ZEPI_CACHE_SHARED_SECONDS", "3601", 1);
    cr_assert_eq(zepi_options()->shared_seconds, 60);
    cr_assert_eq(zepi_options()->disk_bytes, 1024u << 20);
    cr_assert_eq(zepi_options()->memory_bytes, 256u << 20);
    cr_assert_eq(zepi_options()->binary_bytes, 64u << 20);
    cr_assert_eq(zepi_options()->link_method, ZEPI_LINK_AUTO);
    const zepi_option_t *list = zepi_options_list(&count);
    for (uint32_t i = 0; i < count; i++)
        cr_assert(!list[i].is_set || strcmp(list[i].name, "ZEPI_CACHE_DIR") == 0);
}
