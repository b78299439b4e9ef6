// SPDX-License-Identifier: MIT
// Commands of Level Zero among those of a graph.
#include "sycl_support.hpp"

#include <level_zero/ze_api.h>
#include <sycl/ext/oneapi/backend/level_zero.hpp>
#include <sycl/ext/oneapi/experimental/graph.hpp>

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

// b = a + a, c = b through Level Zero, a = c + c.
void take_commands(sycl::queue queue)
{
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

STORY(a_graph_takes_commands_of_level_zero)
{
    take_commands(make_queue());
    take_commands(make_in_order_queue());
}

} // namespace
