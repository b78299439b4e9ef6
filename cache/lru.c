// SPDX-License-Identifier: MIT
#include "cache/lru.h"

#include <assert.h>
#include <time.h>

#if !defined(__x86_64__) && !defined(__i386__)
uint64_t zepi_lru_stamp(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
#endif

// A pairing heap: a tree of any shape whose parents are placed before their children.
static struct zepi_lru_node *merge(struct zepi_lru_node *a, struct zepi_lru_node *b)
{
    if (!a)
        return b;
    if (!b)
        return a;
    if (b->placed < a->placed) {
        struct zepi_lru_node *swap = a;
        a = b;
        b = swap;
    }
    b->next = a->child;
    b->previous = a;
    if (a->child)
        a->child->previous = b;
    a->child = b;
    return a;
}

// Siblings become one tree: in pairs from first to last, then the pairs from last to first, which
// is what keeps later removals cheap.
static struct zepi_lru_node *merge_siblings(struct zepi_lru_node *first)
{
    struct zepi_lru_node *pairs = NULL;
    struct zepi_lru_node *whole = NULL;
    while (first) {
        struct zepi_lru_node *a = first;
        struct zepi_lru_node *b = a->next;
        first = b ? b->next : NULL;
        a->next = NULL;
        if (b)
            b->next = NULL;
        struct zepi_lru_node *pair = merge(a, b);
        pair->next = pairs;
        pairs = pair;
    }
    while (pairs) {
        struct zepi_lru_node *next = pairs->next;
        pairs->next = NULL;
        whole = merge(whole, pairs);
        pairs = next;
    }
    if (whole)
        whole->previous = NULL;
    return whole;
}

static void place(struct zepi_lru *lru, struct zepi_lru_node *node)
{
    node->placed = atomic_load_explicit(&node->last_use, memory_order_relaxed);
    node->child = NULL;
    node->next = NULL;
    node->previous = NULL;
    lru->top = merge(lru->top, node);
}

static void displace(struct zepi_lru *lru, struct zepi_lru_node *node)
{
    if (node == lru->top) {
        lru->top = merge_siblings(node->child);
        return;
    }
    if (node->previous->child == node)
        node->previous->child = node->next;
    else
        node->previous->next = node->next;
    if (node->next)
        node->next->previous = node->previous;
    lru->top = merge(lru->top, merge_siblings(node->child));
}

void zepi_lru_add(struct zepi_lru *lru, struct zepi_lru_node *node, uint64_t cost_bytes)
{
    node->cost_bytes = cost_bytes;
    zepi_lru_touch(node);
    place(lru, node);
    lru->bytes += cost_bytes;
    lru->entries++;
}

void zepi_lru_remove(struct zepi_lru *lru, struct zepi_lru_node *node)
{
    assert(lru->entries > 0 && lru->bytes >= node->cost_bytes);
    displace(lru, node);
    lru->bytes -= node->cost_bytes;
    lru->entries--;
}

struct zepi_lru_node *zepi_lru_oldest(struct zepi_lru *lru)
{
    for (;;) {
        struct zepi_lru_node *top = lru->top;
        if (!top || atomic_load_explicit(&top->last_use, memory_order_relaxed) == top->placed)
            return top;
        displace(lru, top);
        place(lru, top);
    }
}
