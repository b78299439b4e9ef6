// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_VM_H
#define DRM_SHIM_VM_H

#include "memory/address_space.h"

#include <drm/xe_drm.h>

// Address spaces by their numbers, and binding. All functions return 0 or an error number.
int shim_vm_create(struct drm_xe_vm_create *create);
int shim_vm_destroy(const struct drm_xe_vm_destroy *destroy);
int shim_vm_bind(const struct drm_xe_vm_bind *bind);

// Borrowed; NULL if there is no such number.
struct shim_address_space *shim_vm_find(uint32_t id);

#endif
