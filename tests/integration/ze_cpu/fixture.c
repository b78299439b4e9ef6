// SPDX-License-Identifier: MIT
#include "fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fixture_must(ze_result_t result, const char *call, const char *file, int line)
{
    cr_assert(result == ZE_RESULT_SUCCESS, "%s:%d: %s = 0x%x", file, line, call, (unsigned)result);
}

void fixture_init(struct fixture *fixture)
{
    setenv("ZE_ENABLE_ALT_DRIVERS", ZE_CPU_LIBRARY, 1);
    setenv("ZE_CPU_STRICT", "1", 0);
    memset(fixture, 0, sizeof(*fixture));
    uint32_t count = 1;
    MUST(zeInit(0));
    MUST(zeDriverGet(&count, &fixture->driver));
    MUST(zeDeviceGet(fixture->driver, &count, &fixture->device));
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    MUST(zeContextCreate(fixture->driver, &desc, &fixture->context));
}

void fixture_finish(struct fixture *fixture)
{
    MUST(zeContextDestroy(fixture->context));
}

void *fixture_function(const struct fixture *fixture, const char *name)
{
    void *function = NULL;
    MUST(zeDriverGetExtensionFunctionAddress(fixture->driver, name, &function));
    return function;
}

uint8_t *fixture_read(const char *name, size_t *out_size_bytes)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.spv", ZE_CPU_TEST_DATA, name);
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *bytes = malloc((size_t)size);
    cr_assert(bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    *out_size_bytes = (size_t)size;
    return bytes;
}

ze_module_handle_t fixture_module(const struct fixture *fixture, const char *name,
                                  const ze_module_constants_t *constants)
{
    size_t size_bytes;
    uint8_t *bytes = fixture_read(name, &size_bytes);
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_IL_SPIRV,
        .inputSize = size_bytes,
        .pInputModule = bytes,
        .pConstants = constants,
    };
    ze_module_handle_t module;
    MUST(zeModuleCreate(fixture->context, fixture->device, &desc, &module, NULL));
    free(bytes);
    return module;
}

ze_kernel_handle_t fixture_kernel(ze_module_handle_t module, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    MUST(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

void *fixture_shared(const struct fixture *fixture, size_t size_bytes)
{
    const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *pointer;
    MUST(zeMemAllocShared(fixture->context, &device_desc, &host_desc, size_bytes, 64,
                          fixture->device, &pointer));
    return pointer;
}

ze_command_list_handle_t fixture_immediate(const struct fixture *fixture, uint32_t flags)
{
    const ze_command_queue_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .index = flags >> 8,
        .flags = flags & FIXTURE_IN_ORDER ? 1u << 1 : 0,
        .mode = flags & FIXTURE_SYNCHRONOUS ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
                                            : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    };
    ze_command_list_handle_t list;
    MUST(zeCommandListCreateImmediate(fixture->context, fixture->device, &desc, &list));
    return list;
}

struct fixture_event fixture_event(const struct fixture *fixture, uint32_t pool_flags)
{
    const ze_event_pool_desc_t pool_desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = pool_flags, .count = 1};
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    struct fixture_event event;
    MUST(zeEventPoolCreate(fixture->context, &pool_desc, 0, NULL, &event.pool));
    MUST(zeEventCreate(event.pool, &desc, &event.event));
    return event;
}

void fixture_event_finish(struct fixture_event *event)
{
    MUST(zeEventDestroy(event->event));
    MUST(zeEventPoolDestroy(event->pool));
}

void fixture_synchronize(const struct fixture *fixture, ze_command_list_handle_t list)
{
    ze_result_t (*synchronize)(ze_command_list_handle_t, uint64_t) =
        (ze_result_t(*)(ze_command_list_handle_t, uint64_t))fixture_function(
            fixture, "zeCommandListHostSynchronize");
    MUST(synchronize(list, UINT64_MAX));
}

struct fixture_control fixture_control(void)
{
    void *library = dlopen(ZE_CPU_LIBRARY, RTLD_NOW);
    cr_assert(library != NULL);
    struct fixture_control control;
    *(void **)&control.set_fail = dlsym(library, "zeCpuSetFail");
    *(void **)&control.get_count = dlsym(library, "zeCpuGetCount");
    *(void **)&control.reset_counts = dlsym(library, "zeCpuResetCounts");
    *(void **)&control.get_live_objects = dlsym(library, "zeCpuGetLiveObjects");
    cr_assert(control.set_fail && control.get_count && control.reset_counts &&
              control.get_live_objects);
    return control;
}
