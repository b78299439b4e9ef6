// SPDX-License-Identifier: MIT
// Addresses that are reserved, and memory that is mapped there.
#include "sycl_support.hpp"

#include <sycl/ext/oneapi/virtual_mem/virtual_mem.hpp>

namespace
{

struct fixture {
    sycl::queue queue = make_queue();
    sycl::context context = queue.get_context();
    sycl::kernel negate = kernel_of(context, "negate", "negate");
    size_t page;
    fixture()
    {
        EXPECT(queue.get_device().has(sycl::aspect::ext_oneapi_virtual_mem));
        page = syclexp::get_mem_granularity(queue.get_device(), context);
    }
    void write(int *to, int first, size_t count)
    {
        const std::vector<int> numbers = count_from(first, count);
        queue.copy(numbers.data(), to, count).wait();
    }
    int read(const int *from)
    {
        int value = 0;
        queue.copy(from, &value, 1).wait();
        return value;
    }
};

} // namespace

STORY(granularities_are_pages)
{
    fixture test;
    const size_t least = syclexp::get_mem_granularity(test.queue.get_device(), test.context,
                                                      syclexp::granularity_mode::minimum);
    EXPECT(least > 0);
    EXPECT(test.page % least == 0);
    EXPECT(syclexp::get_mem_granularity(test.context) >= least);
}

STORY(mapped_memory_is_used_by_kernels_and_copies)
{
    fixture test;
    const uintptr_t address = syclexp::reserve_virtual_mem(2 * test.page, test.context);
    EXPECT(address != 0);
    syclexp::physical_mem memory(test.queue, 2 * test.page);
    EXPECT_EQ(memory.size(), 2 * test.page);
    EXPECT(memory.get_device() == test.queue.get_device());
    void *mapped = memory.map(address, 2 * test.page, syclexp::address_access_mode::read_write);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(mapped), address);
    EXPECT(syclexp::get_access_mode(mapped, 2 * test.page, test.context) ==
           syclexp::address_access_mode::read_write);
    int *data = static_cast<int *>(mapped);
    const size_t count = 2 * test.page / sizeof(int);
    test.write(data, 0, count);
    test.queue
        .submit([&](sycl::handler &handler) {
            handler.set_arg(0, data);
            handler.parallel_for(sycl::range<1>(count), test.negate);
        })
        .wait();
    EXPECT_EQ(test.read(data + count - 1), -static_cast<int>(count - 1));
    syclexp::unmap(mapped, 2 * test.page, test.context);
    syclexp::free_virtual_mem(address, 2 * test.page, test.context);
}

STORY(memory_keeps_its_contents_wherever_it_is_mapped)
{
    fixture test;
    const uintptr_t address = syclexp::reserve_virtual_mem(4 * test.page, test.context);
    syclexp::physical_mem first(test.queue, test.page), second(test.queue, test.page);
    const auto at = [&](size_t page) {
        return reinterpret_cast<int *>(address + page * test.page);
    };
    constexpr auto all = syclexp::address_access_mode::read_write;
    first.map(address, test.page, all);
    second.map(address + test.page, test.page, all);
    test.write(at(0), 100, 4);
    test.write(at(1), 200, 4);
    // One range of two pieces.
    const std::vector<int> seam = {1, 2, 3, 4};
    test.queue.copy(seam.data(), at(1) - 2, 4).wait();
    EXPECT_EQ(test.read(at(1) + 1), 4);
    // They change places.
    syclexp::unmap(at(0), test.page, test.context);
    syclexp::unmap(at(1), test.page, test.context);
    second.map(address, test.page, all);
    first.map(address + 3 * test.page, test.page, all);
    EXPECT_EQ(test.read(at(0) + 3), 203);
    EXPECT_EQ(test.read(at(3) + 3), 103);
    syclexp::unmap(at(0), test.page, test.context);
    syclexp::unmap(at(3), test.page, test.context);
    syclexp::free_virtual_mem(address, 4 * test.page, test.context);
}

STORY(access_changes)
{
    fixture test;
    const uintptr_t address = syclexp::reserve_virtual_mem(test.page, test.context);
    syclexp::physical_mem memory(test.queue, test.page);
    using mode = syclexp::address_access_mode;
    void *mapped = memory.map(address, test.page, mode::read_write);
    test.write(static_cast<int *>(mapped), 7, 1);
    for (mode next : {mode::read, mode::read_write}) {
        syclexp::set_access_mode(mapped, test.page, next, test.context);
        EXPECT(syclexp::get_access_mode(mapped, test.page, test.context) == next);
        EXPECT_EQ(test.read(static_cast<int *>(mapped)), 7);
    }
    syclexp::unmap(mapped, test.page, test.context);
    syclexp::free_virtual_mem(address, test.page, test.context);
}

STORY(sizes_that_are_no_pages_are_errors)
{
    fixture test;
    EXPECT_ERROR(runtime, syclexp::reserve_virtual_mem(test.page + 1, test.context));
    EXPECT_ERROR(runtime, syclexp::physical_mem(test.queue, test.page + 1));
    const uintptr_t address = syclexp::reserve_virtual_mem(test.page, test.context);
    syclexp::physical_mem memory(test.queue, test.page);
    EXPECT_ERROR(runtime,
                 memory.map(address, 2 * test.page, syclexp::address_access_mode::read_write));
    syclexp::free_virtual_mem(address, test.page, test.context);
}
