// SPDX-License-Identifier: MIT
// Images and samplers as a C host sees them: copies, kernels, graphs, refusals.
#include "gear_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 8
#define HEIGHT 4
#define PIXELS (WIDTH * HEIGHT)

static zepi_module_t module;
static float *pixels; // PIXELS of four channels, twice

static void set_up(void)
{
    gear_set_up();
    module = test_executable(gear.context, "images");
    pixels = gear_allocate(2 * PIXELS * 4 * sizeof(float));
    for (int i = 0; i < PIXELS * 4; i++)
        pixels[i] = (float)i;
}

static void tear_down(void)
{
    TEST_OK(zepi.usm_free(gear.context, pixels));
    TEST_OK(zepi.release(module));
    gear_tear_down();
}

TestSuite(image, .init = set_up, .fini = tear_down);

static const zepi_image_desc_t plane = {.size = sizeof(plane),
                                        .shape = ZEPI_IMAGE_2D,
                                        .width = WIDTH,
                                        .height = HEIGHT,
                                        .channel_count = 4,
                                        .channel_bytes = 4,
                                        .channel_type = ZEPI_CHANNEL_FLOAT};

static zepi_image_t make(const zepi_image_desc_t *desc)
{
    zepi_image_t image;
    TEST_OK(zepi.image_create(gear.context, gear.device, desc, &image));
    return image;
}

static zepi_kernel_t get_kernel(const char *name)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    return kernel;
}

static void write_all(zepi_image_t image, const void *memory)
{
    TEST_OK(zepi.queue_copy_to_image(gear.queue, image, NULL, memory, 0, 0, TEST_NO_WAIT, NULL));
}

static void read_all(void *memory, zepi_image_t image)
{
    TEST_OK(zepi.queue_copy_from_image(gear.queue, memory, 0, 0, image, NULL, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
}

#define IMAGE(image) ((zepi_argument_t){.kind = ZEPI_ARGUMENT_IMAGE, .value = (image)})
#define SAMPLER(sampler) ((zepi_argument_t){.kind = ZEPI_ARGUMENT_SAMPLER, .value = (sampler)})

static void set_up_two(void)
{
    setenv("ZE_CPU_DEVICES", "2", 1);
    set_up();
}

TestSuite(image_of_two, .init = set_up_two, .fini = tear_down);

Test(image, is_what_it_was_made_as)
{
    static const struct {
        zepi_image_desc_t desc;
        uint32_t pixel_bytes;
    } cases[] = {
        {{.shape = ZEPI_IMAGE_1D,
          .width = 16,
          .channel_count = 1,
          .channel_bytes = 4,
          .channel_type = ZEPI_CHANNEL_SINT},
         4},
        {{.shape = ZEPI_IMAGE_2D,
          .width = 16,
          .height = 3,
          .depth = 1,
          .channel_count = 2,
          .channel_bytes = 2,
          .channel_type = ZEPI_CHANNEL_UINT},
         4},
        {{.shape = ZEPI_IMAGE_2D_ARRAY,
          .width = 4,
          .height = 4,
          .layer_count = 3,
          .channel_count = 4,
          .channel_bytes = 1,
          .channel_type = ZEPI_CHANNEL_UNORM,
          .order = {ZEPI_CHANNEL_THIRD, ZEPI_CHANNEL_SECOND, ZEPI_CHANNEL_FIRST}},
         4},
        {{.shape = ZEPI_IMAGE_3D,
          .width = 4,
          .height = 4,
          .depth = 2,
          .channel_count = 4,
          .channel_bytes = 4,
          .channel_type = ZEPI_CHANNEL_UINT,
          .is_read_only = true},
         16},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        zepi_image_desc_t desc = cases[i].desc;
        zepi_image_info_t info = {.size = sizeof(info)};
        desc.size = sizeof(desc);
        zepi_image_t image = make(&desc);
        TEST_OK(zepi.image_get_info(image, &info));
        cr_assert_eq(info.context, gear.context);
        cr_assert_eq(info.device, gear.device);
        cr_assert_eq(info.shape, desc.shape);
        cr_assert_eq(info.width, desc.width);
        cr_assert_eq(info.height, desc.height ? desc.height : 1);
        cr_assert_eq(info.depth, desc.depth ? desc.depth : 1);
        cr_assert_eq(info.layer_count, desc.layer_count ? desc.layer_count : 1);
        cr_assert_eq(info.pixel_bytes, cases[i].pixel_bytes);
        cr_assert_not_null(info.native_handle);
        TEST_OK(zepi.release(image));
    }
}

Test(image, regions_are_copied_with_pitches)
{
    enum { ROW = 6, AT = 2 };
    float *found = pixels + PIXELS * 4;
    const zepi_image_region_t region = {.origin = {1, 1, 0}, .extent = {3, 2, 1}};
    const uint32_t to_origin[] = {4, 2, 0};
    zepi_image_t first = make(&plane), second = make(&plane);
    zepi_event_t written, read;
    write_all(first, pixels);
    write_all(second, pixels);
    TEST_OK(zepi.queue_copy_image(gear.queue, second, to_origin, first, &region, TEST_NO_WAIT,
                                  &written));
    const zepi_image_region_t there = {.origin = {4, 2, 0}, .extent = {3, 2, 1}};
    TEST_OK(zepi.queue_copy_from_image(gear.queue, found, ROW * 16, ROW * 16 * 2, second, &there,
                                       (zepi_wait_list_t){&written, 1}, &read));
    TEST_OK(zepi.event_wait(1, &read, UINT64_MAX));
    for (int y = 0; y < 2; y++) {
        for (int x = 0; x < 3; x++)
            cr_assert_eq(found[(y * ROW + x) * 4], pixels[((y + 1) * WIDTH + x + 1) * 4]);
    }
    // From rows with gaps to a region.
    TEST_OK(zepi.queue_copy_to_image(gear.queue, first, &there, pixels, WIDTH * 16, 0, TEST_NO_WAIT,
                                     NULL));
    read_all(found, first);
    cr_assert_eq(found[((AT + 1) * WIDTH + 5) * 4], pixels[(WIDTH + 1) * 4]);
    cr_assert_eq(found[3 * 4], pixels[3 * 4]);
    TEST_OK(zepi.release(written));
    TEST_OK(zepi.release(read));
    TEST_OK(zepi.release(first));
    TEST_OK(zepi.release(second));
}

// Its layers are rows: the row pitch is between them.
Test(image, layers_of_lines_are_copied_with_pitches)
{
    enum { ROW = 2 * WIDTH, LAYERS = 2 };
    zepi_image_desc_t lines = plane;
    float *found = pixels + PIXELS * 4;
    lines.shape = ZEPI_IMAGE_1D_ARRAY;
    lines.height = 0;
    lines.layer_count = LAYERS;
    zepi_image_t image = make(&lines);
    memset(found, 0, PIXELS * 4 * sizeof(float));
    write_all(image, pixels);
    TEST_OK(zepi.queue_copy_from_image(gear.queue, pixels, ROW * 16, 0, image, NULL, TEST_NO_WAIT,
                                       NULL));
    TEST_OK(
        zepi.queue_copy_to_image(gear.queue, image, NULL, pixels, ROW * 16, 0, TEST_NO_WAIT, NULL));
    read_all(found, image);
    for (int layer = 0; layer < LAYERS; layer++) {
        const int first = layer * WIDTH * 4;
        cr_assert_eq(found[first], first, "layer %d is %g", layer, (double)found[first]);
        cr_assert_eq(pixels[layer * ROW * 4], first, "layer %d is %g", layer,
                     (double)pixels[layer * ROW * 4]);
    }
    TEST_OK(zepi.release(image));
}

// Images that differ from launch to launch, released while commands use them.
Test(image, kernels_read_and_write_it)
{
    zepi_kernel_t add = get_kernel("add_plane");
    const float more[4] = {1, 2, 3, 4};
    float *found = pixels + PIXELS * 4;
    zepi_image_t images[3];
    for (int i = 0; i < 3; i++)
        images[i] = make(&plane);
    write_all(images[0], pixels);
    for (int i = 0; i < 2; i++) {
        const zepi_argument_t arguments[] = {IMAGE(images[i]), IMAGE(images[i + 1]),
                                             TEST_VALUE(more)};
        zepi_launch_desc_t desc = test_launch(add, 3, arguments, WIDTH);
        desc.work_dim = 2;
        desc.global_size[1] = HEIGHT;
        TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.release(images[i]));
    }
    read_all(found, images[2]);
    for (int i = 0; i < PIXELS * 4; i++)
        cr_assert_eq(found[i], pixels[i] + 2 * more[i % 4], "channel %d is %g", i,
                     (double)found[i]);
    TEST_OK(zepi.release(images[2]));
    TEST_OK(zepi.release(add));
}

Test(image, samplers_choose_the_pixels)
{
    zepi_kernel_t sample = get_kernel("sample_plane");
    const zepi_sampler_desc_t descs[] = {
        {.size = sizeof(descs[0]), .address_mode = ZEPI_ADDRESS_CLAMP_TO_EDGE},
        {.size = sizeof(descs[0]), .address_mode = ZEPI_ADDRESS_REPEAT, .is_normalized = true},
        {.size = sizeof(descs[0]), .address_mode = ZEPI_ADDRESS_CLAMP_TO_EDGE, .is_linear = true},
    };
    // The pixel at x = 1, y = 1; between x = 0 and x = 1 in the last case.
    static const float at[][2] = {{1.5f, 1.5f}, {1.0f + 1.5f / WIDTH, 1.5f / HEIGHT}, {1.0f, 1.5f}};
    static const float offsets[] = {0, 0, -2};
    float *to = gear_allocate(4 * sizeof(float)), *where = gear_allocate(2 * sizeof(float));
    zepi_image_t image = make(&plane);
    write_all(image, pixels);
    for (int i = 0; i < 3; i++) {
        zepi_sampler_t sampler;
        TEST_OK(zepi.sampler_create(gear.context, gear.device, &descs[i], &sampler));
        memcpy(where, at[i], sizeof(at[i]));
        const zepi_argument_t arguments[] = {IMAGE(image), SAMPLER(sampler), TEST_POINTER(where),
                                             TEST_POINTER(to)};
        const zepi_launch_desc_t desc = test_launch(sample, 4, arguments, 1);
        TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.release(sampler));
        TEST_OK(zepi.queue_finish(gear.queue));
        cr_assert_eq(to[0], pixels[(WIDTH + 1) * 4] + offsets[i], "case %d: %g", i, (double)to[0]);
    }
    TEST_OK(zepi.release(image));
    TEST_OK(zepi.release(sample));
    TEST_OK(zepi.usm_free(gear.context, to));
    TEST_OK(zepi.usm_free(gear.context, where));
}

// A graph keeps what its commands use, captured or added.
Test(image, graphs_keep_it)
{
    zepi_kernel_t add = get_kernel("add_plane");
    const float more[4] = {5, 5, 5, 5};
    float *found = pixels + PIXELS * 4;
    zepi_image_t from = make(&plane), to = make(&plane);
    zepi_graph_t added, captured;
    const zepi_argument_t arguments[] = {IMAGE(from), IMAGE(to), TEST_VALUE(more)};
    zepi_launch_desc_t desc = test_launch(add, 3, arguments, WIDTH);
    desc.work_dim = 2;
    desc.global_size[1] = HEIGHT;
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &added));
    TEST_OK(zepi.graph_add_launch(added, &desc, (zepi_graph_wait_list_t){NULL, 0}, NULL));
    TEST_OK(zepi.graph_finalize(added));
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &captured));
    TEST_OK(zepi.queue_begin_capture(gear.queue, captured));
    write_all(from, pixels);
    TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_copy_from_image(gear.queue, found, 0, 0, to, NULL, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_end_capture(gear.queue));
    TEST_OK(zepi.graph_finalize(captured));
    TEST_OK(zepi.release(from));
    for (int i = 0; i < 2; i++) {
        memset(found, 0, PIXELS * 16);
        TEST_OK(zepi.queue_execute(gear.queue, captured, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        cr_assert_eq(found[17], pixels[17] + 5);
    }
    memset(found, 0, PIXELS * 16);
    TEST_OK(zepi.queue_execute(gear.queue, added, TEST_NO_WAIT, NULL));
    read_all(found, to);
    cr_assert_eq(found[33], pixels[33] + 5);
    TEST_OK(zepi.release(captured));
    TEST_OK(zepi.release(added));
    TEST_OK(zepi.release(to));
    TEST_OK(zepi.release(add));
}

static void expect_dump(zepi_graph_t graph, const char *name, const void *object)
{
    char words[64];
    const char *path = test_env_scratch_path("graph.dot");
    TEST_OK(zepi.graph_dump(graph, path));
    struct test_bytes bytes = test_env_read_file(path);
    char *text = strndup((const char *)bytes.data, bytes.size_bytes);
    snprintf(words, sizeof(words), ": %s %p\\n", name, object);
    cr_assert_not_null(strstr(text, words), "no '%s' in:\n%s", words, text);
    free(text);
    free(bytes.data);
}

Test(image, is_in_the_dump_of_a_graph_by_its_handle)
{
    const zepi_sampler_desc_t desc = {.size = sizeof(desc)};
    zepi_kernel_t sample = get_kernel("sample_plane");
    zepi_image_t image = make(&plane);
    zepi_sampler_t sampler;
    zepi_graph_t added, captured;
    TEST_OK(zepi.sampler_create(gear.context, gear.device, &desc, &sampler));
    const zepi_argument_t arguments[] = {IMAGE(image), SAMPLER(sampler), TEST_POINTER(pixels),
                                         TEST_POINTER(pixels)};
    const zepi_launch_desc_t launch = test_launch(sample, 4, arguments, 1);
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &added));
    TEST_OK(zepi.graph_add_launch(added, &launch, (zepi_graph_wait_list_t){NULL, 0}, NULL));
    expect_dump(added, "image", image);
    expect_dump(added, "sampler", sampler);
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &captured));
    TEST_OK(zepi.queue_begin_capture(gear.queue, captured));
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_end_capture(gear.queue));
    expect_dump(captured, "image", image);
    expect_dump(captured, "sampler", sampler);
    TEST_OK(zepi.release(captured));
    TEST_OK(zepi.release(added));
    TEST_OK(zepi.release(sampler));
    TEST_OK(zepi.release(image));
    TEST_OK(zepi.release(sample));
}

Test(image, of_a_native_handle_is_the_same)
{
    zepi_image_info_t info = {.size = sizeof(info)}, other = {.size = sizeof(other)};
    zepi_image_t image = make(&plane), around;
    float *found = pixels + PIXELS * 4;
    TEST_OK(zepi.image_get_info(image, &info));
    TEST_OK(zepi.image_create_from_native(gear.context, gear.device, &plane, info.native_handle,
                                          ZEPI_OWNERSHIP_KEEP, &around));
    TEST_OK(zepi.image_get_info(around, &other));
    cr_assert_eq(other.native_handle, info.native_handle);
    write_all(image, pixels);
    read_all(found, around);
    cr_assert_eq(found[9], pixels[9]);
    TEST_OK(zepi.release(around));
    read_all(found, image);
    TEST_OK(zepi.release(image));
    TEST_FAILS(zepi.image_create_from_native(gear.context, gear.device, &plane, NULL,
                                             ZEPI_OWNERSHIP_KEEP, &around),
               ZEPI_ERROR_INVALID_VALUE);
}

Test(image, descriptions_are_checked)
{
    static const struct {
        zepi_result_t expected;
        const char *words;
        zepi_image_desc_t desc;
    } cases[] = {
        {ZEPI_ERROR_INVALID_VALUE,
         "shape 5",
         {.shape = (zepi_image_shape_t)5, .width = 1, .height = 1}},
        {ZEPI_ERROR_INVALID_SIZE, "width is 0", {.shape = ZEPI_IMAGE_2D, .height = 1}},
        {ZEPI_ERROR_INVALID_SIZE, "height is 0", {.shape = ZEPI_IMAGE_2D, .width = 1}},
        {ZEPI_ERROR_INVALID_SIZE,
         "depth is 2, expected 0 or 1",
         {.shape = ZEPI_IMAGE_2D, .width = 1, .height = 1, .depth = 2}},
        {ZEPI_ERROR_INVALID_SIZE, "height is 2", {.shape = ZEPI_IMAGE_1D, .width = 1, .height = 2}},
        {ZEPI_ERROR_INVALID_SIZE,
         "depth is 0, expected at least 1",
         {.shape = ZEPI_IMAGE_3D, .width = 1, .height = 1}},
        {ZEPI_ERROR_INVALID_SIZE,
         "layer_count is 0",
         {.shape = ZEPI_IMAGE_2D_ARRAY, .width = 1, .height = 1}},
        {ZEPI_ERROR_INVALID_SIZE,
         "layer_count is 2",
         {.shape = ZEPI_IMAGE_2D, .width = 1, .height = 1, .layer_count = 2}},
        {ZEPI_ERROR_INVALID_SIZE, "", {.shape = ZEPI_IMAGE_2D, .width = UINT32_MAX, .height = 1}},
    };
    zepi_image_t image = NULL;
    zepi_image_desc_t desc;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        desc = cases[i].desc;
        desc.size = sizeof(desc);
        desc.channel_count = 4;
        desc.channel_bytes = 1;
        TEST_FAILS_SAYING(zepi.image_create(gear.context, gear.device, &desc, &image),
                          cases[i].expected, cases[i].words);
    }
    desc = plane;
    desc.channel_count = 3;
    TEST_FAILS_SAYING(zepi.image_create(gear.context, gear.device, &desc, &image),
                      ZEPI_ERROR_INVALID_VALUE, "channel_count is 3");
    desc = plane;
    desc.channel_bytes = 8;
    TEST_FAILS(zepi.image_create(gear.context, gear.device, &desc, &image),
               ZEPI_ERROR_INVALID_VALUE);
    desc = plane;
    desc.channel_type = (zepi_channel_type_t)5;
    TEST_FAILS(zepi.image_create(gear.context, gear.device, &desc, &image),
               ZEPI_ERROR_INVALID_VALUE);
    desc = plane;
    desc.order[3] = (zepi_channel_t)7;
    TEST_FAILS(zepi.image_create(gear.context, gear.device, &desc, &image),
               ZEPI_ERROR_INVALID_VALUE);
    desc = plane;
    desc.size = 8;
    TEST_FAILS(zepi.image_create(gear.context, gear.device, &desc, &image),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.image_create(gear.context, gear.device, NULL, &image),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.image_create(NULL, gear.device, &plane, &image), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.image_create(gear.context, NULL, &plane, &image), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.image_create(gear.context, gear.device, &plane, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    cr_assert_null(image);
}

Test(image, samplers_are_checked)
{
    zepi_sampler_desc_t desc = {.size = sizeof(desc), .address_mode = (zepi_address_mode_t)5};
    zepi_sampler_t sampler = NULL;
    TEST_FAILS(zepi.sampler_create(gear.context, gear.device, &desc, &sampler),
               ZEPI_ERROR_INVALID_VALUE);
    desc.address_mode = ZEPI_ADDRESS_NONE;
    TEST_FAILS(zepi.sampler_create(NULL, gear.device, &desc, &sampler), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.sampler_create(gear.context, gear.device, NULL, &sampler),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.sampler_create(gear.context, gear.device, &desc, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    desc.size = 4;
    TEST_FAILS(zepi.sampler_create(gear.context, gear.device, &desc, &sampler),
               ZEPI_ERROR_INVALID_SIZE);
    cr_assert_null(sampler);
}

Test(image, copies_are_checked)
{
    const zepi_image_region_t beyond = {.origin = {7, 0, 0}, .extent = {2, 1, 1}};
    const zepi_image_region_t empty = {.extent = {1, 1, 0}};
    const uint32_t far_away[3] = {1, 0, 0};
    zepi_image_t image = make(&plane), stranger;
    zepi_context_t other;
    zepi_event_t event = NULL;
    const zepi_image_t no_image = (zepi_image_t)gear.queue;
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    TEST_OK(zepi.image_create(other, gear.device, &plane, &stranger));
#define FROM(image, region, memory, row, slice)                                                    \
    zepi.queue_copy_from_image(gear.queue, (memory), (row), (slice), (image), (region),            \
                               TEST_NO_WAIT, &event)
    TEST_FAILS(FROM(NULL, NULL, pixels, 0, 0), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(FROM(no_image, NULL, pixels, 0, 0), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(FROM(stranger, NULL, pixels, 0, 0), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(FROM(image, &beyond, pixels, 0, 0), ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(FROM(image, &empty, pixels, 0, 0), ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(FROM(image, NULL, NULL, 0, 0), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(FROM(image, NULL, pixels, WIDTH * 16 - 1, 0), ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(FROM(image, NULL, pixels, 0, PIXELS * 16 - 1), ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(FROM(image, NULL, pixels, 1 << 20, 0), ZEPI_ERROR_INVALID_SIZE); // of the memory
    TEST_FAILS(FROM(image, NULL, pixels + PIXELS * 8 - 4, 0, 0), ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.queue_copy_from_image(NULL, pixels, 0, 0, image, NULL, TEST_NO_WAIT, &event),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(
        zepi.queue_copy_to_image(gear.queue, no_image, NULL, pixels, 0, 0, TEST_NO_WAIT, &event),
        ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(
        zepi.queue_copy_to_image(gear.queue, image, &beyond, pixels, 0, 0, TEST_NO_WAIT, &event),
        ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.queue_copy_image(gear.queue, image, NULL, no_image, NULL, TEST_NO_WAIT, &event),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.queue_copy_image(gear.queue, stranger, NULL, image, NULL, TEST_NO_WAIT, &event),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(
        zepi.queue_copy_image(gear.queue, image, far_away, image, NULL, TEST_NO_WAIT, &event),
        ZEPI_ERROR_INVALID_SIZE);
    zepi_image_desc_t narrow_plane = plane;
    narrow_plane.channel_bytes = 2;
    zepi_image_t narrow = make(&narrow_plane);
    TEST_FAILS(zepi.queue_copy_image(gear.queue, image, NULL, narrow, NULL, TEST_NO_WAIT, &event),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(narrow));
    cr_assert_null(event);
    TEST_OK(zepi.release(stranger));
    TEST_OK(zepi.release(other));
    TEST_OK(zepi.release(image));
}

Test(image, arguments_are_checked)
{
    zepi_kernel_t sample = get_kernel("sample_plane");
    const zepi_sampler_desc_t sampler_desc = {.size = sizeof(sampler_desc)};
    zepi_image_t image = make(&plane), stranger;
    zepi_sampler_t sampler;
    zepi_context_t other;
    zepi_image_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.sampler_create(gear.context, gear.device, &sampler_desc, &sampler));
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    TEST_OK(zepi.image_create(other, gear.device, &plane, &stranger));
    const struct {
        zepi_argument_t image, sampler;
        zepi_result_t expected;
    } cases[] = {
        {IMAGE(NULL), SAMPLER(sampler), ZEPI_ERROR_INVALID_OBJECT},
        {IMAGE(image), SAMPLER(NULL), ZEPI_ERROR_INVALID_OBJECT},
        {IMAGE(sampler), SAMPLER(sampler), ZEPI_ERROR_INVALID_OBJECT},
        {IMAGE(image), SAMPLER(image), ZEPI_ERROR_INVALID_OBJECT},
        {SAMPLER(sampler), SAMPLER(sampler), ZEPI_ERROR_INVALID_VALUE},
        {IMAGE(image), IMAGE(image), ZEPI_ERROR_INVALID_VALUE},
        {IMAGE(stranger), SAMPLER(sampler), ZEPI_ERROR_INVALID_OBJECT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const zepi_argument_t arguments[] = {cases[i].image, cases[i].sampler, TEST_POINTER(pixels),
                                             TEST_POINTER(pixels)};
        const zepi_launch_desc_t desc = test_launch(sample, 4, arguments, 1);
        zepi_graph_t graph;
        TEST_FAILS(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL), cases[i].expected);
        TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &graph));
        TEST_FAILS(zepi.graph_add_launch(graph, &desc, (zepi_graph_wait_list_t){NULL, 0}, NULL),
                   cases[i].expected);
        TEST_OK(zepi.release(graph));
    }
    // For a pointer.
    const zepi_argument_t wrong[] = {IMAGE(image), SAMPLER(sampler), IMAGE(image),
                                     TEST_POINTER(pixels)};
    const zepi_launch_desc_t desc = test_launch(sample, 4, wrong, 1);
    TEST_FAILS(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.image_get_info((zepi_image_t)sampler, &info), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.image_get_info(image, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(stranger));
    TEST_OK(zepi.release(other));
    TEST_OK(zepi.release(sampler));
    TEST_OK(zepi.release(image));
    TEST_OK(zepi.release(sample));
}

// Commands of another device do not reach it.
Test(image_of_two, belongs_to_one_device)
{
    test_ze_cpu_require();
    zepi_device_t devices[2];
    uint32_t count;
    zepi_context_t context;
    zepi_queue_t queues[2];
    zepi_image_t image;
    const float more[4] = {0};
    TEST_OK(zepi.device_get(gear.platform, 2, devices, &count));
    TEST_OK(zepi.context_create(2, devices, &context));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.queue_create(context, devices[i], ZEPI_QUEUE_IN_ORDER, &queues[i]));
    zepi_module_t both = test_executable(context, "images");
    zepi_kernel_t add;
    TEST_OK(zepi.module_get_kernel(both, "add_plane", &add));
    TEST_OK(zepi.image_create(context, devices[1], &plane, &image));
    const zepi_argument_t arguments[] = {IMAGE(image), IMAGE(image), TEST_VALUE(more)};
    zepi_launch_desc_t desc = test_launch(add, 3, arguments, WIDTH);
    desc.work_dim = 2;
    desc.global_size[1] = HEIGHT;
    TEST_OK(zepi.queue_launch(queues[1], &desc, TEST_NO_WAIT, NULL));
    TEST_FAILS_SAYING(zepi.queue_launch(queues[0], &desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_OBJECT, "another device");
    TEST_FAILS_SAYING(
        zepi.queue_copy_image(queues[0], image, NULL, image, NULL, TEST_NO_WAIT, NULL),
        ZEPI_ERROR_INVALID_OBJECT, "another device");
    zepi_sampler_t sampler;
    const zepi_sampler_desc_t sampler_desc = {.size = sizeof(sampler_desc)};
    TEST_OK(zepi.sampler_create(context, devices[0], &sampler_desc, &sampler));
    zepi_kernel_t sample;
    TEST_OK(zepi.module_get_kernel(both, "sample_plane", &sample));
    const zepi_argument_t sampled[] = {IMAGE(image), SAMPLER(sampler), TEST_POINTER(pixels),
                                       TEST_POINTER(pixels)};
    desc = test_launch(sample, 4, sampled, 1);
    TEST_FAILS_SAYING(zepi.queue_launch(queues[1], &desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_OBJECT, "a sampler of another device");
    TEST_OK(zepi.release(sample));
    TEST_OK(zepi.release(sampler));
    TEST_OK(zepi.release(image));
    TEST_OK(zepi.release(add));
    TEST_OK(zepi.release(both));
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.queue_finish(queues[i]));
        TEST_OK(zepi.release(queues[i]));
        TEST_OK(zepi.release(devices[i]));
    }
    TEST_OK(zepi.release(context));
}
