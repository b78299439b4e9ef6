// SPDX-License-Identifier: MIT
// Threads that capture at the same time, each with two queues, while one graph is executed by all
// of them, captured, dumped, and updated by another thread.
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CAPTURERS 2
#define ROUNDS 60
#define ITEMS 64

static struct test_gear gear;
static zepi_kernel_t add; // sum[i] = a[i] + b[i]
static zepi_graph_t shared;
static float *ones, *sum;
static zepi_queue_t meeting; // that all threads enqueue to, in capture mode or not

static void launch(zepi_queue_t queue, float *to, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(ones), TEST_POINTER(ones), TEST_POINTER(to)};
    const zepi_launch_desc_t desc = test_launch(add, 3, arguments, ITEMS);
    TEST_OK(zepi.queue_launch(queue, &desc, wait, out_event));
}

static void capture_once(zepi_queue_t queue, zepi_queue_t other, float *to)
{
    zepi_graph_t graph;
    zepi_event_t begun, joined;
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &graph));
    TEST_OK(zepi.queue_begin_capture(queue, graph));
    TEST_OK(zepi.queue_marker(queue, TEST_NO_WAIT, &begun));
    launch(other, to, (zepi_wait_list_t){&begun, 1}, &joined);
    TEST_OK(zepi.queue_marker(queue, (zepi_wait_list_t){&joined, 1}, NULL));
    // A copy of its launches, which may be updated meanwhile.
    TEST_OK(zepi.queue_execute(queue, shared, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_end_capture(queue));
    TEST_OK(zepi.graph_dump(shared, "/dev/null"));
    TEST_OK(zepi.release(begun));
    TEST_OK(zepi.release(joined));
    TEST_OK(zepi.graph_finalize(graph));
    TEST_OK(zepi.queue_execute(queue, graph, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_execute(other, shared, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(queue));
    TEST_OK(zepi.queue_finish(other));
    TEST_OK(zepi.release(graph));
}

static void *capture_often(void *unused)
{
    zepi_queue_t queues[2];
    float *to;
    (void)unused;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queues[0]));
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &queues[1]));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, ITEMS * sizeof(float), 0,
                              (void **)&to));
    for (int i = 0; i < ROUNDS; i++) {
        capture_once(queues[0], queues[1], to);
        // Into a capture of another thread, or executed; refused if the capture ends meanwhile.
        zepi_result_t result;
        while ((result = zepi.queue_marker(meeting, TEST_NO_WAIT, NULL)) ==
               ZEPI_ERROR_CAPTURE_INVALIDATED)
            continue;
        TEST_OK(result);
    }
    TEST_OK(zepi.usm_free(gear.context, to));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(queues[i]));
    return NULL;
}

static void *capture_meeting(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        zepi_graph_t graph;
        TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &graph));
        TEST_OK(zepi.queue_begin_capture(meeting, graph));
        TEST_OK(zepi.queue_marker(meeting, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_end_capture(meeting));
        TEST_OK(zepi.release(graph));
    }
    return NULL;
}

static void *update_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        const zepi_argument_t arguments[] = {TEST_POINTER(ones), TEST_POINTER(ones),
                                             TEST_POINTER(sum)};
        const zepi_launch_desc_t desc = test_launch(add, 3, arguments, i % 2 ? ITEMS : ITEMS / 2);
        const zepi_graph_update_t update = {.number = 0, .launch = &desc};
        TEST_OK(zepi.graph_update(shared, 1, &update));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[CAPTURERS + 2];
    test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    zepi_module_t module = test_executable(gear.context, "vector_add");
    TEST_OK(zepi.module_get_kernel(module, "vector_add", &add));
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &meeting));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, ITEMS * sizeof(float),
                                  0, (void **)(i ? &sum : &ones)));
    TEST_OK(zepi.graph_create(gear.context, gear.device, ZEPI_GRAPH_UPDATABLE, &shared));
    const zepi_argument_t arguments[] = {TEST_POINTER(ones), TEST_POINTER(ones), TEST_POINTER(sum)};
    const zepi_launch_desc_t desc = test_launch(add, 3, arguments, ITEMS);
    TEST_OK(zepi.graph_add_launch(shared, &desc, (zepi_graph_wait_list_t){NULL, 0}, NULL));
    TEST_OK(zepi.graph_finalize(shared));
    for (int i = 0; i < CAPTURERS; i++)
        pthread_create(&threads[i], NULL, capture_often, NULL);
    pthread_create(&threads[CAPTURERS], NULL, capture_meeting, NULL);
    pthread_create(&threads[CAPTURERS + 1], NULL, update_often, NULL);
    for (int i = 0; i < CAPTURERS + 2; i++)
        pthread_join(threads[i], NULL);
    TEST_OK(zepi.queue_finish(meeting));
    TEST_OK(zepi.release(meeting));
    TEST_OK(zepi.release(shared));
    TEST_OK(zepi.usm_free(gear.context, ones));
    TEST_OK(zepi.usm_free(gear.context, sum));
    TEST_OK(zepi.release(add));
    TEST_OK(zepi.release(module));
    test_gear_destroy(&gear);
    test_plugin_unload();
    return 0;
}
