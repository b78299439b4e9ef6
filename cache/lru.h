// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_LRU_H
#define ZEPI_CACHE_LRU_H

#include <stddef.h>
#include <stdint.h>

// Entries in the order of their last use, with their bytes and number. Intrusive: an entry holds a
// `struct zepi_lru_node`, and nothing here allocates or can fail. Not thread-safe: the owner of the
// list has a lock.
//
// A use also leaves a stamp, and stamps can be compared across lists and threads. That is what
// gives several lists, each with its own lock, one common order: of their oldest entries, the one
// with the lowest stamp is the oldest of all.

struct zepi_lru_node {
    struct zepi_lru_node *newer; // borrowed; NULL: the newest
    struct zepi_lru_node *older;
    uint64_t stamp; // of the last use
    uint64_t cost_bytes;
};

// All zeroes is an empty list.
struct zepi_lru {
    struct zepi_lru_node *newest; // borrowed
    struct zepi_lru_node *oldest;
    uint64_t bytes; // sum of the nodes' costs
    uint64_t entries;
};

// Adds a node that is in no list, as just used.
void zepi_lru_add(struct zepi_lru *lru, struct zepi_lru_node *node, uint64_t cost_bytes);

// Takes a node out of the list that it is in.
void zepi_lru_remove(struct zepi_lru *lru, struct zepi_lru_node *node);

// Makes a node of the list the newest, with a new stamp.
void zepi_lru_touch(struct zepi_lru *lru, struct zepi_lru_node *node);

#endif
