// SPDX-License-Identifier: MIT
#include "module.h"

#include "chain.h"
#include "entry.h"
#include "module_build.h"
#include "native_binary.h"

#include <stdlib.h>
#include <string.h>

_Atomic uint64_t cpu_compiles[CPU_COMPILE_COUNT];

ze_result_t cpu_module_take_program(struct cpu_module *module, struct cpu_program **out_program)
{
    pthread_mutex_lock(&module->mutex);
    struct cpu_program *program = module->program;
    if (program != NULL)
        cpu_program_own(program);
    pthread_mutex_unlock(&module->mutex);
    *out_program = program;
    return program != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED;
}

static void finish(struct cpu_module *module)
{
    for (uint32_t i = 0; i < module->table_count; i++) {
        zepi_spirv_finish(&module->tables[i]);
        free((void *)module->inputs[i].bytes);
    }
    free(module->tables);
    free(module->inputs);
    cpu_program_disown(module->program);
    if (module->object_program != NULL)
        cpu_opencl()->api->clReleaseProgram(module->object_program);
    pthread_mutex_destroy(&module->mutex);
    cpu_object_destroy(module);
}

static ze_result_t build_program_extension(struct cpu_module *module,
                                           const ze_module_program_exp_desc_t *desc,
                                           struct cpu_log *log)
{
    if (desc->count == 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (desc->inputSizes == NULL || desc->pInputModules == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct cpu_input *inputs = calloc(desc->count, sizeof(inputs[0]));
    if (inputs == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < desc->count; i++) {
        inputs[i].bytes = desc->pInputModules[i];
        inputs[i].size_bytes = desc->inputSizes[i];
        inputs[i].flags = desc->pBuildFlags != NULL ? desc->pBuildFlags[i] : NULL;
        inputs[i].constants = desc->pConstants != NULL ? desc->pConstants[i] : NULL;
    }
    ze_result_t result = cpu_module_build(module, inputs, desc->count, log);
    free(inputs);
    return result;
}

static ze_result_t build(struct cpu_module *module, const ze_module_desc_t *desc,
                         struct cpu_log *log)
{
    const ze_module_program_exp_desc_t *program =
        cpu_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC);
    if (program != NULL && desc->format == ZE_MODULE_FORMAT_IL_SPIRV)
        return build_program_extension(module, program, log);
    if (desc->pInputModule == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->inputSize == 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    const struct cpu_input input = {
        .bytes = desc->pInputModule,
        .size_bytes = desc->inputSize,
        .flags = desc->pBuildFlags,
        .constants = desc->pConstants,
    };
    return desc->format == ZE_MODULE_FORMAT_IL_SPIRV ? cpu_module_build(module, &input, 1, log)
                                                     : cpu_module_load(module, &input, log);
}

ze_result_t ZE_APICALL cpu_zeModuleCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                          const ze_module_desc_t *desc,
                                          ze_module_handle_t *phModule,
                                          ze_module_build_log_handle_t *phBuildLog)
{
    if ((uint32_t)desc->format > ZE_MODULE_FORMAT_NATIVE)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    struct cpu_module *module = cpu_object_create(CPU_MODULE, sizeof(*module));
    if (module == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_init(&module->mutex, NULL);
    module->context = hContext;
    module->device = hDevice;
    struct cpu_log log = {0};
    ze_result_t result = build(module, desc, &log);
    const ze_result_t logged = cpu_log_give(&log, phBuildLog);
    if (logged != ZE_RESULT_SUCCESS)
        result = logged;
    if (result != ZE_RESULT_SUCCESS) {
        finish(module);
        return result;
    }
    *phModule = (ze_module_handle_t)module;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeModuleDestroy(ze_module_handle_t hModule)
{
    finish((struct cpu_module *)hModule);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeModuleGetNativeBinary(ze_module_handle_t hModule, size_t *pSize,
                                                   uint8_t *pModuleNativeBinary)
{
    const struct cpu_module *module = (const struct cpu_module *)hModule;
    size_t size_bytes;
    uint8_t *bytes = cpu_native_pack(module, &size_bytes);
    if (bytes == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (pModuleNativeBinary != NULL) {
        if (*pSize < size_bytes) {
            free(bytes);
            return ZE_RESULT_ERROR_INVALID_SIZE;
        }
        memcpy(pModuleNativeBinary, bytes, size_bytes);
    }
    *pSize = size_bytes;
    free(bytes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeModuleGetKernelNames(ze_module_handle_t hModule, uint32_t *pCount,
                                                  const char **pNames)
{
    const struct cpu_module *module = (const struct cpu_module *)hModule;
    uint32_t available = 0;
    for (uint32_t i = 0; i < module->table_count; i++)
        for (uint32_t j = 0; j < module->tables[i].kernel_count; j++, available++)
            if (pNames != NULL && available < *pCount)
                pNames[available] = module->tables[i].kernels[j].name;
    if (pNames == NULL || *pCount == 0 || *pCount > available)
        *pCount = available;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeModuleGetProperties(ze_module_handle_t hModule,
                                                 ze_module_properties_t *pModuleProperties)
{
    struct cpu_module *module = (struct cpu_module *)hModule;
    // The driver may resolve imports by itself. So the symbols that stay unresolved decide, as in a
    // link.
    pthread_mutex_lock(&module->mutex);
    pModuleProperties->flags = module->program == NULL ? ZE_MODULE_PROPERTY_FLAG_IMPORTS : 0;
    pthread_mutex_unlock(&module->mutex);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeModuleGetGlobalPointer(ze_module_handle_t hModule,
                                                    const char *pGlobalName, size_t *pSize,
                                                    void **pptr)
{
    const struct cpu_opencl *cl = cpu_opencl();
    if (cl->get_global_variable == NULL)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    struct cpu_program *program;
    ze_result_t result = cpu_module_take_program((struct cpu_module *)hModule, &program);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    size_t size_bytes = 0;
    void *pointer = NULL;
    cl_int code =
        cl->get_global_variable(cl->device, program->program, pGlobalName, &size_bytes, &pointer);
    cpu_program_disown(program);
    if (code != CL_SUCCESS || pointer == NULL)
        return ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
    if (pSize != NULL)
        *pSize = size_bytes;
    if (pptr != NULL)
        *pptr = pointer;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeModuleGetFunctionPointer(ze_module_handle_t hModule,
                                                      const char *pFunctionName, void **pfnFunction)
{
    const struct cpu_opencl *cl = cpu_opencl();
    if (cl->get_function_pointer == NULL)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    struct cpu_program *program;
    ze_result_t result = cpu_module_take_program((struct cpu_module *)hModule, &program);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    cl_ulong pointer = 0;
    cl_int code = cl->get_function_pointer(cl->device, program->program, pFunctionName, &pointer);
    cpu_program_disown(program);
    if (code != CL_SUCCESS || pointer == 0)
        return ZE_RESULT_ERROR_INVALID_FUNCTION_NAME;
    *pfnFunction = (void *)(uintptr_t)pointer;
    return ZE_RESULT_SUCCESS;
}
