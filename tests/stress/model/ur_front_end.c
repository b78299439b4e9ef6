// SPDX-License-Identifier: MIT
// The model test through Unified Runtime's tables.
#include "model.h"

#include "ur_fixture.h"

#include <level_zero/ze_api.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(words) ((words) * sizeof(uint32_t))

static ur_context_handle_t other_context; // of the last device
static ur_program_handle_t programs[2];   // with 1 and 2 for the constant

static unsigned set_up(void)
{
    uint32_t count;
    ur_load();
    UR_OK(urAdapterGet(1, &gear.adapter, &count));
    UR_OK(urPlatformGet(gear.adapter, 1, &gear.platform, &count));
    if (count != 1)
        model_fail("there is no platform: %s", ur_last_error());
    UR_OK(urDeviceGet(gear.platform, UR_DEVICE_TYPE_ALL, UR_TEST_DEVICES, gear.devices,
                      &gear.device_count));
    if (gear.device_count > UR_TEST_DEVICES)
        gear.device_count = UR_TEST_DEVICES;
    gear.device = gear.devices[0];
    UR_OK(urContextCreate(gear.device_count, gear.devices, NULL, &gear.context));
    UR_OK(urContextCreate(1, &gear.devices[gear.device_count - 1], NULL, &other_context));
    return gear.device_count;
}

static void tear_down(void)
{
    for (int i = 0; i < 2; i++) {
        if (programs[i])
            UR_OK(urProgramRelease(programs[i]));
    }
    UR_OK(urContextRelease(other_context));
    UR_OK(urContextRelease(gear.context));
    for (uint32_t i = 0; i < gear.device_count; i++)
        UR_OK(urDeviceRelease(gear.devices[i]));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}

// ---- Memory ----

static void *make_host(size_t words)
{
    void *memory;
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, BYTES(words), &memory));
    return memory;
}

static void *make_buffer(size_t words, char *plain)
{
    const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                               .pHost = plain};
    ur_mem_handle_t buffer;
    UR_OK(urMemBufferCreate(gear.context,
                            UR_MEM_FLAG_READ_WRITE | (plain ? UR_MEM_FLAG_USE_HOST_POINTER : 0),
                            BYTES(words), plain ? &properties : NULL, &buffer));
    return buffer;
}

static bool can_register(void)
{
    ur_bool_t can = false;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_USM_HOST_ALLOC_REGISTER_SUPPORT_EXP,
                          sizeof(can), &can, NULL));
    return can;
}

static bool make(struct place *place)
{
    ur_device_handle_t device = gear.devices[place->device];
    switch (place->kind) {
    case MEMORY_HOST:
        place->memory = make_host(WORDS);
        return true;
    case MEMORY_SHARED:
        UR_OK(urUSMSharedAlloc(gear.context, device, NULL, NULL, BYTES(WORDS),
                               (void **)&place->memory));
        return true;
    case MEMORY_DEVICE:
        UR_OK(urUSMDeviceAlloc(gear.context, device, NULL, NULL, BYTES(WORDS),
                               (void **)&place->memory));
        return true;
    case MEMORY_REGISTERED:
        if (!can_register())
            return false;
        UR_OK(urUSMHostAllocRegisterExp(gear.context, place->plain, BYTES(WORDS), NULL));
        place->memory = place->plain;
        return true;
    case MEMORY_IMPORTED:
        UR_OK(urUSMImportExp(gear.context, place->plain, BYTES(WORDS)));
        place->memory = place->plain;
        return true;
    case MEMORY_HOST_BUFFER:
        place->buffer = make_buffer(WORDS, place->plain);
        return true;
    default:
        return false;
    }
}

static void free_memory(struct place *place)
{
    if (place->kind == MEMORY_REGISTERED)
        UR_OK(urUSMHostAllocUnregisterExp(gear.context, place->memory));
    else if (place->kind == MEMORY_IMPORTED)
        UR_OK(urUSMReleaseExp(gear.context, place->memory));
    else
        UR_OK(urUSMFree(gear.context, place->memory));
}

static void part(void *buffer, size_t word, struct place *place)
{
    const ur_buffer_region_t region = {
        .stype = UR_STRUCTURE_TYPE_BUFFER_REGION, .origin = BYTES(word), .size = BYTES(WORDS)};
    UR_OK(urMemBufferPartition(buffer, UR_MEM_FLAG_READ_WRITE, UR_BUFFER_CREATE_TYPE_REGION,
                               &region, (ur_mem_handle_t *)&place->buffer));
}

static void release_buffer(void *buffer)
{
    UR_OK(urMemRelease(buffer));
}

#define WAITS waits->count, (waits->count > 0 ? (const ur_event_handle_t *)waits->events : NULL)
#define EVENT ((ur_event_handle_t *)out_event)

static void *allocate_ordered(void *queue, const struct waits *waits, void **out_event)
{
    void *memory;
    UR_OK(urEnqueueUSMDeviceAllocExp(queue, NULL, BYTES(WORDS), NULL, WAITS, &memory, EVENT));
    return memory;
}

static void free_ordered(void *queue, void *memory, const struct waits *waits, void **out_event)
{
    UR_OK(urEnqueueUSMFreeExp(queue, NULL, memory, WAITS, EVENT));
}

static void trim_pool(void)
{
    for (uint32_t i = 0; i < gear.device_count; i++) {
        ur_usm_pool_handle_t pool;
        UR_OK(urUSMPoolGetDefaultDevicePoolExp(gear.context, gear.devices[i], &pool));
        UR_OK(urUSMPoolTrimToExp(gear.context, gear.devices[i], pool, draw(2) * BYTES(WORDS)));
    }
}

// ---- Queues and events ----

static void *make_queue(unsigned device, unsigned kind)
{
    return ur_queue(gear.devices[device],
                    (kind & QUEUE_IN_ORDER ? 0 : UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE) |
                        (kind & QUEUE_TIMED ? UR_QUEUE_FLAG_PROFILING_ENABLE : 0));
}

static void release_queue(void *queue)
{
    UR_OK(urQueueRelease(queue));
}

static void finish(void *queue)
{
    UR_OK(urQueueFinish(queue));
}

static void wait_for_device(unsigned device)
{
    UR_OK(urDeviceWaitExp(gear.devices[device]));
}

static void *make_gate(bool is_other)
{
    struct host_event *gate = malloc(sizeof(*gate));
    if (!gate)
        model_fail("out of memory");
    *gate = host_event_make_in(is_other ? other_context : gear.context);
    return gate;
}

static void open_gate(void *gate)
{
    host_event_signal(gate);
}

static void release_gate(void *gate)
{
    host_event_release(gate);
    free(gate);
}

static void *event_of_gate(void *gate)
{
    return ((struct host_event *)gate)->event;
}

static void release_event(void *event)
{
    UR_OK(urEventRelease(event));
}

static void retain_event(void *event)
{
    UR_OK(urEventRetain(event));
}

static void wait_for_events(uint32_t count, void **events)
{
    UR_OK(urEventWait(count, (const ur_event_handle_t *)events));
}

static bool is_complete(void *event)
{
    return ur_event_status(event) == UR_EVENT_STATUS_COMPLETE;
}

// ---- Commands ----

static void *address(const struct range *range)
{
    return range->place->memory + BYTES(range->word);
}

static void copy(void *queue, const struct range *to, const struct range *from, size_t words,
                 const struct waits *waits, void **out_event)
{
    ur_mem_handle_t to_buffer = to->place->buffer;
    ur_mem_handle_t from_buffer = from->place->buffer;
    if (to_buffer && from_buffer)
        UR_OK(urEnqueueMemBufferCopy(queue, from_buffer, to_buffer, BYTES(from->word),
                                     BYTES(to->word), BYTES(words), WAITS, EVENT));
    else if (to_buffer)
        UR_OK(urEnqueueMemBufferWrite(queue, to_buffer, false, BYTES(to->word), BYTES(words),
                                      address(from), WAITS, EVENT));
    else if (from_buffer)
        UR_OK(urEnqueueMemBufferRead(queue, from_buffer, false, BYTES(from->word), BYTES(words),
                                     address(to), WAITS, EVENT));
    else
        UR_OK(urEnqueueUSMMemcpy(queue, false, address(to), address(from), BYTES(words), WAITS,
                                 EVENT));
}

static void copy_rows(void *queue, const struct range *to, size_t to_pitch,
                      const struct range *from, size_t from_pitch, size_t width, size_t rows,
                      const struct waits *waits, void **out_event)
{
    UR_OK(urEnqueueUSMMemcpy2D(queue, false, address(to), BYTES(to_pitch), address(from),
                               BYTES(from_pitch), BYTES(width), rows, WAITS, EVENT));
}

static void fill(void *queue, const struct range *to, uint32_t value, size_t words,
                 const struct waits *waits, void **out_event)
{
    if (to->place->buffer)
        UR_OK(urEnqueueMemBufferFill(queue, to->place->buffer, &value, sizeof(value),
                                     BYTES(to->word), BYTES(words), WAITS, EVENT));
    else
        UR_OK(urEnqueueUSMFill(queue, address(to), sizeof(value), &value, BYTES(words), WAITS,
                               EVENT));
}

static void barrier(void *queue, const struct waits *waits, void **out_event)
{
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, WAITS, EVENT));
}

static void marker(void *queue, const struct waits *waits, void **out_event)
{
    UR_OK(urEnqueueEventsWait(queue, WAITS, EVENT));
}

static bool has_host_functions(void)
{
    ur_bool_t has;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_ENQUEUE_HOST_TASK_SUPPORT_EXP, sizeof(has),
                          &has, NULL));
    return has;
}

static void call_host(void *queue, void (*function)(void *), void *data, const struct waits *waits,
                      void **out_event)
{
    UR_OK(urEnqueueHostTaskExp(queue, function, data, NULL, WAITS, EVENT));
}

static void *map(void *queue, const struct range *range, size_t words)
{
    void *mapped;
    UR_OK(urEnqueueMemBufferMap(queue, range->place->buffer, true,
                                UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE, BYTES(range->word),
                                BYTES(words), 0, NULL, NULL, &mapped));
    return mapped;
}

static void unmap(void *queue, const struct range *range, void *mapped)
{
    UR_OK(urEnqueueMemUnmap(queue, range->place->buffer, mapped, 0, NULL, NULL));
}

// ---- Kernels ----

static ur_program_handle_t make_program(uint32_t value)
{
    ur_program_handle_t program = ur_input("model");
    const ur_specialization_constant_info_t constant = {
        .id = 7, .size = sizeof(value), .pValue = &value};
    UR_OK(urProgramSetSpecializationConstants(program, 1, &constant));
    UR_OK(urProgramBuild(gear.context, program, NULL));
    return program;
}

static const char *const kernel_names[KERNELS] = {"blend", "stamp", "scale"};

static void *make_kernel(enum kernel kernel, uint32_t value, bool is_new)
{
    ur_kernel_handle_t made;
    if (!is_new && !programs[value - 1])
        programs[value - 1] = make_program(value);
    ur_program_handle_t program = is_new ? make_program(value) : programs[value - 1];
    UR_OK(urKernelCreate(program, kernel_names[kernel], &made));
    if (is_new)
        UR_OK(urProgramRelease(program));
    return made;
}

static void release_kernel(void *kernel)
{
    UR_OK(urKernelRelease(kernel));
}

static size_t suggest_group(void *kernel, unsigned device, size_t global)
{
    size_t group;
    const size_t offset = 0;
    for (unsigned i = 0; i < QUEUES; i++) {
        const struct queue *queue = queue_of(i);
        if (queue->device != device)
            continue;
        UR_OK(
            urKernelGetSuggestedLocalWorkSize(kernel, queue->handle, 1, &offset, &global, &group));
        return group;
    }
    return 1;
}

static void ask_cooperative(void *kernel, unsigned device, size_t group)
{
    uint32_t count;
    UR_OK(urKernelSuggestMaxCooperativeGroupCount(kernel, gear.devices[device], 1, &group, 0,
                                                  &count));
}

// ---- Launches ----

enum { MOST_ARGUMENTS = 8 };

// Arguments of a launch, and what they point to.
struct arguments {
    uint32_t count, pointers;
    uint32_t values[MOST_ARGUMENTS];
    const struct range *ranges[MOST_ARGUMENTS]; // by arguments; NULL for values
};

static void add_value(struct arguments *arguments, uint32_t value)
{
    arguments->ranges[arguments->count] = NULL;
    arguments->values[arguments->count++] = value;
}

static void list_arguments(struct arguments *arguments, const struct launch *launch)
{
    const struct range *const all[] = {&launch->a, &launch->b, &launch->out};
    const bool has[] = {launch->kernel != KERNEL_STAMP, launch->kernel == KERNEL_BLEND, true};
    arguments->count = 0;
    if (launch->kernel != KERNEL_SCALE) {
        add_value(arguments, launch->value);
        add_value(arguments, launch->marks);
    }
    for (int i = 0; i < 3; i++) {
        if (has[i])
            add_value(arguments, (uint32_t)all[i]->word);
    }
    for (int i = 0; i < 3; i++) {
        if (has[i])
            arguments->ranges[arguments->count++] = all[i];
    }
}

static void describe(const struct arguments *arguments, ur_exp_kernel_arg_properties_t *out)
{
    for (uint32_t i = 0; i < arguments->count; i++) {
        const struct range *range = arguments->ranges[i];
        if (!range)
            out[i] = UR_VALUE(i, arguments->values[i]);
        else if (range->place->buffer)
            out[i] = UR_MEM(i, range->place->buffer);
        else
            out[i] = UR_POINTER(i, range->place->memory);
        // The last one is written.
        if (range && range->place->buffer && i + 1 < arguments->count)
            out[i].value.memObjTuple.flags = UR_MEM_FLAG_READ_ONLY;
    }
}

static const size_t *group_of(const struct launch *launch)
{
    return launch->group[0] > 0 ? launch->group : NULL;
}

static void enqueue_launch(void *queue, void *kernel, const struct launch *launch,
                           const struct waits *waits, void **out_event)
{
    struct arguments arguments;
    ur_exp_kernel_arg_properties_t described[MOST_ARGUMENTS];
    list_arguments(&arguments, launch);
    describe(&arguments, described);
    UR_OK(urEnqueueKernelLaunchWithArgsExp(queue, kernel, launch->dimensions, launch->offset,
                                           launch->global, group_of(launch), arguments.count,
                                           described, NULL, WAITS, EVENT));
}

// ---- Graphs ----

// A command buffer, or what was captured.
struct ur_graph {
    ur_exp_command_buffer_handle_t buffer;
    bool is_updatable;
    ur_exp_graph_handle_t captured;
    ur_exp_executable_graph_handle_t executable;
};

static struct ur_graph *new_graph(void)
{
    struct ur_graph *graph = calloc(1, sizeof(*graph));
    if (!graph)
        model_fail("out of memory");
    return graph;
}

static void *make_graph(bool is_updatable, bool is_in_order)
{
    struct ur_graph *graph = new_graph();
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = is_updatable,
                                               .isInOrder = is_in_order};
    graph->is_updatable = is_updatable;
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &graph->buffer));
    return graph;
}

static void release_graph(void *handle)
{
    struct ur_graph *graph = handle;
    if (graph->buffer)
        UR_OK(urCommandBufferReleaseExp(graph->buffer));
    if (graph->executable)
        UR_OK(urGraphExecutableGraphDestroyExp(graph->executable));
    if (graph->captured)
        UR_OK(urGraphDestroyExp(graph->captured));
    free(graph);
}

static uint32_t add_launch(void *handle, void *kernel, const struct launch *launch, uint32_t count,
                           const uint32_t *points, void **out_command)
{
    const struct ur_graph *graph = handle;
    struct arguments arguments;
    ur_exp_kernel_arg_properties_t described[MOST_ARGUMENTS];
    ur_exp_command_buffer_sync_point_t point;
    void *const *all = world.kernels[launch->kernel];
    ur_kernel_handle_t other = kernel == all[0] ? all[1] : all[0];
    list_arguments(&arguments, launch);
    describe(&arguments, described);
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(
        graph->buffer, kernel, launch->dimensions, launch->offset, launch->global, group_of(launch),
        arguments.count, described, graph->is_updatable ? 1 : 0,
        graph->is_updatable ? &other : NULL, count, count > 0 ? points : NULL, 0, NULL, &point,
        NULL, graph->is_updatable ? (ur_exp_command_buffer_command_handle_t *)out_command : NULL));
    return point;
}

static uint32_t add_copy(void *handle, const struct range *to, const struct range *from,
                         size_t words, uint32_t count, const uint32_t *points)
{
    const struct ur_graph *graph = handle;
    ur_exp_command_buffer_sync_point_t point;
    UR_OK(urCommandBufferAppendUSMMemcpyExp(graph->buffer, address(to), address(from), BYTES(words),
                                            count, count > 0 ? points : NULL, 0, NULL, &point, NULL,
                                            NULL));
    return point;
}

static uint32_t add_fill(void *handle, const struct range *to, uint32_t value, size_t words,
                         uint32_t count, const uint32_t *points)
{
    const struct ur_graph *graph = handle;
    ur_exp_command_buffer_sync_point_t point;
    UR_OK(urCommandBufferAppendUSMFillExp(graph->buffer, address(to), &value, sizeof(value),
                                          BYTES(words), count, count > 0 ? points : NULL, 0, NULL,
                                          &point, NULL, NULL));
    return point;
}

static void finalize(void *handle)
{
    UR_OK(urCommandBufferFinalizeExp(((struct ur_graph *)handle)->buffer));
}

static ur_exp_command_buffer_update_value_arg_desc_t new_value(uint32_t index,
                                                               const uint32_t *value)
{
    return (ur_exp_command_buffer_update_value_arg_desc_t){
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_VALUE_ARG_DESC,
        .argIndex = index,
        .argSize = sizeof(*value),
        .pNewValueArg = value};
}

// All values and sizes, and now and then pointers, though they are the same.
static void update(void *handle, void *command, uint32_t number, void *kernel,
                   const struct launch *launch)
{
    const struct ur_graph *graph = handle;
    struct arguments arguments;
    ur_exp_command_buffer_update_value_arg_desc_t values[MOST_ARGUMENTS];
    ur_exp_command_buffer_update_pointer_arg_desc_t pointers[MOST_ARGUMENTS];
    ur_exp_command_buffer_update_kernel_launch_desc_t desc = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_KERNEL_LAUNCH_DESC,
        .hCommand = command,
        .hNewKernel = kernel,
        .newWorkDim = launch->dimensions,
        .pNewValueArgList = values,
        .pNewPointerArgList = pointers,
        .pNewGlobalWorkOffset = (size_t *)launch->offset,
        .pNewGlobalWorkSize = (size_t *)launch->global,
        .pNewLocalWorkSize = (size_t *)group_of(launch)};
    (void)number;
    list_arguments(&arguments, launch);
    for (uint32_t i = 0; i < arguments.count; i++) {
        const struct range *range = arguments.ranges[i];
        if (!range)
            values[desc.numNewValueArgs++] = new_value(i, &arguments.values[i]);
        else if (!range->place->buffer && one_in(2))
            pointers[desc.numNewPointerArgs++] = (ur_exp_command_buffer_update_pointer_arg_desc_t){
                .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_POINTER_ARG_DESC,
                .argIndex = i,
                .pNewPointerArg = (void *)&range->place->memory};
    }
    UR_OK(urCommandBufferUpdateKernelLaunchExp(graph->buffer, 1, &desc));
}

static void execute(void *queue, void *handle, const struct waits *waits, void **out_event)
{
    const struct ur_graph *graph = handle;
    if (graph->executable)
        UR_OK(urEnqueueGraphExp(queue, graph->executable, WAITS, EVENT));
    else
        UR_OK(urEnqueueCommandBufferExp(queue, graph->buffer, WAITS, EVENT));
}

static void *begin_capture(void *queue)
{
    struct ur_graph *graph = new_graph();
    UR_OK(urGraphCreateExp(gear.context, &graph->captured));
    UR_OK(urQueueBeginCaptureIntoGraphExp(queue, graph->captured));
    return graph;
}

static void *end_capture(void *queue, void *capture)
{
    struct ur_graph *graph = capture;
    ur_exp_graph_handle_t ended;
    UR_OK(urQueueEndGraphCaptureExp(queue, &ended));
    UR_OK(urGraphInstantiateGraphExp(graph->captured, &graph->executable));
    return graph;
}

static void dump(void *handle)
{
    const struct ur_graph *graph = handle;
    if (graph->captured)
        UR_OK(urGraphDumpContentsExp(graph->captured, "/dev/null"));
}

const struct front_end front_end = {.name = "ur",
                                    .set_up = set_up,
                                    .tear_down = tear_down,
                                    .make = make,
                                    .free = free_memory,
                                    .make_host = make_host,
                                    .free_host = ur_free,
                                    .make_buffer = make_buffer,
                                    .part = part,
                                    .release_buffer = release_buffer,
                                    .allocate_ordered = allocate_ordered,
                                    .free_ordered = free_ordered,
                                    .trim_pool = trim_pool,
                                    .make_queue = make_queue,
                                    .release_queue = release_queue,
                                    .finish = finish,
                                    .wait_for_device = wait_for_device,
                                    .make_gate = make_gate,
                                    .open_gate = open_gate,
                                    .release_gate = release_gate,
                                    .event_of_gate = event_of_gate,
                                    .release_event = release_event,
                                    .retain_event = retain_event,
                                    .wait = wait_for_events,
                                    .is_complete = is_complete,
                                    .copy = copy,
                                    .copies_buffers = true,
                                    .copy_rows = copy_rows,
                                    .fill = fill,
                                    .launch = enqueue_launch,
                                    .barrier = barrier,
                                    .marker = marker,
                                    .has_host_functions = has_host_functions,
                                    .call_host = call_host,
                                    .map = map,
                                    .unmap = unmap,
                                    .make_kernel = make_kernel,
                                    .release_kernel = release_kernel,
                                    .suggest_group = suggest_group,
                                    .ask_cooperative = ask_cooperative,
                                    .make_graph = make_graph,
                                    .release_graph = release_graph,
                                    .add_launch = add_launch,
                                    .add_copy = add_copy,
                                    .add_fill = add_fill,
                                    .finalize = finalize,
                                    .update = update,
                                    .execute = execute,
                                    .begin_capture = begin_capture,
                                    .end_capture = end_capture,
                                    .dump = dump};
