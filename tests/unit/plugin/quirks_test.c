// SPDX-License-Identifier: MIT
#include "ze/quirks.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// Builds of Intel's releases: the last part of the driver's version.
enum { BUILD_22_43 = 24595, BUILD_26_27 = 39122 };

static const uint32_t costly =
    ZEPI_QUIRK_EARLY_COPIES | ZEPI_QUIRK_SLOW_TIMED_STATUS | ZEPI_QUIRK_TIMES_STAY_ON_DEVICE;
static const uint32_t intel = ZEPI_QUIRK_UNTOLD_NATIVE_FORMAT | ZEPI_QUIRK_UNTOLD_ASSERTS |
                              ZEPI_QUIRK_PROCESSOR_COPIES | ZEPI_QUIRK_KEPT_HOST_PAGES |
                              ZEPI_QUIRK_WAITS_FOR_ENGINE;

static uint32_t forced(const char *text, uint32_t bits)
{
    cr_assert_eq(zepi_quirks_force(text, &bits), ZEPI_SUCCESS, "%s", text);
    return bits;
}

Test(quirks, are_chosen_by_driver_and_version)
{
    cr_assert_eq(zepi_quirks_find(true, BUILD_26_27), costly | intel);
    cr_assert_eq(zepi_quirks_find(true, BUILD_26_27 + 1000), costly | intel);
    cr_assert_eq(zepi_quirks_find(true, BUILD_22_43), ZEPI_QUIRK_TIMES_STAY_ON_DEVICE |
                                                          ZEPI_QUIRK_UNTOLD_NATIVE_FORMAT |
                                                          ZEPI_QUIRK_KEPT_HOST_PAGES);
    cr_assert_eq(zepi_quirks_find(true, BUILD_22_43 + 1), costly | intel);
    // What costs is done for ze_cpu, and for a driver that is not known, of which nothing is said.
    cr_assert_eq(zepi_quirks_find(false, 256), costly);
    cr_assert_eq(zepi_quirks_find(false, 0), costly);
}

Test(quirks, are_forced_by_name_in_the_order_of_the_text)
{
    cr_assert_eq(forced("", 5), 5);
    cr_assert_eq(forced("none", UINT32_MAX), 0);
    cr_assert_eq(forced("none,early-copies", UINT32_MAX), ZEPI_QUIRK_EARLY_COPIES);
    cr_assert_eq(forced("untold-asserts,", ZEPI_QUIRK_EARLY_COPIES),
                 ZEPI_QUIRK_EARLY_COPIES | ZEPI_QUIRK_UNTOLD_ASSERTS);
    cr_assert_eq(forced("all,-early-copies", 0), ~(uint32_t)ZEPI_QUIRK_EARLY_COPIES);
    cr_assert_eq(forced("-early-copies", costly), costly & ~(uint32_t)ZEPI_QUIRK_EARLY_COPIES);
    cr_assert_eq(forced("-early-copies,early-copies", 0), ZEPI_QUIRK_EARLY_COPIES);
}

Test(quirks, with_unknown_names_are_refused_with_those_that_there_are)
{
    // The last is avoided on every driver.
    static const char *const texts[] = {"early-copy",
                                        "none,early_copies",
                                        ",",
                                        "early-copies,,all",
                                        "-",
                                        "--early-copies",
                                        "-none",
                                        "early-copies ",
                                        "reset-writes-to-list"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        uint32_t bits = 5;
        cr_assert_eq(zepi_quirks_force(texts[i], &bits), ZEPI_ERROR_INVALID_VALUE, "%s", texts[i]);
        cr_assert_eq(bits, 5, "%s", texts[i]);
        cr_assert(strstr(zepi_last_error(NULL), "early-copies,slow-timed-status"), "%s",
                  zepi_last_error(NULL));
    }
}
