// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_INSTRUCTIONS_H
#define ZEPI_SPIRV_INSTRUCTIONS_H

#include "spirv_parser.h"

// Reads header and instructions and fills the lists. Everything is checked that can be without the
// lists. The parser must be zeroed but for bytes, word_count and message, and is finished by
// zepi_spirv_parser_finish, also after a failure.
bool zepi_spirv_parse_instructions(struct zepi_spirv_parser *parser);

#endif
