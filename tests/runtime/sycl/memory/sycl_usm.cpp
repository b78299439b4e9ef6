// SPDX-License-Identifier: MIT
// Unified shared memory: its kinds, and every command on it.
#include "sycl_support.hpp"

#if TEST_SYCL_RELEASE >= 20262
#include <sycl/ext/oneapi/experimental/register_host_memory.hpp>
#endif

#include <cstdlib>

namespace
{

const sycl::usm::alloc all_kinds[] = {sycl::usm::alloc::host, sycl::usm::alloc::device,
                                      sycl::usm::alloc::shared};

// USM that goes with its scope.
template <class T> class usm
{
  public:
    usm(const sycl::queue &queue, size_t count, sycl::usm::alloc kind)
        : queue_(queue), memory_(sycl::malloc<T>(count, queue, kind))
    {
        EXPECT(memory_ != nullptr);
    }
    ~usm()
    {
        sycl::free(memory_, queue_);
    }
    usm(const usm &) = delete;
    usm &operator=(const usm &) = delete;
    T *get() const
    {
        return memory_;
    }

  private:
    sycl::queue queue_;
    T *memory_;
};

// The contents of memory of any kind.
template <class T> std::vector<T> read(sycl::queue &queue, const T *memory, size_t count)
{
    std::vector<T> values(count);
    queue.memcpy(values.data(), memory, count * sizeof(T)).wait();
    return values;
}

void prefetch_to_host(sycl::queue &queue, void *memory, size_t bytes)
{
#if TEST_SYCL_RELEASE >= 20260
    syclexp::prefetch(queue, memory, bytes, syclexp::prefetch_type::host);
#else
    // To the device, which is the only direction there.
    syclexp::prefetch(queue, memory, bytes);
#endif
}

} // namespace

STORY(the_runtime_knows_each_kind_and_its_device)
{
    sycl::queue queue = make_queue();
    for (sycl::usm::alloc kind : all_kinds) {
        usm<int> memory(queue, 100, kind);
        EXPECT(sycl::get_pointer_type(memory.get(), queue.get_context()) == kind);
        EXPECT(sycl::get_pointer_type(memory.get() + 99, queue.get_context()) == kind);
        EXPECT(sycl::get_pointer_device(memory.get(), queue.get_context()) == queue.get_device());
    }
    int on_stack = 0;
    EXPECT(sycl::get_pointer_type(&on_stack, queue.get_context()) == sycl::usm::alloc::unknown);
    EXPECT_ERROR(invalid, sycl::get_pointer_device(&on_stack, queue.get_context()));
}

STORY(copies_go_between_all_kinds_and_host_memory)
{
    sycl::queue queue = make_queue();
    const std::vector<int> numbers = count_from(1000, 777);
    for (sycl::usm::alloc from_kind : all_kinds) {
        for (sycl::usm::alloc to_kind : all_kinds) {
            usm<int> from(queue, numbers.size(), from_kind);
            usm<int> to(queue, numbers.size(), to_kind);
            sycl::event first = queue.copy(numbers.data(), from.get(), numbers.size());
            sycl::event second = queue.memcpy(to.get(), from.get(), 777 * sizeof(int), first);
            second.wait();
            EXPECT(read(queue, to.get(), numbers.size()) == numbers);
            // A part of it, from an odd place on.
            queue.copy(from.get() + 13, to.get() + 1, 5).wait();
            EXPECT(read(queue, to.get(), 7) ==
                   (std::vector<int>{1000, 1013, 1014, 1015, 1016, 1017, 1006}));
        }
    }
}

STORY(memset_sets_bytes)
{
    sycl::queue queue = make_queue();
    for (sycl::usm::alloc kind : all_kinds) {
        usm<uint8_t> memory(queue, 1001, kind);
        queue.memset(memory.get(), 0x11, 1001).wait();
        queue.memset(memory.get() + 3, 0x1a5, 994).wait(); // the value is taken as a byte
        const auto found = read(queue, memory.get(), 1001);
        EXPECT_EQ(static_cast<int>(found[2]), 0x11);
        EXPECT_EQ(static_cast<int>(found[3]), 0xa5);
        EXPECT_EQ(static_cast<int>(found[996]), 0xa5);
        EXPECT_EQ(static_cast<int>(found[997]), 0x11);
    }
}

STORY(commands_of_no_bytes_are_fine)
{
    sycl::queue queue = make_queue();
    usm<int> memory(queue, 4, sycl::usm::alloc::device);
    queue.memset(memory.get(), 0x22, 4 * sizeof(int)).wait();
    queue.memcpy(memory.get(), memory.get() + 1, 0).wait();
    queue.memset(memory.get(), 1, 0).wait();
    queue.copy(memory.get(), memory.get() + 1, 0).wait();
    queue.memcpy(nullptr, nullptr, 0).wait();
    EXPECT_EQ(read(queue, memory.get(), 1)[0], 0x22222222);
}

// Rows with pitches, between device memory and every other.
STORY(two_dimensional_copies_respect_pitches)
{
    sycl::queue queue = make_queue();
    const size_t width = 5, height = 7, from_pitch = 8, to_pitch = 11;
    const std::vector<int> numbers = count_from(0, from_pitch * height);
    for (sycl::usm::alloc from_kind : all_kinds) {
        for (sycl::usm::alloc to_kind : all_kinds) {
            usm<int> from(queue, from_pitch * height, from_kind);
            usm<int> to(queue, to_pitch * height, to_kind);
            queue.copy(numbers.data(), from.get(), numbers.size()).wait();
            queue.memset(to.get(), 0xff, to_pitch * height * sizeof(int)).wait();
            queue.ext_oneapi_copy2d(from.get(), from_pitch, to.get(), to_pitch, width, height)
                .wait();
            const auto found = read(queue, to.get(), to_pitch * height);
            for (size_t y = 0; y < height; y++)
                for (size_t x = 0; x < to_pitch; x++)
                    EXPECT_EQ(found[y * to_pitch + x],
                              x < width ? static_cast<int>(y * from_pitch + x) : -1);
        }
    }
}

STORY(two_dimensional_copies_reach_host_memory)
{
    sycl::queue queue = make_queue();
    std::vector<int> from = count_from(0, 60), to(60, -1);
    usm<int> memory(queue, 60, sycl::usm::alloc::device);
    queue.memset(memory.get(), 0xfe, 60 * sizeof(int)).wait();
    queue.ext_oneapi_memcpy2d(memory.get(), 40, from.data(), 24, 12, 6).wait();
    queue.ext_oneapi_memcpy2d(to.data(), 20, memory.get(), 40, 16, 6).wait();
    for (int y = 0; y < 6; y++) {
        for (int x = 0; x < 3; x++)
            EXPECT_EQ(to[5 * y + x], 6 * y + x);
        EXPECT_EQ(to[5 * y + 3], static_cast<int>(0xfefefefe));
        EXPECT_EQ(to[5 * y + 4], -1);
    }
}

// In device memory the runtime does it with a kernel that a compiler for SYCL makes.
STORY(two_dimensional_fills_of_host_memory_leave_the_rest_of_the_rows)
{
    sycl::queue queue = make_queue();
    usm<int> memory(queue, 60, sycl::usm::alloc::host);
    std::fill_n(memory.get(), 60, 9);
    sycl::event first = queue.ext_oneapi_memset2d(memory.get(), 40, 0x33, 12, 6);
    queue.ext_oneapi_fill2d(memory.get() + 5, 10, 77, 4, 5, first).wait();
    for (int i = 0; i < 60; i++)
        EXPECT_EQ(memory.get()[i], i % 10 < 3                            ? 0x33333333
                                   : i % 10 >= 5 && i % 10 < 9 && i < 50 ? 77
                                                                         : 9);
}

STORY(prefetch_and_advice_keep_what_is_there)
{
    sycl::queue queue = make_queue();
    usm<int> memory(queue, 1000, sycl::usm::alloc::shared);
    std::iota(memory.get(), memory.get() + 1000, 0);
    queue.prefetch(memory.get(), 4000).wait();
    queue.mem_advise(memory.get(), 4000, 0).wait();
    queue.prefetch(memory.get() + 10, 40, queue.memset(memory.get(), 0, 4)).wait();
    prefetch_to_host(queue, memory.get(), 4000);
    queue.wait();
    EXPECT_EQ(memory.get()[0], 0);
    EXPECT_EQ(memory.get()[999], 999);
}

STORY(memory_is_aligned_as_asked)
{
    sycl::queue queue = make_queue();
    for (sycl::usm::alloc kind : all_kinds) {
        for (size_t alignment : {1, 2, 8, 64, 256, 4096}) {
            void *memory = sycl::aligned_alloc(alignment, 100, queue, kind);
            EXPECT(memory != nullptr);
            EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
            sycl::free(memory, queue);
        }
    }
}

STORY(too_much_memory_is_no_memory)
{
    sycl::queue queue = make_queue();
    for (sycl::usm::alloc kind : all_kinds) {
        EXPECT(sycl::malloc(static_cast<size_t>(1) << 60, queue, kind) == nullptr);
        // And the next one is there again.
        usm<int> memory(queue, 4, kind);
        queue.memset(memory.get(), 3, 4 * sizeof(int)).wait();
        EXPECT_EQ(read(queue, memory.get(), 4)[3], 0x03030303);
    }
}

STORY(free_of_null_is_nothing)
{
    sycl::queue queue = make_queue();
    sycl::free(nullptr, queue);
    sycl::free(nullptr, queue.get_context());
}

STORY(containers_live_in_shared_and_host_memory)
{
    sycl::queue queue = make_queue();
    using allocator = sycl::usm_allocator<int, sycl::usm::alloc::shared>;
    std::vector<int, allocator> numbers(allocator{queue});
    for (int i = 0; i < 5000; i++)
        numbers.push_back(i);
    sycl::kernel negate = kernel_of(queue.get_context(), "negate", "negate");
    queue
        .submit([&](sycl::handler &handler) {
            handler.set_arg(0, numbers.data());
            handler.parallel_for(sycl::range<1>(numbers.size()), negate);
        })
        .wait();
    for (int i = 0; i < 5000; i++)
        EXPECT_EQ(numbers[i], -i);
}

STORY(kernels_see_all_kinds)
{
    sycl::queue queue = make_queue();
    sycl::kernel negate = kernel_of(queue.get_context(), "negate", "negate");
    for (sycl::usm::alloc kind : all_kinds) {
        usm<int> memory(queue, 100, kind);
        const std::vector<int> numbers = count_from(1, 100);
        sycl::event copied = queue.copy(numbers.data(), memory.get(), 100);
        queue
            .submit([&](sycl::handler &handler) {
                handler.depends_on(copied);
                handler.set_arg(0, memory.get());
                handler.parallel_for(sycl::range<1>(100), negate);
            })
            .wait();
        EXPECT_EQ(read(queue, memory.get(), 100)[99], -100);
    }
}

STORY(the_host_writes_shared_memory_between_kernels)
{
    sycl::queue queue = make_queue();
    sycl::kernel negate = kernel_of(queue.get_context(), "negate", "negate");
    usm<int> memory(queue, 8, sycl::usm::alloc::shared);
    std::fill_n(memory.get(), 8, 1);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 8; i++)
            memory.get()[i] += i;
        queue
            .submit([&](sycl::handler &handler) {
                handler.set_arg(0, memory.get());
                handler.parallel_for(sycl::range<1>(8), negate);
            })
            .wait();
    }
    // x -> -(x + i), ten times: back at 1.
    for (int i = 0; i < 8; i++)
        EXPECT_EQ(memory.get()[i], 1);
}

#if TEST_SYCL_RELEASE >= 20262
// A driver that would not undo it (Intel's 26.27) refuses, and the program goes on.
STORY(memory_of_the_host_is_registered)
{
    const size_t page = 4096;
    sycl::queue queue = make_queue();
    sycl::kernel negate = kernel_of(queue.get_context(), "negate", "negate");
    int *memory = static_cast<int *>(std::aligned_alloc(page, page));
    bool is_registered = true;
    std::fill_n(memory, 100, 7);
    try {
        syclexp::register_host_memory(memory, page, queue.get_context());
    } catch (const sycl::exception &) {
        is_registered = false;
    }
    const sycl::device device = queue.get_device();
    EXPECT_EQ(is_registered, device.has(sycl::aspect::ext_oneapi_register_host_memory));
    EXPECT(is_registered ||
           device.get_info<sycl::info::device::vendor>() != "zepi"); // ze_cpu has it
    if (is_registered) {
        EXPECT(sycl::get_pointer_type(memory, queue.get_context()) == sycl::usm::alloc::host);
        queue
            .submit([&](sycl::handler &handler) {
                handler.set_arg(0, memory);
                handler.parallel_for(sycl::range<1>(100), negate);
            })
            .wait();
        EXPECT_EQ(memory[99], -7);
        syclexp::unregister_host_memory(memory, queue.get_context());
    }
    EXPECT(sycl::get_pointer_type(memory, queue.get_context()) == sycl::usm::alloc::unknown);
    EXPECT_EQ(memory[0], is_registered ? -7 : 7);
    std::free(memory);
}
#endif
