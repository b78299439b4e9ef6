// SPDX-License-Identifier: MIT
#include "native_binary.h"

#include "cache/digest.h"
#include "fields.h"
#include "free_programs.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "ZECPU\0\0\5"
#define FIRST_FIELDS 4 // those before the inputs

uint32_t cpu_native_version(void)
{
    const char *runtime = cpu_opencl()->driver_version;
    return (uint32_t)MAGIC[sizeof(MAGIC) - 2] << 24 |
           (uint32_t)zepi_digest_of(runtime, strlen(runtime)).low >> 8;
}

struct header {
    char magic[8];
    struct zepi_digest digest; // of the fields
};

// The code of a program as the OpenCL runtime has it; NULL: none. False if there is no such code.
static bool write_program(FILE *file, cl_program program)
{
    const struct cpu_opencl *cl = cpu_opencl();
    size_t size_bytes = 0;
    uint8_t *bytes = NULL;
    if (program != NULL) {
        cl->api->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size_bytes), &size_bytes,
                                  NULL);
        bytes = size_bytes > 0 ? malloc(size_bytes) : NULL;
    }
    const bool is_there =
        program == NULL ||
        (bytes != NULL && cl->api->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes),
                                                    &bytes, NULL) == CL_SUCCESS);
    if (is_there)
        cpu_field_write(file, bytes, size_bytes);
    free(bytes);
    return is_there;
}

uint8_t *cpu_native_pack(const struct cpu_module *module, size_t *out_size_bytes)
{
    struct header header = {MAGIC, {0}};
    const struct cpu_program *program = module->program;
    const char *options =
        program != NULL && program->source != NULL ? program->source->options : "";
    char *bytes = NULL;
    FILE *file = open_memstream(&bytes, out_size_bytes);
    if (file == NULL)
        return NULL;
    fwrite(&header, sizeof(header), 1, file);
    cpu_field_write(file, cpu_opencl()->driver_version, strlen(cpu_opencl()->driver_version) + 1);
    cpu_field_write(file, options, strlen(options) + 1);
    bool is_whole = write_program(file, program != NULL ? program->program : NULL) &&
                    write_program(file, module->object_program);
    for (uint32_t i = 0; i < module->table_count; i++)
        cpu_field_write(file, module->inputs[i].bytes, module->inputs[i].size_bytes);
    is_whole = is_whole && !ferror(file);
    if (fclose(file) != 0 || !is_whole) {
        free(bytes);
        return NULL;
    }
    header.digest = zepi_digest_of(bytes + sizeof(header), *out_size_bytes - sizeof(header));
    memcpy(bytes, &header, sizeof(header));
    return (uint8_t *)bytes;
}

static bool read_text(struct cpu_fields *reader, const char **out_text)
{
    const uint8_t *bytes;
    size_t size_bytes;
    if (!cpu_field_read(reader, &bytes, &size_bytes) || size_bytes == 0 ||
        bytes[size_bytes - 1] != '\0')
        return false;
    *out_text = (const char *)bytes;
    return true;
}

static bool read_fields(struct cpu_fields *reader, struct cpu_native *native,
                        const char **out_version)
{
    if (!read_text(reader, out_version) || !read_text(reader, &native->options) ||
        !cpu_field_read(reader, &native->program, &native->program_bytes) ||
        !cpu_field_read(reader, &native->object, &native->object_bytes) ||
        native->program_bytes + native->object_bytes == 0)
        return false;
    while (reader->left > 0) {
        struct cpu_input *grown =
            realloc(native->inputs, (native->input_count + 1) * sizeof(*grown));
        if (grown == NULL)
            return false;
        native->inputs = grown;
        struct cpu_input *input = &grown[native->input_count++];
        *input = (struct cpu_input){0};
        if (!cpu_field_read(reader, &input->bytes, &input->size_bytes))
            return false;
    }
    return native->input_count > 0;
}

bool cpu_native_unpack(const uint8_t *bytes, size_t size_bytes, struct cpu_native *out_native,
                       struct cpu_log *log)
{
    struct header header;
    const char *version = NULL;
    *out_native = (struct cpu_native){0};
    if (size_bytes < sizeof(header) || memcmp(bytes, MAGIC, sizeof(header.magic)) != 0) {
        cpu_log_add(log, "error: not a native binary of ze_cpu\n");
        return false;
    }
    memcpy(&header, bytes, sizeof(header));
    struct cpu_fields reader = {bytes + sizeof(header), size_bytes - sizeof(header)};
    const struct zepi_digest digest = zepi_digest_of(reader.bytes, reader.left);
    if (!zepi_digest_equal(digest, header.digest) || !read_fields(&reader, out_native, &version))
        cpu_log_add(log, "error: the native binary is damaged\n");
    else if (strcmp(version, cpu_opencl()->driver_version) != 0)
        cpu_log_add(log, "error: the native binary is of another OpenCL runtime\n");
    else
        return true;
    cpu_native_finish(out_native);
    return false;
}

void cpu_native_finish(struct cpu_native *native)
{
    free(native->inputs);
    native->inputs = NULL;
}

// NULL, after a line of the log, if the OpenCL runtime refuses it.
static cl_program load_program(const uint8_t *bytes, size_t size_bytes, struct cpu_log *log)
{
    const struct cpu_opencl *cl = cpu_opencl();
    cl_int code, status;
    cl_program program = cl->api->clCreateProgramWithBinary(cpu_opencl_context(), 1, &cl->device,
                                                            &size_bytes, &bytes, &status, &code);
    if (program == NULL)
        cpu_log_add(log, "error: clCreateProgramWithBinary answers %d\n", code);
    return program;
}

// The linked program, likewise.
static cl_program build_program(const struct cpu_native *native, struct cpu_log *log)
{
    const struct cpu_opencl *cl = cpu_opencl();
    cl_program program = load_program(native->program, native->program_bytes, log);
    if (program == NULL ||
        cl->api->clBuildProgram(program, 1, &cl->device, "", NULL, NULL) == CL_SUCCESS)
        return program;
    cpu_log_add_program(log, program);
    cl->api->clReleaseProgram(program);
    return NULL;
}

ze_result_t cpu_native_load(struct cpu_module *module, const struct cpu_native *native,
                            struct cpu_log *log)
{
    if (native->object_bytes > 0) {
        module->object_program = load_program(native->object, native->object_bytes, log);
        if (module->object_program == NULL)
            return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
        module->object_code = zepi_digest_of(native->object, native->object_bytes);
    }
    if (native->program_bytes == 0)
        return ZE_RESULT_SUCCESS;
    const struct zepi_digest code = zepi_digest_of(native->program, native->program_bytes);
    cl_program program = cpu_free_program_take(code);
    if (program == NULL)
        program = build_program(native, log);
    if (program == NULL)
        return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    module->program = cpu_program_create(program, module->tables, module->table_count);
    if (module->program == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    module->program->code = code;
    return ZE_RESULT_SUCCESS;
}
