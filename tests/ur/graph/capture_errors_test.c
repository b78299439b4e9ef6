// SPDX-License-Identifier: MIT
// What captured graphs answer and refuse. Queue and graph are usable afterwards.
#include "capture_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(capture_errors, .init = cb_set_up, .fini = cb_tear_down);
TestSuite(capture_devices, .init = ur_set_up_two, .fini = ur_tear_down);

static float *memory;

// A graph of one fill, which `attempt` leaves whole.
static void check_usable(void (*attempt)(ur_queue_handle_t queue, graph_t graph))
{
    static const ur_queue_flags_t flags[] = {0, ANY_ORDER};
    memory = cb_floats(ITEMS);
    for (int i = 0; i < 2; i++) {
        ur_queue_handle_t queue = ur_queue(gear.device, flags[i]);
        memset(memory, 0, ITEMS * sizeof(float));
        graph_t graph = cap_begin(queue);
        attempt(queue, graph);
        cap_fill(queue, memory, 3, NULL, NULL);
        attempt(queue, graph);
        cap_end(queue, graph);
        UR_OK(urQueueFinish(queue)); // for what would have been executed
        cb_expect(memory, 0);
        executable_t executable = cap_instantiate(graph);
        cap_run(queue, executable);
        cb_expect(memory, 3);
        cap_destroy(graph, executable);
        UR_OK(urQueueRelease(queue));
    }
    ur_free(memory);
}

static void wait_for_the_queue(ur_queue_handle_t queue, graph_t unused)
{
    (void)unused;
    unsigned char value = 1;
    void *map;
    ur_mem_handle_t mem = cb_make_mem(64);
    UR_FAILS(urQueueFinish(queue), UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_FAILS(urEnqueueUSMMemcpy(queue, true, memory, memory + 1, 4, 0, NULL, NULL),
             UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_FAILS(urEnqueueMemBufferRead(queue, mem, true, 0, 1, &value, 0, NULL, NULL),
             UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_FAILS(urEnqueueMemBufferMap(queue, mem, true, UR_MAP_FLAG_READ, 0, 1, 0, NULL, NULL, &map),
             UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_OK(urMemRelease(mem));
}

Test(capture_errors, a_host_does_not_wait_for_a_queue_in_capture_mode)
{
    check_usable(wait_for_the_queue);
}

static void wait_for_an_event(ur_queue_handle_t queue, graph_t unused)
{
    (void)unused;
    ur_event_handle_t event;
    uint64_t time;
    ur_event_status_t status;
    ur_native_handle_t native;
    cap_mark(queue, NULL, &event);
    UR_FAILS(urEventWait(1, &event), UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_FAILS(urEventGetNativeHandle(event, &native), UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_FAILS(
        urEventGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_END, sizeof(time), &time, NULL),
        UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE);
    UR_OK(urEventGetInfo(event, UR_EVENT_INFO_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
                         NULL));
    cr_assert_eq(status, UR_EVENT_STATUS_SUBMITTED);
    UR_OK(urEventRelease(event));
}

Test(capture_errors, a_host_does_not_wait_for_an_event_of_a_capture)
{
    check_usable(wait_for_an_event);
}

static void end_on_another_queue(ur_queue_handle_t queue, graph_t unused)
{
    (void)unused;
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    graph_t ended = NULL;
    ur_event_handle_t begun, joined;
    UR_FAILS(urQueueEndGraphCaptureExp(other, &ended), UR_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING);
    cap_mark(queue, NULL, &begun);
    cap_mark(other, begun, &joined);
    UR_FAILS(urQueueEndGraphCaptureExp(other, &ended), UR_RESULT_ERROR_INVALID_OPERATION);
    UR_FAILS(urQueueEndGraphCaptureExp(queue, NULL), UR_RESULT_ERROR_INVALID_NULL_POINTER);
    cr_assert_null(ended);
    cap_mark(queue, joined, NULL);
    UR_OK(urEventRelease(begun));
    UR_OK(urEventRelease(joined));
    UR_OK(urQueueRelease(other));
}

Test(capture_errors, a_capture_ends_where_it_began)
{
    check_usable(end_on_another_queue);
}

static void use_the_graph(ur_queue_handle_t queue, graph_t graph)
{
    executable_t executable;
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    UR_FAILS(urGraphInstantiateGraphExp(graph, &executable), UR_RESULT_ERROR_INVALID_ARGUMENT);
    UR_FAILS(urQueueBeginGraphCaptureExp(queue), UR_RESULT_ERROR_INVALID_OPERATION);
    UR_FAILS(urQueueBeginCaptureIntoGraphExp(other, graph), UR_RESULT_ERROR_INVALID_OPERATION);
    cr_assert_not(cap_is_on(other));
    UR_OK(urQueueRelease(other));
}

Test(capture_errors, a_graph_that_is_captured_into_is_not_executed)
{
    check_usable(use_the_graph);
}

// A launch with too few arguments, a copy past the end.
static void enqueue_badly(ur_queue_handle_t queue, graph_t unused)
{
    (void)unused;
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, memory);
    UR_FAILS(ur_launch(queue, cb_add, ITEMS, 1, &argument, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    UR_FAILS(urEnqueueUSMMemcpy(queue, false, memory, memory, 1 << 20, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_SIZE);
}

Test(capture_errors, a_command_that_is_wrong_leaves_the_capture_as_it_was)
{
    check_usable(enqueue_badly);
}

static void map_host_storage(ur_queue_handle_t queue, graph_t unused)
{
    (void)unused;
    static unsigned char host[64];
    const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                               .pHost = host};
    ur_mem_handle_t mem;
    void *map;
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_USE_HOST_POINTER,
                            sizeof(host), &properties, &mem));
    UR_FAILS(urEnqueueMemBufferMap(queue, mem, false, UR_MAP_FLAG_READ, 0, 1, 0, NULL, NULL, &map),
             UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_OK(
        urEnqueueMemBufferMap(gear.queue, mem, true, UR_MAP_FLAG_WRITE, 0, 1, 0, NULL, NULL, &map));
    UR_FAILS(urEnqueueMemUnmap(queue, mem, map, 0, NULL, NULL),
             UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_OK(urEnqueueMemUnmap(gear.queue, mem, map, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urMemRelease(mem));
}

Test(capture_errors, a_map_of_the_hosts_own_memory_is_not_captured)
{
    check_usable(map_host_storage);
}

static void record_nothing(void *unused)
{
    (void)unused;
}

static void execute_native(ur_queue_handle_t queue, graph_t unused)
{
    (void)unused;
    buffer_t buffer = cb_make(FREE);
    UR_OK(urCommandBufferAppendNativeCommandExp(buffer, record_nothing, NULL, NULL, 0, NULL, NULL));
    UR_FAILS(urEnqueueCommandBufferExp(queue, buffer, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_OPERATION);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_FAILS(urEnqueueCommandBufferExp(queue, buffer, 0, NULL, NULL),
             UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_OK(urCommandBufferReleaseExp(buffer));
}

Test(capture_errors, a_graph_with_native_commands_is_not_captured_into_another)
{
    check_usable(execute_native);
}

// ---- Several queues ----

static void check_unjoined(bool is_explicit)
{
    ur_queue_handle_t other = ur_queue(gear.device, ANY_ORDER);
    float *floats = cb_floats(ITEMS);
    ur_event_handle_t begun;
    graph_t graph = NULL, ended = NULL;
    executable_t executable;
    bool is_empty;
    if (is_explicit)
        graph = cap_begin(gear.queue);
    else
        UR_OK(urQueueBeginGraphCaptureExp(gear.queue));
    cap_mark(gear.queue, NULL, &begun);
    cap_fill(other, floats, 1, begun, NULL);
    UR_FAILS(urQueueEndGraphCaptureExp(gear.queue, &ended), UR_RESULT_ERROR_GRAPH_UNJOINED_FORKS);
    cr_assert_null(ended);
    cr_assert_not(cap_is_on(gear.queue) || cap_is_on(other));
    if (is_explicit) {
        UR_FAILS(urGraphIsEmptyExp(graph, &is_empty), UR_RESULT_ERROR_INVALID_GRAPH);
        UR_FAILS(urGraphInstantiateGraphExp(graph, &executable), UR_RESULT_ERROR_INVALID_GRAPH);
        UR_FAILS(urQueueBeginCaptureIntoGraphExp(gear.queue, graph),
                 UR_RESULT_ERROR_INVALID_ARGUMENT);
        UR_OK(urGraphDestroyExp(graph));
    }
    // Both queues execute again.
    cap_fill(other, floats, 2, NULL, NULL);
    UR_OK(urQueueFinish(other));
    cb_expect(floats, 2);
    cap_fill(gear.queue, floats, 3, NULL, NULL);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(floats, 3);
    UR_OK(urEventRelease(begun));
    UR_OK(urQueueRelease(other));
    ur_free(floats);
}

Test(capture_errors, what_another_queue_did_last_is_waited_for)
{
    check_unjoined(true);
    check_unjoined(false);
}

Test(capture_errors, two_captures_do_not_become_one)
{
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    ur_event_handle_t event;
    graph_t first = cap_begin(gear.queue), second = cap_begin(other);
    cap_mark(other, NULL, &event);
    UR_FAILS(urEnqueueEventsWait(gear.queue, 1, &event, NULL),
             UR_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT);
    cap_end(gear.queue, first);
    cap_end(other, second);
    UR_OK(urEventRelease(event));
    cap_destroy(first, cap_instantiate(first));
    cap_destroy(second, cap_instantiate(second));
    UR_OK(urQueueRelease(other));
}

Test(capture_errors, events_of_a_graph_stay_inside)
{
    float *floats = cb_floats(ITEMS);
    ur_queue_handle_t other = ur_queue(gear.device, ANY_ORDER);
    ur_event_handle_t event;
    graph_t graph = cap_begin(gear.queue);
    cap_fill(gear.queue, floats, 1, NULL, &event);
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    UR_FAILS(urEventWait(1, &event), UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT);
    UR_FAILS(urEnqueueEventsWait(gear.queue, 1, &event, NULL),
             UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT);
    UR_FAILS(urEnqueueUSMMemcpy(other, false, floats, floats + 1, 4, 1, &event, NULL),
             UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT);
    UR_FAILS(urEnqueueGraphExp(other, executable, 1, &event, NULL),
             UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT);
    graph_t another = cap_begin(other);
    UR_FAILS(urEnqueueEventsWait(other, 1, &event, NULL), UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT);
    cap_end(other, another);
    cap_run(other, executable);
    cb_expect(floats, 1);
    UR_OK(urEventRelease(event));
    cap_destroy(graph, executable);
    UR_OK(urGraphDestroyExp(another));
    UR_OK(urQueueRelease(other));
    ur_free(floats);
}

// The host releases the queue that it captures, and another one that came to the capture.
Test(capture_errors, a_capture_ends_with_its_queue)
{
    float *floats = cb_floats(ITEMS);
    ur_queue_handle_t queue = ur_queue(gear.device, 0), other = ur_queue(gear.device, 0);
    ur_event_handle_t begun;
    bool is_empty;
    graph_t graph = cap_begin(queue);
    cap_fill(queue, floats, 1, NULL, &begun);
    cap_fill(other, floats, 1, begun, NULL);
    UR_OK(urEventRelease(begun));
    UR_OK(urQueueRelease(queue));
    cr_assert_not(cap_is_on(other));
    UR_OK(urQueueRelease(other));
    UR_FAILS(urGraphIsEmptyExp(graph, &is_empty), UR_RESULT_ERROR_INVALID_GRAPH);
    UR_OK(urGraphDestroyExp(graph));
    ur_free(floats);
    queue = ur_queue(gear.device, 0);
    UR_OK(urQueueBeginGraphCaptureExp(queue));
    UR_OK(urQueueRelease(queue));
}

// The suite's end looks for objects that are left.
static void check_own_event(ur_queue_flags_t flags)
{
    float *floats = cb_floats(ITEMS);
    bool is_empty;
    struct host_event host = host_event_make();
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    ur_event_handle_t before;
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 1, &host.event, &before));
    graph_t graph = cap_begin(queue);
    cap_fill(queue, floats, 1, before, NULL);
    UR_OK(urEventRelease(before));
    host_event_signal(&host);
    UR_OK(urQueueRelease(queue));
    UR_OK(urGraphIsEmptyExp(graph, &is_empty));
    cr_assert_not(is_empty);
    UR_OK(urGraphDestroyExp(graph));
    host_event_release(&host);
    ur_free(floats);
}

Test(capture_errors, a_capture_that_waits_for_its_own_queue_ends_with_it)
{
    check_own_event(0);
    check_own_event(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    check_own_event(UR_QUEUE_FLAG_PROFILING_ENABLE);
}

// ---- Graphs ----

Test(capture_errors, an_empty_graph_is_told_from_one_with_commands)
{
    float *floats = cb_floats(ITEMS);
    graph_t graph, asked = NULL;
    executable_t executable;
    bool is_empty;
    UR_OK(urGraphCreateExp(gear.context, &graph));
    UR_OK(urGraphIsEmptyExp(graph, &is_empty));
    cr_assert(is_empty);
    UR_FAILS(urGraphInstantiateGraphExp(graph, &executable), UR_RESULT_ERROR_INVALID_ARGUMENT);
    UR_FAILS(urQueueGetGraphExp(gear.queue, &asked), UR_RESULT_ERROR_INVALID_OPERATION);
    cr_assert_null(asked);
    UR_OK(urQueueBeginCaptureIntoGraphExp(gear.queue, graph));
    cap_end(gear.queue, graph);
    UR_OK(urGraphIsEmptyExp(graph, &is_empty));
    cr_assert(is_empty);
    // Nothing was captured: the graph takes another capture.
    UR_OK(urQueueBeginCaptureIntoGraphExp(gear.queue, graph));
    cap_fill(gear.queue, floats, 1, NULL, NULL);
    cap_end(gear.queue, graph);
    UR_FAILS(urQueueBeginCaptureIntoGraphExp(gear.queue, graph), UR_RESULT_ERROR_INVALID_ARGUMENT);
    executable = cap_instantiate(graph);
    UR_FAILS(urGraphDestroyExp(graph), UR_RESULT_ERROR_INVALID_OPERATION);
    cap_run(gear.queue, executable);
    cb_expect(floats, 1);
    cap_destroy(graph, executable);
    UR_FAILS(urGraphDestroyExp(graph), UR_RESULT_ERROR_INVALID_GRAPH);
    ur_free(floats);
}

Test(capture_errors, a_graph_that_is_executed_is_not_destroyed)
{
    float *floats = cb_floats(2 * ITEMS);
    struct host_event host = host_event_make();
    graph_t graph = cap_begin(gear.queue);
    cap_fill(gear.queue, floats, 1, NULL, NULL);
    cap_copy(gear.queue, floats + ITEMS, floats, NULL, NULL);
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    UR_OK(urEnqueueGraphExp(gear.queue, executable, 1, &host.event, NULL));
    UR_FAILS(urGraphDestroyExp(graph), UR_RESULT_ERROR_INVALID_OPERATION);
    UR_FAILS(urGraphDumpContentsExp(graph, "/no/such/folder/graph.dot"), UR_RESULT_ERROR_UNKNOWN);
    host_event_signal(&host);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(floats + ITEMS, 1);
    floats[ITEMS] = 0;
    cap_run(gear.queue, executable);
    cb_expect(floats + ITEMS, 1);
    cap_destroy(graph, executable);
    host_event_release(&host);
    ur_free(floats);
}

Test(capture_errors, ids_rise)
{
    uint64_t last = 0, id;
    for (int i = 0; i < 5; i++) {
        graph_t graph;
        UR_OK(urGraphCreateExp(gear.context, &graph));
        UR_OK(urGraphGetIdExp(graph, &id));
        cr_assert_gt(id, last);
        last = id;
        UR_FAILS(urGraphGetIdExp(graph, NULL), UR_RESULT_ERROR_INVALID_NULL_POINTER);
        UR_OK(urGraphDestroyExp(graph));
    }
}

static void count_call(void *data)
{
    ++*(int *)data;
}

Test(capture_errors, callbacks_are_called_as_the_graph_is_destroyed)
{
    int calls = 0;
    ur_event_handle_t event;
    graph_t graph = cap_begin(gear.queue);
    cap_mark(gear.queue, NULL, &event);
    cap_end(gear.queue, graph);
    UR_OK(urGraphSetDestructionCallbackExp(graph, count_call, &calls));
    UR_OK(urGraphSetDestructionCallbackExp(graph, count_call, &calls));
    UR_FAILS(urGraphSetDestructionCallbackExp(graph, NULL, NULL),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    cr_assert_eq(calls, 0);
    // An event of the capture does not hold the graph.
    UR_OK(urGraphDestroyExp(graph));
    cr_assert_eq(calls, 2);
    UR_OK(urEventRelease(event));
}

Test(capture_errors, level_zero_does_not_know_the_graph)
{
    ur_native_handle_t native;
    graph_t graph = cap_begin(gear.queue);
    cap_mark(gear.queue, NULL, NULL);
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    UR_FAILS(urGraphGetNativeHandleExp(graph, &native), UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    UR_FAILS(urGraphExecutableGraphGetNativeHandleExp(executable, &native),
             UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    UR_FAILS(urGraphGetNativeHandleExp(graph, NULL), UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urGraphExecutableGraphGetNativeHandleExp((executable_t)graph, &native),
             UR_RESULT_ERROR_INVALID_GRAPH);
    cap_destroy(graph, executable);
}

Test(capture_devices, a_queue_of_another_device_takes_no_part)
{
    ur_event_handle_t begun;
    ur_queue_handle_t other = ur_queue(gear.devices[1], 0);
    graph_t graph = cap_begin(gear.queue);
    cap_mark(gear.queue, NULL, &begun);
    UR_FAILS(urEnqueueEventsWait(other, 1, &begun, NULL),
             UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    cr_assert_not(cap_is_on(other));
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    UR_FAILS(urEnqueueGraphExp(other, executable, 0, NULL, NULL), UR_RESULT_ERROR_INVALID_QUEUE);
    UR_OK(urEventRelease(begun));
    cap_destroy(graph, executable);
    UR_OK(urQueueRelease(other));
}

// A capture that did not begin leaves a graph as it was: of no device yet, and without commands.
Test(capture_devices, a_graph_is_of_the_device_where_its_capture_began)
{
    ur_queue_handle_t other = ur_queue(gear.devices[1], 0);
    graph_t first = cap_begin(gear.queue), second;
    UR_OK(urGraphCreateExp(gear.context, &second));
    UR_FAILS(urQueueBeginCaptureIntoGraphExp(gear.queue, second),
             UR_RESULT_ERROR_INVALID_OPERATION);
    UR_OK(urQueueBeginCaptureIntoGraphExp(other, second));
    cap_end(other, second);
    // What it captured, which is nothing, it still has.
    UR_FAILS(urQueueBeginCaptureIntoGraphExp(gear.queue, first), UR_RESULT_ERROR_INVALID_OPERATION);
    cap_end(gear.queue, first);
    ur_queue_handle_t busy = ur_queue(gear.device, 0);
    graph_t third = cap_begin(busy);
    UR_FAILS(urQueueBeginCaptureIntoGraphExp(busy, first), UR_RESULT_ERROR_INVALID_OPERATION);
    cap_end(busy, third);
    cap_destroy(first, cap_instantiate(first));
    cap_destroy(second, cap_instantiate(second));
    UR_OK(urGraphDestroyExp(third));
    UR_OK(urQueueRelease(busy));
    UR_OK(urQueueRelease(other));
}

// ---- Dumps ----

Test(capture_errors, a_dump_names_kernels_sizes_and_edges)
{
    float *floats = cb_floats(3 * ITEMS);
    graph_t graph = cap_begin(gear.queue);
    cap_fill(gear.queue, floats, 1, NULL, NULL);
    cap_add(gear.queue, floats + ITEMS, floats, floats, NULL, NULL);
    cap_end(gear.queue, graph);
    const char *path = test_env_scratch_path("graph.dot");
    UR_OK(urGraphDumpContentsExp(graph, path));
    struct test_bytes bytes = test_env_read_file(path);
    char *text = strndup((const char *)bytes.data, bytes.size_bytes);
    char address[32];
    snprintf(address, sizeof(address), "argument 2: %p", (void *)(floats + ITEMS));
    for (const char *const *words =
             (const char *const[]){"digraph", "fill of 256 bytes", "launch vector_add",
                                   "global size 64", address, "c0 -> c1", NULL};
         *words; words++)
        cr_assert(strstr(text, *words), "'%s' is not in %s", *words, text);
    free(text);
    free(bytes.data);
    UR_FAILS(urGraphDumpContentsExp(graph, "/no/such/folder/graph.dot"), UR_RESULT_ERROR_UNKNOWN);
    UR_FAILS(urGraphDumpContentsExp(graph, NULL), UR_RESULT_ERROR_INVALID_NULL_POINTER);
    cap_destroy(graph, cap_instantiate(graph));
    UR_OK(urGraphCreateExp(gear.context, &graph));
    UR_OK(urGraphDumpContentsExp(graph, path));
    UR_OK(urGraphDestroyExp(graph));
    ur_free(floats);
}

Test(capture_errors, the_device_has_it)
{
    ur_bool_t has;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP,
                          sizeof(has), &has, NULL));
    cr_assert(has);
}
