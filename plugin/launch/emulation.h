// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_EMULATION_H
#define ZEPI_LAUNCH_EMULATION_H

#include "launch/arguments.h"

struct zepi_device_image;
struct zepi_module_part;
struct zepi_spec_values;

// Specialization constants of native images that reach their kernels through memory: the address of
// the values is one more argument after the kernel's own. Of one launch, in one thread.

// The image of the part whose constants the kernel takes that way, and its number in the part; NULL
// if there is none.
const struct zepi_device_image *zepi_emulation_find(const struct zepi_module_part *part,
                                                    const char *kernel_name, uint32_t *out_index);

// A launch's arguments with the values behind them.
#define ZEPI_EMULATION_MAX_ARGUMENTS 255
struct zepi_emulation {
    struct zepi_context *context; // borrowed
    void *values;                 // owned host memory, freed after the launch
    uint32_t argument_count;
    zepi_argument_t arguments[ZEPI_EMULATION_MAX_ARGUMENTS + 1];
};

// For a target with an image. On success to be finished after the launch was submitted, or was not.
// The launch's own arguments are checked against the kernel's number of them.
zepi_result_t zepi_emulation_init(struct zepi_emulation *emulation, struct zepi_context *context,
                                  const struct zepi_target *target,
                                  const struct zepi_argument_list *arguments);
void zepi_emulation_finish(struct zepi_emulation *emulation);

#endif
