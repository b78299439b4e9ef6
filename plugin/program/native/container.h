// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_NATIVE_CONTAINER_H
#define ZEPI_PROGRAM_NATIVE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Native code of a module that is made of several ze_modules, in one piece:
//
//     magic      8 bytes
//     version    4 bytes
//     count      4 bytes, 1 to ZEPI_CONTAINER_MAX
//     checksum   16 bytes, XXH3-128 of everything behind it with the 16 bytes in front
//     member*    group, 4 bytes; 0, 4 bytes; length, 8 bytes
//     the members' bytes, one behind the other, up to the end
//
// Integers are little endian. All functions are pure. Members of one group are linked with each
// other when they are loaded as an executable; groups ascend from 0 without a gap.

#define ZEPI_CONTAINER_MAX 65536u

struct zepi_container_member {
    const void *bytes; // borrowed
    size_t size_bytes;
    uint32_t group;
};

// The size of a container of these members.
size_t zepi_container_size(uint32_t count, const struct zepi_container_member *members);
// Writes it to `out`, which has room for zepi_container_size.
void zepi_container_pack(uint32_t count, const struct zepi_container_member *members, void *out);

// Whether the bytes mean to be a container, whole or not.
bool zepi_container_is(const void *bytes, size_t size_bytes);

// How many members a container has, or 0: it is damaged, and *out_reason (static) says how. All
// offsets and sizes are checked here.
uint32_t zepi_container_check(const void *bytes, size_t size_bytes, const char **out_reason);
// Lists the members of a container that was checked, borrowed from it.
void zepi_container_unpack(const void *bytes, struct zepi_container_member *out_members);

#endif
