// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_REGISTERS_H
#define DRM_SHIM_REGISTERS_H

#include "memory/address_space.h"

#include <stdbool.h>
#include <stdint.h>

#define SHIM_REGISTER_PREDICATE_1 0x2418u
#define SHIM_REGISTER_PREDICATE_2 0x23bcu
// The number of the partition, and the distance in bytes of the partitions' results.
#define SHIM_REGISTER_PARTITION 0x221cu
#define SHIM_REGISTER_PARTITION_DISTANCE 0x23b4u
#define SHIM_REGISTER_GROUPS_X 0x2500u // of an indirect launch; Y and Z follow

// The registers of one command streamer. Each engine has them at a base of its own with one layout;
// all of them name this streamer's. Other registers take any value and read as 0.
struct shim_registers {
    uint32_t words[1024];
};

// Whether it is one that shows the time.
bool shim_registers_is_time(uint32_t offset);
uint32_t shim_registers_read(const struct shim_registers *registers, uint32_t offset);
void shim_registers_write(struct shim_registers *registers, uint32_t offset, uint32_t value);

// The sixteen 64-bit registers for general use.
uint64_t shim_registers_general(const struct shim_registers *registers, uint32_t index);
void shim_registers_set_general(struct shim_registers *registers, uint32_t index, uint64_t value);

// MI_MATH: runs ALU instructions. False if one of them is not known, or its memory is not bound.
bool shim_registers_compute(struct shim_registers *registers, struct shim_address_space *space,
                            const uint32_t *instructions, uint32_t count);

#endif
