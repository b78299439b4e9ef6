// SPDX-License-Identifier: MIT
// The only judge of an old driver: Debian's Intel driver in capture mode, with a real device
// compiler, completes launches and executes nothing.
#include "test_env.h"
#include "test_plugin.h"
#include "test_process.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

TestSuite(capture, .init = bring_up, .fini = tear_down);

static struct test_bytes native_of(zepi_module_t input)
{
    struct test_bytes native = {0};
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.module_get_native_binary(executable, gear.device, &native.size_bytes, NULL));
    native.data = malloc(native.size_bytes);
    TEST_OK(
        zepi.module_get_native_binary(executable, gear.device, &native.size_bytes, native.data));
    TEST_OK(zepi.release(executable));
    return native;
}

// Chosen by its version, 22.43, which has neither staged copies nor in-order lists.
Test(capture, has_quirks_of_its_version)
{
    zepi_platform_info_t info = {.size = sizeof(info)};
    if (getenv("ZEPI_QUIRKS"))
        cr_skip_test("ZEPI_QUIRKS is set");
    TEST_OK(zepi.platform_get_info(gear.platform, &info));
    if (strcmp(info.driver_version, "1.3.24595") != 0)
        cr_skip_test("the driver is not 22.43");
    cr_assert_str_eq(info.quirks, "times-stay-on-device,untold-native-format,kept-host-pages");
}

static bool is_same(const struct test_bytes *a, const struct test_bytes *b)
{
    return a->size_bytes == b->size_bytes && memcmp(a->data, b->data, a->size_bytes) == 0;
}

Test(capture, other_values_give_other_code_and_equal_values_the_same)
{
    const int32_t values[3] = {5, 9, 5};
    struct test_bytes native[3];
    for (int i = 0; i < 3; i++) {
        zepi_module_t input = test_input(gear.context, "scaled_copy");
        TEST_OK(zepi.spec_constant_set(input, 7, sizeof(values[i]), &values[i]));
        native[i] = native_of(input);
        TEST_OK(zepi.release(input));
    }
    cr_assert(!is_same(&native[0], &native[1]));
    cr_assert(is_same(&native[0], &native[2]));
    for (int i = 0; i < 3; i++)
        free(native[i].data);
}

Test(capture, truncated_modules_do_not_reach_the_driver)
{
    zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    zepi_module_t input;
    while (--image.size_bytes > 0)
        TEST_FAILS(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input),
                   ZEPI_ERROR_COMPILE_FAILURE);
}

static void launch_negate(zepi_event_t *out_event)
{
    int32_t *memory;
    zepi_kernel_t kernel;
    zepi_module_t module = test_executable(gear.context, "negate");
    TEST_OK(zepi.module_get_kernel(module, "negate", &kernel));
    TEST_OK(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 4096, 0, (void **)&memory));
    const zepi_argument_t argument = TEST_POINTER(memory);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 256);
    for (int i = 0; i < 10; i++)
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, out_event));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.usm_free(gear.context, memory));
}

Test(capture, launches_complete_through_waits)
{
    zepi_event_t event;
    launch_negate(&event);
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_OK(zepi.release(event));
}

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

Test(capture, builds_a_diamond_both_ways_and_names_missing_imports)
{
    static const char *const partial[] = {"link_partial", "link_base"};
    FOR_EACH_METHOD(method)
    {
        zepi_module_t module;
        const char *names[4];
        uint32_t count;
        TEST_OK(link_named(method, 4, diamond, &module));
        TEST_OK(zepi.module_get_kernel_names(module, 4, names, &count));
        cr_assert_eq(count, 3);
        // zepi.h promises no order of the names of linked code.
        const char *const kernels[] = {"diamond", "write_counter", "read_counter"};
        for (int i = 0; i < 3; i++)
            cr_assert(strcmp(names[0], kernels[i]) == 0 || strcmp(names[1], kernels[i]) == 0 ||
                      strcmp(names[2], kernels[i]) == 0);
        launch(module, "diamond");
        launch(module, "read_counter");
        TEST_OK(zepi.release(module));
        TEST_FAILS_SAYING(link_named(method, 2, partial, &module), ZEPI_ERROR_LINK_FAILURE,
                          "missing_");
        cr_assert_null(strstr(zepi.last_error(NULL), "'base'"));
    }
}

Test(capture, comes_back_from_native_code)
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

static void share_cache(void)
{
    setenv("ZEPI_CACHE_DIR", test_env_scratch_path("shared-cache"), 1);
}

TestSuite(capture_cache, .init = share_cache, .timeout = 120);

Test(capture_cache, another_product_is_another_build)
{
    const struct test_process first = test_process_run("intel:tgllp scaled_copy");
    const struct test_process other = test_process_run("intel:skl scaled_copy");
    cr_assert_eq(first.builds, 1);
    cr_assert_eq(other.builds, 1);
    const struct test_process again = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(again.store_hits, 1);
}

// Intel's graphics compiler in a folder of its own, found before the system's.
static const char *copy_compiler(char *library, size_t size)
{
    const char *folder = test_env_scratch_path("compiler");
    char command[2048];
    snprintf(library, size, "%s/libigc.so.1", folder);
    snprintf(command, sizeof(command),
             "mkdir '%s' && cp -L \"$(ldconfig -p | awk '/libigc.so.1 / {print $NF; exit}')\" '%s'",
             folder, library);
    // NOLINTNEXTLINE(cert-env33-c): the command is ours
    return system(command) == 0 ? folder : NULL;
}

// Another build of the library surely differs in this.
static void change_build_id(const char *path)
{
    static const char note[] = "\3\0\0\0GNU"; // its type and name; the id follows
    struct test_bytes bytes = test_env_read_file(path);
    const uint8_t *id = memmem(bytes.data, bytes.size_bytes, note, sizeof(note));
    FILE *file = fopen(path, "r+b");
    cr_assert(id && file);
    id += sizeof(note);
    fseek(file, id - bytes.data, SEEK_SET);
    fputc(*id ^ 1, file);
    fclose(file);
    free(bytes.data);
}

Test(capture_cache, another_compiler_behind_the_same_version_compiles_again)
{
    char library[1024];
    const char *folder = copy_compiler(library, sizeof(library));
    cr_assert_not_null(folder);
    const struct test_process systems = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(systems.builds, 1);
    setenv("LD_LIBRARY_PATH", folder, 1);
    // A copy with the same bytes is the same compiler.
    const struct test_process copied = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(copied.builds, 0);
    cr_assert_eq(copied.store_hits, 1);
    change_build_id(library);
    const struct test_process changed = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(changed.builds, 1);
    cr_assert_eq(changed.store_hits, 0);
    const struct test_process unchanged = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(unchanged.builds, 0);
    cr_assert_eq(unchanged.store_hits, 1);
    unsetenv("LD_LIBRARY_PATH");
    const struct test_process back = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(back.builds, 0);
}
