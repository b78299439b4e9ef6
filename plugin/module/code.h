// SPDX-License-Identifier: MIT
#ifndef ZEPI_MODULE_CODE_H
#define ZEPI_MODULE_CODE_H

#include "module/build_options.h"
#include "module/image.h"
#include "module/text.h"
#include "queue/retire.h"

struct zepi_context;
struct zepi_device;

// A ze_module and the kernels in it.
struct zepi_code_unit {
    ze_module_handle_t ze;
    const char **kernel_names; // owned block; NULL if the driver does not answer names
    uint32_t kernel_count;
};

// Compiled code on one device: the payload of the context's cache of modules. Immutable.
struct zepi_code {
    struct zepi_retired retired;
    struct zepi_context *context; // borrowed: whoever holds code holds the context
    struct zepi_device *device;   // borrowed
    uint64_t id;                  // unique in the process; what its kernels are found by
    zepi_ownership_t ownership;   // of the ze_modules
    bool is_imported;             // a ze_module that was handed in: never cached
    struct zepi_interned *source; // reference; the SPIR-V that it was made from, or NULL
    uint32_t unit_count;          // several if linked by zeModuleDynamicLink
    struct zepi_code_unit units[];
};

static inline struct zepi_code *zepi_code_of(const struct zepi_build_result *result)
{
    return zepi_build_result_payload(result);
}

// What to compile to.
enum zepi_code_kind {
    ZEPI_CODE_OBJECT = 1, // unresolved imports allowed
    ZEPI_CODE_EXECUTABLE = 2,
};

// The code of an image on the context's device number `device_index`, from the cache or built.
// Values that the image does not declare do not matter. *out_result is a new reference to a result
// that succeeded; a failure is noted, and its log is the thread's last build log.
zepi_result_t zepi_code_get(struct zepi_context *context, uint32_t device_index,
                            struct zepi_image *image, const struct zepi_spec_values *values,
                            const struct zepi_build_options *options, enum zepi_code_kind kind,
                            struct zepi_build_result **out_result);

// Code around ze_modules, which it consumes on success. `source` is the SPIR-V that it was made
// from, or NULL. *out_code is owned, to be destroyed by zepi_code_destroy.
zepi_result_t zepi_code_create(struct zepi_context *context, struct zepi_device *device,
                               uint32_t module_count, const ze_module_handle_t *modules,
                               zepi_ownership_t ownership, struct zepi_interned *source,
                               struct zepi_code **out_code);
void zepi_code_destroy(void *code);

// The kernel's name as the code has it, borrowed from it; NULL: it has no such kernel.
const char *zepi_code_kernel_name(const struct zepi_code *code, const char *name);
// The ze_module that has the kernel, or NULL.
ze_module_handle_t zepi_code_find_kernel(const struct zepi_code *code, const char *name);

// What the SPIR-V says about a kernel; NULL if it is not known.
static inline const struct zepi_spirv_kernel *
zepi_code_describe_kernel(const struct zepi_code *code, const char *name)
{
    return code->source && code->source->is_spirv
               ? zepi_spirv_find_kernel(&code->source->spirv, name)
               : NULL;
}

// Calls `visit` with each kernel's name, borrowed from the code, until it returns false.
void zepi_code_for_each_kernel(const struct zepi_code *code,
                               bool (*visit)(void *user, const char *name), void *user);

#endif
