// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_INSTRUCTIONS_H
#define ZEPI_SPIRV_INSTRUCTIONS_H

#include "spirv_walk.h"

// Walks header and instructions and fills the lists. Everything is checked that can be without the
// lists. The walk must be zeroed but for bytes, word_count and message, and is finished by
// zepi_spirv_walk_finish, also after a failure.
enum zepi_spirv_status zepi_spirv_walk_run(struct zepi_spirv_walk *walk);

#endif
