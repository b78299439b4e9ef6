// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_CODE_FOLDER_H
#define ZE_CPU_CODE_FOLDER_H

#include "cache/key.h"
#include "module.h"

// The folder that ZE_CPU_CODE_FOLDER names: machine code that the OpenCL runtime made, for
// processes that build equal code. Its files are those of zepi's cache (cache/disk), one for each
// input with its options and constants, and one for each set of objects that were linked.

// The whole of what an input's code depends on. `table` is the input's. `is_alone`: the program is
// built, not compiled for linking. The caller finishes the key; without a folder, or without
// memory, it is not sealed.
void cpu_code_key_init(struct zepi_key *key, const struct cpu_input *inputs, uint32_t input_count,
                       const struct cpu_input *input, const struct zepi_spirv *table,
                       const char *options, bool is_alone);

// A program from the file of the key, to be built with clBuildProgram or linked, and what the
// OpenCL runtime said of it, which is added to the log; NULL if there is none.
cl_program cpu_code_load(const struct zepi_key *key, struct cpu_log *log);

// Keeps the code of the program, and the end of the log from `log_from` on. Nothing happens if that
// cannot be.
void cpu_code_keep(const struct zepi_key *key, cl_program program, const struct cpu_log *log,
                   size_t log_from);

// clLinkProgram without options; or the linked program from the file of the objects' code. Its code
// is kept.
cl_program cpu_code_link(const cl_program *objects, uint32_t object_count, cl_int *out_code);

#endif
