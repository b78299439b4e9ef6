// SPDX-License-Identifier: MIT
//
// Images and samplers of zepi.h, while each Level Zero call and each allocation fails in turn.
#include "walk.h"

#include <string.h>

#define WIDTH 8
#define BYTES (WIDTH * 4 * sizeof(int32_t))

static struct test_gear gear;
static zepi_module_t module;
static zepi_kernel_t add; // to[i] = from[i] + more
static int32_t *pixels;

static zepi_result_t copy_and_launch(void)
{
    const zepi_image_desc_t line = {.size = sizeof(line),
                                    .shape = ZEPI_IMAGE_1D,
                                    .width = WIDTH,
                                    .channel_count = 4,
                                    .channel_bytes = 4,
                                    .channel_type = ZEPI_CHANNEL_SINT};
    const zepi_sampler_desc_t desc = {.size = sizeof(desc)};
    const int32_t more[4] = {1, 2, 3, 4};
    zepi_image_t images[2] = {NULL, NULL};
    zepi_sampler_t sampler = NULL;
    zepi_graph_t graph = NULL;
    zepi_event_t read = NULL;
    zepi_result_t result;
    memset(pixels, 0, BYTES);
    STEP(zepi.sampler_create(gear.context, gear.device, &desc, &sampler));
    for (int i = 0; i < 2; i++)
        STEP(zepi.image_create(gear.context, gear.device, &line, &images[i]));
    STEP(zepi.queue_copy_to_image(gear.queue, images[0], NULL, pixels, 0, 0, TEST_NO_WAIT, NULL));
    const zepi_argument_t arguments[] = {{.kind = ZEPI_ARGUMENT_IMAGE, .value = images[0]},
                                         {.kind = ZEPI_ARGUMENT_IMAGE, .value = images[1]},
                                         TEST_VALUE(more)};
    const zepi_launch_desc_t launch = test_launch(add, 3, arguments, WIDTH);
    STEP(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_copy_image(gear.queue, images[0], NULL, images[1], NULL, TEST_NO_WAIT, NULL));
    STEP(zepi.graph_create(gear.context, gear.device, 0, &graph));
    STEP(zepi.graph_add_launch(graph, &launch, (zepi_graph_wait_list_t){NULL, 0}, NULL));
    STEP(zepi.graph_finalize(graph));
    STEP(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL));
    STEP(
        zepi.queue_copy_from_image(gear.queue, pixels, 0, 0, images[1], NULL, TEST_NO_WAIT, &read));
    STEP(zepi.event_wait(1, &read, UINT64_MAX));
    WALK_EXPECT(pixels[0] == 2 && pixels[7] == 8);
    // With a pitch, copies are other functions of the driver.
    STEP(zepi.queue_copy_to_image(gear.queue, images[0], NULL, pixels, 2 * BYTES, 0, TEST_NO_WAIT,
                                  NULL));
    STEP(zepi.queue_finish(gear.queue));
    pixels[0] = 0;
    STEP(zepi.queue_copy_from_image(gear.queue, pixels, 2 * BYTES, 0, images[0], NULL, TEST_NO_WAIT,
                                    NULL));
    STEP(zepi.queue_finish(gear.queue));
    WALK_EXPECT(pixels[0] == 2 && pixels[7] == 8);
out:
    walk_settle(gear.queue);
    walk_release(read);
    walk_release(graph);
    walk_release(sampler);
    for (int i = 0; i < 2; i++)
        walk_release(images[i]);
    return result;
}

int main(void)
{
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    module = test_executable(gear.context, "images");
    TEST_OK(zepi.module_get_kernel(module, "add_line", &add));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 2 * BYTES, 0,
                              (void **)&pixels));
    walk_rehearsed("images", copy_and_launch, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    TEST_OK(zepi.usm_free(gear.context, pixels));
    TEST_OK(zepi.release(add));
    TEST_OK(zepi.release(module));
    test_gear_destroy(&gear);
    return 0;
}
