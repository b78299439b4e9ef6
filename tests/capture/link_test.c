// SPDX-License-Identifier: MIT
// Linking with a real device compiler: Debian's Intel driver, which compiles and executes nothing.
#include "test_env.h"
#include "test_plugin.h"

#include <criterion/criterion.h>
#include <string.h>

static struct test_gear gear;

static void bring_up(void)
{
    test_env_use_intel_capture("tgllp");
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
}

static void tear_down(void)
{
    test_gear_destroy(&gear);
}

TestSuite(capture_link, .init = bring_up, .fini = tear_down);

#define MAX_OBJECTS 4

static zepi_result_t link_named(zepi_link_method_t method, uint32_t count, const char *const *names,
                                zepi_module_t *out_module)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
    zepi_module_t objects[MAX_OBJECTS];
    for (uint32_t i = 0; i < count; i++)
        objects[i] = test_object(gear.context, names[i]);
    const zepi_result_t result = zepi.module_link(count, objects, &desc, out_module);
    for (uint32_t i = 0; i < count; i++)
        TEST_OK(zepi.release(objects[i]));
    return result;
}

static void launch(zepi_module_t module, const char *name)
{
    zepi_kernel_t kernel;
    int32_t *memory;
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    TEST_OK(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 4096, 0, (void **)&memory));
    const zepi_argument_t argument = TEST_POINTER(memory);
    const zepi_launch_desc_t desc = test_launch(kernel, 1, &argument, 256);
    TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.usm_free(gear.context, memory));
    TEST_OK(zepi.release(kernel));
}

#define FOR_EACH_METHOD(method)                                                                    \
    for (zepi_link_method_t method = ZEPI_LINK_PROGRAM; method <= ZEPI_LINK_DYNAMIC; method++)

static const char *const diamond[] = {"link_top", "link_left", "link_right", "link_base"};

Test(capture_link, builds_a_diamond_both_ways)
{
    FOR_EACH_METHOD(method)
    {
        zepi_module_t module;
        const char *names[4];
        uint32_t count;
        TEST_OK(link_named(method, 4, diamond, &module));
        TEST_OK(zepi.module_get_kernel_names(module, 4, names, &count));
        cr_assert_eq(count, 3);
        cr_assert_str_eq(names[0], "diamond");
        cr_assert_str_eq(names[1], "write_counter");
        cr_assert_str_eq(names[2], "read_counter");
        launch(module, "diamond");
        launch(module, "read_counter");
        TEST_OK(zepi.release(module));
    }
}

Test(capture_link, builds_objects_that_import_from_each_other_both_ways)
{
    static const char *const names[] = {"link_mutual_first", "link_mutual_second"};
    const zepi_device_image_desc_t images[] = {test_spirv_image(names[0]),
                                               test_spirv_image(names[1])};
    zepi_module_t input;
    zepi_module_t module;
    FOR_EACH_METHOD(method)
    {
        TEST_OK(link_named(method, 2, names, &module));
        launch(module, "forth_and_back");
        launch(module, "back_and_forth");
        TEST_OK(zepi.release(module));
    }
    // As images of one input, which a build links.
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    TEST_OK(zepi.module_build(input, NULL, &module));
    launch(module, "forth_and_back");
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(input));
}

Test(capture_link, gives_the_same_errors_both_ways)
{
    static const char *const partial[] = {"link_partial", "link_base"};
    static const char *const both[] = {"link_right", "link_base", "link_other_base"};
    char texts[2][2][512];
    FOR_EACH_METHOD(method)
    {
        zepi_module_t module;
        const int way = method == ZEPI_LINK_DYNAMIC;
        TEST_FAILS_SAYING(link_named(method, 2, partial, &module), ZEPI_ERROR_LINK_FAILURE,
                          "function 'missing_function' (object 0), variable 'missing_variable'");
        strncpy(texts[0][way], zepi.last_error(NULL), 512);
        TEST_FAILS_SAYING(link_named(method, 3, both, &module), ZEPI_ERROR_LINK_FAILURE,
                          "function 'base' (object 1, object 2)");
        strncpy(texts[1][way], zepi.last_error(NULL), 512);
    }
    for (int i = 0; i < 2; i++)
        cr_assert_arr_eq(texts[i][0], texts[i][1], strlen(texts[i][0]) + 1);
}

Test(capture_link, objects_with_other_values_of_one_id_are_linked)
{
    const int32_t values[2] = {11, 22};
    static const char *const names[] = {"link_base", "link_constants"};
    zepi_module_t objects[2];
    zepi_module_t module;
    for (int i = 0; i < 2; i++) {
        zepi_module_t input = test_input(gear.context, names[i]);
        TEST_OK(zepi.spec_constant_set(input, 1, sizeof(values[i]), &values[i]));
        TEST_OK(zepi.module_compile(input, NULL, &objects[i]));
        TEST_OK(zepi.release(input));
    }
    TEST_OK(zepi.module_link(2, objects, NULL, &module));
    launch(module, "show_both");
    TEST_OK(zepi.release(module));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(objects[i]));
}

Test(capture_link, comes_back_from_native_code)
{
    FOR_EACH_METHOD(method)
    {
        zepi_module_t linked;
        zepi_module_t loaded;
        void *handle;
        static const char *const names[] = {"link_constants", "link_base"};
        TEST_OK(link_named(method, 4, diamond, &linked));
        zepi_device_image_desc_t image =
            test_native_image(linked, gear.device, ZEPI_MODULE_EXECUTABLE);
        TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &loaded));
        launch(loaded, "diamond");
        TEST_OK(zepi.release(loaded));
        TEST_OK(zepi.release(linked));
        test_native_image_finish(&image);
        // Linked by the driver, a ze_module may go on saying that it has imports.
        TEST_OK(link_named(ZEPI_LINK_AUTO, 2, names, &linked));
        TEST_OK(zepi.module_get_native(linked, gear.device, &handle));
        TEST_OK(zepi.module_create_from_native(gear.context, gear.device, handle,
                                               ZEPI_MODULE_EXECUTABLE, ZEPI_OWNERSHIP_KEEP,
                                               &loaded));
        launch(loaded, "show_both");
        TEST_OK(zepi.release(loaded));
        TEST_OK(zepi.release(linked));
    }
}

static zepi_module_t native_object(const char *name)
{
    zepi_module_t object = test_object(gear.context, name);
    zepi_device_image_desc_t image = test_native_image(object, gear.device, ZEPI_MODULE_OBJECT);
    TEST_OK(zepi.release(object));
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_OBJECT, 1, &image, &object));
    test_native_image_finish(&image);
    return object;
}

Test(capture_link, native_objects_are_linked)
{
    zepi_module_t objects[] = {native_object("importer"), native_object("exporter")};
    zepi_module_t module;
    TEST_OK(zepi.module_link(2, objects, NULL, &module));
    launch(module, "triple_and_offset");
    TEST_OK(zepi.release(module));
    TEST_FAILS_SAYING(zepi.module_link(1, objects, NULL, &module), ZEPI_ERROR_LINK_FAILURE,
                      "function 'triple' (object 0)");
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(objects[i]));
}

// This driver would take the first definition without a word.
Test(capture_link, native_objects_with_two_definitions_are_refused)
{
    zepi_module_t objects[] = {native_object("link_right"), native_object("link_base"),
                               native_object("link_other_base")};
    zepi_module_t module;
    TEST_FAILS_SAYING(zepi.module_link(3, objects, NULL, &module), ZEPI_ERROR_LINK_FAILURE,
                      "function 'base' (object 1, object 2)");
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(objects[i]));
}
