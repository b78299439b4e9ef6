// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_DEVICE_MODULE_H
#define ZEPI_PROGRAM_BUILD_DEVICE_MODULE_H

#include "cache/build_cache.h"

#include "program/build/text.h"
#include "program/device_image/device_image.h"
#include "program/native/key_tags.h"
#include "sync/deferred.h"

struct zepi_context;
struct zepi_device;

// A ze_module and the kernels in it. Of one thread, and without names, until it becomes part of a
// device module.
struct zepi_ze_module {
    ze_module_handle_t ze;     // owned; NULL: not made yet
    const char **kernel_names; // owned block, sorted
    uint32_t kernel_count;
    uint64_t native_bytes; // of its native code; 0: the driver returns none
    // Reference: the native code before it was linked, of which the module can be made again. NULL:
    // the driver returns such code itself.
    struct zepi_blob *native;
    uint32_t group; // ascending from 0 without a gap; those of one group are linked with each other
};

// Compiled code on one device: the payload of the context's cache of modules. Immutable. It keeps
// the bytes that it was made from, so that they are known when a host hands them in again.
struct zepi_device_module {
    struct zepi_deferred deferred;
    struct zepi_context *context; // borrowed: holders of a device module hold the context
    struct zepi_device *device;   // borrowed
    uint64_t id;                  // unique in the process; in the keys of its kernels
    zepi_ownership_t ownership;   // of the ze_modules
    bool is_private;              // one module's: handed in, or with variables; never cached
    char *options; // owned; canonical, that it was compiled with; NULL: linked, or handed in
    // References; the SPIR-V that it was made from. NULL for native code. If there are several
    // ze_modules, number i is that of ze_module i.
    uint32_t source_count;
    struct zepi_blob **sources; // owned list
    // Reference: native code of several ze_modules, as it was handed in; else NULL.
    struct zepi_blob *container;
    uint32_t ze_module_count; // several if linked by zeModuleDynamicLink
    struct zepi_ze_module ze_modules[];
};

static inline struct zepi_device_module *
zepi_device_module_of(const struct zepi_build_result *result)
{
    return zepi_build_result_payload(result);
}

// Code around ze_modules, which it owns on success: the list is zeroed then. `sources` are the
// SPIR-V that it was made from; an entry may be NULL. *out_device_module is owned, to be destroyed
// by zepi_device_module_destroy.
zepi_result_t zepi_device_module_create(struct zepi_context *context, struct zepi_device *device,
                                        uint32_t count, struct zepi_ze_module *ze_modules,
                                        uint32_t source_count, struct zepi_blob *const *sources,
                                        struct zepi_device_module **out_device_module);
void zepi_device_module_destroy(void *device_module);
// Ends a build callback: the device module, or the failure, goes into the output. Finishes the log.
enum zepi_build_status zepi_device_module_end_build(struct zepi_build_output *output,
                                                    zepi_result_t result,
                                                    struct zepi_device_module *device_module,
                                                    struct zepi_text *log);

// The ze_module that has the kernel, or NULL. *out_name (NULL is fine): the name as the code has
// it, borrowed from it.
ze_module_handle_t zepi_device_module_find_kernel(const struct zepi_device_module *device_module,
                                                  const char *name, const char **out_name);

// The description of a kernel in the SPIR-V; NULL if it is not known.
const struct zepi_spirv_kernel *
zepi_device_module_describe_kernel(const struct zepi_device_module *device_module,
                                   const char *name);

// The native code of a ze_module before it was linked, as a reference; NULL: the driver returns
// none.
zepi_result_t zepi_ze_module_native_blob(const struct zepi_ze_module *ze_module,
                                         struct zepi_blob **out_native);

#endif
