// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_MUTABLE_LAUNCH_H
#define ZEPI_GRAPH_MUTABLE_LAUNCH_H

#include "graph/graph_command.h"
#include "graph/recorded_uses.h"
#include "ze/ze_optional.h"

// A launch in a mutable command list (ZE_experimental_mutable_command_list), which is changed there
// while nothing of the list runs: arguments but images and samplers, sizes, offset, and the kernel,
// if it is one of those that the command was appended with.

// Whether the driver has such lists for the device.
bool zepi_mutable_launch_is_offered(const struct zepi_device *device);
// The chain of a description of such a list.
extern const struct zepi_ze_mutable_flags_desc zepi_mutable_list_desc;

// Of the launch that is appended to the list next. *out_id is 0 if the list cannot change it.
zepi_result_t zepi_mutable_launch_identify(struct zepi_recorded_uses *uses,
                                           ze_command_list_handle_t list,
                                           const struct zepi_graph_command *command,
                                           uint64_t *out_id);

// Changes of launches in lists, which the driver gets in as few calls as there is room for here.
#define ZEPI_MUTABLE_ARGUMENTS 16
#define ZEPI_MUTABLE_SIZES 4
struct zepi_mutable_changes {
    struct zepi_recorded_uses *uses; // borrowed
    ze_command_list_handle_t list;   // borrowed: of the changes at hand; NULL: none was open yet
    const void **end;                // of their chain, which begins in `commands`
    uint32_t argument_count;
    uint32_t size_count;
    struct zepi_ze_mutable_flags_desc commands;
    struct zepi_ze_mutable_argument_desc arguments[ZEPI_MUTABLE_ARGUMENTS];
    struct {
        struct zepi_ze_mutable_triple_desc group;
        struct zepi_ze_mutable_triple_desc offset;
        struct zepi_ze_mutable_group_count_desc count;
        ze_group_count_t counts;
    } sizes[ZEPI_MUTABLE_SIZES];
};

void zepi_mutable_changes_begin(struct zepi_mutable_changes *changes,
                                struct zepi_recorded_uses *uses);
// Changes a command, which was recorded with the kernel `old`, to `launch`, which stays until the
// changes end; `changed` has all differences (graph_launch.h). False: the list cannot be changed
// so, or the driver failed; the state of the lists is not known then.
bool zepi_mutable_changes_add(struct zepi_mutable_changes *changes, ze_command_list_handle_t list,
                              uint64_t id, const struct zepi_kernel *old,
                              const struct zepi_graph_launch *launch, uint64_t changed);
// False as above. All lists are closed again.
bool zepi_mutable_changes_end(struct zepi_mutable_changes *changes);

#endif
