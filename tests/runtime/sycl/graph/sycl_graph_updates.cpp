// SPDX-License-Identifier: MIT
// Dynamic parameters of every kind, and updates while a graph is executed.
#include "sycl_support.hpp"

#include <thread>

namespace
{

namespace graph_property = syclexp::property::graph;
namespace node_property = syclexp::property::node;
using modifiable_graph = syclexp::command_graph<syclexp::graph_state::modifiable>;
using executable_graph = syclexp::command_graph<syclexp::graph_state::executable>;

struct fixture {
    sycl::queue queue = make_queue();
    modifiable_graph graph{queue.get_context(), queue.get_device()};

    sycl::kernel kernel(const std::string &program, const std::string &name)
    {
        return kernel_of(queue.get_context(), program, name);
    }
    template <class T> syclexp::dynamic_parameter<T> parameter(const T &value)
    {
#if TEST_SYCL_RELEASE >= 20260
        return syclexp::dynamic_parameter<T>(value);
#else
        return syclexp::dynamic_parameter<T>(graph, value);
#endif
    }
    executable_graph finalize()
    {
        return graph.finalize(graph_property::updatable());
    }
    void execute(const executable_graph &executable)
    {
        queue.ext_oneapi_graph(executable).wait_and_throw();
    }
};

// More than a driver's inline space for one argument.
struct wide {
    long values[12];
};

} // namespace

STORY(values_are_updated)
{
    fixture test;
    shared_array<int> now(test.queue, 1);
    syclexp::dynamic_parameter<int> by = test.parameter(5);
    const sycl::kernel count = test.kernel("counter", "count");
    syclexp::node node = test.graph.add([&](sycl::handler &handler) {
        handler.set_arg(0, by);
        handler.set_arg(1, now.get());
        handler.single_task(count);
    });
    executable_graph executable = test.finalize();
    test.execute(executable);
    by.update(7);
    test.execute(executable);
    EXPECT_EQ(now[0], 10);
    executable.update(node);
    test.execute(executable);
    EXPECT_EQ(now[0], 17);
}

STORY(structures_are_updated)
{
    fixture test;
    shared_array<long> sum(test.queue, 1);
    wide values{};
    std::iota(values.values, values.values + 12, 0);
    syclexp::dynamic_parameter<wide> parameter = test.parameter(values);
    const sycl::kernel sum_wide = test.kernel("arguments", "sum_wide");
    syclexp::node node = test.graph.add([&](sycl::handler &handler) {
        handler.set_arg(0, parameter);
        handler.set_arg(1, sum.get());
        handler.single_task(sum_wide);
    });
    executable_graph executable = test.finalize();
    test.execute(executable);
    EXPECT_EQ(sum[0], 66);
    values.values[11] = 111;
    parameter.update(values);
    executable.update(node);
    test.execute(executable);
    EXPECT_EQ(sum[0], 166);
}

#if TEST_SYCL_RELEASE >= 20262
// Groups of 8 work-items, then of 32, with as much local memory.
STORY(local_memory_and_group_sizes_are_updated)
{
    fixture test;
    shared_array<int> numbers(test.queue, count_from(0, 64)), sums(test.queue, 8);
    syclexp::dynamic_work_group_memory<int[]> scratch(8);
    const sycl::kernel sum_groups = test.kernel("arguments", "sum_groups");
    syclexp::node node = test.graph.add([&](sycl::handler &handler) {
        handler.set_arg(0, numbers.get());
        handler.set_arg(1, scratch);
        handler.set_arg(2, sums.get());
        handler.parallel_for(sycl::nd_range<1>(64, 8), sum_groups);
    });
    executable_graph executable = test.finalize();
    test.execute(executable);
    EXPECT_EQ(sums[7], 8 * 56 + 28);
    scratch.update(32);
    node.update_nd_range(sycl::nd_range<1>(64, 32));
    executable.update(node);
    test.execute(executable);
    EXPECT_EQ(sums[1], 32 * 32 + 496);
    EXPECT_EQ(sums[7], 8 * 56 + 28);
}
#endif

// Each execution is under way, or has not begun, when the next update comes.
STORY(updates_leave_executions_under_way_their_values)
{
    fixture test;
    sycl::queue ordered = make_in_order_queue();
    shared_array<uint32_t> spun(test.queue, 1);
    shared_array<int> counts(test.queue, 4);
    const sycl::kernel spin = test.kernel("spin", "spin"),
                       add = test.kernel("twenty_kernels", "add_1");
    syclexp::dynamic_parameter<int *> target = test.parameter(counts.get());
    syclexp::node slow = test.graph.add([&](sycl::handler &handler) {
        handler.set_args(uint32_t{20000000}, spun.get());
        handler.single_task(spin);
    });
    syclexp::node node = test.graph.add(
        [&](sycl::handler &handler) {
            handler.set_arg(0, target);
            handler.single_task(add);
        },
        {node_property::depends_on(slow)});
    executable_graph executable = test.finalize();
    for (int i = 0; i < 3; i++) {
        (i == 1 ? test.queue : ordered).ext_oneapi_graph(executable);
        target.update(counts.get() + i + 1);
        executable.update(node);
    }
    test.queue.wait();
    ordered.wait();
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(counts[i], 1);
    EXPECT_EQ(counts[3], 0);
}

STORY(threads_execute_one_graph_at_once)
{
    fixture test;
    shared_array<int> counts(test.queue, 64);
    const sycl::kernel add = test.kernel("twenty_kernels", "add_1");
    test.graph.add([&](sycl::handler &handler) {
        handler.set_arg(0, counts.get());
        handler.parallel_for(sycl::range<1>(64), add);
    });
    executable_graph executable = test.finalize();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            sycl::queue queue(test.queue.get_context(), test.queue.get_device());
            for (int run = 0; run < 50; run++)
                queue.ext_oneapi_graph(executable);
            queue.wait();
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(counts[63], 200);
}

STORY(hints_and_barriers_are_recorded)
{
    fixture test;
    sycl::queue ordered = make_in_order_queue();
    shared_array<int> from(ordered, 64), to(ordered, 64);
    test.graph.begin_recording(ordered);
    ordered.prefetch(from.get(), 256);
    ordered.mem_advise(from.get(), 256, 0);
    ordered.memset(from.get(), 7, 256);
    ordered.ext_oneapi_submit_barrier();
    ordered.memcpy(to.get(), from.get(), 256);
    test.graph.end_recording();
    executable_graph executable = test.graph.finalize();
    EXPECT_EQ(to[63], 0);
    test.execute(executable);
    EXPECT_EQ(to[63], 0x07070707);
}
