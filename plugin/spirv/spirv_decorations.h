// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_DECORATIONS_H
#define ZEPI_SPIRV_DECORATIONS_H

#include "spirv_parser.h"

// Decorations, and the names that instructions have.

bool zepi_spirv_note_decoration(struct zepi_spirv_parser *parser,
                                struct zepi_spirv_instruction instruction);
// Resolves decoration groups, sorts, and refuses contradictions.
bool zepi_spirv_resolve_decorations(struct zepi_spirv_parser *parser);
// After zepi_spirv_resolve_decorations; NULL if there is none.
const struct zepi_spirv_decoration *
zepi_spirv_find_decoration(const struct zepi_spirv_parser *parser, uint32_t target,
                           enum zepi_spirv_decoration_kind kind);
// Appends the string at operand `index` to `names`.
bool zepi_spirv_note_name(struct zepi_spirv_parser *parser,
                          struct zepi_spirv_instruction instruction, uint32_t index,
                          uint32_t *out_offset, uint32_t *out_next);

#endif
