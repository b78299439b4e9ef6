// SPDX-License-Identifier: MIT
//
// Graphs of the function table: commands are added or captured, executed and updated, while each
// Level Zero call and each allocation fails in turn. A graph that could not be finalized, updated
// or executed can be at the next try.
#include "walk.h"

#include "queue/queue.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ITEMS 16
#define FILLED 12 // of these, by a pattern of three

static struct test_gear gear;
static zepi_module_t module;
static zepi_kernel_t kernel; // sum[i] = a[i] + b[i]
static float *data;          // four vectors
static char path[] = "/tmp/zepi-fault-graph-XXXXXX";

// Like STEP, but the story goes on with a second try, and ends with the failure of the first.
#define STEP_AGAIN(call)                                                                           \
    do {                                                                                           \
        result = walk_step((call), #call);                                                         \
        if (result != ZEPI_SUCCESS) {                                                              \
            failed = result;                                                                       \
            WALK_EXPECT((call) == ZEPI_SUCCESS);                                                   \
            result = ZEPI_SUCCESS;                                                                 \
        }                                                                                          \
    } while (false)

struct sum {
    zepi_argument_t arguments[3];
    zepi_launch_desc_t desc;
};

static void make_sum(struct sum *sum, int a, int b, int to)
{
    const int vectors[] = {a, b, to};
    for (int i = 0; i < 3; i++)
        sum->arguments[i] = TEST_POINTER(data + vectors[i] * ITEMS);
    sum->desc = test_launch(kernel, 3, sum->arguments, ITEMS);
}

// Executes the graph twice, the second time after an update: 2 = 0 + 1, then 3 = 0 + 1.
static zepi_result_t execute(zepi_queue_t queue, zepi_graph_t graph, uint32_t launch)
{
    struct sum sum;
    zepi_event_t done = NULL;
    zepi_result_t result, failed = ZEPI_SUCCESS;
    const zepi_graph_update_t update = {.number = launch, .launch = &sum.desc};
    make_sum(&sum, 0, 1, 3);
    STEP_AGAIN(zepi.graph_finalize(graph));
    STEP_AGAIN(zepi.queue_execute(queue, graph, TEST_NO_WAIT, &done));
    STEP_AGAIN(zepi.graph_update(graph, 1, &update));
    STEP_AGAIN(zepi.queue_execute(queue, graph, (zepi_wait_list_t){&done, 1}, NULL));
    STEP_AGAIN(zepi.graph_dump(graph, path));
    STEP_AGAIN(zepi.queue_finish(queue));
    WALK_EXPECT(data[FILLED - 1] == 3 && data[ITEMS] == 3);
    WALK_EXPECT(data[2 * ITEMS] == 6 && data[3 * ITEMS] == 6);
    walk_settle(queue);
    walk_release(done);
    return failed;
}

static zepi_result_t add(zepi_graph_t graph, uint32_t *out_launch)
{
    const float threes[] = {3, 3, 3};
    struct sum sum;
    uint32_t filled, copied;
    zepi_result_t result;
    make_sum(&sum, 0, 1, 2);
    STEP(zepi.graph_add_fill(graph, data, threes, sizeof(threes), FILLED * sizeof(float),
                             (zepi_graph_wait_list_t){NULL, 0}, &filled));
    STEP(zepi.graph_add_copy(graph, data + ITEMS, data, ITEMS * sizeof(float),
                             (zepi_graph_wait_list_t){&filled, 1}, &copied));
    STEP(zepi.graph_add_launch(graph, &sum.desc, (zepi_graph_wait_list_t){&copied, 1}, out_launch));
out:
    return result;
}

static zepi_result_t add_and_execute(void)
{
    zepi_queue_t queue = NULL;
    zepi_graph_t graph = NULL;
    uint32_t launch;
    zepi_result_t result;
    memset(data, 0, 4 * ITEMS * sizeof(float));
    STEP(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    STEP(zepi.graph_create(gear.context, gear.device, ZEPI_GRAPH_UPDATABLE, &graph));
    STEP(add(graph, &launch));
    STEP(execute(queue, graph, launch));
out:
    walk_settle(queue);
    walk_release(graph);
    walk_release(queue);
    return result;
}

// The inner graph is executed on a queue in capture mode, and another queue takes part, with a
// launch by name.
static zepi_result_t enqueue(zepi_queue_t queue, zepi_queue_t other, zepi_graph_t inner)
{
    const float three = 3;
    struct sum sum;
    zepi_event_t copied = NULL, added = NULL;
    zepi_result_t result;
    make_sum(&sum, 0, 1, 2);
    sum.desc.kernel = NULL;
    sum.desc.kernel_name = "vector_add";
    sum.desc.module = module;
    STEP(zepi.queue_execute(queue, inner, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_barrier(queue, TEST_NO_WAIT, NULL));
    STEP(zepi.queue_copy(queue, data + ITEMS, data, ITEMS * sizeof(float), TEST_NO_WAIT, &copied));
    STEP(zepi.queue_launch(other, &sum.desc, (zepi_wait_list_t){&copied, 1}, &added));
    STEP(zepi.queue_fill(queue, data + ITEMS, &three, sizeof(three), sizeof(three),
                         (zepi_wait_list_t){&added, 1}, NULL));
out:
    walk_release(copied);
    walk_release(added);
    return result;
}

static zepi_result_t capture(zepi_queue_t queue, zepi_queue_t other, zepi_graph_t graph)
{
    const float threes[] = {3, 3, 3};
    zepi_graph_t inner = NULL;
    zepi_result_t result;
    STEP(zepi.graph_create(gear.context, gear.device, 0, &inner));
    STEP(zepi.graph_add_fill(inner, data, threes, sizeof(threes), FILLED * sizeof(float),
                             (zepi_graph_wait_list_t){NULL, 0}, NULL));
    STEP(zepi.graph_finalize(inner));
    STEP(zepi.queue_begin_capture(queue, graph));
    STEP(enqueue(queue, other, inner));
    STEP(zepi.queue_end_capture(queue));
out:
    walk_release(inner);
    return result;
}

static zepi_result_t capture_and_execute(void)
{
    zepi_queue_t queue = NULL, other = NULL;
    zepi_graph_t graph = NULL;
    zepi_result_t result;
    memset(data, 0, 4 * ITEMS * sizeof(float));
    STEP(zepi.queue_create(gear.context, gear.device, 0, &queue));
    STEP(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &other));
    STEP(zepi.graph_create(gear.context, gear.device, ZEPI_GRAPH_UPDATABLE, &graph));
    STEP(capture(queue, other, graph));
    // Behind a command before the inner graph, its fill, one after it, the barrier and the copy.
    STEP(execute(queue, graph, 5));
out:
    if (queue && zepi_queue_is_capturing(queue))
        zepi.queue_end_capture(queue);
    walk_settle(queue);
    walk_release(graph);
    walk_release(other);
    walk_release(queue);
    return result;
}

// A command that waits for an event from outside. Executions wait for the event if the command was
// captured, and for nothing else.
static zepi_result_t capture_behind(zepi_queue_t queue, zepi_graph_t graph, zepi_event_t outside)
{
    const float three = 3;
    zepi_event_t done = NULL;
    zepi_result_t result, failed = ZEPI_SUCCESS;
    STEP(zepi.queue_begin_capture(queue, graph));
    failed = walk_step(zepi.queue_fill(queue, data, &three, sizeof(three), sizeof(three),
                                       (zepi_wait_list_t){&outside, 1}, NULL),
                       "queue_fill");
    STEP(zepi.queue_end_capture(queue));
    STEP(zepi.graph_finalize(graph));
    STEP(zepi.queue_execute(queue, graph, TEST_NO_WAIT, &done));
    if (failed == ZEPI_SUCCESS)
        STEP(zepi.event_signal(outside));
    STEP(zepi.event_wait(1, &done, 20 * UINT64_C(1000000000)));
    WALK_EXPECT(data[0] == (failed == ZEPI_SUCCESS ? 3 : 0));
out:
    walk_release(done);
    return failed == ZEPI_SUCCESS ? result : failed;
}

static zepi_result_t wait_for_outside(void)
{
    zepi_queue_t queue = NULL;
    zepi_graph_t graph = NULL;
    zepi_event_t outside = NULL;
    zepi_result_t result;
    memset(data, 0, sizeof(data[0]));
    STEP(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    STEP(zepi.graph_create(gear.context, gear.device, 0, &graph));
    STEP(zepi.event_create(gear.context, &outside));
    STEP(capture_behind(queue, graph, outside));
out:
    if (queue && zepi_queue_is_capturing(queue))
        zepi.queue_end_capture(queue);
    while (outside && zepi.event_signal(outside) != ZEPI_SUCCESS)
        ;
    walk_settle(queue);
    walk_release(outside);
    walk_release(graph);
    walk_release(queue);
    return result;
}

int main(void)
{
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    const int file = mkstemp(path);
    WALK_EXPECT(file >= 0 && close(file) == 0);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4 * ITEMS * sizeof(float),
                              0, (void **)&data));
    module = test_executable(gear.context, "vector_add");
    TEST_OK(zepi.module_get_kernel(module, "vector_add", &kernel));
    walk_rehearsed("added", add_and_execute, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_rehearsed("captured", capture_and_execute, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_rehearsed("behind an event", wait_for_outside, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_release(kernel);
    walk_release(module);
    TEST_OK(zepi.usm_free(gear.context, data));
    test_gear_destroy(&gear);
    unlink(path);
    return 0;
}
