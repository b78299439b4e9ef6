// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_NAMED_KERNEL_H
#define ZEPI_LAUNCH_NAMED_KERNEL_H

#include "launch/target.h"

struct zepi_module;

// What launches by name found in an executable: a name, a device, and the parts that have this
// kernel for it. Made by the first such launch, and kept until the module goes. Lookups take no
// lock.

// A part that has the kernel.
struct zepi_named_part {
    uint32_t part_index;
    uint32_t image_index;                  // in the part: of `image`
    const struct zepi_device_image *image; // borrowed; whose constants the kernel takes, NULL: none
    _Atomic(struct zepi_build_result *) device_kernel; // reference; made when first used
};

struct zepi_named_kernel {
    struct zepi_named_kernel *next;
    uint32_t device_index;
    uint32_t part_count;
    char *name;                     // lies behind the parts
    struct zepi_named_part parts[]; // in the module's order
};

// A number that no other module has or will have: what is noted under it is about this module. 0
// without memory.
uint64_t zepi_named_kernels_id(struct zepi_module *module);

// Borrowed from the module. kernel-not-found if no part has the kernel for this device.
zepi_result_t zepi_named_kernel_get(struct zepi_module *module, uint32_t device_index,
                                    const char *name, struct zepi_named_kernel **out_kernel);

// The target of a launch to part number `index` of the list, with the values that it was built
// with. Borrowed from the module.
zepi_result_t zepi_named_kernel_target(struct zepi_module *module, struct zepi_named_kernel *kernel,
                                       uint32_t index, struct zepi_target *out_target);

#endif
