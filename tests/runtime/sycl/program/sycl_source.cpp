// SPDX-License-Identifier: MIT
// Device code in SYCL's own language, which the runtime compiles while the program runs:
// sub-groups, group algorithms, local memory, atomics, device globals.
#include "sycl_support.hpp"

#include <cmath>

namespace
{

const char device_code[] = R"(
#include <sycl/sycl.hpp>
namespace work = sycl::ext::oneapi::this_work_item;
namespace syclexp = sycl::ext::oneapi::experimental;
#define KERNEL(DIMENSIONS)                                                                         \
    extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::nd_range_kernel<DIMENSIONS>))

KERNEL(1) void iota(int first, int *out)
{
    out[work::get_nd_item<1>().get_global_id()] = first + int(work::get_nd_item<1>().get_global_id());
}

KERNEL(3) void places(int *out)
{
    auto item = work::get_nd_item<3>();
    auto id = item.get_global_id();
    auto range = item.get_global_range();
    out[(id[0] * range[1] + id[1]) * range[2] + id[2]] =
        int(item.get_group(0) + 10 * item.get_group(1) + 100 * item.get_group(2) +
            1000 * item.get_local_linear_id());
}

KERNEL(1) void reverse_groups(int *data, sycl::local_accessor<int, 1> scratch)
{
    auto item = work::get_nd_item<1>();
    scratch[item.get_local_id()] = data[item.get_global_id()];
    sycl::group_barrier(item.get_group());
    data[item.get_global_id()] = scratch[item.get_local_range(0) - 1 - item.get_local_id(0)];
}

KERNEL(1) void reverse_in_group_memory(int *data, syclexp::work_group_memory<int[]> scratch)
{
    auto item = work::get_nd_item<1>();
    scratch[item.get_local_id()] = data[item.get_global_id()];
    sycl::group_barrier(item.get_group());
    data[item.get_global_id()] = scratch[item.get_local_range(0) - 1 - item.get_local_id(0)];
}

KERNEL(1) void group_algorithms(const int *in, int *out)
{
    auto item = work::get_nd_item<1>();
    auto group = item.get_group();
    int *mine = out + 6 * item.get_global_id(0);
    const int value = in[item.get_global_id()];
    mine[0] = sycl::reduce_over_group(group, value, sycl::plus<>());
    mine[1] = sycl::exclusive_scan_over_group(group, value, sycl::plus<>());
    mine[2] = sycl::inclusive_scan_over_group(group, value, sycl::maximum<>());
    mine[3] = sycl::group_broadcast(group, value, 3);
    mine[4] = sycl::any_of_group(group, value == 5);
    mine[5] = sycl::all_of_group(group, value >= 0);
}

KERNEL(1) SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::sub_group_size<16>))
void sub_groups(int *out)
{
    auto item = work::get_nd_item<1>();
    auto group = item.get_sub_group();
    int *mine = out + 6 * item.get_global_id(0);
    const int value = int(item.get_global_id(0));
    mine[0] = int(group.get_max_local_range()[0]);
    mine[1] = int(group.get_local_id()[0]);
    mine[2] = sycl::shift_group_left(group, value, 1);
    mine[3] = sycl::permute_group_by_xor(group, value, 1);
    mine[4] = sycl::select_from_group(group, value, 2);
    mine[5] = sycl::reduce_over_group(group, value, sycl::plus<>());
}

template <class T> void sum_up(const T *in, T *sum, size_t count)
{
    auto item = work::get_nd_item<1>();
    for (size_t i = item.get_global_id(0); i < count; i += item.get_global_range(0))
        sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::device>(*sum) += in[i];
}
KERNEL(1) void sum_int(const int *in, int *sum, size_t count) { sum_up(in, sum, count); }
KERNEL(1) void sum_long(const long *in, long *sum, size_t count) { sum_up(in, sum, count); }
KERNEL(1) void sum_float(const float *in, float *sum, size_t count) { sum_up(in, sum, count); }
KERNEL(1) void sum_double(const double *in, double *sum, size_t count) { sum_up(in, sum, count); }

KERNEL(1) void compute(const double *in, double *out, float *single, sycl::half *half)
{
    const size_t i = work::get_nd_item<1>().get_global_id(0);
    out[i] = sycl::sin(in[i]) * sycl::exp(in[i]);
    single[i] = sycl::sqrt(float(in[i]));
    half[i] = sycl::half(float(in[i])) * sycl::half(2.0f);
}

struct planet {
    char name;
    double mass;
    int moons[3];
};
KERNEL(1) void weigh(planet first, planet *all, double *out)
{
    const size_t i = work::get_nd_item<1>().get_global_id(0);
    out[i] = first.mass * all[i].mass + all[i].moons[2] + first.moons[1] + (first.name == 'x');
}

KERNEL(1) void between_buffers(sycl::accessor<int, 1> from, sycl::accessor<int, 1> to)
{
    const size_t i = work::get_nd_item<1>().get_global_id(0);
    to[i] = from[i] + 1;
}

KERNEL(1) void root_groups(int *ready, int *out)
{
    auto root = syclexp::this_work_item::get_root_group<1>();
    const size_t i = root.get_local_linear_id();
    ready[i] = int(i);
    sycl::group_barrier(root);
    out[i] = ready[root.get_local_linear_range() - 1 - i];
}
)";

struct fixture {
    sycl::queue queue = make_queue();
    // Compiled once for all stories, and never given back: at exit the runtime's compiler goes
    // first.
    sycl::kernel kernel(const std::string &name)
    {
        static auto &bundle = *new executable_bundle(build_sycl(queue.get_context(), device_code));
        return bundle.ext_oneapi_get_kernel(name);
    }
    template <class T> std::shared_ptr<T> shared(size_t count)
    {
        sycl::queue owner = queue;
        std::shared_ptr<T> memory(sycl::malloc_shared<T>(count, queue),
                                  [owner](T *freed) { sycl::free(freed, owner); });
        EXPECT(memory != nullptr);
        std::fill_n(memory.get(), count, T());
        return memory;
    }
    template <int N, class... Arguments>
    void launch(const std::string &name, sycl::nd_range<N> range, const Arguments &...arguments)
    {
        const sycl::kernel launched = kernel(name);
        queue
            .submit([&](sycl::handler &handler) {
                handler.set_args(arguments...);
                handler.parallel_for(range, launched);
            })
            .wait_and_throw();
    }
};

template <class T> void sums_are_right(const char *kernel)
{
    fixture test;
    const size_t count = 10000;
    auto in = test.shared<T>(count);
    auto sum = test.shared<T>(1);
    for (size_t i = 0; i < count; i++)
        in.get()[i] = static_cast<T>(i % 100);
    test.launch(kernel, sycl::nd_range<1>(256, 32), in.get(), sum.get(), count);
    EXPECT_EQ(*sum, static_cast<T>(495000));
}

// How many groups of this size can wait for each other.
size_t largest_root_group(const sycl::kernel &kernel, const sycl::queue &queue,
                          const sycl::range<1> &group)
{
#if TEST_SYCL_RELEASE >= 20262
    return kernel.ext_oneapi_get_info<syclexp::info::kernel::max_num_work_groups_sync>(
        queue.get_device(), group);
#else
    return kernel.ext_oneapi_get_info<syclexp::info::kernel_queue_specific::max_num_work_groups>(
        queue, group, 0);
#endif
}

} // namespace

STORY(values_and_pointers)
{
    fixture test;
    auto out = test.shared<int>(64);
    test.launch("iota", sycl::nd_range<1>(64, 16), 5, out.get());
    EXPECT_EQ(out.get()[0], 5);
    EXPECT_EQ(out.get()[63], 68);
}

STORY(three_dimensions)
{
    fixture test;
    auto out = test.shared<int>(2 * 4 * 6);
    test.launch("places", sycl::nd_range<3>({2, 4, 6}, {1, 2, 3}), out.get());
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 6; x++)
                EXPECT_EQ(out.get()[(z * 4 + y) * 6 + x],
                          z + 10 * (y / 2) + 100 * (x / 3) + 1000 * (y % 2 * 3 + x % 3));
}

STORY(local_memory_in_both_forms)
{
    fixture test;
    auto data = test.shared<int>(64);
    std::iota(data.get(), data.get() + 64, 0);
    const sycl::kernel accessor = test.kernel("reverse_groups");
    const sycl::kernel group_memory = test.kernel("reverse_in_group_memory");
    test.queue
        .submit([&](sycl::handler &handler) {
            handler.set_args(data.get(), sycl::local_accessor<int, 1>(16, handler));
            handler.parallel_for(sycl::nd_range<1>(64, 16), accessor);
        })
        .wait();
    for (int i = 0; i < 64; i++)
        EXPECT_EQ(data.get()[i], i / 16 * 16 + 15 - i % 16);
    test.queue
        .submit([&](sycl::handler &handler) {
            syclexp::work_group_memory<int[]> scratch(64, handler);
            handler.set_args(data.get(), scratch);
            handler.parallel_for(sycl::nd_range<1>(64, 64), group_memory);
        })
        .wait();
    for (int i = 0; i < 64; i++)
        EXPECT_EQ(data.get()[i], (63 - i) / 16 * 16 + 15 - (63 - i) % 16);
}

STORY(group_algorithms)
{
    fixture test;
    auto in = test.shared<int>(64);
    auto out = test.shared<int>(6 * 64);
    for (int i = 0; i < 64; i++)
        in.get()[i] = i * 7 % 32;
    test.launch("group_algorithms", sycl::nd_range<1>(64, 32), in.get(), out.get());
    for (int group = 0; group < 2; group++) {
        const int *values = in.get() + 32 * group;
        int before = 0, highest = 0;
        for (int i = 0; i < 32; i++) {
            const int *found = out.get() + 6 * (32 * group + i);
            highest = std::max(highest, values[i]);
            EXPECT_EQ(found[0], 31 * 32 / 2);
            EXPECT_EQ(found[1], before);
            EXPECT_EQ(found[2], highest);
            EXPECT_EQ(found[3], values[3]);
            EXPECT_EQ(found[4], 1);
            EXPECT_EQ(found[5], 1);
            before += values[i];
        }
    }
}

STORY(sub_groups_of_the_size_that_is_required)
{
    namespace group_info = sycl::info::kernel_device_specific;
    fixture test;
    const sycl::kernel kernel = test.kernel("sub_groups");
    const sycl::device device = test.queue.get_device();
    EXPECT_EQ(kernel.get_info<group_info::compile_sub_group_size>(device), 16u);
    EXPECT_EQ(kernel.get_info<group_info::max_sub_group_size>(device), 16u);
    auto out = test.shared<int>(6 * 64);
    test.launch("sub_groups", sycl::nd_range<1>(64, 64), out.get());
    for (int i = 0; i < 64; i++) {
        const int *found = out.get() + 6 * i;
        const int first = i / 16 * 16;
        EXPECT_EQ(found[0], 16);
        EXPECT_EQ(found[1], i % 16);
        if (i % 16 < 15)
            EXPECT_EQ(found[2], i + 1);
        EXPECT_EQ(found[3], i ^ 1);
        EXPECT_EQ(found[4], first + 2);
        EXPECT_EQ(found[5], 16 * first + 120);
    }
}

STORY(atomics_add_up_numbers_of_every_type)
{
    sums_are_right<int>("sum_int");
    sums_are_right<long>("sum_long");
    sums_are_right<float>("sum_float");
    sums_are_right<double>("sum_double");
}

STORY(mathematics_in_three_precisions)
{
    fixture test;
    EXPECT(test.queue.get_device().has(sycl::aspect::fp64));
    EXPECT(test.queue.get_device().has(sycl::aspect::fp16));
    auto in = test.shared<double>(32), out = test.shared<double>(32);
    auto single = test.shared<float>(32);
    auto half = test.shared<sycl::half>(32);
    for (int i = 0; i < 32; i++)
        in.get()[i] = 0.125 * i;
    test.launch("compute", sycl::nd_range<1>(32, 8), in.get(), out.get(), single.get(), half.get());
    for (int i = 0; i < 32; i++) {
        const double x = 0.125 * i;
        EXPECT(std::fabs(out.get()[i] - std::sin(x) * std::exp(x)) <= 1e-12 * std::exp(x));
        EXPECT(std::fabs(single.get()[i] - std::sqrt(static_cast<float>(x))) <= 1e-6f);
        EXPECT_EQ(static_cast<float>(half.get()[i]), static_cast<float>(2 * x));
    }
}

STORY(structures_by_value_and_by_pointer)
{
    struct planet {
        char name;
        double mass;
        int moons[3];
    };
    fixture test;
    auto all = test.shared<planet>(4);
    auto out = test.shared<double>(4);
    for (int i = 0; i < 4; i++)
        all.get()[i] = {'a', 1.5 * i, {0, 0, 7 * i}};
    test.launch("weigh", sycl::nd_range<1>(4, 4), planet{'x', 2.0, {1, 100, 3}}, all.get(),
                out.get());
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(out.get()[i], 3.0 * i + 7 * i + 100 + 1);
}

STORY(accessors_with_offsets)
{
    fixture test;
    const sycl::kernel kernel = test.kernel("between_buffers");
    const std::vector<int> numbers = count_from(0, 64);
    sycl::buffer<int> from(numbers.begin(), numbers.end()), to(numbers.begin(), numbers.end());
    test.queue.submit([&](sycl::handler &handler) {
        sycl::accessor in(from, handler, sycl::range<1>(16), sycl::id<1>(32), sycl::read_write);
        sycl::accessor out(to, handler, sycl::range<1>(16), sycl::id<1>(8), sycl::read_write);
        handler.set_args(in, out);
        handler.parallel_for(sycl::nd_range<1>(16, 4), kernel);
    });
    sycl::host_accessor found(to, sycl::read_only);
    for (int i = 0; i < 64; i++)
        EXPECT_EQ(found[i], i >= 8 && i < 24 ? i + 25 : i);
}

STORY(groups_wait_for_each_other_in_cooperative_launches)
{
    fixture test;
    const sycl::kernel kernel = test.kernel("root_groups");
    const sycl::range<1> group(32);
    const size_t groups = largest_root_group(kernel, test.queue, group);
    EXPECT(groups >= 1);
    const size_t size = groups * 32;
    auto ready = test.shared<int>(size), out = test.shared<int>(size);
    const syclexp::launch_config config(sycl::nd_range<1>(size, group),
                                        syclexp::properties{syclexp::use_root_sync});
    syclexp::nd_launch(test.queue, config, kernel, ready.get(), out.get());
    test.queue.wait_and_throw();
    for (size_t i = 0; i < size; i++)
        EXPECT_EQ(out.get()[i], static_cast<int>(size - 1 - i));
}

STORY(a_device_global_lives_beside_its_kernels)
{
    sycl::queue queue = make_queue();
    auto bundle = build_sycl(queue.get_context(), KERNEL_HEADERS R"(
#include <sycl/ext/oneapi/device_global/device_global.hpp>
namespace syclexp = sycl::ext::oneapi::experimental;
syclexp::device_global<int[4]> counters;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::single_task_kernel))
void count(int by) { counters[2] += by; }
)");
    EXPECT(bundle.ext_oneapi_has_device_global("counters"));
    EXPECT(!bundle.ext_oneapi_has_device_global("other"));
    EXPECT_EQ(bundle.ext_oneapi_get_device_global_size("counters"), 4 * sizeof(int));
    const sycl::kernel count = bundle.ext_oneapi_get_kernel("count");
    int *counters = static_cast<int *>(
        bundle.ext_oneapi_get_device_global_address("counters", queue.get_device()));
    int found[4] = {1, 2, 3, 4};
    queue.memcpy(found, counters, sizeof(found)).wait();
    EXPECT_EQ(found[2], 0);
    const int start[4] = {10, 20, 30, 40};
    queue.memcpy(counters, start, sizeof(start)).wait();
    for (int round = 0; round < 3; round++)
        queue
            .submit([&](sycl::handler &handler) {
                handler.set_arg(0, 5);
                handler.single_task(count);
            })
            .wait();
    queue.memcpy(found, counters, sizeof(found)).wait();
    EXPECT_EQ(found[1], 20);
    EXPECT_EQ(found[2], 45);
}

// Variables of an image have their place inside it; only kernels reach them.
STORY(a_device_global_of_the_image_keeps_its_value_between_kernels)
{
    sycl::queue queue = make_queue();
    auto bundle = build_sycl(queue.get_context(), KERNEL_HEADERS R"(
#include <sycl/ext/oneapi/device_global/device_global.hpp>
namespace syclexp = sycl::ext::oneapi::experimental;
syclexp::device_global<int, decltype(syclexp::properties(syclexp::device_image_scope))> counter;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::single_task_kernel))
void count(int by, int *now) { counter += by; *now = counter; }
)");
    const sycl::kernel count = bundle.ext_oneapi_get_kernel("count");
    int *now = sycl::malloc_shared<int>(1, queue);
    for (int round = 1; round <= 3; round++) {
        queue
            .submit([&](sycl::handler &handler) {
                handler.set_args(5, now);
                handler.single_task(count);
            })
            .wait();
        EXPECT_EQ(*now, 5 * round);
    }
    sycl::free(now, queue);
}

STORY(templates_are_instantiated_by_name)
{
    sycl::queue queue = make_queue();
    need_compiler(queue.get_context());
    auto source = syclexp::create_kernel_bundle_from_source(
        queue.get_context(), syclexp::source_language::sycl, std::string(KERNEL_HEADERS R"(
#include "factor.hpp"
namespace syclexp = sycl::ext::oneapi::experimental;
template <class T> SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclexp::single_task_kernel))
void scale(T *value) { *value *= factor + T(ADDED); }
)"),
        syclexp::properties{syclexp::include_files{"factor.hpp", "constexpr int factor = 3;"}});
    std::string log;
    auto bundle = syclexp::build(
        source,
        syclexp::properties{
            syclexp::registered_names{std::vector<std::string>{"scale<float>", "scale<int>"}},
            syclexp::build_options{"-DADDED=0.5"}, syclexp::save_log{&log}});
    EXPECT(bundle.ext_oneapi_has_kernel("scale<float>"));
    EXPECT(!bundle.ext_oneapi_has_kernel("scale<double>"));
    float *real = sycl::malloc_shared<float>(1, queue);
    int *whole = sycl::malloc_shared<int>(1, queue);
    *real = 2.0f;
    *whole = 2;
    syclexp::single_task(queue, bundle.ext_oneapi_get_kernel("scale<float>"), real);
    syclexp::single_task(queue, bundle.ext_oneapi_get_kernel("scale<int>"), whole);
    queue.wait_and_throw();
    EXPECT_EQ(*real, 7.0f);
    EXPECT_EQ(*whole, 6);
    sycl::free(real, queue);
    sycl::free(whole, queue);
}
