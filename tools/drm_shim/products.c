// SPDX-License-Identifier: MIT
#include "products.h"

#include <string.h>

// What a product has under each kernel driver.
#define METEOR_LAKE                                                                                \
    .title = "Arc Graphics (Meteor Lake)", .family = SHIM_FAMILY_XE_HP, .device_id = 0x7d55,       \
    .revision = 4, .ip = {12, 71, 4}, .tiles = 1,                                                  \
    .engines = {.render = 1, .compute = 1, .copy = 1},                                             \
    .cores = {.slices = 2, .cores = 8, .vector_engines = 16, .threads = 8, .slm_kib = 128},        \
    .memory = {.l3_groups = 1, .l3_banks = 4, .va_bits = 48}, .mhz = 2250
#define ARROW_LAKE                                                                                 \
    .title = "Arc 140T (Arrow Lake)", .family = SHIM_FAMILY_XE_HP, .device_id = 0x7d51,            \
    .ip = {12, 74, 4}, .tiles = 1, .engines = {.render = 1, .compute = 1, .copy = 1},              \
    .cores = {.slices = 2, .cores = 8, .vector_engines = 16, .threads = 8, .slm_kib = 128},        \
    .memory = {.l3_groups = 1, .l3_banks = 4, .va_bits = 48}, .mhz = 2250
#define ARC_A770                                                                                   \
    .title = "Arc A770", .family = SHIM_FAMILY_XE_HP, .device_id = 0x56a0, .revision = 8,          \
    .ip = {12, 55, 8}, .tiles = 1, .engines = {.render = 1, .compute = 4, .copy = 1},              \
    .cores = {.slices = 8, .cores = 32, .vector_engines = 16, .threads = 8, .slm_kib = 128},       \
    .memory = {.l3_groups = 1, .l3_banks = 16, .vram_gib = 16, .va_bits = 48}, .mhz = 2400
#define GEN12LP                                                                                    \
    .interface = SHIM_INTERFACE_I915, .family = SHIM_FAMILY_GEN12LP, .tiles = 1,                   \
    .engines = {.render = 1, .copy = 1},                                                           \
    .cores = {.slices = 1, .cores = 6, .vector_engines = 16, .threads = 7, .slm_kib = 64},         \
    .memory = {.l3_groups = 1, .l3_banks = 8, .va_bits = 48}

static const struct shim_product products[] = {
    {.name = "bmg",
     .title = "Arc B580 (Battlemage)",
     .family = SHIM_FAMILY_XE2,
     .device_id = 0xe20b,
     .ip = {20, 1, 4},
     .tiles = 1,
     .engines = {.render = 1, .compute = 1, .copy = 1},
     .cores = {.slices = 5, .cores = 20, .vector_engines = 8, .threads = 8, .slm_kib = 128},
     .memory = {.l3_groups = 6, .l3_banks = 6, .vram_gib = 12, .va_bits = 48},
     .mhz = 2850},
    {.name = "lnl",
     .title = "Arc 140V (Lunar Lake)",
     .family = SHIM_FAMILY_XE2,
     .device_id = 0x64a0,
     .revision = 4,
     .ip = {20, 4, 4},
     .tiles = 1,
     .engines = {.render = 1, .compute = 1, .copy = 1},
     .cores = {.slices = 2, .cores = 8, .vector_engines = 8, .threads = 8, .slm_kib = 128},
     .memory = {.l3_groups = 1, .l3_banks = 8, .va_bits = 48},
     .mhz = 1950},
    {.name = "ptl",
     .title = "Panther Lake",
     .family = SHIM_FAMILY_XE2,
     .device_id = 0xb080,
     .ip = {30, 0, 4},
     .tiles = 1,
     .engines = {.render = 1, .compute = 1, .copy = 1},
     .cores = {.slices = 3, .cores = 12, .vector_engines = 8, .threads = 10, .slm_kib = 128},
     .memory = {.l3_groups = 1, .l3_banks = 16, .va_bits = 48},
     .mhz = 2400},
    {.name = "mtl", METEOR_LAKE},
    {.name = "mtl-i915", .interface = SHIM_INTERFACE_I915, METEOR_LAKE},
    {.name = "arl", ARROW_LAKE},
    {.name = "arl-i915", .interface = SHIM_INTERFACE_I915, ARROW_LAKE},
    {.name = "dg2", ARC_A770},
    {.name = "dg2-i915", .interface = SHIM_INTERFACE_I915, ARC_A770},
    {.name = "tgl",
     .title = "Iris Xe (Tiger Lake)",
     .device_id = 0x9a49,
     .revision = 1,
     .ip = {12, 0, 1},
     .mhz = 1300,
     GEN12LP},
    {.name = "adl",
     .title = "Iris Xe (Alder Lake)",
     .device_id = 0x46a6,
     .revision = 12,
     .ip = {12, 3, 0},
     .mhz = 1400,
     GEN12LP},
    {.name = "pvc",
     .title = "Data Center GPU Max 1550",
     .family = SHIM_FAMILY_XE_HP,
     .device_id = 0x0bd5,
     .revision = 0x2f,
     .ip = {12, 60, 7},
     .tiles = 2,
     .engines = {.compute = 4, .copy = 9},
     .cores = {.slices = 8, .cores = 64, .vector_engines = 8, .threads = 8, .slm_kib = 128},
     .memory = {.l3_groups = 1, .l3_banks = 64, .vram_gib = 64, .va_bits = 57},
     .mhz = 1600},
};

#define COUNT (sizeof(products) / sizeof(products[0]))

const struct shim_product *shim_product_at(size_t index)
{
    return index < COUNT ? &products[index] : NULL;
}

static const struct shim_product *find(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strlen(products[i].name) == length && memcmp(products[i].name, name, length) == 0)
            return &products[i];
    return NULL;
}

const struct shim_product *shim_product_find(const char *name)
{
    return find(name, strlen(name));
}

size_t shim_products_parse(const char *names,
                           const struct shim_product *out_products[SHIM_DEVICES_MAXIMUM])
{
    size_t count = 0;
    for (const char *name = names;; name++) {
        const size_t length = strcspn(name, ",");
        const struct shim_product *product = find(name, length);
        if (!product || count == SHIM_DEVICES_MAXIMUM)
            return 0;
        out_products[count++] = product;
        name += length;
        if (*name == '\0')
            return count;
    }
}

bool shim_products_have_tiles(const char *names)
{
    const struct shim_product *parsed[SHIM_DEVICES_MAXIMUM];
    const size_t count = names ? shim_products_parse(names, parsed) : 0;
    for (size_t i = 0; i < count; i++)
        if (parsed[i]->tiles > 1)
            return true;
    return false;
}

const char *shim_interface_name(enum shim_interface interface)
{
    return interface == SHIM_INTERFACE_I915 ? "i915" : "xe";
}
