// SPDX-License-Identifier: MIT
#include "fixture.h"
#include "test_env.h"
#include "tools/ze_cpu/ze_cpu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Each test runs in a process of its own, so that it may choose the variables that are read once.

Test(ze_cpu_switches, reports_misuse_of_handles)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_command_list_handle_t list = fixture_immediate(&fixture, 0);
    struct fixture_event event = fixture_event(&fixture, 0);
    cr_assert_eq(zeEventDestroy(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    cr_assert_eq(zeEventDestroy((ze_event_handle_t)list), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(zeCommandListAppendBarrier(list, (ze_event_handle_t)event.pool, 0, NULL),
                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ze_event_handle_t destroyed = event.event;
    fixture_event_finish(&event);
    cr_assert_eq(zeEventDestroy(destroyed), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(zeCommandListAppendBarrier(list, NULL, 1, &destroyed),
                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeCommandListDestroy(list));
    cr_assert_eq(zeCommandListClose(list), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    int local;
    cr_assert_eq(zeMemFree(fixture.context, &local), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    fixture_finish(&fixture);
}

Test(ze_cpu_switches, fails_the_call_that_was_chosen)
{
    setenv("ZE_CPU_FAIL", "zeContextCreate:2:0x70000002,zeMemAllocShared:1:1879048194", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context;
    cr_assert_eq(zeContextCreate(fixture.driver, &desc, &context),
                 ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    MUST(zeContextCreate(fixture.driver, &desc, &context));
    struct fixture_control control = fixture_control();
    uint64_t live = control.get_live_objects();
    cr_assert_eq(control.set_fail("zeContextDestroy:1:ZE_RESULT_ERROR_DEVICE_LOST"), ZE_CPU_OK);
    cr_assert_eq(zeContextDestroy(context), ZE_RESULT_ERROR_DEVICE_LOST);
    cr_assert_eq(control.get_live_objects(), live - 1);
    cr_assert_eq(control.set_fail("zeContextDestroy:x:1"), ZE_CPU_INVALID);
    cr_assert_eq(control.set_fail("noSuchFunction:1:1"), ZE_CPU_INVALID);
    cr_assert_eq(control.set_fail("*:*:ZE_RESULT_ERROR_UNKNOWN"), ZE_CPU_OK);
    cr_assert_eq(zeContextGetStatus(fixture.context), ZE_RESULT_ERROR_UNKNOWN);
    cr_assert_eq(control.set_fail(NULL), ZE_CPU_OK);
    MUST(zeContextGetStatus(fixture.context));
    fixture_finish(&fixture);
}

Test(ze_cpu_switches, counts_calls_and_compiles)
{
    setenv("ZE_CPU_COUNT", "1", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    struct fixture_control control = fixture_control();
    cr_assert_eq(control.get_count("zeContextCreate"), 1);
    control.reset_counts();
    ze_module_handle_t module = fixture_module(&fixture, "exporter", NULL);
    cr_assert_eq(control.get_count("zeModuleCreate"), 1);
    cr_assert_eq(control.get_count("compile:spirv"), 1);
    cr_assert_eq(control.get_count("compile:native"), 0);
    cr_assert_eq(control.get_count("*"), 1);
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
    cr_assert_eq(control.get_live_objects(), 0);
}

static _Noreturn void leak_and_exit(const char *path)
{
    struct fixture fixture;
    setenv("ZE_CPU_LEAKS", "1", 1);
    if (freopen(path, "w", stderr) == NULL)
        _exit(1);
    fixture_init(&fixture);
    (void)fixture_event(&fixture, 0);
    (void)fixture_shared(&fixture, 64);
    exit(0);
}

Test(ze_cpu_switches, lists_what_was_not_destroyed)
{
    char text[4096] = "";
    int status;
    const char *path = test_env_scratch_path("stderr");
    const pid_t child = fork();
    if (child == 0)
        leak_and_exit(path);
    cr_assert_eq(waitpid(child, &status, 0), child);
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL);
    (void)!fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    cr_assert(strstr(text, "ze_cpu: leak: event 1\n"), "%s", text);
    cr_assert(strstr(text, "ze_cpu: leak: allocation 1\n"), "%s", text);
    cr_assert(!strstr(text, "leak: module"), "%s", text);
}

Test(ze_cpu_switches, completes_without_executing)
{
    setenv("ZE_CPU_EXECUTE", "0", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "scale");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    struct fixture_event event = fixture_event(&fixture, 0);
    int *data = fixture_shared(&fixture, 64);
    *data = 5;
    const int factor = 2;
    const ze_group_count_t groups = {1, 1, 1};
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(data), &data));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(factor), &factor));
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, event.event, 0, NULL));
    MUST(zeEventQueryStatus(event.event));
    fixture_synchronize(&fixture, list);
    cr_assert_eq(*data, 5);
    MUST(zeMemFree(fixture.context, data));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    fixture_event_finish(&event);
    fixture_finish(&fixture);
}

// A copy that waits for an event, one that nothing orders, and one behind a barrier.
Test(ze_cpu_switches, executes_closed_lists_backwards_where_nothing_orders_them)
{
    const int one = 1, two = 2, three = 3, four = 4;
    setenv("ZE_CPU_REORDER", "1", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    struct fixture_event event = fixture_event(&fixture, 0);
    int *data = fixture_shared(&fixture, 4 * sizeof(int));
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_handle_t list;
    ze_command_queue_handle_t queue;
    MUST(zeCommandListCreate(fixture.context, fixture.device, &list_desc, &list));
    MUST(zeCommandQueueCreate(fixture.context, fixture.device, &desc, &queue));
    const size_t size = sizeof(int);
    // Nothing orders these two.
    MUST(zeCommandListAppendMemoryFill(list, &data[0], &one, size, size, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryFill(list, &data[0], &two, size, size, event.event, 0, NULL));
    // It waits for the second one.
    MUST(zeCommandListAppendMemoryCopy(list, &data[1], &data[0], size, NULL, 1, &event.event));
    MUST(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryFill(list, &data[2], &three, size, size, NULL, 0, NULL));
    MUST(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryFill(list, &data[2], &four, size, size, NULL, 0, NULL));
    MUST(zeCommandListClose(list));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    MUST(zeCommandQueueSynchronize(queue, UINT64_MAX));
    cr_assert_eq(data[0], 1);
    cr_assert_eq(data[1], 2);
    cr_assert_eq(data[2], 4);
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    fixture_event_finish(&event);
    MUST(zeMemFree(fixture.context, data));
    fixture_finish(&fixture);
}

// Fills of three integers: the first two are ordered by nothing, the third is behind a barrier; a
// copy of the second waits for its event. Returns the first integer.
static int fill_in_any_order(const struct fixture *fixture, ze_command_list_handle_t list,
                             int *data)
{
    static const int values[] = {1, 2, 3, 4};
    const size_t size = sizeof(int);
    struct fixture_event event = fixture_event(fixture, 0);
    MUST(zeCommandListAppendMemoryFill(list, &data[0], &values[0], size, size, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryFill(list, &data[0], &values[1], size, size, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryFill(list, &data[1], &values[2], size, size, event.event, 0,
                                       NULL));
    MUST(zeCommandListAppendMemoryCopy(list, &data[2], &data[1], size, NULL, 1, &event.event));
    MUST(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryFill(list, &data[1], &values[3], size, size, NULL, 0, NULL));
    fixture_synchronize(fixture, list);
    cr_assert_eq(data[1], 4);
    cr_assert_eq(data[2], 3);
    fixture_event_finish(&event);
    return data[0];
}

// How many of the rounds ended with the first of the two fills.
static int exchanged_fills(const char *seed, uint32_t list_flags)
{
    setenv("ZE_CPU_REORDER", seed, 1);
    struct fixture fixture;
    fixture_init(&fixture);
    ze_command_list_handle_t list = fixture_immediate(&fixture, list_flags);
    int *data = fixture_shared(&fixture, 4 * sizeof(int));
    int exchanged = 0;
    for (int i = 0; i < 40; i++)
        exchanged += fill_in_any_order(&fixture, list, data) == 1;
    MUST(zeCommandListDestroy(list));
    MUST(zeMemFree(fixture.context, data));
    fixture_finish(&fixture);
    return exchanged;
}

Test(ze_cpu_switches, exchanges_what_nothing_orders_in_an_immediate_list)
{
    cr_assert_gt(exchanged_fills("1", 0), 5);
}

Test(ze_cpu_switches, exchanges_nothing_in_order)
{
    cr_assert_eq(exchanged_fills("1", FIXTURE_IN_ORDER), 0);
}

Test(ze_cpu_switches, exchanges_nothing_without_a_seed)
{
    cr_assert_eq(exchanged_fills("0", 0), 0);
}

// More commands than a window has, the first of which wait for the host, and one that waits for the
// last: all are executed, and the list is over after the oldest.
Test(ze_cpu_switches, holds_a_list_open_for_the_oldest_command_of_a_window)
{
    setenv("ZE_CPU_REORDER", "1", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    enum { COUNT = 40, SIZE = sizeof(int) };
    struct fixture_event gate = fixture_event(&fixture, 0);
    struct fixture_event event = fixture_event(&fixture, 0);
    ze_command_list_handle_t list = fixture_immediate(&fixture, 0);
    ze_command_list_handle_t other = fixture_immediate(&fixture, 0);
    int *data = fixture_shared(&fixture, (COUNT + 2) * SIZE);
    ze_result_t (*synchronize)(ze_command_list_handle_t, uint64_t) =
        (ze_result_t(*)(ze_command_list_handle_t, uint64_t))fixture_function(
            &fixture, "zeCommandListHostSynchronize");
    const int one = 1;
    data[0] = 0;
    for (int i = 0; i < COUNT; i++)
        MUST(zeCommandListAppendMemoryFill(list, &data[i], &one, SIZE, SIZE,
                                           i == 1 ? event.event : NULL, i % 10 == 0, &gate.event));
    MUST(zeCommandListAppendMemoryFill(other, &data[COUNT], &one, SIZE, SIZE, NULL, 1,
                                       &event.event));
    fixture_synchronize(&fixture, other);
    cr_assert_eq(data[1], 1);
    cr_assert_eq(synchronize(list, 20000000), ZE_RESULT_NOT_READY);
    cr_assert_eq(data[0], 0);
    MUST(zeEventHostSignal(gate.event));
    fixture_synchronize(&fixture, list);
    for (int i = 0; i <= COUNT; i++)
        cr_assert_eq(data[i], 1);
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandListDestroy(other));
    MUST(zeMemFree(fixture.context, data));
    fixture_event_finish(&gate);
    fixture_event_finish(&event);
    fixture_finish(&fixture);
}

// In an ordinary OpenCL queue: many small launches, each of which reads what the last one wrote.
Test(ze_cpu_switches, launches_without_opencl_queues_in_the_calling_thread)
{
    enum { LAUNCHES = 20 };
    setenv("ZE_CPU_WITHOUT", "CL_QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "scale");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    int *data = fixture_shared(&fixture, 64);
    *data = 1;
    const int factor = 2;
    const ze_group_count_t groups = {1, 1, 1};
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(data), &data));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(factor), &factor));
    for (int i = 0; i < LAUNCHES; i++)
        MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    fixture_synchronize(&fixture, list);
    cr_assert_eq(*data, 1 << LAUNCHES);
    MUST(zeMemFree(fixture.context, data));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_switches, offers_several_devices_and_sub_devices)
{
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("ZE_CPU_SUB_DEVICES", "3", 1);
    setenv("ZE_CPU_TYPE", "cpu", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    uint32_t count = 0;
    MUST(zeDeviceGet(fixture.driver, &count, NULL));
    cr_assert_eq(count, 2);
    ze_device_handle_t devices[2], sub_devices[3];
    MUST(zeDeviceGet(fixture.driver, &count, devices));
    count = 3;
    MUST(zeDeviceGetSubDevices(devices[1], &count, sub_devices));
    cr_assert_eq(count, 3);
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    MUST(zeDeviceGetProperties(sub_devices[2], &properties));
    cr_assert(properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
    cr_assert_eq(properties.subdeviceId, 2);
    cr_assert_eq(properties.type, ZE_DEVICE_TYPE_CPU);
    ze_device_properties_t other = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    MUST(zeDeviceGetProperties(devices[0], &other));
    cr_assert(memcmp(properties.uuid.id, other.uuid.id, sizeof(other.uuid.id)) != 0);
    fixture_finish(&fixture);
}

Test(ze_cpu_switches, reports_no_driver_without_a_runtime)
{
    setenv("ZE_ENABLE_ALT_DRIVERS", ZE_CPU_LIBRARY, 1);
    setenv("ZE_CPU_OPENCL", "/nowhere/libnone.so", 1);
    cr_assert_neq(zeInit(0), ZE_RESULT_SUCCESS);
}
