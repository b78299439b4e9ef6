// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_RECORDER_H
#define ZEPI_GRAPH_RECORDER_H

#include "graph/graph_command.h"

// What commands in closed lists use, for as long as these may be executed.
struct zepi_recorded_uses {
    struct zepi_context *context; // borrowed, as the device
    struct zepi_device *device;
    struct zepi_graph_launch **launches; // owned list of references: by command
    size_t launch_count;
    // Owned: what launches were recorded with, one a kernel. A driver may keep memory of the
    // launches with it.
    struct zepi_recorded_instance *instances;
    size_t instance_count;
    size_t instance_capacity;
    void **values; // owned list of memory: of emulated constants, patterns
    size_t value_count;
    size_t value_capacity;
};
struct zepi_recorded_instance {
    struct zepi_device_kernel *kernel; // borrowed from a launch's kernel
    struct zepi_kernel_instance *instance;
};

// Gives up all of it: the lists are not executed any more.
void zepi_recorded_uses_release(struct zepi_recorded_uses *uses);
void zepi_recorded_uses_finish(struct zepi_recorded_uses *uses);

// Where a command is recorded to, and how it is ordered there. For one command.
struct zepi_recorder {
    struct zepi_recorded_uses *uses;
    ze_command_list_handle_t list;
    ze_event_handle_t signal; // NULL: no command waits for this one
    uint32_t wait_count;
    ze_event_handle_t *waits;
};

// A command that is not native. `launch` is what it launches.
zepi_result_t zepi_record_command(const struct zepi_recorder *recorder,
                                  const struct zepi_graph_command *command,
                                  const struct zepi_graph_launch *launch);

#endif
