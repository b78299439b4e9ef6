// SPDX-License-Identifier: MIT
// Command graphs: made by hand and recorded, executed many times, updated.
#include "sycl_support.hpp"

#include <map>
#include <memory>

namespace
{

namespace graph_property = syclexp::property::graph;
namespace node_property = syclexp::property::node;
namespace profiling = sycl::info::event_profiling;
using modifiable_graph = syclexp::command_graph<syclexp::graph_state::modifiable>;
using executable_graph = syclexp::command_graph<syclexp::graph_state::executable>;

struct fixture {
    sycl::queue queue = make_queue();
    std::map<int, sycl::kernel> kernels;
    executable_bundle adders = build_spirv(queue.get_context(), "twenty_kernels");
    sycl::kernel negate = kernel_of(queue.get_context(), "negate", "negate");
    modifiable_graph graph{
        queue.get_context(), queue.get_device(), {graph_property::assume_buffer_outlives_graph()}};
    int *data = sycl::malloc_shared<int>(1024, queue);
    fixture()
    {
        std::fill_n(data, 1024, 0);
        EXPECT(queue.get_device().has(sycl::aspect::ext_oneapi_limited_graph));
        EXPECT(queue.get_device().has(sycl::aspect::ext_oneapi_graph));
    }
    ~fixture()
    {
        sycl::free(data, queue);
    }
    // A number's kernel is always the same object, as updates of whole graphs want it.
    sycl::kernel add(int number)
    {
        auto found = kernels.find(number);
        if (found == kernels.end())
            found =
                kernels
                    .emplace(number, adders.ext_oneapi_get_kernel("add_" + std::to_string(number)))
                    .first;
        return found->second;
    }
    template <class T> syclexp::dynamic_parameter<T> parameter(const T &value)
    {
#if TEST_SYCL_RELEASE >= 20260
        return syclexp::dynamic_parameter<T>(value);
#else
        return syclexp::dynamic_parameter<T>(graph, value);
#endif
    }
    // The contents of a buffer: host accessors are refused for buffers that graphs use.
    std::vector<int> read(sycl::buffer<int> &buffer)
    {
        std::vector<int> values(buffer.size());
        queue
            .submit([&](sycl::handler &handler) {
                handler.copy(sycl::accessor(buffer, handler, sycl::read_only), values.data());
            })
            .wait_and_throw();
        return values;
    }
    std::function<void(sycl::handler &)> launch(const sycl::kernel &kernel, int *memory,
                                                size_t count = 64)
    {
        return [=](sycl::handler &handler) {
            handler.set_arg(0, memory);
            handler.parallel_for(sycl::range<1>(count), kernel);
        };
    }
    void execute(const executable_graph &executable, int times = 1)
    {
        for (int i = 0; i < times; i++)
            queue.ext_oneapi_graph(executable).wait_and_throw();
    }
};

} // namespace

STORY(nodes_with_edges_are_executed_in_their_order)
{
    fixture test;
    syclexp::node first = test.graph.add(test.launch(test.add(3), test.data));
    syclexp::node second =
        test.graph.add(test.launch(test.negate, test.data), {node_property::depends_on(first)});
    syclexp::node third = test.graph.add(test.launch(test.add(10), test.data));
    test.graph.make_edge(second, third);
    EXPECT_EQ(test.graph.get_nodes().size(), 3u);
    EXPECT_EQ(test.graph.get_root_nodes().size(), 1u);
    EXPECT_EQ(second.get_predecessors().size(), 1u);
    EXPECT(third.get_type() == syclexp::node_type::kernel);
    executable_graph executable = test.graph.finalize();
    EXPECT_EQ(test.data[63], 0);
    test.execute(executable);
    EXPECT_EQ(test.data[63], 7);
    test.execute(executable, 2);
    // x -> 10 - (x + 3)
    EXPECT_EQ(test.data[63], 7);
    EXPECT_EQ(test.data[64], 0);
}

STORY(a_diamond_joins_its_branches)
{
    fixture test;
    int *data = test.data;
    syclexp::node top = test.graph.add(test.launch(test.add(1), data));
    syclexp::node left =
        test.graph.add([=](sycl::handler &handler) { handler.memcpy(data + 256, data, 256); },
                       {node_property::depends_on(top)});
    syclexp::node right =
        test.graph.add([=](sycl::handler &handler) { handler.memcpy(data + 512, data, 256); },
                       {node_property::depends_on(top)});
    syclexp::node empty = test.graph.add({node_property::depends_on(left, right)});
    test.graph.add(test.launch(test.negate, data + 256, 320), {node_property::depends_on(empty)});
    executable_graph executable = test.graph.finalize();
    for (int round = 1; round <= 5; round++) {
        test.execute(executable);
        EXPECT_EQ(data[0], round);
        EXPECT_EQ(data[256], -round);
        EXPECT_EQ(data[512], -round);
        EXPECT_EQ(data[575], -round);
    }
}

STORY(queues_are_recorded)
{
    for (bool is_in_order : {false, true}) {
        fixture test;
        sycl::queue recorded(test.queue.get_context(), test.queue.get_device(),
                             is_in_order ? sycl::property_list{sycl::property::queue::in_order()}
                                         : sycl::property_list{});
        test.graph.begin_recording(recorded);
        sycl::event first = recorded.submit(test.launch(test.add(2), test.data));
        sycl::event second = recorded.submit([&](sycl::handler &handler) {
            handler.depends_on(first);
            handler.memcpy(test.data + 256, test.data, 256);
        });
        recorded.submit([&](sycl::handler &handler) {
            handler.depends_on(second);
            handler.memset(test.data, 0x01, 128);
        });
        test.graph.end_recording();
        EXPECT_EQ(test.data[0], 0);
        executable_graph executable = test.graph.finalize();
        test.execute(executable);
        EXPECT_EQ(test.data[256], 2);
        EXPECT_EQ(test.data[31], 0x01010101);
        EXPECT_EQ(test.data[32], 2);
        recorded.ext_oneapi_graph(executable).wait();
        EXPECT_EQ(test.data[256], 0x01010103);
        EXPECT_EQ(test.data[256 + 32], 4);
    }
}

STORY(two_queues_are_recorded_and_execute_the_graph_at_once)
{
    fixture test;
    const sycl::context context = test.queue.get_context();
    sycl::queue first(context, test.queue.get_device()), second(context, test.queue.get_device());
    test.graph.begin_recording({first, second});
    sycl::event added = first.submit(test.launch(test.add(2), test.data));
    second.submit([&](sycl::handler &handler) {
        handler.depends_on(added);
        handler.memcpy(test.data + 256, test.data, 256);
    });
    test.graph.end_recording();
    executable_graph executable = test.graph.finalize();
    for (int i = 0; i < 10; i++) {
        first.ext_oneapi_graph(executable);
        second.ext_oneapi_graph(executable);
    }
    first.wait();
    second.wait();
    EXPECT_EQ(test.data[63], 40);
    EXPECT_EQ(test.data[256 + 63], 40);
}

STORY(executions_wait_and_are_waited_for)
{
    fixture test;
    test.graph.add(test.launch(test.add(1), test.data));
    executable_graph executable = test.graph.finalize();
    // In the order of a queue, in that of events, and without waits of the host.
    sycl::queue ordered = make_in_order_queue();
    for (int i = 0; i < 50; i++) {
        ordered.ext_oneapi_graph(executable);
        ordered.submit(test.launch(test.add(1), test.data));
    }
    ordered.wait();
    EXPECT_EQ(test.data[0], 100);
    sycl::event last;
    for (int i = 0; i < 50; i++) {
        last = test.queue.ext_oneapi_graph(executable, last);
        last = test.queue.submit([&](sycl::handler &handler) {
            handler.depends_on(last);
            test.launch(test.negate, test.data)(handler);
        });
    }
    last.wait();
    EXPECT_EQ(test.data[0], 100);
    // Executions of one graph do not overlap, whichever queue they are submitted to.
    for (int i = 0; i < 50; i++)
        test.queue.ext_oneapi_graph(executable);
    test.queue.wait();
    EXPECT_EQ(test.data[0], 150);
}

STORY(buffers_make_edges)
{
    fixture test;
    std::vector<int> numbers = count_from(0, 100);
    sycl::buffer<int> buffer(numbers.data(), numbers.size());
    sycl::buffer<int> other{sycl::range<1>(100)};
    buffer.set_write_back(false);
    const auto launch = [&](sycl::buffer<int> &target, const sycl::kernel &kernel,
                            const sycl::property_list &properties) {
        return test.graph.add(
            [&](sycl::handler &handler) {
                sycl::accessor access(target, handler, sycl::read_write);
                handler.set_arg(0, access);
                handler.parallel_for(sycl::range<1>(100), kernel);
            },
            properties);
    };
    // The runtime makes edges from writers to readers; the others are the test's.
    launch(buffer, test.add(5), {});
    syclexp::node copied = test.graph.add([&](sycl::handler &handler) {
        handler.copy(sycl::accessor(buffer, handler, sycl::read_only),
                     sycl::accessor(other, handler, sycl::write_only));
    });
    launch(other, test.negate, {});
    syclexp::node negated = launch(buffer, test.negate, {node_property::depends_on(copied)});
    test.graph.add(
        [&](sycl::handler &handler) {
            handler.fill(sycl::accessor(buffer, handler, sycl::range<1>(10), sycl::id<1>(0),
                                        sycl::write_only),
                         77);
        },
        {node_property::depends_on(negated)});
    executable_graph executable = test.graph.finalize();
    test.execute(executable);
    EXPECT_EQ(test.read(buffer)[9], 77);
    EXPECT_EQ(test.read(buffer)[99], -104);
    EXPECT_EQ(test.read(other)[99], -104);
    EXPECT_EQ(test.read(other)[0], -5);
    test.execute(executable);
    EXPECT_EQ(test.read(buffer)[99], 99);
    EXPECT_EQ(test.read(other)[0], -82);
}

STORY(boxes_are_copied)
{
    fixture test;
    const std::vector<int> numbers = count_from(0, 12 * 17);
    sycl::buffer<int, 2> from(numbers.data(), {12, 17}), to{{9, 11}};
    std::vector<int> host(20, -1), all(9 * 11);
    syclexp::node filled = test.graph.add([&](sycl::handler &handler) {
        handler.fill(sycl::accessor(to, handler, sycl::write_only, sycl::no_init), -1);
    });
    test.graph.add(
        [&](sycl::handler &handler) {
            handler.copy(sycl::accessor(from, handler, sycl::range<2>(4, 5), sycl::id<2>(3, 6),
                                        sycl::read_only),
                         sycl::accessor(to, handler, sycl::range<2>(4, 5), sycl::id<2>(2, 1),
                                        sycl::write_only));
        },
        {node_property::depends_on(filled)});
    test.graph.add([&](sycl::handler &handler) {
        handler.copy(
            sycl::accessor(to, handler, sycl::range<2>(4, 5), sycl::id<2>(2, 1), sycl::read_only),
            host.data());
    });
    executable_graph executable = test.graph.finalize();
    test.execute(executable);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 5; x++)
            EXPECT_EQ(host[5 * y + x], (y + 3) * 17 + x + 6);
    test.queue
        .submit([&](sycl::handler &handler) {
            handler.copy(sycl::accessor(to, handler, sycl::read_only), all.data());
        })
        .wait();
    EXPECT_EQ(all[11 + 1], -1);
    EXPECT_EQ(all[5 * 11 + 5], 6 * 17 + 10);
}

STORY(host_tasks_are_nodes)
{
    fixture test;
    int *data = test.data;
    syclexp::node first = test.graph.add(test.launch(test.add(1), data));
    syclexp::node told =
        test.graph.add([=](sycl::handler &handler) { handler.host_task([=] { data[0] *= 10; }); },
                       {node_property::depends_on(first)});
    test.graph.add(test.launch(test.add(5), data), {node_property::depends_on(told)});
    executable_graph executable = test.graph.finalize();
    test.execute(executable);
    EXPECT_EQ(data[0], 15);
    EXPECT_EQ(data[1], 6);
    test.execute(executable);
    EXPECT_EQ(data[0], 165);
}

STORY(graphs_contain_graphs)
{
    fixture test;
    modifiable_graph inner(test.queue.get_context(), test.queue.get_device());
    syclexp::node one = inner.add(test.launch(test.add(1), test.data));
    inner.add(test.launch(test.negate, test.data), {node_property::depends_on(one)});
    executable_graph part = inner.finalize();
    syclexp::node first =
        test.graph.add([&](sycl::handler &handler) { handler.ext_oneapi_graph(part); });
    syclexp::node middle =
        test.graph.add(test.launch(test.add(20), test.data), {node_property::depends_on(first)});
    test.graph.add([&](sycl::handler &handler) { handler.ext_oneapi_graph(part); },
                   {node_property::depends_on(middle)});
    executable_graph executable = test.graph.finalize();
    test.execute(executable);
    // 0 -> -1 -> 19 -> -20
    EXPECT_EQ(test.data[5], -20);
}

STORY(arguments_are_updated)
{
    fixture test;
    int *second = test.data + 512;
    syclexp::dynamic_parameter target = test.parameter(test.data);
    syclexp::node node = test.graph.add([&](sycl::handler &handler) {
        handler.set_arg(0, target);
        handler.parallel_for(sycl::range<1>(64), test.add(7));
    });
    executable_graph executable = test.graph.finalize(graph_property::updatable());
    test.execute(executable);
    target.update(second);
    test.execute(executable);
    EXPECT_EQ(test.data[0], 14);
    executable.update(node);
    test.execute(executable, 2);
    EXPECT_EQ(test.data[0], 14);
    EXPECT_EQ(second[63], 14);
}

STORY(ranges_are_updated)
{
    fixture test;
    syclexp::node node = test.graph.add(test.launch(test.add(7), test.data, 64));
    executable_graph executable = test.graph.finalize(graph_property::updatable());
    test.execute(executable);
    EXPECT_EQ(test.data[63], 7);
    EXPECT_EQ(test.data[64], 0);
    node.update_range(sycl::range<1>(128));
    executable.update(node);
    test.execute(executable);
    EXPECT_EQ(test.data[63], 14);
    EXPECT_EQ(test.data[127], 7);
    EXPECT_EQ(test.data[128], 0);
}

STORY(accessors_are_updated)
{
    fixture test;
    sycl::buffer<int> first{sycl::range<1>(64)}, second{sycl::range<1>(64)};
    for (sycl::buffer<int> *buffer : {&first, &second}) {
        sycl::host_accessor access(*buffer, sycl::write_only, sycl::no_init);
        for (int &value : access)
            value = 0;
    }
    sycl::accessor<int, 1, sycl::access_mode::read_write> first_access(first),
        second_access(second);
    syclexp::dynamic_parameter target = test.parameter(first_access);
    syclexp::node node = test.graph.add([&](sycl::handler &handler) {
        handler.require(first_access);
        handler.set_arg(0, target);
        handler.parallel_for(sycl::range<1>(64), test.add(4));
    });
    executable_graph executable = test.graph.finalize(graph_property::updatable());
    test.execute(executable);
    target.update(second_access);
    executable.update(node);
    test.execute(executable, 2);
    EXPECT_EQ(test.read(first)[63], 4);
    EXPECT_EQ(test.read(second)[63], 8);
}

STORY(whole_graphs_are_updated)
{
    fixture test;
    const auto make = [&](int *memory, modifiable_graph &graph) {
        syclexp::node first = graph.add(test.launch(test.add(3), memory));
        graph.add(test.launch(test.add(4), memory), {node_property::depends_on(first)});
    };
    make(test.data, test.graph);
    executable_graph executable = test.graph.finalize(graph_property::updatable());
    test.execute(executable);
    modifiable_graph other(test.queue.get_context(), test.queue.get_device());
    make(test.data + 512, other);
    executable.update(other);
    test.execute(executable, 2);
    EXPECT_EQ(test.data[0], 7);
    EXPECT_EQ(test.data[512], 14);
}

STORY(kernels_are_exchanged)
{
    fixture test;
    syclexp::dynamic_command_group either(
        test.graph, {test.launch(test.add(1), test.data), test.launch(test.negate, test.data)});
    syclexp::node node = test.graph.add(either);
    executable_graph executable = test.graph.finalize(graph_property::updatable());
    test.execute(executable, 3);
    EXPECT_EQ(test.data[0], 3);
    either.set_active_index(1);
    executable.update(node);
    test.execute(executable);
    EXPECT_EQ(test.data[0], -3);
}

STORY(what_is_not_updatable_is_not_updated)
{
    fixture test;
    syclexp::node node = test.graph.add(test.launch(test.add(1), test.data));
    executable_graph executable = test.graph.finalize();
    EXPECT_ERROR(invalid, executable.update(node));
}

STORY(executions_have_times)
{
    fixture test;
    sycl::queue queue = make_queue({sycl::property::queue::enable_profiling()});
    syclexp::node first = test.graph.add(test.launch(test.add(1), test.data));
    test.graph.add(test.launch(test.add(1), test.data), {node_property::depends_on(first)});
    executable_graph executable = test.graph.finalize(graph_property::enable_profiling());
    sycl::event done = queue.ext_oneapi_graph(executable);
    done.wait();
    EXPECT(done.get_profiling_info<profiling::command_submit>() <=
           done.get_profiling_info<profiling::command_start>());
    EXPECT(done.get_profiling_info<profiling::command_start>() <=
           done.get_profiling_info<profiling::command_end>());
}

STORY(graphs_outlive_what_they_were_made_with)
{
    std::unique_ptr<executable_graph> executable;
    sycl::queue queue = make_queue();
    int *data = sycl::malloc_shared<int>(64, queue);
    std::fill_n(data, 64, 0);
    {
        modifiable_graph graph(queue.get_context(), queue.get_device());
        const sycl::kernel kernel = kernel_of(queue.get_context(), "negate", "negate");
        syclexp::node first =
            graph.add([&](sycl::handler &handler) { handler.memset(data, 0x01, 256); });
        graph.add(
            [&](sycl::handler &handler) {
                handler.set_arg(0, data);
                handler.parallel_for(sycl::range<1>(64), kernel);
            },
            {node_property::depends_on(first)});
        executable = std::make_unique<executable_graph>(graph.finalize());
    }
    queue.ext_oneapi_graph(*executable).wait();
    EXPECT_EQ(data[63], -0x01010101);
    // The graph goes while it is executed.
    queue.ext_oneapi_graph(*executable);
    executable.reset();
    queue.wait();
    sycl::free(data, queue);
}

STORY(what_graphs_cannot_do_is_refused)
{
    fixture test;
    EXPECT_ERROR(invalid, test.graph.add([&](sycl::handler &handler) {
        handler.ext_oneapi_memcpy2d(test.data, 64, test.data + 512, 64, 16, 4);
    }));
    sycl::queue recorded(test.queue.get_context(), test.queue.get_device());
    test.graph.begin_recording(recorded);
    EXPECT_ERROR(invalid, recorded.wait());
    EXPECT_ERROR(invalid, recorded.ext_oneapi_memcpy2d(test.data, 64, test.data + 512, 64, 16, 4));
    test.graph.end_recording();
    syclexp::node first = test.graph.add(test.launch(test.add(1), test.data));
    syclexp::node second =
        test.graph.add(test.launch(test.add(1), test.data), {node_property::depends_on(first)});
    EXPECT_ERROR(invalid, test.graph.make_edge(second, first));
}
