// SPDX-License-Identifier: MIT
#include "entry.h"
#include "module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cpu_log_add(struct cpu_log *log, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *grown = length >= 0 ? realloc(log->text, log->length + (size_t)length + 1) : NULL;
    if (grown != NULL) {
        vsnprintf(grown + log->length, (size_t)length + 1, format, again);
        log->text = grown;
        log->length += (size_t)length;
    }
    va_end(again);
}

void cpu_log_finish(struct cpu_log *log)
{
    free(log->text);
    *log = (struct cpu_log){0};
}

ze_result_t cpu_log_give(struct cpu_log *log, ze_module_build_log_handle_t *out_handle)
{
    struct cpu_build_log *build_log =
        out_handle != NULL ? cpu_object_create(CPU_BUILD_LOG, sizeof(*build_log)) : NULL;
    if (build_log != NULL)
        build_log->log = *log;
    else
        cpu_log_finish(log);
    if (out_handle == NULL)
        return ZE_RESULT_SUCCESS;
    *out_handle = (ze_module_build_log_handle_t)build_log;
    return build_log != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

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

ze_result_t ZE_APICALL cpu_zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog)
{
    struct cpu_build_log *build_log = (struct cpu_build_log *)hModuleBuildLog;
    cpu_log_finish(&build_log->log);
    cpu_object_destroy(build_log);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeModuleBuildLogGetString(ze_module_build_log_handle_t hModuleBuildLog,
                                                     size_t *pSize, char *pBuildLog)
{
    const struct cpu_build_log *build_log = (const struct cpu_build_log *)hModuleBuildLog;
    size_t needed = build_log->log.length + 1;
    if (pBuildLog != NULL && *pSize > 0) {
        size_t copied = *pSize < needed ? *pSize : needed;
        if (build_log->log.length > 0)
            memcpy(pBuildLog, build_log->log.text, copied - 1);
        pBuildLog[copied - 1] = '\0';
    }
    *pSize = needed;
    return ZE_RESULT_SUCCESS;
}
