// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_SCALAR_H
#define ZEPI_TOOL_SCALAR_H

#include <zepi/zepi.h>

#include <stdbool.h>

// Scalars as text: types by short names (bool i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64), values
// read strictly: a text that does not fit the type is an error.

// 0 if the name is not known.
zepi_scalar_type_t scalar_type(const char *name);
const char *scalar_type_name(zepi_scalar_type_t type);
size_t scalar_size(zepi_scalar_type_t type);
extern const char *const scalar_type_names; // "bool, i8, ...", for messages

// All of `text` is one value: whole numbers decimal or with 0x, floats also as inf and nan; a float
// is the nearest one, ties to even.
bool scalar_parse(zepi_scalar_type_t type, const char *text, void *out_value);
// The same of the first `length` characters.
bool scalar_parse_part(zepi_scalar_type_t type, const char *text, size_t length, void *out_value);

// `count` values: START, START + STEP, ... of "START" or "START:STEP" (else 1). Computed without
// rounding for whole numbers. False if the text is none, or a value does not fit the type.
bool scalar_ramp(zepi_scalar_type_t type, const char *text, uint64_t count, void *out_values);
double scalar_to_double(zepi_scalar_type_t type, const void *value);
// At least 32 characters. Returns `text`.
#define SCALAR_TEXT_SIZE 32
const char *scalar_format(zepi_scalar_type_t type, const void *value, char text[SCALAR_TEXT_SIZE]);

#endif
