// SPDX-License-Identifier: MIT
// Thousands of random launches through Unified Runtime's tables.
#include "intel.h"

#include "launch/random_launch.h"
#include "ur_fixture.h"

#include <stdlib.h>
#include <string.h>

#define LAUNCHES 2000
#define QUEUES 4

static ur_kernel_handle_t kernels[RANDOM_KERNELS];
static ur_queue_handle_t queues[QUEUES];
static char *memory;

static void set_up(void)
{
    ur_load_device();
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
    for (int i = 0; i < RANDOM_KERNELS; i++)
        kernels[i] = ur_kernel(i == EMPTY ? "empty" : "arguments", random_kernel_names[i]);
    for (unsigned i = 0; i < QUEUES; i++)
        queues[i] =
            ur_queue(gear.device, (i & 1 ? UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0) |
                                      (i & 2 ? UR_QUEUE_FLAG_PROFILING_ENABLE : 0));
    memory = ur_device_memory(RANDOM_MEMORY_BYTES);
}

static void tear_down(void)
{
    for (int i = 0; i < QUEUES; i++)
        UR_OK(urQueueRelease(queues[i]));
    for (int i = 0; i < RANDOM_KERNELS; i++)
        UR_OK(urKernelRelease(kernels[i]));
    ur_free(memory);
    UR_OK(urContextRelease(gear.context));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}

static uint32_t fill_arguments(const struct random_launch *l, ur_exp_kernel_arg_properties_t *to)
{
    if (l->kernel == STORE_VALUES) {
        const ur_exp_kernel_arg_properties_t all[] = {
            UR_VALUE(0, l->a), UR_VALUE(1, l->b), UR_VALUE(2, l->c), UR_VALUE(3, l->d),
            UR_VALUE(4, l->e), UR_VALUE(5, l->f), UR_VALUE(6, l->g), UR_POINTER(7, l->pointers[0])};
        memcpy(to, all, sizeof(all));
        return 8;
    }
    to[0] = UR_POINTER(0, l->pointers[0]);
    if (l->kernel != SUM_GROUPS)
        return l->kernel == STORE_IDS;
    to[1] = UR_LOCAL(1, l->local_bytes);
    to[2] = UR_POINTER(2, l->pointers[1]);
    return 3;
}

static void launch_one(struct payload_launch *expected, ur_event_handle_t *event)
{
    ur_exp_kernel_arg_properties_t arguments[8];
    const struct random_launch launch = random_launch_choose(memory, expected);
    const uint32_t count = fill_arguments(&launch, arguments);
    const ur_kernel_handle_t kernel = kernels[launch.kernel];
    const ur_queue_handle_t queue = queues[intel_random() % QUEUES];
    const size_t *local = launch.local[0] ? launch.local : NULL;
    const uint32_t waits = *event && intel_random() % 4 == 0;
    ur_event_handle_t next = NULL;
    ur_event_handle_t *out = intel_random() % 3 ? NULL : &next;
    UR_OK(urEnqueueKernelLaunchWithArgsExp(queue, kernel, launch.work_dim, launch.offset,
                                           launch.global, local, count, arguments, NULL, waits,
                                           waits ? event : NULL, out));
    if (next && *event)
        UR_OK(urEventRelease(*event));
    if (next)
        *event = next;
}

static void launch_and_judge(void)
{
    static struct payload_launch launches[LAUNCHES];
    ur_event_handle_t event = NULL;
    set_up();
    for (int i = 0; i < LAUNCHES; i++)
        launch_one(&launches[i], &event);
    if (event)
        UR_OK(urEventRelease(event));
    for (int i = 0; i < QUEUES; i++)
        UR_OK(urQueueFinish(queues[i]));
    payload_judge(launches, LAUNCHES);
    tear_down();
}

static const struct intel_story stories[] = {
    {"sizes_and_arguments_of_random_launches_reach_the_gpu", launch_and_judge, {NULL}},
    {"and_without_the_newer_functions", launch_and_judge, {"ZEPI_NEWER_FUNCTIONS=off"}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
