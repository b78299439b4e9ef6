// SPDX-License-Identifier: MIT
// Functions of captured graphs: what ur_api.h says of each call.
#include "capture_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(capture_calls, .init = cb_set_up, .fini = cb_tear_down);

// Of one fill of the memory with ones.
static graph_t graph_of_fill(float *memory)
{
    graph_t graph = cap_begin(gear.queue);
    cap_fill(gear.queue, memory, 1, NULL, NULL);
    cap_end(gear.queue, graph);
    return graph;
}

static void call_nothing(void *unused)
{
    (void)unused;
}

// ---- Handles and pointers ----

Test(capture_calls, null_handles_are_told)
{
    graph_t graph;
    executable_t executable;
    ur_native_handle_t native;
    uint64_t id;
    bool flag;
    float *memory = cb_floats(ITEMS);
    graph_t captured = graph_of_fill(memory);
    executable = cap_instantiate(captured);
    const ur_result_t expected = UR_RESULT_ERROR_INVALID_NULL_HANDLE;
    UR_FAILS(urGraphCreateExp(NULL, &graph), expected);
    UR_FAILS(urQueueBeginGraphCaptureExp(NULL), expected);
    UR_FAILS(urQueueBeginCaptureIntoGraphExp(NULL, captured), expected);
    UR_FAILS(urQueueBeginCaptureIntoGraphExp(gear.queue, NULL), expected);
    UR_FAILS(urQueueEndGraphCaptureExp(NULL, &graph), expected);
    UR_FAILS(urQueueIsGraphCaptureEnabledExp(NULL, &flag), expected);
    UR_FAILS(urQueueGetGraphExp(NULL, &graph), expected);
    UR_FAILS(urEnqueueGraphExp(NULL, executable, 0, NULL, NULL), expected);
    UR_FAILS(urEnqueueGraphExp(gear.queue, NULL, 0, NULL, NULL), expected);
    cap_destroy(captured, executable);
    UR_FAILS(urGraphInstantiateGraphExp(NULL, &executable), expected);
    UR_FAILS(urGraphDestroyExp(NULL), expected);
    UR_FAILS(urGraphExecutableGraphDestroyExp(NULL), expected);
    UR_FAILS(urGraphIsEmptyExp(NULL, &flag), expected);
    UR_FAILS(urGraphGetIdExp(NULL, &id), expected);
    UR_FAILS(urGraphSetDestructionCallbackExp(NULL, call_nothing, NULL), expected);
    UR_FAILS(urGraphDumpContentsExp(NULL, "/dev/null"), expected);
    UR_FAILS(urGraphGetNativeHandleExp(NULL, &native), expected);
    UR_FAILS(urGraphExecutableGraphGetNativeHandleExp(NULL, &native), expected);
    ur_free(memory);
}

Test(capture_calls, null_pointers_are_told)
{
    float *memory = cb_floats(ITEMS);
    graph_t graph = graph_of_fill(memory);
    executable_t executable = cap_instantiate(graph);
    const ur_result_t expected = UR_RESULT_ERROR_INVALID_NULL_POINTER;
    UR_FAILS(urGraphCreateExp(gear.context, NULL), expected);
    UR_FAILS(urQueueEndGraphCaptureExp(gear.queue, NULL), expected);
    UR_FAILS(urQueueIsGraphCaptureEnabledExp(gear.queue, NULL), expected);
    UR_FAILS(urQueueGetGraphExp(gear.queue, NULL), expected);
    UR_FAILS(urGraphInstantiateGraphExp(graph, NULL), expected);
    UR_FAILS(urGraphIsEmptyExp(graph, NULL), expected);
    UR_FAILS(urGraphExecutableGraphGetNativeHandleExp(executable, NULL), expected);
    cap_run(gear.queue, executable);
    cb_expect(memory, 1);
    cap_destroy(graph, executable);
    ur_free(memory);
}

Test(capture_calls, handles_of_other_objects_are_told)
{
    float *memory = cb_floats(ITEMS);
    graph_t graph = graph_of_fill(memory), unused;
    executable_t executable = cap_instantiate(graph), other;
    const graph_t no_graph = (graph_t)executable;
    const executable_t no_executable = (executable_t)graph;
    const ur_result_t expected = UR_RESULT_ERROR_INVALID_GRAPH;
    UR_FAILS(urQueueBeginCaptureIntoGraphExp(gear.queue, no_graph), expected);
    UR_FAILS(urGraphInstantiateGraphExp(no_graph, &other), expected);
    UR_FAILS(urGraphDestroyExp(no_graph), expected);
    UR_FAILS(urGraphDumpContentsExp(no_graph, "/dev/null"), expected);
    UR_FAILS(urGraphSetDestructionCallbackExp(no_graph, call_nothing, NULL), expected);
    UR_FAILS(urGraphExecutableGraphDestroyExp(no_executable), expected);
    UR_FAILS(urEnqueueGraphExp(gear.queue, no_executable, 0, NULL, NULL), expected);
    UR_FAILS(urQueueGetGraphExp((ur_queue_handle_t)graph, &unused), UR_RESULT_ERROR_INVALID_QUEUE);
    cap_run(gear.queue, executable);
    cb_expect(memory, 1);
    cap_destroy(graph, executable);
    ur_free(memory);
}

static void check_wait_lists(executable_t executable, ur_event_handle_t event)
{
    const ur_event_handle_t no_event = (ur_event_handle_t)executable, null = NULL;
    const ur_result_t expected = UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST;
    UR_FAILS(urEnqueueGraphExp(gear.queue, executable, 1, NULL, NULL), expected);
    UR_FAILS(urEnqueueGraphExp(gear.queue, executable, 0, &event, NULL), expected);
    UR_FAILS(urEnqueueGraphExp(gear.queue, executable, 1, &no_event, NULL), expected);
    UR_FAILS(urEnqueueGraphExp(gear.queue, executable, 1, &null, NULL), expected);
}

Test(capture_calls, wait_lists_of_executions_are_checked)
{
    float *memory = cb_floats(2 * ITEMS);
    ur_event_handle_t event;
    graph_t graph = graph_of_fill(memory);
    executable_t executable = cap_instantiate(graph);
    cap_mark(gear.queue, NULL, &event);
    UR_OK(urQueueFinish(gear.queue));
    check_wait_lists(executable, event);
    UR_OK(urQueueFinish(gear.queue)); // for what would have been executed
    cb_expect(memory, 0);
    graph_t outer = cap_begin(gear.queue);
    check_wait_lists(executable, event);
    cap_fill(gear.queue, memory + ITEMS, 2, NULL, NULL);
    cap_end(gear.queue, outer);
    executable_t outer_executable = cap_instantiate(outer);
    cap_run(gear.queue, outer_executable);
    cb_expect(memory, 0);
    cb_expect(memory + ITEMS, 2);
    UR_OK(urEventRelease(event));
    cap_destroy(outer, outer_executable);
    cap_destroy(graph, executable);
    ur_free(memory);
}

// Set to NULL, whatever it was.
Test(capture_calls, a_queue_that_captures_nothing_has_no_graph)
{
    graph_t asked = (graph_t)&asked;
    UR_FAILS(urQueueGetGraphExp(gear.queue, &asked), UR_RESULT_ERROR_INVALID_OPERATION);
    cr_assert_null(asked);
    graph_t graph = cap_begin(gear.queue);
    UR_OK(urQueueGetGraphExp(gear.queue, &asked));
    cr_assert_eq(asked, graph);
    cap_end(gear.queue, graph);
    UR_FAILS(urQueueGetGraphExp(gear.queue, &asked), UR_RESULT_ERROR_INVALID_OPERATION);
    cr_assert_null(asked);
    UR_OK(urGraphDestroyExp(graph));
}

Test(capture_calls, ids_of_all_graphs_rise)
{
    uint64_t first, second, third;
    graph_t explicit_graph, implicit_graph, last;
    UR_OK(urGraphCreateExp(gear.context, &explicit_graph));
    UR_OK(urQueueBeginGraphCaptureExp(gear.queue));
    UR_OK(urQueueEndGraphCaptureExp(gear.queue, &implicit_graph));
    UR_OK(urGraphGetIdExp(explicit_graph, &first));
    UR_OK(urGraphGetIdExp(implicit_graph, &second));
    UR_OK(urGraphDestroyExp(explicit_graph));
    UR_OK(urGraphDestroyExp(implicit_graph));
    UR_OK(urGraphCreateExp(gear.context, &last));
    UR_OK(urGraphGetIdExp(last, &third));
    cr_assert(first < second && second < third);
    UR_OK(urGraphDestroyExp(last));
}

// ---- The end of graphs ----

struct call {
    int count;
    const volatile float *memory;
    float seen;
};

static void note_call(void *data)
{
    struct call *call = data;
    call->count++;
    call->seen = call->memory ? *call->memory : 0;
}

// The destruction waits for the execution; the callback finds its results.
Test(capture_calls, callbacks_come_after_the_last_execution)
{
    float *memory = cb_floats(ITEMS);
    struct host_event host = host_event_make();
    struct call first = {0, memory, 0}, second = {0, memory, 0};
    ur_event_handle_t done;
    graph_t graph = graph_of_fill(memory);
    UR_OK(urGraphSetDestructionCallbackExp(graph, note_call, &first));
    UR_OK(urGraphSetDestructionCallbackExp(graph, note_call, &second));
    UR_OK(urGraphSetDestructionCallbackExp(graph, call_nothing, NULL));
    executable_t executable = cap_instantiate(graph);
    UR_OK(urEnqueueGraphExp(gear.queue, executable, 1, &host.event, &done));
    UR_OK(urGraphExecutableGraphDestroyExp(executable));
    cr_assert_eq(first.count + second.count, 0);
    host_event_signal(&host);
    UR_OK(urGraphDestroyExp(graph));
    cr_assert(first.count == 1 && second.count == 1);
    cr_assert(first.seen == 1 && second.seen == 1);
    // The event outlives the graph.
    UR_OK(urEventWait(1, &done));
    UR_OK(urEventRelease(done));
    host_event_release(&host);
    ur_free(memory);
}

// The host has no handle to destroy: the graph goes as its capture fails.
Test(capture_calls, callbacks_come_for_a_graph_whose_capture_fails)
{
    struct call call = {0};
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    ur_event_handle_t begun;
    graph_t graph;
    UR_OK(urQueueBeginGraphCaptureExp(gear.queue));
    UR_OK(urQueueGetGraphExp(gear.queue, &graph));
    UR_OK(urGraphSetDestructionCallbackExp(graph, note_call, &call));
    cap_mark(gear.queue, NULL, &begun);
    cap_mark(other, begun, NULL);
    cr_assert_eq(call.count, 0);
    UR_FAILS(urQueueEndGraphCaptureExp(gear.queue, &graph), UR_RESULT_ERROR_GRAPH_UNJOINED_FORKS);
    UR_OK(urEventRelease(begun));
    UR_OK(urQueueRelease(other));
    cr_assert_eq(call.count, 1);
}

// Of a graph that the host made, or that the capture made for it, with a fork to another queue.
static void destroy_while_capturing(ur_queue_flags_t flags, bool is_implicit)
{
    struct call call = {0};
    ur_queue_handle_t queue = ur_queue(gear.device, flags), other = ur_queue(gear.device, flags);
    float *memory = cb_floats(2 * ITEMS);
    ur_event_handle_t filled;
    graph_t graph, ended = NULL;
    if (is_implicit) {
        UR_OK(urQueueBeginGraphCaptureExp(queue));
        UR_OK(urQueueGetGraphExp(queue, &graph));
    } else {
        graph = cap_begin(queue);
    }
    UR_OK(urGraphSetDestructionCallbackExp(graph, note_call, &call));
    cap_fill(queue, memory, 1, NULL, &filled);
    cap_copy(other, memory + ITEMS, memory, filled, NULL);
    cr_assert(cap_is_on(queue) && cap_is_on(other));
    UR_OK(urGraphDestroyExp(graph));
    cr_assert_eq(call.count, 1);
    UR_FAILS(urGraphDestroyExp(graph), UR_RESULT_ERROR_INVALID_GRAPH);
    cr_assert_not(cap_is_on(queue) || cap_is_on(other));
    UR_FAILS(urQueueEndGraphCaptureExp(queue, &ended), UR_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING);
    UR_OK(urQueueFinish(queue)); // for what would have been executed
    UR_OK(urQueueFinish(other));
    cb_expect(memory, 0);
    // Both queues execute again.
    cap_fill(queue, memory, 2, NULL, NULL);
    UR_OK(urQueueFinish(queue));
    cap_copy(other, memory + ITEMS, memory, NULL, NULL);
    UR_OK(urQueueFinish(other));
    cb_expect(memory + ITEMS, 2);
    UR_OK(urEventRelease(filled));
    UR_OK(urQueueRelease(queue));
    UR_OK(urQueueRelease(other));
    ur_free(memory);
}

Test(capture_calls, a_capture_ends_as_its_graph_is_destroyed)
{
    for (int is_implicit = 0; is_implicit < 2; is_implicit++) {
        destroy_while_capturing(0, is_implicit);
        destroy_while_capturing(ANY_ORDER, is_implicit);
    }
}

// A capture of another queue, and of another graph, goes on.
Test(capture_calls, a_capture_does_not_end_as_another_graph_is_destroyed)
{
    ur_queue_handle_t queue = ur_queue(gear.device, 0);
    float *memory = cb_floats(ITEMS);
    graph_t graph = cap_begin(gear.queue), destroyed = cap_begin(queue);
    UR_OK(urGraphDestroyExp(destroyed));
    cr_assert(cap_is_on(gear.queue) && !cap_is_on(queue));
    cap_fill(gear.queue, memory, 1, NULL, NULL);
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    cap_run(gear.queue, executable);
    cb_expect(memory, 1);
    cap_destroy(graph, executable);
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}

// Also while they run, and one made after another one went.
static void check_executables(int first_to_go)
{
    float *memory = cb_floats(ITEMS);
    struct host_event host = host_event_make();
    ur_queue_handle_t queue = ur_queue(gear.device, 0);
    graph_t graph = graph_of_fill(memory);
    executable_t executables[2] = {cap_instantiate(graph), cap_instantiate(graph)};
    for (int i = 0; i < 2; i++)
        UR_OK(urEnqueueGraphExp(queue, executables[i], 1, &host.event, NULL));
    UR_OK(urGraphExecutableGraphDestroyExp(executables[first_to_go]));
    UR_FAILS(urGraphDestroyExp(graph), UR_RESULT_ERROR_INVALID_OPERATION);
    UR_OK(urGraphExecutableGraphDestroyExp(executables[1 - first_to_go]));
    UR_FAILS(urGraphExecutableGraphDestroyExp(executables[first_to_go]),
             UR_RESULT_ERROR_INVALID_GRAPH);
    host_event_signal(&host);
    UR_OK(urQueueFinish(queue));
    cb_expect(memory, 1);
    memory[0] = 0;
    executable_t again = cap_instantiate(graph);
    cap_run(queue, again);
    UR_OK(urQueueRelease(queue));
    cb_expect(memory, 1);
    cap_destroy(graph, again);
    host_event_release(&host);
    ur_free(memory);
}

Test(capture_calls, executable_graphs_go_in_any_order)
{
    check_executables(0);
    check_executables(1);
}

// It still waits, and has an event.
Test(capture_calls, a_graph_of_nothing_is_executed)
{
    struct host_event host = host_event_make();
    ur_event_handle_t done;
    graph_t graph = cap_begin(gear.queue);
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    UR_OK(urEnqueueGraphExp(gear.queue, executable, 1, &host.event, &done));
    ur_expect_held_up(done);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &done));
    UR_OK(urEventRelease(done));
    cap_destroy(graph, executable);
    host_event_release(&host);
}

// ---- What a capture takes ----

// Of another queue, which it would bring into the capture.
Test(capture_calls, a_command_that_is_refused_brings_no_queue_into_the_capture)
{
    float *memory = cb_floats(2 * ITEMS);
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    ur_event_handle_t begun;
    void *allocated;
    graph_t graph = cap_begin(gear.queue);
    cap_mark(gear.queue, NULL, &begun);
    UR_FAILS(urEnqueueUSMMemcpy(other, true, memory, memory + ITEMS, 4, 1, &begun, NULL),
             UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_FAILS(urEnqueueUSMDeviceAllocExp(other, NULL, 64, NULL, 1, &begun, &allocated, NULL),
             UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_FAILS(urEnqueueUSMFreeExp(other, NULL, memory, 1, &begun, NULL),
             UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_FAILS(urEnqueueUSMMemcpy(other, false, memory, memory, 1 << 20, 1, &begun, NULL),
             UR_RESULT_ERROR_INVALID_SIZE);
    cr_assert_not(cap_is_on(other));
    cap_fill(other, memory, 5, NULL, NULL);
    UR_OK(urQueueFinish(other));
    cb_expect(memory, 5);
    cap_end(gear.queue, graph);
    UR_FAILS(urEnqueueUSMDeviceAllocExp(other, NULL, 64, NULL, 1, &begun, &allocated, NULL),
             UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT);
    UR_FAILS(urEnqueueUSMMemcpy(other, true, memory, memory + ITEMS, 4, 1, &begun, NULL),
             UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT);
    UR_OK(urEventRelease(begun));
    UR_OK(urQueueRelease(other));
    cap_destroy(graph, cap_instantiate(graph));
    ur_free(memory);
}

Test(capture_calls, a_flush_changes_nothing)
{
    float *memory = cb_floats(ITEMS);
    graph_t graph = cap_begin(gear.queue);
    cap_fill(gear.queue, memory, 1, NULL, NULL);
    UR_OK(urQueueFlush(gear.queue));
    cr_assert(cap_is_on(gear.queue));
    cb_expect_unwritten(memory);
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    cap_run(gear.queue, executable);
    cb_expect(memory, 1);
    cap_destroy(graph, executable);
    ur_free(memory);
}

// Executions would wait for the first event, which the host does not signal until they are over.
Test(capture_calls, a_wait_list_that_is_refused_leaves_no_wait)
{
    float *memory = cb_floats(ITEMS);
    struct host_event host = host_event_make();
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    ur_event_handle_t done, events[] = {host.event, NULL};
    graph_t graph = cap_begin(gear.queue), second = cap_begin(other);
    cap_mark(other, NULL, &events[1]);
    UR_FAILS(urEnqueueEventsWait(gear.queue, 2, events, NULL),
             UR_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT);
    cap_end(other, second);
    UR_FAILS(urEnqueueEventsWaitWithBarrier(gear.queue, 2, events, NULL),
             UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT);
    cap_fill(gear.queue, memory, 1, NULL, NULL);
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    UR_OK(urEnqueueGraphExp(gear.queue, executable, 0, NULL, &done));
    for (int i = 0; i < 1000 && ur_event_status(done) != UR_EVENT_STATUS_COMPLETE; i++)
        usleep(10000);
    cr_assert_eq(ur_event_status(done), UR_EVENT_STATUS_COMPLETE);
    cb_expect(memory, 1);
    host_event_signal(&host);
    UR_OK(urEventRelease(events[1]));
    UR_OK(urEventRelease(done));
    cap_destroy(graph, executable);
    UR_OK(urGraphDestroyExp(second));
    UR_OK(urQueueRelease(other));
    host_event_release(&host);
    ur_free(memory);
}

// The last rows lie behind the end of the memory.
Test(capture_calls, a_fill_that_is_wrong_leaves_the_capture_as_it_was)
{
    static const unsigned char pattern[] = {1, 2, 3, 4, 5, 6, 7, 8};
    float *memory = cb_floats(ITEMS);
    bool is_empty;
    graph_t graph = cap_begin(gear.queue);
    UR_FAILS(urEnqueueUSMFill2D(gear.queue, memory, 32, sizeof(pattern), pattern, 12, 1 << 16, 0,
                                NULL, NULL),
             UR_RESULT_ERROR_INVALID_SIZE);
    UR_FAILS(urEnqueueUSMFill(gear.queue, memory, 3, pattern, 3 << 16, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_SIZE);
    UR_OK(urGraphIsEmptyExp(graph, &is_empty));
    cr_assert(is_empty);
    cap_fill(gear.queue, memory, 1, NULL, NULL);
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    cap_run(gear.queue, executable);
    cb_expect(memory, 1);
    cap_destroy(graph, executable);
    ur_free(memory);
}

static void end_capture(ur_queue_handle_t queue, void *graph)
{
    cap_end(queue, graph);
}

// The capture is over as the command gets its place.
Test(capture_calls, a_command_that_comes_too_late_is_invalid)
{
    float *memory = cb_floats(ITEMS);
    graph_t graph = cap_begin(gear.queue);
    cap_fill(gear.queue, memory, 1, NULL, NULL);
    UR_FAILS(
        urEnqueueNativeCommandExp(gear.queue, end_capture, graph, 0, NULL, NULL, 0, NULL, NULL),
        UR_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED);
    executable_t executable = cap_instantiate(graph);
    cap_run(gear.queue, executable);
    cb_expect(memory, 1);
    cap_destroy(graph, executable);
    ur_free(memory);
}

// ---- Dumps ----

static int count_of(const char *text, const char *words)
{
    int count = 0;
    for (const char *at = strstr(text, words); at; at = strstr(at + 1, words))
        count++;
    return count;
}

// The queue demands the same wait as the event, and the list has it twice.
Test(capture_calls, a_dump_has_each_edge_once)
{
    float *memory = cb_floats(3 * ITEMS);
    ur_event_handle_t begun, events[2];
    ur_queue_handle_t other = ur_queue(gear.device, ANY_ORDER);
    graph_t graph = cap_begin(gear.queue);
    cap_fill(gear.queue, memory, 1, NULL, &begun);
    cap_fill(other, memory + ITEMS, 1, begun, &events[0]);
    events[1] = events[0];
    UR_OK(urEnqueueEventsWait(gear.queue, 2, events, NULL));
    cap_fill(gear.queue, memory, 1, begun, NULL);
    char *during = cap_dump(graph);
    cap_end(gear.queue, graph);
    char *text = cap_dump(graph);
    cr_assert_str_eq(text, during);
    for (const char *const *edges = (const char *const[]){"c0 -> c1;", "c0 -> c2;", "c1 -> c2;",
                                                          "c2 -> c3;", "c0 -> c3;", NULL};
         *edges; edges++)
        cr_assert_eq(count_of(text, *edges), 1, "'%s' in %s", *edges, text);
    cr_assert_eq(count_of(text, " -> "), 5, "%s", text);
    cr_assert_eq(count_of(text, "[label="), 4, "%s", text);
    free(during);
    free(text);
    UR_OK(urEventRelease(begun));
    UR_OK(urEventRelease(events[0]));
    UR_OK(urGraphDestroyExp(graph));
    UR_OK(urQueueRelease(other));
    ur_free(memory);
}

// A capture of nothing leaves no order behind.
Test(capture_calls, a_dump_of_a_capture_that_goes_on_has_its_edges)
{
    float *memory = cb_floats(2 * ITEMS);
    ur_queue_handle_t queue = ur_queue(gear.device, ANY_ORDER);
    graph_t graph = cap_begin(gear.queue);
    cap_end(gear.queue, graph);
    UR_OK(urQueueBeginCaptureIntoGraphExp(queue, graph));
    cap_fill(queue, memory, 1, NULL, NULL);
    cap_fill(queue, memory + ITEMS, 1, NULL, NULL);
    char *during = cap_dump(graph);
    cap_end(queue, graph);
    char *text = cap_dump(graph);
    cr_assert_eq(count_of(during, "[label="), 2, "%s", during);
    cr_assert_eq(count_of(during, " -> "), 0, "%s", during);
    cr_assert_str_eq(text, during);
    free(during);
    free(text);
    UR_OK(urGraphDestroyExp(graph));
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}

// vector_add under a name with quotes and a backslash.
static ur_kernel_handle_t quoted_kernel(void)
{
    const char *path = test_env_scratch_path("quoted.spv");
    struct test_bytes spirv = test_env_read_file(test_env_spirv_path("vector_add"));
    for (size_t i = 0; i + 10 <= spirv.size_bytes; i++) {
        if (memcmp(spirv.data + i, "vector_add", 10) == 0)
            memcpy(spirv.data + i, "vec\"or\\add", 10);
    }
    FILE *file = fopen(path, "we");
    cr_assert(file && fwrite(spirv.data, 1, spirv.size_bytes, file) == spirv.size_bytes);
    fclose(file);
    free(spirv.data);
    ur_kernel_handle_t kernel;
    ur_program_handle_t program = ur_input_file(path);
    UR_OK(urProgramBuild(gear.context, program, NULL));
    UR_OK(urKernelCreate(program, "vec\"or\\add", &kernel));
    UR_OK(urProgramRelease(program));
    return kernel;
}

Test(capture_calls, a_dump_quotes_names)
{
    float *memory = cb_floats(ITEMS);
    ur_kernel_handle_t kernel = quoted_kernel();
    const ur_exp_kernel_arg_properties_t arguments[] = {
        UR_POINTER(0, memory), UR_POINTER(1, memory), UR_POINTER(2, memory)};
    graph_t graph = cap_begin(gear.queue);
    UR_OK(ur_launch(gear.queue, kernel, ITEMS, 3, arguments, 0, NULL, NULL));
    cap_end(gear.queue, graph);
    cap_expect_dump(graph, "launch vec\\\"or\\\\add\\n");
    UR_OK(urGraphDestroyExp(graph));
    UR_OK(urKernelRelease(kernel));
    ur_free(memory);
}

// Values as numbers up to 8 bytes, and sizes of groups that the host chose.
Test(capture_calls, a_dump_shows_arguments_of_each_kind)
{
    static const size_t global = 64, group = 16;
    const struct {
        long values[12];
    } wide = {{7}};
    long *memory = ur_shared(64 * sizeof(long));
    ur_kernel_handle_t sum_groups = ur_kernel("arguments", "sum_groups");
    ur_kernel_handle_t sum_wide = ur_kernel("arguments", "sum_wide");
    const ur_exp_kernel_arg_properties_t groups[] = {
        UR_POINTER(0, memory), UR_LOCAL(1, 16 * sizeof(int)), UR_POINTER(2, NULL)};
    const ur_exp_kernel_arg_properties_t values[] = {UR_VALUE(0, wide), UR_POINTER(1, memory)};
    graph_t graph = cap_begin(gear.queue);
    UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, sum_groups, 1, NULL, &global, &group, 3,
                                           groups, NULL, 0, NULL, NULL));
    UR_OK(ur_launch(gear.queue, sum_wide, 1, 2, values, 0, NULL, NULL));
    cap_end(gear.queue, graph);
    cap_expect_dump(graph, "launch sum_groups\\nglobal size 64\\ngroup size 16\\n");
    cap_expect_dump(graph, "argument 1: 64 bytes of local memory\\nargument 2: (nil)");
    cap_expect_dump(graph, "argument 0: 96 bytes\\n");
    UR_OK(urGraphDestroyExp(graph));
    UR_OK(urKernelRelease(sum_groups));
    UR_OK(urKernelRelease(sum_wide));
    ur_free(memory);
}

Test(capture_calls, a_dump_that_cannot_be_written_leaves_the_graph)
{
    static const char *const paths[] = {"/no/such/folder/graph.dot", "/", "", "/dev/full"};
    float *memory = cb_floats(ITEMS);
    graph_t graph = graph_of_fill(memory);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        UR_FAILS(urGraphDumpContentsExp(graph, paths[i]), UR_RESULT_ERROR_UNKNOWN);
    executable_t executable = cap_instantiate(graph);
    cap_run(gear.queue, executable);
    cb_expect(memory, 1);
    cap_destroy(graph, executable);
    ur_free(memory);
}
