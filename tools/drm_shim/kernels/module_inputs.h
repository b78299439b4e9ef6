// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_MODULE_INPUTS_H
#define DRM_SHIM_MODULE_INPUTS_H

#include "cache/digest.h"
#include "spirv/spirv.h"

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The inputs of a module as a program gave them to zeModuleCreate: SPIR-V, options and the values
// of specialization constants, for each program of a list. Native code has its SPIR-V in it but not
// the values, so inputs are kept in files under a digest of the machine code, for modules that are
// made from native code, in this process or another.

struct shim_constant {
    uint32_t id;
    uint32_t size_bytes; // 1, 2, 4 or 8
    uint8_t value[8];
};

struct shim_module_input {
    uint8_t *spirv; // owned
    size_t spirv_bytes;
    struct zepi_spirv walk;          // owned
    char *options;                   // owned
    struct shim_constant *constants; // owned
    uint32_t constant_count;
    ze_module_constants_t list; // of the constants, for zeModuleCreate; its arrays are owned
};

// Immutable once it is filled.
struct shim_module_inputs {
    struct shim_module_input *inputs; // owned
    uint32_t count;
};

// Copies the inputs of a description in SPIR-V. A value of an id that the SPIR-V does not declare
// is left out: its size is unknown, and it has no effect. False: out of memory, or SPIR-V that
// fails zepi's walk; `message` says which, *out_inputs is zeroed.
bool shim_module_inputs_init(struct shim_module_inputs *out_inputs, const ze_module_desc_t *desc,
                             char *message, size_t message_size);
// The same of SPIR-V alone.
bool shim_module_inputs_init_plain(struct shim_module_inputs *out_inputs, const uint8_t *spirv,
                                   size_t spirv_bytes, char *message, size_t message_size);
// A zeroed struct is fine.
void shim_module_inputs_finish(struct shim_module_inputs *inputs);

// In the folder DRM_SHIM_RECORDS, else drm_shim in zepi's cache folder. The folder is bounded to 1
// GiB; the least recently used records go. False: there is no folder, no record, or a bad one.
bool shim_module_inputs_store(const struct shim_module_inputs *inputs, struct zepi_digest code);
bool shim_module_inputs_load(struct shim_module_inputs *out_inputs, struct zepi_digest code);

// As the bytes of a record, which the caller frees; and back, from any bytes: false if they are no
// record. For the two above, and for tests.
bool shim_module_inputs_write(const struct shim_module_inputs *inputs, uint8_t **out_bytes,
                              size_t *out_size_bytes);
bool shim_module_inputs_read(struct shim_module_inputs *out_inputs, const uint8_t *bytes,
                             size_t size_bytes);

// The kernel's arguments, or NULL where no input has a kernel of that name.
const struct zepi_spirv_kernel *shim_module_inputs_find(const struct shim_module_inputs *inputs,
                                                        const char *kernel);

#endif
