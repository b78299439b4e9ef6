// SPDX-License-Identifier: MIT
#ifndef ZEPI_SPIRV_H
#define ZEPI_SPIRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The result of a bounds-checked parse of a SPIR-V module: specialization constants, kernels with
// their arguments, and linkage. Nothing that the parser refuses may reach a driver (quirk
// truncated-modules).
//
// The parser depends on nothing but the C library, so that the plugin and the driver in
// tools share one source. A filled `struct zepi_spirv` is immutable and may be read by any
// number of threads. It owns everything it points to and keeps no pointer into the bytes.

enum zepi_spirv_scalar_kind {
    ZEPI_SPIRV_BOOL, // one byte, 0 or 1
    ZEPI_SPIRV_INT,
    ZEPI_SPIRV_FLOAT,
};

// One SpecId of the module, whichever way it is decorated (group decorations too). Where several
// constants of the module share it, the default value is that of the first.
struct zepi_spirv_constant {
    uint32_t id; // the SpecId, not the result id
    enum zepi_spirv_scalar_kind kind;
    bool is_signed;
    uint32_t size_bytes;      // 1, 2, 4 or 8
    uint8_t default_value[8]; // first size_bytes, little endian; the rest zero
};

enum zepi_spirv_argument_kind {
    ZEPI_SPIRV_ARGUMENT_VALUE,    // by value, also structures (ByVal pointers to Function storage)
    ZEPI_SPIRV_ARGUMENT_GLOBAL,   // pointer to CrossWorkgroup
    ZEPI_SPIRV_ARGUMENT_CONSTANT, // pointer to UniformConstant
    ZEPI_SPIRV_ARGUMENT_LOCAL,    // pointer to Workgroup: the launch gives a size
    ZEPI_SPIRV_ARGUMENT_IMAGE,
    ZEPI_SPIRV_ARGUMENT_SAMPLER,
    ZEPI_SPIRV_ARGUMENT_OTHER,
};

struct zepi_spirv_argument {
    enum zepi_spirv_argument_kind kind;
    uint32_t size_bytes; // of a VALUE; size of the handle or pointer otherwise (8); 0: unknown
};

struct zepi_spirv_kernel {
    const char *name;
    const struct zepi_spirv_argument *arguments;
    uint32_t argument_count;
    // LocalSize execution mode; zeros: none, or one that depends on specialization constants.
    uint32_t required_group_size[3];
    uint32_t hinted_group_size[3];    // LocalSizeHint; zeros: none
    uint32_t required_sub_group_size; // 0: none
};

enum zepi_spirv_linkage {
    ZEPI_SPIRV_IMPORT,
    ZEPI_SPIRV_EXPORT,
    ZEPI_SPIRV_LINK_ONCE_ODR,
};

// A function or variable with LinkageAttributes. BuiltIn-decorated variables are left out: the
// driver supplies them. An exported function that has the name of an entry point is left out too.
struct zepi_spirv_symbol {
    const char *name;
    enum zepi_spirv_linkage linkage;
    bool is_function; // else a variable
    bool is_constant; // a variable that is decorated so: nothing writes it
};

struct zepi_spirv {
    uint32_t version;                            // as in the header: 0x00010200 is 1.2
    const struct zepi_spirv_constant *constants; // ascending by id, each id once
    uint32_t constant_count;
    const struct zepi_spirv_kernel *kernels; // in the order of the module
    uint32_t kernel_count;
    const struct zepi_spirv_symbol *symbols;
    uint32_t symbol_count;
    bool has_imports;
    bool has_exports;
    bool has_variables; // of its own in global memory, which kernels may write
    void *arguments;    // owned, as the lists: those of all kernels
    char *names;        // owned
};

enum zepi_spirv_status {
    ZEPI_SPIRV_OK,
    ZEPI_SPIRV_INVALID, // the bytes are no valid module
    ZEPI_SPIRV_OUT_OF_MEMORY,
};

// Parses `size_bytes` at `bytes` (any alignment) and fills *out_spirv, which the caller finishes
// with zepi_spirv_finish. On failure *out_spirv is zeroed and `message` (of `message_size` bytes,
// always terminated) names the word of the module, the mistake and the expected value. Refused are:
// sizes that are no multiple of 4 or below a header, a wrong magic (byte-swapped modules are named
// as such), instruction lengths that are zero or reach past the end, ids of 0 or not below the
// bound, a missing memory model, unended functions, entry points and linkage-decorated ids that
// nothing defines, a module that offers nothing (neither an entry point nor a symbol), and so every
// proper prefix of a valid module, but for one that is a valid module itself: nothing in a module
// tells whether functions followed that no name, call or decoration of it mentions.
enum zepi_spirv_status zepi_spirv_init(struct zepi_spirv *out_spirv, const void *bytes,
                                       size_t size_bytes, char *message, size_t message_size);

// Frees the lists that zepi_spirv_init made. A zeroed struct is fine.
void zepi_spirv_finish(struct zepi_spirv *spirv);

// NULL if there is none.
const struct zepi_spirv_constant *zepi_spirv_find_constant(const struct zepi_spirv *spirv,
                                                           uint32_t id);
const struct zepi_spirv_kernel *zepi_spirv_find_kernel(const struct zepi_spirv *spirv,
                                                       const char *name);

#endif
