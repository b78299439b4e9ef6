// SPDX-License-Identifier: MIT
// A library of a program that calls something when the process ends.
#include <stddef.h>

__attribute__((visibility("default"))) void (*test_at_end)(void);

__attribute__((destructor)) static void end(void)
{
    if (test_at_end)
        test_at_end();
}
