// SPDX-License-Identifier: MIT
#include "node.h"

#include "log.h"
#include "options.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)

static pthread_once_t nodes_once = PTHREAD_ONCE_INIT;
static struct shim_node nodes[SHIM_DEVICES_MAXIMUM];
static size_t node_count;

static void make_nodes(void)
{
    const struct shim_product *chosen[SHIM_DEVICES_MAXIMUM] = {shim_product_at(0)};
    const char *names = shim_options()->product;
    node_count = names && names[0] ? shim_products_parse(names, chosen) : 1;
    for (uint32_t i = 0; i < node_count; i++)
        nodes[i] = (struct shim_node){.number = i, .product = chosen[i]};
    if (node_count > 0)
        return;
    char list[256] = "";
    const struct shim_product *product;
    for (size_t i = 0, length = 0; (product = shim_product_at(i)) && length < sizeof(list); i++)
        length += (size_t)snprintf(list + length, sizeof(list) - length, " %s", product->name);
    shim_error("DRM_SHIM_PRODUCT: '%s' is none of the products, nor up to %u of them with commas; "
               "they are%s",
               names, SHIM_DEVICES_MAXIMUM, list);
}

const struct shim_node *shim_node_at(size_t number)
{
    pthread_once(&nodes_once, make_nodes);
    return number < node_count ? &nodes[number] : NULL;
}

uint64_t shim_node_memory(const struct shim_node *node)
{
    const struct shim_options *options = shim_options();
    const uint64_t vram_gib = node->product->memory.vram_gib;
    if (vram_gib == 0)
        return options->system_bytes;
    return options->vram_bytes ? options->vram_bytes : vram_gib * GIB;
}

size_t shim_product_hardware(const struct shim_product *product, uint32_t *out_table)
{
    // Attribute, number of words, value; all of one tile.
    const uint32_t table[SHIM_HARDWARE_WORDS] = {
        1,  1, product->cores.slices,
        2,  1, product->cores.cores, // dual subslices
        3,  1, product->cores.vector_engines,
        10, 1, 12, // memory channels
        11, 1, 4,  // kind of memory: GDDR6
        15, 1, product->cores.threads,
        23, 1, product->engines.render,
        24, 1, product->engines.compute,
        62, 1, 8,                    // MiB where a context is saved; the driver fails without
        64, 1, 512,                  // KiB of a bank of the L3 cache
        70, 1, product->cores.cores, // subslices
        71, 1, product->cores.vector_engines,
        73, 1, product->cores.slm_kib,
        83, 1, 1, // regions
        84, 1, product->memory.l3_banks,
        85, 1, product->memory.l3_groups,
    };
    memcpy(out_table, table, sizeof(table));
    return sizeof(table);
}
