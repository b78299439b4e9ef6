// SPDX-License-Identifier: MIT
#include "test_ze_cpu.h"

#include <criterion/criterion.h>

void test_skip(const char *reason)
{
    cr_skip_test("%s", reason);
}
