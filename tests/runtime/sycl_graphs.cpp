// SPDX-License-Identifier: MIT
// Graphs of commands, recorded and replayed; commands of Level Zero among them; memory at reserved
// addresses.
#include "sycl_support.hpp"

#include <level_zero/ze_api.h>
#include <sycl/ext/oneapi/backend/level_zero.hpp>
#include <sycl/ext/oneapi/experimental/graph.hpp>
#include <sycl/ext/oneapi/virtual_mem/physical_mem.hpp>
#include <sycl/ext/oneapi/virtual_mem/virtual_mem.hpp>

namespace
{

constexpr size_t items = 64;
constexpr auto level_zero = sycl::backend::ext_oneapi_level_zero;
using depends_on = syclexp::property::node::depends_on;
using graph = syclexp::command_graph<syclexp::graph_state::modifiable>;

float *make_floats(const sycl::queue &queue, float value)
{
    float *memory = sycl::malloc_shared<float>(items, queue);
    std::fill_n(memory, items, value);
    return memory;
}

template <class Graph>
syclexp::node add_sum(Graph &commands, const sycl::kernel &kernel, float *a, float *b, float *sum,
                      const sycl::property_list &properties = {})
{
    return commands.add(
        [&](sycl::handler &handler) {
            handler.set_args(a, b, sum);
            handler.parallel_for(sycl::range<1>(items), kernel);
        },
        properties);
}

STORY(a_graph_is_replayed_in_the_order_of_its_edges)
{
    for (bool in_order : {false, true}) {
        sycl::queue queue = in_order ? make_in_order_queue() : make_queue();
        const sycl::kernel add = kernel_of(queue.get_context(), "vector_add", "vector_add");
        float *ones = make_floats(queue, 1), *a = make_floats(queue, 0), *b = make_floats(queue, 0),
              *sum = make_floats(queue, 0);
        graph commands(queue.get_context(), queue.get_device());
        auto filled = commands.add(
            [&](sycl::handler &handler) { handler.memcpy(a, ones, items * sizeof(float)); });
        auto copied = commands.add(
            [&](sycl::handler &handler) { handler.memcpy(b, a, items * sizeof(float)); },
            {depends_on(filled)});
        auto added = add_sum(commands, add, a, b, sum, {depends_on(copied)});
        add_sum(commands, add, sum, sum, a, {depends_on(added)});
        auto executable = commands.finalize();
        for (int i = 0; i < 3; i++) {
            std::fill_n(sum, items, 0.0f);
            queue.ext_oneapi_graph(executable).wait();
            EXPECT_EQ(sum[items - 1], 2);
            EXPECT_EQ(a[0], 4);
        }
        for (float *memory : {ones, a, b, sum})
            sycl::free(memory, queue);
    }
}

STORY(a_queue_is_recorded)
{
    sycl::queue queue = make_in_order_queue();
    const sycl::kernel add = kernel_of(queue.get_context(), "vector_add", "vector_add");
    float *a = make_floats(queue, 1), *sum = make_floats(queue, 0);
    graph commands(queue.get_context(), queue.get_device());
    commands.begin_recording(queue);
    for (int i = 0; i < 2; i++) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(a, a, sum);
            handler.parallel_for(sycl::range<1>(items), add);
        });
        queue.memcpy(a, sum, items * sizeof(float));
    }
    commands.end_recording(queue);
    auto executable = commands.finalize();
    EXPECT_EQ(a[0], 1);
    queue.ext_oneapi_graph(executable);
    queue.ext_oneapi_graph(executable);
    queue.wait();
    EXPECT_EQ(a[items - 1], 16);
    sycl::free(a, queue);
    sycl::free(sum, queue);
}

STORY(launches_are_updated)
{
    sycl::queue queue = make_queue();
    const sycl::kernel add = kernel_of(queue.get_context(), "vector_add", "vector_add");
    float *a = make_floats(queue, 1), *b = make_floats(queue, 100), *sum = make_floats(queue, 0);
    graph commands(queue.get_context(), queue.get_device());
    syclexp::dynamic_parameter<float *> input(a);
    auto added = commands.add([&](sycl::handler &handler) {
        handler.set_arg(0, input);
        handler.set_arg(1, b);
        handler.set_arg(2, sum);
        handler.parallel_for(sycl::range<1>(items), add);
    });
    auto executable = commands.finalize(syclexp::property::graph::updatable{});
    queue.ext_oneapi_graph(executable).wait();
    EXPECT_EQ(sum[5], 101);
    input.update(b);
    executable.update(added);
    queue.ext_oneapi_graph(executable).wait();
    EXPECT_EQ(sum[5], 200);
    added.update_range(sycl::range<1>(4));
    executable.update(added);
    std::fill_n(b, items, 7.0f);
    queue.ext_oneapi_graph(executable).wait();
    EXPECT_EQ(sum[3], 14);
    EXPECT_EQ(sum[4], 200);
    // By another graph of the same form.
    graph others(queue.get_context(), queue.get_device());
    add_sum(others, add, a, a, sum);
    executable.update(others);
    queue.ext_oneapi_graph(executable).wait();
    EXPECT_EQ(sum[items - 1], 2);
    for (float *memory : {a, b, sum})
        sycl::free(memory, queue);
}

STORY(a_graph_has_times)
{
    sycl::queue queue = make_queue(sycl::property::queue::enable_profiling{});
    float *a = make_floats(queue, 0);
    graph commands(queue.get_context(), queue.get_device());
    commands.add([&](sycl::handler &handler) { handler.memset(a, 3, items * sizeof(float)); });
    auto executable = commands.finalize({syclexp::property::graph::enable_profiling{}});
    sycl::event event = queue.ext_oneapi_graph(executable);
    event.wait();
    namespace times = sycl::info::event_profiling;
    const auto begun = event.get_profiling_info<times::command_start>();
    EXPECT(event.get_profiling_info<times::command_submit>() <= begun);
    EXPECT(begun <= event.get_profiling_info<times::command_end>());
    sycl::free(a, queue);
}

STORY(buffers_are_used_in_a_graph)
{
    sycl::queue queue = make_queue();
    std::vector<float> out(items);
    {
        sycl::buffer<float> buffer{sycl::range<1>(items)};
        buffer.set_write_back(false);
        graph commands(queue.get_context(), queue.get_device(),
                       {syclexp::property::graph::assume_buffer_outlives_graph{}});
        commands.add([&](sycl::handler &handler) {
            handler.fill(buffer.get_access<sycl::access_mode::write>(handler), 2.5f);
        });
        commands.add([&](sycl::handler &handler) {
            handler.copy(buffer.get_access<sycl::access_mode::read>(handler), out.data());
        });
        queue.ext_oneapi_graph(commands.finalize()).wait();
    }
    EXPECT_EQ(out[0], 2.5f);
    EXPECT_EQ(out[items - 1], 2.5f);
}

// ---- Commands of Level Zero ----

STORY(a_graph_takes_commands_of_level_zero)
{
    sycl::queue queue = make_queue();
    const sycl::kernel add = kernel_of(queue.get_context(), "vector_add", "vector_add");
    float *a = make_floats(queue, 1), *b = make_floats(queue, 0), *c = make_floats(queue, 0);
    graph commands(queue.get_context(), queue.get_device());
    auto added = add_sum(commands, add, a, a, b);
    ze_result_t result = ZE_RESULT_ERROR_UNKNOWN;
    auto copied = commands.add(
        [&](sycl::handler &handler) {
            handler.ext_codeplay_enqueue_native_command([&](sycl::interop_handle interop) {
                EXPECT(interop.ext_codeplay_has_graph());
                result = zeCommandListAppendMemoryCopy(
                    interop.ext_codeplay_get_native_graph<level_zero>(), c, b,
                    items * sizeof(float), nullptr, 0, nullptr);
            });
        },
        {depends_on(added)});
    add_sum(commands, add, c, c, a, {depends_on(copied)});
    auto executable = commands.finalize();
    EXPECT(result == ZE_RESULT_SUCCESS);
    for (int i = 0; i < 3; i++)
        queue.ext_oneapi_graph(executable).wait();
    EXPECT_EQ(c[0], 32);
    EXPECT_EQ(a[items - 1], 64);
    for (float *memory : {a, b, c})
        sycl::free(memory, queue);
}

STORY(a_queue_takes_commands_of_level_zero)
{
    sycl::queue queue = make_in_order_queue();
    float *a = make_floats(queue, 1), *b = make_floats(queue, 2), *c = make_floats(queue, 3);
    queue.memset(a, 0, items * sizeof(float));
    queue.submit([&](sycl::handler &handler) {
        handler.ext_codeplay_enqueue_native_command([=](sycl::interop_handle) {
            auto native = sycl::get_native<level_zero>(queue);
            EXPECT(zeCommandListAppendMemoryCopy(std::get<ze_command_list_handle_t>(native), b, a,
                                                 items * sizeof(float), nullptr, 0,
                                                 nullptr) == ZE_RESULT_SUCCESS);
        });
    });
    queue.memcpy(c, b, items * sizeof(float)).wait();
    EXPECT_EQ(c[items - 1], 0);
    for (float *memory : {a, b, c})
        sycl::free(memory, queue);
}

// ---- Reserved addresses ----

STORY(memory_is_mapped_at_reserved_addresses)
{
    sycl::queue queue = make_queue();
    const sycl::context context = queue.get_context();
    const sycl::device device = queue.get_device();
    EXPECT(device.has(sycl::aspect::ext_oneapi_virtual_mem));
    const sycl::kernel add = kernel_of(context, "vector_add", "vector_add");
    const size_t page = syclexp::get_mem_granularity(device, context);
    const uintptr_t start = syclexp::reserve_virtual_mem(2 * page, context);
    float *a = make_floats(queue, 2), *out = make_floats(queue, 0);
    {
        syclexp::physical_mem first(device, context, page), second(device, context, page);
        first.map(start, page, syclexp::address_access_mode::read_write);
        second.map(start + page, page, syclexp::address_access_mode::read_write);
        // Across the border of both.
        auto *sum = reinterpret_cast<float *>(start + page) - items / 2;
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(a, a, sum);
            handler.parallel_for(sycl::range<1>(items), add);
        });
        queue.wait();
        queue.memcpy(out, sum, items * sizeof(float)).wait();
        EXPECT_EQ(out[0], 4);
        EXPECT_EQ(out[items - 1], 4);
        auto *pointer = reinterpret_cast<void *>(start);
        syclexp::set_access_mode(pointer, page, syclexp::address_access_mode::read, context);
        EXPECT(syclexp::get_access_mode(pointer, page, context) ==
               syclexp::address_access_mode::read);
        syclexp::unmap(pointer, 2 * page, context);
    }
    syclexp::free_virtual_mem(start, 2 * page, context);
    sycl::free(a, queue);
    sycl::free(out, queue);
}

} // namespace
