// SPDX-License-Identifier: MIT
#include "graph/graph_command.h"

#include "copy/copy.h"
#include "core/alloc.h"
#include "device/context.h"
#include "queue/command_list.h"
#include "ze/ze.h"

const char *zepi_graph_command_name(const struct zepi_graph_command *command)
{
    static const char *const names[] = {
        [ZEPI_GRAPH_COPY] = "a copy",
        [ZEPI_GRAPH_COPY_RECT] = "a copy of a rectangle",
        [ZEPI_GRAPH_COPY_IMAGE] = "a copy of an image",
        [ZEPI_GRAPH_FILL] = "a fill",
        [ZEPI_GRAPH_PREFETCH] = "a prefetch",
        [ZEPI_GRAPH_ADVISE] = "a memory advice",
        [ZEPI_GRAPH_LAUNCH] = "a launch",
        [ZEPI_GRAPH_NATIVE] = "a native command",
        [ZEPI_GRAPH_NOTHING] = "a hint",
    };
    return names[command->kind];
}

static void destroy_native_command(struct zepi_deferred *deferred)
{
    struct zepi_graph_native *native = (struct zepi_graph_native *)deferred;
    zepi_ze.zeCommandListDestroy(native->ze);
    zepi_free(native);
}

zepi_result_t zepi_graph_native_create(struct zepi_context *context, struct zepi_device *device,
                                       struct zepi_graph_native **out_native)
{
    struct zepi_graph_native *native = zepi_allocate(1, sizeof(*native));
    if (!native)
        return zepi_fail_no_memory();
    const zepi_result_t result = zepi_closed_list_take(context, device, NULL, &native->ze);
    if (result != ZEPI_SUCCESS) {
        zepi_free(native);
        return result;
    }
    native->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    native->deferred.run = destroy_native_command;
    *out_native = native;
    return ZEPI_SUCCESS;
}

static void command_release_launch(struct zepi_graph_command *command)
{
    zepi_launch_record_release(command->launch);
    for (uint32_t i = 0; i < command->kernel_count; i++)
        zepi_release(command->kernels[i]);
    if (command->kernels)
        zepi_free(command->kernels);
}

static void command_release_transfer(struct zepi_graph_command *command)
{
    if (command->native)
        zepi_defer(command->context, &command->native->deferred);
    for (int i = 0; i < 2; i++)
        zepi_release(command->memory[i].object);
    zepi_free(command->image_copy);
    zepi_free(command->pattern);
}

static void command_destroy(void *object)
{
    struct zepi_graph_command *command = object;
    if (command->kind == ZEPI_GRAPH_LAUNCH)
        command_release_launch(command);
    else
        command_release_transfer(command);
    if (command->waits)
        zepi_free(command->waits);
}

ZEPI_DEFINE_TYPE(graph_command, command_destroy);

struct zepi_graph_command *zepi_graph_command_create(struct zepi_graph *graph,
                                                     struct zepi_context *context,
                                                     enum zepi_graph_command_kind kind,
                                                     uint32_t wait_count, const uint32_t *waits)
{
    struct zepi_graph_command *command = zepi_object_create(&zepi_graph_command_type);
    if (!command)
        return NULL;
    command->graph = graph;
    command->context = context;
    command->kind = kind;
    if (wait_count == 0)
        return command;
    command->waits = zepi_duplicate(waits, wait_count * sizeof(waits[0]));
    if (!command->waits) {
        zepi_fail_no_memory();
        zepi_release(command);
        return NULL;
    }
    command->wait_count = wait_count;
    return command;
}

zepi_result_t zepi_graph_command_set_fill(struct zepi_graph_command *command, void *to,
                                          const void *pattern, size_t pattern_size_bytes,
                                          size_t size_bytes)
{
    command->to = to;
    command->size_bytes = size_bytes;
    command->pattern_size_bytes = pattern_size_bytes;
    command->pattern = zepi_duplicate(pattern, pattern_size_bytes);
    return command->pattern ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

struct zepi_graph_command *zepi_graph_command_copy(struct zepi_graph *graph,
                                                   const struct zepi_graph_command *from,
                                                   struct zepi_launch_record *launch)
{
    struct zepi_graph_command *command =
        zepi_graph_command_create(graph, from->context, from->kind, 0, NULL);
    if (!command) {
        zepi_launch_record_release(launch);
        return NULL;
    }
    command->launch = launch;
    for (int i = 0; i < 2; i++) {
        command->memory[i] = from->memory[i];
        if (from->memory[i].object)
            zepi_retain(from->memory[i].object);
    }
    command->to = from->to;
    command->from = from->from;
    command->size_bytes = from->size_bytes;
    command->to_layout = from->to_layout;
    command->from_layout = from->from_layout;
    command->advice = from->advice;
    command->pattern_size_bytes = from->pattern_size_bytes;
    if (from->pattern)
        command->pattern = zepi_duplicate(from->pattern, from->pattern_size_bytes);
    if (from->image_copy)
        command->image_copy = zepi_duplicate(from->image_copy, sizeof(*from->image_copy));
    if (!command->pattern == !from->pattern && !command->image_copy == !from->image_copy)
        return command;
    zepi_fail_no_memory();
    zepi_release(command);
    return NULL;
}
