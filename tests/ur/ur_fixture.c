// SPDX-License-Identifier: MIT
#include "ur_fixture.h"

#include "test_env.h"

#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

ur_dditable_t ur;
struct test_ze_cpu ze_cpu;
struct ur_gear gear;
static void *library;

static _Noreturn void give_up(const char *what, const char *why)
{
    fprintf(stderr, "ur fixture: %s: %s\n", what, why ? why : "not found");
    exit(1);
}

const char *ur_last_error(void)
{
    const char *message = "";
    int32_t code;
    if (gear.adapter)
        urAdapterGetLastError(gear.adapter, &message, &code);
    return message;
}

void ur_expect_result(ur_result_t result, ur_result_t expected, const char *call,
                      const char *expected_name, const char *file, int line)
{
    if (result == expected)
        return;
    fprintf(stderr, "%s:%d: %s\n    answered %d (0x%x), expected %s (%d)\n    last error: %s\n",
            file, line, call, (int)result, (unsigned)result, expected_name, (int)expected,
            ur_last_error());
    exit(1);
}

void ur_expect_text(const char *words, const char *call, const char *file, int line)
{
    if (strstr(ur_last_error(), words))
        return;
    fprintf(stderr, "%s:%d: %s\n    last error: %s\n    expected in it: %s\n", file, line, call,
            ur_last_error(), words);
    exit(1);
}

typedef ur_result_t(UR_APICALL getter_fn)(ur_api_version_t, void *);

static void get_table(const char *name, void *table)
{
    getter_fn *getter;
    void *symbol = dlsym(library, name);
    if (!symbol)
        give_up(name, dlerror());
    memcpy(&getter, &symbol, sizeof(symbol));
    if (getter(UR_API_VERSION_CURRENT, table) != UR_RESULT_SUCCESS)
        give_up(name, "fails");
}

void ur_load(void)
{
    // No loader asks.
    setenv("ZEPI_UR_LAYOUT", TEST_UR_RELEASE, 1);
    library = dlopen(TEST_UR_ADAPTER, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        give_up(TEST_UR_ADAPTER, dlerror());
#define UR_GET(member) get_table("urGet" #member "ProcAddrTable", &ur.member);
    UR_TABLES(UR_GET)
#undef UR_GET
}

void ur_unload(void)
{
    memset(&ur, 0, sizeof(ur));
    if (library)
        dlclose(library);
    library = NULL;
}

void ur_load_device(void)
{
    uint32_t count;
    ur_load();
    UR_OK(urAdapterGet(1, &gear.adapter, &count));
    UR_OK(urPlatformGet(gear.adapter, 1, &gear.platform, &count));
    UR_OK(urDeviceGet(gear.platform, UR_DEVICE_TYPE_ALL, 1, &gear.device, &count));
}

void ur_set_up_devices(uint32_t device_count)
{
    char number[16];
    uint32_t count;
    snprintf(number, sizeof(number), "%u", device_count);
    setenv("ZE_CPU_DEVICES", number, 1);
    setenv("CreateMultipleRootDevices", number, 1); // of Intel's driver
    ze_cpu = test_ze_cpu_use();
    ur_load();
    UR_OK(urAdapterGet(1, &gear.adapter, &count));
    UR_OK(urPlatformGet(gear.adapter, 1, &gear.platform, &count));
    if (count != 1)
        give_up("platform", ur_last_error());
    UR_OK(urDeviceGet(gear.platform, UR_DEVICE_TYPE_ALL, device_count, gear.devices,
                      &gear.device_count));
    if (gear.device_count != device_count)
        give_up("devices", ur_last_error());
    gear.device = gear.devices[0];
    UR_OK(urContextCreate(device_count, gear.devices, NULL, &gear.context));
    gear.queue = ur_queue(gear.device, UR_QUEUE_FLAG_PROFILING_ENABLE);
}

void ur_set_up(void)
{
    ur_set_up_devices(1);
}

void ur_set_up_two(void)
{
    ur_set_up_devices(2);
}

void ur_tear_down(void)
{
    UR_OK(urQueueRelease(gear.queue));
    UR_OK(urContextRelease(gear.context));
    for (uint32_t i = 0; i < gear.device_count; i++)
        UR_OK(urDeviceRelease(gear.devices[i]));
    UR_OK(urAdapterRelease(gear.adapter));
    gear = (struct ur_gear){0};
    ur_unload();
    if (ze_cpu.get_live_objects() != 0)
        give_up("tear-down", "objects are left in the driver");
}

ur_queue_handle_t ur_queue(ur_device_handle_t device, ur_queue_flags_t flags)
{
    const ur_queue_properties_t properties = {.stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES,
                                              .flags = flags};
    ur_queue_handle_t queue;
    UR_OK(urQueueCreate(gear.context, device, &properties, &queue));
    return queue;
}

ur_program_handle_t ur_input(const char *name)
{
    return ur_input_file(test_env_spirv_path(name));
}

ur_program_handle_t ur_input_file(const char *path)
{
    struct test_bytes spirv = test_env_read_file(path);
    ur_program_handle_t program;
    UR_OK(urProgramCreateWithIL(gear.context, spirv.data, spirv.size_bytes, NULL, &program));
    free(spirv.data);
    return program;
}

ur_program_handle_t ur_executable(const char *name)
{
    ur_program_handle_t program = ur_input(name);
    UR_OK(urProgramBuild(gear.context, program, NULL));
    return program;
}

uint64_t ur_time_of(ur_event_handle_t event, ur_profiling_info_t query)
{
    uint64_t ns = 0;
    UR_OK(urEventGetProfilingInfo(event, query, sizeof(ns), &ns, NULL));
    return ns;
}

uint64_t ur_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

ur_kernel_handle_t ur_kernel(const char *program_name, const char *kernel_name)
{
    ur_program_handle_t program = ur_executable(program_name);
    ur_kernel_handle_t kernel;
    UR_OK(urKernelCreate(program, kernel_name, &kernel));
    UR_OK(urProgramRelease(program));
    return kernel;
}

struct host_event host_event_make(void)
{
    return host_event_make_in(gear.context);
}

struct host_event host_event_make_in(ur_context_handle_t ur_context)
{
    ur_native_handle_t context;
    ze_event_pool_handle_t pool;
    ze_event_handle_t ze;
    ur_event_handle_t event;
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                  .wait = ZE_EVENT_SCOPE_FLAG_HOST};
    const ur_event_native_properties_t keep = {.stype = UR_STRUCTURE_TYPE_EVENT_NATIVE_PROPERTIES,
                                               .isNativeHandleOwned = false};
    UR_OK(urContextGetNativeHandle(ur_context, &context));
    TEST_ZE_OK(zeEventPoolCreate((ze_context_handle_t)context, &pool_desc, 0, NULL, &pool));
    TEST_ZE_OK(zeEventCreate(pool, &desc, &ze));
    UR_OK(urEventCreateWithNativeHandle((ur_native_handle_t)ze, ur_context, &keep, &event));
    return (struct host_event){pool, ze, event};
}

void host_event_signal(const struct host_event *host)
{
    TEST_ZE_OK(zeEventHostSignal(host->ze));
}

void host_event_release(const struct host_event *host)
{
    UR_OK(urEventRelease(host->event));
    TEST_ZE_OK(zeEventDestroy(host->ze));
    TEST_ZE_OK(zeEventPoolDestroy(host->pool));
}

void *ur_shared(size_t size_bytes)
{
    void *memory;
    UR_OK(urUSMSharedAlloc(gear.context, gear.device, NULL, NULL, size_bytes, &memory));
    memset(memory, 0, size_bytes);
    return memory;
}

void *ur_device_memory(size_t size_bytes)
{
    void *memory;
    UR_OK(urUSMDeviceAlloc(gear.context, gear.device, NULL, NULL, size_bytes, &memory));
    return memory;
}

void ur_free(void *memory)
{
    UR_OK(urUSMFree(gear.context, memory));
}

ur_result_t ur_launch(ur_queue_handle_t queue, ur_kernel_handle_t kernel, size_t global_size,
                      uint32_t argument_count, const ur_exp_kernel_arg_properties_t *arguments,
                      uint32_t wait_count, const ur_event_handle_t *wait_list,
                      ur_event_handle_t *out_event)
{
    return urEnqueueKernelLaunchWithArgsExp(queue, kernel, 1, NULL, &global_size, NULL,
                                            argument_count, arguments, NULL, wait_count, wait_list,
                                            out_event);
}

ur_event_handle_t ur_spin(ur_queue_handle_t queue, ur_kernel_handle_t kernel, uint32_t rounds,
                          uint32_t *out)
{
    ur_event_handle_t event;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, rounds), UR_POINTER(1, out)};
    UR_OK(ur_launch(queue, kernel, 1, 2, arguments, 0, NULL, &event));
    return event;
}

ur_event_status_t ur_event_status(ur_event_handle_t event)
{
    ur_event_status_t status;
    UR_OK(urEventGetInfo(event, UR_EVENT_INFO_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
                         NULL));
    return status;
}

void ur_expect_held_up_at(ur_event_handle_t event, const char *file, int line)
{
    const struct timespec a_while = {.tv_nsec = 20000000};
    nanosleep(&a_while, NULL);
    const ur_event_status_t status = ur_event_status(event);
    if (status == UR_EVENT_STATUS_SUBMITTED)
        return;
    fprintf(stderr, "%s:%d: the event's status is %d, expected %d, submitted\n", file, line,
            (int)status, (int)UR_EVENT_STATUS_SUBMITTED);
    exit(1);
}
