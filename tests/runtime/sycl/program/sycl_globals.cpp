// SPDX-License-Identifier: MIT
// Device globals with a place in the program's image: the host copies to and from them by name.
#include "sycl_code.hpp"

namespace
{

using image_scope = decltype(syclexp::properties(syclexp::device_image_scope));
syclexp::device_global<int[4], image_scope> counters;

class count_kernel;

} // namespace

using sycl::detail::kernel_param_kind_t;
DESCRIBE_KERNEL(count_kernel, "count", 16, {kernel_param_kind_t::kind_std_layout, 4, 0},
                {kernel_param_kind_t::kind_pointer, 8, 8})

namespace
{

struct all_code {
    program_code counter{"counter", {"count"}};
    all_code()
    {
        counter.image_global("counters", sizeof(int[4]), &counters).embed();
    }
};
const all_code program;

struct fixture {
    sycl::queue queue = make_queue();
    int *now = sycl::malloc_shared<int>(1, queue);
    ~fixture()
    {
        sycl::free(now, queue);
    }
    int count(int by)
    {
        int *out = now;
        queue
            .submit([&](sycl::handler &handler) {
                handler.single_task<count_kernel>([by, out] { *out = by; });
            })
            .wait_and_throw();
        return *out;
    }
};

} // namespace

STORY(the_host_writes_what_kernels_read)
{
    fixture test;
    const int start[4] = {10, 20, 30, 40};
    test.queue.memcpy(counters, start, sizeof(start)).wait();
    EXPECT_EQ(test.count(5), 35);
    EXPECT_EQ(test.count(5), 40);
}

STORY(the_host_reads_what_kernels_wrote)
{
    fixture test;
    const int start[4] = {1, 2, 3, 4};
    int found[4] = {};
    test.queue.memcpy(counters, start, sizeof(start)).wait();
    test.count(100);
    test.queue.memcpy(found, counters).wait();
    EXPECT_EQ(found[0], 1);
    EXPECT_EQ(found[2], 103);
    EXPECT_EQ(found[3], 4);
}

STORY(parts_of_a_global_are_copied)
{
    fixture test;
    const int start[4] = {1, 2, 3, 4}, third = 300;
    int found = 0;
    sycl::event written = test.queue.memcpy(counters, start, sizeof(start));
    sycl::event changed =
        test.queue.memcpy(counters, &third, sizeof(int), 2 * sizeof(int), written);
    test.queue.memcpy(&found, counters, sizeof(int), 3 * sizeof(int), changed).wait();
    EXPECT_EQ(found, 4);
    EXPECT_EQ(test.count(1), 301);
    int *device = sycl::malloc_device<int>(2, test.queue);
    test.queue.memcpy(device, counters, 8, 4).wait();
    test.queue.memcpy(counters, device, 8, 0).wait();
    test.queue.memcpy(&found, counters, sizeof(int), 4).wait();
    EXPECT_EQ(found, 301);
    sycl::free(device, test.queue);
}

STORY(a_copy_past_the_end_is_refused)
{
    fixture test;
    const int values[5] = {};
    EXPECT_ERROR(invalid, test.queue.memcpy(counters, values, sizeof(values)));
    EXPECT_ERROR(invalid, test.queue.memcpy(counters, values, 8, 12));
}

STORY(each_context_has_its_own)
{
    fixture test;
    sycl::queue other(sycl::context(test.queue.get_device()), test.queue.get_device());
    const int here[4] = {1, 1, 1, 1}, there[4] = {2, 2, 2, 2};
    int found[4];
    test.queue.memcpy(counters, here, sizeof(here)).wait();
    other.memcpy(counters, there, sizeof(there)).wait();
    test.queue.memcpy(found, counters).wait();
    EXPECT_EQ(found[3], 1);
    other.memcpy(found, counters).wait();
    EXPECT_EQ(found[3], 2);
}
