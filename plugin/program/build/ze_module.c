// SPDX-License-Identifier: MIT
#include "program/build/ze_module.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "ze/ze.h"

#include <stdio.h>
#include <stdlib.h>

// Reads a build log into `log` and destroys it. NULL is fine.
static void take_log(ze_module_build_log_handle_t ze_log, struct zepi_text *log)
{
    size_t size = 0;
    if (!ze_log)
        return;
    if (zepi_ze.zeModuleBuildLogGetString(ze_log, &size, NULL) == ZE_RESULT_SUCCESS && size > 1) {
        char *text = zepi_allocate(size + 1, 1);
        if (text && zepi_ze.zeModuleBuildLogGetString(ze_log, &size, text) == ZE_RESULT_SUCCESS)
            zepi_text_append(log, text, strnlen(text, size));
        zepi_free(text);
    }
    zepi_ze.zeModuleBuildLogDestroy(ze_log);
}

// The first line of a log, for a sentence.
static const char *first_log_line(const struct zepi_text *log, char *line, size_t line_size)
{
    // Some logs begin with an empty line.
    const char *first = log->bytes ? log->bytes + strspn(log->bytes, "\r\n") : "";
    const size_t length = strcspn(first, "\r\n");
    if (length == 0)
        return "the driver's compiler says nothing";
    snprintf(line, line_size, "%.*s", (int)(length < line_size ? length : line_size - 1), first);
    return line;
}

// The result of a call that compiles or links, with the first line of its log in the sentence.
static zepi_result_t check_built(ze_result_t ze, const char *call, const struct zepi_text *log)
{
    char line[512];
    const zepi_result_t result = zepi_check_ze(ze, call);
    if (result == ZEPI_ERROR_COMPILE_FAILURE || result == ZEPI_ERROR_LINK_FAILURE)
        zepi_error_append(": %s", first_log_line(log, line, sizeof(line)));
    return result;
}

zepi_result_t zepi_ze_module_create(struct zepi_context *context, const struct zepi_device *device,
                                    const ze_module_desc_t *desc, struct zepi_text *log,
                                    ze_module_handle_t *out_module)
{
    ze_module_handle_t module = NULL;
    ze_module_build_log_handle_t ze_log = NULL;
    unsigned attempt = 0;
    ze_result_t ze;
    do {
        if (ze_log)
            zepi_ze.zeModuleBuildLogDestroy(ze_log);
        ze_log = NULL;
        ze = zepi_ze.zeModuleCreate(context->ze, device->ze, desc, &module, &ze_log);
    } while (zepi_context_reclaim(context, ze, &attempt));
    take_log(ze_log, log);
    if (ze == ZE_RESULT_SUCCESS)
        *out_module = module;
    return check_built(ze, "zeModuleCreate", log);
}

ze_module_desc_t zepi_ze_module_describe(const ze_module_program_exp_desc_t *sources,
                                         bool is_program)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV};
    if (is_program) {
        desc.pNext = sources;
    } else {
        desc.inputSize = sources->inputSizes[0];
        desc.pInputModule = sources->pInputModules[0];
        desc.pBuildFlags = sources->pBuildFlags[0];
        desc.pConstants = sources->pConstants ? sources->pConstants[0] : NULL;
    }
    return desc;
}

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left;
    const char *const *b = right;
    return strcmp(*a, *b);
}

void zepi_sort_kernel_names(const char **names, uint32_t count)
{
    qsort(names, count, sizeof(*names), compare_names);
}

const char *zepi_find_kernel_name(const char *const *names, uint32_t count, const char *name)
{
    const char *const *found =
        count > 0 ? bsearch(&name, names, count, sizeof(*names), compare_names) : NULL;
    return found ? *found : NULL;
}

bool zepi_ze_module_inspect(const struct zepi_context *context, ze_module_handle_t module,
                            ze_linkage_inspection_ext_flags_t flag, struct zepi_text *out_text)
{
    ze_linkage_inspection_ext_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_LINKAGE_INSPECTION_EXT_DESC,
                                             .flags = flag};
    ze_module_build_log_handle_t ze_log = NULL;
    if (!context->platform->optional.has_linkage_inspection ||
        zepi_ze.zeModuleInspectLinkageExt(&desc, 1, &module, &ze_log) != ZE_RESULT_SUCCESS)
        return false;
    take_log(ze_log, out_text);
    return true;
}

zepi_result_t zepi_ze_module_has_imports(ze_module_handle_t module, bool *out_has)
{
    ze_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
    const zepi_result_t result = ZEPI_ZE(zeModuleGetProperties, module, &properties);
    if (result == ZEPI_SUCCESS)
        *out_has = properties.flags & ZE_MODULE_PROPERTY_FLAG_IMPORTS;
    return result;
}

zepi_result_t zepi_ze_module_link(uint32_t count, const ze_module_handle_t *modules,
                                  struct zepi_text *log)
{
    ze_module_build_log_handle_t ze_log = NULL;
    const ze_result_t ze =
        zepi_ze.zeModuleDynamicLink(count, (ze_module_handle_t *)modules, &ze_log);
    take_log(ze_log, log);
    return check_built(ze, "zeModuleDynamicLink", log);
}

zepi_result_t zepi_ze_module_load(struct zepi_context *context, const struct zepi_device *device,
                                  const void *bytes, size_t size_bytes, struct zepi_text *log,
                                  ze_module_handle_t *out_module)
{
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_NATIVE,
        .inputSize = size_bytes,
        .pInputModule = bytes,
    };
    return zepi_ze_module_create(context, device, &desc, log, out_module);
}

zepi_result_t zepi_ze_module_get_native(ze_module_handle_t module, void **out_bytes,
                                        size_t *out_size_bytes)
{
    size_t size = 0;
    zepi_result_t result = ZEPI_ZE(zeModuleGetNativeBinary, module, &size, NULL);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_bytes = NULL;
    *out_size_bytes = 0;
    if (size == 0)
        return ZEPI_SUCCESS;
    uint8_t *bytes = zepi_allocate(size, 1);
    if (!bytes)
        return zepi_fail_no_memory();
    result = ZEPI_ZE(zeModuleGetNativeBinary, module, &size, bytes);
    if (result != ZEPI_SUCCESS) {
        zepi_free(bytes);
        return result;
    }
    *out_bytes = bytes;
    *out_size_bytes = size;
    return ZEPI_SUCCESS;
}

// Copies names into one block of memory: the pointers, then the characters.
static const char **copy_names(const char *const *names, uint32_t count)
{
    size_t size = count * sizeof(char *);
    for (uint32_t i = 0; i < count; i++)
        size += strlen(names[i]) + 1;
    const char **copies = zepi_allocate(size, 1);
    if (!copies)
        return NULL;
    char *at = (char *)(copies + count);
    for (uint32_t i = 0; i < count; i++) {
        const size_t length = strlen(names[i]) + 1;
        copies[i] = memcpy(at, names[i], length);
        at += length;
    }
    return copies;
}

zepi_result_t zepi_ze_module_get_kernel_names(ze_module_handle_t module, const char ***out_names,
                                              uint32_t *out_count)
{
    uint32_t count = 0;
    *out_names = NULL;
    *out_count = 0;
    zepi_result_t result = ZEPI_ZE(zeModuleGetKernelNames, module, &count, NULL);
    if (result != ZEPI_SUCCESS || count == 0)
        return result;
    const char **names = zepi_allocate(count, sizeof(char *));
    if (!names)
        return zepi_fail_no_memory();
    result = ZEPI_ZE(zeModuleGetKernelNames, module, &count, names);
    if (result == ZEPI_SUCCESS) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (names[i] && strcmp(names[i], ZEPI_QUIRK_HIDDEN_KERNEL) != 0)
                names[kept++] = names[i];
        }
        zepi_sort_kernel_names(names, kept);
        *out_names = copy_names(names, kept);
        *out_count = kept;
        if (!*out_names)
            result = zepi_fail_no_memory();
    }
    zepi_free(names);
    return result;
}
