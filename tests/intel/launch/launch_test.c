// SPDX-License-Identifier: MIT
// Thousands of random launches through zepi's table: each one's sizes and each argument's value are
// those of the command that reaches the GPU.
#include "intel.h"

#include "random_launch.h"
#include "test_plugin.h"

#include <string.h>

#define LAUNCHES 3000
#define QUEUES 4

static struct test_gear gear;
static zepi_kernel_t kernels[RANDOM_KERNELS];
static zepi_queue_t queues[QUEUES];
static char *memory;

static void set_up(void)
{
    test_plugin_load();
    gear = test_gear_create(0);
    const zepi_module_t module = test_executable(gear.context, "arguments");
    const zepi_module_t empty = test_executable(gear.context, "empty");
    for (int i = 0; i < RANDOM_KERNELS; i++)
        TEST_OK(zepi.module_get_kernel(i == EMPTY ? empty : module, random_kernel_names[i],
                                       &kernels[i]));
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(empty));
    for (unsigned i = 0; i < QUEUES; i++)
        TEST_OK(zepi.queue_create(
            gear.context, gear.device,
            (i & 1 ? 0 : ZEPI_QUEUE_IN_ORDER) | (i & 2 ? ZEPI_QUEUE_PROFILING : 0), &queues[i]));
    void *allocated;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, RANDOM_MEMORY_BYTES, 0,
                              &allocated));
    memory = allocated;
}

static void tear_down(void)
{
    for (int i = 0; i < QUEUES; i++)
        TEST_OK(zepi.release(queues[i]));
    for (int i = 0; i < RANDOM_KERNELS; i++)
        TEST_OK(zepi.release(kernels[i]));
    TEST_OK(zepi.usm_free(gear.context, memory));
    test_gear_destroy(&gear);
    test_plugin_unload();
}

static uint32_t fill_arguments(const struct random_launch *l, zepi_argument_t *to)
{
    if (l->kernel == STORE_VALUES) {
        const zepi_argument_t all[] = {
            TEST_VALUE(l->a), TEST_VALUE(l->b), TEST_VALUE(l->c), TEST_VALUE(l->d),
            TEST_VALUE(l->e), TEST_VALUE(l->f), TEST_VALUE(l->g), TEST_POINTER(l->pointers[0])};
        memcpy(to, all, sizeof(all));
        return 8;
    }
    to[0] = TEST_POINTER(l->pointers[0]);
    if (l->kernel != SUM_GROUPS)
        return l->kernel == STORE_IDS;
    to[1] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = l->local_bytes};
    to[2] = TEST_POINTER(l->pointers[1]);
    return 3;
}

// In a queue of any kind; some wait for an event of before, some have one.
static void launch_one(struct payload_launch *expected, zepi_event_t *event)
{
    zepi_argument_t arguments[8];
    const struct random_launch launch = random_launch_choose(memory, expected);
    zepi_launch_desc_t desc = {.size = sizeof(desc),
                               .kernel = kernels[launch.kernel],
                               .arguments = arguments,
                               .argument_count = fill_arguments(&launch, arguments),
                               .work_dim = launch.work_dim};
    memcpy(desc.global_size, launch.global, sizeof(desc.global_size));
    memcpy(desc.group_size, launch.local, sizeof(desc.group_size));
    memcpy(desc.global_offset, launch.offset, sizeof(desc.global_offset));
    const zepi_wait_list_t wait = {event, *event != NULL};
    zepi_event_t next = NULL;
    TEST_OK(zepi.queue_launch(queues[intel_random() % QUEUES], &desc,
                              intel_random() % 4 ? TEST_NO_WAIT : wait,
                              intel_random() % 3 ? NULL : &next));
    if (next && *event)
        TEST_OK(zepi.release(*event));
    if (next)
        *event = next;
}

static void launch_and_judge(void)
{
    static struct payload_launch launches[LAUNCHES];
    zepi_event_t event = NULL;
    set_up();
    for (int i = 0; i < LAUNCHES; i++)
        launch_one(&launches[i], &event);
    if (event)
        TEST_OK(zepi.release(event));
    for (int i = 0; i < QUEUES; i++)
        TEST_OK(zepi.queue_finish(queues[i]));
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
