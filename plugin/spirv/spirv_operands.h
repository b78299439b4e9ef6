// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_OPERANDS_H
#define ZEPI_SPIRV_OPERANDS_H

#include "spirv_walk.h"

// Checks one instruction's operands against the table of instructions: enough words, ids in (0,
// bound), result types that are types, results defined once. Uses and definitions of ids are noted.
enum zepi_spirv_status zepi_spirv_check_operands(struct zepi_spirv_walk *walk,
                                                 struct zepi_spirv_instruction instruction);
bool zepi_spirv_is_known(uint32_t opcode);
bool zepi_spirv_is_type(uint32_t opcode);
// Whether its first operand is the type of its result.
bool zepi_spirv_has_result_type(uint32_t opcode);

// Bytes of the string that begins at operand `index`, without the terminator, and the operand after
// it. False if the instruction ends before the string does.
bool zepi_spirv_string(const struct zepi_spirv_walk *walk,
                       struct zepi_spirv_instruction instruction, uint32_t index,
                       uint32_t *out_length, uint32_t *out_next);

#endif
