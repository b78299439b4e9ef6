// SPDX-License-Identifier: MIT
#include "module_build.h"

#include "code_folder.h"
#include "native_binary.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// Whether every value has a declaration in some table.
static bool has_all_constants(const struct cpu_module *module, const struct cpu_input *inputs,
                              uint32_t input_count)
{
    for (uint32_t i = 0; i < input_count; i++) {
        const ze_module_constants_t *constants = inputs[i].constants;
        for (uint32_t j = 0; constants != NULL && j < constants->numConstants; j++) {
            bool is_found = false;
            for (uint32_t k = 0; k < module->table_count; k++)
                is_found = is_found || zepi_spirv_find_constant(&module->tables[k],
                                                                constants->pConstantIds[j]) != NULL;
            if (!is_found)
                return false;
        }
    }
    return true;
}

static ze_result_t set_constants(cl_program program, const struct zepi_spirv *table,
                                 const struct cpu_input *inputs, uint32_t input_count)
{
    for (uint32_t i = 0; i < input_count; i++) {
        const ze_module_constants_t *constants = inputs[i].constants;
        for (uint32_t j = 0; constants != NULL && j < constants->numConstants; j++) {
            const struct zepi_spirv_constant *constant =
                zepi_spirv_find_constant(table, constants->pConstantIds[j]);
            if (constant == NULL)
                continue;
            cl_int code = cpu_opencl()->api->clSetProgramSpecializationConstant(
                program, constant->id, constant->size_bytes, constants->pConstantValues[j]);
            if (code != CL_SUCCESS)
                return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
        }
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t add_input(struct cpu_module *module, const struct cpu_input *input,
                             struct cpu_log *log)
{
    const uint32_t index = module->table_count;
    char message[256];
    uint8_t *copy = malloc(input->size_bytes + 1);
    if (copy == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(copy, input->bytes, input->size_bytes);
    module->inputs[index] = (struct cpu_input){.bytes = copy, .size_bytes = input->size_bytes};
    module->table_count++;
    const enum zepi_spirv_status status =
        zepi_spirv_init(&module->tables[index], copy, input->size_bytes, message, sizeof(message));
    if (status == ZEPI_SPIRV_OUT_OF_MEMORY)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (status == ZEPI_SPIRV_OK)
        return ZE_RESULT_SUCCESS;
    cpu_log_add(log, "error: invalid SPIR-V: %s\n", message);
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

// Gives the module its tables.
static ze_result_t add_inputs(struct cpu_module *module, const struct cpu_input *inputs,
                              uint32_t input_count, struct cpu_log *log)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    module->tables = calloc(input_count, sizeof(module->tables[0]));
    module->inputs = calloc(input_count, sizeof(module->inputs[0]));
    if (module->tables == NULL || module->inputs == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < input_count && result == ZE_RESULT_SUCCESS; i++)
        result = add_input(module, &inputs[i], log);
    return result;
}

static ze_result_t make_sources(const struct cpu_module *module, const struct cpu_input *inputs,
                                struct cpu_source **sources, struct cpu_log *log)
{
    for (uint32_t i = 0; i < module->table_count; i++) {
        char *options = cpu_build_options(inputs[i].flags, log);
        if (options == NULL)
            return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
        sources[i] = cpu_source_create(module->inputs[i].bytes, module->inputs[i].size_bytes,
                                       &module->tables[i], options);
        if (sources[i] == NULL)
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return ZE_RESULT_SUCCESS;
}

// A program of one of the inputs that is not built yet.
static ze_result_t make_program(const struct cpu_module *module, const struct cpu_input *inputs,
                                uint32_t index, const struct cpu_source *source,
                                cl_program *out_program, struct cpu_log *log)
{
    cl_int code;
    *out_program = cpu_opencl()->api->clCreateProgramWithIL(cpu_opencl_context(), source->spirv,
                                                            source->spirv_bytes, &code);
    if (*out_program != NULL)
        return set_constants(*out_program, &module->tables[index], inputs, module->table_count);
    cpu_log_add(log, "error: clCreateProgramWithIL answers %d\n", code);
    return code == CL_OUT_OF_HOST_MEMORY ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                         : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

// Consumes the program.
static ze_result_t build_alone(struct cpu_module *module, cl_program program, const char *options,
                               struct cpu_log *log)
{
    const struct cpu_opencl *cl = cpu_opencl();
    const cl_int code = cl->api->clBuildProgram(program, 1, &cl->device, options, NULL, NULL);
    cpu_log_add_program(log, program);
    if (code != CL_SUCCESS) {
        cl->api->clReleaseProgram(program);
        return cpu_opencl_result(code) == ZE_RESULT_ERROR_UNKNOWN
                   ? ZE_RESULT_ERROR_MODULE_BUILD_FAILURE
                   : cpu_opencl_result(code);
    }
    module->program = cpu_program_create(program, module->tables, module->table_count);
    return module->program != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static ze_result_t compile(cl_program program, const char *options, struct cpu_log *log)
{
    cl_int code = cpu_opencl()->api->clCompileProgram(program, 1, &cpu_opencl()->device, options, 0,
                                                      NULL, NULL, NULL, NULL);
    cpu_log_add_program(log, program);
    if (code == CL_SUCCESS || code == CL_OUT_OF_HOST_MEMORY)
        return cpu_opencl_result(code);
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

ze_result_t cpu_module_link(const cl_program *objects, uint32_t object_count,
                            const struct zepi_spirv *tables, uint32_t table_count,
                            struct cpu_program **out_program, uint32_t *out_unresolved,
                            struct cpu_log *log)
{
    const struct cpu_opencl *cl = cpu_opencl();
    cl_int code;
    cl_program program = cl->api->clLinkProgram(cpu_opencl_context(), 1, &cl->device, "",
                                                object_count, objects, NULL, NULL, &code);
    if (code == CL_SUCCESS) {
        *out_program = cpu_program_create(program, tables, table_count);
        return *out_program != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out_unresolved = cpu_log_add_unresolved(log, tables, table_count);
    if (*out_unresolved == 0)
        cpu_log_add(log, "error: link failed\n");
    if (*out_unresolved == 0 && program != NULL)
        cpu_log_add_program(log, program);
    if (program != NULL)
        cl->api->clReleaseProgram(program);
    return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
}

// Links compiled objects. Unresolved symbols are left for zeModuleDynamicLink: the objects are then
// linked into a library, which may have such symbols.
static ze_result_t link_objects(struct cpu_module *module, const cl_program *objects,
                                struct cpu_log *log)
{
    const struct cpu_opencl *cl = cpu_opencl();
    const uint32_t count = module->table_count;
    cl_int code;
    uint32_t unresolved = 0;
    const ze_result_t result =
        cpu_module_link(objects, count, module->tables, count, &module->program, &unresolved, log);
    if (result != ZE_RESULT_SUCCESS && unresolved == 0)
        return result;
    if (count == 1) {
        cl->api->clRetainProgram(objects[0]);
        module->object_program = objects[0];
        return ZE_RESULT_SUCCESS;
    }
    module->object_program = cl->api->clLinkProgram(
        cpu_opencl_context(), 1, &cl->device, "-create-library", count, objects, NULL, NULL, &code);
    return code == CL_SUCCESS ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
}

static ze_result_t build_objects(struct cpu_module *module, const struct cpu_input *inputs,
                                 struct cpu_source *const *sources, struct cpu_log *log)
{
    const uint32_t count = module->table_count;
    ze_result_t result = ZE_RESULT_SUCCESS;
    cl_program *objects = calloc(count, sizeof(cl_program));
    if (objects == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        result = make_program(module, inputs, i, sources[i], &objects[i], log);
        if (result == ZE_RESULT_SUCCESS)
            result = compile(objects[i], sources[i]->options, log);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = link_objects(module, objects, log);
    for (uint32_t i = 0; i < count; i++)
        if (objects[i] != NULL)
            cpu_opencl()->api->clReleaseProgram(objects[i]);
    free(objects);
    return result;
}

// Into the module's program, which has nothing to be linked.
static bool is_alone(const struct cpu_module *module)
{
    return module->table_count == 1 && module->tables[0].symbol_count == 0;
}

static ze_result_t build(struct cpu_module *module, const struct cpu_input *inputs,
                         struct cpu_source *const *sources, struct cpu_log *log)
{
    cl_program program = NULL;
    if (!is_alone(module))
        return build_objects(module, inputs, sources, log);
    const ze_result_t result = make_program(module, inputs, 0, sources[0], &program, log);
    if (result == ZE_RESULT_SUCCESS)
        return build_alone(module, program, sources[0]->options, log);
    if (program != NULL)
        cpu_opencl()->api->clReleaseProgram(program);
    return result;
}

static ze_result_t load_or_build(struct cpu_module *module, const struct cpu_input *inputs,
                                 struct cpu_source *const *sources, struct cpu_log *log)
{
    struct zepi_key key;
    ze_result_t result = ZE_RESULT_SUCCESS;
    const uint32_t delay_ms = cpu_options()->build_ms;
    if (delay_ms > 0)
        nanosleep(&(struct timespec){delay_ms / 1000, delay_ms % 1000 * 1000000L}, NULL);
    cpu_code_key_init(&key, module, inputs, sources);
    if (!cpu_code_load(&key, module, log)) {
        result = build(module, inputs, sources, log);
        if (result == ZE_RESULT_SUCCESS)
            cpu_code_keep(&key, module, log);
    }
    zepi_key_finish(&key);
    return result;
}

ze_result_t cpu_module_build(struct cpu_module *module, const struct cpu_input *inputs,
                             uint32_t input_count, struct cpu_log *log)
{
    atomic_fetch_add_explicit(&cpu_compiles[CPU_COMPILE_SPIRV], 1, memory_order_relaxed);
    ze_result_t result = add_inputs(module, inputs, input_count, log);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!has_all_constants(module, inputs, input_count))
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    struct cpu_source **sources = calloc(input_count, sizeof(struct cpu_source *));
    if (sources == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = make_sources(module, inputs, sources, log);
    if (result == ZE_RESULT_SUCCESS)
        result = load_or_build(module, inputs, sources, log);
    // A source has no values of constants.
    const ze_module_constants_t *constants = inputs[0].constants;
    if (result == ZE_RESULT_SUCCESS && is_alone(module) &&
        (constants == NULL || constants->numConstants == 0)) {
        cpu_program_take_source(module->program, sources[0]);
        sources[0] = NULL;
    }
    for (uint32_t i = 0; i < input_count; i++)
        cpu_source_destroy(sources[i]);
    free(sources);
    return result;
}

ze_result_t cpu_module_load(struct cpu_module *module, const struct cpu_input *input,
                            struct cpu_log *log)
{
    atomic_fetch_add_explicit(&cpu_compiles[CPU_COMPILE_NATIVE], 1, memory_order_relaxed);
    struct cpu_native native;
    if (!cpu_native_unpack(input->bytes, input->size_bytes, &native, log))
        return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    ze_result_t result = add_inputs(module, native.inputs, native.input_count, log);
    if (result == ZE_RESULT_SUCCESS)
        result = cpu_native_load(module, &native, log);
    if (result == ZE_RESULT_SUCCESS && module->program == NULL)
        cpu_log_add_unresolved(log, module->tables, module->table_count);
    if (module->program != NULL && native.options[0] != '\0')
        cpu_program_take_source(
            module->program, cpu_source_create(native.inputs[0].bytes, native.inputs[0].size_bytes,
                                               &module->tables[0], strdup(native.options)));
    cpu_native_finish(&native);
    return result;
}
