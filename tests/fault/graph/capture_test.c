// SPDX-License-Identifier: MIT
//
// Captures two queues, with a fork and a command of the host's own, and replays them, while each
// Level Zero call and each allocation fails in turn. A call that fails leaves the capture as it
// was, or reports that it is invalid.
#include "graph_walk.h"

#include "ur/handles.h"

#define FILLED 12 // of ITEMS, by a pattern of three

static zepi_result_t native_result;

static void record(ur_queue_handle_t queue, void *user)
{
    ur_native_handle_t list = 0;
    (void)user;
    const ur_result_t found = zepi_urQueueGetNativeHandle(queue, NULL, &list);
    native_result = record_natively(found, list);
}

struct capture {
    ur_queue_handle_t queue, other;
    ur_kernel_handle_t kernel;
    ur_exp_graph_handle_t graph;
    ur_exp_executable_graph_handle_t executable;
    ur_event_handle_t filled, added, copied;
};

// data[0] = 3, with patterns that the driver has no command for; on the other queue
// data[1] = data[0] + data[0]; then data[2] = data[1], by the host, and data[3] += data[2].
static zepi_result_t enqueue(struct capture *capture)
{
    const float threes[] = {3, 3, 3, 3};
    const ur_exp_kernel_arg_properties_t twice[] = {pointer(0, data), pointer(1, data),
                                                    pointer(2, data + ITEMS)};
    const ur_exp_kernel_arg_properties_t sum[] = {
        pointer(0, data + 3 * ITEMS), pointer(1, data + 2 * ITEMS), pointer(2, data + 3 * ITEMS)};
    const size_t items = ITEMS;
    zepi_result_t result;
    STEP(told(zepi_urEnqueueUSMFill2D(capture->queue, data, 16, sizeof(threes), threes, 8, 4, 0,
                                      NULL, NULL)));
    STEP(told(zepi_urEnqueueUSMFill(capture->queue, data, 3 * sizeof(float), threes,
                                    FILLED * sizeof(float), 0, NULL, &capture->filled)));
    STEP(told(zepi_urEnqueueKernelLaunchWithArgsExp(capture->other, capture->kernel, 1, NULL,
                                                    &items, NULL, 3, twice, NULL, 1,
                                                    &capture->filled, &capture->added)));
    STEP(told(zepi_urEnqueueNativeCommandExp(capture->queue, record, NULL, 0, NULL, NULL, 1,
                                             &capture->added, &capture->copied)));
    STEP(native_result);
    STEP(
        told(zepi_urEnqueueKernelLaunchWithArgsExp(capture->queue, capture->kernel, 1, NULL, &items,
                                                   NULL, 3, sum, NULL, 1, &capture->copied, NULL)));
out:
    return result;
}

static unsigned invalidated_count; // captures that had part of a command

// Ends a capture in which a command failed: the graph is whole, or says that it is not.
static void end_after_failure(struct capture *capture)
{
    ur_exp_graph_handle_t ended;
    switch (zepi_urQueueEndGraphCaptureExp(capture->queue, &ended)) {
    case UR_RESULT_SUCCESS:
        WALK_EXPECT(zepi_urGraphInstantiateGraphExp(capture->graph, &capture->executable) ==
                    UR_RESULT_SUCCESS);
        break;
    case UR_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED:
        invalidated_count++;
        // fall through
    case UR_RESULT_ERROR_GRAPH_UNJOINED_FORKS:
        WALK_EXPECT(zepi_urGraphInstantiateGraphExp(capture->graph, &capture->executable) ==
                    UR_RESULT_ERROR_INVALID_GRAPH);
        break;
    default:
        WALK_EXPECT(false);
    }
}

static void clean_up(struct capture *capture)
{
    ur_event_handle_t events[] = {capture->filled, capture->added, capture->copied};
    if (capture->queue && zepi_queue_is_capturing((struct zepi_queue *)capture->queue))
        end_after_failure(capture);
    walk_settle((zepi_queue_t)capture->queue);
    for (int i = 0; i < 3; i++)
        walk_release(events[i]);
    if (capture->executable)
        WALK_EXPECT(zepi_urGraphExecutableGraphDestroyExp(capture->executable) ==
                    UR_RESULT_SUCCESS);
    if (capture->graph)
        WALK_EXPECT(zepi_urGraphDestroyExp(capture->graph) == UR_RESULT_SUCCESS);
    walk_release(capture->kernel);
    walk_release(capture->other);
    walk_release(capture->queue);
}

static zepi_result_t replay(zepi_queue_flags_t flags)
{
    struct capture capture = {0};
    ur_exp_graph_handle_t ended;
    zepi_result_t result;
    STEP(zepi.queue_create(gear.context, gear.device, flags, (zepi_queue_t *)&capture.queue));
    STEP(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER,
                           (zepi_queue_t *)&capture.other));
    STEP(graph_walk_start(&capture.kernel));
    STEP(told(zepi_urGraphCreateExp((ur_context_handle_t)gear.context, &capture.graph)));
    STEP(told(zepi_urQueueBeginCaptureIntoGraphExp(capture.queue, capture.graph)));
    STEP(enqueue(&capture));
    STEP(told(zepi_urQueueEndGraphCaptureExp(capture.queue, &ended)));
    STEP(told(zepi_urGraphInstantiateGraphExp(capture.graph, &capture.executable)));
    for (int i = 0; i < 2; i++)
        STEP(told(zepi_urEnqueueGraphExp(capture.queue, capture.executable, 0, NULL, NULL)));
    STEP(zepi.queue_finish((zepi_queue_t)capture.queue));
    WALK_EXPECT(data[0] == 3 && data[2 * ITEMS] == 6 && data[3 * ITEMS + FILLED - 1] == 12);
out:
    clean_up(&capture);
    return result;
}

static zepi_result_t replay_in_order(void)
{
    return replay(ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING);
}

static zepi_result_t replay_in_any_order(void)
{
    return replay(0);
}

int main(void)
{
    graph_walk_begin(4);
    walk_rehearsed("in order", replay_in_order, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_rehearsed("any order", replay_in_any_order, "ZE_RESULT_ERROR_DEVICE_LOST");
    WALK_EXPECT(invalidated_count == 0);
    graph_walk_end();
    return 0;
}
