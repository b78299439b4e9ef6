// SPDX-License-Identifier: MIT
// Programs: how they are made, and the constants that are set on them.
#include "ur/program/program.h"

#include "core/alloc.h"
#include "program/module_build.h"
#include "program/module_create.h"
#include "program/native_handle.h"
#include "program/spec_constants.h"

static void program_destroy(void *object)
{
    struct zepi_ur_program *program = object;
    zepi_release(program->input);
    zepi_release(program->built);
    zepi_release(program->loaded);
    zepi_free(program->options);
    zepi_ur_program_free_logs(program->context, program->failure_logs);
    zepi_release(program->context);
}

ZEPI_DEFINE_TYPE(ur_program, program_destroy);

struct zepi_ur_program *zepi_ur_program_make(struct zepi_context *context)
{
    struct zepi_ur_program *program = zepi_object_create(&zepi_ur_program_type);
    if (!program)
        return NULL;
    program->context = zepi_retain(context);
    return program;
}

struct zepi_module *zepi_ur_program_module(struct zepi_ur_program *program)
{
    zepi_mutex_lock(&program->mutex);
    struct zepi_module *module = program->built ? program->built : program->input;
    if (module)
        zepi_retain(module);
    zepi_mutex_unlock(&program->mutex);
    return module;
}

ur_result_t zepi_ur_program_executable(struct zepi_ur_program *program, const char *what,
                                       struct zepi_module **out_module)
{
    struct zepi_module *module = zepi_ur_program_module(program);
    if (!module || module->state != ZEPI_MODULE_EXECUTABLE) {
        zepi_release(module);
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE,
                              "the program was not built: it has no %s yet", what);
    }
    *out_module = module;
    return UR_RESULT_SUCCESS;
}

static ur_result_t check_program_properties(const ur_program_properties_t *properties)
{
    if (properties && properties->count > 0 && !properties->pMetadatas)
        return zepi_ur_refuse_null("pProperties->pMetadatas");
    if (properties && properties->count == 0 && properties->pMetadatas)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "metadata with a count of 0");
    return UR_RESULT_SUCCESS;
}

// A program of this input, a reference that it consumes, or of the failure to make it.
static ur_result_t program_wrap_input(struct zepi_context *context, zepi_result_t result,
                                      struct zepi_module *input,
                                      struct zepi_ur_program **out_program)
{
    if (result != ZEPI_SUCCESS) {
        const ur_result_t ur = zepi_ur_fail(result);
        return ur == UR_RESULT_ERROR_OUT_OF_HOST_MEMORY ? ur : UR_RESULT_ERROR_INVALID_BINARY;
    }
    struct zepi_ur_program *program = zepi_ur_program_make(context);
    if (!program) {
        zepi_release(input);
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    }
    program->input = input;
    *out_program = program;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urProgramCreateWithIL(ur_context_handle_t hContext, const void *pIL, size_t length,
                                       const ur_program_properties_t *pProperties,
                                       ur_program_handle_t *phProgram)
{
    struct zepi_module *input = NULL;
    struct zepi_ur_program *program = NULL;
    ur_result_t result;
    if ((result = zepi_ur_check_context_pointer(hContext, pIL, "pIL")) ||
        (result = zepi_ur_check_pointer(phProgram, "phProgram")) ||
        (result = check_program_properties(pProperties)) ||
        (length == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "SPIR-V of 0 bytes"))))
        return result;
    struct zepi_context *context = zepi_ur_context(hContext);
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_SPIRV,
                                            .state = ZEPI_MODULE_INPUT,
                                            .bytes = pIL,
                                            .size_bytes = length};
    const zepi_result_t created = zepi_module_create(context, ZEPI_MODULE_INPUT, 1, &image, &input);
    result = program_wrap_input(context, created, input, &program);
    if (result != UR_RESULT_SUCCESS)
        return result;
    program->is_il = true;
    *phProgram = (ur_program_handle_t)program;
    return UR_RESULT_SUCCESS;
}

// One image a device; those that get the same bytes share one.
static ur_result_t describe_binaries(struct zepi_context *context, uint32_t count,
                                     const ur_device_handle_t *devices, const size_t *lengths,
                                     const uint8_t *const *binaries,
                                     zepi_device_image_desc_t *images)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index;
        ur_result_t result = zepi_ur_check_device_in(context, devices[i], &index);
        if (result == UR_RESULT_SUCCESS && !binaries[i])
            result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "binary %u is NULL", i);
        if (result == UR_RESULT_SUCCESS && lengths[i] == 0)
            result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "binary %u has 0 bytes", i);
        if (result != UR_RESULT_SUCCESS)
            return result;
        images[i] = (zepi_device_image_desc_t){.size = sizeof(images[i]),
                                               .format = ZEPI_DEVICE_IMAGE_NATIVE,
                                               .state = ZEPI_MODULE_INPUT,
                                               .bytes = binaries[i],
                                               .size_bytes = lengths[i],
                                               .devices = &context->devices[index],
                                               .device_count = 1};
    }
    return UR_RESULT_SUCCESS;
}

// Only the driver can read its native code: it loads the code. Code with imports may fail to load
// alone and still be good.
static ur_result_t load_binaries(struct zepi_ur_program *program, uint32_t count,
                                 const ur_device_handle_t *devices)
{
    const zepi_build_desc_t desc = {
        .size = sizeof(desc), .devices = (const zepi_device_t *)devices, .device_count = count};
    const zepi_result_t result =
        zepi_module_build(program->input, &desc, ZEPI_VARIABLES_OWN, &program->loaded);
    switch (result) {
    case ZEPI_ERROR_COMPILE_FAILURE:
        return (zepi_ur_fail(result), UR_RESULT_ERROR_INVALID_BINARY);
    case ZEPI_ERROR_OUT_OF_HOST_MEMORY:
    case ZEPI_ERROR_OUT_OF_DEVICE_MEMORY:
    case ZEPI_ERROR_DEVICE_LOST:
        return zepi_ur_fail(result);
    default:
        return UR_RESULT_SUCCESS;
    }
}

ur_result_t zepi_urProgramCreateWithBinary(ur_context_handle_t hContext, uint32_t numDevices,
                                           ur_device_handle_t *phDevices, size_t *pLengths,
                                           const uint8_t **ppBinaries,
                                           const ur_program_properties_t *pProperties,
                                           ur_program_handle_t *phProgram)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_pointer(hContext, phDevices, "phDevices")) ||
        (result = zepi_ur_check_pointer(pLengths, "pLengths")) ||
        (result = zepi_ur_check_pointer(ppBinaries, "ppBinaries")) ||
        (result = zepi_ur_check_pointer(phProgram, "phProgram")) ||
        (result = check_program_properties(pProperties)) ||
        (numDevices == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "binaries for no device"))))
        return result;
    zepi_device_image_desc_t *images = zepi_allocate(numDevices, sizeof(*images));
    if (!images)
        return zepi_ur_result(zepi_fail_no_memory());
    struct zepi_context *context = zepi_ur_context(hContext);
    struct zepi_module *input = NULL;
    struct zepi_ur_program *program = NULL;
    result = describe_binaries(context, numDevices, phDevices, pLengths, ppBinaries, images);
    if (result == UR_RESULT_SUCCESS) {
        const zepi_result_t created =
            zepi_module_create(context, ZEPI_MODULE_INPUT, numDevices, images, &input);
        result = program_wrap_input(context, created, input, &program);
    }
    zepi_free(images);
    result = result ? result : load_binaries(program, numDevices, phDevices);
    if (result == UR_RESULT_SUCCESS)
        *phProgram = (ur_program_handle_t)program;
    else
        zepi_release(program);
    return result;
}

ZEPI_UR_DEFINE_REFERENCES(Program, , ur_program_handle_t, zepi_ur_check_program)

static_assert(sizeof(ur_specialization_constant_info_t) == sizeof(zepi_spec_value_t) &&
                  offsetof(ur_specialization_constant_info_t, size) ==
                      offsetof(zepi_spec_value_t, size_bytes) &&
                  offsetof(ur_specialization_constant_info_t, pValue) ==
                      offsetof(zepi_spec_value_t, value),
              "a constant is a value of the core");

ur_result_t
zepi_urProgramSetSpecializationConstants(ur_program_handle_t hProgram, uint32_t count,
                                         const ur_specialization_constant_info_t *pSpecConstants)
{
    ur_result_t result;
    if ((result = zepi_ur_check_program(hProgram)) ||
        (result = zepi_ur_check_pointer(pSpecConstants, "pSpecConstants")) ||
        (count == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "no constant to set"))) ||
        (!zepi_ur_program(hProgram)->is_il &&
         (result =
              zepi_ur_refuse(UR_RESULT_ERROR_INVALID_PROGRAM,
                             "the program was not made of SPIR-V: it has no constants to set"))))
        return result;
    return zepi_ur_result(zepi_spec_constant_set_many(zepi_ur_program(hProgram)->input, count,
                                                      (const zepi_spec_value_t *)pSpecConstants));
}

ur_result_t zepi_urProgramGetNativeHandle(ur_program_handle_t hProgram,
                                          ur_native_handle_t *phNativeProgram)
{
    ur_result_t result;
    if ((result = zepi_ur_check_program(hProgram)) ||
        (result = zepi_ur_check_pointer(phNativeProgram, "phNativeProgram")))
        return result;
    struct zepi_ur_program *program = zepi_ur_program(hProgram);
    struct zepi_module *module = zepi_ur_program_module(program);
    if (!module || module->state == ZEPI_MODULE_INPUT) {
        zepi_release(module);
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                              "the program was not built: there is no ze_module yet");
    }
    // For the first device that it was built for.
    uint32_t index = 0;
    while (index + 1 < program->context->device_count && !zepi_module_has_code(module, index))
        index++;
    result = zepi_ur_result(zepi_module_get_native(module, index, (void **)phNativeProgram));
    zepi_release(module);
    return result;
}

ur_result_t zepi_urProgramCreateWithNativeHandle(ur_native_handle_t hNativeProgram,
                                                 ur_context_handle_t hContext,
                                                 const ur_program_native_properties_t *pProperties,
                                                 ur_program_handle_t *phProgram)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_pointer(hContext, phProgram, "phProgram")) ||
        (!hNativeProgram &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "the native handle is NULL"))))
        return result;
    struct zepi_context *context = zepi_ur_context(hContext);
    struct zepi_ur_program *program = zepi_ur_program_make(context);
    if (!program)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    const zepi_ownership_t ownership = ZEPI_UR_OWNERSHIP(pProperties);
    // Which device it is for is not said; an object is one that imports something.
    zepi_result_t created =
        zepi_module_create_from_native(context, context->devices[0], (void *)hNativeProgram,
                                       ZEPI_MODULE_EXECUTABLE, ownership, &program->built);
    if (created != ZEPI_SUCCESS && created != ZEPI_ERROR_OUT_OF_HOST_MEMORY)
        created =
            zepi_module_create_from_native(context, context->devices[0], (void *)hNativeProgram,
                                           ZEPI_MODULE_OBJECT, ownership, &program->built);
    if (created != ZEPI_SUCCESS) {
        result = zepi_ur_fail(created);
        zepi_release(program);
        return result;
    }
    *phProgram = (ur_program_handle_t)program;
    return UR_RESULT_SUCCESS;
}
