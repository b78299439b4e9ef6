// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_KERNEL_H
#define ZEPI_LAUNCH_KERNEL_H

#include "core/object.h"
#include "launch/device_kernel.h"

struct zepi_module;

// A kernel of an executable module. It has no arguments: they come with each launch. Threads may
// launch and query it at once.
struct zepi_kernel {
    struct zepi_object object;
    struct zepi_module *module;   // retained
    struct zepi_context *context; // borrowed from the module
    const char *name;             // borrowed from the device kernel
    bool is_emulated;             // on some device its constants come through an argument
    // Owned references, one a device of the context; NULL: the module has no code with this kernel
    // for that device.
    struct zepi_build_result **device_kernels;
    // Owned, one a device: made when the host asks for a native handle, and never given back.
    _Atomic(struct zepi_kernel_instance *) *exported;
    void *inline_lists[4]; // both lists, if they fit
    // References that the front end keeps with the kernel, and the handle that it made the kernel
    // around, owned. Or NULL.
    void *front_end;
    _Atomic(void *) front_end_state;
    ze_kernel_handle_t adopted;
};

extern const struct zepi_type zepi_kernel_type;

// The device kernel on a device of the context, borrowed. A device without one is an error.
zepi_result_t zepi_kernel_get_device_kernel(const struct zepi_kernel *kernel, uint32_t device_index,
                                            struct zepi_device_kernel **out_device_kernel);

// The target of the kernel's launches on a device that it has a device kernel for, borrowed from
// the kernel.
struct zepi_target zepi_kernel_target(const struct zepi_kernel *kernel, uint32_t device_index);

zepi_result_t zepi_module_get_kernel(zepi_module_t module, const char *name,
                                     zepi_kernel_t *out_kernel);
zepi_result_t zepi_kernel_suggest_group_size(zepi_kernel_t kernel, zepi_device_t device,
                                             uint32_t work_dim, const size_t *global_size,
                                             size_t *out_group_size);
// How many groups of a cooperative launch the device can run at once.
zepi_result_t zepi_kernel_max_cooperative_groups(zepi_kernel_t kernel, zepi_device_t device,
                                                 uint32_t work_dim, const size_t *group_size,
                                                 uint32_t *out_count);

zepi_result_t zepi_kernel_get_native(zepi_kernel_t kernel, zepi_device_t device,
                                     void **out_native_handle);

#endif
