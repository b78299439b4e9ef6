// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_LRU_H
#define ZEPI_CACHE_LRU_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// Entries in the order of their last use, with their bytes and number. Intrusive: an entry holds a
// `struct zepi_lru_node`, and nothing here allocates or can fail.
//
// A use is one store, a stamp into the node. It moves nothing, so any number of threads may use
// different entries without sharing a cache line. The order is mended when somebody asks for the
// oldest: a heap by the stamp that each node had when it was last looked at; if the top one was
// used since, it sinks to where its new stamp belongs. Each such step is paid for by a use. Stamps
// can be compared across heaps, which gives several of them one common order.

struct zepi_lru_node {
    _Atomic uint64_t last_use;      // stamp
    uint64_t placed;                // the stamp by which the heap knows it; never above last_use
    struct zepi_lru_node *child;    // first of those placed later; borrowed, as all
    struct zepi_lru_node *next;     // sibling
    struct zepi_lru_node *previous; // sibling, or the parent of a first child
    uint64_t cost_bytes;
};

// All zeroes is empty.
struct zepi_lru {
    struct zepi_lru_node *top;
    uint64_t bytes; // sum of the nodes' costs
    uint64_t entries;
};

// The time of a use, for stamps. A counter that all threads share would move one cache line between
// all processors at every use; the processor's own clock runs at one rate on all of them and costs
// one instruction.
#if defined(__x86_64__) || defined(__i386__)
static inline uint64_t zepi_lru_stamp(void)
{
    return __builtin_ia32_rdtsc();
}
#else
uint64_t zepi_lru_stamp(void);
#endif

// The entry is used now. Thread-safe, also beside the functions below.
static inline void zepi_lru_touch(struct zepi_lru_node *node)
{
    // Relaxed: the stamp orders uses, it publishes nothing.
    atomic_store_explicit(&node->last_use, zepi_lru_stamp(), memory_order_relaxed);
}

// The functions below are not thread-safe: the owner of the heap has a lock.

// Adds a node that is in no heap, as just used.
void zepi_lru_add(struct zepi_lru *lru, struct zepi_lru_node *node, uint64_t cost_bytes);

// Takes a node out of the heap that it is in.
void zepi_lru_remove(struct zepi_lru *lru, struct zepi_lru_node *node);

// The node whose last use is oldest; its `placed` is that use's stamp. NULL if there is none. A use
// beside this call may or may not be seen.
struct zepi_lru_node *zepi_lru_oldest(struct zepi_lru *lru);

#endif
