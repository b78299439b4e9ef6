// SPDX-License-Identifier: MIT
#include "level_zero.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct level_zero level_zero;
static void *loader; // never closed: drivers keep threads

void *level_zero_find(const char *name)
{
    return dlsym(loader, name);
}

bool level_zero_open(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define FUNCTION(function) {#function, offsetof(struct level_zero, function)},
        LEVEL_ZERO_FUNCTIONS(FUNCTION)
#undef FUNCTION
    };
    if (!loader)
        loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = loader ? level_zero_find(functions[i].name) : NULL;
        if (!symbol)
            return false;
        memcpy((char *)&level_zero + functions[i].offset, &symbol, sizeof(symbol));
    }
    return true;
}
