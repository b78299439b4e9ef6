// SPDX-License-Identifier: MIT
//
// Random damage to SPIR-V, with numbers that are the same on every machine and in every run. One
// thread.
#ifndef ZEPI_TESTS_SUPPORT_TEST_DAMAGE_H
#define ZEPI_TESTS_SUPPORT_TEST_DAMAGE_H

#include <stddef.h>
#include <stdint.h>

// The next number of the process' one sequence, below `limit`.
uint32_t test_random_below(size_t limit);

enum test_damage {
    TEST_DAMAGE_MILD = 4, // a bit, a small number, another word of the module, a neighbour
    TEST_DAMAGE_ANY = 5,  // also a number of any size
};

// Changes one of the words.
void test_damage_word(uint32_t *words, size_t count, enum test_damage damage);

#endif
