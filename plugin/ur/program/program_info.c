// SPDX-License-Identifier: MIT
#include "core/alloc.h"
#include "program/built_image.h"
#include "program/native_binary.h"
#include "ur/info.h"
#include "ur/program/program.h"
#include "ze/ze.h"

#include <stdio.h>

static bool native_is_made_for(const struct zepi_module *input, const struct zepi_device *device)
{
    for (uint32_t i = 0; i < input->image_count; i++) {
        for (uint32_t at = 0; at < input->images[i]->device_count; at++) {
            if (input->images[i]->devices[at] == device)
                return true;
        }
    }
    return false;
}

// The context's devices, or those of them that there is native code for. Owned list of borrowed
// devices.
static ur_result_t program_get_devices(struct zepi_ur_program *program,
                                       const struct zepi_module *module,
                                       struct zepi_device ***out_devices, uint32_t *out_count)
{
    const struct zepi_context *context = program->context;
    struct zepi_device **devices =
        zepi_allocate(context->device_count, sizeof(struct zepi_device *));
    uint32_t count = 0;
    if (!devices)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < context->device_count; i++) {
        const bool is_one = program->is_il ? true
                            : program->input
                                ? native_is_made_for(program->input, context->devices[i])
                            : module != NULL ? zepi_module_has_code(module, i)
                                             : true;
        if (is_one)
            devices[count++] = context->devices[i];
    }
    *out_devices = devices;
    *out_count = count;
    return UR_RESULT_SUCCESS;
}

// Native code of one device at `out_bytes`; NULL: only its size is asked for. A program that was
// not built for this device has none, unless it was made of native code.
static ur_result_t program_get_binary(struct zepi_module *module, struct zepi_device *device,
                                      size_t *out_size, void *out_bytes)
{
    *out_size = out_bytes ? SIZE_MAX : 0; // the host has room for it
    if (!module)
        return UR_RESULT_SUCCESS;
    if (module->state != ZEPI_MODULE_INPUT) {
        const uint32_t index = zepi_context_device_index(module->context, device);
        return zepi_module_has_code(module, index) ? zepi_ur_result(zepi_module_get_native_binary(
                                                         module, index, out_size, out_bytes))
                                                   : UR_RESULT_SUCCESS;
    }
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct zepi_device_image *image = module->images[i];
        if (image->format != ZEPI_DEVICE_IMAGE_NATIVE || image->device_count == 0 ||
            image->devices[0] != device)
            continue;
        zepi_device_image_info_t info = {.size = sizeof(info)};
        const ur_result_t result =
            zepi_ur_result(zepi_device_image_describe(module->images[i], &info));
        if (result != UR_RESULT_SUCCESS)
            return result;
        if (out_bytes)
            memcpy(out_bytes, info.bytes, info.size_bytes);
        *out_size = info.size_bytes;
        return UR_RESULT_SUCCESS;
    }
    return UR_RESULT_SUCCESS;
}

static ur_result_t get_info_sizes(struct zepi_module *module, uint32_t count,
                                  struct zepi_device *const *devices,
                                  const struct zepi_ur_info *info)
{
    ur_result_t result = UR_RESULT_SUCCESS;
    size_t *sizes = zepi_allocate(count, sizeof(*sizes));
    if (!sizes)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < count && result == UR_RESULT_SUCCESS; i++)
        result = program_get_binary(module, devices[i], &sizes[i], NULL);
    result = result ? result : zepi_ur_info_return(info, sizes, count * sizeof(*sizes));
    zepi_free(sizes);
    return result;
}

// The value is a list of addresses, each with room for one device's code; NULL: this code is left
// out.
static ur_result_t get_info_binaries(struct zepi_module *module, uint32_t count,
                                     struct zepi_device *const *devices,
                                     const struct zepi_ur_info *info)
{
    ur_result_t result = UR_RESULT_SUCCESS;
    if (info->value && info->size < count * sizeof(void *))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                              "room for %zu bytes of addresses, expected %zu", info->size,
                              count * sizeof(void *));
    for (uint32_t i = 0; i < count && info->value && result == UR_RESULT_SUCCESS; i++) {
        void *out = ((void **)info->value)[i];
        size_t size;
        result = out ? program_get_binary(module, devices[i], &size, out) : UR_RESULT_SUCCESS;
    }
    if (result == UR_RESULT_SUCCESS && info->out_size)
        *info->out_size = count * sizeof(void *);
    return result;
}

static ur_result_t devices_info(struct zepi_module *module, struct zepi_device **devices,
                                uint32_t count, const struct zepi_ur_info *info)
{
    switch ((int)info->query) {
    case UR_PROGRAM_INFO_NUM_DEVICES:
        return zepi_ur_info_return_u32(info, count);
    case UR_PROGRAM_INFO_DEVICES:
        return zepi_ur_info_return(info, devices, count * sizeof(devices[0]));
    case UR_PROGRAM_INFO_BINARY_SIZES:
        return get_info_sizes(module, count, devices, info);
    default: // UR_PROGRAM_INFO_BINARIES
        return get_info_binaries(module, count, devices, info);
    }
}

static ur_result_t get_of_devices(void *object, const struct zepi_ur_info *info)
{
    struct zepi_device **devices = NULL;
    uint32_t count = 0;
    struct zepi_module *module = zepi_ur_program_module(object);
    ur_result_t result = program_get_devices(object, module, &devices, &count);
    result = result ? result : devices_info(module, devices, count, info);
    zepi_free(devices);
    zepi_release(module);
    return result;
}

static ur_result_t get_il(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_ur_program *program = object;
    zepi_device_image_info_t image = {.size = sizeof(image)};
    if (!program->is_il)
        return zepi_ur_info_return(info, NULL, 0);
    const ur_result_t result =
        zepi_ur_result(zepi_device_image_describe(program->input->images[0], &image));
    return result ? result : zepi_ur_info_return(info, image.bytes, image.size_bytes);
}

static ur_result_t kernel_names(const struct zepi_module *module, const struct zepi_ur_info *info)
{
    struct zepi_kernel_pass pass = {.module = module};
    size_t count = 0;
    size_t size = 1;
    const char *name;
    if (!module || module->state != ZEPI_MODULE_EXECUTABLE)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE,
                              "the program was not built: it has no kernels yet");
    for (; (name = zepi_module_next_kernel(&pass)); count++)
        size += strlen(name) + 1;
    if (info->query == UR_PROGRAM_INFO_NUM_KERNELS)
        return zepi_ur_info_return(info, &count, sizeof(count));
    char *text = zepi_allocate(size, 1);
    if (!text)
        return zepi_ur_result(zepi_fail_no_memory());
    char *end = text;
    pass = (struct zepi_kernel_pass){.module = module};
    while ((name = zepi_module_next_kernel(&pass)))
        end += sprintf(end, "%s%s", end > text ? ";" : "", name);
    const ur_result_t result = zepi_ur_info_return_string(info, text);
    zepi_free(text);
    return result;
}

static ur_result_t get_of_kernels(void *object, const struct zepi_ur_info *info)
{
    struct zepi_module *module = zepi_ur_program_module(object);
    const ur_result_t result = kernel_names(module, info);
    zepi_release(module);
    return result;
}

static const struct zepi_ur_query program_queries[] = {
    {ZEPI_UR_REFERENCES(PROGRAM_INFO_REFERENCE_COUNT)},
    {ZEPI_UR_MEMBER(PROGRAM_INFO_CONTEXT, BYTES, zepi_ur_program, context)},
    {ZEPI_UR_VALUE(PROGRAM_INFO_IL, get_il)},
    {ZEPI_UR_VALUE(PROGRAM_INFO_NUM_DEVICES, get_of_devices)},
    {ZEPI_UR_VALUE(PROGRAM_INFO_DEVICES, get_of_devices)},
    {ZEPI_UR_VALUE(PROGRAM_INFO_BINARY_SIZES, get_of_devices)},
    {ZEPI_UR_VALUE(PROGRAM_INFO_BINARIES, get_of_devices)},
    {ZEPI_UR_VALUE(PROGRAM_INFO_NUM_KERNELS, get_of_kernels)},
    {ZEPI_UR_VALUE(PROGRAM_INFO_KERNEL_NAMES, get_of_kernels)},
};

ZEPI_UR_DEFINE_GET_INFO(Program, , program, zepi_ur_check_program, program_queries,
                        PROGRAM_INFO_KERNEL_NAMES)

static ur_program_binary_type_t binary_type_of_state(const struct zepi_ur_program *program)
{
    if (!program->built)
        return program->input && !program->is_il ? UR_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
                                                 : UR_PROGRAM_BINARY_TYPE_NONE;
    return program->built->state == ZEPI_MODULE_EXECUTABLE ? UR_PROGRAM_BINARY_TYPE_EXECUTABLE
                                                           : UR_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
}

static ur_program_build_status_t build_status_of(const struct zepi_ur_program *program)
{
    if (program->built)
        return UR_PROGRAM_BUILD_STATUS_SUCCESS;
    return program->has_failed ? UR_PROGRAM_BUILD_STATUS_ERROR : UR_PROGRAM_BUILD_STATUS_NONE;
}

// A program and a device of its context.
struct build_query {
    struct zepi_ur_program *program;
    uint32_t device_index;
};

static const char *program_get_log(const struct zepi_ur_program *program, uint32_t device_index)
{
    const char *log = NULL;
    if (program->failure_logs)
        log = program->failure_logs[device_index];
    else if (program->built)
        log = zepi_module_build_log(program->built, device_index);
    return log ? log : "";
}

static ur_result_t get_build_info(void *object, const struct zepi_ur_info *info)
{
    const struct build_query *query = object;
    struct zepi_ur_program *program = query->program;
    const char *text = NULL;
    zepi_mutex_lock(&program->mutex);
    if (info->query == UR_PROGRAM_BUILD_INFO_OPTIONS)
        text = program->options ? program->options : "";
    else if (info->query == UR_PROGRAM_BUILD_INFO_LOG)
        text = program_get_log(program, query->device_index);
    const uint32_t number = info->query == UR_PROGRAM_BUILD_INFO_STATUS
                                ? (uint32_t)build_status_of(program)
                                : (uint32_t)binary_type_of_state(program);
    const ur_result_t result =
        text ? zepi_ur_info_return_string(info, text) : zepi_ur_info_return_u32(info, number);
    zepi_mutex_unlock(&program->mutex);
    return result;
}

static const struct zepi_ur_query build_queries[] = {
    {ZEPI_UR_VALUE(PROGRAM_BUILD_INFO_STATUS, get_build_info)},
    {ZEPI_UR_VALUE(PROGRAM_BUILD_INFO_OPTIONS, get_build_info)},
    {ZEPI_UR_VALUE(PROGRAM_BUILD_INFO_LOG, get_build_info)},
    {ZEPI_UR_VALUE(PROGRAM_BUILD_INFO_BINARY_TYPE, get_build_info)},
};

ur_result_t zepi_urProgramGetBuildInfo(ur_program_handle_t hProgram, ur_device_handle_t hDevice,
                                       ur_program_build_info_t query, size_t value_size,
                                       void *value, size_t *out_size)
{
    struct build_query of = {.program = zepi_ur_program(hProgram)};
    ur_result_t result = zepi_ur_check_program(hProgram);
    result =
        result ? result : zepi_ur_check_device_in(of.program->context, hDevice, &of.device_index);
    return zepi_ur_get_info(result, &of, ZEPI_UR_ROWS(build_queries), query,
                            UR_PROGRAM_BUILD_INFO_BINARY_TYPE, value_size, value, out_size);
}
