// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_SOURCE_H
#define ZE_CPU_SOURCE_H

#include "plugin/spirv/spirv.h"

// An input as the OpenCL runtime compiles it right. Immutable.
struct cpu_source {
    uint8_t *spirv; // owned
    size_t spirv_bytes;
    char *options; // owned; of clBuildProgram
};

// From SPIR-V and the table of zepi's walk; consumes the options. NULL without memory.
struct cpu_source *cpu_source_create(const uint8_t *spirv, size_t spirv_bytes,
                                     const struct zepi_spirv *table, char *options);
void cpu_source_destroy(struct cpu_source *source); // NULL is fine

#endif
