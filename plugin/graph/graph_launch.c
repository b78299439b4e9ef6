// SPDX-License-Identifier: MIT
#include "graph/graph_launch.h"

#include "core/alloc.h"
#include "memory/buffer.h"
#include "memory/image.h"

#define VALUE_ALIGNMENT 16

void zepi_graph_launch_release(struct zepi_graph_launch *launch)
{
    // Acquire and release: others' reads are over before the memory goes.
    if (!launch || atomic_fetch_sub_explicit(&launch->references, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < launch->desc.argument_count && launch->has_objects; i++)
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

static bool is_moving(const struct zepi_graph_memory *memory)
{
    return memory->part.buffer && !memory->part.buffer->fixed;
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
    const size_t size_bytes = fixed_bytes + VALUE_ALIGNMENT + value_bytes;
    struct zepi_graph_launch *launch = zepi_allocate(1, size_bytes);
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
        if (memory[i].object) {
            zepi_retain(memory[i].object);
            launch->has_objects = true;
        }
        launch->moves = launch->moves || is_moving(&memory[i]);
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

struct zepi_graph_launch *
zepi_graph_launch_create_changed(const struct zepi_graph_launch *from, struct zepi_kernel *kernel,
                                 uint32_t count, uint32_t index, const zepi_argument_t *argument,
                                 const struct zepi_graph_memory *argument_memory)
{
    struct zepi_graph_launch *launch = NULL;
    zepi_launch_desc_t desc = from->desc;
    zepi_argument_t *arguments = zepi_allocate(count, sizeof(arguments[0]));
    struct zepi_graph_memory *memory = zepi_allocate(count, sizeof(memory[0]));
    desc.kernel = kernel;
    desc.arguments = arguments;
    desc.argument_count = count;
    for (uint32_t i = 0; i < count && arguments && memory; i++) {
        if (i == index) {
            arguments[i] = *argument;
            memory[i] = argument_memory ? *argument_memory : (struct zepi_graph_memory){0};
        } else if (i < from->desc.argument_count) {
            arguments[i] = from->arguments[i];
            memory[i] = from->memory[i];
        }
    }
    if (arguments && memory)
        launch = zepi_graph_launch_create(kernel, &desc, memory);
    else
        zepi_fail_no_memory();
    zepi_free(arguments);
    zepi_free(memory);
    return launch;
}

// ---- Changes ----

bool zepi_graph_launch_set_argument(struct zepi_graph_launch *launch, uint32_t index,
                                    const zepi_argument_t *argument)
{
    zepi_argument_t *own = &launch->arguments[index];
    if (argument->kind != ZEPI_ARGUMENT_VALUE) {
        *own = *argument;
        return true;
    }
    void *room = own->kind == ZEPI_ARGUMENT_VALUE ? (void *)own->value : NULL;
    if (!room || argument->size_bytes > argument_room_bytes(own))
        return false;
    memcpy(room, argument->value, argument->size_bytes);
    own->size_bytes = argument->size_bytes;
    return true;
}

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
    if (launch->desc.flags != old->desc.flags)
        changes |= ZEPI_GRAPH_CHANGED_FOR_GOOD;
    for (uint32_t i = 0; i < launch->desc.argument_count; i++) {
        if (i >= old->desc.argument_count ||
            !zepi_graph_launch_has_argument(old, device_kernel, i, &launch->arguments[i],
                                            &launch->memory[i]))
            changes |= zepi_graph_changed_argument(i);
    }
    return changes;
}

// ---- Checked launches ----

// An image or a sampler of the context; others are found wrong later.
static bool is_known_pixel_object(const zepi_argument_t *argument,
                                  const struct zepi_context *context)
{
    const struct zepi_image *image = argument->value;
    const struct zepi_sampler *sampler = argument->value;
    if (argument->kind == ZEPI_ARGUMENT_IMAGE)
        return zepi_object_is(image, &zepi_image_type) && image->context == context;
    return argument->kind == ZEPI_ARGUMENT_SAMPLER && zepi_object_is(sampler, &zepi_sampler_type) &&
           sampler->context == context;
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
        if (result == ZEPI_SUCCESS && is_known_pixel_object(&arguments[i], context))
            memory[i].object = (void *)arguments[i].value;
    }
    return result;
}

// Of images and samplers that the launch holds.
static void graph_arguments_read_handles(zepi_argument_t *arguments,
                                         const struct zepi_graph_memory *memory, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (zepi_argument_has_pixels(&arguments[i]) && memory[i].object)
            zepi_argument_read_handle(&arguments[i], &arguments[i]);
    }
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
            graph_arguments_read_handles(arguments, memory, count);
            *out_launch = zepi_graph_launch_create(kernel, &desc, memory);
            result = *out_launch ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    zepi_free(arguments);
    zepi_free(memory);
    return result;
}
