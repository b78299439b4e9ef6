// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_RECORDED_USES_H
#define ZEPI_GRAPH_RECORDED_USES_H

#include "graph/graph_command.h"

// The objects that commands in closed lists use, for as long as these may be executed.
struct zepi_recorded_uses {
    struct zepi_context *context; // borrowed, as the device
    struct zepi_device *device;
    uint32_t device_index; // in the context
    struct zepi_launch_record *
        *launches; // owned list of references: by command; NULL: none are held
    // By command: the version of USM (usm_table.h) when the launch was last put into a list. Behind
    // `launches`.
    uint64_t *usm_versions;
    size_t launch_count;
    // Owned: the kernel instances of recorded launches, one a kernel, which may hold
    // memory of the launches (quirk launch-memory-in-kernel).
    struct zepi_recorded_instance *instances;
    size_t instance_count;
    size_t instance_capacity;
    void **values; // owned list of memory: of emulated constants, patterns
    size_t value_count;
    size_t value_capacity;
};
struct zepi_recorded_instance {
    struct zepi_device_kernel *kernel; // borrowed from a kernel of the graph's
    struct zepi_kernel_instance *instance;
};

// Gives up all of it: the lists are not executed any more.
void zepi_recorded_uses_release(struct zepi_recorded_uses *uses);
void zepi_recorded_uses_finish(struct zepi_recorded_uses *uses);

// Holds the launches of the commands as they are: updates may replace them while the lists use
// them. The caller holds the graph's mutex.
zepi_result_t zepi_recorded_uses_hold_launches(struct zepi_recorded_uses *uses,
                                               const struct zepi_graph_commands *commands);
// Consumes memory of the context.
zepi_result_t zepi_recorded_uses_keep(struct zepi_recorded_uses *uses, void *values);
// The instance of the kernel, from the first time on.
zepi_result_t zepi_recorded_uses_get_instance(struct zepi_recorded_uses *uses,
                                              struct zepi_device_kernel *kernel,
                                              struct zepi_kernel_instance **out_instance);

#endif
