// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_CODE_FOLDER_H
#define ZE_CPU_CODE_FOLDER_H

#include "module.h"

// The folder that ZE_CPU_CODE_FOLDER names: machine code that the OpenCL runtime made, a file for
// each input with its options and constants, and for each set of objects that were linked, for
// processes that build equal code. Files are written beside their place and renamed; one that is
// damaged or of another input is not used.

// The whole of what an input's code depends on.
struct cpu_code_key {
    uint8_t *bytes; // owned; NULL: there is no folder, or no memory
    size_t size_bytes;
};

// `table` is the input's. `is_alone`: the program is built, not compiled for linking.
struct cpu_code_key cpu_code_key_create(const struct cpu_input *inputs, uint32_t input_count,
                                        const struct cpu_input *input,
                                        const struct zepi_spirv *table, const char *options,
                                        bool is_alone);
void cpu_code_key_finish(struct cpu_code_key *key);

// A program from the file of the key, to be built with clBuildProgram or linked, and what the
// OpenCL runtime said of it, which is added to the log; NULL if there is none.
cl_program cpu_code_load(const struct cpu_code_key *key, struct cpu_log *log);

// Keeps the code of the program, and the end of the log from `log_from` on. Nothing happens if that
// cannot be.
void cpu_code_keep(const struct cpu_code_key *key, cl_program program, const struct cpu_log *log,
                   size_t log_from);

// clLinkProgram without options; or the linked program from the file of the objects' code. Its code
// is kept.
cl_program cpu_code_link(const cl_program *objects, uint32_t object_count, cl_int *out_code);

#endif
