// SPDX-License-Identifier: MIT
#include "cache/lru.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { NODES = 50 };

static struct zepi_lru lru;
static struct zepi_lru_node nodes[NODES];

static int oldest(void)
{
    const struct zepi_lru_node *node = zepi_lru_oldest(&lru);
    return node ? (int)(node - nodes) : -1;
}

static int take_oldest(void)
{
    int number = oldest();
    if (number >= 0)
        zepi_lru_remove(&lru, &nodes[number]);
    return number;
}

Test(lru, evicts_the_least_recently_used_first)
{
    for (int i = 0; i < 4; i++)
        zepi_lru_add(&lru, &nodes[i], 1);
    zepi_lru_touch(&nodes[0]);
    zepi_lru_touch(&nodes[2]);
    zepi_lru_touch(&nodes[0]);
    cr_assert_eq(take_oldest(), 1);
    cr_assert_eq(take_oldest(), 3);
    cr_assert_eq(take_oldest(), 2);
    cr_assert_eq(take_oldest(), 0);
    cr_assert_eq(take_oldest(), -1);
}

Test(lru, does_not_take_what_it_names_as_oldest)
{
    zepi_lru_add(&lru, &nodes[0], 1);
    zepi_lru_add(&lru, &nodes[1], 1);
    cr_assert_eq(oldest(), 0);
    cr_assert_eq(oldest(), 0);
    zepi_lru_touch(&nodes[0]);
    cr_assert_eq(oldest(), 1);
}

Test(lru, accounts_for_bytes_and_entries)
{
    zepi_lru_add(&lru, &nodes[0], 10);
    zepi_lru_add(&lru, &nodes[1], 200);
    zepi_lru_add(&lru, &nodes[2], 0);
    cr_assert_eq(lru.bytes, 210);
    cr_assert_eq(lru.entries, 3);
    zepi_lru_touch(&nodes[0]);
    zepi_lru_remove(&lru, &nodes[1]);
    cr_assert_eq(lru.bytes, 10);
    cr_assert_eq(lru.entries, 2);
    zepi_lru_remove(&lru, &nodes[0]);
    zepi_lru_remove(&lru, &nodes[2]);
    cr_assert_eq(lru.bytes, 0);
    cr_assert_eq(lru.entries, 0);
    cr_assert_null(zepi_lru_oldest(&lru));
}

Test(lru, keeps_the_order_under_any_sequence_of_operations)
{
    // The model: when each node was last used, 0 for not in.
    int last_use[NODES] = {0};
    unsigned seed = 1;
    for (int step = 1; step < 20000; step++) {
        int node = (int)((unsigned)rand_r(&seed) % NODES);
        switch (rand_r(&seed) % 4) {
        case 0:
            if (last_use[node] == 0) {
                zepi_lru_add(&lru, &nodes[node], 1);
                last_use[node] = step;
            }
            break;
        case 1:
            if (last_use[node] > 0) {
                zepi_lru_touch(&nodes[node]);
                last_use[node] = step;
            }
            break;
        case 2:
            if (last_use[node] > 0) {
                zepi_lru_remove(&lru, &nodes[node]);
                last_use[node] = 0;
            }
            break;
        default: {
            int expected = -1;
            for (int i = 0; i < NODES; i++) {
                if (last_use[i] > 0 && (expected < 0 || last_use[i] < last_use[expected]))
                    expected = i;
            }
            cr_assert_eq(oldest(), expected, "step %d", step);
        }
        }
    }
}
