// SPDX-License-Identifier: MIT
#include "code_folder.h"

#include "native_binary.h"
#include "options.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add(FILE *stream, const void *bytes, size_t size_bytes)
{
    fwrite(&size_bytes, sizeof(size_bytes), 1, stream);
    fwrite(bytes, 1, size_bytes, stream);
}

// The values of constants that the input declares.
static void add_constants(FILE *stream, const ze_module_constants_t *constants,
                          const struct zepi_spirv *table)
{
    for (uint32_t i = 0; constants != NULL && i < constants->numConstants; i++) {
        const struct zepi_spirv_constant *constant =
            zepi_spirv_find_constant(table, constants->pConstantIds[i]);
        if (constant == NULL)
            continue;
        add(stream, &constant->id, sizeof(constant->id));
        add(stream, constants->pConstantValues[i], constant->size_bytes);
    }
}

// NULL: there is no folder, or no memory.
static FILE *open_key(char **out_bytes, size_t *out_size_bytes)
{
    *out_bytes = NULL;
    *out_size_bytes = 0;
    if (cpu_options()->code_folder == NULL)
        return NULL;
    FILE *stream = open_memstream(out_bytes, out_size_bytes);
    if (stream != NULL)
        add(stream, cpu_opencl()->driver_version, strlen(cpu_opencl()->driver_version));
    return stream;
}

static struct cpu_code_key close_key(FILE *stream, char *const *bytes, const size_t *size_bytes)
{
    const bool is_whole = !ferror(stream);
    if (fclose(stream) == 0 && is_whole)
        return (struct cpu_code_key){(uint8_t *)*bytes, *size_bytes};
    free(*bytes);
    return (struct cpu_code_key){0};
}

struct cpu_code_key cpu_code_key_create(const struct cpu_input *inputs, uint32_t input_count,
                                        const struct cpu_input *input,
                                        const struct zepi_spirv *table, const char *options,
                                        bool is_alone)
{
    char *bytes;
    size_t size_bytes;
    FILE *stream = open_key(&bytes, &size_bytes);
    if (stream == NULL)
        return (struct cpu_code_key){0};
    add(stream, &is_alone, sizeof(is_alone));
    add(stream, options, strlen(options));
    for (uint32_t i = 0; i < input_count; i++)
        add_constants(stream, inputs[i].constants, table);
    add(stream, input->bytes, input->size_bytes);
    return close_key(stream, &bytes, &size_bytes);
}

// The code of the objects.
static struct cpu_code_key create_link_key(const cl_program *objects, uint32_t object_count)
{
    char *bytes;
    size_t size_bytes;
    FILE *stream = open_key(&bytes, &size_bytes);
    if (stream == NULL)
        return (struct cpu_code_key){0};
    add(stream, &object_count, sizeof(object_count));
    for (uint32_t i = 0; i < object_count; i++) {
        size_t code_bytes;
        uint8_t *code = cpu_native_read_program(objects[i], &code_bytes);
        if (code == NULL) {
            fclose(stream);
            free(bytes);
            return (struct cpu_code_key){0};
        }
        add(stream, code, code_bytes);
        free(code);
    }
    return close_key(stream, &bytes, &size_bytes);
}

void cpu_code_key_finish(struct cpu_code_key *key)
{
    free(key->bytes);
    key->bytes = NULL;
}

// FNV-1a
static uint64_t hash_bytes(const uint8_t *bytes, size_t size_bytes)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size_bytes; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

// The file has the whole key: two keys of one name replace each other's files.
static bool get_path(const struct cpu_code_key *key, char path[PATH_MAX])
{
    const int length = snprintf(path, PATH_MAX, "%s/%016" PRIx64, cpu_options()->code_folder,
                                hash_bytes(key->bytes, key->size_bytes));
    return length > 0 && length < PATH_MAX - 16;
}

// A file: the key, the size of the log, the log, the code, the hash of all these.
struct kept {
    uint8_t *bytes; // owned
    const char *log;
    size_t log_bytes;
    const uint8_t *code;
    size_t code_bytes;
};

static bool parse(const struct cpu_code_key *key, size_t size_bytes, struct kept *kept)
{
    uint64_t hash;
    const size_t head_bytes = key->size_bytes + sizeof(kept->log_bytes);
    if (size_bytes <= head_bytes + sizeof(hash) ||
        memcmp(kept->bytes, key->bytes, key->size_bytes) != 0)
        return false;
    memcpy(&hash, kept->bytes + size_bytes - sizeof(hash), sizeof(hash));
    if (hash != hash_bytes(kept->bytes, size_bytes - sizeof(hash)))
        return false;
    memcpy(&kept->log_bytes, kept->bytes + key->size_bytes, sizeof(kept->log_bytes));
    kept->log = (const char *)kept->bytes + head_bytes;
    kept->code = kept->bytes + head_bytes + kept->log_bytes;
    kept->code_bytes = size_bytes - head_bytes - sizeof(hash) - kept->log_bytes;
    return true;
}

// False if the file cannot be read, is damaged, or is of another key.
static bool read_file(const struct cpu_code_key *key, const char *path, struct kept *out_kept)
{
    struct stat info;
    FILE *file = fopen(path, "rbe");
    *out_kept = (struct kept){0};
    if (file == NULL)
        return false;
    if (fstat(fileno(file), &info) == 0 && info.st_size > 0)
        out_kept->bytes = malloc((size_t)info.st_size);
    bool is_whole = out_kept->bytes != NULL &&
                    fread(out_kept->bytes, 1, (size_t)info.st_size, file) == (size_t)info.st_size &&
                    parse(key, (size_t)info.st_size, out_kept);
    fclose(file);
    if (!is_whole)
        free(out_kept->bytes);
    return is_whole;
}

cl_program cpu_code_load(const struct cpu_code_key *key, struct cpu_log *log)
{
    char path[PATH_MAX];
    struct kept kept;
    if (key->bytes == NULL || !get_path(key, path) || !read_file(key, path, &kept))
        return NULL;
    const struct cpu_opencl *cl = cpu_opencl();
    cl_int status, result;
    cl_program program = cl->api->clCreateProgramWithBinary(
        cl->context, 1, &cl->device, &kept.code_bytes, &kept.code, &status, &result);
    if (program != NULL && kept.log_bytes > 0)
        cpu_log_add(log, "%.*s", (int)kept.log_bytes, kept.log);
    free(kept.bytes);
    return program;
}

// Writes the file beside its place.
static bool write_file(int descriptor, const uint8_t *bytes, size_t size_bytes)
{
    FILE *file = fdopen(descriptor, "wb");
    if (file == NULL) {
        close(descriptor);
        return false;
    }
    const bool is_whole = fwrite(bytes, 1, size_bytes, file) == size_bytes;
    return fclose(file) == 0 && is_whole;
}

void cpu_code_keep(const struct cpu_code_key *key, cl_program program, const struct cpu_log *log,
                   size_t log_from)
{
    const size_t log_bytes = log->length - log_from;
    char path[PATH_MAX], unfinished[PATH_MAX];
    size_t code_bytes;
    if (key->bytes == NULL || !get_path(key, path))
        return;
    uint8_t *code = cpu_native_read_program(program, &code_bytes);
    if (code == NULL)
        return;
    size_t used = key->size_bytes + sizeof(log_bytes) + log_bytes + code_bytes;
    uint8_t *bytes = malloc(used + sizeof(uint64_t));
    if (bytes != NULL) {
        uint8_t *end = mempcpy(bytes, key->bytes, key->size_bytes);
        end = mempcpy(end, &log_bytes, sizeof(log_bytes));
        if (log_bytes > 0)
            end = mempcpy(end, log->text + log_from, log_bytes);
        end = mempcpy(end, code, code_bytes);
        const uint64_t hash = hash_bytes(bytes, used);
        memcpy(end, &hash, sizeof(hash));
        mkdir(cpu_options()->code_folder, 0777);
        snprintf(unfinished, sizeof(unfinished), "%.*s.XXXXXX", PATH_MAX - 16, path);
        const int descriptor = mkostemp(unfinished, O_CLOEXEC);
        if (descriptor >= 0 &&
            (!write_file(descriptor, bytes, used + sizeof(hash)) || rename(unfinished, path) != 0))
            unlink(unfinished);
    }
    free(bytes);
    free(code);
}

cl_program cpu_code_link(const cl_program *objects, uint32_t object_count, cl_int *out_code)
{
    const struct cpu_opencl *cl = cpu_opencl();
    struct cpu_log log = {0}; // of a file, and nothing is in it
    struct cpu_code_key key = create_link_key(objects, object_count);
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
    cpu_code_key_finish(&key);
    return program;
}
