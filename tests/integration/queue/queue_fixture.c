// SPDX-License-Identifier: MIT
#include "queue_fixture.h"

#include <stdlib.h>

struct queue_kind queue_kinds[QUEUE_KINDS] = {
    {ZEPI_QUEUE_IN_ORDER, true},
    {ZEPI_QUEUE_IN_ORDER, false},
    {ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING, true},
    {0, true},
    {0, false},
    {ZEPI_QUEUE_PROFILING | ZEPI_QUEUE_PRIORITY_HIGH, true}};

static zepi_module_t module;
static zepi_kernel_t add;

void queue_set_up(zepi_queue_flags_t flags, bool newer)
{
    if (!newer)
        setenv("ZEPI_NEWER_FUNCTIONS", "off", 1);
    gear_set_up_with(flags);
    module = test_executable(gear.context, "vector_add");
    TEST_OK(zepi.module_get_kernel(module, "vector_add", &add));
}

void queue_tear_down(void)
{
    TEST_OK(zepi.release(add));
    TEST_OK(zepi.release(module));
    gear_tear_down();
}

float *queue_allocate(size_t count)
{
    return gear_allocate(count * sizeof(float));
}

void queue_free(void *memory)
{
    TEST_OK(zepi.usm_free(gear.context, memory));
}

float *queue_allocate_filled(float value)
{
    float *memory = queue_allocate(ITEMS);
    for (int i = 0; i < ITEMS; i++)
        memory[i] = value;
    return memory;
}

void queue_add(zepi_queue_t queue, float *a, float *b, float *sum, zepi_wait_list_t wait,
               zepi_event_t *out_event)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(a), TEST_POINTER(b), TEST_POINTER(sum)};
    const zepi_launch_desc_t launch = test_launch(add, 3, arguments, ITEMS);
    TEST_OK(zepi.queue_launch(queue, &launch, wait, out_event));
}
