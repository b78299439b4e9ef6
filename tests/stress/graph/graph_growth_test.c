// SPDX-License-Identifier: MIT
// 100,000 executions of a command buffer, of which each tenth follows an update and each waits for
// the one before, and of a captured graph on two queues in turns: the process has as much memory
// and as many file descriptors afterwards as before, and the driver as many objects.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include "ur/ur.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ITEMS 64
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EXECUTIONS 2000
#define GROWTH_LIMIT_KIB 16
#else
#define EXECUTIONS 100000
#define GROWTH_LIMIT_KIB 256
#endif
#define ROUNDS 5
#define AT_ONCE 20 // executions ahead of the host

static struct test_ze_cpu ze_cpu;
static struct test_gear gear;
static ur_queue_handle_t queues[2];
static ur_kernel_handle_t kernel; // sum[i] = a[i] + b[i]
static float *memory;             // four vectors

// Draws the plugin out of the archive: test_plugin_load takes it as soon as it is there.
extern zepi_plugin_init_fn *const plugin_init;
zepi_plugin_init_fn *const plugin_init = zepiPluginInit;

static void expect(bool is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "graph growth: %s (last error: %s)\n", what, zepi.last_error(NULL));
    exit(1);
}
#define OK(call) expect((call) == UR_RESULT_SUCCESS, #call)

// ---- What there is ----

struct amount {
    long memory_kib;
    long descriptors;
    long objects; // of the driver
};

// A sanitizer keeps memory that was freed, so that this test counts allocated bytes under it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static long measure_memory_kib(void)
{
    return (long)(test_env_allocated_bytes() / 1024);
}
#else
static long measure_memory_kib(void)
{
    long unused, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    expect(file && fscanf(file, "%ld %ld", &unused, &pages) == 2, "no statm");
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}
#endif

static struct amount measure(void)
{
    struct amount amount = {.objects = (long)ze_cpu.get_live_objects()};
    amount.memory_kib = measure_memory_kib();
    DIR *folder = opendir("/proc/self/fd");
    expect(folder != NULL, "no list of descriptors");
    while (readdir(folder))
        amount.descriptors++;
    closedir(folder);
    return amount;
}

// The first rounds may need more memory: a process has a working set. A leak grows in each round.
static void expect_no_growth(const char *what, void (*execute)(int count))
{
    bool has_grown = true;
    for (int round = 0; round < ROUNDS && has_grown; round++) {
        const struct amount before = measure();
        execute(EXECUTIONS);
        const struct amount after = measure();
        printf("%s, round %d: %ld KiB, %ld descriptors, %ld objects more\n", what, round,
               after.memory_kib - before.memory_kib, after.descriptors - before.descriptors,
               after.objects - before.objects);
        has_grown = after.memory_kib - before.memory_kib > GROWTH_LIMIT_KIB ||
                    after.descriptors > before.descriptors || after.objects > before.objects;
    }
    expect(!has_grown, what);
}

// ---- Command buffers ----

static ur_exp_command_buffer_handle_t buffer;
static ur_exp_command_buffer_command_handle_t launch;

static ur_exp_kernel_arg_properties_t pointer(uint32_t index, float *vector)
{
    return (ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,
                                            .type = UR_EXP_KERNEL_ARG_TYPE_POINTER,
                                            .index = index,
                                            .value.pointer = vector};
}

// A fill, a copy and a launch.
static void make_command_buffer(void)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = true};
    const ur_exp_kernel_arg_properties_t arguments[] = {
        pointer(0, memory), pointer(1, memory + ITEMS), pointer(2, memory + 2 * ITEMS)};
    const float one = 1;
    const size_t items = ITEMS, bytes = ITEMS * sizeof(float);
    ur_exp_command_buffer_sync_point_t point;
    OK(zepi_urCommandBufferCreateExp((ur_context_handle_t)gear.context,
                                     (ur_device_handle_t)gear.device, &desc, &buffer));
    OK(zepi_urCommandBufferAppendUSMFillExp(buffer, memory, &one, sizeof(one), bytes, 0, NULL, 0,
                                            NULL, &point, NULL, NULL));
    OK(zepi_urCommandBufferAppendUSMMemcpyExp(buffer, memory + ITEMS, memory, bytes, 1, &point, 0,
                                              NULL, &point, NULL, NULL));
    OK(zepi_urCommandBufferAppendKernelLaunchWithArgsExp(buffer, kernel, 1, NULL, &items, NULL, 3,
                                                         arguments, 0, NULL, 1, &point, 0, NULL,
                                                         NULL, NULL, &launch));
    OK(zepi_urCommandBufferFinalizeExp(buffer));
}

static void update(int round)
{
    const float *vector = memory + (size_t)(round % 2) * ITEMS;
    const ur_exp_command_buffer_update_pointer_arg_desc_t argument = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_POINTER_ARG_DESC,
        .argIndex = 1,
        .pNewPointerArg = &vector};
    const ur_exp_command_buffer_update_kernel_launch_desc_t desc = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_KERNEL_LAUNCH_DESC,
        .hCommand = launch,
        .newWorkDim = 1,
        .numNewPointerArgs = 1,
        .pNewPointerArgList = &argument};
    OK(zepi_urCommandBufferUpdateKernelLaunchExp(buffer, 1, &desc));
}

static void execute_command_buffer(int count)
{
    ur_event_handle_t last = NULL;
    for (int i = 0; i < count; i++) {
        ur_event_handle_t event;
        if (i % 10 == 0)
            update(i / 10);
        OK(zepi_urEnqueueCommandBufferExp(queues[i % 2], buffer, last != NULL, last ? &last : NULL,
                                          &event));
        if (last)
            OK(zepi_urEventRelease(last));
        last = event;
        if (i % AT_ONCE == 0)
            OK(zepi_urEventWait(1, &last));
    }
    OK(zepi_urEventRelease(last));
    for (int i = 0; i < 2; i++)
        OK(zepi_urQueueFinish(queues[i]));
}

// ---- Captured graphs ----

static ur_exp_graph_handle_t graph;
static ur_exp_executable_graph_handle_t executable;

static void make_graph(void)
{
    const ur_exp_kernel_arg_properties_t arguments[] = {pointer(0, memory), pointer(1, memory),
                                                        pointer(2, memory + 3 * ITEMS)};
    const size_t items = ITEMS;
    OK(zepi_urGraphCreateExp((ur_context_handle_t)gear.context, &graph));
    OK(zepi_urQueueBeginCaptureIntoGraphExp(queues[0], graph));
    OK(zepi_urEnqueueKernelLaunchWithArgsExp(queues[0], kernel, 1, NULL, &items, NULL, 3, arguments,
                                             NULL, 0, NULL, NULL));
    OK(zepi_urEnqueueUSMMemcpy(queues[0], false, memory + ITEMS, memory, ITEMS * sizeof(float), 0,
                               NULL, NULL));
    OK(zepi_urQueueEndGraphCaptureExp(queues[0], &graph));
    OK(zepi_urGraphInstantiateGraphExp(graph, &executable));
}

static void execute_graph(int count)
{
    for (int i = 0; i < count; i++) {
        OK(zepi_urEnqueueGraphExp(queues[i % 2], executable, 0, NULL, NULL));
        if (i % AT_ONCE == 0)
            OK(zepi_urQueueFinish(queues[i % 2]));
    }
    for (int i = 0; i < 2; i++)
        OK(zepi_urQueueFinish(queues[i]));
}

// ----

static void set_up(void)
{
    const zepi_device_image_desc_t image = test_spirv_image("vector_add");
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    ur_program_handle_t program;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4 * ITEMS * sizeof(float),
                              0, (void **)&memory));
    OK(zepi_urProgramCreateWithIL(context, image.bytes, image.size_bytes, NULL, &program));
    OK(zepi_urProgramBuild(context, program, NULL));
    OK(zepi_urKernelCreate(program, "vector_add", &kernel));
    OK(zepi_urProgramRelease(program));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.queue_create(gear.context, gear.device, i ? ZEPI_QUEUE_IN_ORDER : 0,
                                  (zepi_queue_t *)&queues[i]));
}

int main(void)
{
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    set_up();
    make_command_buffer();
    expect_no_growth("command buffer", execute_command_buffer);
    make_graph();
    expect_no_growth("captured graph", execute_graph);
    OK(zepi_urGraphExecutableGraphDestroyExp(executable));
    OK(zepi_urGraphDestroyExp(graph));
    OK(zepi_urCommandBufferReleaseExp(buffer));
    OK(zepi_urKernelRelease(kernel));
    for (int i = 0; i < 2; i++)
        OK(zepi_urQueueRelease(queues[i]));
    TEST_OK(zepi.usm_free(gear.context, memory));
    test_gear_destroy(&gear);
    expect(ze_cpu.get_live_objects() == 0, "objects are left in the driver");
    return 0;
}
