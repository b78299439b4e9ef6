// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_GRAMMAR_H
#define ZEPI_SPIRV_GRAMMAR_H

#include <stdbool.h>
#include <stdint.h>

// The table of instructions with their operands. A test compares it with the grammar of the
// specification (tests/unit/spirv/grammar_test.py).

// The instruction's operands, a letter each; NULL: the table does not know it.
const char *zepi_spirv_format(uint32_t opcode);
// NULL, too, if the table has the instruction in a row with others.
const char *zepi_spirv_opcode_name(uint32_t opcode);
bool zepi_spirv_is_type(uint32_t opcode);

#endif
