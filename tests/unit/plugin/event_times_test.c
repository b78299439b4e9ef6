// SPDX-License-Identifier: MIT
#include "queue/command/event_times.h"

#include "device/device.h"

#include <criterion/criterion.h>

#define BITS_32 UINT64_C(0xffffffff)
#define WRAP (BITS_32 + 1)

Test(event_times, are_unwrapped_to_the_first_moment_after)
{
    cr_assert_eq(zepi_timestamp_after(BITS_32, 5, 5), 5);
    cr_assert_eq(zepi_timestamp_after(BITS_32, 6, 5), 6);
    cr_assert_eq(zepi_timestamp_after(BITS_32, 4, 5), WRAP + 4);
    cr_assert_eq(zepi_timestamp_after(BITS_32, 10, 7 * WRAP + BITS_32), 8 * WRAP + 10);
    cr_assert_eq(zepi_timestamp_after(BITS_32, BITS_32, 7 * WRAP), 7 * WRAP + BITS_32);
    // Bits beyond the valid ones mean nothing.
    cr_assert_eq(zepi_timestamp_after(BITS_32, 99 * WRAP + 6, 3 * WRAP + 5), 3 * WRAP + 6);
}

Test(event_times, with_all_bits_are_what_they_are)
{
    cr_assert_eq(zepi_timestamp_after(UINT64_MAX, 1234567, 1234000), 1234567);
    cr_assert_eq(zepi_timestamp_near(UINT64_MAX, 1234567, 1234000), 1234567);
    cr_assert_eq(zepi_timestamp_near(UINT64_MAX, 1233999, 1234000), 1233999);
}

Test(event_times, a_little_before_are_no_wrap)
{
    cr_assert_eq(zepi_timestamp_near(BITS_32, 4, WRAP + 5), WRAP + 4);
    cr_assert_eq(zepi_timestamp_near(BITS_32, 6, WRAP + 5), WRAP + 6);
    // The wrap lies between the two.
    cr_assert_eq(zepi_timestamp_near(BITS_32, BITS_32 - 2, 3 * WRAP + 1), 3 * WRAP - 3);
    cr_assert_eq(zepi_timestamp_near(BITS_32, 3, 3 * WRAP - 1), 3 * WRAP + 3);
    // Long after is after.
    cr_assert_eq(zepi_timestamp_near(BITS_32, (uint64_t)3 << 30, 2 * WRAP),
                 2 * WRAP + ((uint64_t)3 << 30));
    // There is nothing before the clock's start.
    cr_assert_eq(zepi_timestamp_near(BITS_32, BITS_32, 0), BITS_32);
}

Test(event_times, in_ticks_become_nanoseconds_without_overflow)
{
    struct zepi_device device = {.timer_hz = 12500000};
    cr_assert_eq(zepi_device_ticks_to_ns(&device, 1), 80);
    cr_assert_eq(zepi_device_ticks_to_ns(&device, 12500000), 1000000000);
    // Ten years.
    cr_assert_eq(zepi_device_ticks_to_ns(&device, UINT64_C(12500000) * 315360000 + 3),
                 UINT64_C(315360000) * 1000000000 + 240);
    device.timer_hz = 19200000;
    cr_assert_eq(zepi_device_ticks_to_ns(&device, 19200001), 1000000052);
}
