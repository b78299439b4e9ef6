// SPDX-License-Identifier: MIT
// From objects to executables: what they import from each other, in both ways of linking.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct test_gear gear;
static struct test_ze_cpu ze_cpu;

static void set_up(void)
{
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
}

static void tear_down(void)
{
    test_gear_destroy(&gear);
    cr_assert_eq(ze_cpu.get_live_objects(), 0);
}

TestSuite(link, .init = set_up, .fini = tear_down);

static zepi_module_t compile(const char *name, const zepi_build_desc_t *desc)
{
    zepi_module_t input = test_input(gear.context, name);
    zepi_module_t object;
    TEST_OK(zepi.module_compile(input, desc, &object));
    TEST_OK(zepi.release(input));
    return object;
}

#define MAX_OBJECTS 4

static zepi_result_t link_named(zepi_link_method_t method, uint32_t count, const char *const *names,
                                zepi_module_t *out_module)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
    zepi_module_t objects[MAX_OBJECTS];
    for (uint32_t i = 0; i < count; i++)
        objects[i] = compile(names[i], NULL);
    const zepi_result_t result = zepi.module_link(count, objects, &desc, out_module);
    for (uint32_t i = 0; i < count; i++)
        TEST_OK(zepi.release(objects[i]));
    return result;
}

// Runs a kernel of one pointer with `data` in its memory, or of one int if `data` is NULL.
static void run(zepi_module_t module, const char *name, int32_t *data, size_t count, int32_t value)
{
    zepi_kernel_t kernel;
    int32_t *memory = NULL;
    const size_t size = count * sizeof(*data);
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    if (data) {
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, size, 0,
                                  (void **)&memory));
        memcpy(memory, data, size);
    }
    const zepi_argument_t argument = data ? TEST_POINTER(memory) : TEST_VALUE(value);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, data ? count : 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    if (data) {
        memcpy(data, memory, size);
        TEST_OK(zepi.usm_free(gear.context, memory));
    }
    TEST_OK(zepi.release(kernel));
}

static int32_t run_one(zepi_module_t module, const char *name, int32_t value)
{
    run(module, name, &value, 1, 0);
    return value;
}

// Both ways must give the same.
#define FOR_EACH_METHOD(method)                                                                    \
    for (zepi_link_method_t method = ZEPI_LINK_PROGRAM; method <= ZEPI_LINK_DYNAMIC; method++)

static const char *const diamond[] = {"link_top", "link_left", "link_right", "link_base"};

Test(link, resolves_functions_and_variables_across_two_objects)
{
    FOR_EACH_METHOD (method) {
        static const char *const names[] = {"importer", "exporter"};
        zepi_module_t module;
        int32_t data[4] = {1, 2, 3, 4};
        TEST_OK(link_named(method, 2, names, &module));
        run(module, "triple_and_offset", data, 4, 0);
        for (int32_t i = 0; i < 4; i++)
            cr_assert_eq(data[i], 3 * (i + 1) + 100);
        run(module, "set_offset", NULL, 0, 5);
        cr_assert_eq(run_one(module, "triple_and_offset", 1), 8);
        TEST_OK(zepi.release(module));
    }
}

Test(link, resolves_a_diamond_whose_units_have_helpers_of_one_name)
{
    FOR_EACH_METHOD (method) {
        zepi_module_t module;
        TEST_OK(link_named(method, 4, diamond, &module));
        // 10 * (2 + 3) + 100 * (2 + 3) + 1
        cr_assert_eq(run_one(module, "diamond", 2), 551);
        cr_assert_eq(run_one(module, "read_counter", 0), 7);
        run(module, "write_counter", NULL, 0, 42);
        cr_assert_eq(run_one(module, "read_counter", 0), 42);
        TEST_OK(zepi.release(module));
    }
}
