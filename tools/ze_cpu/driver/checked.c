// SPDX-License-Identifier: MIT
#include "entry.h"
#include "object.h"
#include "tables.h"

#include <stdbool.h>
#include <string.h>

// The kind of handle that an argument is by its type, CPU_NONE for other types.
#define KIND_OF(argument)                                                                          \
    _Generic((argument), ze_driver_handle_t                                                        \
             : CPU_DRIVER, ze_device_handle_t                                                      \
             : CPU_DEVICE, zes_mem_handle_t                                                        \
             : CPU_DEVICE, ze_fabric_vertex_handle_t                                               \
             : CPU_DEVICE, ze_context_handle_t                                                     \
             : CPU_CONTEXT, ze_command_queue_handle_t                                              \
             : CPU_QUEUE, ze_command_list_handle_t                                                 \
             : CPU_LIST, ze_fence_handle_t                                                         \
             : CPU_FENCE, ze_event_pool_handle_t                                                   \
             : CPU_EVENT_POOL, ze_event_handle_t                                                   \
             : CPU_EVENT, ze_image_handle_t                                                        \
             : CPU_IMAGE, ze_module_handle_t                                                       \
             : CPU_MODULE, ze_module_build_log_handle_t                                            \
             : CPU_BUILD_LOG, ze_kernel_handle_t                                                   \
             : CPU_KERNEL, ze_sampler_handle_t                                                     \
             : CPU_SAMPLER, ze_physical_mem_handle_t                                               \
             : CPU_PHYSICAL_MEMORY, default                                                        \
             : CPU_NONE)

static bool may_be_null(const char *argument, const char *function)
{
    if (strcmp(argument, "hSignalEvent") == 0)
        return true;
    if (strcmp(argument, "hFence") == 0)
        return strcmp(function, "zeCommandQueueExecuteCommandLists") == 0;
    if (strcmp(argument, "hContextSrc") == 0)
        return false;
    return strcmp(argument, "hDevice") == 0 && (strcmp(function, "zeMemAllocShared") == 0 ||
                                                strcmp(function, "zePhysicalMemCreate") == 0);
}

// `argument` is the address of the argument.
static inline ze_result_t check(enum cpu_kind kind, const void *argument, const char *name,
                                const char *function)
{
    const void *handle;
    if (kind == CPU_NONE)
        return ZE_RESULT_SUCCESS;
    memcpy(&handle, argument, sizeof(handle));
    if (handle == NULL && may_be_null(name, function))
        return ZE_RESULT_SUCCESS;
    return cpu_object_check(handle, kind, function);
}

// CHECK_ALL(function, a, b, c) checks one argument after the other until one is wrong.
#define CHECK(function, argument) check(KIND_OF(argument), &(argument), #argument, function)
#define CHECK_1(f, a) CHECK(f, a)
#define CHECK_2(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_1(f, __VA_ARGS__))
#define CHECK_3(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_2(f, __VA_ARGS__))
#define CHECK_4(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_3(f, __VA_ARGS__))
#define CHECK_5(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_4(f, __VA_ARGS__))
#define CHECK_6(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_5(f, __VA_ARGS__))
#define CHECK_7(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_6(f, __VA_ARGS__))
#define CHECK_8(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_7(f, __VA_ARGS__))
#define CHECK_9(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_8(f, __VA_ARGS__))
#define CHECK_10(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_9(f, __VA_ARGS__))
#define CHECK_11(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_10(f, __VA_ARGS__))
#define CHECK_12(f, a, ...) FIRST_ERROR(CHECK(f, a), CHECK_11(f, __VA_ARGS__))
#define FIRST_ERROR(first, others) ((result = (first)) != ZE_RESULT_SUCCESS ? result : (others))
#define PICK(a, b, c, d, e, f, g, h, i, j, k, l, name, ...) name
#define CHECK_ALL(function, ...)                                                                   \
    PICK(__VA_ARGS__, CHECK_12, CHECK_11, CHECK_10, CHECK_9, CHECK_8, CHECK_7, CHECK_6, CHECK_5,   \
         CHECK_4, CHECK_3, CHECK_2, CHECK_1, 0)                                                    \
    (function, __VA_ARGS__)
#define UNPACK(...) __VA_ARGS__

#define CHECKED(name, parameters, arguments, required)                                             \
    static ze_result_t ZE_APICALL checked_##name parameters                                        \
    {                                                                                              \
        ze_result_t result = ZE_RESULT_SUCCESS;                                                    \
        result = CHECK_ALL(#name, UNPACK arguments);                                               \
        if (result == ZE_RESULT_SUCCESS && !(required))                                            \
            result = ZE_RESULT_ERROR_INVALID_NULL_POINTER;                                         \
        return result == ZE_RESULT_SUCCESS ? cpu_##name arguments : result;                        \
    }
#define IMPLEMENTED(table, member, name, parameters, arguments, required)                          \
    CHECKED(name, parameters, arguments, required)
#define NEWER(table, minor, name, parameters, arguments, required)                                 \
    CHECKED(name, parameters, arguments, required)
#include "functions.def"

const struct cpu_tables cpu_tables_checked = {
#define IMPLEMENTED(table, member, name, parameters, arguments, required)                          \
    .table.member = checked_##name,
#define REFUSED(table, member, name) .table.member = (void *)cpu_refused_##name,
#define NEWER(table, minor, name, parameters, arguments, required) .newer.name = checked_##name,
#include "functions.def"
};
