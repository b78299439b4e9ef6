// SPDX-License-Identifier: MIT
#include "code_folder.h"

#include "cache/disk/disk.h"
#include "native_binary.h"
#include "options.h"

#include <stdlib.h>

enum { KEY_VERSION = 2 };
enum key_tag {
    TAG_RUNTIME,
    TAG_OPTIONS,
    TAG_SPIRV,
    TAG_CONSTANT,
};

static struct zepi_disk *folder; // NULL: there is none, or no memory

static void open_folder(void)
{
    if (cpu_options()->code_folder != NULL)
        folder = zepi_disk_create(cpu_options()->code_folder, UINT64_MAX);
}

// The values of constants that an input declares.
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

void cpu_code_key_init(struct zepi_key *key, const struct cpu_module *module,
                       const struct cpu_input *inputs, struct cpu_source *const *sources)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_folder);
    zepi_key_init(key, KEY_VERSION);
    if (folder == NULL)
        return;
    zepi_key_add_string(key, TAG_RUNTIME, cpu_opencl()->driver_version);
    for (uint32_t i = 0; i < module->table_count; i++) {
        zepi_key_add_string(key, TAG_OPTIONS, sources[i]->options);
        zepi_key_add_bytes(key, TAG_SPIRV, sources[i]->spirv, sources[i]->spirv_bytes);
        for (uint32_t j = 0; j < module->table_count; j++)
            add_constants(key, inputs[j].constants, &module->tables[i]);
    }
    (void)zepi_key_seal(key);
}

bool cpu_code_load(const struct zepi_key *key, struct cpu_module *module, struct cpu_log *log)
{
    struct zepi_build_record record = {0};
    struct cpu_native native;
    struct cpu_log refusal = {0};
    if (!key->is_sealed || !zepi_disk_store_ops.load(folder, key, &record))
        return false;
    const bool is_loaded =
        cpu_native_unpack(record.payload, record.payload_size, &native, &refusal) &&
        cpu_native_load(module, &native, &refusal) == ZE_RESULT_SUCCESS;
    if (is_loaded && record.log_size > 0)
        cpu_log_add(log, "%.*s", (int)record.log_size, record.log);
    if (!is_loaded && module->object_program != NULL) {
        cpu_opencl()->api->clReleaseProgram(module->object_program);
        module->object_program = NULL;
    }
    cpu_log_finish(&refusal);
    cpu_native_finish(&native);
    zepi_build_record_finish(&record);
    return is_loaded;
}

void cpu_code_keep(const struct zepi_key *key, const struct cpu_module *module,
                   const struct cpu_log *log)
{
    struct zepi_build_record record = {.log = log->text != NULL ? log->text : "",
                                       .log_size = log->length};
    if (!key->is_sealed)
        return;
    uint8_t *code = cpu_native_pack(module, &record.payload_size);
    record.payload = code;
    if (code != NULL)
        zepi_disk_store_ops.store(folder, key, &record);
    free(code);
}
