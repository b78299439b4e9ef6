// SPDX-License-Identifier: MIT
#include "graph/graph_launch.h"

#include "core/alloc.h"
#include "memory/buffer.h"

#define VALUE_ALIGNMENT 16

void zepi_graph_launch_release(struct zepi_graph_launch *launch)
{
    // Acquire and release: others' reads are over before the memory goes.
    if (!launch || atomic_fetch_sub_explicit(&launch->references, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < launch->desc.argument_count; i++)
        zepi_release(launch->memory[i].object);
    zepi_release(launch->kernel);
    zepi_free(launch);
}

// Room for a value's bytes, such that the next one is aligned, too.
static size_t argument_room_bytes(const zepi_argument_t *argument)
{
    return argument->kind == ZEPI_ARGUMENT_VALUE
               ? (argument->size_bytes + VALUE_ALIGNMENT - 1) / VALUE_ALIGNMENT * VALUE_ALIGNMENT
               : 0;
}

struct zepi_graph_launch *zepi_graph_launch_create(struct zepi_kernel *kernel,
                                                   const zepi_launch_desc_t *desc,
                                                   const struct zepi_graph_memory *memory)
{
    const uint32_t count = desc->argument_count;
    const size_t fixed_bytes = sizeof(struct zepi_graph_launch) +
                               count * (sizeof(zepi_argument_t) + sizeof(struct zepi_graph_memory));
    size_t value_bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        value_bytes += argument_room_bytes(&desc->arguments[i]);
    struct zepi_graph_launch *launch =
        zepi_allocate(1, fixed_bytes + VALUE_ALIGNMENT + value_bytes);
    if (!launch) {
        zepi_fail_no_memory();
        return NULL;
    }
    char *values = (char *)launch + fixed_bytes;
    values += VALUE_ALIGNMENT - (uintptr_t)values % VALUE_ALIGNMENT;
    atomic_init(&launch->references, 1);
    launch->kernel = zepi_retain(kernel);
    launch->memory = (struct zepi_graph_memory *)&launch->arguments[count];
    for (uint32_t i = 0; i < count; i++) {
        launch->arguments[i] = desc->arguments[i];
        launch->memory[i] = memory[i];
        if (memory[i].object)
            zepi_retain(memory[i].object);
        if (desc->arguments[i].kind != ZEPI_ARGUMENT_VALUE || !desc->arguments[i].value)
            continue;
        launch->arguments[i].value =
            memcpy(values, desc->arguments[i].value, desc->arguments[i].size_bytes);
        values += argument_room_bytes(&desc->arguments[i]);
    }
    launch->desc = *desc;
    launch->desc.arguments = launch->arguments;
    return launch;
}

static zepi_result_t read_graph_arguments(const struct zepi_launch *launch,
                                          const struct zepi_context *context,
                                          zepi_argument_t *arguments,
                                          struct zepi_graph_memory *memory)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < launch->arguments.count && result == ZEPI_SUCCESS; i++) {
        result = zepi_argument_read(&launch->arguments, i, &arguments[i]);
        struct zepi_buffer *buffer = (struct zepi_buffer *)arguments[i].value;
        if (result == ZEPI_SUCCESS && arguments[i].kind == ZEPI_ARGUMENT_BUFFER &&
            zepi_object_is(buffer, &zepi_buffer_type) && buffer->context == context)
            memory[i] = (struct zepi_graph_memory){buffer, {buffer, 0, buffer->size_bytes}};
    }
    return result;
}

static zepi_launch_desc_t describe_graph_launch(struct zepi_kernel *kernel,
                                                const struct zepi_launch *launch,
                                                const zepi_argument_t *arguments)
{
    zepi_launch_desc_t desc = {.size = sizeof(desc),
                               .kernel = kernel,
                               .arguments = arguments,
                               .argument_count = launch->arguments.count,
                               .work_dim = launch->work_dim,
                               .flags = launch->flags};
    for (uint32_t i = 0; i < launch->work_dim; i++) {
        desc.global_size[i] = launch->global_size[i];
        desc.group_size[i] = launch->group_size ? launch->group_size[i] : 0;
        desc.global_offset[i] = launch->global_offset ? launch->global_offset[i] : 0;
    }
    return desc;
}

zepi_result_t zepi_graph_launch_make(const struct zepi_context *context, struct zepi_device *device,
                                     struct zepi_kernel *kernel, const struct zepi_launch *launch,
                                     struct zepi_graph_launch **out_launch)
{
    const uint32_t count = launch->arguments.count;
    zepi_argument_t *arguments = zepi_allocate(count, sizeof(arguments[0]));
    struct zepi_graph_memory *memory = zepi_allocate(count, sizeof(memory[0]));
    zepi_result_t result = arguments && memory
                               ? read_graph_arguments(launch, context, arguments, memory)
                               : zepi_fail_no_memory();
    if (result == ZEPI_SUCCESS) {
        const zepi_launch_desc_t desc = describe_graph_launch(kernel, launch, arguments);
        const struct zepi_launch asked = zepi_launch_of(&desc, (zepi_wait_list_t){NULL, 0}, NULL);
        result = zepi_launch_check(context, device, kernel, &asked);
        if (result == ZEPI_SUCCESS) {
            *out_launch = zepi_graph_launch_create(kernel, &desc, memory);
            result = *out_launch ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    zepi_free(arguments);
    zepi_free(memory);
    return result;
}
