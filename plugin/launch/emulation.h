// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_EMULATION_H
#define ZEPI_LAUNCH_EMULATION_H

#include "launch/launch_record.h"

struct zepi_device_image;
struct zepi_module_part;
struct zepi_spec_values;

// Specialization constants of native images that reach their kernels through memory: the address of
// the values is one more argument after the kernel's own. Of one launch, in one thread.

// The image of the part whose constants the kernel takes that way, and its number in the part; NULL
// if there is none.
const struct zepi_device_image *zepi_emulation_find(const struct zepi_module_part *part,
                                                    const char *kernel_name, uint32_t *out_index);

// A launch with one more argument, the address of the values.
struct zepi_emulation {
    struct zepi_context *context; // borrowed
    void *values;                 // owned host memory, freed after the launch
    struct zepi_launch launch;
    struct zepi_launch_room room;
};

// A launch that is emulated gets its values. On success to be finished after the launch was
// submitted, or was not.
zepi_result_t zepi_emulation_init(struct zepi_emulation *emulation, struct zepi_context *context,
                                  const struct zepi_launch *launch);
// Gives up all but the values, and all.
void zepi_emulation_finish_launch(struct zepi_emulation *emulation);
void zepi_emulation_finish(struct zepi_emulation *emulation);

#endif
