// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_NATIVE_BINARY_H
#define ZE_CPU_NATIVE_BINARY_H

#include "module.h"

// ze_cpu's native binary: a header, the OpenCL runtime's version, the table of kernels, arguments
// and symbols, the OpenCL binary of the linked program (if it is linked), that of the compiled
// object (if there is something to link), and options and SPIR-V of kernels that may be turned. All
// numbers are little endian and 32 bits wide.

// The result of cpu_native_unpack. The binaries are borrowed from the bytes.
struct cpu_native {
    struct zepi_spirv table; // kernels and symbols; `storage` is one block of malloc
    const uint8_t *program;
    size_t program_bytes;
    const uint8_t *object;
    size_t object_bytes;
    const char *options; // in the table's storage
    const uint8_t *spirv;
    size_t spirv_bytes; // 0: no kernel is turned
};

// A number that changes with the format and with the runtime: binaries of another one are refused.
// The format in the top byte, below it a hash of the runtime's version.
uint32_t cpu_native_version(void);

// Whether the bytes begin like a native binary.
bool cpu_native_is(const uint8_t *bytes, size_t size_bytes);

// Checks every length, the checksum and the runtime's version. False if anything is wrong, which
// the log then says.
bool cpu_native_unpack(const uint8_t *bytes, size_t size_bytes, struct cpu_native *out_native,
                       struct cpu_log *log);

// The code of a program as the OpenCL runtime has it. Owned by the caller; NULL if there is none or
// without memory.
uint8_t *cpu_native_read_program(cl_program program, size_t *out_size_bytes);

// Owned by the caller; NULL without memory.
uint8_t *cpu_native_pack(const struct cpu_module *module, size_t *out_size_bytes);

#endif
