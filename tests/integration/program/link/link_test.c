// SPDX-License-Identifier: MIT
// From objects to executables, with imports from each other, in both ways of linking.
#include "link_fixture.h"

#include <stdlib.h>

TestSuite(link, .init = gear_set_up, .fini = gear_tear_down);

static const char *const diamond[] = {"link_top", "link_left", "link_right", "link_base"};

Test(link, resolves_functions_and_variables_across_two_objects)
{
    FOR_EACH_METHOD(method)
    {
        static const char *const names[] = {"importer", "exporter"};
        zepi_module_t module;
        int32_t data[4] = {1, 2, 3, 4};
        TEST_OK(link_named(method, 2, names, &module));
        run_kernel(module, "triple_and_offset", data, 4, 0);
        for (int32_t i = 0; i < 4; i++)
            cr_assert_eq(data[i], 3 * (i + 1) + 100);
        run_kernel(module, "set_offset", NULL, 0, 5);
        cr_assert_eq(run_one(module, "triple_and_offset", 1), 8);
        TEST_OK(zepi.release(module));
    }
}

Test(link, resolves_a_diamond_whose_units_have_helpers_of_one_name)
{
    FOR_EACH_METHOD(method)
    {
        zepi_module_t module;
        TEST_OK(link_named(method, 4, diamond, &module));
        // 10 * (2 + 3) + 100 * (2 + 3) + 1
        cr_assert_eq(run_one(module, "diamond", 2), 551);
        cr_assert_eq(run_one(module, "read_counter", 0), 7);
        run_kernel(module, "write_counter", NULL, 0, 42);
        cr_assert_eq(run_one(module, "read_counter", 0), 42);
        TEST_OK(zepi.release(module));
    }
}

Test(link, resolves_objects_that_import_from_each_other)
{
    static const char *const names[] = {"link_mutual_second", "link_mutual_first"};
    FOR_EACH_METHOD(method)
    {
        zepi_module_t module;
        int32_t data[2] = {4, 0};
        TEST_OK(link_named(method, 2, names, &module));
        run_kernel(module, "forth_and_back", data, 2, 0);
        cr_assert_eq(data[0], 50);
        // Written by a kernel of one object, read by a function and a kernel of the other.
        run_kernel(module, "write_first", NULL, 0, 6);
        run_kernel(module, "write_second", NULL, 0, 7);
        data[0] = 4;
        run_kernel(module, "back_and_forth", data, 2, 0);
        cr_assert(data[0] == 107 && data[1] == 6);
        TEST_OK(zepi.release(module));
    }
}

Test(link, keeps_the_globals_of_two_link_sets_apart)
{
    FOR_EACH_METHOD(method)
    {
        zepi_module_t whole;
        zepi_module_t half;
        TEST_OK(link_named(method, 4, diamond, &whole));
        TEST_OK(link_named(method, 3, diamond + 1, &half));
        run_kernel(whole, "write_counter", NULL, 0, 1);
        run_kernel(half, "write_counter", NULL, 0, 2);
        cr_assert_eq(run_one(whole, "read_counter", 0), 1);
        cr_assert_eq(run_one(half, "read_counter", 0), 2);
        TEST_OK(zepi.release(whole));
        TEST_OK(zepi.release(half));
    }
}

Test(link, links_the_same_set_once_in_whatever_order)
{
    static const char *const reversed[] = {"link_base", "link_right", "link_left", "link_top"};
    FOR_EACH_METHOD(method)
    {
        zepi_module_t first;
        zepi_module_t second;
        const char *names[4];
        const char *same[4];
        uint32_t count;
        TEST_OK(link_named(method, 4, diamond, &first));
        const uint64_t created = ze_cpu.get_count("zeModuleCreate");
        const uint64_t linked = ze_cpu.get_count("zeModuleDynamicLink");
        TEST_OK(link_named(method, 4, reversed, &second));
        cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), created);
        cr_assert_eq(ze_cpu.get_count("zeModuleDynamicLink"), linked);
        cr_assert_eq(run_one(second, "diamond", 2), 551);
        TEST_OK(zepi.module_get_kernel_names(first, 4, names, &count));
        cr_assert_eq(count, 3);
        TEST_OK(zepi.module_get_kernel_names(second, 4, same, &count));
        for (uint32_t i = 0; i < count; i++)
            cr_assert_str_eq(same[i], names[i]);
        TEST_OK(zepi.release(first));
        TEST_OK(zepi.release(second));
    }
}

Test(link, names_each_symbol_that_nobody_defines)
{
    static const char *const partial[] = {"link_partial", "link_base"};
    FOR_EACH_METHOD(method)
    {
        zepi_module_t module = (zepi_module_t)&module;
        TEST_FAILS_SAYING(link_named(method, 2, partial, &module), ZEPI_ERROR_LINK_FAILURE,
                          "function 'missing_function' (object 0)");
        test_expect_text("variable 'missing_variable' (object 0)", "link", __FILE__, __LINE__);
        cr_assert_null(strstr(zepi.last_error(NULL), "'base'"));
        cr_assert(strlen(zepi.last_build_log()) > 0);
        cr_assert_eq(module, (zepi_module_t)&module);
        // Asked again, it is the same answer, without a driver.
        const uint64_t calls = ze_cpu.get_count("zeModuleDynamicLink");
        TEST_FAILS_SAYING(link_named(method, 2, partial, &module), ZEPI_ERROR_LINK_FAILURE,
                          "'missing_variable'");
        cr_assert_eq(ze_cpu.get_count("zeModuleDynamicLink"), calls);
    }
}

Test(link, names_what_an_object_alone_lacks)
{
    FOR_EACH_METHOD(method)
    {
        zepi_module_t module;
        TEST_FAILS_SAYING(link_named(method, 1, diamond, &module), ZEPI_ERROR_LINK_FAILURE,
                          "function 'left' (object 0), function 'right' (object 0)");
    }
}

Test(link, refuses_two_definitions_and_names_them_with_their_objects)
{
    static const char *const both[] = {"link_right", "link_base", "link_other_base"};
    static const char *const turned[] = {"link_other_base", "link_right", "link_base"};
    static const char *const kernels[] = {"link_left", "link_other_base"};
    FOR_EACH_METHOD(method)
    {
        zepi_module_t module;
        TEST_FAILS_SAYING(link_named(method, 3, both, &module), ZEPI_ERROR_LINK_FAILURE,
                          "function 'base' (object 1, object 2)");
        test_expect_text("variable 'counter' (object 1, object 2)", "link", __FILE__, __LINE__);
        // The failure is known already; objects are named as this caller numbers them.
        TEST_FAILS_SAYING(link_named(method, 3, turned, &module), ZEPI_ERROR_LINK_FAILURE,
                          "function 'base' (object 0, object 2)");
        TEST_FAILS_SAYING(link_named(method, 2, kernels, &module), ZEPI_ERROR_LINK_FAILURE,
                          "kernel 'write_counter' (object 0, object 1)");
    }
}

Test(link, takes_equal_objects_as_one_definition)
{
    static const char *const twice[] = {"importer", "exporter", "exporter"};
    FOR_EACH_METHOD(method)
    {
        zepi_module_t module;
        TEST_OK(link_named(method, 3, twice, &module));
        cr_assert_eq(run_one(module, "triple_and_offset", 2), 106);
        TEST_OK(zepi.release(module));
    }
}

Test(link, refuses_what_is_no_list_of_objects)
{
    zepi_module_t module = NULL;
    zepi_module_t input = test_input(gear.context, "negate");
    zepi_module_t executable = test_executable(gear.context, "negate");
    zepi_module_t list[2] = {compile("negate", NULL), NULL};
    zepi_context_t other;
    TEST_FAILS(zepi.module_link(0, NULL, NULL, &module), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.module_link(1, NULL, NULL, &module), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.module_link(1, list, NULL, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS_SAYING(zepi.module_link(2, list, NULL, &module), ZEPI_ERROR_INVALID_OBJECT,
                      "module 1: the module is NULL");
    list[1] = input;
    TEST_FAILS_SAYING(zepi.module_link(2, list, NULL, &module), ZEPI_ERROR_WRONG_STATE,
                      "module 1 is input, expected object");
    list[1] = executable;
    TEST_FAILS_SAYING(zepi.module_link(2, list, NULL, &module), ZEPI_ERROR_WRONG_STATE,
                      "executable");
    list[1] = (zepi_module_t)gear.device;
    TEST_FAILS(zepi.module_link(2, list, NULL, &module), ZEPI_ERROR_INVALID_OBJECT);
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    zepi_module_t foreign = test_input(other, "negate");
    TEST_OK(zepi.module_compile(foreign, NULL, &list[1]));
    TEST_FAILS_SAYING(zepi.module_link(2, list, NULL, &module), ZEPI_ERROR_INVALID_OBJECT,
                      "module 1 is of another context");
    const zepi_build_desc_t unknown = {.size = sizeof(unknown), .link_method = 7};
    TEST_FAILS(zepi.module_link(1, list, &unknown, &module), ZEPI_ERROR_INVALID_VALUE);
    cr_assert_null(module);
    TEST_OK(zepi.release(list[0]));
    TEST_OK(zepi.release(list[1]));
    TEST_OK(zepi.release(foreign));
    TEST_OK(zepi.release(other));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

Test(link, of_empty_objects_is_an_empty_executable)
{
    zepi_module_t module;
    zepi_module_t objects[2];
    zepi_module_info_t info = {.size = sizeof(info)};
    bool has = true;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_OBJECT, 0, NULL, &objects[0]));
    TEST_OK(zepi.module_link(1, objects, NULL, &module));
    TEST_OK(zepi.module_get_info(module, &info));
    cr_assert(info.state == ZEPI_MODULE_EXECUTABLE && info.image_count == 0);
    TEST_OK(zepi.module_has_kernel(module, "negate", &has));
    cr_assert(!has);
    TEST_OK(zepi.release(module));
    // Beside others, an empty one changes nothing.
    objects[1] = compile("negate", NULL);
    TEST_OK(zepi.module_link(2, objects, NULL, &module));
    cr_assert_eq(run_one(module, "negate", 5), -5);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(objects[0]));
    TEST_OK(zepi.release(objects[1]));
}

struct seen_logs {
    int count;
    size_t size_bytes;
};

static void see_log(void *data, zepi_device_t device, const char *log, size_t size_bytes)
{
    struct seen_logs *seen = data;
    cr_assert_eq(device, gear.device);
    cr_assert_eq(strlen(log), size_bytes);
    seen->count++;
    seen->size_bytes = size_bytes;
}

Test(link, hands_the_log_to_the_callback_on_a_hit_too)
{
    FOR_EACH_METHOD(method)
    {
        struct seen_logs seen = {0};
        const zepi_build_desc_t desc = {
            .size = sizeof(desc), .link_method = method, .log = see_log, .log_data = &seen};
        zepi_module_t module;
        zepi_module_t objects[] = {compile("importer", NULL), compile("exporter", NULL)};
        for (int i = 1; i <= 2; i++) {
            TEST_OK(zepi.module_link(2, objects, &desc, &module));
            cr_assert_eq(seen.count, i);
            TEST_OK(zepi.release(module));
        }
        TEST_FAILS(zepi.module_link(1, objects, &desc, &module), ZEPI_ERROR_LINK_FAILURE);
        cr_assert_eq(seen.count, 3);
        cr_assert_gt(seen.size_bytes, 0);
        cr_assert(strstr(zepi.last_build_log(), "triple"));
        TEST_OK(zepi.release(objects[0]));
        TEST_OK(zepi.release(objects[1]));
    }
}

enum {
    OP_EXTENSION = 10,
    OP_CAPABILITY = 17,
    OP_DECORATE = 71,
    LINKAGE_ATTRIBUTES = 41,
    LINK_ONCE_ODR = 2,
    HEADER_WORDS = 5,
    EXTENSION_WORDS = 7,
};

// Marks each exported symbol of a module as LinkOnceODR. Owned.
static uint32_t *mark_as_link_once(const zepi_device_image_desc_t *image, size_t *out_size_bytes)
{
    static const char extension[4 * (EXTENSION_WORDS - 1)] = "SPV_KHR_linkonce_odr";
    const size_t count = image->size_bytes / 4;
    uint32_t *words = malloc(image->size_bytes + 4 * EXTENSION_WORDS);
    size_t at = HEADER_WORDS;
    memcpy(words, image->bytes, image->size_bytes);
    while ((words[at] & 0xffff) == OP_CAPABILITY || (words[at] & 0xffff) == OP_EXTENSION)
        at += words[at] >> 16;
    memmove(words + at + EXTENSION_WORDS, words + at, 4 * (count - at));
    words[at] = EXTENSION_WORDS << 16 | OP_EXTENSION;
    memcpy(words + at + 1, extension, sizeof(extension));
    for (; at < count + EXTENSION_WORDS; at += words[at] >> 16) {
        if ((words[at] & 0xffff) == OP_DECORATE && words[at + 2] == LINKAGE_ATTRIBUTES &&
            strcmp((const char *)&words[at + 3], "shared") == 0)
            words[at + (words[at] >> 16) - 1] = LINK_ONCE_ODR;
    }
    *out_size_bytes = 4 * (count + EXTENSION_WORDS);
    return words;
}

static zepi_module_t compile_link_once(const char *name)
{
    zepi_device_image_desc_t image = test_spirv_image(name);
    zepi_module_t input;
    zepi_module_t object;
    uint32_t *words = mark_as_link_once(&image, &image.size_bytes);
    image.bytes = words;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    TEST_OK(zepi.module_compile(input, NULL, &object));
    TEST_OK(zepi.release(input));
    free(words);
    return object;
}

Test(link, takes_what_is_marked_as_link_once_as_one_definition)
{
    static const char *const unmarked[] = {"link_once_first", "link_once_second"};
    FOR_EACH_METHOD(method)
    {
        const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
        zepi_module_t objects[] = {compile_link_once("link_once_first"),
                                   compile_link_once("link_once_second")};
        zepi_module_t module;
        TEST_OK(zepi.module_link(2, objects, &desc, &module));
        cr_assert_eq(run_one(module, "first", 2), 15);
        cr_assert_eq(run_one(module, "second", 2), 16);
        TEST_OK(zepi.release(module));
        for (int i = 0; i < 2; i++)
            TEST_OK(zepi.release(objects[i]));
        TEST_FAILS_SAYING(link_named(method, 2, unmarked, &module), ZEPI_ERROR_LINK_FAILURE,
                          "function 'shared' (object 0, object 1)");
    }
}
