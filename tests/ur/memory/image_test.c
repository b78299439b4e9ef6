// SPDX-License-Identifier: MIT
// Images and samplers: shapes, regions, pitches, kernels.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <level_zero/ze_api.h>
#include <stdlib.h>
#include <string.h>

TestSuite(image, .init = ur_set_up, .fini = ur_tear_down);

static const ur_image_format_t one_uint = {UR_IMAGE_CHANNEL_ORDER_R,
                                           UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32};
static const ur_image_format_t four_floats = {UR_IMAGE_CHANNEL_ORDER_RGBA,
                                              UR_IMAGE_CHANNEL_TYPE_FLOAT};

// Each shape, small enough to be compared as a whole; `extent` is the whole in the units of
// commands.
static const struct shape {
    const char *kernel;
    ur_mem_type_t type;
    size_t width, height, depth, layers;
    ur_rect_region_t extent;
} shapes[] = {
    {"shape_1d", UR_MEM_TYPE_IMAGE1D, 9, 0, 0, 0, {9, 1, 1}},
    {"shape_2d", UR_MEM_TYPE_IMAGE2D, 8, 6, 0, 0, {8, 6, 1}},
    {"shape_3d", UR_MEM_TYPE_IMAGE3D, 5, 4, 3, 0, {5, 4, 3}},
    {"shape_1d_array", UR_MEM_TYPE_IMAGE1D_ARRAY, 7, 0, 0, 4, {7, 4, 1}},
    {"shape_2d_array", UR_MEM_TYPE_IMAGE2D_ARRAY, 6, 5, 0, 3, {6, 5, 3}},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))
#define MAX_PIXELS 128

static const ur_rect_offset_t start;

static ur_image_desc_t describe(const struct shape *shape)
{
    return (ur_image_desc_t){.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                             .type = shape->type,
                             .width = shape->width,
                             .height = shape->height,
                             .depth = shape->depth,
                             .arraySize = shape->layers};
}

static ur_mem_handle_t create(const struct shape *shape)
{
    const ur_image_desc_t desc = describe(shape);
    ur_mem_handle_t image;
    UR_OK(urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &one_uint, &desc, NULL, &image));
    return image;
}

static size_t pixels(ur_rect_region_t region)
{
    return region.width * region.height * region.depth;
}

static void write(ur_mem_handle_t image, ur_rect_region_t region, const void *from)
{
    UR_OK(urEnqueueMemImageWrite(gear.queue, image, true, start, region, 0, 0, (void *)from, 0,
                                 NULL, NULL));
}

static void read(ur_mem_handle_t image, ur_rect_region_t region, void *to)
{
    UR_OK(urEnqueueMemImageRead(gear.queue, image, true, start, region, 0, 0, to, 0, NULL, NULL));
}

// Between an image and bytes of the host, by device memory: Intel's driver copies images of three
// channels so.
static void write_by_device(ur_mem_handle_t image, ur_rect_region_t region, const void *from,
                            size_t size_bytes)
{
    void *memory = ur_device_memory(size_bytes);
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, memory, from, size_bytes, 0, NULL, NULL));
    write(image, region, memory);
    ur_free(memory);
}

static void read_by_device(ur_mem_handle_t image, ur_rect_offset_t origin, ur_rect_region_t region,
                           size_t row_pitch, void *to, size_t size_bytes)
{
    void *memory = ur_device_memory(size_bytes);
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, memory, to, size_bytes, 0, NULL, NULL));
    UR_OK(urEnqueueMemImageRead(gear.queue, image, true, origin, region, row_pitch, 0, memory, 0,
                                NULL, NULL));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, to, memory, size_bytes, 0, NULL, NULL));
    ur_free(memory);
}

static void count_up(uint32_t *pixel)
{
    for (uint32_t i = 0; i < MAX_PIXELS; i++)
        pixel[i] = 1000 * i;
}

Test(image, of_every_shape_goes_through_a_kernel)
{
    ur_program_handle_t program = ur_input_file(TEST_UR_IMAGES);
    UR_OK(urProgramBuild(gear.context, program, NULL));
    for (size_t i = 0; i < SHAPES; i++) {
        const ur_rect_region_t extent = shapes[i].extent;
        const size_t global[] = {extent.width, extent.height, extent.depth};
        ur_mem_handle_t from = create(&shapes[i]);
        ur_mem_handle_t to = create(&shapes[i]);
        ur_kernel_handle_t kernel;
        uint32_t in[MAX_PIXELS];
        uint32_t out[MAX_PIXELS];
        count_up(in);
        write(from, extent, in);
        UR_OK(urKernelCreate(program, shapes[i].kernel, &kernel));
        const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, from), UR_MEM(1, to)};
        UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, kernel, 3, NULL, global, NULL, 2,
                                               arguments, NULL, 0, NULL, NULL));
        read(to, extent, out);
        for (size_t k = 0; k < pixels(extent); k++) {
            const size_t x = k % extent.width;
            const size_t y = k / extent.width % extent.height;
            const size_t z = k / extent.width / extent.height;
            cr_assert_eq(out[k], in[k] + x + 10 * y + 100 * z, "%s, pixel %zu", shapes[i].kernel,
                         k);
        }
        UR_OK(urKernelRelease(kernel));
        UR_OK(urMemRelease(from));
        UR_OK(urMemRelease(to));
    }
    UR_OK(urProgramRelease(program));
}

// The last pixel of each dimension, or all of it where there is one.
static void inner(ur_rect_region_t extent, ur_rect_offset_t *origin, ur_rect_region_t *region)
{
    *origin = (ur_rect_offset_t){extent.width > 1, extent.height > 1, extent.depth > 1};
    *region = (ur_rect_region_t){extent.width - origin->x, extent.height - origin->y,
                                 extent.depth - origin->z};
}

Test(image, regions_are_read_written_and_copied)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const ur_rect_region_t extent = shapes[i].extent;
        ur_rect_offset_t origin;
        ur_rect_region_t region;
        ur_mem_handle_t first = create(&shapes[i]);
        ur_mem_handle_t second = create(&shapes[i]);
        uint32_t in[MAX_PIXELS];
        uint32_t part[MAX_PIXELS];
        uint32_t out[MAX_PIXELS];
        const uint32_t zeros[MAX_PIXELS] = {0};
        count_up(in);
        inner(extent, &origin, &region);
        write(first, extent, in);
        UR_OK(urEnqueueMemImageRead(gear.queue, first, true, origin, region, 0, 0, part, 0, NULL,
                                    NULL));
        write(second, extent, zeros);
        UR_OK(
            urEnqueueMemImageCopy(gear.queue, first, second, origin, start, region, 0, NULL, NULL));
        read(second, extent, out);
        for (size_t k = 0; k < pixels(region); k++) {
            const size_t x = k % region.width;
            const size_t y = k / region.width % region.height;
            const size_t z = k / region.width / region.height;
            const size_t whole =
                x + origin.x + extent.width * (y + origin.y + extent.height * (z + origin.z));
            const size_t copied = x + extent.width * (y + extent.height * z);
            cr_assert_eq(part[k], in[whole], "%s, read of pixel %zu", shapes[i].kernel, k);
            cr_assert_eq(out[copied], in[whole], "%s, copy of pixel %zu", shapes[i].kernel, k);
        }
        cr_assert_eq(out[pixels(extent) - 1], 0);
        UR_OK(urEnqueueMemImageWrite(gear.queue, first, true, origin, region, 0, 0, (void *)zeros,
                                     0, NULL, NULL));
        read(first, extent, out);
        cr_assert_eq(out[0], in[0]);
        cr_assert_eq(out[pixels(extent) - 1], 0);
        UR_OK(urMemRelease(first));
        UR_OK(urMemRelease(second));
    }
}

// Rows and slices of host memory with gaps, which stay as they are.
Test(image, is_read_and_written_with_pitches)
{
    enum { WIDTH = 5, HEIGHT = 4, DEPTH = 3, ROW = 8, SLICE = 40 }; // pixels
    const struct shape *shape = &shapes[2];
    ur_mem_handle_t image = create(shape);
    uint32_t in[SLICE * DEPTH];
    uint32_t out[SLICE * DEPTH];
    for (uint32_t i = 0; i < SLICE * DEPTH; i++)
        in[i] = i + 1;
    memset(out, 0xee, sizeof(out));
    UR_OK(urEnqueueMemImageWrite(gear.queue, image, true, start, shape->extent, ROW * 4, SLICE * 4,
                                 in, 0, NULL, NULL));
    UR_OK(urEnqueueMemImageRead(gear.queue, image, true, start, shape->extent, ROW * 4, SLICE * 4,
                                out, 0, NULL, NULL));
    for (uint32_t i = 0; i < SLICE * DEPTH; i++) {
        const bool is_pixel = i % SLICE % ROW < WIDTH && i % SLICE / ROW < HEIGHT;
        cr_assert_eq(out[i], is_pixel ? in[i] : 0xeeeeeeee, "%u", i);
    }
    UR_OK(urMemRelease(image));
}

// The channels in memory that a kernel reads, by their places; constants.
enum { CONSTANT_0 = -1, CONSTANT_1 = -2 };
static const struct channel_order {
    ur_image_channel_order_t order;
    int count;   // of channels in memory
    int seen[4]; // as x, y, z, w
} channel_orders[] = {
    {UR_IMAGE_CHANNEL_ORDER_R, 1, {0, CONSTANT_0, CONSTANT_0, CONSTANT_1}},
    {UR_IMAGE_CHANNEL_ORDER_A, 1, {CONSTANT_0, CONSTANT_0, CONSTANT_0, 0}},
    {UR_IMAGE_CHANNEL_ORDER_INTENSITY, 1, {0, 0, 0, 0}},
    {UR_IMAGE_CHANNEL_ORDER_LUMINANCE, 1, {0, 0, 0, CONSTANT_1}},
    {UR_IMAGE_CHANNEL_ORDER_RX, 1, {0, CONSTANT_0, CONSTANT_0, CONSTANT_1}},
    {UR_IMAGE_CHANNEL_ORDER_RG, 2, {0, 1, CONSTANT_0, CONSTANT_1}},
    {UR_IMAGE_CHANNEL_ORDER_RA, 2, {0, CONSTANT_0, CONSTANT_0, 1}},
    {UR_IMAGE_CHANNEL_ORDER_RGX, 2, {0, 1, CONSTANT_0, CONSTANT_1}},
    {UR_IMAGE_CHANNEL_ORDER_RGB, 3, {0, 1, 2, CONSTANT_1}},
    {UR_IMAGE_CHANNEL_ORDER_RGBA, 4, {0, 1, 2, 3}},
    {UR_IMAGE_CHANNEL_ORDER_BGRA, 4, {2, 1, 0, 3}},
    {UR_IMAGE_CHANNEL_ORDER_ARGB, 4, {1, 2, 3, 0}},
    {UR_IMAGE_CHANNEL_ORDER_ABGR, 4, {3, 2, 1, 0}},
    {UR_IMAGE_CHANNEL_ORDER_RGBX, 4, {0, 1, 2, CONSTANT_1}},
};
#define ORDERS (sizeof(channel_orders) / sizeof(channel_orders[0]))
#define ROW 4

static ur_result_t create_ordered(const struct channel_order *order, ur_mem_handle_t *out_image)
{
    const ur_image_format_t format = {order->order, UR_IMAGE_CHANNEL_TYPE_UNORM_INT8};
    const ur_image_desc_t desc = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = UR_MEM_TYPE_IMAGE2D,
                                  .width = ROW,
                                  .height = 1};
    return urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &format, &desc, NULL, out_image);
}

static void check_order(const struct channel_order *order, ur_mem_handle_t image,
                        ur_kernel_handle_t read_kernel, ur_kernel_handle_t write_kernel)
{
    const ur_rect_region_t row = {ROW, 1, 1};
    unsigned char bytes[ROW * 4];
    unsigned char back[ROW * 4];
    float *seen = ur_shared(ROW * 4 * sizeof(float));
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, image), UR_POINTER(1, seen)};
    for (int i = 0; i < ROW * 4; i++)
        bytes[i] = (unsigned char)(i * 13 + 5);
    write_by_device(image, row, bytes, (size_t)ROW * order->count);
    UR_OK(ur_launch(gear.queue, read_kernel, ROW, 2, arguments, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 0; i < ROW * 4; i++) {
        const int from = order->seen[i % 4];
        const int expected = from == CONSTANT_0   ? 0
                             : from == CONSTANT_1 ? 255
                                                  : bytes[i / 4 * order->count + from];
        cr_assert_float_eq(seen[i] * 255, (float)expected, 0.01, "order %d, pixel %d, channel %d",
                           (int)order->order, i / 4, i % 4);
        seen[i] = (float)(250 - i * 7) / 255;
    }
    UR_OK(ur_launch(gear.queue, write_kernel, ROW, 2, arguments, 0, NULL, NULL));
    read_by_device(image, start, row, 0, back, (size_t)ROW * order->count);
    for (int i = 0; i < ROW * 4; i++) {
        const int to = order->seen[i % 4];
        // Of a channel that several are made of, x counts.
        if (to >= 0 && (i % 4 == 0 || order->seen[0] != to))
            cr_assert_eq(back[i / 4 * order->count + to], 250 - i * 7,
                         "order %d, pixel %d, channel %d", (int)order->order, i / 4, i % 4);
    }
    ur_free(seen);
}

Test(image, channels_have_the_order_of_the_format_or_the_format_is_refused)
{
    ur_program_handle_t program = ur_input_file(TEST_UR_IMAGES);
    ur_kernel_handle_t kernels[2];
    size_t served = 0;
    UR_OK(urProgramBuild(gear.context, program, NULL));
    UR_OK(urKernelCreate(program, "read_float", &kernels[0]));
    UR_OK(urKernelCreate(program, "write_float", &kernels[1]));
    for (size_t i = 0; i < ORDERS; i++) {
        ur_mem_handle_t image;
        const ur_result_t created = create_ordered(&channel_orders[i], &image);
        if (created != UR_RESULT_SUCCESS) {
            cr_assert_eq(created, UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, "order %d: %d",
                         (int)channel_orders[i].order, (int)created);
            continue;
        }
        check_order(&channel_orders[i], image, kernels[0], kernels[1]);
        UR_OK(urMemRelease(image));
        served++;
    }
    // The formats of the CPU's OpenCL.
    cr_assert_geq(served, 12);
    for (int i = 0; i < 2; i++)
        UR_OK(urKernelRelease(kernels[i]));
    UR_OK(urProgramRelease(program));
}

// Intel's driver has no three channels of 32 bits.
Test(image, of_three_channels_has_no_gaps_between_its_pixels_in_memory)
{
    enum { WIDTH = 5, HEIGHT = 3, GAP = 7 };
    static const struct {
        ur_image_channel_type_t type;
        size_t channel_bytes;
    } types[] = {{UR_IMAGE_CHANNEL_TYPE_UNORM_INT8, 1},
                 {UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16, 2},
                 {UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32, 4}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const ur_image_format_t format = {UR_IMAGE_CHANNEL_ORDER_RGB, types[i].type};
        const ur_image_desc_t desc = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                      .type = UR_MEM_TYPE_IMAGE2D,
                                      .width = WIDTH,
                                      .height = HEIGHT};
        const size_t pixel = 3 * types[i].channel_bytes, row = WIDTH * pixel;
        unsigned char in[HEIGHT * (WIDTH * 12 + GAP)];
        unsigned char out[sizeof(in)];
        size_t told;
        for (size_t k = 0; k < sizeof(in); k++)
            in[k] = (unsigned char)(k * 13 + 5);
        ur_mem_handle_t image;
        const ur_result_t created =
            urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &format, &desc, NULL, &image);
        if (test_env_is_on_intel_driver() && types[i].channel_bytes == 4) {
            cr_assert_eq(created, UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
            cr_assert_not_null(strstr(ur_last_error(), "zeImageCreate"), "%s", ur_last_error());
            continue;
        }
        UR_OK(created);
        UR_OK(urMemImageGetInfo(image, UR_IMAGE_INFO_ELEMENT_SIZE, sizeof(told), &told, NULL));
        cr_assert_eq(told, pixel);
        write_by_device(image, (ur_rect_region_t){WIDTH, HEIGHT, 1}, in, sizeof(in));
        memset(out, 0, sizeof(out));
        read_by_device(image, (ur_rect_offset_t){1, 1, 0},
                       (ur_rect_region_t){WIDTH - 1, HEIGHT - 1, 1}, row + GAP, out, sizeof(out));
        for (size_t y = 0; y + 1 < HEIGHT; y++) {
            cr_assert_arr_eq(out + y * (row + GAP), in + (y + 1) * row + pixel, row - pixel);
            cr_assert_eq(out[y * (row + GAP) + row - pixel], 0);
        }
        UR_OK(urMemRelease(image));
    }
}

// The driver's word for a format that it has not.
Test(image, of_a_format_that_the_driver_refuses_says_so)
{
    ur_mem_handle_t image;
    cr_assert_eq(ze_cpu.set_fail("zeImageCreate:1:0x7800000e"), 0);
    UR_FAILS_SAYING(create_ordered(&channel_orders[0], &image),
                    UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, "UNSUPPORTED_IMAGE_FORMAT");
    ze_cpu.set_fail("");
}

Test(image, begins_with_what_the_host_pointer_has)
{
    const struct shape *shape = &shapes[1];
    for (size_t row_pixels = 8; row_pixels <= 11; row_pixels += 3) {
        ur_image_desc_t desc = describe(shape);
        ur_mem_handle_t image;
        uint32_t in[MAX_PIXELS];
        uint32_t out[MAX_PIXELS];
        count_up(in);
        desc.rowPitch = row_pixels == 8 ? 0 : row_pixels * 4;
        UR_OK(urMemImageCreate(gear.context,
                               UR_MEM_FLAG_READ_ONLY | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER,
                               &one_uint, &desc, in, &image));
        read(image, shape->extent, out);
        for (size_t i = 0; i < 48; i++)
            cr_assert_eq(out[i], in[i % 8 + i / 8 * row_pixels]);
        UR_OK(urMemRelease(image));
    }
}

Test(image, tells_what_it_was_made_with)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const struct shape *shape = &shapes[i];
        ur_mem_handle_t image = create(shape);
        ur_image_format_t format;
        size_t value;
        UR_OK(urMemImageGetInfo(image, UR_IMAGE_INFO_FORMAT, sizeof(format), &format, NULL));
        cr_assert_eq(format.channelOrder, one_uint.channelOrder);
        cr_assert_eq(format.channelType, one_uint.channelType);
        // A dimension that a shape does not have is 0, as in OpenCL.
        const struct {
            ur_image_info_t query;
            size_t expected;
        } answers[] = {
            {UR_IMAGE_INFO_ELEMENT_SIZE, 4},           {UR_IMAGE_INFO_WIDTH, shape->width},
            {UR_IMAGE_INFO_HEIGHT, shape->height},     {UR_IMAGE_INFO_DEPTH, shape->depth},
            {UR_IMAGE_INFO_ARRAY_SIZE, shape->layers}, {UR_IMAGE_INFO_ROW_PITCH, shape->width * 4},
        };
        for (size_t k = 0; k < sizeof(answers) / sizeof(answers[0]); k++) {
            UR_OK(urMemImageGetInfo(image, answers[k].query, sizeof(value), &value, NULL));
            cr_expect_eq(value, answers[k].expected, "%s, query %d: %zu, expected %zu",
                         shape->kernel, (int)answers[k].query, value, answers[k].expected);
        }
        UR_OK(urMemGetInfo(image, UR_MEM_INFO_SIZE, sizeof(value), &value, NULL));
        cr_expect_eq(value, 4 * pixels(shape->extent));
        UR_OK(urMemRelease(image));
    }
}

// Each pixel is the mean of its place and the next one, where the sampler finds that.
Test(image, is_read_through_a_sampler)
{
    enum { WIDTH = 8, HEIGHT = 4 };
    ur_program_handle_t program = ur_input_file(TEST_UR_IMAGES);
    ur_kernel_handle_t kernel;
    UR_OK(urProgramBuild(gear.context, program, NULL));
    UR_OK(urKernelCreate(program, "average", &kernel));
    const ur_image_desc_t desc = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = UR_MEM_TYPE_IMAGE2D,
                                  .width = WIDTH,
                                  .height = HEIGHT};
    const ur_rect_region_t whole = {WIDTH, HEIGHT, 1};
    const size_t global[] = {WIDTH, HEIGHT};
    float in[HEIGHT][WIDTH][4];
    float out[HEIGHT][WIDTH][4];
    ur_mem_handle_t images[2];
    for (int i = 0; i < HEIGHT * WIDTH * 4; i++)
        (&in[0][0][0])[i] = (float)(i * 3);
    for (int i = 0; i < 2; i++)
        UR_OK(urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &four_floats, &desc, NULL,
                               &images[i]));
    write(images[0], whole, in);
    static const ur_sampler_addressing_mode_t modes[] = {UR_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE,
                                                         UR_SAMPLER_ADDRESSING_MODE_CLAMP};
    for (size_t mode = 0; mode < 2; mode++) {
        const ur_sampler_desc_t sampler_desc = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC,
                                                .addressingMode = modes[mode],
                                                .filterMode = UR_SAMPLER_FILTER_MODE_NEAREST};
        ur_sampler_handle_t sampler;
        UR_OK(urSamplerCreate(gear.context, &sampler_desc, &sampler));
        const ur_exp_kernel_arg_properties_t arguments[] = {
            UR_MEM(0, images[0]), UR_MEM(1, images[1]), UR_SAMPLER(2, sampler)};
        UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, kernel, 2, NULL, global, NULL, 3,
                                               arguments, NULL, 0, NULL, NULL));
        UR_OK(urSamplerRelease(sampler)); // while it may be read through
        read(images[1], whole, out);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                // Past the edge: the last pixel, or black.
                const float next = x + 1 < WIDTH ? in[y][x + 1][1] : mode == 0 ? in[y][x][1] : 0;
                cr_assert_eq(out[y][x][1], (in[y][x][1] + next) / 2);
            }
        }
    }
    for (int i = 0; i < 2; i++)
        UR_OK(urMemRelease(images[i]));
    UR_OK(urKernelRelease(kernel));
    UR_OK(urProgramRelease(program));
}

Test(image, samplers_tell_what_they_were_made_with)
{
    for (ur_sampler_addressing_mode_t mode = UR_SAMPLER_ADDRESSING_MODE_NONE;
         mode <= UR_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT; mode++) {
        for (ur_sampler_filter_mode_t filter = UR_SAMPLER_FILTER_MODE_NEAREST;
             filter <= UR_SAMPLER_FILTER_MODE_LINEAR; filter++) {
            const ur_sampler_desc_t desc = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC,
                                            .normalizedCoords = true,
                                            .addressingMode = mode,
                                            .filterMode = filter};
            ur_sampler_handle_t sampler;
            ur_sampler_addressing_mode_t told_mode;
            ur_sampler_filter_mode_t told_filter;
            ur_bool_t is_normalized;
            UR_OK(urSamplerCreate(gear.context, &desc, &sampler));
            UR_OK(urSamplerGetInfo(sampler, UR_SAMPLER_INFO_ADDRESSING_MODE, sizeof(told_mode),
                                   &told_mode, NULL));
            UR_OK(urSamplerGetInfo(sampler, UR_SAMPLER_INFO_FILTER_MODE, sizeof(told_filter),
                                   &told_filter, NULL));
            UR_OK(urSamplerGetInfo(sampler, UR_SAMPLER_INFO_NORMALIZED_COORDS,
                                   sizeof(is_normalized), &is_normalized, NULL));
            cr_assert_eq(told_mode, mode);
            cr_assert_eq(told_filter, filter);
            cr_assert(is_normalized);
            UR_OK(urSamplerRelease(sampler));
        }
    }
}

// Level Zero does not tell how a sampler was made; of its own zepi knows it.
Test(image, samplers_of_native_handles_tell_what_is_known)
{
    const ur_sampler_desc_t desc = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC,
                                    .normalizedCoords = true,
                                    .addressingMode = UR_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT,
                                    .filterMode = UR_SAMPLER_FILTER_MODE_LINEAR};
    const ze_sampler_desc_t ze_desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                                       .addressMode = ZE_SAMPLER_ADDRESS_MODE_CLAMP,
                                       .filterMode = ZE_SAMPLER_FILTER_MODE_LINEAR};
    const ur_sampler_native_properties_t keep = {
        .stype = UR_STRUCTURE_TYPE_SAMPLER_NATIVE_PROPERTIES, .isNativeHandleOwned = false};
    ur_sampler_handle_t sampler;
    ur_sampler_handle_t around;
    ur_native_handle_t native;
    ur_sampler_addressing_mode_t mode;
    UR_OK(urSamplerCreate(gear.context, &desc, &sampler));
    UR_OK(urSamplerGetNativeHandle(sampler, &native));
    UR_OK(urSamplerCreateWithNativeHandle(native, gear.context, &keep, &around));
    UR_OK(urSamplerGetInfo(around, UR_SAMPLER_INFO_ADDRESSING_MODE, sizeof(mode), &mode, NULL));
    cr_assert_eq(mode, desc.addressingMode);
    UR_OK(urSamplerRelease(around));
    UR_OK(urSamplerRelease(sampler));

    ur_native_handle_t context;
    ur_native_handle_t device;
    ze_sampler_handle_t ze;
    size_t size;
    UR_OK(urContextGetNativeHandle(gear.context, &context));
    UR_OK(urDeviceGetNativeHandle(gear.device, &device));
    cr_assert_eq(
        zeSamplerCreate((ze_context_handle_t)context, (ze_device_handle_t)device, &ze_desc, &ze),
        0);
    UR_OK(urSamplerCreateWithNativeHandle((ur_native_handle_t)ze, gear.context, NULL, &around));
    for (ur_sampler_info_t info = UR_SAMPLER_INFO_NORMALIZED_COORDS;
         info <= UR_SAMPLER_INFO_FILTER_MODE; info++)
        UR_FAILS(urSamplerGetInfo(around, info, 0, NULL, &size),
                 UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    ur_context_handle_t of;
    UR_OK(urSamplerGetInfo(around, UR_SAMPLER_INFO_CONTEXT, sizeof(of), (void *)&of, NULL));
    cr_assert_eq(of, gear.context);
    UR_OK(urSamplerRelease(around));
    cr_assert_eq(zeSamplerDestroy(ze), 0);
}

Test(image, native_handles_go_both_ways)
{
    const struct shape *shape = &shapes[1];
    const ur_image_desc_t desc = describe(shape);
    const ur_mem_native_properties_t keep = {.stype = UR_STRUCTURE_TYPE_MEM_NATIVE_PROPERTIES,
                                             .isNativeHandleOwned = false};
    ur_mem_handle_t image = create(shape);
    ur_mem_handle_t around;
    ur_native_handle_t native;
    uint32_t in[MAX_PIXELS];
    uint32_t out[MAX_PIXELS];
    count_up(in);
    write(image, shape->extent, in);
    UR_OK(urMemGetNativeHandle(image, gear.device, &native));
    UR_OK(urMemImageCreateWithNativeHandle(native, gear.context, &one_uint, &desc, &keep, &around));
    read(around, shape->extent, out);
    cr_assert_eq(memcmp(in, out, pixels(shape->extent) * 4), 0);
    UR_OK(urMemRelease(around));
    read(image, shape->extent, out);
    UR_OK(urMemRelease(image));

    const ur_sampler_desc_t sampler_desc = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC};
    const ur_sampler_native_properties_t keep_sampler = {
        .stype = UR_STRUCTURE_TYPE_SAMPLER_NATIVE_PROPERTIES, .isNativeHandleOwned = false};
    ur_sampler_handle_t sampler;
    ur_sampler_handle_t sampler_around;
    ur_native_handle_t again;
    UR_OK(urSamplerCreate(gear.context, &sampler_desc, &sampler));
    UR_OK(urSamplerGetNativeHandle(sampler, &native));
    UR_OK(urSamplerCreateWithNativeHandle(native, gear.context, &keep_sampler, &sampler_around));
    UR_OK(urSamplerGetNativeHandle(sampler_around, &again));
    cr_assert_eq(again, native);
    UR_OK(urSamplerRelease(sampler_around));
    UR_OK(urSamplerRelease(sampler));
}

Test(image, commands_have_events_of_their_kinds)
{
    const struct shape *shape = &shapes[1];
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    ur_mem_handle_t first = create(shape);
    ur_mem_handle_t second = create(shape);
    ur_event_handle_t events[3];
    uint32_t in[MAX_PIXELS];
    uint32_t out[MAX_PIXELS];
    static const ur_command_t types[] = {UR_COMMAND_MEM_IMAGE_WRITE, UR_COMMAND_MEM_IMAGE_COPY,
                                         UR_COMMAND_MEM_IMAGE_READ};
    count_up(in);
    UR_OK(urEnqueueMemImageWrite(queue, first, false, start, shape->extent, 0, 0, in, 0, NULL,
                                 &events[0]));
    UR_OK(urEnqueueMemImageCopy(queue, first, second, start, start, shape->extent, 1, &events[0],
                                &events[1]));
    UR_OK(urEnqueueMemImageRead(queue, second, true, start, shape->extent, 0, 0, out, 1, &events[1],
                                &events[2]));
    cr_assert_eq(memcmp(in, out, pixels(shape->extent) * 4), 0);
    for (int i = 0; i < 3; i++) {
        ur_command_t type;
        UR_OK(urEventGetInfo(events[i], UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
        cr_assert_eq(type, types[i]);
        UR_OK(urEventRelease(events[i]));
    }
    UR_OK(urMemRelease(first));
    UR_OK(urMemRelease(second));
    UR_OK(urQueueRelease(queue));
}

TestSuite(image_of_two, .init = ur_set_up_two, .fini = ur_tear_down);

// An image of Level Zero belongs to one device: a context's first one.
Test(image_of_two, is_used_through_queues_of_both)
{
    const struct shape *shape = &shapes[1];
    ur_mem_handle_t image = create(shape);
    uint32_t in[MAX_PIXELS];
    uint32_t out[MAX_PIXELS];
    count_up(in);
    write(image, shape->extent, in);
    ur_queue_handle_t second = ur_queue(gear.devices[1], 0);
    UR_OK(
        urEnqueueMemImageRead(second, image, true, start, shape->extent, 0, 0, out, 0, NULL, NULL));
    cr_assert_eq(memcmp(in, out, pixels(shape->extent) * 4), 0);
    UR_OK(urMemRelease(image));
    UR_OK(urQueueRelease(second));
}
