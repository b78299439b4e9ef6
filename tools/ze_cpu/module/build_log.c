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
