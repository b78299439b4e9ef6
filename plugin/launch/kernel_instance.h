// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_KERNEL_INSTANCE_H
#define ZEPI_LAUNCH_KERNEL_INSTANCE_H

#include "launch/launch_record.h"
#include "sync/deferred.h"

#include <level_zero/ze_api.h>

struct zepi_device;
struct zepi_queue;

// One ze_kernel and its state: a launch sets the arguments and sizes that differ. One thread at a
// time uses an instance: the one that holds the mutex of its queue, or that took it from the free
// instances.

struct zepi_kernel_instance {
    struct zepi_deferred deferred;     // while its last command may still run
    struct zepi_kernel_instance *next; // free ones
    ze_kernel_handle_t ze;
    // Sizes that were found right, as they were asked for, and the number of groups.
    uint32_t work_dim; // 0: none
    size_t global_size[3];
    size_t asked_group_size[3];
    size_t asked_offset[3];
    ze_group_count_t group_count;
    // Set on the ze_kernel.
    uint32_t group_size[3]; // zeros: not known
    uint32_t offset[3];
    uint64_t usm_version; // of the last launch; `args` is out of date in another one
    // As they were set. One that is not comparable (argument.h) has a kind that no argument has, so
    // that it differs from any other.
    struct zepi_arg args[];
};

// Makes an instance, which belongs to no queue yet. The first of a device kernel is made in two
// steps: its ze_kernel tells what an instance needs. The second one consumes that, after an error,
// too.
zepi_result_t zepi_kernel_instance_create_ze(const struct zepi_device_kernel *device_kernel,
                                             ze_kernel_handle_t *out_ze);
zepi_result_t zepi_kernel_instance_adopt(const struct zepi_device_kernel *device_kernel,
                                         ze_kernel_handle_t ze,
                                         struct zepi_kernel_instance **out_instance);
zepi_result_t zepi_kernel_instance_create(const struct zepi_device_kernel *device_kernel,
                                          struct zepi_kernel_instance **out_instance);
// Destroys the ze_kernel at once: no command uses it any more.
void zepi_kernel_instance_free(struct zepi_kernel_instance *instance);

// Alone sets the group size of the ze_kernel. The sizes of the last launch are forgotten, so that
// the next launch checks and sets its own.
zepi_result_t zepi_kernel_instance_set_group_size(struct zepi_kernel_instance *instance,
                                                  const uint32_t group[3]);

// Checks the arguments and sizes that differ from the last launch, and sets them. An error leaves
// the instance usable. ZEPI_NOTHING_TO_LAUNCH: the launch is right, and has no work-items.
zepi_result_t zepi_kernel_instance_prepare(struct zepi_kernel_instance *instance,
                                           const struct zepi_device *device,
                                           const struct zepi_launch *launch);
#define ZEPI_NOTHING_TO_LAUNCH ((zepi_result_t)0x7ffe)

// The launch itself: prepares the instance and appends the command, under the mutex of the queue
// that the instance belongs to. ZEPI_NOTHING_TO_LAUNCH: as above, and nothing was appended.
zepi_result_t zepi_kernel_instance_launch(struct zepi_kernel_instance *instance,
                                          struct zepi_queue *queue,
                                          const struct zepi_launch *launch, zepi_wait_list_t wait,
                                          zepi_event_t *out_event);

#endif
