// SPDX-License-Identifier: MIT
#include "code_folder.h"

#include "cache/disk/disk.h"
#include "native_binary.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_VERSION = 1 };

enum key_tag {
    TAG_RUNTIME,
    TAG_IS_ALONE,
    TAG_OPTIONS,
    TAG_CONSTANT,
    TAG_SPIRV,
    TAG_OBJECT,
};

static struct zepi_disk *folder; // NULL: there is none, or no memory

static void open_folder(void)
{
    if (cpu_options()->code_folder != NULL)
        folder = zepi_disk_create(cpu_options()->code_folder, UINT64_MAX);
}

// Returns whether there is a folder.
static bool begin_key(struct zepi_key *key)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_folder);
    zepi_key_init(key, KEY_VERSION);
    zepi_key_add_string(key, TAG_RUNTIME, cpu_opencl()->driver_version);
    return folder != NULL;
}

// The values of constants that the input declares.
static void add_constants(struct zepi_key *key, const ze_module_constants_t *constants,
                          const struct zepi_spirv *table)
{
    for (uint32_t i = 0; constants != NULL && i < constants->numConstants; i++) {
        const struct zepi_spirv_constant *constant =
            zepi_spirv_find_constant(table, constants->pConstantIds[i]);
        if (constant != NULL)
            zepi_key_add_numbered(key, TAG_CONSTANT, constant->id, constants->pConstantValues[i],
                                  constant->size_bytes);
    }
}

void cpu_code_key_init(struct zepi_key *key, const struct cpu_input *inputs, uint32_t input_count,
                       const struct cpu_input *input, const struct zepi_spirv *table,
                       const char *options, bool is_alone)
{
    if (!begin_key(key))
        return;
    zepi_key_add_u32(key, TAG_IS_ALONE, is_alone);
    zepi_key_add_string(key, TAG_OPTIONS, options);
    for (uint32_t i = 0; i < input_count; i++)
        add_constants(key, inputs[i].constants, table);
    zepi_key_add_bytes(key, TAG_SPIRV, input->bytes, input->size_bytes);
    (void)zepi_key_seal(key);
}

// The code of the objects.
static void init_link_key(struct zepi_key *key, const cl_program *objects, uint32_t object_count)
{
    bool is_whole = begin_key(key);
    for (uint32_t i = 0; i < object_count && is_whole; i++) {
        size_t code_bytes;
        uint8_t *code = cpu_native_read_program(objects[i], &code_bytes);
        is_whole = code != NULL;
        if (is_whole)
            zepi_key_add_bytes(key, TAG_OBJECT, code, code_bytes);
        free(code);
    }
    if (is_whole)
        (void)zepi_key_seal(key);
}

cl_program cpu_code_load(const struct zepi_key *key, struct cpu_log *log)
{
    const struct cpu_opencl *cl = cpu_opencl();
    struct zepi_build_record record = {0};
    cl_int status, result;
    if (!key->is_sealed || !zepi_disk_store_ops.load(folder, key, &record))
        return NULL;
    const unsigned char *code = record.payload;
    cl_program program = cl->api->clCreateProgramWithBinary(
        cl->context, 1, &cl->device, &record.payload_size, &code, &status, &result);
    if (program != NULL && record.log_size > 0)
        cpu_log_add(log, "%.*s", (int)record.log_size, record.log);
    zepi_build_record_finish(&record);
    return program;
}

void cpu_code_keep(const struct zepi_key *key, cl_program program, const struct cpu_log *log,
                   size_t log_from)
{
    struct zepi_build_record record = {.log = ""};
    if (!key->is_sealed)
        return;
    uint8_t *code = cpu_native_read_program(program, &record.payload_size);
    if (code == NULL)
        return;
    record.payload = code;
    record.log_size = log->length - log_from;
    if (record.log_size > 0)
        record.log = log->text + log_from;
    zepi_disk_store_ops.store(folder, key, &record);
    free(code);
}

cl_program cpu_code_link(const cl_program *objects, uint32_t object_count, cl_int *out_code)
{
    const struct cpu_opencl *cl = cpu_opencl();
    struct cpu_log log = {0}; // of a file, and nothing is in it
    struct zepi_key key;
    init_link_key(&key, objects, object_count);
    cl_program program = cpu_code_load(&key, &log);
    if (program != NULL) {
        *out_code = cl->api->clBuildProgram(program, 1, &cl->device, "", NULL, NULL);
    } else {
        program = cl->api->clLinkProgram(cl->context, 1, &cl->device, "", object_count, objects,
                                         NULL, NULL, out_code);
        if (*out_code == CL_SUCCESS)
            cpu_code_keep(&key, program, &log, 0);
    }
    cpu_log_finish(&log);
    zepi_key_finish(&key);
    return program;
}
