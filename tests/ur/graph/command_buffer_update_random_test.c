// SPDX-License-Identifier: MIT
// Random updates of a command buffer between executions that are not waited for: each execution has
// just the updates before it. An update of several launches may be wrong at its end, and has no
// effect then.
#include "command_buffer_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(command_buffer_update_random, .init = cb_set_up, .fini = cb_tear_down);

enum { COMMANDS = 5, ROWS = 3, MEMS = 4, PLACES = ROWS + MEMS, WIDTH = 16, RUNS = 150 };

// A launch of a kernel that writes `value` or its negative to a part of a place: a row of USM, or a
// memory object. Half of those are on the host's memory, and move.
struct launch {
    bool is_negative;
    int32_t value;
    int place;
    size_t items;
    size_t offset;
};

static int32_t *rows;
static ur_mem_handle_t mems[MEMS];
static int32_t host_memory[MEMS][WIDTH];
static ur_kernel_handle_t kernels[2];
static command_t commands[COMMANDS];
static struct launch launches[COMMANDS]; // as the command buffer is to have them
static int32_t (*expected)[PLACES][WIDTH];
static int32_t (*found)[PLACES][WIDTH]; // by runs; USM

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

// ---- Updates ----

// What an update of one launch points to.
struct update {
    ur_exp_command_buffer_update_pointer_arg_desc_t pointer;
    ur_exp_command_buffer_update_memobj_arg_desc_t mem;
    ur_exp_command_buffer_update_value_arg_desc_t value;
    void *row;
    struct launch launch;
};

static void update_place(struct update *update, struct launch *launch,
                         ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    launch->place = (int)draw(PLACES);
    if (launch->place < ROWS) {
        update->row = rows + (ptrdiff_t)launch->place * WIDTH;
        update->pointer = cb_new_pointer(1, &update->row);
        desc->numNewPointerArgs = 1;
        desc->pNewPointerArgList = &update->pointer;
    } else {
        update->mem = (ur_exp_command_buffer_update_memobj_arg_desc_t){
            .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_MEMOBJ_ARG_DESC,
            .argIndex = 1,
            .hNewMemObjArg = mems[launch->place - ROWS]};
        desc->numNewMemObjArgs = 1;
        desc->pNewMemObjArgList = &update->mem;
    }
}

static void update_sizes(struct update *update, struct launch *launch,
                         ur_exp_command_buffer_update_kernel_launch_desc_t *desc)
{
    launch->items = 1 + draw(WIDTH / 2);
    desc->pNewGlobalWorkSize = &update->launch.items;
    if (draw(2) == 0) {
        launch->offset = draw(WIDTH / 2);
        desc->pNewGlobalWorkOffset = &update->launch.offset;
    }
}

// Changes a random part of the launch, which becomes what it is to be.
static ur_exp_command_buffer_update_kernel_launch_desc_t
make_update(struct update *update, command_t command, struct launch *launch)
{
    ur_exp_command_buffer_update_kernel_launch_desc_t desc = cb_update(command);
    if (draw(3) > 0) {
        launch->value = 1 + (int32_t)draw(1000000);
        update->value = cb_new_value(0, sizeof(launch->value), &update->launch.value);
        desc.numNewValueArgs = 1;
        desc.pNewValueArgList = &update->value;
    }
    if (draw(2) == 0)
        update_place(update, launch, &desc);
    if (draw(3) == 0)
        update_sizes(update, launch, &desc);
    if (draw(4) == 0) {
        launch->is_negative = !launch->is_negative;
        desc.hNewKernel = kernels[launch->is_negative];
    }
    update->launch = *launch;
    return desc;
}

static void update_some(buffer_t buffer)
{
    enum { MOST = 3 };
    struct update updates[MOST];
    ur_exp_command_buffer_update_kernel_launch_desc_t descs[MOST];
    struct launch wanted[COMMANDS];
    const ur_exp_command_buffer_update_value_arg_desc_t wrong = cb_new_value(7, 4, &seed);
    const uint32_t count = 1 + draw(MOST);
    memcpy(wanted, launches, sizeof(wanted));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = draw(COMMANDS);
        descs[i] = make_update(&updates[i], commands[number], &wanted[number]);
    }
    if (draw(4) == 0) {
        descs[count - 1].numNewValueArgs = 1;
        descs[count - 1].pNewValueArgList = &wrong;
        UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, count, descs),
                 UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    } else {
        UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, count, descs));
        memcpy(launches, wanted, sizeof(launches));
    }
}

// ---- Executions ----

// On the device, or now and then by the host, which waits.
static void clear_mem(ur_mem_handle_t mem, size_t size_bytes)
{
    const int32_t zero = 0;
    void *mapped;
    if (draw(16) > 0) {
        UR_OK(urEnqueueMemBufferFill(gear.queue, mem, &zero, sizeof(zero), 0, size_bytes, 0, NULL,
                                     NULL));
        return;
    }
    UR_OK(urEnqueueMemBufferMap(gear.queue, mem, true, UR_MAP_FLAG_WRITE_INVALIDATE_REGION, 0,
                                size_bytes, 0, NULL, NULL, &mapped));
    memset(mapped, 0, size_bytes);
    UR_OK(urEnqueueMemUnmap(gear.queue, mem, mapped, 0, NULL, NULL));
}

static void run(buffer_t buffer, int number)
{
    const int32_t zero = 0;
    const size_t row_bytes = WIDTH * sizeof(int32_t);
    UR_OK(urEnqueueUSMFill(gear.queue, rows, sizeof(zero), &zero, ROWS * row_bytes, 0, NULL, NULL));
    for (int i = 0; i < MEMS; i++)
        clear_mem(mems[i], row_bytes);
    cb_run(gear.queue, buffer);
    UR_OK(urEnqueueUSMMemcpy(gear.queue, false, found[number], rows, ROWS * row_bytes, 0, NULL,
                             NULL));
    for (int i = 0; i < MEMS; i++)
        UR_OK(urEnqueueMemBufferRead(gear.queue, mems[i], false, 0, row_bytes,
                                     found[number][ROWS + i], 0, NULL, NULL));
    for (int i = 0; i < COMMANDS; i++) {
        const struct launch *launch = &launches[i];
        for (size_t item = 0; item < launch->items; item++)
            expected[number][launch->place][launch->offset + item] =
                launch->is_negative ? -launch->value : launch->value;
    }
}

static void check_runs(int from, int to)
{
    for (int run_number = from; run_number < to; run_number++) {
        for (int place = 0; place < PLACES; place++) {
            for (int i = 0; i < WIDTH; i++)
                cr_assert_eq(found[run_number][place][i], expected[run_number][place][i],
                             "execution %d, place %d, item %d: %d, expected %d", run_number, place,
                             i, found[run_number][place][i], expected[run_number][place][i]);
        }
    }
}

// ---- The story ----

static void make_mem(int number)
{
    const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                               .pHost = host_memory[number]};
    const bool moves = number % 2 == 1;
    const ur_mem_flags_t flags =
        UR_MEM_FLAG_READ_WRITE | (moves ? UR_MEM_FLAG_USE_HOST_POINTER : 0);
    UR_OK(urMemBufferCreate(gear.context, flags, sizeof(host_memory[number]),
                            moves ? &properties : NULL, &mems[number]));
}

static buffer_t record(void)
{
    const ur_exp_command_buffer_desc_t desc = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC, .isUpdatable = true, .isInOrder = true};
    buffer_t buffer;
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &buffer));
    for (int i = 0; i < COMMANDS; i++) {
        struct launch *launch = &launches[i];
        *launch = (struct launch){.value = i + 1, .place = i % ROWS, .items = WIDTH / 2};
        int32_t *row = rows + (ptrdiff_t)launch->place * WIDTH;
        const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, launch->value),
                                                            UR_POINTER(1, row)};
        UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(
            buffer, kernels[0], 1, NULL, &launch->items, NULL, 2, arguments, 1, &kernels[1], 0,
            NULL, 0, NULL, NULL, NULL, &commands[i]));
    }
    UR_OK(urCommandBufferFinalizeExp(buffer));
    return buffer;
}

// Executions are waited for now and then, so that up to `pile` of them are under way.
static void update_and_run(uint32_t first_seed, uint32_t pile)
{
    seed = first_seed;
    memset(expected, 0, RUNS * sizeof(expected[0]));
    memset(found, 0, RUNS * sizeof(found[0]));
    buffer_t buffer = record();
    int waited = 0;
    for (int i = 0; i < RUNS; i++) {
        for (uint32_t updates = draw(4); updates > 0; updates--)
            update_some(buffer);
        run(buffer, i);
        if (draw(pile) == 0) {
            UR_OK(urQueueFinish(gear.queue));
            check_runs(waited, i + 1);
            waited = i + 1;
        }
    }
    UR_OK(urQueueFinish(gear.queue));
    check_runs(waited, RUNS);
    UR_OK(urCommandBufferReleaseExp(buffer));
}

Test(command_buffer_update_random, executes_just_what_was_updated_before)
{
    kernels[0] = ur_kernel("mark", "mark");
    kernels[1] = ur_kernel("mark", "mark_negative");
    rows = ur_shared(ROWS * WIDTH * sizeof(int32_t));
    expected = malloc(RUNS * sizeof(expected[0]));
    found = ur_shared(RUNS * sizeof(found[0]));
    cr_assert_not_null(expected);
    for (int i = 0; i < MEMS; i++)
        make_mem(i);
    for (uint32_t i = 1; i <= 4; i++) {
        update_and_run(i, 1);
        update_and_run(100 + i, 6);
        update_and_run(200 + i, 30);
    }
    for (int i = 0; i < MEMS; i++)
        UR_OK(urMemRelease(mems[i]));
    free(expected);
    ur_free(found);
    ur_free(rows);
    UR_OK(urKernelRelease(kernels[0]));
    UR_OK(urKernelRelease(kernels[1]));
}
