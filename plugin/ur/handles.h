// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_HANDLES_H
#define ZEPI_UR_HANDLES_H

#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "memory/usm.h"
#include "queue/event.h"
#include "queue/queue.h"
#include "ur/check.h"

// Handles of Unified Runtime that are objects of the core: any thread. Handles with an object of
// the adapter have a header of their own: program.h, kernel.h, mem.h, ...

ZEPI_UR_DEFINE_HANDLE(platform, ur_platform_handle_t, zepi_platform,
                      UR_RESULT_ERROR_INVALID_PLATFORM)
ZEPI_UR_DEFINE_HANDLE(device, ur_device_handle_t, zepi_device, UR_RESULT_ERROR_INVALID_DEVICE)
ZEPI_UR_DEFINE_HANDLE(context, ur_context_handle_t, zepi_context, UR_RESULT_ERROR_INVALID_CONTEXT)
ZEPI_UR_DEFINE_HANDLE(queue, ur_queue_handle_t, zepi_queue, UR_RESULT_ERROR_INVALID_QUEUE)
ZEPI_UR_DEFINE_HANDLE(event, ur_event_handle_t, zepi_event, UR_RESULT_ERROR_INVALID_EVENT)

// The one adapter of the process. It owns nothing: platforms come up with the first query for them
// and stay (device/adapter.h), so its reference count frees nothing.
extern struct zepi_object zepi_ur_adapter;
ur_result_t zepi_ur_check_adapter(ur_adapter_handle_t adapter);

// A context, and a pointer that must not be NULL.
static inline ur_result_t zepi_ur_check_context_pointer(ur_context_handle_t context,
                                                        const void *pointer, const char *name)
{
    const ur_result_t result = zepi_ur_check_context(context);
    return result == UR_RESULT_SUCCESS ? zepi_ur_check_pointer(pointer, name) : result;
}

// A device of a context, whose position there is *out_index (may be NULL).
ur_result_t zepi_ur_check_device_in(const struct zepi_context *context, ur_device_handle_t device,
                                    uint32_t *out_index);
static inline ur_result_t zepi_ur_check_context_device(ur_context_handle_t context,
                                                       ur_device_handle_t device)
{
    const ur_result_t result = zepi_ur_check_context(context);
    return result ? result : zepi_ur_check_device_in(zepi_ur_context(context), device, NULL);
}

// An object, called `what`, of context `other` where one of `own` is expected. Returns `wrong` if
// the contexts differ, or UR_RESULT_ERROR_INVALID_CONTEXT if their platforms do.
ur_result_t zepi_ur_refuse_context(const struct zepi_context *own, const struct zepi_context *other,
                                   ur_result_t wrong, const char *what)
    __attribute__((cold, noinline));
static inline ur_result_t zepi_ur_check_same_context(const struct zepi_context *own,
                                                     const struct zepi_context *other,
                                                     ur_result_t wrong, const char *what)
{
    return __builtin_expect(own == other, 1) ? UR_RESULT_SUCCESS
                                             : zepi_ur_refuse_context(own, other, wrong, what);
}

// `size` bytes from `memory` on, in one allocation.
static inline ur_result_t zepi_ur_check_range(struct zepi_context *context, const void *memory,
                                              size_t size, const char *name)
{
    return zepi_ur_result_of_range(zepi_check_range(context, name, memory, size));
}

// Retains or releases the object of a handle that was checked.
static inline ur_result_t zepi_ur_retain(ur_result_t checked, void *object)
{
    if (checked == UR_RESULT_SUCCESS)
        zepi_retain(object);
    return checked;
}
static inline ur_result_t zepi_ur_release(ur_result_t checked, void *object)
{
    if (checked == UR_RESULT_SUCCESS)
        zepi_release(object);
    return checked;
}

// Defines ur<Noun>Retain<suffix> and ur<Noun>Release<suffix>.
#define ZEPI_UR_DEFINE_REFERENCES(noun, suffix, handle_type, check)                                \
    ur_result_t zepi_ur##noun##Retain##suffix(handle_type handle)                                  \
    {                                                                                              \
        return zepi_ur_retain(check(handle), handle);                                              \
    }                                                                                              \
    ur_result_t zepi_ur##noun##Release##suffix(handle_type handle)                                 \
    {                                                                                              \
        return zepi_ur_release(check(handle), handle);                                             \
    }

// Defines ur<Noun>GetNativeHandle of a ur_<name>_handle_t, whose object has Level Zero's.
#define ZEPI_UR_DEFINE_GET_NATIVE(noun, name)                                                      \
    ur_result_t zepi_ur##noun##GetNativeHandle(ur_##name##_handle_t handle,                        \
                                               ur_native_handle_t *out_native)                     \
    {                                                                                              \
        ur_result_t result;                                                                        \
        if ((result = zepi_ur_check_##name(handle)) ||                                             \
            (result = zepi_ur_check_pointer(out_native, "phNative" #noun)))                        \
            return result;                                                                         \
        *out_native = (ur_native_handle_t)zepi_ur_##name(handle)->ze;                              \
        return UR_RESULT_SUCCESS;                                                                  \
    }

// The owner of a native handle, by the properties (which may be NULL) that it came with.
#define ZEPI_UR_OWNERSHIP(properties)                                                              \
    ((properties) && (properties)->isNativeHandleOwned ? ZEPI_OWNERSHIP_TRANSFER                   \
                                                       : ZEPI_OWNERSHIP_KEEP)

#endif
