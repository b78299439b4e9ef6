// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_ZE_INFO_H
#define DRM_SHIM_ZE_INFO_H

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where the arguments of a kernel lie: the section .ze_info of Intel's native code, a YAML
// document. The driver fills the payload of a launch from it: first the bytes that the walker
// command carries itself (inline data), then indirect data in memory. Offsets count from the first
// inline byte.

enum shim_payload_kind {
    SHIM_PAYLOAD_OTHER, // nothing that the execution needs
    SHIM_PAYLOAD_VALUE, // bytes of an argument, from `source_offset` on
    SHIM_PAYLOAD_POINTER,
    SHIM_PAYLOAD_BUFFER_OFFSET, // where a pointer of the binding table begins in its surface
    SHIM_PAYLOAD_GLOBAL_OFFSET, // three words
    SHIM_PAYLOAD_LOCAL_SIZE,    // three words: the group size
    SHIM_PAYLOAD_GLOBAL_SIZE,   // three words
    SHIM_PAYLOAD_IMPLICIT,      // the address of the implicit arguments
};

enum shim_address_mode {
    SHIM_ADDRESS_OTHER,
    SHIM_ADDRESS_STATE,     // an offset of a surface or sampler state
    SHIM_ADDRESS_TABLE,     // none: a surface or sampler state that a table has
    SHIM_ADDRESS_STATELESS, // a GPU address
    SHIM_ADDRESS_LOCAL,     // an offset in the group's local memory
};

struct shim_payload {
    enum shim_payload_kind kind;
    enum shim_address_mode mode; // of a pointer
    uint32_t offset;
    uint32_t size_bytes;
    uint32_t argument;      // UINT32_MAX: of no argument
    uint32_t source_offset; // in the argument's value
    uint32_t table_index;   // in the table of bindings or samplers
    // The type of an image for the kernel; ZE_IMAGE_TYPE_FORCE_UINT32: its own type.
    ze_image_type_t image_type;
};

struct shim_kernel_info {
    char *name; // owned
    uint32_t simd_size;
    uint32_t inline_bytes;
    uint32_t required_group_size[3];
    uint32_t local_id_bytes; // of a thread, where the driver makes local ids; 0: none are read
    bool has_stack_calls;
    // The driver puts a structure in front of the indirect data: the kernel says that it needs it,
    // or it has stack calls and native_code.h finds where it would be used.
    bool has_implicit_arguments;
    uint32_t payload_count;
    struct shim_payload *payloads; // owned
};

// Immutable once it is read.
struct shim_ze_info {
    uint32_t kernel_count;
    struct shim_kernel_info *kernels; // owned
};

// A reader puts the reason here if the bytes are wrong.
struct shim_refusal {
    char *message; // borrowed
    size_t message_size;
};
// Writes the message; returns false, which the reader answers.
__attribute__((format(printf, 2, 3))) bool shim_refuse(const struct shim_refusal *refusal,
                                                       const char *format, ...);

// Reads `size_bytes` at `text`, which need not be terminated. On failure returns false, *out_info
// is zeroed and `message` has the reason: text that is no YAML, no list of kernels, a kernel
// without a name, a number that is none or beyond 32 bits, a payload without offset or size or that
// reaches beyond SHIM_PAYLOAD_MAX_BYTES. Unknown keys are passed over: newer compilers add some.
bool shim_ze_info_init(struct shim_ze_info *out_info, const char *text, size_t size_bytes,
                       char *message, size_t message_size);
// A zeroed struct is fine.
void shim_ze_info_finish(struct shim_ze_info *info);

// NULL if there is none.
const struct shim_kernel_info *shim_ze_info_find(const struct shim_ze_info *info, const char *name);

enum { SHIM_PAYLOAD_MAX_BYTES = 65536 };

#endif
