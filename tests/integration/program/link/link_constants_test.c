// SPDX-License-Identifier: MIT
// Specialization constants of objects that are linked.
#include "link_fixture.h"

TestSuite(link_constants, .init = gear_set_up, .fini = gear_tear_down);

Test(link_constants, refuses_one_image_with_two_values)
{
    FOR_EACH_METHOD(method)
    {
        const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
        zepi_module_t module;
        zepi_module_t objects[] = {compile_with("link_base", 1, 4), compile_with("link_base", 1, 5),
                                   compile_with("link_base", 1, 4)};
        const zepi_result_t expected =
            method == ZEPI_LINK_PROGRAM ? ZEPI_ERROR_UNSUPPORTED : ZEPI_ERROR_LINK_FAILURE;
        TEST_FAILS(zepi.module_link(2, objects, &desc, &module), expected);
        TEST_FAILS_SAYING(zepi.module_link(2, objects, NULL, &module), ZEPI_ERROR_LINK_FAILURE,
                          "function 'base' (object 0, object 1)");
        for (int i = 0; i < 3; i++)
            TEST_OK(zepi.release(objects[i]));
    }
}

static zepi_device_image_t only_image(zepi_module_t module)
{
    zepi_device_image_t image;
    uint32_t count;
    TEST_OK(zepi.module_get_device_images(module, 1, &image, &count));
    cr_assert_eq(count, 1);
    return image;
}

Test(link_constants, lets_objects_that_share_an_id_keep_their_values)
{
    static const zepi_link_method_t ways[] = {ZEPI_LINK_AUTO, ZEPI_LINK_DYNAMIC};
    for (int i = 0; i < 2; i++) {
        const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = ways[i]};
        zepi_module_t module;
        zepi_module_t objects[] = {compile_with("link_constants", 1, 22),
                                   compile_with("link_base", 1, 11)};
        int32_t found[3] = {0};
        int32_t value;
        TEST_OK(zepi.module_link(2, objects, &desc, &module));
        run_kernel(module, "show_both", found, 3, 0);
        cr_assert(found[0] == 22 && found[1] == 50 && found[2] == 11);
        TEST_FAILS_SAYING(zepi.spec_constant_get(module, NULL, 1, sizeof(value), &value),
                          ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS, "image 0 image 1");
        for (int at = 0; at < 2; at++) {
            zepi_device_image_t image = only_image(objects[at]);
            TEST_OK(zepi.spec_constant_get(module, image, 1, sizeof(value), &value));
            cr_assert_eq(value, at == 0 ? 22 : 11);
            TEST_OK(zepi.release(image));
        }
        // An id that one of them has needs no image.
        TEST_OK(zepi.spec_constant_get(module, NULL, 2, sizeof(value), &value));
        cr_assert_eq(value, 50);
        TEST_OK(zepi.release(module));
        TEST_OK(zepi.release(objects[0]));
        TEST_OK(zepi.release(objects[1]));
    }
}

Test(link_constants, keeps_the_union_of_disjoint_constants)
{
    FOR_EACH_METHOD(method)
    {
        const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
        zepi_module_t module;
        zepi_module_t objects[] = {compile_with("scaled_copy", 7, 70),
                                   compile_with("link_base", 1, 10), compile("link_left", NULL)};
        static const uint32_t ids[] = {1, 2, 3, 5, 7, 11, 13};
        zepi_spec_constant_t constants[8];
        uint32_t count;
        int32_t value;
        TEST_OK(zepi.module_link(3, objects, &desc, &module));
        TEST_OK(zepi.spec_constant_list(module, NULL, 8, constants, &count));
        cr_assert_eq(count, 7);
        for (uint32_t i = 0; i < count; i++)
            cr_assert_eq(constants[i].id, ids[i]);
        TEST_OK(zepi.spec_constant_get(module, NULL, 1, sizeof(value), &value));
        cr_assert_eq(value, 10);
        TEST_OK(zepi.spec_constant_get(module, NULL, 7, sizeof(value), &value));
        cr_assert_eq(value, 70);
        TEST_FAILS_SAYING(zepi.spec_constant_get(module, NULL, 4, sizeof(value), &value),
                          ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "4");
        TEST_OK(zepi.release(module));
        for (int i = 0; i < 3; i++)
            TEST_OK(zepi.release(objects[i]));
    }
}

Test(link_constants, as_a_program_needs_one_value_an_id_and_one_set_of_options)
{
    const zepi_build_desc_t program = {.size = sizeof(program), .link_method = ZEPI_LINK_PROGRAM};
    const zepi_build_desc_t slow = {.size = sizeof(slow), .options = "-cl-opt-disable"};
    zepi_module_t module;
    zepi_module_t objects[] = {compile_with("link_constants", 1, 22),
                               compile_with("link_base", 1, 11)};
    TEST_FAILS_SAYING(zepi.module_link(2, objects, &program, &module), ZEPI_ERROR_UNSUPPORTED,
                      "specialization constant 1");
    TEST_OK(zepi.release(objects[1]));
    // The values in force count: 22 set in one, 22 set in the other.
    objects[1] = compile_with("link_base", 1, 22);
    TEST_OK(zepi.module_link(2, objects, &program, &module));
    int32_t found[3] = {0};
    run_kernel(module, "show_both", found, 3, 0);
    cr_assert(found[0] == 22 && found[1] == 50 && found[2] == 22);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(objects[0]));
    TEST_OK(zepi.release(objects[1]));

    objects[0] = compile("importer", NULL);
    objects[1] = compile("exporter", &slow);
    TEST_FAILS_SAYING(zepi.module_link(2, objects, &program, &module), ZEPI_ERROR_UNSUPPORTED,
                      "different options");
    TEST_OK(zepi.module_link(2, objects, NULL, &module));
    cr_assert_eq(run_one(module, "triple_and_offset", 1), 103);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(objects[0]));
    TEST_OK(zepi.release(objects[1]));
}
