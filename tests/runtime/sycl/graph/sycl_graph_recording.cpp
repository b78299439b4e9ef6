// SPDX-License-Identifier: MIT
// Graphs that the backend captures (native recording): the runtime enqueues to a queue in capture
// mode, and makes no nodes of its own.
#include "sycl_support.hpp"

namespace
{

namespace graph_property = syclexp::property::graph;
using modifiable_graph = syclexp::command_graph<syclexp::graph_state::modifiable>;
using executable_graph = syclexp::command_graph<syclexp::graph_state::executable>;

constexpr size_t items = 256;

struct fixture {
    sycl::queue queue = make_in_order_queue();
    sycl::kernel add = kernel_of(queue.get_context(), "vector_add", "vector_add");
    modifiable_graph graph{
        queue.get_context(), queue.get_device(), {graph_property::enable_native_recording()}};
    float *a = make_floats(0), *b = make_floats(0), *c = make_floats(0), *d = make_floats(0);
    float *ones = make_floats(1);

    ~fixture()
    {
        for (float *memory : {a, b, c, d, ones})
            sycl::free(memory, queue);
    }
    float *make_floats(float value)
    {
        float *memory = sycl::malloc_shared<float>(items, queue);
        std::fill_n(memory, items, value);
        return memory;
    }
    sycl::event sum(sycl::queue &on, float *x, float *y, float *to,
                    const std::vector<sycl::event> &after = {})
    {
        return on.submit([&](sycl::handler &handler) {
            handler.depends_on(after);
            handler.set_args(x, y, to);
            handler.parallel_for(sycl::range<1>(items), add);
        });
    }
    void execute(const executable_graph &executable)
    {
        queue.ext_oneapi_graph(executable).wait_and_throw();
    }
};

} // namespace

// a = 1, b = a, c = a + b, d += c.
STORY(a_queue_is_recorded_and_replayed)
{
    fixture test;
    test.graph.begin_recording(test.queue);
    test.queue.copy(test.ones, test.a, items);
    test.queue.copy(test.a, test.b, items);
    test.sum(test.queue, test.a, test.b, test.c);
    test.sum(test.queue, test.c, test.d, test.d);
    test.graph.end_recording(test.queue);
    test.queue.wait();
    EXPECT_EQ(test.c[0], 0);
    executable_graph executable = test.graph.finalize();
    for (int i = 1; i <= 5; i++) {
        test.execute(executable);
        EXPECT_EQ(test.c[items - 1], 2);
        EXPECT_EQ(test.d[items - 1], 2 * i);
    }
    // Commands that are enqueued now are executed.
    test.queue.copy(test.d, test.a, items).wait();
    EXPECT_EQ(test.a[0], 10);
}

// The second queue comes to the recording by an event, and goes back by another.
STORY(two_queues_fork_and_join)
{
    fixture test;
    sycl::queue other(test.queue.get_context(), test.queue.get_device(),
                      sycl::property::queue::in_order());
    test.graph.begin_recording(test.queue);
    sycl::event filled = test.queue.copy(test.ones, test.a, items);
    sycl::event there = test.sum(other, test.a, test.a, test.b, {filled});
    test.sum(test.queue, test.a, test.a, test.c);
    test.sum(test.queue, test.b, test.c, test.d, {there});
    test.graph.end_recording(test.queue);
    executable_graph executable = test.graph.finalize();
    for (int i = 0; i < 3; i++) {
        std::fill_n(test.b, items, 0.0f);
        std::fill_n(test.d, items, 0.0f);
        test.execute(executable);
        EXPECT_EQ(test.b[1], 2);
        EXPECT_EQ(test.d[items - 1], 4);
    }
}

STORY(executions_are_enqueued_ahead_among_other_commands)
{
    fixture test;
    test.graph.begin_recording(test.queue);
    test.sum(test.queue, test.a, test.d, test.d);
    test.graph.end_recording();
    executable_graph executable = test.graph.finalize();
    // a is 1, 2, 3 ...
    for (int i = 1; i <= 20; i++) {
        test.sum(test.queue, test.ones, test.a, test.a);
        test.queue.ext_oneapi_graph(executable);
    }
    test.queue.wait_and_throw();
    EXPECT_EQ(test.d[0], 210);
}

STORY(a_second_executable_graph_is_of_its_own)
{
    fixture test;
    std::fill_n(test.a, items, 1.0f);
    test.graph.begin_recording(test.queue);
    test.sum(test.queue, test.a, test.d, test.d);
    test.graph.end_recording();
    executable_graph second = test.graph.finalize();
    {
        executable_graph first = test.graph.finalize();
        test.execute(first);
    }
    test.execute(second);
    EXPECT_EQ(test.d[0], 2);
}

// The host cannot wait for what is recorded; the recording goes on.
STORY(waits_are_refused_while_a_queue_is_recorded)
{
    fixture test;
    test.graph.begin_recording(test.queue);
    EXPECT(test.queue.ext_oneapi_get_state() == syclexp::queue_state::recording);
    sycl::event copied = test.queue.copy(test.ones, test.a, items);
    EXPECT_ERROR(runtime, test.queue.wait());
    EXPECT_ERROR(runtime, copied.wait());
    test.sum(test.queue, test.a, test.a, test.b);
    test.graph.end_recording(test.queue);
    EXPECT_ERROR(runtime, copied.wait());
    EXPECT(!test.graph.empty());
    test.execute(test.graph.finalize());
    EXPECT_EQ(test.b[items - 1], 2);
}

// d += 1 in the inner graph, which comes twice, between two copies.
STORY(a_recording_contains_executions_of_other_graphs)
{
    fixture test;
    test.graph.begin_recording(test.queue);
    test.sum(test.queue, test.ones, test.d, test.d);
    test.graph.end_recording(test.queue);
    executable_graph inner = test.graph.finalize();
    modifiable_graph outer(test.queue.get_context(), test.queue.get_device(),
                           {graph_property::enable_native_recording()});
    EXPECT(outer.get_id() > test.graph.get_id());
    outer.begin_recording(test.queue);
    test.queue.copy(test.ones, test.d, items);
    test.queue.ext_oneapi_graph(inner);
    test.queue.ext_oneapi_graph(inner);
    test.queue.copy(test.d, test.c, items);
    outer.end_recording(test.queue);
    executable_graph executable = outer.finalize();
    for (int i = 0; i < 3; i++) {
        test.execute(executable);
        EXPECT_EQ(test.c[items - 1], 3);
    }
}

STORY(the_end_of_a_recorded_graph_is_told)
{
    int calls = 0;
    {
        fixture test;
        test.graph.set_destruction_callback([&calls](int by) { calls += by; }, 3);
        test.graph.begin_recording(test.queue);
        test.queue.copy(test.ones, test.a, items);
        test.graph.end_recording(test.queue);
        EXPECT_ERROR(runtime, test.graph.print_graph("/no/such/folder/graph.dot"));
        test.execute(test.graph.finalize());
        EXPECT_EQ(test.a[0], 1);
        EXPECT_EQ(calls, 0);
    }
    EXPECT_EQ(calls, 3);
}
