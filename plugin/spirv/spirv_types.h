// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_TYPES_H
#define ZEPI_SPIRV_TYPES_H

#include "spirv_parser.h"

// Computes the layouts of all types. After zepi_spirv_resolve_decorations.
void zepi_spirv_find_layouts(struct zepi_spirv_parser *parser);
// The layout of the type `id`; the alignment is 0 if its size is not known.
struct zepi_spirv_layout zepi_spirv_layout_of(const struct zepi_spirv_parser *parser, uint32_t id);
// The value of the scalar constant `id`, for specialization constants the default. False if it is
// none, or none whose type has a known width.
bool zepi_spirv_constant_value(const struct zepi_spirv_parser *parser, uint32_t id,
                               uint64_t *out_value);

#endif
