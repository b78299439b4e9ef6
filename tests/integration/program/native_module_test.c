// SPDX-License-Identifier: MIT
// Modules from native code and from native handles, and native handles of modules.
#include "gear_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <level_zero/ze_api.h>
#include <stdlib.h>
#include <string.h>

TestSuite(native_module, .init = gear_set_up, .fini = gear_tear_down);

static zepi_module_t link_pair(zepi_link_method_t method)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
    zepi_module_t objects[] = {test_object(gear.context, "importer"),
                               test_object(gear.context, "exporter")};
    zepi_module_t module;
    TEST_OK(zepi.module_link(2, objects, &desc, &module));
    TEST_OK(zepi.release(objects[0]));
    TEST_OK(zepi.release(objects[1]));
    return module;
}

static struct test_bytes native_of(zepi_module_t module)
{
    struct test_bytes native = {0};
    TEST_OK(zepi.module_get_native_binary(module, gear.device, &native.size_bytes, NULL));
    native.data = malloc(native.size_bytes);
    size_t room = native.size_bytes - 1;
    TEST_FAILS(zepi.module_get_native_binary(module, gear.device, &room, native.data),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_OK(zepi.module_get_native_binary(module, gear.device, &native.size_bytes, native.data));
    return native;
}

static zepi_result_t create(const struct test_bytes *native, zepi_module_state_t state,
                            zepi_module_t *out_module)
{
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_NATIVE,
                                            .state = state,
                                            .bytes = native->data,
                                            .size_bytes = native->size_bytes};
    return zepi.module_create(gear.context, state, 1, &image, out_module);
}

static int32_t run_kernel(zepi_kernel_t kernel, int32_t value)
{
    int32_t *memory;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, sizeof(value), 0,
                              (void **)&memory));
    *memory = value;
    const zepi_argument_t argument = TEST_POINTER(memory);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    value = *memory;
    TEST_OK(zepi.usm_free(gear.context, memory));
    return value;
}

static int32_t run(zepi_module_t module, const char *name, int32_t value)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    value = run_kernel(kernel, value);
    TEST_OK(zepi.release(kernel));
    return value;
}

static void set_offset(zepi_module_t module, int32_t value)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, "set_offset", &kernel));
    const zepi_argument_t argument = TEST_VALUE(value);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(kernel));
}

Test(native_module, links_objects_that_come_as_native_code)
{
    zepi_module_t objects[] = {test_object(gear.context, "importer"),
                               test_object(gear.context, "exporter")};
    zepi_module_t natives[2];
    zepi_module_t module;
    for (int i = 0; i < 2; i++) {
        struct test_bytes native = native_of(objects[i]);
        TEST_OK(create(&native, ZEPI_MODULE_OBJECT, &natives[i]));
        free(native.data);
    }
    // Both native, and either beside the other's SPIR-V.
    for (int i = 0; i < 3; i++) {
        zepi_module_t list[] = {i == 1 ? objects[0] : natives[0], i == 2 ? objects[1] : natives[1]};
        TEST_OK(zepi.module_link(2, list, NULL, &module));
        cr_assert_eq(run(module, "triple_and_offset", 2), 106);
        set_offset(module, 1);
        cr_assert_eq(run(module, "triple_and_offset", 2), 7);
        TEST_OK(zepi.release(module));
    }
    TEST_FAILS_SAYING(zepi.module_link(1, natives, NULL, &module), ZEPI_ERROR_LINK_FAILURE,
                      "triple");
    const zepi_build_desc_t program = {.size = sizeof(program), .link_method = ZEPI_LINK_PROGRAM};
    TEST_FAILS_SAYING(zepi.module_link(2, natives, &program, &module), ZEPI_ERROR_UNSUPPORTED,
                      "native code");
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.release(natives[i]));
        TEST_OK(zepi.release(objects[i]));
    }
}

static zepi_module_t native_object(const char *name)
{
    zepi_module_t object = test_object(gear.context, name);
    struct test_bytes native = native_of(object);
    TEST_OK(zepi.release(object));
    TEST_OK(create(&native, ZEPI_MODULE_OBJECT, &object));
    free(native.data);
    return object;
}

Test(native_module, objects_fail_to_link_as_their_spirv_does)
{
    zepi_module_t module;
    zepi_module_t clash[] = {native_object("link_right"), native_object("link_base"),
                             native_object("link_other_base")};
    zepi_module_t partial[] = {native_object("link_partial"), clash[1]};
    TEST_FAILS_SAYING(zepi.module_link(3, clash, NULL, &module), ZEPI_ERROR_LINK_FAILURE,
                      "function 'base' (object 1, object 2) variable 'counter'");
    TEST_FAILS_SAYING(zepi.module_link(2, partial, NULL, &module), ZEPI_ERROR_LINK_FAILURE,
                      "function 'missing_function' (object 0), variable 'missing_variable'");
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(clash[i]));
    TEST_OK(zepi.release(partial[0]));
}

Test(native_module, objects_of_unknown_origin_are_inspected_by_the_driver)
{
    zepi_module_t module;
    zepi_module_t clash[] = {native_object("link_base"), native_object("link_other_base")};
    // Nothing is remembered, in memory or on the disk.
    const zepi_cache_limits_t none = {.size = sizeof(none)};
    TEST_OK(zepi.cache_set_limits(gear.context, &none));
    TEST_OK(zepi.cache_clear(NULL));
    TEST_FAILS_SAYING(zepi.module_link(2, clash, NULL, &module), ZEPI_ERROR_LINK_FAILURE,
                      "'base' (object 0, object 1)");
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(clash[i]));
}

Test(native_module, comes_back_from_the_native_code_of_a_link)
{
    for (zepi_link_method_t method = ZEPI_LINK_PROGRAM; method <= ZEPI_LINK_DYNAMIC; method++) {
        zepi_module_t linked = link_pair(method);
        zepi_module_t loaded;
        // Earlier writes of a kernel are no part of the code.
        set_offset(linked, 55);
        struct test_bytes native = native_of(linked);
        TEST_OK(create(&native, ZEPI_MODULE_EXECUTABLE, &loaded));
        cr_assert_eq(run(loaded, "triple_and_offset", 2), 106);
        set_offset(loaded, 3);
        cr_assert_eq(run(loaded, "triple_and_offset", 2), 9);
        cr_assert_eq(run(linked, "triple_and_offset", 2), 61);
        // Once more, as it came.
        struct test_bytes again = native_of(loaded);
        cr_assert_eq(again.size_bytes, native.size_bytes);
        cr_assert_eq(memcmp(again.data, native.data, native.size_bytes), 0);
        free(again.data);
        free(native.data);
        TEST_OK(zepi.release(loaded));
        TEST_OK(zepi.release(linked));
    }
}

Test(native_module, refuses_every_truncated_or_damaged_container)
{
    zepi_module_t linked = link_pair(ZEPI_LINK_DYNAMIC);
    struct test_bytes native = native_of(linked);
    zepi_module_t module;
    const size_t size = native.size_bytes;
    const size_t step = size / 400 + 1;
    for (size_t cut = 1; cut < size; cut += cut < 100 ? 1 : step) {
        native.size_bytes = cut;
        TEST_FAILS(create(&native, ZEPI_MODULE_EXECUTABLE, &module), ZEPI_ERROR_COMPILE_FAILURE);
    }
    native.size_bytes = size;
    for (size_t at = 0; at < size; at += at < 100 ? 1 : step) {
        native.data[at] ^= (uint8_t)(1u << at % 8);
        TEST_FAILS(create(&native, ZEPI_MODULE_EXECUTABLE, &module), ZEPI_ERROR_COMPILE_FAILURE);
        native.data[at] ^= (uint8_t)(1u << at % 8);
    }
    TEST_OK(create(&native, ZEPI_MODULE_EXECUTABLE, &module));
    TEST_OK(zepi.release(module));
    free(native.data);
    TEST_OK(zepi.release(linked));
}

Test(native_module, takes_a_container_of_objects_apart_again)
{
    const zepi_device_image_desc_t images[] = {test_spirv_image("importer"),
                                               test_spirv_image("exporter")};
    zepi_module_t input;
    zepi_module_t object;
    zepi_module_t module;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    TEST_OK(zepi.module_compile(input, NULL, &object));
    struct test_bytes native = native_of(object);
    TEST_OK(zepi.release(object));
    TEST_FAILS(create(&native, ZEPI_MODULE_EXECUTABLE, &module), ZEPI_ERROR_LINK_FAILURE);
    TEST_OK(create(&native, ZEPI_MODULE_OBJECT, &object));
    TEST_OK(zepi.module_link(1, &object, NULL, &module));
    cr_assert_eq(run(module, "triple_and_offset", 2), 106);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(object));
    TEST_OK(zepi.release(input));
    free(native.data);
}

Test(native_module, keeps_apart_what_was_not_linked)
{
    const zepi_device_image_desc_t images[] = {test_spirv_image("negate"),
                                               test_spirv_image("exporter")};
    zepi_module_t input;
    zepi_module_t built;
    zepi_module_t loaded;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    TEST_OK(zepi.module_build(input, NULL, &built));
    struct test_bytes native = native_of(built);
    const uint64_t linked = ze_cpu.get_count("zeModuleDynamicLink");
    TEST_OK(create(&native, ZEPI_MODULE_EXECUTABLE, &loaded));
    cr_assert_eq(ze_cpu.get_count("zeModuleDynamicLink"), linked);
    cr_assert_eq(run(loaded, "negate", 2), -2);
    free(native.data);
    TEST_OK(zepi.release(loaded));
    TEST_OK(zepi.release(built));
    TEST_OK(zepi.release(input));
}

Test(native_module, without_a_kernel_is_no_executable_and_spirv_without_one_is_a_library)
{
    zepi_module_t library = test_executable(gear.context, "link_base");
    zepi_module_t kernels = test_executable(gear.context, "negate");
    zepi_device_image_desc_t images[] = {
        test_native_image(library, gear.device, ZEPI_MODULE_EXECUTABLE),
        test_native_image(kernels, gear.device, ZEPI_MODULE_EXECUTABLE)};
    const char unit = 0;
    zepi_module_info_t info = {.size = sizeof(info)};
    zepi_module_t module;
    bool has;
    TEST_OK(zepi.module_get_info(library, &info));
    cr_assert(info.state == ZEPI_MODULE_EXECUTABLE && info.kernel_count == 0);
    TEST_FAILS_SAYING(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, images, &module),
                      ZEPI_ERROR_INVALID_VALUE, "none of the 1 images has a kernel");
    // Beside one that has a kernel it may stand, and as an object alone.
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 2, images, &module));
    cr_assert_eq(run(module, "negate", 3), -3);
    TEST_OK(zepi.release(module));
    images[0].state = ZEPI_MODULE_OBJECT;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_OBJECT, 1, images, &module));
    TEST_OK(zepi.release(module));
    // A unit has no executable then.
    images[0].state = ZEPI_MODULE_EXECUTABLE;
    TEST_OK(zepi.unit_register(&unit, 1, images));
    TEST_OK(zepi.unit_has_module(&unit, gear.context, ZEPI_MODULE_EXECUTABLE, &has));
    cr_assert(!has);
    TEST_OK(zepi.unit_get_module(&unit, gear.context, ZEPI_MODULE_EXECUTABLE, &module));
    TEST_OK(zepi.module_get_info(module, &info));
    cr_assert_eq(info.image_count, 0);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.unit_unregister(&unit));
    TEST_OK(zepi.release(library));
    TEST_OK(zepi.release(kernels));
    for (int i = 0; i < 2; i++)
        test_native_image_finish(&images[i]);
}

// ---- Native handles ----

// A ze_module of the host's own.
static ze_module_handle_t make_ze_module(const char *name)
{
    void *context;
    zepi_device_info_t info = {.size = sizeof(info)};
    struct test_bytes spirv = test_env_read_spirv(name);
    ze_module_handle_t module;
    TEST_OK(zepi.context_get_native(gear.context, &context));
    TEST_OK(zepi.device_get_info(gear.device, &info));
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = spirv.size_bytes,
                                   .pInputModule = spirv.data};
    cr_assert_eq(zeModuleCreate(context, info.native_handle, &desc, &module, NULL),
                 ZE_RESULT_SUCCESS);
    free(spirv.data);
    return module;
}

static zepi_result_t import(ze_module_handle_t ze, zepi_module_state_t state,
                            zepi_ownership_t ownership, zepi_module_t *out_module)
{
    return zepi.module_create_from_native(gear.context, gear.device, ze, state, ownership,
                                          out_module);
}

Test(native_module, is_made_around_a_handle_that_stays_the_hosts)
{
    ze_module_handle_t ze = make_ze_module("negate");
    zepi_module_t module;
    zepi_kernel_t kernel;
    void *handle;
    zepi_cache_counters_t before = {.size = sizeof(before)};
    zepi_cache_counters_t after = {.size = sizeof(after)};
    TEST_OK(zepi.cache_get_counters(gear.context, ZEPI_CACHE_KERNELS, &before));
    TEST_OK(import(ze, ZEPI_MODULE_EXECUTABLE, ZEPI_OWNERSHIP_KEEP, &module));
    TEST_OK(zepi.module_get_kernel(module, "negate", &kernel));
    TEST_OK(zepi.module_get_native(module, gear.device, &handle));
    cr_assert_eq(handle, ze);
    // Only the release waits for it.
    int32_t *memory;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4, 0, (void **)&memory));
    *memory = 7;
    const zepi_argument_t argument = TEST_POINTER(memory);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
    cr_assert_eq(*memory, -7);
    cr_assert_eq(ze_cpu.get_count("zeModuleDestroy"), 0);
    cr_assert_eq(ze_cpu.get_count("zeKernelDestroy"), ze_cpu.get_count("zeKernelCreate"));
    cr_assert_eq(zeModuleDestroy(ze), ZE_RESULT_SUCCESS);
    TEST_OK(zepi.cache_get_counters(gear.context, ZEPI_CACHE_KERNELS, &after));
    cr_assert_eq(before.misses + before.hits, after.misses + after.hits);
    TEST_OK(zepi.usm_free(gear.context, memory));
}

static zepi_event_t unseen; // of a command on the second of two queues

// The release has found the first queue empty, and has not looked at the second yet. Another thread
// would do the same.
static void see_it_complete(const char *function, int is_over)
{
    if (is_over || !unseen || strcmp(function, "zeEventHostSynchronize") != 0)
        return;
    zepi_event_t event = unseen;
    unseen = NULL;
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_OK(zepi.release(event));
}

// Its kernels are destroyed first, as Level Zero has it.
Test(native_module, is_free_of_kernels_when_its_release_returns)
{
    test_ze_cpu_require();
    ze_module_handle_t ze = make_ze_module("negate");
    zepi_module_t module;
    zepi_kernel_t kernel;
    zepi_queue_t queues[2] = {gear.queue};
    int32_t *memory;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queues[1]));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 8, 0, (void **)&memory));
    TEST_OK(import(ze, ZEPI_MODULE_EXECUTABLE, ZEPI_OWNERSHIP_KEEP, &module));
    TEST_OK(zepi.module_get_kernel(module, "negate", &kernel));
    for (int i = 0; i < 2; i++) {
        const zepi_argument_t argument = TEST_POINTER(memory + i);
        const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
        TEST_OK(zepi.queue_launch(queues[i], &launch, TEST_NO_WAIT, i == 1 ? &unseen : NULL));
    }
    ze_cpu.set_hook(see_it_complete);
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
    ze_cpu.set_hook(NULL);
    cr_assert_null(unseen);
    cr_assert_eq(ze_cpu.get_count("zeKernelDestroy"), ze_cpu.get_count("zeKernelCreate"));
    cr_assert_eq(zeModuleDestroy(ze), ZE_RESULT_SUCCESS);
    TEST_OK(zepi.release(queues[1]));
    TEST_OK(zepi.usm_free(gear.context, memory));
}

Test(native_module, takes_a_handle_over)
{
    zepi_module_t module;
    TEST_OK(
        import(make_ze_module("negate"), ZEPI_MODULE_EXECUTABLE, ZEPI_OWNERSHIP_TRANSFER, &module));
    cr_assert_eq(run(module, "negate", 3), -3);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(ze_cpu.get_count("zeModuleDestroy"), 1);
}

Test(native_module, refuses_a_handle_that_does_not_fit_the_state)
{
    ze_module_handle_t complete = make_ze_module("negate");
    ze_module_handle_t open = make_ze_module("importer");
    ze_module_handle_t library = make_ze_module("link_base");
    zepi_module_t module = NULL;
    TEST_FAILS(import(complete, ZEPI_MODULE_INPUT, ZEPI_OWNERSHIP_TRANSFER, &module),
               ZEPI_ERROR_WRONG_STATE);
    TEST_FAILS_SAYING(import(complete, ZEPI_MODULE_OBJECT, ZEPI_OWNERSHIP_TRANSFER, &module),
                      ZEPI_ERROR_WRONG_STATE, "no imports");
    TEST_FAILS_SAYING(import(open, ZEPI_MODULE_EXECUTABLE, ZEPI_OWNERSHIP_TRANSFER, &module),
                      ZEPI_ERROR_LINK_FAILURE, "unresolved imports");
    TEST_FAILS_SAYING(import(library, ZEPI_MODULE_EXECUTABLE, ZEPI_OWNERSHIP_TRANSFER, &module),
                      ZEPI_ERROR_INVALID_OBJECT, "no kernel");
    TEST_FAILS(import(NULL, ZEPI_MODULE_EXECUTABLE, ZEPI_OWNERSHIP_KEEP, &module),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(import(complete, 9, ZEPI_OWNERSHIP_KEEP, &module), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(import(complete, ZEPI_MODULE_EXECUTABLE, 9, &module), ZEPI_ERROR_INVALID_VALUE);
    cr_assert_null(module);
    // After a failure the handles are still the caller's.
    cr_assert_eq(zeModuleDestroy(complete), ZE_RESULT_SUCCESS);
    cr_assert_eq(zeModuleDestroy(open), ZE_RESULT_SUCCESS);
    cr_assert_eq(zeModuleDestroy(library), ZE_RESULT_SUCCESS);
}

Test(native_module, links_an_object_that_came_as_a_handle)
{
    zepi_module_t objects[2] = {NULL, test_object(gear.context, "exporter")};
    zepi_module_t module;
    TEST_OK(import(make_ze_module("importer"), ZEPI_MODULE_OBJECT, ZEPI_OWNERSHIP_TRANSFER,
                   &objects[0]));
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.module_link(2, objects, NULL, &module));
        cr_assert_eq(run(module, "triple_and_offset", 2), 106);
        TEST_OK(zepi.release(module));
    }
    TEST_OK(zepi.release(objects[0]));
    TEST_OK(zepi.release(objects[1]));
}

Test(native_module, hands_out_a_handle_that_nobody_shares)
{
    zepi_module_t first = test_executable(gear.context, "negate");
    zepi_module_t second = test_executable(gear.context, "negate");
    zepi_module_t input = test_input(gear.context, "negate");
    void *handles[3];
    TEST_OK(zepi.module_get_native(first, gear.device, &handles[0]));
    TEST_OK(zepi.module_get_native(first, gear.device, &handles[1]));
    TEST_OK(zepi.module_get_native(second, gear.device, &handles[2]));
    cr_assert_eq(handles[0], handles[1]);
    cr_assert_neq(handles[0], handles[2]);
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "negate"};
    ze_kernel_handle_t kernel;
    cr_assert_eq(zeKernelCreate(handles[0], &desc, &kernel), ZE_RESULT_SUCCESS);
    cr_assert_eq(zeKernelDestroy(kernel), ZE_RESULT_SUCCESS);
    TEST_FAILS(zepi.module_get_native(input, gear.device, &handles[0]), ZEPI_ERROR_WRONG_STATE);
    TEST_FAILS(zepi.module_get_native(first, gear.device, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(input));
    const uint64_t destroyed = ze_cpu.get_count("zeModuleDestroy");
    TEST_OK(zepi.release(first));
    cr_assert_eq(ze_cpu.get_count("zeModuleDestroy"), destroyed + 1);
    TEST_OK(zepi.release(second));
}

static void expect_kernel(void *module, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    cr_assert_eq(zeKernelCreate(module, &desc, &kernel), ZE_RESULT_SUCCESS);
    cr_assert_eq(zeKernelDestroy(kernel), ZE_RESULT_SUCCESS);
}

Test(native_module, of_a_link_hands_out_a_handle_of_its_own)
{
    zepi_module_t objects[] = {test_object(gear.context, "link_constants"),
                               test_object(gear.context, "link_base")};
    zepi_module_t module = link_pair(ZEPI_LINK_PROGRAM);
    void *handle;
    TEST_OK(zepi.module_get_native(module, gear.device, &handle));
    expect_kernel(handle, "triple_and_offset");
    TEST_OK(zepi.release(module));
    // Linked dynamically: the ze_module with the kernels, and the others with it.
    TEST_OK(zepi.module_link(2, objects, NULL, &module));
    const uint64_t linked = ze_cpu.get_count("zeModuleDynamicLink");
    TEST_OK(zepi.module_get_native(module, gear.device, &handle));
    cr_assert_eq(ze_cpu.get_count("zeModuleDynamicLink"), linked + 1);
    expect_kernel(handle, "show_both");
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(objects[0]));
    TEST_OK(zepi.release(objects[1]));
    // Two that have kernels: neither stands for the module.
    module = link_pair(ZEPI_LINK_DYNAMIC);
    TEST_FAILS_SAYING(zepi.module_get_native(module, gear.device, &handle), ZEPI_ERROR_UNSUPPORTED,
                      "2 of its ze_modules");
    TEST_OK(zepi.release(module));
}

Test(native_module, hands_out_a_kernel_that_nobody_shares)
{
    zepi_module_t module = test_executable(gear.context, "negate");
    zepi_kernel_t kernels[2];
    void *handles[3];
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.module_get_kernel(module, "negate", &kernels[i]));
    TEST_OK(zepi.kernel_get_native(kernels[0], gear.device, &handles[0]));
    TEST_OK(zepi.kernel_get_native(kernels[0], gear.device, &handles[1]));
    TEST_OK(zepi.kernel_get_native(kernels[1], gear.device, &handles[2]));
    cr_assert_eq(handles[0], handles[1]);
    cr_assert_neq(handles[0], handles[2]);
    cr_assert_eq(zeKernelSetGroupSize(handles[0], 1, 1, 1), ZE_RESULT_SUCCESS);
    cr_assert_eq(run_kernel(kernels[0], 4), -4);
    TEST_FAILS(zepi.kernel_get_native(kernels[0], gear.device, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.kernel_get_native(kernels[0], NULL, &handles[0]), ZEPI_ERROR_INVALID_OBJECT);
    const uint64_t destroyed = ze_cpu.get_count("zeKernelDestroy");
    TEST_OK(zepi.release(kernels[0]));
    cr_assert_eq(ze_cpu.get_count("zeKernelDestroy"), destroyed + 1);
    TEST_OK(zepi.release(kernels[1]));
    TEST_OK(zepi.release(module));
}
