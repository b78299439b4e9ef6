// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_PRODUCTS_H
#define DRM_SHIM_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHIM_TILES_MAXIMUM 2
#define SHIM_DEVICES_MAXIMUM 4

// How a family encodes its commands (engine/commands.h).
enum shim_family {
    SHIM_FAMILY_XE2,   // Xe2 and Xe3
    SHIM_FAMILY_XE_HP, // Xe-HPG, Xe-LPG, Xe-HPC
    SHIM_FAMILY_GEN12LP,
};

// The kernel driver below Intel's.
enum shim_interface {
    SHIM_INTERFACE_XE,
    SHIM_INTERFACE_I915,
};

// A GPU that the stand-in is. Names, ids, IP versions, engines and cores are those of the product;
// the rest of the hardware configuration is plausible.
struct shim_product {
    const char *name, *title;
    enum shim_interface interface;
    enum shim_family family;
    uint16_t device_id, revision;
    struct {
        uint16_t major, minor, revision;
    } ip;
    uint16_t tiles; // SHIM_TILES_MAXIMUM at most; the members below are of one
    struct {
        uint16_t render, compute, copy;
    } engines;
    struct {
        uint16_t slices, cores;           // cores of all slices
        uint16_t vector_engines, slm_kib; // of a core
        uint16_t threads;                 // of a vector engine
    } cores;
    struct {
        uint16_t l3_groups, l3_banks; // banks of a group
        uint16_t vram_gib;            // 0: integrated, with the system's memory
        uint16_t va_bits;
    } memory;
    uint16_t mhz;
};

// NULL behind the last one.
const struct shim_product *shim_product_at(size_t index);
const struct shim_product *shim_product_find(const char *name); // NULL: there is none
// Names with commas between them: their number; 0 if one is none, or there are too many.
size_t shim_products_parse(const char *names,
                           const struct shim_product *out_products[SHIM_DEVICES_MAXIMUM]);
// Whether one of them has several tiles; NULL: none.
bool shim_products_have_tiles(const char *names);

const char *shim_interface_name(enum shim_interface interface);

#endif
