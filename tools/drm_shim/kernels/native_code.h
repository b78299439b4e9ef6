// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_NATIVE_CODE_H
#define DRM_SHIM_NATIVE_CODE_H

#include "ze_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Intel's native code, an ELF file: a section .text.NAME for each kernel (or for the functions of a
// library), its relocations, .ze_info, .spv (the SPIR-V it was compiled from, without the values of
// specialization constants) and the symbols of the module's variables.

// Machine code of one kernel. Borrowed from the bytes.
struct shim_native_kernel {
    const char *name;
    const uint8_t *text;
    uint64_t text_bytes;
    const uint8_t *relocations; // entries of `relocation_bytes`, each begins with the offset
    uint32_t relocation_count;
    uint32_t relocation_bytes;
    bool names_implicit_arguments;       // a relocation does: where they lie
    const struct shim_kernel_info *info; // NULL: not read, or functions, which are not launched
};

// A variable in memory of the module, which the host may ask for by name.
struct shim_native_variable {
    const char *name; // borrowed from the bytes
    uint64_t offset;  // in the module's memory for variables
    uint64_t size_bytes;
};

// Immutable once it is read.
struct shim_native_code {
    uint8_t *bytes; // owned
    size_t size_bytes;
    struct shim_ze_info info; // empty until it is read
    const char *info_text;    // borrowed from the bytes; NULL: none
    size_t info_bytes;
    struct shim_native_kernel *kernels; // owned
    uint32_t kernel_count;
    struct shim_native_variable *variables; // owned
    uint32_t variable_count;
    const uint8_t *spirv; // borrowed from the bytes; NULL: none
    size_t spirv_bytes;
};

// Copies and reads the bytes, but for .ze_info. On failure returns false, *out_code is zeroed and
// `message` has the reason: bytes that are no ELF file of 64 bits for Intel GPUs, or sections,
// names, symbols or relocations that reach beyond the end.
bool shim_native_code_init(struct shim_native_code *out_code, const void *bytes, size_t size_bytes,
                           char *message, size_t message_size);
// Reads .ze_info, which takes most of the time. A file of functions alone has none. On failure
// returns false, and `message` has the reason.
bool shim_native_code_read_info(struct shim_native_code *code, char *message, size_t message_size);
// A zeroed struct is fine.
void shim_native_code_finish(struct shim_native_code *code);

// The length that the header of an ELF file at `bytes` gives, 0 if there is no such header of
// Intel's native code or it exceeds `size_bytes`.
size_t shim_native_code_length(const void *bytes, size_t size_bytes);

// Whether `code`, of which `size_bytes` may be read, is this kernel's machine code, relocated.
bool shim_native_kernel_is(const struct shim_native_kernel *kernel, const uint8_t *code,
                           uint64_t size_bytes);

#endif
