// SPDX-License-Identifier: MIT
#include "cache/shared/shared_library.h"

#include "core/sys.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static void *handle; // NULL: it is not open

const struct zepi_shared_library *zepi_shared_library_open(char out_refusal[ZEPI_SHARED_TEXT_BYTES])
{
    char path[PATH_MAX];
    const void *found = NULL;
    if (!zepi_sys_find_beside("libzepi_shared_store.so", path) || access(path, F_OK) != 0) {
        snprintf(out_refusal, ZEPI_SHARED_TEXT_BYTES,
                 "this zepi is built without it: build zepi with libhiredis-dev and libssl-dev");
        return NULL;
    }
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle)
        found = dlsym(handle, ZEPI_SHARED_TABLE);
    if (!found) {
        snprintf(out_refusal, ZEPI_SHARED_TEXT_BYTES, "its library cannot be used: %s", dlerror());
        zepi_shared_library_close();
    }
    return found;
}

void zepi_shared_library_close(void)
{
    if (handle)
        dlclose(handle);
    handle = NULL;
}
