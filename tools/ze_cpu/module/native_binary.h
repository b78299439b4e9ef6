// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_NATIVE_BINARY_H
#define ZE_CPU_NATIVE_BINARY_H

#include "module.h"

// ze_cpu's native binary: a header with a digest of the rest, then fields, each behind its length
// in 64 bits: the OpenCL runtime's version, the options of kernels that may be turned (empty: none
// may), the OpenCL binary of the linked program (empty: it is not linked), that of the compiled
// object (empty: there is nothing to link), and the SPIR-V of each input.

// A number that changes with the format and with the runtime: binaries of another one are refused.
// The format in the top byte, below it a hash of the runtime's version.
uint32_t cpu_native_version(void);

// The result of cpu_native_unpack. The bytes of all fields are borrowed from the binary.
struct cpu_native {
    const char *options;
    const uint8_t *program, *object;
    size_t program_bytes, object_bytes;
    struct cpu_input *inputs; // owned
    uint32_t input_count;
};

// Checks every length, the digest and the runtime's version. False if anything is wrong, which the
// log then says.
bool cpu_native_unpack(const uint8_t *bytes, size_t size_bytes, struct cpu_native *out_native,
                       struct cpu_log *log);
void cpu_native_finish(struct cpu_native *native);

// Makes the module's programs, by its tables, which are there.
ze_result_t cpu_native_load(struct cpu_module *module, const struct cpu_native *native,
                            struct cpu_log *log);

// Owned by the caller; NULL without memory.
uint8_t *cpu_native_pack(const struct cpu_module *module, size_t *out_size_bytes);

#endif
