// SPDX-License-Identifier: MIT
// A model test of launches: one random launch after the other goes every way that there is, through
// zepi.h and Unified Runtime: enqueued, with arguments in any order and set on the kernel, added to
// a graph, as an update of one, and captured. All have the numbers of the model, all refuse the
// same mistakes, and enqueued ones make the same calls of the driver.
#include "test_plugin.h"
#include "test_ze_cpu.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 10, MEMORIES = 4, ITEMS = 64, LAUNCHES = 400, CALLS = 1024 };
enum { IN = 6, SCRATCH = 7, TELLS_GROUPS = 8, OUT = 9 };

// ---- Random launches ----

enum mistake {
    NONE,
    VALUE_TOO_LARGE,
    LOCAL_FOR_POINTER,
    POINTER_FOR_VALUE,
    TOO_MUCH_LOCAL,
    GROUP_THAT_DOES_NOT_DIVIDE,
    GROUP_TOO_LARGE,
    OFFSET_TOO_LARGE,
    ONE_LESS,
    MISTAKES
};
static const struct {
    zepi_result_t zepi;
    ur_result_t ur;
} errors[MISTAKES] = {
    [NONE] = {ZEPI_SUCCESS, UR_RESULT_SUCCESS},
    [VALUE_TOO_LARGE] = {ZEPI_ERROR_INVALID_SIZE, UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE},
    [LOCAL_FOR_POINTER] = {ZEPI_ERROR_INVALID_VALUE, UR_RESULT_ERROR_INVALID_VALUE},
    [POINTER_FOR_VALUE] = {ZEPI_ERROR_INVALID_VALUE, UR_RESULT_ERROR_INVALID_VALUE},
    [TOO_MUCH_LOCAL] = {ZEPI_ERROR_INVALID_SIZE, UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE},
    [GROUP_THAT_DOES_NOT_DIVIDE] = {ZEPI_ERROR_INVALID_SIZE,
                                    UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE},
    [GROUP_TOO_LARGE] = {ZEPI_ERROR_INVALID_SIZE, UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE},
    [OFFSET_TOO_LARGE] = {ZEPI_ERROR_INVALID_SIZE, UR_RESULT_ERROR_INVALID_VALUE},
    [ONE_LESS] = {ZEPI_ERROR_INVALID_SIZE, UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX},
};

static struct launch {
    enum mistake mistake;
    int8_t a;
    int16_t b;
    int32_t c;
    int64_t d;
    float e[4];
    int64_t f[3];
    int32_t tells_groups;
    int memory; // that is read: USM, the upper half are buffers
    size_t local_bytes;
    uint32_t dimensions;
    size_t global[3], group[3], offset[3];
    bool has_group;
} next;
static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

// Each part is often that of the launch before.
static void draw_sizes(void)
{
    if (draw(3) > 0)
        return;
    next.dimensions = 1 + draw(2);
    for (uint32_t i = 0; i < 3; i++) {
        next.group[i] = i < next.dimensions ? 1u + draw(2) : 1;
        next.global[i] = i < next.dimensions ? next.group[i] * (1 + draw(4)) : 1;
        next.offset[i] = i < next.dimensions && draw(2) > 0 ? draw(5) : 0;
    }
    next.has_group = draw(3) > 0;
    next.tells_groups = next.has_group;
}

static void make_mistake(void)
{
    next.mistake = draw(4) > 0 ? NONE : (enum mistake)draw(MISTAKES);
    next.group[0] = next.group[0] > 2 ? 1 : next.group[0];
    if (next.mistake == GROUP_THAT_DOES_NOT_DIVIDE)
        next.group[0] = next.global[0] + 1;
    else if (next.mistake == GROUP_TOO_LARGE)
        next.group[0] = next.global[0] = 1u << 20;
    else if (next.mistake == OFFSET_TOO_LARGE)
        next.offset[0] = (size_t)1 << 40;
    else if (next.mistake == TOO_MUCH_LOCAL)
        next.local_bytes = (size_t)1 << 40;
    if (next.mistake == GROUP_THAT_DOES_NOT_DIVIDE || next.mistake == GROUP_TOO_LARGE)
        next.has_group = true;
}

static void draw_launch(void)
{
    if (draw(3) == 0)
        next.a = (int8_t)draw(256);
    if (draw(3) == 0)
        next.b = (int16_t)draw(65536);
    if (draw(3) == 0)
        next.c = (int32_t)draw(1000);
    if (draw(3) == 0)
        next.d = (int64_t)draw(1000) - 500;
    if (draw(3) == 0)
        next.e[draw(4)] = (float)draw(100);
    if (draw(3) == 0)
        next.f[draw(3)] = draw(1000);
    if (draw(3) == 0)
        next.memory = (int)draw(MEMORIES);
    if (draw(4) == 0)
        next.local_bytes = ITEMS * sizeof(int32_t) << draw(2);
    draw_sizes();
    make_mistake();
}

static int32_t memory_number(int memory)
{
    return 1000 * (memory + 1);
}

static void model(int32_t *out)
{
    const float *e = next.e;
    const int64_t *f = next.f;
    const int32_t sum =
        next.a + 3 * next.b + 5 * next.c + 7 * (int32_t)next.d +
        11 * (int32_t)(e[0] + 2 * e[1] + 3 * e[2] + 4 * e[3]) +
        13 * (int32_t)(f[0] + 2 * f[1] + 3 * f[2]) + 17 * memory_number(next.memory) +
        next.tells_groups * (29 * (int32_t)next.group[0] + 31 * (int32_t)next.group[1]);
    for (size_t y = 0; y < next.global[1]; y++) {
        for (size_t x = 0; x < next.global[0]; x++)
            out[x + next.global[0] * y] =
                sum + 19 * (int32_t)(x + next.offset[0]) + 23 * (int32_t)(y + next.offset[1]);
    }
}

// ---- Both front ends ----

// Each has memory, a kernel, queues and graphs of its own.
static struct {
    struct test_gear gear;
    zepi_module_t module;
    zepi_kernel_t kernel;
    int32_t *out;
    int32_t *memories[MEMORIES];
    zepi_buffer_t buffers[MEMORIES];
    zepi_graph_t updated;
} z;

static struct {
    ur_program_handle_t program;
    ur_kernel_handle_t kernels[2]; // the second has arguments set
    ur_queue_handle_t queues[2];
    int32_t *out;
    int32_t *memories[MEMORIES];
    ur_mem_handle_t buffers[MEMORIES];
    ur_exp_command_buffer_handle_t updated;
    ur_exp_command_buffer_command_handle_t command;
} u;

static bool is_buffer(int memory)
{
    return memory >= MEMORIES / 2;
}

struct zepi_list {
    zepi_argument_t arguments[ARGUMENTS];
    zepi_launch_desc_t desc;
};

static void describe_zepi(struct zepi_list *list)
{
    const zepi_argument_t arguments[ARGUMENTS] = {
        TEST_VALUE(next.a),
        TEST_VALUE(next.b),
        TEST_VALUE(next.c),
        TEST_VALUE(next.d),
        TEST_VALUE(next.e),
        TEST_VALUE(next.f),
        is_buffer(next.memory)
            ? (zepi_argument_t){.kind = ZEPI_ARGUMENT_BUFFER, .value = z.buffers[next.memory]}
            : TEST_POINTER(z.memories[next.memory]),
        {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = next.local_bytes},
        TEST_VALUE(next.tells_groups),
        TEST_POINTER(z.out)};
    memcpy(list->arguments, arguments, sizeof(arguments));
    if (next.mistake == VALUE_TOO_LARGE)
        list->arguments[2].size_bytes = sizeof(next.e);
    else if (next.mistake == LOCAL_FOR_POINTER)
        list->arguments[IN] = list->arguments[SCRATCH];
    else if (next.mistake == POINTER_FOR_VALUE)
        list->arguments[2] = list->arguments[OUT];
    list->desc =
        (zepi_launch_desc_t){.size = sizeof(list->desc),
                             .kernel = z.kernel,
                             .arguments = list->arguments,
                             .argument_count = next.mistake == ONE_LESS ? ARGUMENTS - 1 : ARGUMENTS,
                             .work_dim = next.dimensions};
    for (int i = 0; i < 3; i++) {
        list->desc.global_size[i] = next.global[i];
        list->desc.group_size[i] = next.has_group ? next.group[i] : 0;
        list->desc.global_offset[i] = next.offset[i];
    }
}

// In the kernel's order.
static uint32_t describe_ur(ur_exp_kernel_arg_properties_t *list)
{
    const ur_exp_kernel_arg_properties_t arguments[ARGUMENTS] = {
        UR_VALUE(0, next.a),
        UR_VALUE(1, next.b),
        UR_VALUE(2, next.c),
        UR_VALUE(3, next.d),
        UR_VALUE(4, next.e),
        UR_VALUE(5, next.f),
        is_buffer(next.memory) ? UR_MEM(IN, u.buffers[next.memory])
                               : UR_POINTER(IN, u.memories[next.memory]),
        UR_LOCAL(SCRATCH, next.local_bytes),
        UR_VALUE(TELLS_GROUPS, next.tells_groups),
        UR_POINTER(OUT, u.out)};
    memcpy(list, arguments, sizeof(arguments));
    if (next.mistake == VALUE_TOO_LARGE)
        list[2].size = sizeof(next.e);
    else if (next.mistake == LOCAL_FOR_POINTER)
        list[IN] = UR_LOCAL(IN, next.local_bytes);
    else if (next.mistake == POINTER_FOR_VALUE)
        list[2] = UR_POINTER(2, u.out);
    return next.mistake == ONE_LESS ? ARGUMENTS - 1 : ARGUMENTS;
}

static void shuffle(ur_exp_kernel_arg_properties_t *list, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t at = draw(i);
        const ur_exp_kernel_arg_properties_t moved = list[i - 1];
        list[i - 1] = list[at];
        list[at] = moved;
    }
}

static const size_t *group_of_next(void)
{
    return next.has_group ? next.group : NULL;
}

// ---- Calls of the driver ----

static char calls[CALLS];

static void record_call(const char *function, int is_over)
{
    if (is_over && strlen(calls) + strlen(function) + 2 < CALLS)
        strcat(strcat(calls, function), " ");
}

static void begin_recording(void)
{
    calls[0] = '\0';
    ze_cpu.set_hook(record_call);
}

// Of the launch alone.
static void end_recording(char *out)
{
    ze_cpu.set_hook(NULL);
    out[0] = '\0';
    for (char *rest, *name = strtok_r(calls, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        if (strncmp(name, "zeKernel", 8) == 0 || strstr(name, "AppendLaunch"))
            strcat(strcat(out, name), " ");
    }
}

// ---- Ways ----

struct way {
    const char *name;
    void (*run)(void);
};
static const char *way_name;
static int32_t expected[ITEMS];

static void expect_zepi(zepi_result_t result)
{
    cr_assert_eq(result, errors[next.mistake].zepi, "%s, mistake %d: %d, %s", way_name,
                 (int)next.mistake, (int)result, zepi.last_error(NULL));
}

static void expect_ur(ur_result_t result)
{
    cr_assert_eq(result, errors[next.mistake].ur, "%s, mistake %d: 0x%x, %s", way_name,
                 (int)next.mistake, (unsigned)result, ur_last_error());
}

static void enqueue_zepi(void)
{
    struct zepi_list list;
    describe_zepi(&list);
    expect_zepi(zepi.queue_launch(z.gear.queue, &list.desc, TEST_NO_WAIT, NULL));
}

static void execute_zepi(zepi_graph_t graph)
{
    TEST_OK(zepi.queue_execute(z.gear.queue, graph, TEST_NO_WAIT, NULL));
}

static void add_zepi(void)
{
    struct zepi_list list;
    zepi_graph_t graph;
    uint32_t number;
    describe_zepi(&list);
    TEST_OK(zepi.graph_create(z.gear.context, z.gear.device, 0, &graph));
    expect_zepi(zepi.graph_add_launch(graph, &list.desc, (zepi_graph_wait_list_t){0}, &number));
    TEST_OK(zepi.graph_finalize(graph));
    execute_zepi(graph);
    TEST_OK(zepi.release(graph));
}

static void update_zepi(void)
{
    struct zepi_list list;
    describe_zepi(&list);
    const zepi_graph_update_t update = {0, &list.desc};
    expect_zepi(zepi.graph_update(z.updated, 1, &update));
    if (next.mistake == NONE)
        execute_zepi(z.updated);
}

static void capture_zepi(void)
{
    struct zepi_list list;
    zepi_graph_t graph;
    describe_zepi(&list);
    TEST_OK(zepi.graph_create(z.gear.context, z.gear.device, 0, &graph));
    TEST_OK(zepi.queue_begin_capture(z.gear.queue, graph));
    expect_zepi(zepi.queue_launch(z.gear.queue, &list.desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_end_capture(z.gear.queue));
    TEST_OK(zepi.graph_finalize(graph));
    execute_zepi(graph);
    TEST_OK(zepi.release(graph));
}

static ur_result_t enqueue_arguments(ur_exp_kernel_arg_properties_t *arguments, uint32_t count)
{
    return urEnqueueKernelLaunchWithArgsExp(u.queues[0], u.kernels[0], next.dimensions, next.offset,
                                            next.global, group_of_next(), count, arguments, NULL, 0,
                                            NULL, NULL);
}

static void enqueue_ur(void)
{
    ur_exp_kernel_arg_properties_t arguments[ARGUMENTS];
    const uint32_t count = describe_ur(arguments);
    shuffle(arguments, count);
    expect_ur(enqueue_arguments(arguments, count));
}

static void set_ur_argument(const ur_exp_kernel_arg_properties_t *argument)
{
    ur_kernel_handle_t kernel = u.kernels[1];
    switch (argument->type) {
    case UR_EXP_KERNEL_ARG_TYPE_VALUE:
        UR_OK(urKernelSetArgValue(kernel, argument->index, argument->size, NULL,
                                  argument->value.value));
        break;
    case UR_EXP_KERNEL_ARG_TYPE_LOCAL:
        UR_OK(urKernelSetArgLocal(kernel, argument->index, argument->size, NULL));
        break;
    case UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ:
        UR_OK(
            urKernelSetArgMemObj(kernel, argument->index, NULL, argument->value.memObjTuple.hMem));
        break;
    default:
        UR_OK(urKernelSetArgPointer(kernel, argument->index, NULL, argument->value.pointer));
    }
}

static void set_ur_arguments(void)
{
    ur_exp_kernel_arg_properties_t arguments[ARGUMENTS];
    const uint32_t count = describe_ur(arguments);
    shuffle(arguments, count);
    for (uint32_t i = 0; i < count; i++)
        set_ur_argument(&arguments[i]);
}

// An argument that was set stays.
static bool is_possible_with_set_arguments(void)
{
    return next.mistake != ONE_LESS;
}

static void enqueue_set_ur(void)
{
    set_ur_arguments();
    expect_ur(urEnqueueKernelLaunch(u.queues[1], u.kernels[1], next.dimensions, next.offset,
                                    next.global, group_of_next(), NULL, 0, NULL, NULL));
}

static ur_exp_command_buffer_handle_t make_ur_buffer(bool is_updatable)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = is_updatable};
    ur_exp_command_buffer_handle_t buffer;
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &buffer));
    return buffer;
}

static void execute_ur(ur_exp_command_buffer_handle_t buffer)
{
    UR_OK(urEnqueueCommandBufferExp(u.queues[0], buffer, 0, NULL, NULL));
}

static ur_result_t append_ur(ur_exp_command_buffer_handle_t buffer,
                             ur_exp_command_buffer_command_handle_t *out_command)
{
    set_ur_arguments();
    return urCommandBufferAppendKernelLaunchExp(buffer, u.kernels[1], next.dimensions, next.offset,
                                                next.global, group_of_next(), 0, NULL, 0, NULL, 0,
                                                NULL, NULL, NULL, out_command);
}

static void add_ur(void)
{
    ur_exp_command_buffer_handle_t buffer = make_ur_buffer(false);
    expect_ur(append_ur(buffer, NULL));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    execute_ur(buffer);
    UR_OK(urCommandBufferReleaseExp(buffer));
}

struct update_lists {
    ur_exp_command_buffer_update_value_arg_desc_t values[ARGUMENTS];
    ur_exp_command_buffer_update_pointer_arg_desc_t pointers[ARGUMENTS];
    ur_exp_command_buffer_update_memobj_arg_desc_t mems[ARGUMENTS];
    ur_exp_command_buffer_update_kernel_launch_desc_t desc;
};

static void describe_update(struct update_lists *lists,
                            const ur_exp_kernel_arg_properties_t *arguments)
{
    ur_exp_command_buffer_update_kernel_launch_desc_t *desc = &lists->desc;
    *desc = (ur_exp_command_buffer_update_kernel_launch_desc_t){
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_KERNEL_LAUNCH_DESC,
        .hCommand = u.command,
        .newWorkDim = next.dimensions,
        .pNewValueArgList = lists->values,
        .pNewPointerArgList = lists->pointers,
        .pNewMemObjArgList = lists->mems,
        .pNewGlobalWorkOffset = next.offset,
        .pNewGlobalWorkSize = next.global,
        .pNewLocalWorkSize = next.has_group ? next.group : NULL};
    for (uint32_t i = 0; i < ARGUMENTS; i++) {
        const ur_exp_kernel_arg_properties_t *from = &arguments[i];
        if (from->type == UR_EXP_KERNEL_ARG_TYPE_POINTER)
            lists->pointers[desc->numNewPointerArgs++] =
                (ur_exp_command_buffer_update_pointer_arg_desc_t){
                    .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_POINTER_ARG_DESC,
                    .argIndex = i,
                    .pNewPointerArg = (void *)&from->value.pointer};
        else if (from->type == UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ)
            lists->mems[desc->numNewMemObjArgs++] =
                (ur_exp_command_buffer_update_memobj_arg_desc_t){
                    .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_MEMOBJ_ARG_DESC,
                    .argIndex = i,
                    .hNewMemObjArg = from->value.memObjTuple.hMem};
        else
            lists->values[desc->numNewValueArgs++] =
                (ur_exp_command_buffer_update_value_arg_desc_t){
                    .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_VALUE_ARG_DESC,
                    .argIndex = i,
                    .argSize = (uint32_t)from->size,
                    .pNewValueArg =
                        from->type == UR_EXP_KERNEL_ARG_TYPE_LOCAL ? NULL : from->value.value};
    }
}

static void update_ur(void)
{
    ur_exp_kernel_arg_properties_t arguments[ARGUMENTS];
    struct update_lists lists;
    // A size has 32 bits here, and no argument can be missing.
    if (next.mistake == ONE_LESS || next.mistake == TOO_MUCH_LOCAL)
        return;
    describe_ur(arguments);
    describe_update(&lists, arguments);
    expect_ur(urCommandBufferUpdateKernelLaunchExp(u.updated, 1, &lists.desc));
    if (next.mistake == NONE)
        execute_ur(u.updated);
}

static void capture_ur(void)
{
    ur_exp_kernel_arg_properties_t arguments[ARGUMENTS];
    ur_exp_graph_handle_t graph;
    ur_exp_executable_graph_handle_t executable;
    const uint32_t count = describe_ur(arguments);
    shuffle(arguments, count);
    UR_OK(urGraphCreateExp(gear.context, &graph));
    UR_OK(urQueueBeginCaptureIntoGraphExp(u.queues[0], graph));
    expect_ur(enqueue_arguments(arguments, count));
    UR_OK(urQueueEndGraphCaptureExp(u.queues[0], &graph));
    UR_OK(urGraphInstantiateGraphExp(graph, &executable));
    UR_OK(urEnqueueGraphExp(u.queues[0], executable, 0, NULL, NULL));
    UR_OK(urQueueFinish(u.queues[0]));
    UR_OK(urGraphExecutableGraphDestroyExp(executable));
    UR_OK(urGraphDestroyExp(graph));
}

static void go(const struct way *way, int32_t *out)
{
    way_name = way->name;
    memset(out, 0, ITEMS * sizeof(*out));
    way->run();
    TEST_OK(zepi.queue_finish(z.gear.queue));
    for (int i = 0; i < 2; i++)
        UR_OK(urQueueFinish(u.queues[i]));
}

static void expect_numbers(const int32_t *out)
{
    const bool is_launched = next.mistake == NONE;
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(out[i], is_launched ? expected[i] : 0, "%s, item %d: %d, expected %d",
                     way_name, i, out[i], is_launched ? expected[i] : 0);
}

// ---- The test ----

static void set_up(void)
{
    setenv("ZEPI_UR_LAYOUT", TEST_UR_RELEASE, 1);
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    z.gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    ur_load_device();
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
    z.module = test_executable(z.gear.context, "launch_routes");
    TEST_OK(zepi.module_get_kernel(z.module, "tell_launch", &z.kernel));
    TEST_OK(zepi.usm_allocate(z.gear.context, z.gear.device, ZEPI_USM_SHARED,
                              ITEMS * sizeof(int32_t), 0, (void **)&z.out));
    u.out = ur_shared(ITEMS * sizeof(int32_t));
    u.program = ur_executable("launch_routes");
    for (int i = 0; i < 2; i++) {
        UR_OK(urKernelCreate(u.program, "tell_launch", &u.kernels[i]));
        u.queues[i] = ur_queue(gear.device, 0);
    }
    for (int i = 0; i < MEMORIES; i++) {
        const int32_t number = memory_number(i);
        const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                                   .pHost = (void *)&number};
        TEST_OK(zepi.usm_allocate(z.gear.context, z.gear.device, ZEPI_USM_SHARED, 64, 0,
                                  (void **)&z.memories[i]));
        *z.memories[i] = number;
        TEST_OK(zepi.buffer_create(z.gear.context, sizeof(number), &number, &z.buffers[i]));
        u.memories[i] = ur_shared(64);
        *u.memories[i] = number;
        UR_OK(urMemBufferCreate(gear.context,
                                UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER,
                                sizeof(number), &properties, &u.buffers[i]));
    }
}

static void make_updated(void)
{
    struct zepi_list list;
    uint32_t number;
    next = (struct launch){.local_bytes = ITEMS * sizeof(int32_t), .dimensions = 1};
    for (int i = 0; i < 3; i++)
        next.global[i] = next.group[i] = 1;
    describe_zepi(&list);
    TEST_OK(zepi.graph_create(z.gear.context, z.gear.device, ZEPI_GRAPH_UPDATABLE, &z.updated));
    TEST_OK(zepi.graph_add_launch(z.updated, &list.desc, (zepi_graph_wait_list_t){0}, &number));
    TEST_OK(zepi.graph_finalize(z.updated));
    u.updated = make_ur_buffer(true);
    UR_OK(append_ur(u.updated, &u.command));
    UR_OK(urCommandBufferFinalizeExp(u.updated));
}

static void tear_down(void)
{
    TEST_OK(zepi.release(z.updated));
    UR_OK(urCommandBufferReleaseExp(u.updated));
    for (int i = 0; i < MEMORIES; i++) {
        TEST_OK(zepi.usm_free(z.gear.context, z.memories[i]));
        TEST_OK(zepi.release(z.buffers[i]));
        ur_free(u.memories[i]);
        UR_OK(urMemRelease(u.buffers[i]));
    }
    for (int i = 0; i < 2; i++) {
        UR_OK(urKernelRelease(u.kernels[i]));
        UR_OK(urQueueRelease(u.queues[i]));
    }
    UR_OK(urProgramRelease(u.program));
    ur_free(u.out);
    TEST_OK(zepi.usm_free(z.gear.context, z.out));
    TEST_OK(zepi.release(z.kernel));
    TEST_OK(zepi.release(z.module));
    UR_OK(urContextRelease(gear.context));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
    test_gear_destroy(&z.gear);
    cr_assert_eq(ze_cpu.get_live_objects(), 0);
}

TestSuite(launch_routes, .init = set_up, .fini = tear_down);

Test(launch_routes, have_the_same_numbers_errors_and_calls)
{
    const struct way enqueued[] = {{"zepi.h", enqueue_zepi},
                                   {"Unified Runtime", enqueue_ur},
                                   {"set arguments", enqueue_set_ur}};
    const struct way others[] = {{"added, zepi.h", add_zepi},
                                 {"updated, zepi.h", update_zepi},
                                 {"captured, zepi.h", capture_zepi},
                                 {"appended", add_ur},
                                 {"updated", update_ur},
                                 {"captured", capture_ur}};
    char made[3][CALLS];
    make_updated();
    seed = 20261124;
    for (int i = 0; i < LAUNCHES; i++) {
        const struct launch last = next;
        draw_launch();
        const bool is_possible = is_possible_with_set_arguments();
        memset(expected, 0, sizeof(expected));
        if (next.mistake == NONE)
            model(expected);
        for (int j = 0; j < 3; j++) {
            int32_t *out = j == 0 ? z.out : u.out;
            memset(out, 0, ITEMS * sizeof(*out));
            if (j == 2 && !is_possible)
                continue;
            begin_recording();
            go(&enqueued[j], out);
            end_recording(made[j]);
            expect_numbers(out);
            if (j == 1 || next.mistake == NONE)
                cr_assert_str_eq(made[j], made[0], "launch %d, %s:\n%s\nzepi.h:\n%s", i,
                                 enqueued[j].name, made[j], made[0]);
        }
        for (int j = 0; j < 6; j++) {
            int32_t *out = j < 3 ? z.out : u.out;
            if (others[j].run == add_ur && !is_possible)
                continue;
            memset(out, 0, ITEMS * sizeof(*out));
            go(&others[j], out);
            if (others[j].run != update_ur ||
                (next.mistake != ONE_LESS && next.mistake != TOO_MUCH_LOCAL))
                expect_numbers(out);
        }
        if (next.mistake != NONE)
            next = last;
    }
}
