// SPDX-License-Identifier: MIT
#include "core/address_tree.h"

#include <criterion/criterion.h>

enum { COUNT = 2000 };
static struct zepi_address_tree tree;
static struct zepi_address_node nodes[COUNT];
static bool is_in[COUNT];

static uint32_t next_random(void)
{
    static uint32_t random = 1;
    random = random * 1664525 + 1013904223;
    return random >> 8;
}

// Grows with the number, in its high half alone: the low half becomes less.
static uintptr_t address_of(uint32_t number)
{
    return (uintptr_t)number << 32 | (COUNT + 2 - number);
}

// What a walk over all nodes finds.
static const struct zepi_address_node *first_at_least(uintptr_t address)
{
    const struct zepi_address_node *found = NULL;
    for (unsigned i = 0; i < COUNT; i++) {
        if (is_in[i] && nodes[i].address >= address &&
            (!found || nodes[i].address < found->address))
            found = &nodes[i];
    }
    return found;
}

static void expect_same(const struct zepi_address_node *node, const struct zepi_address_node *found)
{
    cr_assert_eq(!node, !found);
    cr_assert(!node || node->address == found->address);
}

// All nodes below this one in order, after `*last`; how many there are.
static unsigned walk(const struct zepi_address_node *node, uintptr_t *last)
{
    if (!node)
        return 0;
    const unsigned left = walk(node->left, last);
    cr_assert(node->address >= *last);
    *last = node->address;
    return left + 1 + walk(node->right, last);
}

static unsigned count_in_order(void)
{
    uintptr_t last = 0;
    return walk(tree.root, &last);
}

static unsigned depth_of(const struct zepi_address_node *node)
{
    if (!node)
        return 0;
    const unsigned left = depth_of(node->left);
    const unsigned right = depth_of(node->right);
    return 1 + (left > right ? left : right);
}

Test(address_tree, finds_what_a_walk_over_all_nodes_finds)
{
    unsigned count = 0;
    for (unsigned round = 0; round < 4 * COUNT; round++) {
        const unsigned i = next_random() % COUNT;
        if (is_in[i]) {
            zepi_address_tree_remove(&tree, &nodes[i]);
        } else {
            nodes[i].address = address_of(1 + next_random() % COUNT); // some are at one address
            zepi_address_tree_add(&tree, &nodes[i]);
        }
        is_in[i] = !is_in[i];
        count += is_in[i] ? 1 : -1u;
        const uintptr_t address = address_of(next_random() % (COUNT + 2));
        expect_same(zepi_address_tree_at_least(&tree, address), first_at_least(address));
        const struct zepi_address_node *first = first_at_least(address);
        expect_same(zepi_address_tree_find(&tree, (void *)address),
                    first && first->address == address ? first : NULL);
        if (round % 100 == 0)
            cr_assert_eq(count_in_order(), count);
    }
}

Test(address_tree, keeps_all_nodes_at_one_address)
{
    for (unsigned i = 0; i < COUNT; i++) {
        nodes[i].address = 7;
        zepi_address_tree_add(&tree, &nodes[i]);
    }
    cr_assert_eq(count_in_order(), COUNT);
    for (unsigned i = 0; i < COUNT; i += 2)
        zepi_address_tree_remove(&tree, &nodes[i]);
    cr_assert_eq(count_in_order(), COUNT / 2);
    cr_assert_not(zepi_address_tree_at_least(&tree, 8));
}

Test(address_tree, stays_flat_whatever_the_order)
{
    for (unsigned i = 0; i < COUNT; i++) {
        nodes[i].address = i;
        zepi_address_tree_add(&tree, &nodes[i]);
    }
    cr_assert_lt(depth_of(tree.root), 50, "%u nodes, one above the other", depth_of(tree.root));
}
