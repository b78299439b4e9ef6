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

// Loads native code into a zeroed ze_module, which keeps a reference to it.
static zepi_result_t ze_module_load_native(struct zepi_ze_module *ze_module,
                                           struct zepi_context *context,
                                           const struct zepi_device *device,
                                           struct zepi_blob *native, struct zepi_text *log)
{
    if (device->platform->quirks.is_on_cpu && is_elf(native->bytes, native->size_bytes))
        return zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                         "the image is code for a GPU, the device executes on the CPU");
    ze_module->native = zepi_blob_retain(native);
    ze_module->native_bytes = native->size_bytes;
    return zepi_ze_module_load(context, device, native->bytes, native->size_bytes, log,
                               &ze_module->ze);
}

zepi_result_t zepi_ze_module_load_again(struct zepi_ze_module *ze_module,
                                        const struct zepi_device_module *device_module,
                                        uint32_t index, struct zepi_text *log)
{
    struct zepi_blob *native = NULL;
    zepi_result_t result = zepi_ze_module_native_blob(&device_module->ze_modules[index], &native);
    if (result == ZEPI_SUCCESS && !native)
        result = zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver returns no native code, of which a "
                                                   "ze_module of its own is made");
    if (result == ZEPI_SUCCESS)
        result = ze_module_load_native(ze_module, device_module->context, device_module->device,
                                       native, log);
    zepi_blob_release(native);
    return result;
}

void zepi_ze_modules_finish(uint32_t count, struct zepi_ze_module *ze_modules)
{
    for (uint32_t i = 0; i < count && ze_modules; i++) {
        if (ze_modules[i].ze)
            zepi_ze.zeModuleDestroy(ze_modules[i].ze);
        zepi_blob_release(ze_modules[i].native);
    }
    zepi_free(ze_modules);
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

zepi_result_t zepi_ze_modules_link(uint32_t count, const struct zepi_ze_module *ze_modules,
                                   struct zepi_text *log)
{
    zepi_result_t result = ZEPI_SUCCESS;
    uint32_t end;
    ze_module_handle_t *group = zepi_allocate(count, sizeof(*group));
    if (!group)
        return zepi_fail_no_memory();
    for (uint32_t begin = 0; begin < count && result == ZEPI_SUCCESS; begin = end) {
        for (end = begin; end < count && ze_modules[end].group == ze_modules[begin].group; end++)
            group[end - begin] = ze_modules[end].ze;
        result = link_group(end - begin, group, log);
    }
    zepi_free(group);
    return result;
}

static zepi_result_t load_member(struct zepi_ze_module *made, struct zepi_context *context,
                                 const struct zepi_device *device,
                                 const struct zepi_container_member *member, struct zepi_text *log)
{
    struct zepi_blob *native;
    zepi_result_t result = zepi_blob_get(member->bytes, member->size_bytes, false, &native);
    if (result != ZEPI_SUCCESS)
        return result;
    made->group = member->group;
    result = ze_module_load_native(made, context, device, native, log);
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
    struct zepi_ze_module *made = zepi_allocate(count, sizeof(*made));
    zepi_result_t result = members && made ? ZEPI_SUCCESS : zepi_fail_no_memory();
    if (result == ZEPI_SUCCESS && is_container)
        zepi_container_unpack(image->bytes, members);
    else if (result == ZEPI_SUCCESS)
        members[0] = (struct zepi_container_member){image->bytes, image->size_bytes, 0};
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = load_member(&made[i], context, device, &members[i], log);
    if (result == ZEPI_SUCCESS && is_container && state == ZEPI_MODULE_EXECUTABLE)
        result = zepi_ze_modules_link(count, made, log);
    if (result == ZEPI_SUCCESS)
        result =
            zepi_device_module_create(context, device, count, made, 0, NULL, out_device_module);
    if (result == ZEPI_SUCCESS && is_container)
        (*out_device_module)->container = zepi_blob_retain(image);
    zepi_ze_modules_finish(count, made);
    zepi_free(members);
    return result;
}
