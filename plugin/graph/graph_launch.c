// SPDX-License-Identifier: MIT
#include "graph/graph_launch.h"

#include "core/alloc.h"
#include "memory/buffer.h"
#include "memory/image.h"

void zepi_graph_launch_release(struct zepi_graph_launch *launch)
{
    // Acquire and release: others' reads are over before the memory goes.
    if (!launch || atomic_fetch_sub_explicit(&launch->references, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < launch->desc.argument_count && launch->has_objects; i++)
        zepi_release(launch->memory[i].object);
    zepi_release(launch->kernel);
    if (!launch->is_in_arena)
        zepi_free(launch);
}

size_t zepi_graph_launch_size(const struct zepi_argument_list *list)
{
    size_t size_bytes = sizeof(struct zepi_graph_launch) +
                        list->count * (sizeof(zepi_argument_t) + sizeof(struct zepi_graph_memory));
    for (uint32_t i = 0; i < list->count; i++) {
        const struct zepi_argument_record *record = zepi_argument_at(list, i);
        const zepi_argument_kind_t kind = (zepi_argument_kind_t)(uint32_t)record->head;
        if (kind == ZEPI_ARGUMENT_IMAGE || kind == ZEPI_ARGUMENT_SAMPLER)
            size_bytes += zepi_graph_room_bytes(sizeof(void *));
        else if (kind == ZEPI_ARGUMENT_VALUE &&
                 (record->size_bytes > PTRDIFF_MAX ||
                  __builtin_add_overflow(size_bytes, zepi_graph_room_bytes(record->size_bytes),
                                         &size_bytes)))
            return 0;
    }
    return size_bytes;
}

static bool is_moving(const struct zepi_graph_memory *memory)
{
    return memory->part.buffer && !memory->part.buffer->fixed;
}

static void graph_launch_hold(struct zepi_graph_launch *launch, uint32_t index,
                              const struct zepi_graph_memory *memory)
{
    launch->memory[index] = *memory;
    launch->moves = launch->moves || is_moving(memory);
    if (!memory->object)
        return;
    zepi_retain(memory->object);
    launch->has_objects = true;
}

// Objects of the core: a buffer, whose address is asked for with each recording, an image or a
// sampler. The kernel's context has been found in them, unless the constants are emulated: then
// wrong buffers and kinds are found by the recording.
static void graph_launch_hold_object(struct zepi_graph_launch *launch, uint32_t index)
{
    zepi_argument_t *argument = &launch->arguments[index];
    struct zepi_buffer *buffer = (struct zepi_buffer *)argument->value;
    struct zepi_graph_memory memory = {.object = buffer};
    if (zepi_argument_has_pixels(argument))
        zepi_argument_read_handle(argument, argument);
    else if (argument->kind == ZEPI_ARGUMENT_BUFFER && zepi_object_is(buffer, &zepi_buffer_type) &&
             buffer->context == launch->kernel->context)
        memory.part = (struct zepi_buffer_part){buffer, 0, buffer->size_bytes};
    else
        return;
    graph_launch_hold(launch, index, &memory);
}

// Copies what the arguments refer to. `memory`, one an argument, without references; NULL: the
// objects among the arguments.
static void graph_launch_hold_all(struct zepi_graph_launch *launch,
                                  const struct zepi_graph_memory *memory)
{
    const uint32_t count = launch->desc.argument_count;
    char *room = (char *)&launch->memory[count];
    for (uint32_t i = 0; i < count; i++) {
        zepi_argument_t *argument = &launch->arguments[i];
        if (memory)
            graph_launch_hold(launch, i, &memory[i]);
        else if (argument->kind >= ZEPI_ARGUMENT_BUFFER)
            graph_launch_hold_object(launch, i);
        if (argument->kind != ZEPI_ARGUMENT_VALUE || !argument->value)
            continue;
        argument->value = memcpy(room, argument->value, argument->size_bytes);
        room += zepi_graph_room_bytes(argument->size_bytes);
    }
}

void zepi_graph_launch_init(struct zepi_graph_launch *launch, struct zepi_kernel *kernel,
                            const struct zepi_launch *from, const struct zepi_graph_memory *memory)
{
    zepi_launch_desc_t *desc = &launch->desc;
    const uint32_t count = from->arguments.count;
    atomic_init(&launch->references, 1);
    launch->kernel = zepi_retain(kernel);
    launch->memory = (struct zepi_graph_memory *)&launch->arguments[count];
    desc->size = sizeof(*desc);
    desc->kernel = kernel;
    desc->arguments = launch->arguments;
    desc->argument_count = count;
    desc->flags = from->flags;
    desc->work_dim = from->work_dim;
    for (uint32_t i = 0; i < from->work_dim; i++) {
        desc->global_size[i] = from->global_size[i];
        desc->group_size[i] = from->group_size ? from->group_size[i] : 0;
        desc->global_offset[i] = from->global_offset ? from->global_offset[i] : 0;
    }
    graph_launch_hold_all(launch, memory);
}

struct zepi_graph_launch *
zepi_graph_launch_create_changed(const struct zepi_graph_launch *from, struct zepi_kernel *kernel,
                                 uint32_t count, uint32_t index, const zepi_argument_t *argument,
                                 const struct zepi_graph_memory *argument_memory)
{
    struct zepi_graph_launch *launch = NULL;
    zepi_launch_desc_t desc = from->desc;
    zepi_argument_t *arguments = zepi_allocate(count, sizeof(arguments[0]));
    struct zepi_graph_memory *memory = zepi_allocate(count, sizeof(memory[0]));
    desc.arguments = arguments;
    desc.argument_count = count;
    const struct zepi_launch changed = zepi_launch_of(&desc, (zepi_wait_list_t){NULL, 0}, NULL);
    for (uint32_t i = 0; i < count && arguments && memory; i++) {
        if (i == index) {
            arguments[i] = *argument;
            memory[i] = argument_memory ? *argument_memory : (struct zepi_graph_memory){0};
        } else if (i < from->desc.argument_count) {
            arguments[i] = from->arguments[i];
            memory[i] = from->memory[i];
        }
    }
    const size_t size_bytes = arguments && memory ? zepi_graph_launch_size(&changed.arguments) : 0;
    if (size_bytes > 0)
        launch = zepi_allocate(1, size_bytes);
    if (launch) {
        memcpy(launch->arguments, arguments, count * sizeof(arguments[0]));
        zepi_graph_launch_init(launch, kernel, &changed, memory);
    } else {
        zepi_fail_no_memory();
    }
    zepi_free(arguments);
    zepi_free(memory);
    return launch;
}

// ---- Changes ----

void zepi_graph_launch_set_memory(struct zepi_graph_launch *launch, uint32_t index,
                                  const struct zepi_graph_memory *memory)
{
    void *old = launch->memory[index].object;
    launch->memory[index] = memory ? *memory : (struct zepi_graph_memory){0};
    if (launch->memory[index].object)
        zepi_retain(launch->memory[index].object);
    zepi_release(old);
    launch->moves = false;
    launch->has_objects = false;
    for (uint32_t i = 0; i < launch->desc.argument_count; i++) {
        launch->moves = launch->moves || is_moving(&launch->memory[i]);
        launch->has_objects = launch->has_objects || launch->memory[i].object;
    }
}

bool zepi_graph_launch_has_argument(const struct zepi_graph_launch *launch,
                                    const struct zepi_device_kernel *device_kernel, uint32_t index,
                                    const zepi_argument_t *argument,
                                    const struct zepi_graph_memory *memory)
{
    const zepi_argument_t *own = &launch->arguments[index];
    if (own->kind != argument->kind || own->size_bytes != argument->size_bytes)
        return false;
    if (argument->kind == ZEPI_ARGUMENT_LOCAL)
        return true;
    // An image or a sampler, which both launches hold.
    const bool is_same_object =
        memory && memory->object && memory->object == launch->memory[index].object;
    return argument->kind == ZEPI_ARGUMENT_VALUE && own->value && argument->value &&
           (is_same_object || device_kernel->arguments[index].kind == ZEPI_SPIRV_ARGUMENT_VALUE) &&
           memcmp(own->value, argument->value, argument->size_bytes) == 0;
}

uint64_t zepi_graph_compare_sizes(const zepi_launch_desc_t *old, const zepi_launch_desc_t *desc)
{
    uint64_t changes = 0;
    if (old->work_dim != desc->work_dim ||
        memcmp(old->global_size, desc->global_size, sizeof(desc->global_size)) != 0 ||
        memcmp(old->group_size, desc->group_size, sizeof(desc->group_size)) != 0)
        changes |= ZEPI_GRAPH_CHANGED_SIZES;
    if (memcmp(old->global_offset, desc->global_offset, sizeof(desc->global_offset)) != 0)
        changes |= ZEPI_GRAPH_CHANGED_SIZES | ZEPI_GRAPH_CHANGED_OFFSET;
    return changes;
}

uint64_t zepi_graph_launch_compare(const struct zepi_graph_launch *old,
                                   const struct zepi_graph_launch *launch,
                                   const struct zepi_device_kernel *device_kernel)
{
    uint64_t changes = zepi_graph_compare_sizes(&old->desc, &launch->desc);
    if (launch->kernel != old->kernel)
        changes |= ZEPI_GRAPH_CHANGED_KERNEL;
    for (uint32_t i = 0; i < launch->desc.argument_count; i++) {
        if (i >= old->desc.argument_count ||
            !zepi_graph_launch_has_argument(old, device_kernel, i, &launch->arguments[i],
                                            &launch->memory[i]))
            changes |= zepi_graph_changed_argument(i);
    }
    return changes;
}
