// SPDX-License-Identifier: MIT
#include "kernels/group_part.h"

#include "plugin/spirv/spirv.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdlib.h>

// Every kernel has three values more, behind its own arguments.
static void expect_arguments(const struct zepi_spirv *before, const struct zepi_spirv *after)
{
    cr_assert_gt(before->kernel_count, 0);
    cr_assert_eq(after->kernel_count, before->kernel_count);
    for (uint32_t i = 0; i < after->kernel_count; i++) {
        const uint32_t count = before->kernels[i].argument_count;
        cr_assert_str_eq(after->kernels[i].name, before->kernels[i].name);
        cr_assert_eq(after->kernels[i].argument_count, count + SHIM_GROUP_PART_ARGUMENTS);
        for (uint32_t at = 0; at < count; at++)
            cr_assert_eq(after->kernels[i].arguments[at].kind,
                         before->kernels[i].arguments[at].kind);
        for (uint32_t at = count; at < count + SHIM_GROUP_PART_ARGUMENTS; at++)
            cr_assert_eq(after->kernels[i].arguments[at].size_bytes, 8);
    }
}

static void expect_copy(const char *code)
{
    struct zepi_spirv before, after;
    char message[256] = "";
    uint8_t *copy = NULL;
    size_t size_bytes = 0;
    struct test_bytes bytes = test_env_read_spirv(code);
    cr_assert_eq(zepi_spirv_init(&before, bytes.data, bytes.size_bytes, message, sizeof(message)),
                 ZEPI_SPIRV_OK, "%s", message);
    cr_assert(shim_group_part_add(bytes.data, bytes.size_bytes, &copy, &size_bytes));
    cr_assert_not_null(copy);
    cr_assert_eq(zepi_spirv_init(&after, copy, size_bytes, message, sizeof(message)), ZEPI_SPIRV_OK,
                 "%s", message);
    expect_arguments(&before, &after);
    zepi_spirv_finish(&before);
    zepi_spirv_finish(&after);
    free(copy);
    free(bytes.data);
}

Test(group_part, kernels_have_arguments_that_say_which_groups)
{
    expect_copy("vector_add");
    expect_copy("execution"); // many kernels, with variables of their own
    expect_copy("empty");     // without arguments
}

Test(group_part, a_module_without_kernels_is_right_as_it_is)
{
    uint8_t *copy = NULL;
    size_t size_bytes = 0;
    struct test_bytes bytes = test_env_read_spirv("link_base");
    cr_assert(shim_group_part_add(bytes.data, bytes.size_bytes, &copy, &size_bytes));
    cr_assert_null(copy);
    free(bytes.data);
}
