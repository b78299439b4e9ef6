// SPDX-License-Identifier: MIT
#include "graph/graph_launch.h"

#include "core/alloc.h"

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
