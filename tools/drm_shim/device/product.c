// SPDX-License-Identifier: MIT
#include "product.h"

#include "log.h"
#include "options.h"

#include <pthread.h>
#include <stdio.h>

#define GIB (UINT64_C(1) << 30)

static pthread_once_t product_once = PTHREAD_ONCE_INIT;
static const struct shim_product *chosen;

static void choose(void)
{
    const char *name = shim_options()->product;
    chosen = name && name[0] ? shim_product_find(name) : shim_product_at(0);
    if (chosen)
        return;
    char list[256] = "";
    const struct shim_product *product;
    for (size_t i = 0, length = 0; (product = shim_product_at(i)) && length < sizeof(list); i++)
        length += (size_t)snprintf(list + length, sizeof(list) - length, " %s", product->name);
    shim_error("DRM_SHIM_PRODUCT: '%s' is none of the products, which are%s", name, list);
}

const struct shim_product *shim_product(void)
{
    pthread_once(&product_once, choose);
    return chosen;
}

uint64_t shim_product_memory(const struct shim_product *product)
{
    const struct shim_options *options = shim_options();
    if (product->memory.vram_gib == 0)
        return options->system_bytes;
    return options->vram_bytes ? options->vram_bytes : product->memory.vram_gib * GIB;
}
