// SPDX-License-Identifier: MIT
// libur_adapter_zepi.so under another name, ZEPI_UR_NAME. A loader that looks for the other getters
// finds them there, as this library needs it.
#include "ur/layout/getter.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

// Libraries of DPC++'s compiler, each behind those that it needs. The adapters that are built with
// it, of these names, bring them in, and the OpenCL loader of the Python packages, which lies
// beside them, finds them in no other way.
static const char *const companions[] = {"libintlc.so.5", "libimf.so", "libirng.so", "libsvml.so"};
#define COMPANION_COUNT (sizeof(companions) / sizeof(companions[0]))
static void *handles[COMPANION_COUNT]; // owned; NULL: not there

static void open_companions(const void *caller)
{
    Dl_info info;
    char path[PATH_MAX];
    const char *end = dladdr(caller, &info) ? strrchr(info.dli_fname, '/') : NULL;
    for (size_t i = 0; i < COMPANION_COUNT && end; i++) {
        const int length = (int)(end - info.dli_fname);
        const int written =
            snprintf(path, sizeof(path), "%.*s/%s", length, info.dli_fname, companions[i]);
        if (!handles[i] && written < (int)sizeof(path))
            handles[i] = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    }
}

__attribute__((destructor)) static void close_companions(void)
{
    for (size_t i = COMPANION_COUNT; i-- > 0;) {
        if (handles[i])
            dlclose(handles[i]);
    }
}

UR_DLLEXPORT ur_result_t UR_APICALL urGetAdapterProcAddrTable(ur_api_version_t version,
                                                              void *pDdiTable);

ur_result_t UR_APICALL urGetAdapterProcAddrTable(ur_api_version_t version, void *pDdiTable)
{
    const void *caller = __builtin_extract_return_addr(__builtin_return_address(0));
    const ur_result_t result =
        zepi_ur_get_table(ZEPI_UR_TABLE_Adapter, version, pDdiTable, ZEPI_UR_NAME, caller);
    if (result == UR_RESULT_SUCCESS)
        open_companions(caller);
    return result;
}
