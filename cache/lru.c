// SPDX-License-Identifier: MIT
#include "cache/lru.h"

#include <assert.h>
#include <time.h>

// A counter that all threads share would move one cache line between all processors at every use.
// The processor's own clock runs at one rate on all of them and costs one instruction.
#if defined(__x86_64__) || defined(__i386__)
static inline uint64_t stamp_now(void)
{
    return __builtin_ia32_rdtsc();
}
#else
static inline uint64_t stamp_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
#endif

static void link_newest(struct zepi_lru *lru, struct zepi_lru_node *node)
{
    node->newer = NULL;
    node->older = lru->newest;
    if (lru->newest)
        lru->newest->newer = node;
    else
        lru->oldest = node;
    lru->newest = node;
}

static void unlink_node(struct zepi_lru *lru, struct zepi_lru_node *node)
{
    if (node->newer)
        node->newer->older = node->older;
    else
        lru->newest = node->older;
    if (node->older)
        node->older->newer = node->newer;
    else
        lru->oldest = node->newer;
}

void zepi_lru_add(struct zepi_lru *lru, struct zepi_lru_node *node, uint64_t cost_bytes)
{
    node->cost_bytes = cost_bytes;
    node->stamp = stamp_now();
    link_newest(lru, node);
    lru->bytes += cost_bytes;
    lru->entries++;
}

void zepi_lru_remove(struct zepi_lru *lru, struct zepi_lru_node *node)
{
    assert(lru->entries > 0 && lru->bytes >= node->cost_bytes);
    unlink_node(lru, node);
    lru->bytes -= node->cost_bytes;
    lru->entries--;
}

void zepi_lru_touch(struct zepi_lru *lru, struct zepi_lru_node *node)
{
    node->stamp = stamp_now();
    if (lru->newest == node)
        return;
    unlink_node(lru, node);
    link_newest(lru, node);
}
