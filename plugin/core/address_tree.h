// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_ADDRESS_TREE_H
#define ZEPI_CORE_ADDRESS_TREE_H

#include <stdint.h>

// Things by their addresses, any number of them at one. All that is done costs steps that grow with
// the logarithm of their number: a treap, whose priorities are numbers made of where the nodes lie.
// No locks: its owner has one. A zeroed tree is empty.

// A member of the thing, which the owner of the tree owns.
struct zepi_address_node {
    struct zepi_address_node *left, *right;
    uintptr_t address; // written before it is added; not changed while it is in a tree
};

struct zepi_address_tree {
    struct zepi_address_node *root; // NULL: empty
};

void zepi_address_tree_add(struct zepi_address_tree *tree, struct zepi_address_node *node);
// The node is in the tree.
void zepi_address_tree_remove(struct zepi_address_tree *tree, struct zepi_address_node *node);
// The first node at the address or behind it; NULL: none.
struct zepi_address_node *zepi_address_tree_at_least(const struct zepi_address_tree *tree,
                                                     uintptr_t address);
// A node at just this address, the one that lies first; NULL: none.
struct zepi_address_node *zepi_address_tree_find(const struct zepi_address_tree *tree,
                                                 const void *address);

#endif
