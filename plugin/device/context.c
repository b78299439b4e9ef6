// SPDX-License-Identifier: MIT
#include "device/context.h"

#include "core/alloc.h"
#include "device/device.h"
#include "device/platform.h"

#include <utlist.h>

struct zepi_context_callback {
    struct zepi_context_callback *next;
    void (*function)(void *data);
    void *data;
};

zepi_result_t zepi_context_at_destroy(struct zepi_context *context, void (*function)(void *data),
                                      void *data)
{
    struct zepi_context_callback *callback = zepi_allocate(1, sizeof(*callback));
    if (!callback)
        return zepi_fail_no_memory();
    callback->function = function;
    callback->data = data;
    zepi_mutex_lock(&context->callbacks_mutex);
    LL_PREPEND(context->callbacks, callback);
    zepi_mutex_unlock(&context->callbacks_mutex);
    return ZEPI_SUCCESS;
}

static void context_run_callbacks(struct zepi_context *context)
{
    struct zepi_context_callback *callback, *next;
    LL_FOREACH_SAFE(context->callbacks, callback, next)
    {
        callback->function(callback->data);
        zepi_free(callback);
    }
}

// ---- Components ----

// Weak: a program that links the archive may have no component.
extern const struct zepi_component *const __start_zepi_components[]
    __attribute__((weak, visibility("hidden")));
extern const struct zepi_component *const __stop_zepi_components[]
    __attribute__((weak, visibility("hidden")));

// An empty one: a program that links the archive may lack some, with the code that needs them.
static const struct zepi_component *component_at(uint32_t number)
{
    static const struct zepi_component none;
    const struct zepi_component *const *component = __start_zepi_components;
    while (component < __stop_zepi_components && (*component)->number != number)
        component++;
    return component < __stop_zepi_components ? *component : &none;
}

// The state has cache lines of its own.
static size_t component_bytes(const struct zepi_component *component)
{
    return (component->size_bytes + 63) / 64 * 64;
}

static zepi_result_t context_init_components(struct zepi_context *context)
{
    size_t size_bytes = 0;
    for (uint32_t i = 0; i < ZEPI_COMPONENTS; i++)
        size_bytes += component_bytes(component_at(i));
    char *at = zepi_sys_allocate_lines(size_bytes);
    if (!at)
        return zepi_fail_no_memory();
    memset(at, 0, size_bytes);
    for (uint32_t i = 0; i < ZEPI_COMPONENTS; i++) {
        context->components[i] = at;
        at += component_bytes(component_at(i));
    }
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < ZEPI_COMPONENTS && result == ZEPI_SUCCESS; i++) {
        if (component_at(i)->init)
            result = component_at(i)->init(context);
    }
    return result;
}

static void context_finish_components(struct zepi_context *context)
{
    if (!context->components[0])
        return;
    for (uint32_t i = ZEPI_COMPONENTS; i-- > 0;) {
        if (component_at(i)->finish)
            component_at(i)->finish(context);
    }
    zepi_sys_free(context->components[0]);
}

bool zepi_context_reclaim(struct zepi_context *context, ze_result_t ze, unsigned *attempt)
{
    if (ze != ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY && ze != ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return false;
    const bool is_first = ++*attempt == 1;
    if (*attempt > 2)
        return false;
    bool is_any = false;
    // In the order of the layers: deferred frees make room in the pools of memory.
    for (uint32_t i = 0; i < ZEPI_COMPONENTS; i++) {
        const struct zepi_component *component = component_at(i);
        if (component->reclaim &&
            component->reclaim(context, is_first ? 0 : ZEPI_RECLAIM_TIMEOUT_NS))
            is_any = true;
    }
    return is_first || is_any;
}

static void context_destroy(void *object)
{
    struct zepi_context *context = object;
    context_run_callbacks(context);
    context_finish_components(context);
    if (context->ze && context->ownership == ZEPI_OWNERSHIP_TRANSFER)
        zepi_ze.zeContextDestroy(context->ze);
    zepi_free(context->devices);
}

ZEPI_DEFINE_TYPE(context, context_destroy);

// The devices are of one platform, and each is there once.
static zepi_result_t check_context_devices(uint32_t device_count, const zepi_device_t *devices)
{
    for (uint32_t i = 0; i < device_count; i++) {
        if (devices[i]->platform != devices[0]->platform)
            return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                             "devices 0 and %u of the context are of different platforms", i);
        for (uint32_t other = 0; other < i; other++) {
            if (devices[other] == devices[i])
                return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                                 "devices %u and %u of the context are the same", other, i);
        }
    }
    return ZEPI_SUCCESS;
}

static zepi_result_t context_create_ze(struct zepi_context *context)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_handle_t *handles = zepi_allocate(context->device_count, sizeof(*handles));
    if (!handles)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < context->device_count; i++)
        handles[i] = context->devices[i]->ze;
    ze_context_handle_t ze;
    const zepi_result_t result = ZEPI_ZE(zeContextCreateEx, context->platform->ze, &desc,
                                         context->device_count, handles, &ze);
    zepi_free(handles);
    if (result == ZEPI_SUCCESS)
        context->ze = ze;
    return result;
}

zepi_result_t zepi_context_create(ze_context_handle_t ze, uint32_t device_count,
                                  const zepi_device_t *devices, zepi_ownership_t ownership,
                                  zepi_context_t *out_context)
{
    zepi_result_t result = check_context_devices(device_count, devices);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_context *context = zepi_object_create(&zepi_context_type);
    if (!context)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    context->platform = devices[0]->platform;
    context->ownership = ownership;
    context->device_count = device_count;
    context->devices = zepi_duplicate(devices, device_count * sizeof(zepi_device_t));
    result = context->devices ? ZEPI_SUCCESS : zepi_fail_no_memory();
    if (result == ZEPI_SUCCESS)
        result = context_init_components(context);
    if (result == ZEPI_SUCCESS && !ze)
        result = context_create_ze(context);
    if (result != ZEPI_SUCCESS) {
        zepi_release(context);
        return result;
    }
    if (ze)
        context->ze = ze;
    *out_context = context;
    return ZEPI_SUCCESS;
}

uint32_t zepi_context_device_index(const struct zepi_context *context,
                                   const struct zepi_device *device)
{
    for (; device; device = device->parent) {
        for (uint32_t i = 0; i < context->device_count; i++) {
            if (context->devices[i] == device)
                return i;
        }
    }
    return ZEPI_NO_DEVICE;
}

zepi_result_t zepi_context_check_device(const struct zepi_context *context, zepi_device_t device)
{
    const zepi_result_t result = zepi_check_object(device, &zepi_device_type);
    if (result == ZEPI_SUCCESS && zepi_context_device_index(context, device) == ZEPI_NO_DEVICE)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "device '%s' is not one of the context's",
                         device->properties.name);
    return result;
}
