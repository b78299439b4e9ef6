// SPDX-License-Identifier: MIT
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
