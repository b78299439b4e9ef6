// SPDX-License-Identifier: MIT
#include "test_env.h"

#include <criterion/criterion.h>

void test_skip(const char *reason)
{
    cr_skip_test("%s", reason);
}
