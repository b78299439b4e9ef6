// SPDX-License-Identifier: MIT
#include "core/address_tree.h"

#include <stdbool.h>
#include <stddef.h>

// ---- Order ----

// Nodes at one address are in the order of where they lie.
static bool is_before(const struct zepi_address_node *node, const struct zepi_address_node *other)
{
    return node->address != other->address ? node->address < other->address
                                           : (uintptr_t)node < (uintptr_t)other;
}

// Bits of the place, mixed, so that neighbours have priorities far apart.
static uint64_t priority_of(const struct zepi_address_node *node)
{
    uint64_t bits = (uint64_t)(uintptr_t)node * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 32)) * 0xd6e8feb86659fd93u;
    return bits ^ (bits >> 32);
}

// ---- Changes ----

// All of `from` that lies before `node` goes to *left, the rest to *right.
static void split(struct zepi_address_node *from, const struct zepi_address_node *node,
                  struct zepi_address_node **left, struct zepi_address_node **right)
{
    while (from) {
        if (is_before(node, from)) {
            *right = from;
            right = &from->left;
            from = from->left;
        } else {
            *left = from;
            left = &from->right;
            from = from->right;
        }
    }
    *left = *right = NULL;
}

void zepi_address_tree_add(struct zepi_address_tree *tree, struct zepi_address_node *node)
{
    const uint64_t priority = priority_of(node);
    struct zepi_address_node **link = &tree->root;
    while (*link && priority_of(*link) >= priority)
        link = is_before(node, *link) ? &(*link)->left : &(*link)->right;
    split(*link, node, &node->left, &node->right);
    *link = node;
}

void zepi_address_tree_remove(struct zepi_address_tree *tree, struct zepi_address_node *node)
{
    struct zepi_address_node **link = &tree->root;
    while (*link != node)
        link = is_before(node, *link) ? &(*link)->left : &(*link)->right;
    // The two below it become one.
    struct zepi_address_node *left = node->left;
    struct zepi_address_node *right = node->right;
    while (left && right) {
        if (priority_of(left) >= priority_of(right)) {
            *link = left;
            link = &left->right;
            left = left->right;
        } else {
            *link = right;
            link = &right->left;
            right = right->left;
        }
    }
    *link = left ? left : right;
}

// ---- Lookups ----

struct zepi_address_node *zepi_address_tree_at_least(const struct zepi_address_tree *tree,
                                                     uintptr_t address)
{
    struct zepi_address_node *found = NULL;
    struct zepi_address_node *node = tree->root;
    while (node) {
        if (address <= node->address) {
            found = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
    return found;
}

struct zepi_address_node *zepi_address_tree_find(const struct zepi_address_tree *tree,
                                                 const void *address)
{
    struct zepi_address_node *node = zepi_address_tree_at_least(tree, (uintptr_t)address);
    return node && node->address == (uintptr_t)address ? node : NULL;
}
