// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_PARTITIONS_H
#define DRM_SHIM_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>

// A kernel that the tiles of a device share: each tile runs the same batch and executes the groups
// of its partition. The CPU executes a kernel as a whole only, so the last partition to arrive
// executes all groups, and the others end when it has. Thread-safe.
struct shim_partitioned;

enum shim_partition_state {
    SHIM_PARTITION_WAITS, // for the others
    SHIM_PARTITION_RUNS,  // all have arrived, and this one executes the kernel
    SHIM_PARTITION_ENDED, // the kernel is over
    SHIM_PARTITION_FAILED,
};

// The partition `number` of `count` has come to the walker at a GPU address. NULL after a report
// if it was there before, or there is no memory.
struct shim_partitioned *shim_partitions_arrive(uint64_t walker, uint32_t number, uint32_t count);

// What the partition does now. At most one is told to run.
enum shim_partition_state shim_partitioned_state(struct shim_partitioned *partitioned);
// The one that ran says how it ended.
void shim_partitioned_end(struct shim_partitioned *partitioned, bool is_done);
// Each partition leaves once; NULL is fine.
void shim_partitioned_leave(struct shim_partitioned *partitioned);

#endif
