// SPDX-License-Identifier: MIT
#include "test_damage.h"

static uint64_t state = 0x9e3779b97f4a7c15;

uint32_t test_random_below(size_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % limit);
}

void test_damage_word(uint32_t *words, size_t count, enum test_damage damage)
{
    uint32_t *word = &words[test_random_below(count)];
    switch (test_random_below(damage)) {
    case 0:
        *word ^= 1u << test_random_below(32);
        break;
    case 1:
        *word = test_random_below(16);
        break;
    case 2:
        *word = words[test_random_below(count)];
        break;
    case 3:
        *word += test_random_below(2) ? 1 : ~0u;
        break;
    default:
        *word = test_random_below(0x10000) << 16 | test_random_below(0x10000);
    }
}
