// SPDX-License-Identifier: MIT
#include "scalar.h"

#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum family { FAMILY_BOOL, FAMILY_SIGNED, FAMILY_UNSIGNED, FAMILY_FLOAT };

static const struct {
    const char *name;
    size_t size;
    enum family family;
} types[] = {
    [ZEPI_SCALAR_BOOL] = {"bool", 1, FAMILY_BOOL},
    [ZEPI_SCALAR_INT8] = {"i8", 1, FAMILY_SIGNED},
    [ZEPI_SCALAR_UINT8] = {"u8", 1, FAMILY_UNSIGNED},
    [ZEPI_SCALAR_INT16] = {"i16", 2, FAMILY_SIGNED},
    [ZEPI_SCALAR_UINT16] = {"u16", 2, FAMILY_UNSIGNED},
    [ZEPI_SCALAR_INT32] = {"i32", 4, FAMILY_SIGNED},
    [ZEPI_SCALAR_UINT32] = {"u32", 4, FAMILY_UNSIGNED},
    [ZEPI_SCALAR_INT64] = {"i64", 8, FAMILY_SIGNED},
    [ZEPI_SCALAR_UINT64] = {"u64", 8, FAMILY_UNSIGNED},
    [ZEPI_SCALAR_FLOAT16] = {"f16", 2, FAMILY_FLOAT},
    [ZEPI_SCALAR_FLOAT32] = {"f32", 4, FAMILY_FLOAT},
    [ZEPI_SCALAR_FLOAT64] = {"f64", 8, FAMILY_FLOAT},
};
#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

const char *const scalar_type_names = "bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32 or f64";

zepi_scalar_type_t scalar_type(const char *name)
{
    for (size_t i = 1; i < TYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0)
            return (zepi_scalar_type_t)i;
    }
    return 0;
}

const char *scalar_type_name(zepi_scalar_type_t type)
{
    return types[type].name;
}

size_t scalar_size(zepi_scalar_type_t type)
{
    return types[type].size;
}

// To half precision, to the nearest, ties to even.
static uint16_t half_from_double(double number)
{
    const uint16_t sign = signbit(number) ? 0x8000 : 0;
    const double magnitude = fabs(number);
    int exponent;
    if (isnan(number))
        return sign | 0x7e00;
    if (magnitude == 0)
        return sign;
    frexp(magnitude, &exponent);
    // Steps of the result: 2^-10 of its power of two, never finer than 2^-24.
    const int step = exponent - 1 < -14 ? -24 : exponent - 11;
    const double steps = nearbyint(ldexp(magnitude, -step));
    if (isinf(magnitude) || ldexp(steps, step) >= 65520)
        return sign | 0x7c00;
    const double rounded = ldexp(steps, step);
    if (rounded < ldexp(1, -14))
        return sign | (uint16_t)ldexp(rounded, 24);
    frexp(rounded, &exponent);
    const uint16_t mantissa = (uint16_t)(ldexp(rounded, 11 - exponent) - 1024);
    return sign | (uint16_t)((exponent + 14) << 10) | mantissa;
}

static double half_to_double(uint16_t half)
{
    const int exponent = half >> 10 & 0x1f;
    const int mantissa = half & 0x3ff;
    double number;
    if (exponent == 31)
        number = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        number = ldexp(mantissa, -24);
    else
        number = ldexp(1024 + mantissa, exponent - 25);
    return half & 0x8000 ? -number : number;
}

static void store_integer(size_t size, uint64_t bits, void *out_value)
{
    // Little endian, as every host that Level Zero runs on.
    memcpy(out_value, &bits, size);
}

static bool parse_bool(const char *text, void *out_value)
{
    const bool is_true = strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
    if (!is_true && strcmp(text, "0") != 0 && strcmp(text, "false") != 0)
        return false;
    *(uint8_t *)out_value = is_true;
    return true;
}

// strtoll and strtoull skip space, and take a leading zero for octal.
static bool has_digit_first(const char *text)
{
    text += *text == '-' || *text == '+';
    return *text >= '0' && *text <= '9';
}

static int base_of(const char *text)
{
    text += *text == '-' || *text == '+';
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}

static bool parse_integer(size_t size, enum family family, const char *text, void *out_value)
{
    char *end;
    uint64_t bits;
    const int shift = 64 - (int)size * 8;
    if (!has_digit_first(text))
        return false;
    errno = 0;
    if (family == FAMILY_SIGNED) {
        const int64_t number = strtoll(text, &end, base_of(text));
        bits = (uint64_t)number;
        if (number > INT64_MAX >> shift || number < INT64_MIN >> shift)
            return false;
    } else {
        bits = strtoull(text, &end, base_of(text));
        if (text[0] == '-' || bits > UINT64_MAX >> shift)
            return false;
    }
    if (errno != 0 || *end != '\0')
        return false;
    store_integer(size, bits, out_value);
    return true;
}

// Rounds to odd: of the two doubles around the text's number the one with an odd last bit. Rounded
// to fewer digits, it gives the same as the number itself; after two roundings to the nearest it
// may not.
static double parse_to_odd(const char *text, char **out_end)
{
    const int rounding = fegetround();
    uint64_t bits;
    fesetround(FE_DOWNWARD);
    const double below = strtod(text, out_end);
    fesetround(FE_UPWARD);
    const double above = strtod(text, out_end);
    fesetround(rounding);
    memcpy(&bits, &below, sizeof(bits));
    return bits & 1 ? below : above;
}

static bool store_half(double number, void *out_value)
{
    const uint16_t half = half_from_double(number);
    memcpy(out_value, &half, sizeof(half));
    return (half & 0x7fff) != 0x7c00 || isinf(number);
}

static bool parse_float(size_t size, const char *text, void *out_value)
{
    char *end;
    bool is_good = (*text != '\0' && strchr(" \t\n\v\f\r", *text) == NULL);
    errno = 0;
    if (size == 8) {
        const double number = strtod(text, &end);
        is_good = is_good && !(errno == ERANGE && isinf(number));
        memcpy(out_value, &number, size);
    } else if (size == 4) {
        const float number = strtof(text, &end);
        is_good = is_good && !(errno == ERANGE && isinf(number));
        memcpy(out_value, &number, size);
    } else {
        const double number = parse_to_odd(text, &end);
        is_good = store_half(number, out_value) && is_good && !(errno == ERANGE && isinf(number));
    }
    return is_good && end != text && *end == '\0';
}

bool scalar_parse(zepi_scalar_type_t type, const char *text, void *out_value)
{
    uint8_t value[8] = {0};
    const size_t size = types[type].size;
    const enum family family = types[type].family;
    const bool is_good = family == FAMILY_BOOL    ? parse_bool(text, value)
                         : family == FAMILY_FLOAT ? parse_float(size, text, value)
                                                  : parse_integer(size, family, text, value);
    if (is_good)
        memcpy(out_value, value, size);
    return is_good;
}

bool scalar_parse_part(zepi_scalar_type_t type, const char *text, size_t length, void *out_value)
{
    char *copy = strndup(text, length);
    const bool is_good = copy && scalar_parse(type, copy, out_value);
    free(copy);
    return is_good;
}

// ---- Ramps ----

static bool ramp_of_integers(zepi_scalar_type_t type, const char *start_text, size_t start_length,
                             const char *step_text, uint64_t count, uint8_t *out)
{
    const size_t size = types[type].size;
    const bool is_signed = types[type].family == FAMILY_SIGNED;
    uint64_t start = 0;
    int64_t step;
    if (!scalar_parse_part(type, start_text, start_length, &start) ||
        !scalar_parse(ZEPI_SCALAR_INT64, step_text, &step))
        return false;
    const int shift = 64 - (int)size * 8;
    int64_t signed_at = (int64_t)(start << shift) >> shift;
    uint64_t unsigned_at = start;
    for (uint64_t i = 0; i < count; i++) {
        // The element after the last need not fit.
        if (i > 0 && (is_signed ? __builtin_add_overflow(signed_at, step, &signed_at)
                                : __builtin_add_overflow(unsigned_at, step, &unsigned_at)))
            return false;
        if (is_signed ? signed_at > INT64_MAX >> shift || signed_at < INT64_MIN >> shift
                      : unsigned_at > UINT64_MAX >> shift)
            return false;
        store_integer(size, is_signed ? (uint64_t)signed_at : unsigned_at, out + i * size);
    }
    return true;
}

static bool ramp_of_floats(size_t size, const char *start_text, size_t start_length,
                           const char *step_text, uint64_t count, uint8_t *out)
{
    double start;
    double step;
    if (!scalar_parse_part(ZEPI_SCALAR_FLOAT64, start_text, start_length, &start) ||
        !scalar_parse(ZEPI_SCALAR_FLOAT64, step_text, &step))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        const double number = start + step * (double)i;
        const float single = (float)number;
        if (size == 2 ? !store_half(number, out + i * size) : size == 4 && isinf(single))
            return false;
        if (size == 4)
            memcpy(out + i * size, &single, size);
        else if (size == 8)
            memcpy(out + i * size, &number, size);
    }
    return true;
}

bool scalar_ramp(zepi_scalar_type_t type, const char *text, uint64_t count, void *out_values)
{
    const size_t length = strcspn(text, ":");
    const char *step = text[length] ? text + length + 1 : "1";
    if (types[type].family == FAMILY_FLOAT)
        return ramp_of_floats(types[type].size, text, length, step, count, out_values);
    return types[type].family != FAMILY_BOOL &&
           ramp_of_integers(type, text, length, step, count, out_values);
}

static int64_t load_signed(size_t size, const void *value)
{
    uint64_t bits = 0;
    const int shift = 64 - (int)size * 8;
    memcpy(&bits, value, size);
    return (int64_t)(bits << shift) >> shift;
}

static uint64_t load_unsigned(size_t size, const void *value)
{
    uint64_t bits = 0;
    memcpy(&bits, value, size);
    return bits;
}

double scalar_to_double(zepi_scalar_type_t type, const void *value)
{
    const size_t size = types[type].size;
    float single;
    double number;
    if (types[type].family == FAMILY_SIGNED)
        return (double)load_signed(size, value);
    if (types[type].family != FAMILY_FLOAT)
        return (double)load_unsigned(size, value);
    if (size == 2)
        return half_to_double((uint16_t)load_unsigned(2, value));
    if (size == 4) {
        memcpy(&single, value, sizeof(single));
        return (double)single;
    }
    memcpy(&number, value, sizeof(number));
    return number;
}

const char *scalar_format(zepi_scalar_type_t type, const void *value, char text[SCALAR_TEXT_SIZE])
{
    const size_t size = types[type].size;
    switch (types[type].family) {
    case FAMILY_BOOL:
        snprintf(text, SCALAR_TEXT_SIZE, "%s", *(const uint8_t *)value ? "true" : "false");
        break;
    case FAMILY_SIGNED:
        snprintf(text, SCALAR_TEXT_SIZE, "%" PRId64, load_signed(size, value));
        break;
    case FAMILY_UNSIGNED:
        snprintf(text, SCALAR_TEXT_SIZE, "%" PRIu64, load_unsigned(size, value));
        break;
    case FAMILY_FLOAT:
        snprintf(text, SCALAR_TEXT_SIZE, "%.*g",
                 size == 8   ? 17
                 : size == 4 ? 9
                             : 5,
                 scalar_to_double(type, value));
        break;
    }
    return text;
}
