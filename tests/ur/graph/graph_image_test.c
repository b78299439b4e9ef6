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

// By the handles of the host.
Test(graph_image, a_dump_names_images_and_samplers)
{
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, images[0]), UR_MEM(1, images[1]),
                                                        UR_SAMPLER(2, sampler)};
    char words[64];
    graph_t graph = cap_begin(gear.queue);
    UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, average, 2, NULL, global, NULL, 3, arguments,
                                           NULL, 0, NULL, NULL));
    cap_end(gear.queue, graph);
    for (int i = 0; i < 2; i++) {
        snprintf(words, sizeof(words), "argument %d: image %p\\n", i, (void *)images[i]);
        cap_expect_dump(graph, words);
    }
    snprintf(words, sizeof(words), "argument 2: sampler %p\"", (void *)sampler);
    cap_expect_dump(graph, words);
    UR_OK(urGraphDestroyExp(graph));
    release_all();
}

// ---- Updates ----

// A command buffer with one launch, of the first image to the second.
static buffer_t make_updatable(command_t *out_command)
{
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, images[0]), UR_MEM(1, images[1]),
                                                        UR_SAMPLER(2, sampler)};
    buffer_t buffer = cb_make(UPDATABLE);
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, average, 2, NULL, global, NULL, 3,
                                                       arguments, 0, NULL, 0, NULL, 0, NULL, NULL,
                                                       NULL, out_command));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    return buffer;
}

static ur_exp_command_buffer_update_memobj_arg_desc_t new_mem(uint32_t index, ur_mem_handle_t mem)
{
    return (ur_exp_command_buffer_update_memobj_arg_desc_t){
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_MEMOBJ_ARG_DESC,
        .argIndex = index,
        .hNewMemObjArg = mem};
}

static void write_image(ur_mem_handle_t image, int seed)
{
    static struct picture in;
    paint(&in, seed);
    UR_OK(urEnqueueMemImageWrite(gear.queue, image, true, start, whole, 0, 0, &in, 0, NULL, NULL));
}

// Runs the buffer, and expects averages of the pixels of `seed`; the last column has `edge` of its
// pixel.
static void run_and_expect(buffer_t buffer, ur_mem_handle_t to, int seed, float edge)
{
    static struct picture in, out;
    static const struct picture none;
    UR_OK(urEnqueueMemImageWrite(gear.queue, to, true, start, whole, 0, 0, (void *)&none, 0, NULL,
                                 NULL));
    cb_run(gear.queue, buffer);
    UR_OK(urEnqueueMemImageRead(gear.queue, to, true, start, whole, 0, 0, &out, 0, NULL, NULL));
    paint(&in, seed);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            const float *pixel = in.pixels[y][x];
            const float expected = x + 1 < WIDTH ? (pixel[2] + pixel[2 + 4]) / 2 : pixel[2] * edge;
            cr_assert_eq(out.pixels[y][x][2], expected, "%d, %d: %g, expected %g", x, y,
                         (double)out.pixels[y][x][2], (double)expected);
        }
    }
}

// The graph keeps the new objects, and no longer the old ones.
Test(graph_image, updates_take_other_images_and_samplers)
{
    const ur_sampler_desc_t desc = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC,
                                    .addressingMode = UR_SAMPLER_ADDRESSING_MODE_CLAMP,
                                    .filterMode = UR_SAMPLER_FILTER_MODE_NEAREST};
    command_t command;
    ur_sampler_handle_t black; // outside of the image
    buffer_t buffer = make_updatable(&command);
    for (int i = 0; i < 3; i++)
        write_image(images[i], i);
    run_and_expect(buffer, images[1], 0, 1);
    ur_exp_command_buffer_update_memobj_arg_desc_t mem = new_mem(0, images[2]);
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    update.newWorkDim = 2;
    update.numNewMemObjArgs = 1;
    update.pNewMemObjArgList = &mem;
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    run_and_expect(buffer, images[1], 2, 1);
    UR_OK(urSamplerCreate(gear.context, &desc, &black));
    const ur_exp_command_buffer_update_value_arg_desc_t value =
        cb_new_value(2, sizeof(black), &black);
    update.numNewMemObjArgs = 0;
    update.numNewValueArgs = 1;
    update.pNewValueArgList = &value;
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    UR_OK(urSamplerRelease(black));
    run_and_expect(buffer, images[1], 2, 0.5f);
    // Both ways round, and the sampler as it was at first.
    const ur_exp_command_buffer_update_memobj_arg_desc_t mems[] = {new_mem(0, images[1]),
                                                                   new_mem(1, images[0])};
    black = sampler;
    update.numNewMemObjArgs = 2;
    update.pNewMemObjArgList = mems;
    write_image(images[1], 5);
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    run_and_expect(buffer, images[0], 5, 1);
    release_all();
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urCommandBufferReleaseExp(buffer));
}

static void refuse_mem(buffer_t buffer, command_t command, uint32_t dimensions, uint32_t index,
                       ur_mem_handle_t mem, ur_result_t result, const char *words)
{
    const ur_exp_command_buffer_update_memobj_arg_desc_t desc = new_mem(index, mem);
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    update.newWorkDim = dimensions;
    update.numNewMemObjArgs = 1;
    update.pNewMemObjArgList = &desc;
    UR_FAILS_SAYING(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update), result, words);
}

static void refuse_value(buffer_t buffer, command_t command, uint32_t index, size_t size,
                         const void *bytes, ur_result_t result, const char *words)
{
    const ur_exp_command_buffer_update_value_arg_desc_t desc = cb_new_value(index, size, bytes);
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    update.newWorkDim = 2;
    update.numNewValueArgs = 1;
    update.pNewValueArgList = &desc;
    UR_FAILS_SAYING(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update), result, words);
}

// An image in the place of memory, and the other way round.
static void refuse_launches(buffer_t buffer, void *address, ur_mem_handle_t memory)
{
    const ur_exp_kernel_arg_properties_t image[] = {UR_POINTER(0, address), UR_MEM(1, images[0]),
                                                    UR_POINTER(2, address)};
    const ur_exp_kernel_arg_properties_t no_image[] = {UR_MEM(0, memory), UR_MEM(1, images[1]),
                                                       UR_SAMPLER(2, sampler)};
    const struct {
        ur_kernel_handle_t kernel;
        const ur_exp_kernel_arg_properties_t *arguments;
        const char *words;
    } cases[] = {
        {cb_add, image, "argument 1 of kernel 'vector_add' is a pointer to global memory"},
        {average, no_image, "argument 0 of kernel 'average' is an image"},
    };
    for (int i = 0; i < 2; i++) {
        UR_FAILS_SAYING(urEnqueueKernelLaunchWithArgsExp(gear.queue, cases[i].kernel, 2, NULL,
                                                         global, NULL, 3, cases[i].arguments, NULL,
                                                         0, NULL, NULL),
                        UR_RESULT_ERROR_INVALID_VALUE, cases[i].words);
        UR_FAILS_SAYING(urCommandBufferAppendKernelLaunchWithArgsExp(
                            buffer, cases[i].kernel, 2, NULL, global, NULL, 3, cases[i].arguments,
                            0, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL),
                        UR_RESULT_ERROR_INVALID_VALUE, cases[i].words);
    }
}

// Another kernel has the arguments of the one before.
Test(graph_image, memory_does_not_become_of_images_with_another_kernel)
{
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, images[0]), UR_MEM(1, images[1]),
                                                        UR_SAMPLER(2, sampler)};
    float *memory = cb_floats(ITEMS);
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, average, 2, NULL, global, NULL, 3,
                                                       arguments, 1, &cb_add, 0, NULL, 0, NULL,
                                                       NULL, NULL, &command));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointers[] = {
        cb_new_pointer(0, &memory), cb_new_pointer(1, &memory), cb_new_pointer(2, &memory)};
    update.newWorkDim = 2;
    update.hNewKernel = cb_add;
    update.pNewPointerArgList = pointers;
    for (update.numNewPointerArgs = 0; update.numNewPointerArgs < 3; update.numNewPointerArgs++)
        UR_FAILS_SAYING(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
                        UR_RESULT_ERROR_INVALID_VALUE, "is a pointer to global memory");
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(memory);
    release_all();
}

Test(graph_image, objects_of_another_kind_are_refused)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_VALUE;
    void *address = cb_floats(ITEMS);
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(0, &address);
    const ur_exp_kernel_arg_properties_t pointers[] = {
        UR_POINTER(0, address), UR_POINTER(1, address), UR_POINTER(2, address)};
    command_t command, sum;
    ur_mem_handle_t memory = cb_make_mem(64);
    buffer_t buffer = make_updatable(&command), other = cb_make(UPDATABLE);
    refuse_mem(buffer, command, 2, 0, memory, wrong, "argument 0 of kernel 'average' is an image");
    refuse_mem(buffer, command, 2, 0, NULL, wrong, "is an image");
    refuse_mem(buffer, command, 2, 2, memory, wrong, "is a sampler");
    refuse_mem(buffer, command, 2, 2, images[2], wrong, "is a sampler");
    refuse_value(buffer, command, 0, sizeof(images[2]), &images[2], wrong, "is an image");
    refuse_value(buffer, command, 0, 64, NULL, wrong, "is an image");
    refuse_value(buffer, command, 2, sizeof(images[2]), &images[2], UR_RESULT_ERROR_INVALID_SAMPLER,
                 "sampler");
    refuse_value(buffer, command, 2, 4, &sampler, UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                 "has 8 bytes, got 4");
    refuse_value(buffer, command, 2, 64, NULL, wrong, "is a sampler");
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    update.newWorkDim = 2;
    update.numNewPointerArgs = 1;
    update.pNewPointerArgList = &pointer;
    UR_FAILS_SAYING(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update), wrong, "is an image");
    write_image(images[0], 9);
    run_and_expect(buffer, images[1], 9, 1);
    refuse_launches(other, address, memory);
    cb_append_launch(other, cb_add, ITEMS, 3, pointers, AT_ONCE, &sum);
    UR_OK(urCommandBufferFinalizeExp(other));
    refuse_mem(other, sum, 1, 0, images[0], wrong, "is a pointer to global memory");
    UR_OK(urCommandBufferReleaseExp(other));
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urMemRelease(memory));
    ur_free(address);
    release_all();
}
