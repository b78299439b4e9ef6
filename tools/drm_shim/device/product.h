// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_PRODUCT_H
#define DRM_SHIM_PRODUCT_H

#include "products.h"

// The one that DRM_SHIM_PRODUCT names, else the first. NULL, after a report, if the name is not
// known: there is no device then.
const struct shim_product *shim_product(void);

// Memory of one tile; of the system if the product is integrated.
uint64_t shim_product_memory(const struct shim_product *product);

#endif
