// SPDX-License-Identifier: MIT
#include "program/build/native_image.h"

#include "core/alloc.h"
#include "device/device.h"
#include "device/platform.h"
#include "program/build/ze_module.h"
#include "program/native/container.h"
#include "ze/ze.h"

static bool is_elf(const void *bytes, size_t size_bytes)
{
    return size_bytes >= 4 && memcmp(bytes, "\177ELF", 4) == 0;
}

zepi_result_t zepi_fresh_module_load(struct zepi_fresh_module *fresh, struct zepi_context *context,
                                     const struct zepi_device *device, struct zepi_blob *native,
                                     struct zepi_text *log)
{
    if (device->platform->quirks.is_on_cpu && is_elf(native->bytes, native->size_bytes))
        return zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                         "the image is code for a GPU, the device executes on the CPU");
    fresh->native = zepi_blob_retain(native);
    return zepi_ze_module_load(context, device, native->bytes, native->size_bytes, log, &fresh->ze);
}

void zepi_fresh_modules_finish(uint32_t count, struct zepi_fresh_module *fresh)
{
    for (uint32_t i = 0; i < count && fresh; i++) {
        if (fresh[i].ze)
            zepi_ze.zeModuleDestroy(fresh[i].ze);
        zepi_blob_release(fresh[i].native);
    }
    zepi_free(fresh);
}

// A module that is alone and complete needs no link, and drivers do not expect one.
static zepi_result_t link_group(uint32_t count, const ze_module_handle_t *modules,
                                struct zepi_text *log)
{
    bool has_imports = false;
    const zepi_result_t result =
        count > 1 ? ZEPI_SUCCESS : zepi_ze_module_has_imports(modules[0], &has_imports);
    if (result != ZEPI_SUCCESS || (count == 1 && !has_imports))
        return result;
    return zepi_ze_module_link(count, modules, log);
}

static zepi_result_t link_groups(uint32_t count, const struct zepi_fresh_module *fresh,
                                 const ze_module_handle_t *modules, struct zepi_text *log)
{
    zepi_result_t result = ZEPI_SUCCESS;
    uint32_t end;
    for (uint32_t begin = 0; begin < count && result == ZEPI_SUCCESS; begin = end) {
        end = begin;
        while (end < count && fresh[end].group == fresh[begin].group)
            end++;
        result = link_group(end - begin, modules + begin, log);
    }
    return result;
}

zepi_result_t zepi_device_module_create_fresh(struct zepi_context *context,
                                              struct zepi_device *device, uint32_t count,
                                              struct zepi_fresh_module *fresh,
                                              zepi_module_state_t state, uint32_t source_count,
                                              struct zepi_blob *const *sources,
                                              struct zepi_text *log,
                                              struct zepi_device_module **out_device_module)
{
    struct zepi_device_module *device_module;
    ze_module_handle_t *modules = zepi_allocate(count, sizeof(*modules));
    if (!modules)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < count; i++)
        modules[i] = fresh[i].ze;
    zepi_result_t result =
        state == ZEPI_MODULE_EXECUTABLE ? link_groups(count, fresh, modules, log) : ZEPI_SUCCESS;
    if (result == ZEPI_SUCCESS)
        result = zepi_device_module_create(context, device, count, modules, ZEPI_OWNERSHIP_TRANSFER,
                                           source_count, sources, &device_module);
    zepi_free(modules);
    if (result != ZEPI_SUCCESS)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        device_module->ze_modules[i].group = fresh[i].group;
        device_module->ze_modules[i].native = fresh[i].native;
        fresh[i] = (struct zepi_fresh_module){0};
    }
    *out_device_module = device_module;
    return ZEPI_SUCCESS;
}

static zepi_result_t load_member(struct zepi_fresh_module *fresh, struct zepi_context *context,
                                 const struct zepi_device *device,
                                 const struct zepi_container_member *member, struct zepi_text *log)
{
    struct zepi_blob *native;
    zepi_result_t result = zepi_blob_get(member->bytes, member->size_bytes, false, &native);
    if (result != ZEPI_SUCCESS)
        return result;
    fresh->group = member->group;
    result = zepi_fresh_module_load(fresh, context, device, native, log);
    zepi_blob_release(native);
    return result;
}

zepi_result_t zepi_native_image_load(struct zepi_context *context, struct zepi_device *device,
                                     struct zepi_blob *image, zepi_module_state_t state,
                                     struct zepi_text *log,
                                     struct zepi_device_module **out_device_module)
{
    const char *reason;
    const bool is_container = zepi_container_is(image->bytes, image->size_bytes);
    const uint32_t count =
        is_container ? zepi_container_check(image->bytes, image->size_bytes, &reason) : 1;
    if (count == 0)
        return zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                         "the image is a container of native code, but %s", reason);
    struct zepi_container_member *members = zepi_allocate(count, sizeof(*members));
    struct zepi_fresh_module *fresh = zepi_allocate(count, sizeof(*fresh));
    zepi_result_t result = members && fresh ? ZEPI_SUCCESS : zepi_fail_no_memory();
    if (result == ZEPI_SUCCESS && is_container)
        zepi_container_unpack(image->bytes, members);
    else if (result == ZEPI_SUCCESS)
        members[0] = (struct zepi_container_member){image->bytes, image->size_bytes, 0};
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = load_member(&fresh[i], context, device, &members[i], log);
    if (result == ZEPI_SUCCESS)
        result = zepi_device_module_create_fresh(context, device, count, fresh,
                                                 is_container ? state : ZEPI_MODULE_OBJECT, 0, NULL,
                                                 log, out_device_module);
    if (result == ZEPI_SUCCESS && is_container)
        (*out_device_module)->container = zepi_blob_retain(image);
    zepi_fresh_modules_finish(count, fresh);
    zepi_free(members);
    return result;
}
