// SPDX-License-Identifier: MIT
#include "payload.h"

#include "intel.h"

#include <string.h>

void payload_expect(struct payload_launch *launch, const void *value, size_t size)
{
    INTEL_EXPECT(launch->value_count < PAYLOAD_VALUES && size <= 16, "too many values");
    struct payload_value *to = &launch->values[launch->value_count++];
    to->size = size;
    memcpy(to->bytes, value, size);
}

// Leaves of the places those that have the value. Returns how many are left.
static int narrow(bool places[INTEL_PAYLOAD], const struct payload_value *value,
                  const struct intel_command *command)
{
    int left = 0;
    for (size_t at = 0; at < INTEL_PAYLOAD; at++) {
        places[at] = places[at] && at + value->size <= command->payload_bytes &&
                     memcmp(command->payload + at, value->bytes, value->size) == 0;
        left += places[at];
    }
    return left;
}

static bool is_made_by_gpu(const struct intel_command *command)
{
    return command->local[0] * command->local[1] * command->local[2] > 1;
}

// A command has the group size if the GPU makes the work-items' numbers; else its groups count.
static void judge_sizes(const struct payload_launch *launch, const struct intel_command *command,
                        size_t number)
{
    for (int i = 0; i < 3; i++) {
        const uint32_t group = command->groups[i] ? launch->global[i] / command->groups[i] : 0;
        INTEL_EXPECT(group * command->groups[i] == launch->global[i] &&
                         (launch->local[i] == 0 || launch->local[i] == group),
                     "launch %zu: dimension %d has %u groups, expected %u work-items in groups of "
                     "%u (0: any size): %s",
                     number, i, command->groups[i], launch->global[i], launch->local[i],
                     command->text);
        INTEL_EXPECT(!is_made_by_gpu(command) || command->local[i] == group,
                     "launch %zu: dimension %d has groups of %u, expected %u: %s", number, i,
                     command->local[i], group, command->text);
    }
    INTEL_EXPECT(command->slm_bytes >= launch->local_bytes,
                 "launch %zu: %u bytes of local memory, expected %zu: %s", number,
                 command->slm_bytes, launch->local_bytes, command->text);
}

// The group size in the payload is one value more, of three numbers.
static void add_group_size(struct payload_launch *launch, const struct intel_command *command)
{
    uint32_t group[3];
    for (int i = 0; i < 3; i++)
        group[i] = launch->global[i] / command->groups[i];
    if (launch->has_local)
        payload_expect(launch, group, sizeof(group));
}

void payload_judge(struct payload_launch *launches, size_t count)
{
    static bool places[PAYLOAD_KERNELS][PAYLOAD_VALUES][INTEL_PAYLOAD];
    struct intel_trace trace = intel_trace_read();
    size_t number = 0;
    memset(places, true, sizeof(places));
    for (size_t i = 0; i < trace.count; i++) {
        const struct intel_command *command = &trace.commands[i];
        INTEL_EXPECT(strstr(command->text, " error ") == NULL, "the GPU saw: %s", command->text);
        if (command->kind != INTEL_BEGIN)
            continue;
        INTEL_EXPECT(number < count, "a kernel too much: %s", command->text);
        struct payload_launch *launch = &launches[number];
        judge_sizes(launch, command, number);
        add_group_size(launch, command);
        for (int at = 0; at < launch->value_count; at++)
            INTEL_EXPECT(narrow(places[launch->kernel][at], &launch->values[at], command) > 0,
                         "launch %zu of kernel %d: value %d is nowhere in the command where it was "
                         "in those before: %s",
                         number, launch->kernel, at, command->text);
        number++;
    }
    INTEL_EXPECT(number == count, "%zu kernels reached the GPU, expected %zu", number, count);
    intel_trace_finish(&trace);
}
