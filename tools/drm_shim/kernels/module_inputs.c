// SPDX-License-Identifier: MIT
#include "module_inputs.h"

#include "cache/disk/disk.h"
#include "cache/key.h"
#include "core/sys.h"
#include "tools/ze_cpu/module/fields.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_VERSION 1
#define RECORD_TAG_CODE 1
#define FOLDER_BYTES ((uint64_t)1 << 30)

static bool refuse(char *message, size_t message_size, const char *text)
{
    snprintf(message, message_size, "%s", text);
    return false;
}

static bool copy_spirv(struct shim_module_input *input, const uint8_t *spirv, size_t spirv_bytes,
                       const char *options, char *message, size_t message_size)
{
    input->spirv = malloc(spirv_bytes + 1);
    input->options = strdup(options ? options : "");
    if (!input->spirv || !input->options)
        return refuse(message, message_size, "out of memory");
    memcpy(input->spirv, spirv, spirv_bytes);
    input->spirv_bytes = spirv_bytes;
    return zepi_spirv_init(&input->walk, input->spirv, spirv_bytes, message, message_size) ==
           ZEPI_SPIRV_OK;
}

static bool list_constants(struct shim_module_input *input)
{
    const uint32_t count = input->constant_count;
    uint32_t *ids = calloc((size_t)count + 1, sizeof(*ids));
    const void **values = calloc((size_t)count + 1, sizeof(*values));
    input->list = (ze_module_constants_t){count, ids, values};
    for (uint32_t i = 0; ids && values && i < count; i++) {
        ids[i] = input->constants[i].id;
        values[i] = input->constants[i].value;
    }
    return ids && values;
}

static bool copy_constants(struct shim_module_input *input, const ze_module_constants_t *constants)
{
    const uint32_t count = constants ? constants->numConstants : 0;
    input->constants = calloc((size_t)count + 1, sizeof(*input->constants));
    if (!input->constants)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct zepi_spirv_constant *declared =
            zepi_spirv_find_constant(&input->walk, constants->pConstantIds[i]);
        if (!declared)
            continue;
        struct shim_constant *constant = &input->constants[input->constant_count++];
        constant->id = declared->id;
        constant->size_bytes = declared->size_bytes;
        memcpy(constant->value, constants->pConstantValues[i], declared->size_bytes);
    }
    return list_constants(input);
}

static const ze_module_program_exp_desc_t *program_list(const ze_module_desc_t *desc)
{
    for (const ze_base_desc_t *next = desc->pNext; next; next = next->pNext) {
        if (next->stype == ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)
            return (const ze_module_program_exp_desc_t *)next;
    }
    return NULL;
}

static bool fill(struct shim_module_inputs *inputs, const ze_module_program_exp_desc_t *list,
                 char *message, size_t message_size)
{
    inputs->inputs = calloc((size_t)list->count + 1, sizeof(*inputs->inputs));
    if (!inputs->inputs)
        return refuse(message, message_size, "out of memory");
    for (uint32_t i = 0; i < list->count; i++) {
        struct shim_module_input *input = &inputs->inputs[i];
        inputs->count++;
        if (!copy_spirv(input, list->pInputModules[i], list->inputSizes[i],
                        list->pBuildFlags ? list->pBuildFlags[i] : NULL, message, message_size))
            return false;
        if (!copy_constants(input, list->pConstants ? list->pConstants[i] : NULL))
            return refuse(message, message_size, "out of memory");
    }
    return true;
}

bool shim_module_inputs_init(struct shim_module_inputs *out_inputs, const ze_module_desc_t *desc,
                             char *message, size_t message_size)
{
    const ze_module_constants_t *constants = desc->pConstants;
    const uint8_t *spirv = desc->pInputModule;
    const char *options = desc->pBuildFlags;
    size_t spirv_bytes = desc->inputSize;
    const ze_module_program_exp_desc_t one = {.count = 1,
                                              .inputSizes = &spirv_bytes,
                                              .pInputModules = &spirv,
                                              .pBuildFlags = &options,
                                              .pConstants = &constants};
    const ze_module_program_exp_desc_t *list = program_list(desc);
    *out_inputs = (struct shim_module_inputs){0};
    if (fill(out_inputs, list ? list : &one, message, message_size))
        return true;
    shim_module_inputs_finish(out_inputs);
    return false;
}

bool shim_module_inputs_init_plain(struct shim_module_inputs *out_inputs, const uint8_t *spirv,
                                   size_t spirv_bytes, char *message, size_t message_size)
{
    const ze_module_desc_t desc = {.pInputModule = spirv, .inputSize = spirv_bytes};
    return shim_module_inputs_init(out_inputs, &desc, message, message_size);
}

void shim_module_inputs_finish(struct shim_module_inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        zepi_spirv_finish(&inputs->inputs[i].walk);
        free(inputs->inputs[i].spirv);
        free(inputs->inputs[i].options);
        free(inputs->inputs[i].constants);
        free((void *)inputs->inputs[i].list.pConstantIds);
        free((void *)inputs->inputs[i].list.pConstantValues);
    }
    free(inputs->inputs);
    *inputs = (struct shim_module_inputs){0};
}

const struct zepi_spirv_kernel *shim_module_inputs_find(const struct shim_module_inputs *inputs,
                                                        const char *kernel)
{
    const struct zepi_spirv_kernel *found = NULL;
    for (uint32_t i = 0; i < inputs->count && !found; i++)
        found = zepi_spirv_find_kernel(&inputs->inputs[i].walk, kernel);
    return found;
}

// ---- Records: a count; for each input SPIR-V, options and constants, each with its length ----

bool shim_module_inputs_write(const struct shim_module_inputs *inputs, uint8_t **out_bytes,
                              size_t *out_size_bytes)
{
    char *bytes = NULL;
    FILE *file = open_memstream(&bytes, out_size_bytes);
    if (!file)
        return false;
    fwrite(&inputs->count, sizeof(inputs->count), 1, file);
    for (uint32_t i = 0; i < inputs->count; i++) {
        const struct shim_module_input *input = &inputs->inputs[i];
        cpu_field_write(file, input->spirv, input->spirv_bytes);
        cpu_field_write(file, input->options, strlen(input->options));
        cpu_field_write(file, input->constants, input->constant_count * sizeof(*input->constants));
    }
    const bool is_written = !ferror(file);
    if (fclose(file) != 0 || !is_written) {
        free(bytes);
        return false;
    }
    *out_bytes = (uint8_t *)bytes;
    return true;
}

static bool read_input(struct cpu_fields *cursor, struct shim_module_input *input)
{
    const uint8_t *spirv, *options, *constants;
    size_t spirv_bytes, options_bytes, constants_bytes;
    char message[256];
    if (!cpu_field_read(cursor, &spirv, &spirv_bytes) ||
        !cpu_field_read(cursor, &options, &options_bytes) ||
        !cpu_field_read(cursor, &constants, &constants_bytes) ||
        constants_bytes % sizeof(*input->constants) != 0)
        return false;
    if (!copy_spirv(input, spirv, spirv_bytes, NULL, message, sizeof(message)))
        return false;
    free(input->options);
    input->options = strndup((const char *)options, options_bytes);
    input->constants = malloc(constants_bytes + 1);
    if (!input->options || !input->constants)
        return false;
    memcpy(input->constants, constants, constants_bytes);
    input->constant_count = (uint32_t)(constants_bytes / sizeof(*input->constants));
    return list_constants(input);
}

bool shim_module_inputs_read(struct shim_module_inputs *out_inputs, const uint8_t *bytes,
                             size_t size_bytes)
{
    uint32_t count;
    *out_inputs = (struct shim_module_inputs){0};
    if (size_bytes < sizeof(count))
        return false;
    memcpy(&count, bytes, sizeof(count));
    struct cpu_fields cursor = {bytes + sizeof(count), size_bytes - sizeof(count)};
    // An input has three lengths at least.
    if (count > cursor.left / (3 * sizeof(uint64_t)))
        return false;
    out_inputs->inputs = calloc((size_t)count + 1, sizeof(*out_inputs->inputs));
    bool is_read = out_inputs->inputs != NULL;
    for (uint32_t i = 0; i < count && is_read; i++) {
        out_inputs->count++;
        is_read = read_input(&cursor, &out_inputs->inputs[i]);
    }
    if (is_read && cursor.left == 0)
        return true;
    shim_module_inputs_finish(out_inputs);
    return false;
}

// ---- The folder ----

static struct zepi_disk *disk; // NULL: there is none

static void open_folder(void)
{
    char path[PATH_MAX], folder[PATH_MAX + sizeof("/drm_shim")];
    const char *named = getenv("DRM_SHIM_RECORDS");
    if (named && named[0]) {
        disk = zepi_disk_create(named, FOLDER_BYTES);
    } else if (zepi_sys_choose_cache_folder(getenv("ZEPI_CACHE_DIR"), getenv("XDG_CACHE_HOME"),
                                            getenv("HOME"), path, sizeof(path))) {
        snprintf(folder, sizeof(folder), "%s/drm_shim", path);
        disk = zepi_disk_create(folder, FOLDER_BYTES);
    }
}

static bool make_key(struct zepi_key *key, struct zepi_digest code)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_folder);
    zepi_key_init(key, RECORD_VERSION);
    zepi_key_add_digest(key, RECORD_TAG_CODE, code);
    return zepi_key_seal(key) && disk;
}

bool shim_module_inputs_store(const struct shim_module_inputs *inputs, struct zepi_digest code)
{
    struct zepi_key key;
    struct zepi_build_record record = {.log = ""};
    uint8_t *bytes = NULL;
    const bool is_written =
        make_key(&key, code) && shim_module_inputs_write(inputs, &bytes, &record.payload_size);
    record.payload = bytes;
    if (is_written)
        zepi_disk_store_ops.store(disk, &key, &record);
    free(bytes);
    zepi_key_finish(&key);
    return is_written;
}

bool shim_module_inputs_load(struct shim_module_inputs *out_inputs, struct zepi_digest code)
{
    struct zepi_key key;
    struct zepi_build_record record = {0};
    *out_inputs = (struct shim_module_inputs){0};
    const bool is_read = make_key(&key, code) && zepi_disk_store_ops.load(disk, &key, &record) &&
                         shim_module_inputs_read(out_inputs, record.payload, record.payload_size);
    zepi_build_record_finish(&record);
    zepi_key_finish(&key);
    return is_read;
}
