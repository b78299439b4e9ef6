// SPDX-License-Identifier: MIT
#include "tools/ze_cpu/ze_newer.h"

#include "fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// Functions that came after the headers of Debian 12, found by name.

#define COUNT 256

typedef ze_result_t (*launch_with_arguments_t)(ze_command_list_handle_t, ze_kernel_handle_t,
                                               const ze_group_count_t, const ze_group_size_t,
                                               void **, const void *, ze_event_handle_t, uint32_t,
                                               ze_event_handle_t *);
typedef ze_result_t (*create_counter_based_t)(ze_context_handle_t, ze_device_handle_t,
                                              const ze_event_counter_based_desc_t *,
                                              ze_event_handle_t *);
typedef ze_result_t (*append_lists_t)(ze_command_list_handle_t, uint32_t,
                                      ze_command_list_handle_t *, ze_event_handle_t, uint32_t,
                                      ze_event_handle_t *);
typedef ze_result_t (*init_drivers_t)(uint32_t *, ze_driver_handle_t *,
                                      ze_init_driver_type_desc_t *);

Test(ze_cpu_newer, launches_with_arguments)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_api_version_t version;
    MUST(zeDriverGetApiVersion(fixture.driver, &version));
    cr_assert_eq((uint32_t)version, ZE_MAKE_VERSION(1, 14));
    launch_with_arguments_t launch = (launch_with_arguments_t)fixture_function(
        &fixture, "zeCommandListAppendLaunchKernelWithArguments");
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t scale = fixture_kernel(module, "scale");
    ze_kernel_handle_t reverse = fixture_kernel(module, "reverse_in_group");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    int *data = fixture_shared(&fixture, COUNT * sizeof(int));
    for (int i = 0; i < COUNT; i++)
        data[i] = i;
    const ze_group_count_t counts = {COUNT / 16, 1, 1};
    const ze_group_size_t sizes = {16, 1, 1};
    int factor = 3;
    size_t local_bytes = 16 * sizeof(int);
    void *scale_arguments[] = {&data, &factor};
    void *reverse_arguments[] = {&data, &local_bytes};
    MUST(launch(list, scale, counts, sizes, scale_arguments, NULL, NULL, 0, NULL));
    factor = 1000; // captured already
    MUST(launch(list, reverse, counts, sizes, reverse_arguments, NULL, NULL, 0, NULL));
    fixture_synchronize(&fixture, list);
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(data[i], 3 * (i / 16 * 16 + 15 - i % 16));
    MUST(zeMemFree(fixture.context, data));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(scale));
    MUST(zeKernelDestroy(reverse));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_newer, takes_the_parameters_of_a_launch_or_refuses_them)
{
    struct fixture fixture;
    fixture_init(&fixture);
    launch_with_arguments_t launch = (launch_with_arguments_t)fixture_function(
        &fixture, "zeCommandListAppendLaunchKernelWithArguments");
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t scale = fixture_kernel(module, "scale");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    int *data = fixture_shared(&fixture, 32 * sizeof(int));
    for (int i = 0; i < 32; i++)
        data[i] = i;
    ze_command_list_append_launch_kernel_param_cooperative_desc_t cooperation = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC,
        .isCooperative = 1};
    const ze_group_count_t one = {1, 1, 1}, two = {2, 1, 1};
    const ze_group_size_t sizes = {16, 1, 1};
    int factor = 2;
    void *arguments[] = {&data, &factor};
    MUST(launch(list, scale, one, sizes, arguments, &cooperation, NULL, 0, NULL));
    // Groups do not run side by side.
    cr_assert_eq(launch(list, scale, two, sizes, arguments, &cooperation, NULL, 0, NULL),
                 ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    cooperation.isCooperative = 0;
    MUST(launch(list, scale, two, sizes, arguments, &cooperation, NULL, 0, NULL));
    const ze_context_desc_t unknown = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    cr_assert_eq(launch(list, scale, two, sizes, arguments, &unknown, NULL, 0, NULL),
                 ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    fixture_synchronize(&fixture, list);
    cr_assert(data[15] == 4 * 15 && data[31] == 2 * 31);
    MUST(zeMemFree(fixture.context, data));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(scale));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_newer, signals_counter_based_events_again_without_reset)
{
    struct fixture fixture;
    fixture_init(&fixture);
    create_counter_based_t create =
        (create_counter_based_t)fixture_function(&fixture, "zeEventCounterBasedCreate");
    const ze_event_counter_based_desc_t desc = {.flags = CPU_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                                         CPU_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE};
    ze_event_handle_t event;
    MUST(create(fixture.context, fixture.device, &desc, &event));
    MUST(zeEventQueryStatus(event)); // never used: nothing to wait for
    struct fixture_event gate = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    ze_command_list_handle_t unordered = fixture_immediate(&fixture, 0);
    for (int round = 0; round < 3; round++) {
        MUST(zeCommandListAppendBarrier(list, event, 1, &gate.event));
        cr_assert_eq(zeEventHostSynchronize(event, 20000000), ZE_RESULT_NOT_READY);
        MUST(zeEventHostSignal(gate.event));
        MUST(zeEventHostSynchronize(event, UINT64_MAX));
        MUST(zeEventHostReset(gate.event));
    }
    cr_assert_neq(zeEventHostReset(event), ZE_RESULT_SUCCESS);
    cr_assert_neq(zeCommandListAppendSignalEvent(unordered, event), ZE_RESULT_SUCCESS);
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandListDestroy(unordered));
    MUST(zeEventDestroy(event));
    fixture_event_finish(&gate);
    fixture_finish(&fixture);
}

Test(ze_cpu_newer, appends_closed_lists_to_an_immediate_one)
{
    struct fixture fixture;
    fixture_init(&fixture);
    append_lists_t append =
        (append_lists_t)fixture_function(&fixture, "zeCommandListImmediateAppendCommandListsExp");
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t recorded;
    MUST(zeCommandListCreate(fixture.context, fixture.device, &desc, &recorded));
    int *data = fixture_shared(&fixture, 2 * sizeof(int));
    data[0] = 0;
    const int value = 42;
    MUST(zeCommandListAppendMemoryFill(recorded, data, &value, sizeof(value), 2 * sizeof(int), NULL,
                                       0, NULL));
    MUST(zeCommandListClose(recorded));
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    struct fixture_event event = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    MUST(append(list, 1, &recorded, event.event, 0, NULL));
    MUST(zeEventHostSynchronize(event.event, UINT64_MAX));
    cr_assert_eq(data[1], 42);
    MUST(zeCommandListDestroy(recorded));
    MUST(zeCommandListDestroy(list));
    fixture_event_finish(&event);
    MUST(zeMemFree(fixture.context, data));
    fixture_finish(&fixture);
}

typedef ze_result_t (*append_host_function_t)(ze_command_list_handle_t, ze_host_function_callback_t,
                                              void *, const void *, ze_event_handle_t, uint32_t,
                                              ze_event_handle_t *);

// The observations of a host function.
struct call {
    const int *memory;
    int seen;
    int count;
};

static void note_call(void *user)
{
    struct call *call = user;
    call->seen = *call->memory;
    call->count++;
}

Test(ze_cpu_newer, calls_functions_of_the_host_in_order)
{
    struct fixture fixture;
    fixture_init(&fixture);
    append_host_function_t append =
        (append_host_function_t)fixture_function(&fixture, "zeCommandListAppendHostFunction");
    ze_command_list_handle_t immediate = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    struct fixture_event gate = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    struct fixture_event done = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    int *memory = fixture_shared(&fixture, sizeof(int));
    const int values[] = {11, 12};
    struct call call = {.memory = memory};
    *memory = 0;
    // After the earlier commands and the wait list, before the later commands.
    MUST(zeCommandListAppendMemoryFill(immediate, memory, &values[0], sizeof(int), sizeof(int),
                                       NULL, 0, NULL));
    MUST(append(immediate, note_call, &call, NULL, done.event, 1, &gate.event));
    MUST(zeCommandListAppendMemoryFill(immediate, memory, &values[1], sizeof(int), sizeof(int),
                                       NULL, 0, NULL));
    cr_assert_eq(zeEventHostSynchronize(done.event, 20000000), ZE_RESULT_NOT_READY);
    cr_assert_eq(call.count, 0);
    MUST(zeEventHostSignal(gate.event));
    MUST(zeEventHostSynchronize(done.event, UINT64_MAX));
    cr_assert(call.count == 1 && call.seen == 11);
    fixture_synchronize(&fixture, immediate);
    cr_assert_eq(*memory, 12);

    // Of a recorded list, at each execution.
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    append_lists_t append_lists =
        (append_lists_t)fixture_function(&fixture, "zeCommandListImmediateAppendCommandListsExp");
    ze_command_list_handle_t recorded;
    MUST(zeCommandListCreate(fixture.context, fixture.device, &desc, &recorded));
    MUST(append(recorded, note_call, &call, NULL, NULL, 0, NULL));
    MUST(zeCommandListClose(recorded));
    cr_assert_eq(call.count, 1);
    for (int i = 0; i < 2; i++)
        MUST(append_lists(immediate, 1, &recorded, NULL, 0, NULL));
    fixture_synchronize(&fixture, immediate);
    cr_assert(call.count == 3 && call.seen == 12);
    cr_assert_eq(append(immediate, NULL, &call, NULL, NULL, 0, NULL),
                 ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    MUST(zeCommandListDestroy(recorded));
    MUST(zeCommandListDestroy(immediate));
    fixture_event_finish(&gate);
    fixture_event_finish(&done);
    MUST(zeMemFree(fixture.context, memory));
    fixture_finish(&fixture);
}

Test(ze_cpu_newer, initialises_drivers_by_type)
{
    struct fixture fixture;
    fixture_init(&fixture);
    init_drivers_t init = (init_drivers_t)fixture_function(&fixture, "zeInitDrivers");
    ze_init_driver_type_desc_t desc = {.flags = CPU_INIT_DRIVER_TYPE_FLAG_GPU};
    uint32_t count = 0;
    MUST(init(&count, NULL, &desc));
    cr_assert_eq(count, 1);
    ze_driver_handle_t driver;
    MUST(init(&count, &driver, &desc));
    cr_assert_eq(driver, fixture.driver);
    desc.flags = CPU_INIT_DRIVER_TYPE_FLAG_NPU;
    MUST(init(&count, NULL, &desc));
    cr_assert_eq(count, 0);
    void *function;
    cr_assert_neq(zeDriverGetExtensionFunctionAddress(fixture.driver, "zeNoSuch", &function),
                  ZE_RESULT_SUCCESS);
    fixture_finish(&fixture);
}

Test(ze_cpu_newer, fills_tables_as_far_as_the_loader_knows_them)
{
    struct fixture fixture;
    fixture_init(&fixture);
    void *library = dlopen(ZE_CPU_LIBRARY, RTLD_NOW);
    ze_result_t (*get_table)(uint32_t, void *);
    *(void **)&get_table = dlsym(library, "zeGetCommandListProcAddrTable");
    void *table[64] = {NULL};
    MUST(get_table(ZE_MAKE_VERSION(1, 4), table));
    cr_assert(table[27] != NULL);
    cr_assert(table[28] == NULL);
    MUST(get_table(ZE_MAKE_VERSION(1, 9), table));
    cr_assert_eq(table[28], fixture_function(&fixture, "zeCommandListHostSynchronize"));
    cr_assert(table[34] == NULL);
    MUST(get_table(ZE_MAKE_VERSION(1, 18), table));
    cr_assert_eq(table[37],
                 fixture_function(&fixture, "zeCommandListAppendLaunchKernelWithArguments"));
    cr_assert(table[38] == NULL);
    cr_assert_eq(get_table(ZE_MAKE_VERSION(2, 0), table), ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    fixture_finish(&fixture);
}

typedef ze_result_t (*query_times_t)(ze_event_handle_t, ze_device_handle_t, uint32_t *,
                                     ze_event_query_kernel_timestamps_results_ext_properties_t *);

Test(ze_cpu_newer, times_of_an_event_are_also_those_of_the_host)
{
    setenv("ZE_CPU_TIMESTAMP_BITS", "32", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    query_times_t query =
        (query_times_t)fixture_function(&fixture, "zeEventQueryKernelTimestampsExt");
    struct fixture_event event =
        fixture_event(&fixture, CPU_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP);
    ze_kernel_timestamp_result_t times = {{0}, {0}};
    ze_synchronized_timestamp_result_ext_t synchronized = {{0}, {0}};
    ze_event_query_kernel_timestamps_results_ext_properties_t results = {
        .pKernelTimestampsBuffer = &times, .pSynchronizedTimestampsBuffer = &synchronized};
    uint32_t count = 0;
    uint64_t before, after, ticks;
    MUST(query(event.event, fixture.device, &count, NULL));
    cr_assert_eq(count, 1);
    cr_assert_eq(query(event.event, fixture.device, &count, &results), ZE_RESULT_NOT_READY);
    cr_assert_eq(synchronized.global.kernelEnd, 0);
    MUST(zeDeviceGetGlobalTimestamps(fixture.device, &before, &ticks));
    MUST(zeEventHostSignal(event.event));
    MUST(zeDeviceGetGlobalTimestamps(fixture.device, &after, &ticks));
    count = 5;
    MUST(query(event.event, fixture.device, &count, &results));
    cr_assert(count == 1 && synchronized.global.kernelStart >= before &&
              synchronized.global.kernelEnd <= after &&
              synchronized.context.kernelEnd == synchronized.global.kernelEnd);
    cr_assert_eq(times.global.kernelEnd, synchronized.global.kernelEnd & UINT32_MAX);
    fixture_event_finish(&event);
    fixture_finish(&fixture);
}

typedef ze_result_t (*set_atomic_access_t)(ze_context_handle_t, ze_device_handle_t, const void *,
                                           size_t, uint32_t);
typedef ze_result_t (*get_atomic_access_t)(ze_context_handle_t, ze_device_handle_t, const void *,
                                           size_t, uint32_t *);

Test(ze_cpu_newer, shared_memory_keeps_its_attribute_of_atomics)
{
    struct fixture fixture;
    fixture_init(&fixture);
    set_atomic_access_t set =
        (set_atomic_access_t)fixture_function(&fixture, "zeMemSetAtomicAccessAttributeExp");
    get_atomic_access_t get =
        (get_atomic_access_t)fixture_function(&fixture, "zeMemGetAtomicAccessAttributeExp");
    int *memory = fixture_shared(&fixture, 64);
    uint32_t attribute = 1;
    MUST(get(fixture.context, fixture.device, memory, 64, &attribute));
    cr_assert_eq(attribute, 0, "the default");
    MUST(set(fixture.context, fixture.device, memory, 64,
             CPU_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS));
    MUST(get(fixture.context, fixture.device, memory + 1, 4, &attribute));
    cr_assert_eq(attribute, CPU_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS);
    cr_assert_eq(set(fixture.context, fixture.device, memory, 64, 1u << 7),
                 ZE_RESULT_ERROR_INVALID_ENUMERATION);
    cr_assert_eq(set(fixture.context, fixture.device, memory, 65, 1),
                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(get(fixture.context, fixture.device, &fixture, 4, &attribute),
                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeMemFree(fixture.context, memory));
    fixture_finish(&fixture);
}

typedef ze_result_t (*get_with_properties_t)(ze_context_handle_t, const void *, void *,
                                             ze_ipc_mem_handle_t *);
typedef ze_result_t (*handle_of_file_t)(ze_context_handle_t, uint64_t, ze_ipc_mem_handle_t *);
typedef ze_result_t (*file_of_handle_t)(ze_context_handle_t, ze_ipc_mem_handle_t, uint64_t *);

Test(ze_cpu_newer, ipc_handles_have_types_and_files)
{
    setenv("ZE_CPU_IPC", "1", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    get_with_properties_t get =
        (get_with_properties_t)fixture_function(&fixture, "zeMemGetIpcHandleWithProperties");
    handle_of_file_t handle_of =
        (handle_of_file_t)fixture_function(&fixture, "zeMemGetIpcHandleFromFileDescriptorExp");
    file_of_handle_t file_of =
        (file_of_handle_t)fixture_function(&fixture, "zeMemGetFileDescriptorFromIpcHandleExp");
    const ze_external_memory_export_desc_t export = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
        .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                             .pNext = &export};
    ze_ipc_mem_handle_type_ext_desc_t type = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC,
        .typeFlags = CPU_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT};
    ze_ipc_mem_handle_t handle;
    int *memory, *opened;
    uint64_t file = 0;
    MUST(zeMemAllocDevice(fixture.context, &desc, 64, 0, fixture.device, (void **)&memory));
    MUST(get(fixture.context, memory, &type, &handle));
    MUST(file_of(fixture.context, handle, &file));
    type.typeFlags = 1u << 1; // of a fabric
    cr_assert_eq(get(fixture.context, memory, &type, &handle), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    MUST(handle_of(fixture.context, file, &handle));
    MUST(zeMemOpenIpcHandle(fixture.context, fixture.device, handle, 0, (void **)&opened));
    memory[3] = 7;
    cr_assert(opened != memory && opened[3] == 7);
    MUST(zeMemCloseIpcHandle(fixture.context, opened));
    cr_assert_eq(handle_of(fixture.context, 100000, &handle), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    const ze_host_mem_alloc_desc_t of_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    int *host;
    MUST(zeMemAllocHost(fixture.context, &of_host, 64, 0, (void **)&host));
    MUST(zeMemGetIpcHandle(fixture.context, host, &handle));
    MUST(zeMemOpenIpcHandle(fixture.context, fixture.device, handle, 0, (void **)&opened));
    host[3] = 9;
    MUST(zeMemGetAllocProperties(fixture.context, opened, &properties, NULL));
    cr_assert(opened[3] == 9 && properties.type == ZE_MEMORY_TYPE_HOST);
    MUST(zeMemCloseIpcHandle(fixture.context, opened));
    MUST(zeMemFree(fixture.context, host));
    MUST(zeMemFree(fixture.context, memory));
    fixture_finish(&fixture);
}
