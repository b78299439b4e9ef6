// SPDX-License-Identifier: MIT
#include "tools/ze_cpu/module/sub_groups.h"

#include "kernels/module_inputs.h"
#include "kernels/ze_info.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct story {
    struct shim_module_inputs inputs;
    struct shim_ze_info info;
    uint8_t *spirv;
    size_t size_bytes;
    struct zepi_spirv walk; // of `spirv`
};

static uint32_t choose(const void *info, const char *kernel)
{
    const struct shim_kernel_info *native = shim_ze_info_find(info, kernel);
    return native ? native->simd_size : 0;
}

static struct story require(const char *code, const char *info)
{
    struct story story = {0};
    char message[256] = "";
    struct test_bytes bytes = test_env_read_spirv(code);
    cr_assert(shim_module_inputs_init_plain(&story.inputs, bytes.data, bytes.size_bytes, message,
                                            sizeof(message)));
    cr_assert(shim_ze_info_init(&story.info, info, strlen(info), message, sizeof(message)), "%s",
              message);
    const struct shim_module_input *input = story.inputs.inputs;
    cr_assert(cpu_sub_groups_require(input->spirv, input->spirv_bytes, &input->walk, choose,
                                     &story.info, &story.spirv, &story.size_bytes));
    if (story.spirv)
        cr_assert_eq(
            zepi_spirv_init(&story.walk, story.spirv, story.size_bytes, message, sizeof(message)),
            ZEPI_SPIRV_OK, "%s", message);
    free(bytes.data);
    return story;
}

static void finish(struct story *story)
{
    zepi_spirv_finish(&story->walk);
    free(story->spirv);
    shim_ze_info_finish(&story->info);
    shim_module_inputs_finish(&story->inputs);
}

static uint32_t size_of(const struct story *story, const char *kernel)
{
    const struct zepi_spirv_kernel *found = zepi_spirv_find_kernel(&story->walk, kernel);
    cr_assert_not_null(found);
    return found->required_sub_group_size;
}

#define KERNEL(name, simd_size)                                                                    \
    "  - name: " name "\n    execution_env:\n      simd_size: " simd_size "\n"

Test(sub_groups, have_the_size_of_the_machine_code_where_none_is_required)
{
    struct story story =
        require("execution", "kernels:\n" KERNEL("tell_sub_groups", "32") KERNEL("need_16", "32"));
    cr_assert_not_null(story.spirv);
    cr_assert_eq(size_of(&story, "tell_sub_groups"), 32);
    cr_assert_eq(size_of(&story, "need_16"), 16);
    cr_assert_eq(size_of(&story, "count_runs"), 0); // of which nothing is known
    finish(&story);
}

// `count_runs` is in a module with them; `tell_sub_groups` asks for the size.
Test(sub_groups, have_any_size_in_kernels_that_do_not_depend_on_it)
{
    struct story story = require("execution", "kernels:\n" KERNEL("tell_sub_groups", "32")
                                                  KERNEL("count_runs", "32"));
    cr_assert_not_null(story.spirv);
    cr_assert_eq(size_of(&story, "tell_sub_groups"), 32);
    cr_assert_eq(size_of(&story, "count_runs"), 0);
    finish(&story);
}

Test(sub_groups, are_left_alone_where_nothing_is_known)
{
    struct story story = require("execution", "kernels:\n" KERNEL("another", "32"));
    cr_assert_null(story.spirv);
    finish(&story);
}

Test(sub_groups, are_of_one_item_where_functions_are_called_by_pointers)
{
    struct story story = require("function_pointers", "kernels:\n" KERNEL("call", "32"));
    cr_assert_not_null(story.spirv);
    cr_assert_eq(size_of(&story, "call"), 1);
    finish(&story);
}

Test(sub_groups, are_no_matter_of_spirv_that_does_not_use_them)
{
    struct story story = require("negate", "kernels:\n" KERNEL("negate", "32"));
    cr_assert_null(story.spirv);
    finish(&story);
}
