// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_COMMANDS_H
#define DRM_SHIM_COMMANDS_H

#include <stdint.h>

// Layouts of commands, as Intel's public documentation of the hardware names their members. Words
// are read with memcpy: bit fields begin at bit 0 of their word.

// COMPUTE_WALKER begins with these words in all families that have it, and ends with the tail. Xe2
// has one word more between the two.
struct shim_walker_head {
    uint32_t length : 8, is_predicated : 1, is_partitioned : 1, is_indirect : 1, : 21;
    uint32_t : 32;
    uint32_t indirect_length : 17, : 13, partition_dimension : 2;           // 0: none; 1: X
    uint32_t indirect_start;                                                // from the general base
    uint32_t : 25, has_inline_data : 1, : 3, makes_local_ids : 1, simd : 2; // 8 << simd
    uint32_t execution_mask;
    uint32_t local_x : 10, local_y : 10, local_z : 10, : 2; // less one
    uint32_t groups[3];
    uint32_t first_group[3];
    uint32_t : 32;
    uint32_t partition_groups; // of one partition, in its dimension
    uint32_t unused[3];
};

struct shim_interface_descriptor {
    uint32_t kernel_start, kernel_start_high; // from the base of instructions; 64-byte aligned
    uint32_t unused[2];
    uint32_t binding_table; // from the base of surface states; 32-byte aligned
    uint32_t threads : 10, : 6, slm_size : 4, : 12;
    uint32_t unused_too[2];
};

enum shim_result_operation { SHIM_RESULT_NONE, SHIM_RESULT_VALUE, SHIM_RESULT_TIME = 3 };

// What a walker writes at its end.
struct shim_walker_result {
    uint32_t operation : 2, : 30;
    uint32_t address[2], value[2];
};

struct shim_walker_tail {
    struct shim_interface_descriptor descriptor;
    struct shim_walker_result result;
    uint32_t inline_data[8];
};

#define SHIM_WALKER_WORDS_XE_HP 39
#define SHIM_WALKER_WORDS_XE2 40

_Static_assert(sizeof(struct shim_walker_head) == 18 * 4, "words 0 to 17");
_Static_assert(sizeof(struct shim_walker_head) + sizeof(struct shim_walker_tail) ==
                   SHIM_WALKER_WORDS_XE_HP * 4,
               "head and tail");

static inline uint64_t shim_quad(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

#endif
