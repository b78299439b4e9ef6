// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_ADDRESS_SPACE_H
#define DRM_SHIM_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

// The GPU's addresses have 48 bits; those above are copies of bit 47.
#define SHIM_ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

// Memory that is bound at GPU addresses (the kernel's "VM"). Reference-counted: an execution queue
// holds its address space. Thread-safe.
struct shim_address_space;

struct shim_address_space *shim_address_space_create(void); // NULL without memory
void shim_address_space_retain(struct shim_address_space *space);
void shim_address_space_release(struct shim_address_space *space); // NULL is fine

// Binds memory of this process; it replaces memory that was bound there. `is_same`: the program
// finds the same memory at the same address. False without memory.
bool shim_address_space_bind(struct shim_address_space *space, uint64_t address, uint64_t size,
                             uint8_t *bytes, bool is_same);
bool shim_address_space_unbind(struct shim_address_space *space, uint64_t address, uint64_t size);
// Where a GPU address lies in this process, and how many bytes of one binding follow; NULL if
// nothing is bound. Holds for as long as the binding does.
uint8_t *shim_address_space_find(struct shim_address_space *space, uint64_t address,
                                 uint64_t *out_left);

// The address in this process of the memory that a pointer argument of a kernel points to.
void *shim_address_space_cpu_pointer(struct shim_address_space *space, uint64_t address);

#endif
