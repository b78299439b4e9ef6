// SPDX-License-Identifier: MIT
#include "entry.h"
#include "free_programs.h"
#include "module.h"
#include "module_build.h"

#include <stdlib.h>
#include <string.h>

// All symbols of the modules, as one list of borrowed tables. NULL without memory.
static struct zepi_spirv *gather(struct cpu_module *const *modules, uint32_t count,
                                 uint32_t *out_count)
{
    uint32_t table_count = 0;
    for (uint32_t i = 0; i < count; i++)
        table_count += modules[i]->table_count;
    struct zepi_spirv *tables = calloc(table_count != 0 ? table_count : 1, sizeof(tables[0]));
    if (tables == NULL)
        return NULL;
    uint32_t index = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < modules[i]->table_count; j++)
            tables[index++] = modules[i]->tables[j];
    *out_count = table_count;
    return tables;
}

static ze_result_t check(struct cpu_module *const *modules, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ze_result_t result = cpu_object_check(modules[i], CPU_MODULE, "zeModuleDynamicLink");
        if (result != ZE_RESULT_SUCCESS)
            return result;
        pthread_mutex_lock(&modules[i]->mutex);
        bool is_linked = modules[i]->is_linked;
        pthread_mutex_unlock(&modules[i]->mutex);
        if (is_linked) {
            cpu_report("zeModuleDynamicLink", "module %p is linked already", (void *)modules[i]);
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t link_objects(struct cpu_module *const *modules, uint32_t count,
                                struct cpu_program **out_program, struct cpu_log *log)
{
    uint32_t table_count = 0, object_count = 0, unresolved;
    struct zepi_spirv *tables = gather(modules, count, &table_count);
    cl_program *objects = calloc(count, sizeof(objects[0]));
    struct zepi_digest *codes = calloc(count, sizeof(codes[0]));
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    bool are_loaded = true;
    for (uint32_t i = 0; objects != NULL && codes != NULL && i < count; i++)
        if (modules[i]->object_program != NULL) {
            are_loaded = are_loaded && modules[i]->object_code.low != 0;
            codes[object_count] = modules[i]->object_code;
            objects[object_count++] = modules[i]->object_program;
        }
    if (tables != NULL && object_count > 0) {
        const struct zepi_digest code = zepi_digest_of(codes, object_count * sizeof(codes[0]));
        cl_program known = are_loaded ? cpu_free_program_take(code) : NULL;
        if (known != NULL)
            *out_program = cpu_program_create(known, tables, table_count);
        else
            result = cpu_module_link(objects, object_count, tables, table_count, out_program,
                                     &unresolved, log);
        if (*out_program != NULL) {
            (*out_program)->code = are_loaded ? code : (struct zepi_digest){0};
            result = ZE_RESULT_SUCCESS;
        }
    }
    free(tables);
    free(objects);
    free(codes);
    return result;
}

// Every module with something to link gets the one program, so that all share its global variables.
static void adopt(struct cpu_module *const *modules, uint32_t count, struct cpu_program *program)
{
    for (uint32_t i = 0; i < count; i++) {
        if (modules[i]->object_program == NULL)
            continue;
        cpu_program_own(program);
        pthread_mutex_lock(&modules[i]->mutex);
        struct cpu_program *before = modules[i]->program;
        modules[i]->program = program;
        modules[i]->is_linked = true;
        pthread_mutex_unlock(&modules[i]->mutex);
        cpu_program_disown(before);
    }
}

ze_result_t ZE_APICALL cpu_zeModuleDynamicLink(uint32_t numModules, ze_module_handle_t *phModules,
                                               ze_module_build_log_handle_t *phLinkLog)
{
    struct cpu_module *const *modules = (struct cpu_module *const *)phModules;
    ze_result_t result = check(modules, numModules);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    bool has_objects = false;
    for (uint32_t i = 0; i < numModules; i++)
        has_objects = has_objects || modules[i]->object_program != NULL;
    struct cpu_log log = {0};
    struct cpu_program *program = NULL;
    if (has_objects)
        result = link_objects(modules, numModules, &program, &log);
    if (program != NULL) {
        adopt(modules, numModules, program);
        cpu_program_disown(program);
    }
    ze_result_t logged = cpu_log_give(&log, phLinkLog);
    return result != ZE_RESULT_SUCCESS ? result : logged;
}

static void list_symbols(struct cpu_log *log, const struct zepi_spirv *tables, uint32_t table_count,
                         ze_linkage_inspection_ext_flags_t flags)
{
    if (flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS)
        cpu_log_add_unresolved(log, tables, table_count);
    for (uint32_t i = 0; i < table_count; i++)
        for (uint32_t j = 0; j < tables[i].symbol_count; j++) {
            const struct zepi_spirv_symbol *symbol = &tables[i].symbols[j];
            bool is_import = symbol->linkage == ZEPI_SPIRV_IMPORT;
            if (is_import && (flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_IMPORTS))
                cpu_log_add(log, "import %s\n", symbol->name);
            if (!is_import && (flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS))
                cpu_log_add(log, "export %s\n", symbol->name);
        }
}

ze_result_t ZE_APICALL cpu_zeModuleInspectLinkageExt(ze_linkage_inspection_ext_desc_t *pInspectDesc,
                                                     uint32_t numModules,
                                                     ze_module_handle_t *phModules,
                                                     ze_module_build_log_handle_t *phLog)
{
    struct cpu_module *const *modules = (struct cpu_module *const *)phModules;
    ze_result_t result = cpu_objects_check(numModules, phModules, CPU_MODULE, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint32_t table_count = 0;
    struct zepi_spirv *tables = gather(modules, numModules, &table_count);
    if (tables == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    struct cpu_log log = {0};
    list_symbols(&log, tables, table_count, pInspectDesc->flags);
    free(tables);
    return cpu_log_give(&log, phLog);
}
