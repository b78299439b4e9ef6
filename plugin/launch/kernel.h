// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_KERNEL_H
#define ZEPI_LAUNCH_KERNEL_H

#include "core/object.h"
#include "launch/device_kernel.h"

struct zepi_module;

// On a device of the context.
struct zepi_kernel_on_device {
    // That of its launches: the device kernel is an owned reference, image and values are the
    // module's. No device kernel: the module has no code with this kernel for the device.
    struct zepi_target target;
    // Owned: made when the host asks for a native handle, and never given back.
    _Atomic(struct zepi_kernel_instance *) exported;
};
#define ZEPI_KERNEL_INLINE_DEVICES 2

// A kernel of an executable module. It has no arguments: they come with each launch. Threads may
// launch and query it at once.
struct zepi_kernel {
    struct zepi_object object;
    struct zepi_module *module;            // retained
    struct zepi_context *context;          // borrowed from the module
    const char *name;                      // borrowed from the device kernel
    struct zepi_kernel_on_device *devices; // as in the context; owned, unless inline
    struct zepi_kernel_on_device inline_devices[ZEPI_KERNEL_INLINE_DEVICES];
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
