// SPDX-License-Identifier: MIT
//
// How a SYCL runtime uses modules, from beginning to end; copy what you need.
//
//   1. Each translation unit registers its device images when it is loaded.
//   2. Units that need each other: compile each, link them, launch from the result.
//   3. A unit that needs no other: launch its kernel by name, with specialization values for this
//      launch alone. Builds are in the cache.
//
// Runs on ze_cpu as a test. Errors end the program through check().
#include "test_env.h"
#include "test_plugin.h"

#include <stdio.h>
#include <stdlib.h>

#define ITEMS 4

// Any address that is a unit's own is its token: a runtime takes that of the unit's descriptor.
static const char library_unit, kernel_unit, plain_unit;

static void check(zepi_result_t result, const char *what)
{
    if (result == ZEPI_SUCCESS)
        return;
    fprintf(stderr, "%s: %s: %s\n%s\n", what, zepi.result_name(result), zepi.last_error(NULL),
            zepi.last_build_log());
    exit(1);
}

// 1. The steps of a runtime for the device code that a compiler put into an object file.
static void register_unit(zepi_unit_t unit, const char *file)
{
    const zepi_device_image_desc_t image = test_spirv_image(file); // format, state, bytes, size
    check(zepi.unit_register(unit, 1, &image), "unit_register");
}

static void launch(zepi_queue_t queue, const zepi_launch_desc_t *desc, const float *data,
                   const char *what)
{
    const zepi_wait_list_t no_wait = {0};
    check(zepi.queue_launch(queue, desc, no_wait, NULL), what);
    check(zepi.queue_finish(queue), "queue_finish");
    printf("%-40s", what);
    for (int i = 0; i < ITEMS; i++)
        printf(" %g", (double)data[i]);
    putchar('\n');
}

static void expect(const float *data, const float *expected)
{
    for (int i = 0; i < ITEMS; i++) {
        if (data[i] != expected[i]) {
            fprintf(stderr, "item %d is %g, expected %g\n", i, (double)data[i],
                    (double)expected[i]);
            exit(1);
        }
    }
}

// 2. input -> object -> executable, each step a new module.
static zepi_module_t link_units(zepi_context_t context, float gain)
{
    zepi_module_t inputs[2];
    zepi_module_t objects[2];
    zepi_module_t executable;
    const zepi_unit_t units[2] = {&kernel_unit, &library_unit};
    for (int i = 0; i < 2; i++)
        check(zepi.unit_get_module(units[i], context, ZEPI_MODULE_INPUT, &inputs[i]),
              "unit_get_module");
    // Values are set on inputs; a built module keeps the values of its build.
    check(zepi.spec_constant_set(inputs[0], 0, sizeof(gain), &gain), "spec_constant_set");
    for (int i = 0; i < 2; i++) {
        check(zepi.module_compile(inputs[i], NULL, &objects[i]), "module_compile");
        check(zepi.release(inputs[i]), "release");
    }
    check(zepi.module_link(2, objects, NULL, &executable), "module_link");
    check(zepi.release(objects[0]), "release");
    check(zepi.release(objects[1]), "release");
    return executable;
}

int main(void)
{
    test_env_use_ze_cpu();
    test_plugin_load();
    struct test_gear gear = test_gear_create(ZEPI_QUEUE_IN_ORDER); // device, context, queue
    float *data;
    register_unit(&library_unit, "example_library");
    register_unit(&kernel_unit, "example_kernel");
    register_unit(&plain_unit, "example_plain");
    check(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, ITEMS * sizeof(float), 0,
                            (void **)&data),
          "usm_allocate");
    for (int i = 0; i < ITEMS; i++)
        data[i] = (float)i;
    const zepi_argument_t argument = {.kind = ZEPI_ARGUMENT_POINTER, .value = data};

    // A kernel of linked units, by name.
    zepi_module_t linked = link_units(gear.context, 3.0f);
    zepi_launch_desc_t amplify = {.size = sizeof(amplify),
                                  .kernel_name = "amplify",
                                  .module = linked,
                                  .arguments = &argument,
                                  .argument_count = 1,
                                  .work_dim = 1,
                                  .global_size = {ITEMS}};
    launch(gear.queue, &amplify, data, "amplify, gain 3:");
    expect(data, (const float[]){1, 4, 7, 10});

    // A kernel found in its unit; a value for one launch does not affect the next.
    zepi_launch_desc_t shift = amplify;
    const float distance = -1.0f;
    const zepi_spec_value_t value = {0, sizeof(distance), &distance};
    shift.module = NULL;
    shift.kernel_name = "shift";
    shift.unit = &plain_unit;
    shift.spec_values = &value;
    shift.spec_value_count = 1;
    launch(gear.queue, &shift, data, "shift, by -1:");
    expect(data, (const float[]){0, 3, 6, 9});
    shift.spec_value_count = 0;
    launch(gear.queue, &shift, data, "shift, by its default:");
    expect(data, (const float[]){10, 13, 16, 19});

    check(zepi.release(linked), "release");
    check(zepi.usm_free(gear.context, data), "usm_free");
    check(zepi.unit_unregister(&plain_unit), "unit_unregister");
    check(zepi.unit_unregister(&kernel_unit), "unit_unregister");
    check(zepi.unit_unregister(&library_unit), "unit_unregister");
    test_gear_destroy(&gear);
    return 0;
}
