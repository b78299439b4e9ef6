// SPDX-License-Identifier: MIT
#include "ze/ze.h"

#include <dlfcn.h>
#include <string.h>

struct zepi_ze zepi_ze;
static void *loader;

void *zepi_ze_symbol(const char *name)
{
    return loader ? dlsym(loader, name) : NULL;
}

static bool is_extension(const char *name)
{
    const size_t length = strlen(name);
    return length > 3 &&
           (strcmp(name + length - 3, "Ext") == 0 || strcmp(name + length - 3, "Exp") == 0);
}

zepi_result_t zepi_ze_open(void)
{
    static const struct {
        const char *name;
        size_t offset;
        bool is_later;
    } functions[] = {
#define FUNCTION(function) {#function, offsetof(struct zepi_ze, function), false},
#define LATER(function, arguments) {#function, offsetof(struct zepi_ze, function), true},
        ZEPI_ZE_FUNCTIONS(FUNCTION) ZEPI_ZE_LATER_FUNCTIONS(LATER)
#undef FUNCTION
#undef LATER
    };
    // Never closed: what a driver leaves must stay mapped (quirk threads-stay).
    loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader)
        return zepi_fail(ZEPI_ERROR_UNINITIALIZED,
                         "there is no Level Zero loader: install libze1 (Debian), "
                         "level-zero-loader or the like (%s)",
                         dlerror());
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = dlsym(loader, functions[i].name);
        if (!symbol && !functions[i].is_later && !is_extension(functions[i].name)) {
            loader = NULL;
            return zepi_fail(ZEPI_ERROR_UNSUPPORTED_VERSION,
                             "the Level Zero loader is too old: it lacks %s (expected 1.8.12 or "
                             "later)",
                             functions[i].name);
        }
        memcpy((char *)&zepi_ze + functions[i].offset, &symbol, sizeof(symbol));
    }
    return ZEPI_SUCCESS;
}
