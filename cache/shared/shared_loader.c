// SPDX-License-Identifier: MIT
//
// shared.h for the core library: opens the library of the store, which lies beside the core. A
// process has one store.
#include "cache/shared/shared_library.h"
#include "core/sys.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Of the store that is there; NULL: none. The dynamic linker counts how often it was opened.
static void *handle;
static const struct zepi_shared_library *library;

// Returns false with *out_refusal.
static bool library_open(char out_refusal[ZEPI_SHARED_TEXT_BYTES])
{
    char path[PATH_MAX];
    if (!zepi_sys_find_beside(ZEPI_SHARED_LIBRARY, path) || access(path, F_OK) != 0) {
        snprintf(out_refusal, ZEPI_SHARED_TEXT_BYTES,
                 "this zepi is built without it: build zepi with libhiredis-dev and libssl-dev");
        return false;
    }
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct zepi_shared_library *found =
        opened ? dlsym(opened, ZEPI_SHARED_LIBRARY_SYMBOL) : NULL;
    if (found && strcmp(found->version, ZEPI_PROJECT_VERSION) == 0) {
        handle = opened;
        library = found;
        return true;
    }
    const char *error = found ? NULL : dlerror();
    snprintf(out_refusal, ZEPI_SHARED_TEXT_BYTES, "its library cannot be used: %s",
             error ? error : "it is of another version of zepi");
    if (opened)
        dlclose(opened);
    return false;
}

struct zepi_shared *zepi_shared_create(const struct zepi_shared_config *config,
                                       char out_refusal[ZEPI_SHARED_TEXT_BYTES])
{
    if (!library_open(out_refusal))
        return NULL;
    struct zepi_shared *shared = library->create(config, out_refusal);
    if (!shared)
        dlclose(handle);
    return shared;
}

void zepi_shared_destroy(struct zepi_shared *shared)
{
    if (!shared)
        return;
    library->destroy(shared);
    dlclose(handle);
}

void zepi_shared_describe(const struct zepi_shared *shared, char out_state[ZEPI_SHARED_TEXT_BYTES])
{
    library->describe(shared, out_state);
}

static bool loaded_load(void *self, const struct zepi_key *key,
                        struct zepi_build_record *out_record)
{
    return library->ops->load(self, key, out_record);
}

static void loaded_store(void *self, const struct zepi_key *key,
                         const struct zepi_build_record *record)
{
    library->ops->store(self, key, record);
}

static void loaded_abandon(void *self, const struct zepi_key *key)
{
    library->ops->abandon(self, key);
}

static void loaded_remove(void *self, const struct zepi_key *key)
{
    library->ops->remove(self, key);
}

const struct zepi_build_store_ops zepi_shared_store_ops = {
    .load = loaded_load,
    .store = loaded_store,
    .abandon = loaded_abandon,
    .remove = loaded_remove,
};
