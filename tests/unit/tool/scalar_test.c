// SPDX-License-Identifier: MIT
#include "tools/zepi/scalar.h"

#include <criterion/criterion.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LARGEST_HALF 0x7bff

static double half_value(uint16_t half)
{
    return scalar_to_double(ZEPI_SCALAR_FLOAT16, &half);
}

// Parses the number, and with `tail` behind its last digit.
static uint16_t parse_half(double number, const char *tail)
{
    char text[128];
    uint16_t half = 0xffff;
    snprintf(text, sizeof(text), "%.60f%s", number, tail);
    cr_assert(scalar_parse(ZEPI_SCALAR_FLOAT16, text, &half), "%s", text);
    return half;
}

Test(tool_scalar, every_half_is_read_back_as_itself)
{
    for (uint32_t half = 0; half <= LARGEST_HALF; half++) {
        cr_assert_eq(parse_half(half_value((uint16_t)half), ""), half);
        cr_assert_eq(parse_half(-half_value((uint16_t)half), ""), half | 0x8000u);
    }
}

Test(tool_scalar, halves_are_rounded_to_the_nearest_and_ties_to_even)
{
    for (uint32_t half = 0; half < LARGEST_HALF; half++) {
        // Exact: a half has 11 digits, a double 53.
        const double middle = (half_value((uint16_t)half) + half_value((uint16_t)(half + 1))) / 2;
        cr_assert_eq(parse_half(middle, ""), half & 1 ? half + 1 : half);
        cr_assert_eq(parse_half(nextafter(middle, 0), ""), half);
        cr_assert_eq(parse_half(nextafter(middle, INFINITY), ""), half + 1);
        // So little above the middle that the nearest double is the middle.
        cr_assert_eq(parse_half(middle, "1"), half + 1);
    }
}

Test(tool_scalar, numbers_outside_of_a_type_are_no_values_of_it)
{
    static const struct {
        const char *type;
        const char *good;
        const char *bad;
    } cases[] = {{"i8", "-128", "-129"},
                 {"i8", "127", "128"},
                 {"u8", "255", "256"},
                 {"u8", "0", "-1"},
                 {"i16", "-32768", "-32769"},
                 {"u16", "0xffff", "0x10000"},
                 {"i32", "2147483647", "2147483648"},
                 {"u32", "4294967295", "4294967296"},
                 {"i64", "-9223372036854775808", "-9223372036854775809"},
                 {"i64", "9223372036854775807", "9223372036854775808"},
                 {"u64", "18446744073709551615", "18446744073709551616"},
                 {"bool", "true", "2"},
                 {"f16", "65519.99", "65520"},
                 {"f16", "-65504", "-65520"},
                 {"f32", "3.4028235e38", "3.4028236e38"},
                 {"f64", "1.7e308", "1e309"},
                 {"f64", "-inf", "-1e309"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value;
        const zepi_scalar_type_t type = scalar_type(cases[i].type);
        cr_expect(scalar_parse(type, cases[i].good, &value), "%s %s", cases[i].type, cases[i].good);
        cr_expect_not(scalar_parse(type, cases[i].bad, &value), "%s %s", cases[i].type,
                      cases[i].bad);
    }
}

Test(tool_scalar, what_is_not_wholly_a_number_is_none)
{
    static const char *const texts[] = {"", " ", " 1", "1 ", "1x", "0x", "-", "+", "--1", "1,2"};
    for (zepi_scalar_type_t type = ZEPI_SCALAR_BOOL; type <= ZEPI_SCALAR_FLOAT64; type++) {
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
            uint64_t value;
            cr_expect_not(scalar_parse(type, texts[i], &value), "%s '%s'", scalar_type_name(type),
                          texts[i]);
        }
    }
}

Test(tool_scalar, zeros_in_front_change_nothing)
{
    uint32_t value = 0;
    cr_assert(scalar_parse(ZEPI_SCALAR_UINT32, "0000000000000000000000000000000000010", &value));
    cr_assert_eq(value, 10);
}

Test(tool_scalar, floats_are_rounded_once)
{
    // Just above the middle of 1 and the next float; the nearest double is the middle.
    float value = 0;
    cr_assert(scalar_parse(ZEPI_SCALAR_FLOAT32, "1.00000005960464477539062500000001", &value));
    cr_assert_eq(value, nextafterf(1, 2));
}

Test(tool_scalar, ramps_of_whole_numbers_are_exact)
{
    int64_t wide[3];
    uint8_t narrow[3];
    cr_assert(scalar_ramp(ZEPI_SCALAR_INT64, "9007199254740993:-1", 3, wide));
    cr_assert_eq(wide[0], INT64_C(9007199254740993));
    cr_assert_eq(wide[2], INT64_C(9007199254740991));
    cr_assert(scalar_ramp(ZEPI_SCALAR_UINT8, "253", 3, narrow));
    cr_assert_eq(narrow[2], 255);
    cr_assert_not(scalar_ramp(ZEPI_SCALAR_UINT8, "254", 3, narrow));
    cr_assert_not(scalar_ramp(ZEPI_SCALAR_UINT8, "1:-1", 3, narrow));
    cr_assert_not(scalar_ramp(ZEPI_SCALAR_INT64, "9223372036854775806:1", 3, wide));
    cr_assert_not(scalar_ramp(ZEPI_SCALAR_INT8, "0:0.5", 3, narrow));
    cr_assert_not(scalar_ramp(ZEPI_SCALAR_INT8, "0:", 3, narrow));
}

Test(tool_scalar, ramps_of_floats_step_by_fractions)
{
    float values[3];
    uint16_t halves[2];
    cr_assert(scalar_ramp(ZEPI_SCALAR_FLOAT32, "1:-0.25", 3, values));
    cr_assert_eq(values[2], 0.5f);
    cr_assert_not(scalar_ramp(ZEPI_SCALAR_FLOAT16, "65504:16", 2, halves));
    cr_assert_not(scalar_ramp(ZEPI_SCALAR_FLOAT32, "x", 3, values));
}

Test(tool_scalar, what_is_printed_is_read_back)
{
    static const struct {
        const char *type;
        const char *text;
    } cases[] = {{"bool", "true"},
                 {"i8", "-128"},
                 {"u64", "18446744073709551615"},
                 {"i64", "-9223372036854775808"},
                 {"f16", "0.33325"},
                 {"f32", "0.100000001"},
                 {"f64", "0.10000000000000001"},
                 {"f32", "-inf"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value = 0;
        char text[SCALAR_TEXT_SIZE];
        const zepi_scalar_type_t type = scalar_type(cases[i].type);
        cr_expect(scalar_parse(type, cases[i].text, &value));
        cr_expect_str_eq(scalar_format(type, &value, text), cases[i].text);
    }
}
