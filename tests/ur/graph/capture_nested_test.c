// SPDX-License-Identifier: MIT
// Executions of graphs on queues in capture mode: the commands become part of the capture.
#include "capture_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(capture_nested, .init = cb_set_up, .fini = cb_tear_down);

enum { A, B, C, SUM, TOTAL, VECTORS };

static float *memory;

static float *vector(int index)
{
    return memory + (size_t)index * ITEMS;
}

// b = c = a + a, and sum = b + c, with no order between the first two but that of the queue.
static graph_t capture_inner(ur_queue_flags_t flags)
{
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    ur_event_handle_t joined[2];
    graph_t graph = cap_begin(queue);
    cap_add(queue, vector(B), vector(A), vector(A), NULL, &joined[0]);
    cap_add(queue, vector(C), vector(A), vector(A), NULL, &joined[1]);
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 2, joined, NULL));
    cap_add(queue, vector(SUM), vector(B), vector(C), NULL, NULL);
    cap_end(queue, graph);
    for (int i = 0; i < 2; i++)
        UR_OK(urEventRelease(joined[i]));
    UR_OK(urQueueRelease(queue));
    return graph;
}

// a = value; the graph; total += sum. A queue of any order has events, and a barrier.
static void enqueue_round(ur_queue_handle_t queue, executable_t inner, float value)
{
    ur_event_handle_t filled, done;
    cap_fill(queue, vector(A), value, NULL, &filled);
    UR_OK(urEnqueueGraphExp(queue, inner, 1, &filled, &done));
    cap_add(queue, vector(TOTAL), vector(TOTAL), vector(SUM), done, NULL);
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 0, NULL, NULL));
    UR_OK(urEventRelease(filled));
    UR_OK(urEventRelease(done));
}

static void check_nested(ur_queue_flags_t outer_flags, ur_queue_flags_t inner_flags)
{
    ur_queue_handle_t queue = ur_queue(gear.device, outer_flags);
    memory = cb_floats(VECTORS * ITEMS);
    graph_t inner = capture_inner(inner_flags);
    executable_t inner_executable = cap_instantiate(inner);
    graph_t outer = cap_begin(queue);
    enqueue_round(queue, inner_executable, 1);
    enqueue_round(queue, inner_executable, 2);
    cap_end(queue, outer);
    cap_destroy(inner, inner_executable);
    UR_OK(urQueueFinish(queue)); // for what would have been executed
    cb_expect(vector(SUM), 0);
    executable_t executable = cap_instantiate(outer);
    for (int i = 1; i <= 3; i++) {
        cap_run(queue, executable);
        cb_expect(vector(SUM), 8);
        cb_expect(vector(TOTAL), 12 * (float)i);
    }
    cap_destroy(outer, executable);
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}

Test(capture_nested, graphs_replay_their_commands_in_the_graph)
{
    check_nested(0, 0);
    check_nested(0, ANY_ORDER);
    check_nested(ANY_ORDER, 0);
    check_nested(ANY_ORDER, ANY_ORDER);
}

// The barrier and the last fill wait for a graph that has no event.
Test(capture_nested, graphs_are_waited_for_by_barriers)
{
    ur_queue_handle_t queue = ur_queue(gear.device, ANY_ORDER);
    memory = cb_floats(VECTORS * ITEMS);
    graph_t inner = capture_inner(ANY_ORDER);
    executable_t inner_executable = cap_instantiate(inner);
    graph_t outer = cap_begin(queue);
    cap_fill(queue, vector(A), 1, NULL, NULL);
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 0, NULL, NULL));
    UR_OK(urEnqueueGraphExp(queue, inner_executable, 0, NULL, NULL));
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 0, NULL, NULL));
    cap_add(queue, vector(TOTAL), vector(TOTAL), vector(SUM), NULL, NULL);
    cap_end(queue, outer);
    executable_t executable = cap_instantiate(outer);
    for (int i = 1; i <= 3; i++) {
        cap_run(queue, executable);
        cb_expect(vector(TOTAL), 4 * (float)i);
    }
    cap_destroy(outer, executable);
    cap_destroy(inner, inner_executable);
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}

// On a queue that comes to the capture with it.
Test(capture_nested, graphs_bring_queues_into_the_capture)
{
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    ur_event_handle_t filled, done;
    memory = cb_floats(VECTORS * ITEMS);
    graph_t inner = capture_inner(0);
    executable_t inner_executable = cap_instantiate(inner);
    graph_t outer = cap_begin(gear.queue);
    cap_fill(gear.queue, vector(A), 3, NULL, &filled);
    UR_OK(urEnqueueGraphExp(other, inner_executable, 1, &filled, &done));
    cr_assert(cap_is_on(other));
    cap_add(gear.queue, vector(TOTAL), vector(TOTAL), vector(SUM), done, NULL);
    cap_end(gear.queue, outer);
    executable_t executable = cap_instantiate(outer);
    cap_run(gear.queue, executable);
    cap_run(other, executable);
    cb_expect(vector(TOTAL), 24);
    // The other graph has its own executions.
    cap_fill(gear.queue, vector(A), 1, NULL, NULL);
    cap_run(gear.queue, inner_executable);
    cb_expect(vector(SUM), 4);
    UR_OK(urEventRelease(filled));
    UR_OK(urEventRelease(done));
    cap_destroy(outer, executable);
    cap_destroy(inner, inner_executable);
    UR_OK(urQueueRelease(other));
    ur_free(memory);
}

// Later updates of the command buffer are not the graph's.
static void check_command_buffer(enum kind kind)
{
    memory = cb_floats(VECTORS * ITEMS);
    const ur_exp_kernel_arg_properties_t arguments[] = {
        UR_POINTER(0, vector(A)), UR_POINTER(1, vector(A)), UR_POINTER(2, vector(B))};
    command_t command = NULL;
    buffer_t buffer = cb_make(kind);
    const sync_point_t filled = cb_append_fill(buffer, vector(A), 1, AT_ONCE);
    const sync_point_t added = cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AFTER(filled),
                                                kind == UPDATABLE ? &command : NULL);
    cb_append_copy(buffer, vector(SUM), vector(B), AFTER(added));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    graph_t graph = cap_begin(gear.queue);
    UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, 0, NULL, NULL));
    cap_add(gear.queue, vector(TOTAL), vector(TOTAL), vector(SUM), NULL, NULL);
    cap_end(gear.queue, graph);
    if (kind == UPDATABLE) {
        void *to = vector(C);
        const ur_exp_command_buffer_update_pointer_arg_desc_t moved = cb_new_pointer(2, &to);
        ur_exp_command_buffer_update_kernel_launch_desc_t desc = cb_update(command);
        desc.numNewPointerArgs = 1;
        desc.pNewPointerArgList = &moved;
        UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &desc));
    }
    executable_t executable = cap_instantiate(graph);
    cap_run(gear.queue, executable);
    cap_run(gear.queue, executable);
    cb_expect(vector(TOTAL), 4);
    cb_expect(vector(C), 0);
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(vector(C), kind == UPDATABLE ? 2 : 0);
    cap_destroy(graph, executable);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(memory);
}

Test(capture_nested, command_buffers_replay_their_commands_as_they_were)
{
    check_command_buffer(FREE);
    check_command_buffer(IN_ORDER);
    check_command_buffer(UPDATABLE);
}

static void check_empty(ur_queue_flags_t flags)
{
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    ur_event_handle_t filled, done;
    memory = cb_floats(VECTORS * ITEMS);
    buffer_t empty = cb_make(FREE);
    UR_OK(urCommandBufferFinalizeExp(empty));
    graph_t graph = cap_begin(queue);
    cap_fill(queue, vector(A), 1, NULL, &filled);
    UR_OK(urEnqueueCommandBufferExp(queue, empty, 1, &filled, &done));
    cap_add(queue, vector(SUM), vector(A), vector(A), done, NULL);
    cap_end(queue, graph);
    executable_t executable = cap_instantiate(graph);
    cap_run(queue, executable);
    cb_expect(vector(SUM), 2);
    UR_OK(urEventRelease(filled));
    UR_OK(urEventRelease(done));
    cap_destroy(graph, executable);
    UR_OK(urCommandBufferReleaseExp(empty));
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}

Test(capture_nested, graphs_may_be_empty)
{
    check_empty(0);
    check_empty(ANY_ORDER);
}

// What the inner graph waits for, the outer one waits for, too; and what it uses, it keeps.
Test(capture_nested, graphs_keep_and_wait_for_what_they_did)
{
    const size_t bytes = ITEMS * sizeof(float);
    struct host_event host = host_event_make();
    memory = cb_floats(VECTORS * ITEMS);
    ur_mem_handle_t mem = cb_make_mem(bytes);
    graph_t inner = cap_begin(gear.queue);
    cap_fill(gear.queue, vector(A), 5, host.event, NULL);
    UR_OK(urEnqueueMemBufferWrite(gear.queue, mem, false, 0, bytes, vector(A), 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferRead(gear.queue, mem, false, 0, bytes, vector(B), 0, NULL, NULL));
    cap_end(gear.queue, inner);
    executable_t inner_executable = cap_instantiate(inner);
    graph_t outer = cap_begin(gear.queue);
    UR_OK(urEnqueueGraphExp(gear.queue, inner_executable, 0, NULL, NULL));
    cap_end(gear.queue, outer);
    cap_destroy(inner, inner_executable);
    UR_OK(urMemRelease(mem));
    executable_t executable = cap_instantiate(outer);
    UR_OK(urEnqueueGraphExp(gear.queue, executable, 0, NULL, NULL));
    cb_expect_unwritten(vector(B));
    host_event_signal(&host);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(vector(B), 5);
    cap_destroy(outer, executable);
    host_event_release(&host);
    ur_free(memory);
}
