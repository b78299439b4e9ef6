// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_MODULE_BUILD_H
#define ZE_CPU_MODULE_BUILD_H

#include "module.h"

// Fills the module's tables and programs from SPIR-V. Values for specialization constants count for
// every input that declares the id; an id that none declares fails the build without a word in the
// log, as Intel's driver does it. Unresolved imports are no failure: the module then has no
// program.
ze_result_t cpu_module_build(struct cpu_module *module, const struct cpu_input *inputs,
                             uint32_t input_count, struct cpu_log *log);

// The same from the bytes of cpu_native_pack.
ze_result_t cpu_module_load(struct cpu_module *module, const struct cpu_input *input,
                            struct cpu_log *log);

// Links compiled objects into a program with the kernels of all tables. On failure the log has the
// names that are not resolved, of which *out_unresolved is the number, or else what the linker
// says.
ze_result_t cpu_module_link(const cl_program *objects, uint32_t object_count,
                            const struct zepi_spirv *tables, uint32_t table_count,
                            struct cpu_program **out_program, uint32_t *out_unresolved,
                            struct cpu_log *log);

// Turns the flags of zeModuleCreate into OpenCL options. Owned by the caller; NULL if a flag is not
// known, which the log then names, or without memory.
char *cpu_build_options(const char *flags, struct cpu_log *log);

#endif
