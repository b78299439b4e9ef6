// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_OPERANDS_H
#define ZEPI_SPIRV_OPERANDS_H

#include "spirv_parser.h"

// Checks one instruction's operands against the table of instructions: enough words, ids in (0,
// bound), result types that are types, results defined once. Uses and definitions of ids are noted.
bool zepi_spirv_check_operands(struct zepi_spirv_parser *parser,
                               struct zepi_spirv_instruction instruction);

// Bytes of the string that begins at operand `index`, without the terminator, and the operand after
// it. False if the instruction ends before the string does.
bool zepi_spirv_string(const struct zepi_spirv_parser *parser,
                       struct zepi_spirv_instruction instruction, uint32_t index,
                       uint32_t *out_length, uint32_t *out_next);

#endif
