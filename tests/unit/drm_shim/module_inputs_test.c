// SPDX-License-Identifier: MIT
#include "kernels/module_inputs.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct test_bytes spirv;
static struct shim_module_inputs inputs;
static char message[256];

static void set_up(void)
{
    spirv = test_env_read_spirv("spec_types");
    setenv("DRM_SHIM_RECORDS", test_env_scratch_path("records"), 1);
}

static void tear_down(void)
{
    shim_module_inputs_finish(&inputs);
    free(spirv.data);
}

TestSuite(module_inputs, .init = set_up, .fini = tear_down);

// A module of two programs: values of a constant of 8 bytes and one of 1, and no value.
static void take_two(void)
{
    static const int64_t wide = -2;
    static const uint8_t narrow = 7, stranger = 1;
    const struct zepi_spirv_constant *constant;
    struct zepi_spirv walk;
    uint32_t ids[3] = {0, 0, 0xfffffff0};
    cr_assert_eq(zepi_spirv_init(&walk, spirv.data, spirv.size_bytes, message, sizeof(message)),
                 ZEPI_SPIRV_OK);
    for (uint32_t i = 0; i < walk.constant_count; i++) {
        constant = &walk.constants[i];
        if (constant->size_bytes == 8)
            ids[0] = constant->id;
        else if (constant->size_bytes == 1)
            ids[1] = constant->id;
    }
    zepi_spirv_finish(&walk);
    const void *values[] = {&wide, &narrow, &stranger};
    const ze_module_constants_t constants = {3, ids, values};
    const ze_module_constants_t *constant_lists[] = {&constants, NULL};
    const uint8_t *modules[] = {spirv.data, spirv.data};
    const size_t sizes[] = {spirv.size_bytes, spirv.size_bytes};
    const char *options[] = {"-g", NULL};
    ze_module_program_exp_desc_t programs = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
                                             .count = 2,
                                             .inputSizes = sizes,
                                             .pInputModules = modules,
                                             .pBuildFlags = options,
                                             .pConstants = constant_lists};
    const ze_module_desc_t desc = {.pNext = &programs, .format = ZE_MODULE_FORMAT_IL_SPIRV};
    cr_assert(shim_module_inputs_init(&inputs, &desc, message, sizeof(message)), "%s", message);
}

static void expect_two(const struct shim_module_inputs *actual)
{
    int64_t wide;
    cr_assert_eq(actual->count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq(actual->inputs[i].spirv_bytes, spirv.size_bytes);
        cr_assert_eq(memcmp(actual->inputs[i].spirv, spirv.data, spirv.size_bytes), 0);
        cr_assert_str_eq(actual->inputs[i].options, i == 0 ? "-g" : "");
    }
    // The id that nothing declares is left out.
    cr_assert_eq(actual->inputs[0].constant_count, 2);
    cr_assert_eq(actual->inputs[0].constants[0].size_bytes, 8);
    memcpy(&wide, actual->inputs[0].constants[0].value, sizeof(wide));
    cr_assert_eq(wide, -2);
    cr_assert_eq(actual->inputs[0].constants[1].size_bytes, 1);
    cr_assert_eq(actual->inputs[0].constants[1].value[0], 7);
    cr_assert_eq(actual->inputs[1].constant_count, 0);
}

Test(module_inputs, are_copied_with_the_real_size_of_each_value)
{
    take_two();
    expect_two(&inputs);
    cr_assert(!shim_module_inputs_find(&inputs, "no such kernel"));
    cr_assert(shim_module_inputs_find(&inputs, inputs.inputs[0].walk.kernels[0].name));
}

Test(module_inputs, what_a_process_stored_the_next_one_reads)
{
    const struct zepi_digest code = zepi_digest_of("code", 4), other = zepi_digest_of("Code", 4);
    struct shim_module_inputs loaded;
    take_two();
    cr_assert(shim_module_inputs_store(&inputs, code));
    cr_assert(shim_module_inputs_load(&loaded, code));
    expect_two(&loaded);
    shim_module_inputs_finish(&loaded);
    cr_assert(!shim_module_inputs_load(&loaded, other));
    cr_assert(!loaded.inputs);
}

Test(module_inputs, a_part_of_a_record_is_none)
{
    struct shim_module_inputs read;
    uint8_t *bytes;
    size_t size_bytes;
    take_two();
    cr_assert(shim_module_inputs_write(&inputs, &bytes, &size_bytes));
    cr_assert(shim_module_inputs_read(&read, bytes, size_bytes));
    expect_two(&read);
    shim_module_inputs_finish(&read);
    for (size_t part = 0; part < size_bytes; part += part < 64 ? 1 : 61)
        cr_assert(!shim_module_inputs_read(&read, bytes, part), "%zu of %zu", part, size_bytes);
    free(bytes);
}

Test(module_inputs, spirv_that_fails_the_walk_is_refused)
{
    cr_assert(!shim_module_inputs_init_plain(&inputs, spirv.data, spirv.size_bytes - 4, message,
                                             sizeof(message)));
    cr_assert(message[0] != '\0' && !inputs.inputs);
}
