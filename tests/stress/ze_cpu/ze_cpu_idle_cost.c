// SPDX-License-Identifier: MIT
//
// Instructions of calls to ze_cpu with ZE_CPU_EXECUTE=0, through the loader: the part of a host's
// benchmark that is not the host. Without arguments it runs itself under callgrind and judges; with
// a number it makes that many of each.
#include "test_cost.h"
#include "test_env.h"
#include "test_ze_cpu.h"

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bringing up the driver and building a module under callgrind takes longer than all that is
// counted.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define BEGIN_COUNTING() CALLGRIND_START_INSTRUMENTATION
#define END_COUNTING() CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_OPTIONS "--instr-atstart=no"
#else
#define BEGIN_COUNTING()
#define END_COUNTING()
#define CALLGRIND_OPTIONS ""
#endif

#define COUNT 2000

#define MUST(call) TEST_ZE_OK(call)

struct group_size {
    uint32_t x, y, z;
};

static struct {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    void *allocation; // the driver's first one is no measure
    unsigned char memory[128];
    ze_result_t (*synchronize)(ze_command_list_handle_t, uint64_t);
    ze_result_t (*launch)(ze_command_list_handle_t, ze_kernel_handle_t, ze_group_count_t,
                          struct group_size, void **, const void *, ze_event_handle_t, uint32_t,
                          ze_event_handle_t *);
} gear;

static void find_function(const char *name, void *out_function)
{
    void *function = NULL;
    MUST(zeDriverGetExtensionFunctionAddress(gear.driver, name, &function));
    memcpy(out_function, &function, sizeof(function));
}

static void make_module(void)
{
    struct test_bytes spirv = test_env_read_spirv("vector_add");
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = spirv.size_bytes,
                                   .pInputModule = spirv.data};
    const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                     .pKernelName = "vector_add"};
    MUST(zeModuleCreate(gear.context, gear.device, &desc, &gear.module, NULL));
    MUST(zeKernelCreate(gear.module, &kernel, &gear.kernel));
    free(spirv.data);
}

static void bring_up(void)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .flags = 1u << 1, // in-order
                                           .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                       .count = 2};
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 1};
    const ze_device_mem_alloc_desc_t allocation = {.stype =
                                                       ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    uint32_t count = 1;
    setenv("ZE_CPU_EXECUTE", "0", 1);
    test_env_use_ze_cpu();
    MUST(zeInit(0));
    MUST(zeDriverGet(&count, &gear.driver));
    MUST(zeDeviceGet(gear.driver, &count, &gear.device));
    MUST(zeContextCreate(gear.driver, &context, &gear.context));
    MUST(zeCommandListCreateImmediate(gear.context, gear.device, &queue, &gear.list));
    MUST(zeEventPoolCreate(gear.context, &pool, 1, &gear.device, &gear.pool));
    MUST(zeEventCreate(gear.pool, &event, &gear.event));
    MUST(zeMemAllocDevice(gear.context, &allocation, 4096, 64, gear.device, &gear.allocation));
    find_function("zeCommandListHostSynchronize", &gear.synchronize);
    find_function("zeCommandListAppendLaunchKernelWithArguments", &gear.launch);
    make_module();
}

static void tear_down(void)
{
    MUST(zeMemFree(gear.context, gear.allocation));
    MUST(zeKernelDestroy(gear.kernel));
    MUST(zeModuleDestroy(gear.module));
    MUST(zeEventDestroy(gear.event));
    MUST(zeEventPoolDestroy(gear.pool));
    MUST(zeCommandListDestroy(gear.list));
    MUST(zeContextDestroy(gear.context));
}

// One function a kind of call, which callgrind tells apart.
#define KIND __attribute__((noinline, noclone)) static void

KIND kind_launch(int count)
{
    const ze_group_count_t groups = {16, 1, 1};
    for (int i = 0; i < count; i++)
        MUST(zeCommandListAppendLaunchKernel(gear.list, gear.kernel, &groups, NULL, 0, NULL));
}

KIND kind_arguments_and_launch(int count)
{
    const ze_group_count_t groups = {16, 1, 1};
    void *pointer = gear.memory;
    for (int i = 0; i < count; i++) {
        for (uint32_t at = 0; at < 3; at++)
            MUST(zeKernelSetArgumentValue(gear.kernel, at, sizeof(pointer), &pointer));
        MUST(zeCommandListAppendLaunchKernel(gear.list, gear.kernel, &groups, NULL, 0, NULL));
    }
}

KIND kind_launch_with_arguments(int count)
{
    const ze_group_count_t groups = {16, 1, 1};
    const struct group_size size = {64, 1, 1};
    void *pointer = gear.memory;
    void *arguments[] = {&pointer, &pointer, &pointer};
    for (int i = 0; i < count; i++)
        MUST(gear.launch(gear.list, gear.kernel, groups, size, arguments, NULL, NULL, 0, NULL));
}

KIND kind_launch_with_event(int count)
{
    const ze_group_count_t groups = {16, 1, 1};
    for (int i = 0; i < count; i++)
        MUST(zeCommandListAppendLaunchKernel(gear.list, gear.kernel, &groups, gear.event, 0, NULL));
}

KIND kind_synchronize(int count)
{
    for (int i = 0; i < count; i++)
        MUST(gear.synchronize(gear.list, UINT64_MAX));
}

KIND kind_copy(int count)
{
    for (int i = 0; i < count; i++)
        MUST(zeCommandListAppendMemoryCopy(gear.list, gear.memory, gear.memory + 64, 64, NULL, 0,
                                           NULL));
}

KIND kind_barrier(int count)
{
    for (int i = 0; i < count; i++)
        MUST(zeCommandListAppendBarrier(gear.list, NULL, 0, NULL));
}

KIND kind_event_create(int count)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_event_handle_t event;
    for (int i = 0; i < count; i++) {
        MUST(zeEventCreate(gear.pool, &desc, &event));
        MUST(zeEventDestroy(event));
    }
}

KIND kind_event_reset(int count)
{
    for (int i = 0; i < count; i++)
        MUST(zeEventHostReset(gear.event));
}

KIND kind_event_query(int count)
{
    MUST(zeEventHostSignal(gear.event));
    for (int i = 0; i < count; i++)
        MUST(zeEventQueryStatus(gear.event));
}

KIND kind_event_wait(int count)
{
    MUST(zeEventHostSignal(gear.event));
    for (int i = 0; i < count; i++)
        MUST(zeEventHostSynchronize(gear.event, UINT64_MAX));
}

KIND kind_allocation(int count)
{
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory;
    for (int i = 0; i < count; i++) {
        MUST(zeMemAllocDevice(gear.context, &desc, 4096, 64, gear.device, &memory));
        MUST(zeMemFree(gear.context, memory));
    }
}

KIND kind_list_create(int count)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_handle_t list;
    for (int i = 0; i < count; i++) {
        MUST(zeCommandListCreateImmediate(gear.context, gear.device, &desc, &list));
        MUST(zeCommandListDestroy(list));
    }
}

KIND kind_kernel_create(int count)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = "vector_add"};
    ze_kernel_handle_t kernel;
    for (int i = 0; i < count; i++) {
        MUST(zeKernelCreate(gear.module, &desc, &kernel));
        MUST(zeKernelDestroy(kernel));
    }
}

// The limit is the measured number and a quarter: the loader and the C library count, too.
static const struct kind {
    const char *name, *function;
    void (*run)(int count);
    double limit; // instructions, the loop's included
} kinds[] = {
#define ROW(what, kind, limit)                                                                     \
    {                                                                                              \
        what, "kind_" #kind " ", kind_##kind, limit                                                \
    }
    ROW("launch", launch, 30),
    ROW("three arguments, one by one, and launch", arguments_and_launch, 105),
    ROW("launch with arguments, in one call", launch_with_arguments, 32),
    ROW("launch with an event", launch_with_event, 65),
    ROW("synchronize a list", synchronize, 22),
    ROW("copy", copy, 38),
    ROW("barrier", barrier, 28),
    ROW("event: create and destroy", event_create, 360),
    ROW("event: reset", event_reset, 26),
    // The loader's share is 5 more from 1.20 on.
    ROW("event: query", event_query, 38),
    ROW("event: wait", event_wait, 38),
    // Two thirds of it are the C library's: page-aligned memory, which costs by how the heap lies.
    ROW("memory: allocate and free", allocation, 5600),
    ROW("immediate list: create and destroy", list_create, 450),
    ROW("kernel: create and destroy", kernel_create, 950),
#undef ROW
};
#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static int run(int count)
{
    bring_up();
    BEGIN_COUNTING();
    for (size_t i = 0; i < KIND_COUNT; i++)
        kinds[i].run(count);
    END_COUNTING();
    tear_down();
    return 0;
}

// Runs a command and hands each line of its output to `take`. Whether it succeeded.
static bool read_output(const char *command, void (*take)(const char *line, void *to), void *to)
{
    char line[4096];
    FILE *output = popen(command, "r"); // NOLINT(cert-env33-c): the command is ours
    if (!output)
        return false;
    while (fgets(line, sizeof(line), output))
        take(line, to);
    return pclose(output) == 0;
}

// callgrind_annotate's "1,234 (1%)  file:function [object]".
static void take_count(const char *line, void *to)
{
    double *counts = to;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (!strstr(line, kinds[i].function))
            continue;
        double count = 0;
        for (const char *at = line; *at == ' ' || *at == ',' || (*at >= '0' && *at <= '9'); at++)
            count = *at >= '0' && *at <= '9' ? count * 10 + (*at - '0') : count;
        counts[i] = count / COUNT;
    }
}

static void ignore(const char *line, void *to)
{
    (void)line;
    (void)to;
}

static bool count_instructions(double counts[KIND_COUNT])
{
    char command[2048];
    const char *file = test_env_scratch_path("callgrind");
    snprintf(command, sizeof(command),
             "valgrind --tool=callgrind " CALLGRIND_OPTIONS
             " --callgrind-out-file='%s' '%s' %d 2>&1",
             file, test_cost_program(), COUNT);
    if (!read_output(command, ignore, NULL))
        return false;
    snprintf(command, sizeof(command), "callgrind_annotate --inclusive=yes --threshold=100 '%s'",
             file);
    return read_output(command, take_count, counts);
}

int main(int argc, char **argv)
{
    double counts[KIND_COUNT] = {0};
    bool is_good = true;
    if (argc == 2)
        return run(atoi(argv[1]));
    if (!test_cost_is_measurable() || !test_cost_has_valgrind())
        return TEST_SKIPPED;
    if (!count_instructions(counts)) {
        puts("callgrind does not run this program");
        return 1;
    }
    puts("instructions with ZE_CPU_EXECUTE=0, through the loader");
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const bool is_cheap = counts[i] > 0 && counts[i] <= kinds[i].limit;
        printf("%-42s %6.0f, allowed %.0f%s\n", kinds[i].name, counts[i], kinds[i].limit,
               is_cheap ? "" : "  TOO MUCH");
        is_good = is_good && is_cheap;
    }
    return is_good ? 0 : 1;
}
