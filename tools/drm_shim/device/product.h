// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_PRODUCT_H
#define DRM_SHIM_PRODUCT_H

#include "products.h"

// The one that DRM_SHIM_PRODUCT names, else the first. NULL, after a report, if the name is not
// known: there is no device then.
const struct shim_product *shim_product(void);

// Memory of one tile; of the system if the product is integrated.
uint64_t shim_product_memory(const struct shim_product *product);

// The table of the hardware's configuration that both kernel drivers pass on: its size in bytes.
#define SHIM_HARDWARE_WORDS 48
size_t shim_product_hardware(const struct shim_product *product, uint32_t *out_table);

#endif
