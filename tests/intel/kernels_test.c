// SPDX-License-Identifier: MIT
// What kernels compute on Intel's driver, where other tiers' stories do not look; and which ones
// are refused, by name, without a hang.
#include "intel.h"

#include "test_env.h"
#include "test_plugin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ITEMS 64

static struct test_gear gear;
static zepi_module_t module;
static union {
    int numbers[ITEMS];
    uint32_t words[ITEMS];
    int64_t longs[ITEMS];
    double doubles[ITEMS];
} * out;

static void *symbol(const char *name)
{
    void *found = dlsym(dlopen("libze_loader.so.1", RTLD_NOW), name);
    INTEL_EXPECT(found, "%s is not in the loader", name);
    return found;
}
#define ZE(name) ((__typeof__(name) *)symbol(#name))
#define ZE_OK(call)                                                                                \
    do {                                                                                           \
        const ze_result_t ze = (call);                                                             \
        INTEL_EXPECT(ze == ZE_RESULT_SUCCESS, "%s: 0x%x", #call, ze);                              \
    } while (0)

static void set_up(const char *code)
{
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    module = test_executable(gear.context, code);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, sizeof(*out), 0,
                              (void **)&out));
    memset(out, 0, sizeof(*out));
}

static void tear_down(void)
{
    TEST_OK(zepi.usm_free(gear.context, out));
    zepi.release(module);
    test_gear_destroy(&gear);
    test_plugin_unload();
}

static zepi_kernel_t kernel_of(const char *name)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    return kernel;
}

static void run(const char *name, uint32_t count, const zepi_argument_t *arguments, size_t items,
                size_t group)
{
    const zepi_kernel_t kernel = kernel_of(name);
    zepi_launch_desc_t desc = test_launch(kernel, count, arguments, items);
    desc.group_size[0] = group;
    TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    zepi.release(kernel);
}

// ---- Numbers ----

static void sub_groups_have_the_size_that_a_kernel_requires(void)
{
    set_up("execution");
    run("need_16", 1, (zepi_argument_t[]){TEST_POINTER(out)}, ITEMS, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        INTEL_EXPECT(out->words[i] == 16, "item %d: %u", i, out->words[i]);
    tear_down();
}

static void sub_groups_have_the_size_that_the_compiler_chose(void)
{
    zepi_kernel_info_t info = {.size = sizeof(info)};
    set_up("execution");
    const zepi_kernel_t kernel = kernel_of("tell_sub_groups");
    TEST_OK(zepi.kernel_get_info(kernel, gear.device, &info));
    zepi.release(kernel);
    run("tell_sub_groups", 1, (zepi_argument_t[]){TEST_POINTER(out)}, ITEMS, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        INTEL_EXPECT(out->words[i] == info.max_sub_group_size, "item %d: %u, not %u", i,
                     out->words[i], info.max_sub_group_size);
    tear_down();
}

static void structures_by_value_arrive_whole(void)
{
    const struct {
        char small;
        double wide;
        int16_t pair[2];
        int number;
    } mixed = {-3, 2.5, {7, -8}, 1 << 20};
    const char before = 9, unused = 1;
    set_up("execution");
    run("take_apart", 4,
        (zepi_argument_t[]){TEST_VALUE(before), TEST_VALUE(mixed), TEST_VALUE(unused),
                            TEST_POINTER(out)},
        1, 1);
    INTEL_EXPECT(out->doubles[0] == 9 && out->doubles[1] == -3 && out->doubles[2] == 2.5 &&
                     out->doubles[3] == -8 && out->doubles[4] == 1 << 20,
                 "%g %g %g %g %g", out->doubles[0], out->doubles[1], out->doubles[2],
                 out->doubles[3], out->doubles[4]);
    tear_down();
}

static void two_arguments_of_local_memory_lie_apart(void)
{
    const int scale = 3, items = 32;
    set_up("execution");
    run("place_two", 4,
        (zepi_argument_t[]){{.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = items * sizeof(int)},
                            TEST_VALUE(scale),
                            {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = items * sizeof(int64_t)},
                            TEST_POINTER(out)},
        items, items);
    for (int i = 0; i < items; i++)
        INTEL_EXPECT(out->longs[i] == -999 * scale * (items - 1 - i), "item %d: %lld", i,
                     (long long)out->longs[i]);
    tear_down();
}

// Each new module has its variables anew, also where the driver puts its code in the same place.
static void forget_module(void)
{
    zepi.release(module);
    TEST_OK(zepi.cache_clear(gear.context));
}

static void a_new_module_where_another_was_begins_anew(void)
{
    set_up("execution");
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 3; i++) {
            run("count_runs", 1, (zepi_argument_t[]){TEST_POINTER(out)}, 1, 1);
            INTEL_EXPECT(out->numbers[0] == 6 + i, "round %d: %d", round, out->numbers[0]);
        }
        forget_module();
        module = test_executable(gear.context, "negate");
        out->numbers[0] = round;
        run("negate", 1, (zepi_argument_t[]){TEST_POINTER(out)}, 1, 1);
        INTEL_EXPECT(out->numbers[0] == -round, "round %d: negated to %d", round, out->numbers[0]);
        forget_module();
        module = test_executable(gear.context, "execution");
    }
    tear_down();
}

static void *native_list(void)
{
    void *list;
    TEST_OK(zepi.queue_get_native(gear.queue, &list));
    return list;
}

static void finish_natively(void)
{
    TEST_OK(zepi.queue_barrier(gear.queue, TEST_NO_WAIT,
                               NULL)); // so that zepi has something to wait for
    TEST_OK(zepi.queue_finish(gear.queue));
}

static ze_kernel_handle_t native_kernel(zepi_kernel_t kernel)
{
    void *native;
    TEST_OK(zepi.kernel_get_native(kernel, gear.device, &native));
    return native;
}

static void group_counts_may_lie_in_memory(void)
{
    set_up("execution");
    ze_group_count_t *counts = (void *)&out->numbers[ITEMS - 3];
    const zepi_kernel_t own = kernel_of("number_groups");
    const ze_kernel_handle_t kernel = native_kernel(own);
    ZE_OK(ZE(zeKernelSetGroupSize)(kernel, 4, 1, 1));
    ZE_OK(ZE(zeKernelSetArgumentValue)(kernel, 0, sizeof(out), &out));
    *counts = (ze_group_count_t){5, 1, 1};
    ZE_OK(
        ZE(zeCommandListAppendLaunchKernelIndirect)(native_list(), kernel, counts, NULL, 0, NULL));
    finish_natively();
    for (int i = 0; i < 20; i++)
        INTEL_EXPECT(out->numbers[i] == 500 + i / 4, "item %d: %d", i, out->numbers[i]);
    INTEL_EXPECT(out->numbers[20] == 0, "a sixth group");
    zepi.release(own);
    tear_down();
}

// ---- Text ----

static char text[8192]; // what was written to a descriptor meanwhile
static int kept_descriptor;

static void begin_text(int descriptor)
{
    fflush(NULL);
    kept_descriptor = dup(descriptor);
    const int file = open(test_env_scratch_path("text"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    INTEL_EXPECT(file >= 0 && dup2(file, descriptor) >= 0, "no scratch file");
    close(file);
}

static void end_text(int descriptor)
{
    fflush(NULL);
    const ssize_t length = pread(descriptor, text, sizeof(text) - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    dup2(kept_descriptor, descriptor);
    close(kept_descriptor);
    fputs(text, stderr);
}

static void expect_text(const char *words)
{
    INTEL_EXPECT(strstr(text, words), "no \"%s\" in it", words);
}

static void prints_reach_the_standard_output(void)
{
    const int number = 47;
    set_up("execution");
    begin_text(STDOUT_FILENO);
    run("print_number", 1, (zepi_argument_t[]){TEST_VALUE(number)}, 1, 1);
    end_text(STDOUT_FILENO);
    expect_text("the number is 47\n");
    tear_down();
}

// ---- Refused ----

// The program sees a lost device, soon, and can end.
static void expect_refusal(const char *words)
{
    const zepi_result_t result = zepi.queue_finish(gear.queue);
    end_text(STDERR_FILENO);
    INTEL_EXPECT(result == ZEPI_ERROR_DEVICE_LOST, "result %d", (int)result);
    expect_text(words);
    zepi.release(module);
    zepi.release(gear.queue);
}

// An image of a line of pixels of four integers or, with `srgb`, bytes.
static ze_image_handle_t make_line(const ze_srgb_ext_desc_t *srgb)
{
    const ze_image_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .pNext = srgb,
        .type = ZE_IMAGE_TYPE_1D,
        .format = {.layout =
                       srgb ? ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8 : ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32,
                   .type = srgb ? ZE_IMAGE_FORMAT_TYPE_UNORM : ZE_IMAGE_FORMAT_TYPE_SINT,
                   .y = ZE_IMAGE_FORMAT_SWIZZLE_G,
                   .z = ZE_IMAGE_FORMAT_SWIZZLE_B,
                   .w = ZE_IMAGE_FORMAT_SWIZZLE_A},
        .width = ITEMS / 4,
        .height = 1,
        .depth = 1};
    zepi_device_info_t info = {.size = sizeof(info)};
    ze_image_handle_t image;
    void *context;
    TEST_OK(zepi.context_get_native(gear.context, &context));
    TEST_OK(zepi.device_get_info(gear.device, &info));
    ZE_OK(ZE(zeImageCreate)(context, info.native_handle, &desc, &image));
    return image;
}

static void launch_on_line(ze_image_handle_t image)
{
    const int more[4] = {100, 200, 300, 400};
    const zepi_argument_t arguments[] = {TEST_VALUE(image), TEST_VALUE(image), TEST_VALUE(more)};
    const zepi_kernel_t kernel = kernel_of("add_line");
    const zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, ITEMS / 4);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    zepi.release(kernel);
}

static void pixels_of_images_are_read_and_written(void)
{
    set_up("images");
    const ze_image_handle_t image = make_line(NULL);
    for (int i = 0; i < ITEMS; i++)
        out->numbers[i] = i;
    ZE_OK(
        ZE(zeCommandListAppendImageCopyFromMemory)(native_list(), image, out, NULL, NULL, 0, NULL));
    launch_on_line(image);
    ZE_OK(ZE(zeCommandListAppendImageCopyToMemory)(native_list(), out, image, NULL, NULL, 0, NULL));
    finish_natively();
    for (int i = 0; i < ITEMS; i++)
        INTEL_EXPECT(out->numbers[i] == i + 100 * (i % 4 + 1), "item %d: %d", i, out->numbers[i]);
    ZE_OK(ZE(zeImageDestroy)(image));
    tear_down();
}

static void an_image_that_the_cpu_lacks_is_refused_by_name(void)
{
    const ze_srgb_ext_desc_t srgb = {.stype = ZE_STRUCTURE_TYPE_SRGB_EXT_DESC, .sRGB = true};
    set_up("images");
    begin_text(STDERR_FILENO);
    launch_on_line(make_line(&srgb));
    expect_refusal("add_line is refused: an image: the surface format 0xc8 is not known");
}

// As libraries ship it. No record of the SPIR-V is kept, and the section that has it is renamed.
static void machine_code_without_spirv_is_refused_by_name(void)
{
    setenv("DRM_SHIM_RECORDS", "/dev/null/none", 1);
    set_up("negate");
    zepi_device_image_desc_t image = test_native_image(module, gear.device, ZEPI_MODULE_EXECUTABLE);
    uint8_t *bytes = (uint8_t *)image.bytes;
    uint8_t *name = memmem(bytes, image.size_bytes, ".spv", 5);
    INTEL_EXPECT(name, "the native code has no SPIR-V");
    memcpy(name, ".abc", 4);
    zepi.release(module);
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &module));
    const zepi_kernel_t kernel = kernel_of("negate");
    const zepi_argument_t argument = TEST_POINTER(out);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    begin_text(STDERR_FILENO);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    expect_refusal("negate is refused: machine code without SPIR-V");
}

// ze_cpu has pointers to some functions alone.
static void a_function_that_the_cpu_lacks_has_no_pointer(void)
{
    void *native, *function;
    set_up("function_pointers");
    TEST_OK(zepi.module_get_native(module, gear.device, &native));
    begin_text(STDERR_FILENO);
    const ze_result_t result = ZE(zeModuleGetFunctionPointer)(native, "twice", &function);
    end_text(STDERR_FILENO);
    INTEL_EXPECT(result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "result 0x%x", result);
    expect_text("twice is refused");
    tear_down();
}

#define EXECUTED "DRM_SHIM_EXEC=1"
#define REFUSED EXECUTED, "DRM_SHIM_STRICT=0"
#define STORY(name, ...)                                                                           \
    {                                                                                              \
#name, name,                                                                               \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const struct intel_story stories[] = {
    STORY(sub_groups_have_the_size_that_a_kernel_requires, EXECUTED),
    STORY(sub_groups_have_the_size_that_the_compiler_chose, EXECUTED),
    STORY(structures_by_value_arrive_whole, EXECUTED),
    STORY(two_arguments_of_local_memory_lie_apart, EXECUTED),
    STORY(a_new_module_where_another_was_begins_anew, EXECUTED),
    STORY(group_counts_may_lie_in_memory, EXECUTED),
    STORY(pixels_of_images_are_read_and_written, EXECUTED),
    STORY(prints_reach_the_standard_output, EXECUTED),
    STORY(an_image_that_the_cpu_lacks_is_refused_by_name, REFUSED),
    STORY(machine_code_without_spirv_is_refused_by_name, REFUSED),
    STORY(a_function_that_the_cpu_lacks_has_no_pointer, REFUSED),
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
