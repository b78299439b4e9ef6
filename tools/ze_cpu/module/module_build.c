// SPDX-License-Identifier: MIT
#include "module_build.h"

#include "code_folder.h"

#include "mended.h"
#include "options.h"
#include "sub_groups.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void cpu_log_add_program(struct cpu_log *log, cl_program program)
{
    const struct cpu_opencl *cl = cpu_opencl();
    size_t size_bytes = 0;
    cl->api->clGetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size_bytes);
    char *text = size_bytes > 1 ? malloc(size_bytes) : NULL;
    if (text == NULL)
        return;
    if (cl->api->clGetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG, size_bytes, text,
                                       NULL) == CL_SUCCESS)
        cpu_log_add(log, "%s", text);
    free(text);
}

static const struct zepi_spirv_symbol *find_export(const struct zepi_spirv *tables,
                                                   uint32_t table_count, const char *name)
{
    for (uint32_t i = 0; i < table_count; i++)
        for (uint32_t j = 0; j < tables[i].symbol_count; j++)
            if (tables[i].symbols[j].linkage != ZEPI_SPIRV_IMPORT &&
                strcmp(tables[i].symbols[j].name, name) == 0)
                return &tables[i].symbols[j];
    return NULL;
}

uint32_t cpu_log_add_unresolved(struct cpu_log *log, const struct zepi_spirv *tables,
                                uint32_t table_count)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table_count; i++)
        for (uint32_t j = 0; j < tables[i].symbol_count; j++) {
            const struct zepi_spirv_symbol *symbol = &tables[i].symbols[j];
            if (symbol->linkage != ZEPI_SPIRV_IMPORT ||
                find_export(tables, table_count, symbol->name) != NULL)
                continue;
            cpu_log_add(log, "error: unresolved external symbol %s\n", symbol->name);
            count++;
        }
    return count;
}

struct cpu_program *cpu_module_make_program(cl_program program, const struct zepi_spirv *tables,
                                            uint32_t table_count)
{
    uint32_t kernel_count = 0;
    for (uint32_t i = 0; i < table_count; i++)
        kernel_count += tables[i].kernel_count;
    struct cpu_program *result = cpu_program_create(program, kernel_count);
    if (result == NULL)
        return NULL;
    uint32_t index = 0;
    for (uint32_t i = 0; i < table_count; i++)
        for (uint32_t j = 0; j < tables[i].kernel_count; j++)
            if (!cpu_program_kernel_init(result, index++, &tables[i].kernels[j])) {
                cpu_program_release(result);
                return NULL;
            }
    return result;
}

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

static ze_result_t walk(struct cpu_module *module, const struct cpu_input *inputs,
                        uint32_t input_count, struct cpu_log *log)
{
    module->tables = calloc(input_count, sizeof(module->tables[0]));
    if (module->tables == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < input_count; i++) {
        char message[256];
        enum zepi_spirv_status status = zepi_spirv_init(
            &module->tables[i], inputs[i].bytes, inputs[i].size_bytes, message, sizeof(message));
        module->table_count = i + 1;
        if (status == ZEPI_SPIRV_OUT_OF_MEMORY)
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        if (status != ZEPI_SPIRV_OK) {
            cpu_log_add(log, "error: invalid SPIR-V: %s\n", message);
            return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
        }
    }
    return ZE_RESULT_SUCCESS;
}

static uint32_t largest_sub_group_size(const void *context, const char *kernel)
{
    const struct cpu_opencl *cl = cpu_opencl();
    (void)context;
    (void)kernel;
    return cl->sub_group_size_count > 0 ? cl->sub_group_sizes[cl->sub_group_size_count - 1] : 0;
}

static void replace_copy(uint8_t **copy, uint8_t *by)
{
    if (by == NULL)
        return;
    free(*copy);
    *copy = by;
}

// Kernels for GPUs exchange values in sub-groups as large as the device has them. False without
// memory.
static bool require_sub_group_sizes(struct cpu_input *input, const struct zepi_spirv *table,
                                    uint8_t **copy)
{
    uint8_t *sized = NULL;
    if (!cpu_options()->reports_gpu)
        return true;
    if (!cpu_sub_groups_require(*copy, input->size_bytes, table, largest_sub_group_size, NULL,
                                &sized, &input->size_bytes))
        return false;
    replace_copy(copy, sized);
    return true;
}

// The input's bytes become *out_copy, the SPIR-V as the OpenCL runtime compiles it right, owned by
// the caller. False without memory.
static bool copy_input(struct cpu_input *input, const struct zepi_spirv *table, uint8_t **out_copy)
{
    uint8_t *mended = NULL;
    *out_copy = malloc(input->size_bytes);
    if (*out_copy == NULL)
        return false;
    memcpy(*out_copy, input->bytes, input->size_bytes);
    if (!require_sub_group_sizes(input, table, out_copy) ||
        !cpu_mended_create(*out_copy, input->size_bytes, &mended, &input->size_bytes))
        return false;
    replace_copy(out_copy, mended);
    input->bytes = *out_copy;
    return true;
}

static ze_result_t make_program(const struct cpu_input *input, const struct zepi_key *key,
                                bool *out_is_kept, cl_program *out_program, struct cpu_log *log)
{
    cl_int code;
    const uint32_t delay_ms = cpu_options()->build_ms;
    if (delay_ms > 0)
        nanosleep(&(struct timespec){delay_ms / 1000, delay_ms % 1000 * 1000000L}, NULL);
    *out_program = cpu_code_load(key, log);
    *out_is_kept = *out_program != NULL;
    if (*out_is_kept)
        return ZE_RESULT_SUCCESS;
    *out_program = cpu_opencl()->api->clCreateProgramWithIL(cpu_opencl()->context, input->bytes,
                                                            input->size_bytes, &code);
    if (*out_program != NULL)
        return ZE_RESULT_SUCCESS;
    cpu_log_add(log, "error: clCreateProgramWithIL answers %d\n", code);
    return code == CL_OUT_OF_HOST_MEMORY ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                         : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

static ze_result_t build_alone(struct cpu_module *module, const struct cpu_input *input,
                               cl_program program, bool is_kept, const char *options,
                               struct cpu_log *log)
{
    cl_int code = cpu_opencl()->api->clBuildProgram(program, 1, &cpu_opencl()->device,
                                                    is_kept ? "" : options, NULL, NULL);
    if (!is_kept)
        cpu_log_add_program(log, program);
    if (code != CL_SUCCESS) {
        cpu_opencl()->api->clReleaseProgram(program);
        return cpu_opencl_result(code) == ZE_RESULT_ERROR_UNKNOWN
                   ? ZE_RESULT_ERROR_MODULE_BUILD_FAILURE
                   : cpu_opencl_result(code);
    }
    module->program = cpu_module_make_program(program, module->tables, module->table_count);
    if (module->program == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    // A source has no values of constants.
    if (input->constants == NULL || input->constants->numConstants == 0)
        module->program->source = cpu_source_create(input->bytes, input->size_bytes, options);
    return ZE_RESULT_SUCCESS;
}

// Links compiled objects. Unresolved symbols are left for zeModuleDynamicLink: the objects are then
// linked into a library, which may have such symbols.
static ze_result_t link_objects(struct cpu_module *module, const cl_program *objects,
                                uint32_t object_count, struct cpu_log *log)
{
    const struct cpu_opencl *cl = cpu_opencl();
    cl_int code;
    struct cpu_log link_log = {0};
    cl_program program = cpu_code_link(objects, object_count, &code);
    if (program != NULL)
        cpu_log_add_program(&link_log, program);
    if (code == CL_SUCCESS) {
        module->program = cpu_module_make_program(program, module->tables, module->table_count);
        cpu_log_finish(&link_log);
        if (module->program == NULL)
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } else {
        if (program != NULL)
            cl->api->clReleaseProgram(program);
        bool is_open = cpu_log_add_unresolved(log, module->tables, module->table_count) != 0;
        if (!is_open)
            cpu_log_add(log, "%s", link_log.text != NULL ? link_log.text : "error: link failed\n");
        cpu_log_finish(&link_log);
        if (!is_open)
            return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
    }
    if (object_count == 1) {
        cl->api->clRetainProgram(objects[0]);
        module->object_program = objects[0];
        return ZE_RESULT_SUCCESS;
    }
    module->object_program = cl->api->clLinkProgram(cl->context, 1, &cl->device, "-create-library",
                                                    object_count, objects, NULL, NULL, &code);
    return code == CL_SUCCESS ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
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

// Builds a lone input into the module's program, or compiles one of several: *out_object.
static ze_result_t build_input(struct cpu_module *module, const struct cpu_input *inputs,
                               uint32_t input_count, uint32_t index, bool is_alone,
                               cl_program *out_object, struct cpu_log *log)
{
    struct cpu_input input = inputs[index];
    struct zepi_key key = {0};
    bool is_kept = false;
    size_t before = 0;
    cl_program program = NULL;
    uint8_t *copy = NULL;
    char *options = cpu_build_options(input.flags, log);
    ze_result_t result = options != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    if (options != NULL && !copy_input(&input, &module->tables[index], &copy))
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result == ZE_RESULT_SUCCESS) {
        cpu_code_key_init(&key, inputs, input_count, &input, &module->tables[index], options,
                          is_alone);
        before = log->length;
        result = make_program(&input, &key, &is_kept, &program, log);
    }
    if (result == ZE_RESULT_SUCCESS && !is_kept)
        result = set_constants(program, &module->tables[index], inputs, input_count);
    if (result == ZE_RESULT_SUCCESS && is_alone) {
        result = build_alone(module, &input, program, is_kept, options, log);
        program = NULL;
    } else if (result == ZE_RESULT_SUCCESS && !is_kept) {
        result = compile(program, options, log);
    }
    if (result == ZE_RESULT_SUCCESS && !is_kept)
        cpu_code_keep(&key, is_alone ? module->program->program : program, log, before);
    *out_object = program;
    zepi_key_finish(&key);
    free(copy);
    free(options);
    return result;
}

ze_result_t cpu_module_build(struct cpu_module *module, const struct cpu_input *inputs,
                             uint32_t input_count, struct cpu_log *log)
{
    atomic_fetch_add_explicit(&cpu_compiles[CPU_COMPILE_SPIRV], 1, memory_order_relaxed);
    ze_result_t result = walk(module, inputs, input_count, log);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!has_all_constants(module, inputs, input_count))
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    cl_program *programs = calloc(input_count, sizeof(programs[0]));
    if (programs == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    bool is_alone = input_count == 1 && module->tables[0].symbol_count == 0;
    for (uint32_t i = 0; i < input_count && result == ZE_RESULT_SUCCESS; i++)
        result = build_input(module, inputs, input_count, i, is_alone, &programs[i], log);
    if (result == ZE_RESULT_SUCCESS && !is_alone)
        result = link_objects(module, programs, input_count, log);
    for (uint32_t i = 0; i < input_count; i++)
        if (programs[i] != NULL)
            cpu_opencl()->api->clReleaseProgram(programs[i]);
    free(programs);
    return result;
}
