// SPDX-License-Identifier: MIT
// Memory that is allocated and freed in the order of a queue, and its pools.
#include "sycl_support.hpp"

#include <sycl/ext/oneapi/experimental/async_alloc/async_alloc.hpp>
#include <sycl/ext/oneapi/experimental/async_alloc/memory_pool.hpp>

namespace
{

constexpr size_t count = 100000;
constexpr size_t mib = 1 << 20;
constexpr sycl::usm::alloc device_memory = sycl::usm::alloc::device;

void expect_range(const std::vector<int> &numbers, int first, int sign)
{
    for (size_t i = 0; i < numbers.size(); i++)
        EXPECT_EQ(numbers[i], sign * (first + static_cast<int>(i)));
}

} // namespace

STORY(memory_of_a_queue_is_used_again_by_its_later_commands)
{
    constexpr int rounds = 20;
    sycl::queue queue = make_in_order_queue();
    EXPECT(queue.get_device().has(sycl::aspect::ext_oneapi_async_memory_alloc));
    const sycl::kernel negate = kernel_of(queue.get_context(), "negate", "negate");
    const syclexp::memory_pool pool =
        queue.get_context().ext_oneapi_get_default_memory_pool(queue.get_device(), device_memory);
    std::vector<std::vector<int>> in(rounds), out(rounds);
    void *first = nullptr;
    int used_again = 0;
    for (int i = 0; i < rounds; i++) {
        in[i] = count_from(i, count);
        out[i].resize(count);
        int *memory =
            static_cast<int *>(syclexp::async_malloc(queue, device_memory, count * sizeof(int)));
        used_again += memory == first;
        first = first ? first : memory;
        queue.copy(in[i].data(), memory, count);
        queue.submit([&](sycl::handler &handler) {
            handler.set_arg(0, memory);
            handler.parallel_for(sycl::range<1>(count), negate);
        });
        queue.copy(memory, out[i].data(), count);
        syclexp::async_free(queue, memory);
        EXPECT_EQ(pool.get_used_size_current(), 0u);
    }
    queue.wait_and_throw();
    for (int i = 0; i < rounds; i++)
        expect_range(out[i], i, -1);
    EXPECT_EQ(used_again, rounds - 1);
}

STORY(another_queue_has_the_memory_after_the_event)
{
    sycl::queue queue = make_queue();
    sycl::queue second = make_queue();
    std::vector<int> numbers = count_from(1, count), out(count), others(count);
    int *memory = nullptr;
    int *again = nullptr;
    const size_t size = count * sizeof(int);
    const sycl::event allocated = queue.submit([&](sycl::handler &handler) {
        memory = static_cast<int *>(syclexp::async_malloc(handler, device_memory, size));
    });
    const sycl::event written = queue.copy(numbers.data(), memory, count, allocated);
    const sycl::event read = queue.copy(memory, out.data(), count, written);
    const sycl::event freed = queue.submit([&](sycl::handler &handler) {
        handler.depends_on(read);
        syclexp::async_free(handler, memory);
    });
    const sycl::event allocated_again = second.submit([&](sycl::handler &handler) {
        handler.depends_on(freed);
        again = static_cast<int *>(syclexp::async_malloc(handler, device_memory, size));
    });
    EXPECT_EQ(again, memory);
    const sycl::event set = second.memset(again, 0, size, allocated_again);
    second.copy(again, others.data(), count, set).wait_and_throw();
    expect_range(out, 1, 1);
    EXPECT(others == std::vector<int>(count));
    syclexp::async_free(second, again);
    second.wait_and_throw();
}

STORY(pools_have_limits)
{
    sycl::queue queue = make_in_order_queue();
    syclexp::memory_pool pool(queue, device_memory,
                              syclexp::properties{syclexp::initial_threshold(10 * mib),
                                                  syclexp::maximum_size(40 * mib),
                                                  syclexp::zero_init()});
    EXPECT_EQ(pool.get_threshold(), 10 * mib);
    EXPECT(pool.get_context() == queue.get_context());
    EXPECT(pool.get_device() == queue.get_device());
    void *memory = syclexp::async_malloc_from_pool(queue, 30 * mib, pool);
    EXPECT_EQ(pool.get_used_size_current(), 30 * mib);
    EXPECT_EQ(pool.get_reserved_size_current(), 30 * mib);
    std::vector<unsigned char> bytes(30 * mib, 1);
    queue.copy(static_cast<unsigned char *>(memory), bytes.data(), bytes.size()).wait();
    EXPECT(bytes == std::vector<unsigned char>(30 * mib));
    EXPECT_ERROR(runtime, syclexp::async_malloc_from_pool(queue, 20 * mib, pool));
    syclexp::async_free(queue, memory);
    queue.wait();
    EXPECT_EQ(pool.get_used_size_current(), 0u);
    EXPECT_EQ(pool.get_reserved_size_current(), 0u);
    pool.increase_threshold_to(35 * mib);
    memory = syclexp::async_malloc_from_pool(queue, 30 * mib, pool);
    syclexp::async_free(queue, memory);
    queue.wait();
    EXPECT_EQ(pool.get_reserved_size_current(), 30 * mib);
    EXPECT_EQ(syclexp::async_malloc_from_pool(queue, 30 * mib, pool), memory);
    syclexp::async_free(queue, memory);
    queue.wait();
}

// The SYCL runtime refuses them.
STORY(pools_are_of_device_memory_alone)
{
    sycl::queue queue = make_queue();
    EXPECT_ERROR(feature_not_supported, syclexp::async_malloc(queue, sycl::usm::alloc::shared, 64));
    EXPECT_ERROR(feature_not_supported, syclexp::memory_pool(queue, sycl::usm::alloc::host));
}
