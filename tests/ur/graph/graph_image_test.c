// SPDX-License-Identifier: MIT
// Images and samplers in command buffers and captured graphs, which keep both.
#include "capture_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define WIDTH 8
#define HEIGHT 4

struct picture {
    float pixels[HEIGHT][WIDTH][4];
};

static ur_kernel_handle_t average; // of each pixel and the next one, through a sampler
static ur_sampler_handle_t sampler;
static ur_mem_handle_t images[3];
static const ur_rect_region_t whole = {WIDTH, HEIGHT, 1};
static const ur_rect_offset_t start;
static const size_t global[] = {WIDTH, HEIGHT};

static void set_up(void)
{
    const ur_image_format_t format = {UR_IMAGE_CHANNEL_ORDER_RGBA, UR_IMAGE_CHANNEL_TYPE_FLOAT};
    const ur_image_desc_t desc = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = UR_MEM_TYPE_IMAGE2D,
                                  .width = WIDTH,
                                  .height = HEIGHT};
    const ur_sampler_desc_t sampler_desc = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC,
                                            .addressingMode =
                                                UR_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE,
                                            .filterMode = UR_SAMPLER_FILTER_MODE_NEAREST};
    cb_set_up();
    ur_program_handle_t program = ur_input_file(TEST_UR_IMAGES);
    UR_OK(urProgramBuild(gear.context, program, NULL));
    UR_OK(urKernelCreate(program, "average", &average));
    UR_OK(urProgramRelease(program));
    UR_OK(urSamplerCreate(gear.context, &sampler_desc, &sampler));
    for (int i = 0; i < 3; i++)
        UR_OK(urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &format, &desc, NULL,
                               &images[i]));
}

TestSuite(graph_image, .init = set_up, .fini = cb_tear_down);

static void release_all(void)
{
    UR_OK(urKernelRelease(average));
    UR_OK(urSamplerRelease(sampler));
    for (int i = 0; i < 3; i++)
        UR_OK(urMemRelease(images[i]));
}

static void paint(struct picture *picture, int seed)
{
    for (int i = 0; i < HEIGHT * WIDTH * 4; i++)
        (&picture->pixels[0][0][0])[i] = (float)(i * 2 + seed);
}

static void expect_averages(const struct picture *in, const struct picture *out)
{
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            const float next = in->pixels[y][x + 1 < WIDTH ? x + 1 : x][2];
            cr_assert_eq(out->pixels[y][x][2], (in->pixels[y][x][2] + next) / 2);
        }
    }
}

Test(graph_image, command_buffers_launch_on_images_and_samplers)
{
    static struct picture in, out;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, images[0]), UR_MEM(1, images[1]),
                                                        UR_SAMPLER(2, sampler)};
    buffer_t buffer = cb_make(FREE);
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, average, 2, NULL, global, NULL, 3,
                                                       arguments, 0, NULL, 0, NULL, 0, NULL, NULL,
                                                       NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    for (int i = 0; i < 3; i++) {
        paint(&in, i);
        UR_OK(urEnqueueMemImageWrite(gear.queue, images[0], true, start, whole, 0, 0, &in, 0, NULL,
                                     NULL));
        cb_run(gear.queue, buffer);
        UR_OK(urEnqueueMemImageRead(gear.queue, images[1], true, start, whole, 0, 0, &out, 0, NULL,
                                    NULL));
        expect_averages(&in, &out);
    }
    release_all();
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urCommandBufferReleaseExp(buffer));
}

// Through all three images: from memory, from image to image, and back.
static void enqueue_copies(ur_queue_handle_t queue, struct picture *in, struct picture *out)
{
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, images[1]), UR_MEM(1, images[2]),
                                                        UR_SAMPLER(2, sampler)};
    ur_event_handle_t written, copied, done;
    UR_OK(
        urEnqueueMemImageWrite(queue, images[0], false, start, whole, 0, 0, in, 0, NULL, &written));
    UR_OK(urEnqueueMemImageCopy(queue, images[0], images[1], start, start, whole, 1, &written,
                                &copied));
    UR_OK(urEnqueueKernelLaunchWithArgsExp(queue, average, 2, NULL, global, NULL, 3, arguments,
                                           NULL, 1, &copied, &done));
    UR_OK(urEnqueueMemImageRead(queue, images[2], false, start, whole, 0, 0, out, 1, &done, NULL));
    UR_OK(urEventRelease(written));
    UR_OK(urEventRelease(copied));
    UR_OK(urEventRelease(done));
}

static void check_capture(ur_queue_flags_t flags)
{
    static struct picture in, out;
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    graph_t graph = cap_begin(queue);
    enqueue_copies(queue, &in, &out);
    cap_end(queue, graph);
    executable_t executable = cap_instantiate(graph);
    for (int i = 0; i < 3; i++) {
        paint(&in, i);
        cap_run(queue, executable);
        expect_averages(&in, &out);
    }
    release_all();
    paint(&in, 77);
    cap_run(queue, executable);
    expect_averages(&in, &out);
    cap_destroy(graph, executable);
    UR_OK(urQueueRelease(queue));
}

Test(graph_image, captures_take_copies_of_images_in_order)
{
    check_capture(0);
}

Test(graph_image, captures_take_copies_of_images_in_any_order)
{
    check_capture(ANY_ORDER);
}

// By the handles of the driver.
Test(graph_image, a_dump_names_images_and_samplers)
{
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, images[0]), UR_MEM(1, images[1]),
                                                        UR_SAMPLER(2, sampler)};
    ur_native_handle_t native;
    char words[64];
    graph_t graph = cap_begin(gear.queue);
    UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, average, 2, NULL, global, NULL, 3, arguments,
                                           NULL, 0, NULL, NULL));
    cap_end(gear.queue, graph);
    for (int i = 0; i < 2; i++) {
        UR_OK(urMemGetNativeHandle(images[i], gear.device, &native));
        snprintf(words, sizeof(words), "argument %d: image 0x%llx\\n", i,
                 (unsigned long long)native);
        cap_expect_dump(graph, words);
    }
    UR_OK(urSamplerGetNativeHandle(sampler, &native));
    snprintf(words, sizeof(words), "argument 2: sampler 0x%llx\"", (unsigned long long)native);
    cap_expect_dump(graph, words);
    UR_OK(urGraphDestroyExp(graph));
    release_all();
}
