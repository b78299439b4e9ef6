// SPDX-License-Identifier: MIT
#include "scalar.h"

#include <errno.h>
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

static bool parse_integer(size_t size, enum family family, const char *text, void *out_value)
{
    char *end;
    uint64_t bits;
    const int shift = 64 - (int)size * 8;
    errno = 0;
    if (family == FAMILY_SIGNED) {
        const int64_t number = strtoll(text, &end, 0);
        bits = (uint64_t)number;
        if (number > INT64_MAX >> shift || number < INT64_MIN >> shift)
            return false;
    } else {
        bits = strtoull(text, &end, 0);
        if (strchr(text, '-') || bits > UINT64_MAX >> shift)
            return false;
    }
    if (errno != 0 || end == text || *end != '\0')
        return false;
    store_integer(size, bits, out_value);
    return true;
}

static bool store_float(size_t size, double number, void *out_value)
{
    if (size == 8) {
        memcpy(out_value, &number, size);
    } else if (size == 4) {
        const float single = (float)number;
        if (isinf(single) && !isinf(number))
            return false;
        memcpy(out_value, &single, size);
    } else {
        const uint16_t half = half_from_double(number);
        if ((half & 0x7fff) == 0x7c00 && !isinf(number))
            return false;
        memcpy(out_value, &half, size);
    }
    return true;
}

bool scalar_parse(zepi_scalar_type_t type, const char *text, void *out_value)
{
    if (types[type].family == FAMILY_BOOL)
        return parse_bool(text, out_value);
    if (types[type].family != FAMILY_FLOAT)
        return parse_integer(types[type].size, types[type].family, text, out_value);
    char *end;
    const double number = strtod(text, &end);
    return end != text && *end == '\0' && store_float(types[type].size, number, out_value);
}

bool scalar_from_double(zepi_scalar_type_t type, double number, void *out_value)
{
    const size_t size = types[type].size;
    switch (types[type].family) {
    case FAMILY_BOOL:
        *(uint8_t *)out_value = number != 0;
        return true;
    case FAMILY_SIGNED: {
        const double limit = ldexp(1, (int)size * 8 - 1);
        if (!(number >= -limit && number < limit))
            return false;
        store_integer(size, (uint64_t)(int64_t)number, out_value);
        return true;
    }
    case FAMILY_UNSIGNED:
        if (!(number >= 0 && number < ldexp(1, (int)size * 8)))
            return false;
        store_integer(size, (uint64_t)number, out_value);
        return true;
    case FAMILY_FLOAT:
        break;
    }
    return store_float(size, number, out_value);
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
