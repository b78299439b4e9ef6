// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_VM_H
#define DRM_SHIM_VM_H

#include "buffer.h"
#include "memory/address_space.h"

// Address spaces by their numbers, and buffers bound in them. Functions with a result of int return
// 0 or an error number.
int shim_vm_create(uint32_t *out_id);
int shim_vm_destroy(uint32_t id);

// Borrowed; NULL if there is no such number.
struct shim_address_space *shim_vm_find(uint32_t id);

// Binds a part of a buffer.
int shim_vm_bind(struct shim_address_space *space, uint64_t address, uint64_t size,
                 const struct shim_buffer *buffer, uint64_t offset);
int shim_vm_unbind(struct shim_address_space *space, uint64_t address, uint64_t size);

#endif
