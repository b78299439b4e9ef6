// SPDX-License-Identifier: MIT
// Many threads in one program: each checks its own numbers.
#include "sycl_code.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace
{

constexpr sycl::specialization_id<int> factor(1);
class scale_kernel;

} // namespace

using sycl::detail::kernel_param_kind_t;
DESCRIBE_KERNEL(scale_kernel, "scaled_copy_int", 16, {kernel_param_kind_t::kind_pointer, 8, 0},
                {kernel_param_kind_t::kind_pointer, 8, 8})
DESCRIBE_CONSTANT(factor, "factor")

namespace
{

struct all_code {
    program_code scaled{"scaled_copy", {"scaled_copy_int"}};
    all_code()
    {
        scaled.constants({{"factor", 7, 0, 4}}, {1, 0, 0, 0}).embed();
    }
};
const all_code program;

constexpr int thread_count = 8;

// Runs the function once a thread; the first failure is the story's.
void in_threads(const std::function<void(int)> &function)
{
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::exception_ptr failure;
    for (int i = 0; i < thread_count; i++)
        threads.emplace_back([&, i] {
            try {
                function(i);
            } catch (...) {
                const std::lock_guard<std::mutex> guard(mutex);
                failure = failure ? failure : std::current_exception();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    if (failure)
        std::rethrow_exception(failure);
}

sycl::event launch(sycl::queue queue, const sycl::kernel &kernel, int *data, size_t count)
{
    return queue.submit([&](sycl::handler &handler) {
        handler.set_arg(0, data);
        handler.parallel_for(sycl::range<1>(count), kernel);
    });
}

} // namespace

STORY(threads_share_a_queue_and_a_kernel)
{
    for (bool is_in_order : {false, true}) {
        sycl::queue queue = is_in_order ? make_in_order_queue() : make_queue();
        const sycl::kernel add = kernel_of(queue.get_context(), "twenty_kernels", "add_3");
        in_threads([&](int) {
            shared_array<int> array(queue, 256);
            for (int round = 1; round <= 100; round++) {
                launch(queue, add, array.get(), 256).wait();
                EXPECT_EQ(array[255], 3 * round);
            }
        });
    }
}

STORY(threads_have_queues_of_their_own)
{
    sycl::queue queue = make_queue();
    const sycl::kernel add = kernel_of(queue.get_context(), "twenty_kernels", "add_3");
    in_threads([&](int index) {
        sycl::queue mine(queue.get_context(), queue.get_device(),
                         index % 2 == 0 ? sycl::property_list{sycl::property::queue::in_order()}
                                        : sycl::property_list{});
        shared_array<int> array(mine, 256);
        sycl::event last;
        for (int round = 0; round < 200; round++) {
            last = mine.submit([&](sycl::handler &handler) {
                handler.depends_on(last);
                handler.set_arg(0, array.get());
                handler.parallel_for(sycl::range<1>(256), add);
            });
        }
        last.wait();
        EXPECT_EQ(array[255], 600);
    });
}

STORY(threads_build_the_same_program_at_once)
{
    sycl::queue queue = make_queue();
    in_threads([&](int) {
        for (int round = 0; round < 5; round++) {
            sycl::queue mine(sycl::context(queue.get_device()), queue.get_device());
            shared_array<int> array(mine, 16);
            array[15] = 4;
            launch(mine, kernel_of(mine.get_context(), "negate", "negate"), array.get(), 16).wait();
            EXPECT_EQ(array[15], -4);
        }
    });
}

STORY(threads_launch_with_constants_of_their_own)
{
    sycl::queue queue = make_queue();
    in_threads([&](int index) {
        shared_array<int> array(queue, 2);
        int *in = array.get(), *out = array.get() + 1;
        in[0] = 10;
        for (int round = 0; round < 20; round++) {
            queue
                .submit([&](sycl::handler &handler) {
                    handler.set_specialization_constant<factor>(index + round % 3);
                    handler.parallel_for<scale_kernel>(
                        sycl::range<1>(1),
                        [in, out](sycl::id<1> i, sycl::kernel_handler) { out[i] = in[i]; });
                })
                .wait();
            EXPECT_EQ(*out, 10 * (index + round % 3));
        }
    });
}

STORY(threads_use_buffers)
{
    sycl::queue queue = make_queue();
    const sycl::kernel negate = kernel_of(queue.get_context(), "negate", "negate");
    in_threads([&](int index) {
        for (int round = 0; round < 20; round++) {
            std::vector<int> numbers = count_from(index, 500);
            {
                sycl::buffer<int> buffer(numbers.data(), numbers.size());
                for (int i = 0; i < 3; i++)
                    queue.submit([&](sycl::handler &handler) {
                        sycl::accessor access(buffer, handler, sycl::read_write);
                        handler.set_arg(0, access);
                        handler.parallel_for(sycl::range<1>(500), negate);
                    });
            }
            EXPECT_EQ(numbers[499], -index - 499);
        }
    });
}

STORY(threads_share_a_buffer)
{
    sycl::queue queue = make_queue();
    const sycl::kernel add = kernel_of(queue.get_context(), "twenty_kernels", "add_1");
    sycl::buffer<int> buffer{sycl::range<1>(64)};
    {
        sycl::host_accessor access(buffer, sycl::write_only, sycl::no_init);
        for (int &value : access)
            value = 0;
    }
    in_threads([&](int) {
        for (int round = 0; round < 50; round++)
            queue.submit([&](sycl::handler &handler) {
                sycl::accessor access(buffer, handler, sycl::read_write);
                handler.set_arg(0, access);
                handler.parallel_for(sycl::range<1>(64), add);
            });
    });
    sycl::host_accessor found(buffer, sycl::read_only);
    EXPECT_EQ(found[63], 50 * thread_count);
}

STORY(threads_allocate_and_free)
{
    sycl::queue queue = make_queue();
    in_threads([&](int index) {
        const sycl::usm::alloc kinds[] = {sycl::usm::alloc::device, sycl::usm::alloc::shared,
                                          sycl::usm::alloc::host};
        for (int round = 0; round < 100; round++) {
            const size_t count = 1 + (index * 131 + round * 17) % 5000;
            int *memory = sycl::malloc<int>(count, queue, kinds[round % 3]);
            EXPECT(memory != nullptr);
            int found = 0;
            sycl::event set = queue.memset(memory, round, count * sizeof(int));
            queue.memcpy(&found, memory + count - 1, sizeof(int), set).wait();
            EXPECT_EQ(found, 0x01010101 * round);
            sycl::free(memory, queue);
        }
    });
}

STORY(threads_make_and_drop_queues_contexts_and_events)
{
    const sycl::device device = make_queue().get_device();
    in_threads([&](int) {
        std::vector<sycl::event> events;
        for (int round = 0; round < 30; round++) {
            sycl::queue queue(sycl::context(device), device,
                              {sycl::property::queue::enable_profiling()});
            int *memory = sycl::malloc_host<int>(100, queue);
            events.push_back(queue.memset(memory, 1, 400));
            queue.ext_oneapi_submit_barrier().wait();
            EXPECT_EQ(memory[99], 0x01010101);
            EXPECT(events.back().get_profiling_info<sycl::info::event_profiling::command_end>() >
                   0);
            sycl::free(memory, queue);
        }
    });
}

STORY(threads_wait_for_each_other_s_events)
{
    sycl::queue queue = make_queue();
    const sycl::kernel add = kernel_of(queue.get_context(), "twenty_kernels", "add_1");
    shared_array<int> array(queue, 64);
    std::mutex mutex;
    sycl::event last;
    in_threads([&](int) {
        for (int round = 0; round < 50; round++) {
            sycl::event mine;
            {
                const std::lock_guard<std::mutex> guard(mutex);
                last = queue.submit([&](sycl::handler &handler) {
                    handler.depends_on(last);
                    handler.set_arg(0, array.get());
                    handler.parallel_for(sycl::range<1>(64), add);
                });
                mine = last;
            }
            if (round % 5 == 0)
                mine.wait();
        }
    });
    last.wait();
    EXPECT_EQ(array[63], 50 * thread_count);
}

STORY(threads_execute_graphs)
{
    sycl::queue queue = make_queue();
    in_threads([&](int) {
        // One for each thread: the runtime of 2025.3 sets its arguments without a lock.
        const sycl::kernel add = kernel_of(queue.get_context(), "twenty_kernels", "add_2");
        shared_array<int> array(queue, 64);
        syclexp::command_graph<syclexp::graph_state::modifiable> graph(queue.get_context(),
                                                                       queue.get_device());
        syclexp::node first = graph.add([&](sycl::handler &handler) {
            handler.set_arg(0, array.get());
            handler.parallel_for(sycl::range<1>(64), add);
        });
        graph.add(
            [&](sycl::handler &handler) {
                handler.set_arg(0, array.get());
                handler.parallel_for(sycl::range<1>(64), add);
            },
            {syclexp::property::node::depends_on(first)});
        auto executable = graph.finalize();
        for (int round = 0; round < 20; round++)
            queue.ext_oneapi_graph(executable).wait();
        EXPECT_EQ(array[63], 80);
    });
}
