// SPDX-License-Identifier: MIT
#include "tools/ze_cpu/ze_newer.h"

#include "fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#define WIDTH 16
#define HEIGHT 8

static ze_image_handle_t image_of(const struct fixture *fixture)
{
    const ze_image_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
        .type = ZE_IMAGE_TYPE_2D,
        .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32,
                   .type = ZE_IMAGE_FORMAT_TYPE_FLOAT,
                   .x = ZE_IMAGE_FORMAT_SWIZZLE_R,
                   .y = ZE_IMAGE_FORMAT_SWIZZLE_G,
                   .z = ZE_IMAGE_FORMAT_SWIZZLE_B,
                   .w = ZE_IMAGE_FORMAT_SWIZZLE_A},
        .width = WIDTH,
        .height = HEIGHT,
        .depth = 1,
    };
    ze_image_handle_t image;
    MUST(zeImageCreate(fixture->context, fixture->device, &desc, &image));
    return image;
}

Test(ze_cpu_images, samples_one_image_into_another)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "images", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "average");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    ze_image_handle_t from = image_of(&fixture);
    ze_image_handle_t to = image_of(&fixture);
    const ze_sampler_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
        .addressMode = ZE_SAMPLER_ADDRESS_MODE_CLAMP,
        .filterMode = ZE_SAMPLER_FILTER_MODE_NEAREST,
    };
    ze_sampler_handle_t sampler;
    MUST(zeSamplerCreate(fixture.context, fixture.device, &desc, &sampler));
    float in[HEIGHT][WIDTH][4], out[HEIGHT][WIDTH][4];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 4; c++)
                in[y][x][c] = (float)(100 * y + 2 * x + c);
    MUST(zeCommandListAppendImageCopyFromMemory(list, from, in, NULL, NULL, 0, NULL));
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(from), &from));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(to), &to));
    MUST(zeKernelSetArgumentValue(kernel, 2, sizeof(sampler), &sampler));
    cr_assert_eq(zeKernelSetArgumentValue(kernel, 2, sizeof(to), &to),
                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
    const ze_group_count_t groups = {WIDTH, HEIGHT, 1};
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    MUST(zeCommandListAppendImageCopyToMemory(list, out, to, NULL, NULL, 0, NULL));
    fixture_synchronize(&fixture, list);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int next = x + 1 < WIDTH ? x + 1 : x;
            cr_assert_eq(out[y][x][1], (in[y][x][1] + in[y][next][1]) / 2);
        }
    MUST(zeSamplerDestroy(sampler));
    MUST(zeImageDestroy(from));
    MUST(zeImageDestroy(to));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_images, copies_a_region_and_refuses_what_does_not_fit)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    ze_image_handle_t from = image_of(&fixture);
    ze_image_handle_t to = image_of(&fixture);
    float in[HEIGHT][WIDTH][4], out[2][3][4];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 4; c++)
                in[y][x][c] = (float)(100 * y + x);
    const ze_image_region_t source = {4, 5, 0, 3, 2, 1};
    const ze_image_region_t target = {1, 1, 0, 3, 2, 1};
    const ze_image_region_t outside = {WIDTH - 1, 0, 0, 3, 2, 1};
    MUST(zeCommandListAppendImageCopyFromMemory(list, from, in, NULL, NULL, 0, NULL));
    MUST(zeCommandListAppendImageCopyRegion(list, to, from, &target, &source, NULL, 0, NULL));
    MUST(zeCommandListAppendImageCopyToMemory(list, out, to, &target, NULL, 0, NULL));
    cr_assert_eq(zeCommandListAppendImageCopyToMemory(list, out, to, &outside, NULL, 0, NULL),
                 ZE_RESULT_ERROR_INVALID_SIZE);
    fixture_synchronize(&fixture, list);
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 3; x++)
            cr_assert_eq(out[y][x][3], (float)(100 * (y + 5) + x + 4));
    MUST(zeImageDestroy(from));
    MUST(zeImageDestroy(to));
    MUST(zeCommandListDestroy(list));
    fixture_finish(&fixture);
}

Test(ze_cpu_images, signal_when_a_region_is_empty)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_command_list_handle_t list = fixture_immediate(&fixture, 0);
    struct fixture_event event = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_image_handle_t from = image_of(&fixture);
    ze_image_handle_t to = image_of(&fixture);
    float pixel = 1;
    const ze_image_region_t empty = {0};
    for (int i = 0; i < 3; i++) {
        if (i == 0)
            MUST(zeCommandListAppendImageCopyFromMemory(list, to, &pixel, &empty, event.event, 0,
                                                        NULL));
        else if (i == 1)
            MUST(zeCommandListAppendImageCopyToMemory(list, &pixel, from, &empty, event.event, 0,
                                                      NULL));
        else
            MUST(zeCommandListAppendImageCopyRegion(list, to, from, &empty, &empty, event.event, 0,
                                                    NULL));
        MUST(zeEventHostSynchronize(event.event, UINT64_MAX));
        MUST(zeEventHostReset(event.event));
    }
    fixture_synchronize(&fixture, list);
    cr_assert_eq(pixel, 1);
    MUST(zeImageDestroy(from));
    MUST(zeImageDestroy(to));
    fixture_event_finish(&event);
    MUST(zeCommandListDestroy(list));
    fixture_finish(&fixture);
}

#define W 5
#define H 4
#define D 3

static const struct shape {
    ze_image_type_t type;
    const char *kernel;
    uint32_t extent[3]; // elements of arrays are the last one that is not 1
} shapes[] = {
    {ZE_IMAGE_TYPE_1D, "shape_1d", {W, 1, 1}}, {ZE_IMAGE_TYPE_1DARRAY, "shape_1d_array", {W, H, 1}},
    {ZE_IMAGE_TYPE_2D, "shape_2d", {W, H, 1}}, {ZE_IMAGE_TYPE_2DARRAY, "shape_2d_array", {W, H, D}},
    {ZE_IMAGE_TYPE_3D, "shape_3d", {W, H, D}}, {ZE_IMAGE_TYPE_BUFFER, "shape_buffer", {W, 1, 1}},
};

// An order of channels that OpenCL has, one that it lacks, and one that shows nothing of memory.
static const struct swizzle {
    ze_image_format_swizzle_t x, y, z, w;
} plain = {ZE_IMAGE_FORMAT_SWIZZLE_R, ZE_IMAGE_FORMAT_SWIZZLE_0, ZE_IMAGE_FORMAT_SWIZZLE_0,
           ZE_IMAGE_FORMAT_SWIZZLE_1},
  odd = {ZE_IMAGE_FORMAT_SWIZZLE_R, ZE_IMAGE_FORMAT_SWIZZLE_1, ZE_IMAGE_FORMAT_SWIZZLE_R,
         ZE_IMAGE_FORMAT_SWIZZLE_0},
  hiding = {ZE_IMAGE_FORMAT_SWIZZLE_0, ZE_IMAGE_FORMAT_SWIZZLE_1, ZE_IMAGE_FORMAT_SWIZZLE_G,
            ZE_IMAGE_FORMAT_SWIZZLE_A};

static ze_image_handle_t image_of_shape(const struct fixture *fixture, const struct shape *shape,
                                        const struct swizzle *swizzle)
{
    bool is_1d_array = shape->type == ZE_IMAGE_TYPE_1DARRAY;
    const ze_image_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
        .type = shape->type,
        .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_32,
                   .type = ZE_IMAGE_FORMAT_TYPE_UINT,
                   .x = swizzle->x,
                   .y = swizzle->y,
                   .z = swizzle->z,
                   .w = swizzle->w},
        .width = shape->extent[0],
        .height = shape->extent[1],
        .depth = shape->extent[2],
        .arraylevels = is_1d_array ? shape->extent[1] : shape->extent[2],
    };
    ze_image_handle_t image;
    MUST(zeImageCreate(fixture->context, fixture->device, &desc, &image));
    return image;
}

static uint32_t size_of_shape(const struct shape *shape)
{
    return shape->extent[0] * shape->extent[1] * shape->extent[2];
}

Test(ze_cpu_images, computes_and_copies_in_every_shape)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "images", NULL);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    const size_t count = sizeof(shapes) / sizeof(shapes[0]);
    for (size_t i = 0; i < 2 * count; i++) {
        const struct shape *shape = &shapes[i % count];
        const struct swizzle *swizzle = i < count ? &plain : &odd;
        ze_kernel_handle_t kernel = fixture_kernel(module, shape->kernel);
        ze_image_handle_t from = image_of_shape(&fixture, shape, swizzle);
        ze_image_handle_t to = image_of_shape(&fixture, shape, swizzle);
        ze_image_handle_t copy = image_of_shape(&fixture, shape, swizzle);
        uint32_t in[W * H * D], out[W * H * D];
        for (uint32_t j = 0; j < size_of_shape(shape); j++)
            in[j] = 1000 * j;
        MUST(zeCommandListAppendImageCopyFromMemory(list, from, in, NULL, NULL, 0, NULL));
        MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(from), &from));
        MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(to), &to));
        const ze_group_count_t groups = {shape->extent[0], shape->extent[1], shape->extent[2]};
        MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
        MUST(zeCommandListAppendImageCopy(list, copy, to, NULL, 0, NULL));
        MUST(zeCommandListAppendImageCopyToMemory(list, out, copy, NULL, NULL, 0, NULL));
        fixture_synchronize(&fixture, list);
        for (uint32_t j = 0; j < size_of_shape(shape); j++) {
            uint32_t x = j % W;
            uint32_t y = j / W % shape->extent[1];
            uint32_t z = j / W / shape->extent[1];
            cr_assert_eq(out[j], 1000 * j + 100 * z + 10 * y + x, "%s %u: %u", shape->kernel, j,
                         out[j]);
        }
        MUST(zeImageDestroy(from));
        MUST(zeImageDestroy(to));
        MUST(zeImageDestroy(copy));
        MUST(zeKernelDestroy(kernel));
    }
    MUST(zeCommandListDestroy(list));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

// The element of tight memory at a place of the image.
static uint32_t index_of(const struct shape *shape, uint32_t x, uint32_t y, uint32_t z)
{
    return x + shape->extent[0] * (y + shape->extent[1] * z);
}

static void copy_regions(const struct fixture *fixture, ze_command_list_handle_t list,
                         const struct shape *shape, const struct swizzle *swizzle)
{
    const ze_image_region_t from = {1, 1, 1, 3, 2, 2};
    const ze_image_region_t to = {2, 2, 0, 3, 2, 2};
    const uint32_t row = 4, slice = 11; // elements
    uint32_t in[W * H * D], packed[2 * 11], out[W * H * D];
    ze_image_handle_t first = image_of_shape(fixture, shape, swizzle);
    ze_image_handle_t second = image_of_shape(fixture, shape, swizzle);
    for (uint32_t i = 0; i < size_of_shape(shape); i++)
        in[i] = i;
    memset(packed, 0xee, sizeof(packed));
    MUST(zeCommandListAppendImageCopyFromMemory(list, first, in, NULL, NULL, 0, NULL));
    memset(out, 0, sizeof(out));
    MUST(zeCommandListAppendImageCopyFromMemory(list, second, out, NULL, NULL, 0, NULL));
    MUST(zeCommandListAppendImageCopyToMemoryExt(list, packed, first, &from, row * 4, slice * 4,
                                                 NULL, 0, NULL));
    MUST(zeCommandListAppendImageCopyFromMemoryExt(list, second, packed, &to, row * 4, slice * 4,
                                                   NULL, 0, NULL));
    MUST(zeCommandListAppendImageCopyToMemory(list, out, second, NULL, NULL, 0, NULL));
    fixture_synchronize(fixture, list);
    for (uint32_t z = 0; z < 2; z++)
        for (uint32_t i = 0; i < slice; i++) {
            bool is_inside = i % row < 3 && i / row < 2;
            uint32_t expected =
                is_inside ? index_of(shape, 1 + i % row, 1 + i / row, 1 + z) : 0xeeeeeeee;
            cr_assert_eq(packed[z * slice + i], expected, "slice %u element %u", z, i);
        }
    for (uint32_t z = 0; z < D; z++)
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W; x++) {
                bool is_inside = x >= 2 && y >= 2 && z < 2;
                cr_assert_eq(out[index_of(shape, x, y, z)],
                             is_inside ? index_of(shape, x - 1, y - 1, z + 1) : 0);
            }
    MUST(zeImageDestroy(first));
    MUST(zeImageDestroy(second));
}

Test(ze_cpu_images, copies_regions_with_pitches)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    const struct swizzle *const swizzles[] = {&plain, &odd, &hiding};
    for (size_t i = 0; i < sizeof(swizzles) / sizeof(swizzles[0]); i++) {
        copy_regions(&fixture, list, &shapes[3], swizzles[i]);
        copy_regions(&fixture, list, &shapes[4], swizzles[i]);
    }
    MUST(zeCommandListDestroy(list));
    fixture_finish(&fixture);
}

static void move_regions(const struct fixture *fixture, ze_command_list_handle_t list,
                         const struct swizzle *swizzle)
{
    ze_image_handle_t flat = image_of_shape(fixture, &shapes[2], swizzle);
    ze_image_handle_t deep = image_of_shape(fixture, &shapes[4], swizzle);
    uint32_t in[W * H], out[W * H];
    for (uint32_t i = 0; i < W * H; i++)
        in[i] = i;
    const ze_image_region_t left = {0, 0, 0, 2, H, 1}, right = {3, 0, 0, 2, H, 1};
    const ze_image_region_t all = {0, 0, 0, W, H, 1}, last = {0, 0, D - 1, W, H, 1};
    MUST(zeCommandListAppendImageCopyFromMemory(list, flat, in, NULL, NULL, 0, NULL));
    MUST(zeCommandListAppendImageCopyRegion(list, flat, flat, &right, &left, NULL, 0, NULL));
    MUST(zeCommandListAppendImageCopyRegion(list, deep, flat, &last, &all, NULL, 0, NULL));
    MUST(zeCommandListAppendImageCopyToMemory(list, out, deep, &last, NULL, 0, NULL));
    fixture_synchronize(fixture, list);
    for (uint32_t i = 0; i < W * H; i++)
        cr_assert_eq(out[i], i % W >= 3 ? i - 3 : i, "%u: %u", i, out[i]);
    MUST(zeImageDestroy(flat));
    MUST(zeImageDestroy(deep));
}

Test(ze_cpu_images, moves_a_region_within_an_image_and_a_slice_between_images)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    move_regions(&fixture, list, &plain);
    move_regions(&fixture, list, &odd);
    move_regions(&fixture, list, &hiding);
    MUST(zeCommandListDestroy(list));
    fixture_finish(&fixture);
}

Test(ze_cpu_images, refuses_copies_that_are_wrong)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    ze_image_handle_t image = image_of_shape(&fixture, &shapes[2], &plain);
    ze_image_handle_t other = image_of(&fixture);
    uint32_t memory[W * H];
    const ze_image_region_t some = {0, 0, 0, 3, 2, 1}, near = {2, 1, 0, 3, 2, 1};
    const ze_image_region_t less = {0, 0, 0, 2, 2, 1};
    const ze_image_region_t huge = {UINT32_MAX, 0, 0, 3, 2, 1};
    cr_assert_eq(
        zeCommandListAppendImageCopyRegion(list, image, image, &some, &near, NULL, 0, NULL),
        ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    cr_assert_eq(
        zeCommandListAppendImageCopyRegion(list, other, image, &some, &some, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_ARGUMENT, "other formats");
    cr_assert_eq(
        zeCommandListAppendImageCopyRegion(list, other, other, &some, &less, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_SIZE);
    cr_assert_eq(zeCommandListAppendImageCopyToMemory(list, memory, image, &huge, NULL, 0, NULL),
                 ZE_RESULT_ERROR_INVALID_SIZE);
    cr_assert_eq(
        zeCommandListAppendImageCopyToMemoryExt(list, memory, image, &some, 8, 0, NULL, 0, NULL),
        ZE_RESULT_ERROR_INVALID_SIZE, "rows of 12 bytes every 8");
    cr_assert_eq(zeCommandListAppendImageCopyFromMemoryExt(list, image, memory, &some, 12, 20, NULL,
                                                           0, NULL),
                 ZE_RESULT_ERROR_INVALID_SIZE);
    cr_assert_eq(zeCommandListAppendImageCopyToMemory(list, NULL, image, NULL, NULL, 0, NULL),
                 ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    fixture_synchronize(&fixture, list);
    MUST(zeImageDestroy(image));
    MUST(zeImageDestroy(other));
    MUST(zeCommandListDestroy(list));
    fixture_finish(&fixture);
}

Test(ze_cpu_images, answers_for_allocations_and_refuses_sizes)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_image_handle_t images[2];
    ze_image_allocation_ext_properties_t allocations[2];
    for (int i = 0; i < 2; i++) {
        images[i] = image_of_shape(&fixture, &shapes[4], &plain);
        allocations[i] = (ze_image_allocation_ext_properties_t){
            .stype = ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES};
        MUST(zeImageGetAllocPropertiesExt(fixture.context, images[i], &allocations[i]));
        MUST(zeContextMakeImageResident(fixture.context, fixture.device, images[i]));
        MUST(zeContextEvictImage(fixture.context, fixture.device, images[i]));
    }
    cr_assert_neq(allocations[0].id, allocations[1].id);
    ze_image_memory_properties_exp_t memory = {.stype =
                                                   ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES};
    MUST(zeImageGetMemoryPropertiesExp(images[0], &memory));
    cr_assert(memory.rowPitch >= W * 4 && memory.slicePitch >= memory.rowPitch * H &&
              memory.size >= memory.slicePitch * D);
    for (int i = 0; i < 2; i++)
        MUST(zeImageDestroy(images[i]));
    ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                            .type = ZE_IMAGE_TYPE_2D,
                            .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_32,
                                       .type = ZE_IMAGE_FORMAT_TYPE_UINT,
                                       .w = ZE_IMAGE_FORMAT_SWIZZLE_X,
                                       .y = ZE_IMAGE_FORMAT_SWIZZLE_X,
                                       .z = ZE_IMAGE_FORMAT_SWIZZLE_X},
                            .width = 4};
    ze_image_handle_t image;
    cr_assert_eq(zeImageCreate(fixture.context, fixture.device, &desc, &image),
                 ZE_RESULT_ERROR_INVALID_SIZE, "no height");
    desc.height = 1u << 30;
    cr_assert_eq(zeImageCreate(fixture.context, fixture.device, &desc, &image),
                 ZE_RESULT_ERROR_INVALID_SIZE);
    desc.height = 4;
    desc.miplevels = 3;
    cr_assert_eq(zeImageCreate(fixture.context, fixture.device, &desc, &image),
                 ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    fixture_finish(&fixture);
}

Test(ze_cpu_images, of_a_buffer_may_have_their_elements_in_memory)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "images", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "shape_buffer");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    uint32_t *memory = fixture_shared(&fixture, 2 * W * sizeof(uint32_t));
    ze_image_pitched_exp_desc_t pitched = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC, .ptr = memory};
    ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                            .pNext = &pitched,
                            .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
                            .type = ZE_IMAGE_TYPE_BUFFER,
                            .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_32,
                                       .type = ZE_IMAGE_FORMAT_TYPE_UINT,
                                       .x = ZE_IMAGE_FORMAT_SWIZZLE_R,
                                       .y = ZE_IMAGE_FORMAT_SWIZZLE_0,
                                       .z = ZE_IMAGE_FORMAT_SWIZZLE_0,
                                       .w = ZE_IMAGE_FORMAT_SWIZZLE_1},
                            .width = W};
    ze_image_handle_t from, to;
    MUST(zeImageCreate(fixture.context, fixture.device, &desc, &from));
    pitched.ptr = memory + W;
    MUST(zeImageCreate(fixture.context, fixture.device, &desc, &to));
    for (uint32_t i = 0; i < W; i++)
        memory[i] = 100 * i;
    const ze_group_count_t groups = {W, 1, 1};
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(from), &from));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(to), &to));
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    fixture_synchronize(&fixture, list);
    for (uint32_t i = 0; i < W; i++)
        cr_assert_eq(memory[W + i], memory[i] + i, "%u", i);
    desc.type = ZE_IMAGE_TYPE_1D;
    ze_image_handle_t other;
    cr_assert_eq(zeImageCreate(fixture.context, fixture.device, &desc, &other),
                 ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    MUST(zeImageDestroy(from));
    MUST(zeImageDestroy(to));
    MUST(zeMemFree(fixture.context, memory));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}
