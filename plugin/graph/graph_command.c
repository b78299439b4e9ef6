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
        [ZEPI_COMMAND_MARKER] = "a marker",
        [ZEPI_COMMAND_BARRIER] = "a barrier",
        [ZEPI_COMMAND_COPY] = "a copy",
        [ZEPI_COMMAND_COPY_RECT] = "a copy of a rectangle",
        [ZEPI_COMMAND_COPY_IMAGE] = "a copy of an image",
        [ZEPI_COMMAND_FILL] = "a fill",
        [ZEPI_COMMAND_PREFETCH] = "a prefetch",
        [ZEPI_COMMAND_ADVISE] = "a memory advice",
        [ZEPI_COMMAND_LAUNCH] = "a launch",
        [ZEPI_COMMAND_NATIVE] = "a native command",
    };
    return names[command->kind];
}

static void command_release_launch(struct zepi_graph_command *command)
{
    zepi_launch_record_release(command->launch);
    zepi_launch_record_release(command->draft);
    for (uint32_t i = 0; i < command->kernel_count; i++)
        zepi_release(command->kernels[i]);
    if (command->kernels)
        zepi_free(command->kernels);
}

static void command_release_transfer(struct zepi_graph_command *command)
{
    for (int i = 0; i < 2; i++)
        zepi_release(command->transfer->memory[i].object);
    zepi_free(command->transfer);
}

static void command_destroy(void *object)
{
    struct zepi_graph_command *command = object;
    if (command->kind == ZEPI_COMMAND_LAUNCH)
        command_release_launch(command);
    if (command->transfer)
        command_release_transfer(command);
    if (command->native)
        zepi_command_list_give(command->native, false);
    if (command->waits)
        zepi_free(command->waits);
}

ZEPI_DEFINE_TYPE(graph_command, command_destroy);

zepi_result_t zepi_graph_command_set_transfer(struct zepi_graph_command *command,
                                              const struct zepi_transfer *transfer,
                                              const struct zepi_arg_use memory[2])
{
    const size_t pattern_bytes = transfer->pattern ? transfer->pattern_size_bytes : 0;
    struct zepi_graph_transfer *own = zepi_sys_allocate(sizeof(*own) + pattern_bytes);
    if (!own)
        return zepi_fail_no_memory();
    own->transfer = *transfer;
    if (transfer->pattern)
        own->transfer.pattern = memcpy(own + 1, transfer->pattern, pattern_bytes);
    for (int i = 0; i < 2; i++) {
        struct zepi_image *image = i == 0 ? transfer->to_image : transfer->from_image;
        own->memory[i] = memory ? memory[i] : (struct zepi_arg_use){0};
        own->memory[i].access = i == 0 ? ZEPI_BUFFER_WRITE : ZEPI_BUFFER_READ;
        if (image)
            own->memory[i].object = image;
        if (own->memory[i].object)
            zepi_retain(own->memory[i].object);
    }
    command->transfer = own;
    return ZEPI_SUCCESS;
}
