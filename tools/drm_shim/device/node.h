// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_NODE_H
#define DRM_SHIM_NODE_H

#include "faults.h"
#include "products.h"

// A render node: one device, /dev/dri/renderD128 and the numbers behind it.
struct shim_node {
    uint32_t number; // from 0
    const struct shim_product *product;
};

// One for each product that DRM_SHIM_PRODUCT names, else for the first of the table. NULL behind
// the last; if a name is not known there are none, after a report.
const struct shim_node *shim_node_at(size_t number);

// Memory of one tile; of the system if the product is integrated.
uint64_t shim_node_memory(const struct shim_node *node);

// A call of a kernel driver that may be made to fail.
struct shim_fault_call {
    unsigned long request;
    enum shim_fault_site site;
};

// The table of the hardware's configuration that both kernel drivers pass on: its size in bytes.
#define SHIM_HARDWARE_WORDS 48
size_t shim_product_hardware(const struct shim_product *product, uint32_t *out_table);

#endif
