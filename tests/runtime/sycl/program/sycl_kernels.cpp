// SPDX-License-Identifier: MIT
// Kernels: ranges, groups, arguments, local memory, and queries about them.
#include "sycl_support.hpp"

namespace
{

namespace group_info = sycl::info::kernel_device_specific;

template <class Range, class... Arguments>
void launch(sycl::queue &queue, const sycl::kernel &kernel, const Range &range,
            const Arguments &...arguments)
{
    queue
        .submit([&](sycl::handler &handler) {
            handler.set_args(arguments...);
            handler.parallel_for(range, kernel);
        })
        .wait_and_throw();
}

// The value that the kernel store_ids writes for a place.
int packed(size_t x, size_t y, size_t z)
{
    return static_cast<int>(x + 100 * y + 10000 * z);
}

} // namespace

STORY(ranges_of_one_two_and_three_dimensions)
{
    sycl::queue queue = make_queue();
    sycl::kernel count = kernel_of(queue.get_context(), "launches", "count_items");
    const size_t size = 7 * 13 * 29;
    shared_array<int> counts(queue, size);
    launch(queue, count, sycl::range<1>(size), counts.get());
    launch(queue, count, sycl::range<2>(13, 7 * 29), counts.get());
    launch(queue, count, sycl::range<3>(7, 29, 13), counts.get());
    for (size_t i = 0; i < size; i++)
        EXPECT_EQ(counts[i], 3);
}

STORY(ids_and_groups_are_where_sycl_puts_them)
{
    sycl::queue queue = make_queue();
    sycl::kernel store = kernel_of(queue.get_context(), "arguments", "store_ids");
    // The last dimension of SYCL is the first of the device.
    const size_t depth = 4, height = 6, width = 10;
    shared_array<int> ids(queue, 3 * depth * height * width);
    launch(queue, store, sycl::nd_range<3>({depth, height, width}, {2, 3, 5}), ids.get());
    for (size_t z = 0; z < depth; z++)
        for (size_t y = 0; y < height; y++)
            for (size_t x = 0; x < width; x++) {
                const int *found = &ids[3 * ((z * height + y) * width + x)];
                EXPECT_EQ(found[0], packed(x, y, z));
                EXPECT_EQ(found[1], packed(x % 5, y % 3, z % 2));
                EXPECT_EQ(found[2], packed(x / 5, y / 3, z / 2));
            }
}

STORY(a_range_of_a_prime_number_of_items_is_complete)
{
    sycl::queue queue = make_queue();
    sycl::kernel count = kernel_of(queue.get_context(), "launches", "count_items");
    for (size_t size : {1u, 2u, 1009u, 1000003u}) {
        shared_array<int> counts(queue, size);
        launch(queue, count, sycl::range<1>(size), counts.get());
        EXPECT_EQ(std::accumulate(counts.get(), counts.get() + size, 0), static_cast<int>(size));
    }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
STORY(offsets_shift_global_ids_alone)
{
    sycl::queue queue = make_queue();
    sycl::kernel note = kernel_of(queue.get_context(), "launches", "note_ends");
    shared_array<int> ends(queue, 9);
    launch(queue, note, sycl::nd_range<3>({4, 6, 8}, {2, 3, 4}, {100, 200, 300}), ends.get());
    const int expected[9] = {300, 200, 100, 307, 205, 103, 4, 3, 2};
    for (int i = 0; i < 9; i++)
        EXPECT_EQ(ends[i], expected[i]);
    // And the next launch has none again.
    launch(queue, note, sycl::nd_range<1>(40, 10), ends.get());
    EXPECT_EQ(ends[0], 0);
    EXPECT_EQ(ends[3], 39);
}
#pragma GCC diagnostic pop

STORY(a_single_task_is_one_item)
{
    sycl::queue queue = make_queue();
    sycl::kernel count = kernel_of(queue.get_context(), "launches", "count_items");
    shared_array<int> counts(queue, 2);
    queue
        .submit([&](sycl::handler &handler) {
            handler.set_arg(0, counts.get());
            handler.single_task(count);
        })
        .wait();
    EXPECT_EQ(counts[0], 1);
    EXPECT_EQ(counts[1], 0);
}

STORY(values_of_every_size_reach_the_kernel)
{
    struct pair {
        char first;
        long second;
    };
    sycl::queue queue = make_queue();
    sycl::kernel store = kernel_of(queue.get_context(), "arguments", "store_values");
    shared_array<long> out(queue, 8);
    launch(queue, store, sycl::range<1>(1), static_cast<char>(-3), static_cast<short>(-300), 70000,
           1L << 40, 1.5f, sycl::int4(1, 2, 3, 4), pair{7, -(1L << 50)}, out.get());
    const long expected[8] = {-3, -300, 70000, 1L << 40, 0x3fc00000, 4321, 7, -(1L << 50)};
    for (int i = 0; i < 8; i++)
        EXPECT_EQ(out[i], expected[i]);
}

STORY(structures_of_several_words_reach_the_kernel)
{
    struct words {
        long words[4];
    };
    sycl::queue queue = make_queue();
    sycl::kernel store = kernel_of(queue.get_context(), "launches", "store_words");
    shared_array<long> out(queue, 4);
    launch(queue, store, sycl::range<1>(1), words{{1, -2, 1L << 40, -4}}, out.get());
    const long expected[4] = {1, -2, 1L << 40, -4};
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(out[i], expected[i]);
}

STORY(null_pointers_arrive_as_null)
{
    sycl::queue queue = make_queue();
    sycl::kernel find = kernel_of(queue.get_context(), "launches", "find_null");
    shared_array<int> out(queue, 2), other(queue, 1);
    launch(queue, find, sycl::range<1>(1), static_cast<int *>(nullptr), other.get(), out.get());
    EXPECT_EQ(out[0], 1);
    EXPECT_EQ(out[1], 0);
}

STORY(pointers_in_memory_and_in_values_are_followed)
{
    sycl::queue queue = make_queue();
    sycl::kernel follow = kernel_of(queue.get_context(), "launches", "follow_pointers");
    shared_array<int> target(queue, 2);
    shared_array<int *> addresses(queue, 1);
    addresses[0] = target.get();
    launch(queue, follow, sycl::range<1>(1), addresses.get(),
           reinterpret_cast<uintptr_t>(target.get()));
    EXPECT_EQ(target[0], 1);
    EXPECT_EQ(target[1], 1);
}

STORY(local_accessors_are_memory_of_each_group)
{
    sycl::queue queue = make_queue();
    sycl::kernel sum = kernel_of(queue.get_context(), "arguments", "sum_groups");
    shared_array<int> in(queue, 256), sums(queue, 16);
    std::iota(in.get(), in.get() + 256, 0);
    for (size_t group : {16u, 32u, 64u}) {
        queue
            .submit([&](sycl::handler &handler) {
                handler.set_args(in.get(), sycl::local_accessor<int, 1>(group, handler),
                                 sums.get());
                handler.parallel_for(sycl::nd_range<1>(256, group), sum);
            })
            .wait();
        for (size_t i = 0; i < 256 / group; i++)
            EXPECT_EQ(sums[i], static_cast<int>(group * (group * i) + group * (group - 1) / 2));
    }
}

STORY(too_much_local_memory_is_an_error)
{
    sycl::queue queue = make_queue();
    sycl::kernel sum = kernel_of(queue.get_context(), "arguments", "sum_groups");
    shared_array<int> in(queue, 16), sums(queue, 1);
    const size_t limit = queue.get_device().get_info<sycl::info::device::local_mem_size>();
    const auto submit = [&] {
        queue
            .submit([&](sycl::handler &handler) {
                handler.set_args(in.get(), sycl::local_accessor<char, 1>(limit + 16, handler),
                                 sums.get());
                handler.parallel_for(sycl::nd_range<1>(16, 16), sum);
            })
            .wait();
    };
    EXPECT_ERROR(runtime, submit());
    // The queue is none the worse for it.
    in[0] = 5;
    queue
        .submit([&](sycl::handler &handler) {
            handler.set_args(in.get(), sycl::local_accessor<int, 1>(16, handler), sums.get());
            handler.parallel_for(sycl::nd_range<1>(16, 16), sum);
        })
        .wait();
    EXPECT_EQ(sums[0], 5);
}

STORY(a_required_group_size_is_known_and_kept)
{
    sycl::queue queue = make_queue();
    sycl::device device = queue.get_device();
    sycl::kernel needs = kernel_of(queue.get_context(), "launches", "needs_8_by_4");
    const sycl::range<3> size = needs.get_info<group_info::compile_work_group_size>(device);
    EXPECT(size == sycl::range<3>(8, 4, 1) || size == sycl::range<3>(1, 4, 8));
    shared_array<int> counts(queue, 32 * 16);
    launch(queue, needs, sycl::nd_range<2>({16, 32}, {4, 8}), counts.get());
    for (int i = 0; i < 32 * 16; i++)
        EXPECT_EQ(counts[i], 1);
    EXPECT_ERROR(nd_range, launch(queue, needs, sycl::nd_range<2>({16, 32}, {8, 4}), counts.get()));
}

STORY(group_sizes_that_cannot_be_are_errors)
{
    sycl::queue queue = make_queue();
    sycl::kernel count = kernel_of(queue.get_context(), "launches", "count_items");
    shared_array<int> counts(queue, 1);
    const size_t limit = queue.get_device().get_info<sycl::info::device::max_work_group_size>();
    EXPECT_ERROR(nd_range,
                 launch(queue, count, sycl::nd_range<1>(4 * limit, 2 * limit), counts.get()));
    EXPECT_ERROR(nd_range, launch(queue, count, sycl::nd_range<1>(100, 33), counts.get()));
}

STORY(kernels_answer_questions)
{
    sycl::queue queue = make_queue();
    sycl::device device = queue.get_device();
    auto bundle = build_spirv(queue.get_context(), "arguments");
    sycl::kernel store = bundle.ext_oneapi_get_kernel("store_values");
    EXPECT_EQ(store.get_info<sycl::info::kernel::num_args>(), 8u);
    EXPECT_EQ(store.get_info<sycl::info::kernel::function_name>(), "store_values");
    EXPECT_EQ(store.get_info<sycl::info::kernel::attributes>(), "");
    EXPECT(store.get_context() == queue.get_context());
    EXPECT(store.get_backend() == sycl::backend::ext_oneapi_level_zero);
    EXPECT(store.get_kernel_bundle() == bundle);
    const size_t most = device.get_info<sycl::info::device::max_work_group_size>();
    EXPECT(store.get_info<group_info::work_group_size>(device) > 0);
    EXPECT(store.get_info<group_info::work_group_size>(device) <= most);
    EXPECT(store.get_info<group_info::preferred_work_group_size_multiple>(device) > 0);
    EXPECT(store.get_info<group_info::compile_work_group_size>(device) == sycl::range<3>(0, 0, 0));
    store.get_info<group_info::private_mem_size>(device);
    // For kernels that are built into a device alone.
    EXPECT_ERROR(invalid, store.get_info<group_info::global_work_size>(device));
    sycl::kernel needs = kernel_of(queue.get_context(), "launches", "needs_8_by_4");
    EXPECT_EQ(needs.get_info<sycl::info::kernel::attributes>(), "reqd_work_group_size(8,4,1)");
}

STORY(kernels_answer_questions_about_sub_groups)
{
    sycl::queue queue = make_queue();
    sycl::device device = queue.get_device();
    sycl::kernel store = kernel_of(queue.get_context(), "arguments", "store_ids");
    const std::vector<size_t> sizes = device.get_info<sycl::info::device::sub_group_sizes>();
    EXPECT(!sizes.empty());
    const uint32_t size = store.get_info<group_info::max_sub_group_size>(device);
    EXPECT(std::find(sizes.begin(), sizes.end(), size) != sizes.end());
    EXPECT(store.get_info<group_info::max_num_sub_groups>(device) > 0);
    EXPECT_EQ(store.get_info<group_info::compile_num_sub_groups>(device), 0u);
    EXPECT_EQ(store.get_info<group_info::compile_sub_group_size>(device), 0u);
}

STORY(kernels_answer_questions_about_queues)
{
    namespace queue_info = syclexp::info::kernel_queue_specific;
    sycl::queue queue = make_queue();
    sycl::kernel store = kernel_of(queue.get_context(), "arguments", "store_ids");
    EXPECT(store.ext_oneapi_get_info<queue_info::max_work_group_size>(queue) > 0);
    EXPECT(store.ext_oneapi_get_info<queue_info::max_work_item_sizes<3>>(queue)[2] > 0);
    const sycl::range<1> group(16);
    const uint32_t size = store.ext_oneapi_get_info<queue_info::max_sub_group_size>(queue, group);
    EXPECT(size > 0);
    // The runtime gives the number for the largest group, for any requested group.
    EXPECT(store.ext_oneapi_get_info<queue_info::num_sub_groups>(queue, group) >=
           (16 + size - 1) / size);
    EXPECT(store.ext_oneapi_get_info<queue_info::max_num_work_groups>(queue, group, 0) > 0);
}

STORY(one_kernel_serves_many_launches_at_once)
{
    sycl::queue queue = make_queue();
    sycl::kernel count = kernel_of(queue.get_context(), "launches", "count_items");
    const size_t size = 64;
    std::vector<std::unique_ptr<shared_array<int>>> arrays;
    for (int i = 0; i < 200; i++) {
        arrays.push_back(std::make_unique<shared_array<int>>(queue, size));
        queue.submit([&](sycl::handler &handler) {
            handler.set_arg(0, arrays.back()->get());
            handler.parallel_for(sycl::range<1>(size), count);
        });
    }
    queue.wait_and_throw();
    for (const auto &array : arrays)
        EXPECT_EQ(std::accumulate(array->get(), array->get() + size, 0), 64);
}

STORY(launches_go_through_the_functions_without_events_too)
{
    sycl::queue queue = make_in_order_queue();
    sycl::kernel count = kernel_of(queue.get_context(), "launches", "count_items");
    shared_array<int> counts(queue, 64);
    syclexp::parallel_for(queue, sycl::range<1>(64), count, counts.get());
    syclexp::nd_launch(queue, sycl::nd_range<1>(64, 16), count, counts.get());
    syclexp::single_task(queue, count, counts.get());
    queue.wait_and_throw();
    EXPECT_EQ(counts[0], 3);
    EXPECT_EQ(counts[63], 2);
}
