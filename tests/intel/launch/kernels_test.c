// SPDX-License-Identifier: MIT
// Results of kernels on Intel's driver that other tiers' stories do not check.
#include "kernel_fixture.h"

#include <signal.h>
#include <string.h>
#include <time.h>

static void sub_groups_have_the_size_that_a_kernel_requires(void)
{
    kernels_set_up("execution");
    kernels_run("need_16", 1, (zepi_argument_t[]){TEST_POINTER(out)}, ITEMS, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        INTEL_EXPECT(out->words[i] == 16, "item %d: %u", i, out->words[i]);
    kernels_tear_down();
}

static void sub_groups_have_the_size_that_the_compiler_chose(void)
{
    zepi_kernel_info_t info = {.size = sizeof(info)};
    kernels_set_up("execution");
    const zepi_kernel_t kernel = kernels_get("tell_sub_groups");
    TEST_OK(zepi.kernel_get_info(kernel, gear.device, &info));
    TEST_OK(zepi.release(kernel));
    kernels_run("tell_sub_groups", 1, (zepi_argument_t[]){TEST_POINTER(out)}, ITEMS, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        INTEL_EXPECT(out->words[i] == info.max_sub_group_size, "item %d: %u, not %u", i,
                     out->words[i], info.max_sub_group_size);
    kernels_tear_down();
}

// Groups of these sizes, three of them in each dimension.
static const size_t shapes[][3] = {{2, 2, 1}, {3, 4, 1}, {4, 2, 2},
                                   {1, 1, 2}, {5, 1, 2}, {1, 3, 1}};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void run_in_shape(const char *name, uint32_t count, const zepi_argument_t *arguments,
                         const size_t shape[3])
{
    const zepi_kernel_t kernel = kernels_get(name);
    zepi_launch_desc_t launch = test_launch(kernel, count, arguments, 3 * shape[0]);
    launch.work_dim = 3;
    for (int i = 0; i < 3; i++) {
        launch.global_size[i] = 3 * shape[i];
        launch.group_size[i] = shape[i];
    }
    memset(out, 0, sizeof(*out));
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(kernel));
}

// Nothing in its payload or walker says how large a group is.
static void a_kernel_that_asks_for_the_global_size_alone_gets_it(void)
{
    kernels_set_up("execution");
    for (size_t i = 0; i < SHAPES; i++) {
        const uint32_t size[] = {(uint32_t)shapes[i][0] * 3, (uint32_t)shapes[i][1] * 3,
                                 (uint32_t)shapes[i][2] * 3};
        run_in_shape("compare_sizes", 4,
                     (zepi_argument_t[]){TEST_VALUE(size[0]), TEST_VALUE(size[1]),
                                         TEST_VALUE(size[2]), TEST_POINTER(out)},
                     shapes[i]);
        for (int k = 0; k < 3; k++)
            INTEL_EXPECT(out->numbers[k] == 0, "shape %zu, dimension %d: %d, expected %u", i, k,
                         out->numbers[k], size[k]);
    }
    kernels_tear_down();
}

// The GPU makes them, or, for some sizes, the driver does.
static void a_kernel_that_asks_for_local_ids_alone_gets_them(void)
{
    kernels_set_up("execution");
    for (size_t i = 0; i < SHAPES; i++) {
        const size_t *shape = shapes[i];
        run_in_shape("note_local_ids", 1, (zepi_argument_t[]){TEST_POINTER(out)}, shape);
        for (size_t k = 0; k < ITEMS; k++) {
            const bool is_in = k % 8 < shape[0] && k / 8 % 4 < shape[1] && k / 32 < shape[2];
            INTEL_EXPECT(out->numbers[k] == is_in, "shape %zu, item %zu: %d", i, k,
                         out->numbers[k]);
        }
        run_in_shape("note_first_local_ids", 1, (zepi_argument_t[]){TEST_POINTER(out)}, shape);
        for (size_t k = 0; k < ITEMS; k++)
            INTEL_EXPECT(out->numbers[k] == (k < shape[0]), "shape %zu, column %zu: %d", i, k,
                         out->numbers[k]);
    }
    kernels_tear_down();
}

static void a_function_called_by_a_pointer_gets_the_global_size(void)
{
    uint64_t *table;
    kernels_set_up("function_pointers");
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 3 * sizeof(*table), 0,
                              (void **)&table));
    kernels_run("store_table", 1, (zepi_argument_t[]){TEST_POINTER(table)}, 1, 1);
    for (size_t i = 0; i < SHAPES; i++) {
        run_in_shape("call_for_sizes", 2,
                     (zepi_argument_t[]){TEST_POINTER(table), TEST_POINTER(out)}, shapes[i]);
        for (int k = 0; k < 3; k++)
            INTEL_EXPECT((size_t)out->numbers[k] == 3 * shapes[i][k], "shape %zu, dimension %d: %d",
                         i, k, out->numbers[k]);
    }
    TEST_OK(zepi.usm_free(gear.context, table));
    kernels_tear_down();
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
    kernels_set_up("execution");
    kernels_run("take_apart", 4,
                (zepi_argument_t[]){TEST_VALUE(before), TEST_VALUE(mixed), TEST_VALUE(unused),
                                    TEST_POINTER(out)},
                1, 1);
    INTEL_EXPECT(out->doubles[0] == 9 && out->doubles[1] == -3 && out->doubles[2] == 2.5 &&
                     out->doubles[3] == -8 && out->doubles[4] == 1 << 20,
                 "%g %g %g %g %g", out->doubles[0], out->doubles[1], out->doubles[2],
                 out->doubles[3], out->doubles[4]);
    kernels_tear_down();
}

static void two_arguments_of_local_memory_lie_apart(void)
{
    const int scale = 3, items = 32;
    kernels_set_up("execution");
    kernels_run(
        "place_two", 4,
        (zepi_argument_t[]){{.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = items * sizeof(int)},
                            TEST_VALUE(scale),
                            {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = items * sizeof(int64_t)},
                            TEST_POINTER(out)},
        items, items);
    for (int i = 0; i < items; i++)
        INTEL_EXPECT(out->longs[i] == -999 * scale * (items - 1 - i), "item %d: %lld", i,
                     (long long)out->longs[i]);
    kernels_tear_down();
}

// Each new module has its variables anew, also where the driver puts its code in the same place.
static void forget_module(void)
{
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.cache_clear(gear.context));
}

static void a_new_module_where_another_was_begins_anew(void)
{
    kernels_set_up("execution");
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 3; i++) {
            kernels_run("count_runs", 1, (zepi_argument_t[]){TEST_POINTER(out)}, 1, 1);
            INTEL_EXPECT(out->numbers[0] == 6 + i, "round %d: %d", round, out->numbers[0]);
        }
        forget_module();
        module = test_executable(gear.context, "negate");
        out->numbers[0] = round;
        kernels_run("negate", 1, (zepi_argument_t[]){TEST_POINTER(out)}, 1, 1);
        INTEL_EXPECT(out->numbers[0] == -round, "round %d: negated to %d", round, out->numbers[0]);
        forget_module();
        module = test_executable(gear.context, "execution");
    }
    kernels_tear_down();
}

static void group_counts_may_lie_in_memory(void)
{
    kernels_set_up("execution");
    ze_group_count_t *counts = (void *)&out->numbers[ITEMS - 3];
    const zepi_kernel_t own = kernels_get("number_groups");
    const ze_kernel_handle_t kernel = kernels_native(own);
    ZE_OK(ZE(zeKernelSetGroupSize)(kernel, 4, 1, 1));
    ZE_OK(ZE(zeKernelSetArgumentValue)(kernel, 0, sizeof(out), &out));
    *counts = (ze_group_count_t){5, 1, 1};
    ZE_OK(ZE(zeCommandListAppendLaunchKernelIndirect)(kernels_native_list(), kernel, counts, NULL,
                                                      0, NULL));
    kernels_finish();
    for (int i = 0; i < 20; i++)
        INTEL_EXPECT(out->numbers[i] == 500 + i / 4, "item %d: %d", i, out->numbers[i]);
    INTEL_EXPECT(out->numbers[20] == 0, "a sixth group");
    TEST_OK(zepi.release(own));
    kernels_tear_down();
}

static void functions_are_called_by_pointers(void)
{
    const int which = 0x35, items = 16;
    kernels_set_up("function_pointers");
    uint64_t *table = (void *)&out->numbers[ITEMS - 6];
    kernels_run("call_either", 2, (zepi_argument_t[]){TEST_VALUE(which), TEST_POINTER(out)}, items,
                items);
    for (int i = 0; i < items; i++)
        INTEL_EXPECT(out->numbers[i] == (which >> (i & 7) & 1 ? 2 * i : -i), "item %d: %d", i,
                     out->numbers[i]);
    kernels_run("store_table", 1, (zepi_argument_t[]){TEST_POINTER(table)}, 1, 1);
    kernels_run("call_of_table", 2, (zepi_argument_t[]){TEST_POINTER(table), TEST_POINTER(out)},
                items, 4);
    for (int i = 0; i < items; i++)
        INTEL_EXPECT(out->numbers[i] == (i & 1 ? -i : 2 * i), "item %d of the table: %d", i,
                     out->numbers[i]);
    kernels_tear_down();
}

// Types of the constants of spec_types.cl, by id: 20 to 31.
static void constants_of_every_size_reach_the_kernel(void)
{
    static const struct {
        uint32_t id, size_bytes;
        uint64_t bits;
    } values[] = {{20, 1, 1},
                  {21, 1, 0x85},
                  {22, 1, 0x86},
                  {23, 2, 0x8787},
                  {24, 2, 0x8888},
                  {25, 4, 0x89898989},
                  {26, 4, 0x8a8a8a8a},
                  {27, 8, 0x8b8b8b8b8b8b8b8b},
                  {28, 8, 0x8c8c8c8c8c8c8c8c},
                  {29, 2, 0x3e00},
                  {30, 4, 0x40490fdb},
                  {31, 8, 0x400921fb54442d18}};
    const size_t count = sizeof(values) / sizeof(values[0]);
    kernels_set_up("spec_types");
    TEST_OK(zepi.release(module));
    const zepi_module_t input = test_input(gear.context, "spec_types");
    for (size_t i = 0; i < count; i++)
        TEST_OK(zepi.spec_constant_set(input, values[i].id, values[i].size_bytes, &values[i].bits));
    const zepi_build_desc_t build = {.size = sizeof(build)};
    TEST_OK(zepi.module_build(input, &build, &module));
    TEST_OK(zepi.release(input));
    kernels_run("show_types", 1, (zepi_argument_t[]){TEST_POINTER(out)}, 1, 1);
    for (size_t i = 0; i < count; i++)
        INTEL_EXPECT((uint64_t)out->longs[i] == values[i].bits, "constant %u: 0x%llx", values[i].id,
                     (unsigned long long)out->longs[i]);
    kernels_tear_down();
}

static void global_offsets_shift_ids_alone(void)
{
    kernels_set_up("launches");
    const zepi_argument_t argument = TEST_POINTER(out);
    const zepi_kernel_t kernel = kernels_get("note_ends");
    zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 8);
    launch.work_dim = 3;
    launch.global_size[1] = 4;
    launch.global_size[2] = 2;
    launch.global_offset[0] = 100;
    launch.global_offset[1] = 7;
    launch.global_offset[2] = 3;
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    const int ends[6] = {100, 7, 3, 107, 10, 4};
    for (int i = 0; i < 6; i++)
        INTEL_EXPECT(out->numbers[i] == ends[i], "number %d: %d", i, out->numbers[i]);
    TEST_OK(zepi.release(kernel));
    kernels_tear_down();
}

static void a_cooperative_launch_is_as_large_as_the_driver_says(void)
{
    kernels_set_up("launches");
    uint32_t groups = 0;
    const zepi_argument_t argument = TEST_POINTER(out);
    const zepi_kernel_t kernel = kernels_get("count_items");
    zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 16);
    launch.group_size[0] = 16;
    launch.flags = ZEPI_LAUNCH_COOPERATIVE;
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < 16; i++)
        INTEL_EXPECT(out->numbers[i] == 1, "item %d: %d", i, out->numbers[i]);
    // Groups that wait for each other need all to run at once: the CPU runs one.
    const ze_kernel_handle_t native = kernels_native(kernel);
    ZE_OK(ZE(zeKernelSetGroupSize)(native, 16, 1, 1));
    ZE_OK(ZE(zeKernelSuggestMaxCooperativeGroupCount)(native, &groups));
    INTEL_EXPECT(groups == 1, "%u groups", groups);
    TEST_OK(zepi.release(kernel));
    kernels_tear_down();
}

static void link_and_run(void)
{
    const int offset = 1000;
    kernels_set_up("negate");
    const zepi_module_t objects[] = {test_object(gear.context, "importer"),
                                     test_object(gear.context, "exporter")};
    const zepi_build_desc_t link = {.size = sizeof(link)};
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.module_link(2, objects, &link, &module));
    for (int i = 0; i < ITEMS; i++)
        out->numbers[i] = i;
    kernels_run("triple_and_offset", 1, (zepi_argument_t[]){TEST_POINTER(out)}, ITEMS, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        INTEL_EXPECT(out->numbers[i] == 3 * i + 100, "item %d: %d", i, out->numbers[i]);
    kernels_run("set_offset", 1, (zepi_argument_t[]){TEST_VALUE(offset)}, 1, 1);
    kernels_run("triple_and_offset", 1, (zepi_argument_t[]){TEST_POINTER(out)}, ITEMS, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        INTEL_EXPECT(out->numbers[i] == 3 * (3 * i + 100) + 1000, "item %d: %d", i,
                     out->numbers[i]);
    TEST_OK(zepi.release(objects[0]));
    TEST_OK(zepi.release(objects[1]));
    kernels_tear_down();
}

// The environments of the stories say how.
static void modules_linked_as_a_program_share_functions_and_variables(void)
{
    link_and_run();
}

static void modules_linked_dynamically_share_functions_and_variables(void)
{
    link_and_run();
}

// The host's copies to and from a variable, between launches.
static void variables_are_the_host_s_too(void)
{
    int number = 40;
    void *native, *runs;
    size_t size_bytes = 0;
    kernels_set_up("execution");
    TEST_OK(zepi.module_get_native(module, gear.device, &native));
    ZE_OK(ZE(zeModuleGetGlobalPointer)(native, "runs", &size_bytes, &runs));
    INTEL_EXPECT(size_bytes == sizeof(number), "%zu bytes", size_bytes);
    ZE_OK(ZE(zeCommandListAppendMemoryCopy)(kernels_native_list(), runs, &number, sizeof(number),
                                            NULL, 0, NULL));
    kernels_finish();
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = "count_runs"};
    ze_kernel_handle_t kernel;
    ZE_OK(ZE(zeKernelCreate)(native, &desc, &kernel));
    const ze_group_count_t one = {1, 1, 1};
    ZE_OK(ZE(zeKernelSetGroupSize)(kernel, 1, 1, 1));
    ZE_OK(ZE(zeKernelSetArgumentValue)(kernel, 0, sizeof(out), &out));
    ZE_OK(ZE(zeCommandListAppendLaunchKernel)(kernels_native_list(), kernel, &one, NULL, 0, NULL));
    ZE_OK(ZE(zeCommandListAppendMemoryCopy)(kernels_native_list(), &number, runs, sizeof(number),
                                            NULL, 0, NULL));
    kernels_finish();
    INTEL_EXPECT(out->numbers[0] == 41 && number == 41, "the kernel has %d, the host %d",
                 out->numbers[0], number);
    ZE_OK(ZE(zeKernelDestroy)(kernel));
    kernels_tear_down();
}

static void a_constant_table_is_read_beside_a_variable(void)
{
    static const int digits[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    kernels_set_up("execution");
    kernels_run("count_runs", 1, (zepi_argument_t[]){TEST_POINTER(out)}, 1, 1);
    kernels_run("look_up", 1, (zepi_argument_t[]){TEST_POINTER(out)}, ITEMS, 8);
    for (int i = 0; i < ITEMS; i++)
        INTEL_EXPECT(out->numbers[i] == digits[i * 5 & 7] + 6, "item %d: %d", i, out->numbers[i]);
    kernels_tear_down();
}

static void modules_outlive_others_that_are_destroyed(void)
{
    static const char *const codes[] = {"execution", "negate", "launches", "exporter"};
    zepi_module_t others[4];
    kernels_set_up("execution");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++)
            others[i] = test_executable(gear.context, codes[(i + round) % 4]);
        for (int i = 0; i < 4; i++) {
            TEST_OK(zepi.release(others[i]));
            TEST_OK(zepi.cache_clear(gear.context));
            kernels_run("count_runs", 1, (zepi_argument_t[]){TEST_POINTER(out)}, 1, 1);
            INTEL_EXPECT(out->numbers[0] == 6 + 4 * round + i, "round %d.%d: %d", round, i,
                         out->numbers[0]);
        }
    }
    kernels_tear_down();
}

static uint64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// A fill is one or several of the driver's own kernels, which are built when it is met first: that
// takes as long as a thousand launches.
static void builds_are_in_no_timestamp(void)
{
    const uint8_t pattern = 4;
    zepi_event_times_t times = {.size = sizeof(times)};
    zepi_event_t event;
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, sizeof(*out), 0,
                              (void **)&out));
    const uint64_t begin = wall_ns();
    // From an odd address to an odd address: the ends have a kernel of their own.
    TEST_OK(zepi.queue_fill(gear.queue, (uint8_t *)out + 1, &pattern, 1, sizeof(*out) - 2,
                            TEST_NO_WAIT, &event));
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    const uint64_t wall = wall_ns() - begin;
    INTEL_EXPECT(((uint8_t *)out)[sizeof(*out) - 2] == 4, "not filled");
    TEST_OK(zepi.event_get_times(event, &times));
    INTEL_EXPECT(times.end_ns - times.start_ns < wall / 2, "%llu of %llu ns",
                 (unsigned long long)(times.end_ns - times.start_ns), (unsigned long long)wall);
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.usm_free(gear.context, out));
    test_gear_destroy(&gear);
    test_plugin_unload();
}

// The OpenCL runtime's compiler would install its own.
static void handlers_of_crashes_stay_what_they_were(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    enum { COUNT = sizeof(signals) / sizeof(signals[0]) };
    struct sigaction before[COUNT], after;
    kernels_set_up("negate");
    for (int i = 0; i < COUNT; i++)
        sigaction(signals[i], NULL, &before[i]);
    out->numbers[0] = 3;
    kernels_run("negate", 1, (zepi_argument_t[]){TEST_POINTER(out)}, 1, 1);
    INTEL_EXPECT(out->numbers[0] == -3, "negated to %d", out->numbers[0]);
    for (int i = 0; i < COUNT; i++) {
        sigaction(signals[i], NULL, &after);
        INTEL_EXPECT(after.sa_handler == before[i].sa_handler &&
                         after.sa_flags == before[i].sa_flags,
                     "signal %d has another handler", signals[i]);
    }
    kernels_tear_down();
}

static void pixels_of_images_are_read_and_written(void)
{
    kernels_set_up("images");
    const ze_image_handle_t image = kernels_make_line(NULL);
    for (int i = 0; i < ITEMS; i++)
        out->numbers[i] = i;
    ZE_OK(ZE(zeCommandListAppendImageCopyFromMemory)(kernels_native_list(), image, out, NULL, NULL,
                                                     0, NULL));
    kernels_launch_on_line(image);
    ZE_OK(ZE(zeCommandListAppendImageCopyToMemory)(kernels_native_list(), out, image, NULL, NULL, 0,
                                                   NULL));
    kernels_finish();
    for (int i = 0; i < ITEMS; i++)
        INTEL_EXPECT(out->numbers[i] == i + 100 * (i % 4 + 1), "item %d: %d", i, out->numbers[i]);
    ZE_OK(ZE(zeImageDestroy)(image));
    kernels_tear_down();
}

static ze_image_handle_t make_plane(ze_image_format_layout_t layout, ze_image_format_type_t type)
{
    const ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                                  .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
                                  .type = ZE_IMAGE_TYPE_2D,
                                  .format = {.layout = layout,
                                             .type = type,
                                             .y = ZE_IMAGE_FORMAT_SWIZZLE_G,
                                             .z = ZE_IMAGE_FORMAT_SWIZZLE_B,
                                             .w = ZE_IMAGE_FORMAT_SWIZZLE_A},
                                  .width = 2,
                                  .height = 2,
                                  .depth = 1};
    zepi_device_info_t info = {.size = sizeof(info)};
    ze_image_handle_t image;
    void *context;
    TEST_OK(zepi.context_get_native(gear.context, &context));
    TEST_OK(zepi.device_get_info(gear.device, &info));
    ZE_OK(ZE(zeImageCreate)(context, info.native_handle, &desc, &image));
    return image;
}

// The sum of an image's pixels and a number, in the memory.
static void add_to_plane(ze_image_handle_t from, ze_image_handle_t to, float number, void *memory)
{
    const float more[4] = {number, number, number, number};
    const zepi_argument_t arguments[] = {TEST_VALUE(from), TEST_VALUE(to), TEST_VALUE(more)};
    const zepi_kernel_t kernel = kernels_get("add_plane");
    zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, 2);
    launch.work_dim = 2;
    launch.global_size[1] = 2;
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    ZE_OK(ZE(zeCommandListAppendImageCopyToMemory)(kernels_native_list(), memory, to, NULL, NULL, 0,
                                                   NULL));
    kernels_finish();
    TEST_OK(zepi.release(kernel));
}

// A word of memory, and what it says: red, green, blue and alpha.
static void pixels_whose_components_share_a_word_are_read_and_written(void)
{
    static const struct {
        ze_image_format_layout_t layout;
        size_t bytes;
        uint32_t word;
        int parts[4], most[4]; // 0: no such part, reads as 1
    } formats[] = {
        {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2,
         4,
         1u << 30 | 700u << 20 | 40u << 10 | 1023u,
         {1023, 40, 700, 1},
         {1023, 1023, 1023, 3}},
        {ZE_IMAGE_FORMAT_LAYOUT_5_6_5,
         2,
         30u << 11 | 63u << 5 | 7u,
         {30, 63, 7, 0},
         {31, 63, 31, 0}},
        {ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1,
         2,
         1u << 15 | 3u << 10 | 31u << 5 | 20u,
         {3, 31, 20, 1},
         {31, 31, 31, 1}},
    };
    kernels_set_up("images");
    const ze_image_handle_t floats =
        make_plane(ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, ZE_IMAGE_FORMAT_TYPE_FLOAT);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const ze_image_handle_t from = make_plane(formats[i].layout, ZE_IMAGE_FORMAT_TYPE_UNORM);
        const ze_image_handle_t to = make_plane(formats[i].layout, ZE_IMAGE_FORMAT_TYPE_UNORM);
        uint8_t *const pixels = (uint8_t *)out, *const sums = pixels + 16;
        float *const components = (float *)(void *)(pixels + 32);
        memset(out, 0, sizeof(*out));
        for (size_t k = 0; k < 4; k += 3) // the first and the last
            memcpy(pixels + k * formats[i].bytes, &formats[i].word, formats[i].bytes);
        ZE_OK(ZE(zeCommandListAppendImageCopyFromMemory)(kernels_native_list(), from, pixels, NULL,
                                                         NULL, 0, NULL));
        add_to_plane(from, floats, 0, components);
        for (int k = 0; k < 4; k++) {
            const int most = formats[i].most[k];
            const float expected = most > 0 ? (float)formats[i].parts[k] / (float)most : 1;
            // A component of ze_cpu's has 16 bits.
            INTEL_EXPECT(components[12 + k] - expected < 1e-5f &&
                             expected - components[12 + k] < 1e-5f,
                         "layout %d, component %d: %g, expected %g", (int)formats[i].layout, k,
                         (double)components[12 + k], (double)expected);
        }
        add_to_plane(from, to, 0, sums);
        INTEL_EXPECT(memcmp(sums, pixels, 4 * formats[i].bytes) == 0, "layout %d: other pixels",
                     (int)formats[i].layout);
        add_to_plane(from, to, 1, sums);
        for (size_t k = 0; k < 4 * formats[i].bytes; k++)
            INTEL_EXPECT(sums[k] == 0xff, "layout %d: byte %zu is 0x%x", (int)formats[i].layout, k,
                         sums[k]);
        ZE_OK(ZE(zeImageDestroy)(from));
        ZE_OK(ZE(zeImageDestroy)(to));
    }
    ZE_OK(ZE(zeImageDestroy)(floats));
    kernels_tear_down();
}

static const struct intel_story stories[] = {
    STORY(sub_groups_have_the_size_that_a_kernel_requires, EXECUTED),
    STORY(sub_groups_have_the_size_that_the_compiler_chose, EXECUTED),
    STORY(a_kernel_that_asks_for_the_global_size_alone_gets_it, EXECUTED),
    STORY(a_kernel_that_asks_for_local_ids_alone_gets_them, EXECUTED),
    STORY(a_function_called_by_a_pointer_gets_the_global_size, EXECUTED),
    STORY(structures_by_value_arrive_whole, EXECUTED),
    STORY(two_arguments_of_local_memory_lie_apart, EXECUTED),
    STORY(a_new_module_where_another_was_begins_anew, EXECUTED),
    STORY(group_counts_may_lie_in_memory, EXECUTED),
    STORY(functions_are_called_by_pointers, EXECUTED),
    STORY(constants_of_every_size_reach_the_kernel, EXECUTED),
    STORY(global_offsets_shift_ids_alone, EXECUTED),
    STORY(a_cooperative_launch_is_as_large_as_the_driver_says, EXECUTED),
    STORY(modules_linked_as_a_program_share_functions_and_variables, EXECUTED, "ZEPI_LINK=program"),
    STORY(modules_linked_dynamically_share_functions_and_variables, EXECUTED, "ZEPI_LINK=dynamic"),
    STORY(variables_are_the_host_s_too, EXECUTED),
    STORY(a_constant_table_is_read_beside_a_variable, EXECUTED),
    STORY(modules_outlive_others_that_are_destroyed, EXECUTED),
    STORY(handlers_of_crashes_stay_what_they_were, EXECUTED),
    STORY(builds_are_in_no_timestamp, EXECUTED),
    STORY(pixels_of_images_are_read_and_written, EXECUTED),
    STORY(pixels_whose_components_share_a_word_are_read_and_written, EXECUTED),
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
