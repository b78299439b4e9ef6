// SPDX-License-Identifier: MIT
// Queues and events: order, dependencies, barriers, host tasks, times.
#include "sycl_support.hpp"

#if TEST_SYCL_RELEASE >= 20262
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/ext/oneapi/experimental/reusable_events.hpp>
#endif

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace
{

namespace profiling = sycl::info::event_profiling;
using sycl::info::event_command_status;

event_command_status status_of(const sycl::event &event)
{
    return event.get_info<sycl::info::event::command_execution_status>();
}

bool is_complete(const sycl::event &event)
{
    return status_of(event) == event_command_status::complete;
}

// Numbers that commands of these queues work on.
struct fixture {
    explicit fixture(const sycl::property_list &properties = {})
        : queue(make_queue(properties)), data(sycl::malloc_shared<int>(1024, queue)),
          add(kernel_of(queue.get_context(), "twenty_kernels", "add_1")),
          negate(kernel_of(queue.get_context(), "negate", "negate")),
          spin(kernel_of(queue.get_context(), "spin", "spin"))
    {
        std::fill_n(data, 1024, 0);
    }
    ~fixture()
    {
        sycl::free(data, queue);
    }
    fixture(const fixture &) = delete;

    sycl::event launch(sycl::queue target, const sycl::kernel &kernel,
                       const std::vector<sycl::event> &after = {}) const
    {
        return target.submit([&](sycl::handler &handler) {
            handler.depends_on(after);
            handler.set_arg(0, data);
            handler.parallel_for(sycl::range<1>(512), kernel);
        });
    }

    // Takes tens of milliseconds, and writes to the second half of the numbers.
    sycl::event work(sycl::queue target, uint32_t rounds = 20000000) const
    {
        return target.submit([&](sycl::handler &handler) {
            handler.set_args(rounds, data + 512);
            handler.parallel_for(sycl::range<1>(1), spin);
        });
    }

    sycl::queue queue;
    int *data;
    sycl::kernel add, negate, spin;
};

// A host task that ends when it is told to.
class gate
{
  public:
    sycl::event close(sycl::queue &queue)
    {
        std::shared_future<void> opened = open_.get_future();
        return queue.submit(
            [&](sycl::handler &handler) { handler.host_task([opened] { opened.wait(); }); });
    }
    void open()
    {
        open_.set_value();
    }

  private:
    std::promise<void> open_;
};

} // namespace

STORY(a_default_event_is_complete)
{
    sycl::event event;
    EXPECT(is_complete(event));
    event.wait();
    EXPECT(event.get_wait_list().empty());
}

STORY(an_event_is_complete_after_the_wait)
{
    fixture test;
    sycl::event done = test.work(test.queue);
    done.wait();
    EXPECT(is_complete(done));
    EXPECT(test.data[512] != 0);
}

STORY(an_in_order_queue_keeps_the_order)
{
    fixture test(sycl::property_list{sycl::property::queue::in_order()});
    EXPECT(test.queue.is_in_order());
    for (int round = 0; round < 200; round++) {
        test.launch(test.queue, test.add);
        if (round % 10 == 0)
            test.queue.memcpy(test.data + 256, test.data, 256 * sizeof(int));
        test.launch(test.queue, test.negate);
    }
    test.queue.wait();
    // x -> -(x + 1): 0, -1, 0, -1, ...
    EXPECT_EQ(test.data[0], 0);
    EXPECT_EQ(test.data[256], 0);
}

STORY(an_out_of_order_queue_keeps_dependencies)
{
    fixture test;
    EXPECT(!test.queue.is_in_order());
    for (int round = 0; round < 20; round++) {
        sycl::event start = test.launch(test.queue, test.add);
        sycl::event left = test.queue.memcpy(test.data + 512, test.data, 1024, start);
        sycl::event right = test.queue.memcpy(test.data + 768, test.data, 1024, start);
        test.launch(test.queue, test.negate, {left, right}).wait();
        EXPECT_EQ(test.data[512], round % 2 == 0 ? 1 : 0);
        EXPECT_EQ(test.data[768], test.data[512]);
    }
    EXPECT_EQ(test.data[0], 0);
}

STORY(dependencies_cross_queues_and_contexts)
{
    fixture test;
    sycl::queue second(test.queue.get_context(), test.queue.get_device());
    sycl::queue stranger(sycl::context(test.queue.get_device()), test.queue.get_device(),
                         sycl::property::queue::in_order());
    int *there = sycl::malloc_device<int>(512, stranger);
    int found[512];
    // libsycl 2026.2 frees commands of its graph while others point to them if their events die
    // before they are complete, with every backend.
    std::vector<sycl::event> events{test.work(test.queue)};
    for (int round = 0; round < 10; round++) {
        events.push_back(test.launch(test.queue, test.add, {events.back()}));
        events.push_back(test.launch(second, test.add, {events.back()}));
        events.push_back(stranger.memcpy(there, test.data, 2048, events.back()));
        events.push_back(stranger.memcpy(found, there, 2048));
    }
    sycl::event::wait(events);
    EXPECT_EQ(found[511], 20);
    sycl::free(there, stranger);
}

STORY(a_barrier_waits_for_all_before_it)
{
    fixture test;
    test.work(test.queue);
    test.launch(test.queue, test.add);
    sycl::event barrier = test.queue.ext_oneapi_submit_barrier();
    test.launch(test.queue, test.negate);
    sycl::event second = test.queue.ext_oneapi_submit_barrier();
    barrier.wait();
    EXPECT(test.data[512] != 0);
    second.wait();
    EXPECT_EQ(test.data[0], -1);
    // In an in-order queue, too, and without an event.
    sycl::queue ordered(test.queue.get_context(), test.queue.get_device(),
                        sycl::property::queue::in_order());
    test.launch(ordered, test.negate);
    syclexp::barrier(ordered);
    test.launch(ordered, test.add);
    ordered.ext_oneapi_submit_barrier().wait();
    EXPECT_EQ(test.data[0], 2);
}

STORY(a_barrier_waits_for_events_of_other_queues)
{
    fixture test;
    sycl::queue second(test.queue.get_context(), test.queue.get_device());
    sycl::event slow = test.work(test.queue);
    sycl::event first = test.launch(test.queue, test.add, {slow});
    sycl::event barrier = second.ext_oneapi_submit_barrier({first, slow});
    sycl::event after = test.launch(second, test.negate);
    after.wait();
    EXPECT_EQ(test.data[0], -1);
    EXPECT(is_complete(barrier));
    second.ext_oneapi_submit_barrier(std::vector<sycl::event>()).wait();
}

STORY(a_queue_knows_when_it_is_empty)
{
    for (bool is_in_order : {false, true}) {
        fixture test(is_in_order ? sycl::property_list{sycl::property::queue::in_order()}
                                 : sycl::property_list{});
        EXPECT(test.queue.ext_oneapi_empty());
        gate held;
        sycl::event closed = held.close(test.queue);
        test.launch(test.queue, test.add, {closed});
        EXPECT(!test.queue.ext_oneapi_empty());
        held.open();
        test.queue.wait();
        EXPECT(test.queue.ext_oneapi_empty());
        EXPECT_EQ(test.data[0], 1);
        // Kernels that run are not over, either.
        test.work(test.queue, 100000000);
        EXPECT(!test.queue.ext_oneapi_empty());
        test.queue.wait();
        EXPECT(test.queue.ext_oneapi_empty());
    }
}

STORY(host_tasks_stand_between_kernels)
{
    for (bool is_in_order : {false, true}) {
        fixture test(is_in_order ? sycl::property_list{sycl::property::queue::in_order()}
                                 : sycl::property_list{});
        sycl::event last;
        for (int round = 0; round < 20; round++) {
            last = test.launch(test.queue, test.add, {last});
            last = test.queue.submit([&](sycl::handler &handler) {
                handler.depends_on(last);
                int *data = test.data;
                handler.host_task([data, round] {
                    if (data[0] == 2 * round + 1)
                        data[0]++;
                });
            });
        }
        last.wait();
        EXPECT_EQ(test.data[0], 40);
        EXPECT_EQ(test.data[1], 20);
    }
}

#if TEST_SYCL_RELEASE >= 20262
// Where the driver runs functions of the host, they are commands of the queue.
STORY(host_tasks_of_the_queue_see_what_kernels_wrote)
{
    sycl::queue queue = make_in_order_queue();
    const sycl::kernel negate = kernel_of(queue.get_context(), "negate", "negate");
    shared_array<int> data(queue, count_from(1, 100));
    int *numbers = data.get();
    std::vector<int> seen;
    for (int round = 0; round < 20; round++) {
        syclexp::submit(queue, [&](sycl::handler &handler) {
            handler.set_arg(0, numbers);
            handler.parallel_for(sycl::range<1>(100), negate);
        });
        syclexp::host_task(queue, [numbers, &seen] {
            seen.push_back(numbers[99]);
            numbers[99] *= 2;
        });
    }
    queue.wait();
    EXPECT_EQ(seen.size(), 20u);
    for (int round = 0, expected = -100; round < 20; round++, expected *= -2)
        EXPECT_EQ(seen[round], expected);
}
#endif

STORY(host_tasks_see_buffers)
{
    fixture test;
    sycl::buffer<int> buffer{sycl::range<1>(100)};
    int sum = 0;
    test.queue.submit([&](sycl::handler &handler) {
        handler.fill(sycl::accessor(buffer, handler, sycl::write_only, sycl::no_init), 3);
    });
    test.queue.submit([&](sycl::handler &handler) {
        sycl::accessor<int, 1, sycl::access_mode::read_write, sycl::target::host_task> access(
            buffer, handler);
        handler.host_task([=, &sum] {
            for (int &value : access)
                sum += value++;
        });
    });
    sycl::host_accessor found(buffer, sycl::read_only);
    EXPECT_EQ(sum, 300);
    EXPECT_EQ(found[99], 4);
}

STORY(exceptions_of_host_tasks_arrive_with_the_wait)
{
    fixture test;
    std::string caught;
    test.queue.submit([&](sycl::handler &handler) {
        handler.host_task([] { throw std::runtime_error("said the host task"); });
    });
    try {
        test.queue.wait_and_throw();
    } catch (const std::runtime_error &error) {
        caught = error.what();
    }
    EXPECT_EQ(caught, "said the host task");
    // The queue goes on.
    test.launch(test.queue, test.add).wait_and_throw();
    EXPECT_EQ(test.data[0], 1);
}

STORY(waits_for_many_events_end_after_the_last)
{
    fixture test;
    std::vector<sycl::event> events;
    for (int i = 0; i < 64; i++)
        events.push_back(test.queue.memset(test.data + i, i, sizeof(int)));
    events.push_back(test.work(test.queue));
    sycl::event::wait(events);
    for (const sycl::event &event : events)
        EXPECT(is_complete(event));
    EXPECT_EQ(test.data[63], 0x3f3f3f3f);
    sycl::event::wait_and_throw({});
}

STORY(events_outlive_their_queue)
{
    fixture test;
    sycl::event done;
    {
        sycl::queue other(test.queue.get_context(), test.queue.get_device());
        done = test.work(other);
        done = test.launch(other, test.add, {done});
    }
    test.launch(test.queue, test.negate, {done}).wait();
    EXPECT(is_complete(done));
    EXPECT_EQ(test.data[0], -1);
}

STORY(times_are_in_order)
{
    for (bool is_in_order : {false, true}) {
        sycl::property_list properties =
            is_in_order ? sycl::property_list{sycl::property::queue::enable_profiling(),
                                              sycl::property::queue::in_order()}
                        : sycl::property_list{sycl::property::queue::enable_profiling()};
        fixture test(properties);
        const auto before = std::chrono::steady_clock::now();
        sycl::event slow = test.work(test.queue);
        sycl::event copy = test.queue.memcpy(test.data, test.data + 512, 4, slow);
        copy.wait();
        const auto passed = std::chrono::steady_clock::now() - before;
        uint64_t last = 0;
        for (const sycl::event &event : {slow, copy}) {
            const uint64_t submit = event.get_profiling_info<profiling::command_submit>();
            const uint64_t start = event.get_profiling_info<profiling::command_start>();
            const uint64_t end = event.get_profiling_info<profiling::command_end>();
            EXPECT(submit > 0);
            EXPECT(submit <= start);
            EXPECT(start <= end);
            EXPECT(last <= end);
            last = end;
        }
        const uint64_t worked = slow.get_profiling_info<profiling::command_end>() -
                                slow.get_profiling_info<profiling::command_start>();
        EXPECT(worked > 1000000);
        EXPECT(std::chrono::nanoseconds(worked) <= passed);
        EXPECT(copy.get_profiling_info<profiling::command_start>() >=
               slow.get_profiling_info<profiling::command_end>());
    }
}

STORY(times_need_a_queue_that_takes_them)
{
    fixture test;
    sycl::event done = test.launch(test.queue, test.add);
    done.wait();
    EXPECT_ERROR(invalid, done.get_profiling_info<profiling::command_end>());
}

STORY(host_tasks_and_buffer_commands_have_times)
{
    fixture test(sycl::property_list{sycl::property::queue::enable_profiling()});
    sycl::buffer<int> buffer{sycl::range<1>(1000)};
    sycl::event filled = test.queue.submit([&](sycl::handler &handler) {
        handler.fill(sycl::accessor(buffer, handler, sycl::write_only, sycl::no_init), 3);
    });
    sycl::event told = test.queue.submit([&](sycl::handler &handler) {
        handler.depends_on(filled);
        handler.host_task([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    });
    told.wait();
    for (const sycl::event &event : {filled, told})
        EXPECT(event.get_profiling_info<profiling::command_start>() <=
               event.get_profiling_info<profiling::command_end>());
}

STORY(a_profiling_tag_lies_between_commands)
{
    for (bool is_in_order : {false, true}) {
        for (bool takes_times : {false, true}) {
            sycl::queue queue =
                takes_times
                    ? (is_in_order ? make_queue({sycl::property::queue::in_order(),
                                                 sycl::property::queue::enable_profiling()})
                                   : make_queue({sycl::property::queue::enable_profiling()}))
                    : (is_in_order ? make_in_order_queue() : make_queue());
            fixture test;
            EXPECT(queue.get_device().has(sycl::aspect::ext_oneapi_queue_profiling_tag));
            sycl::event first = syclexp::submit_profiling_tag(queue);
            sycl::event slow = test.work(queue);
            sycl::event second = syclexp::submit_profiling_tag(queue);
            queue.wait();
            const uint64_t start = first.get_profiling_info<profiling::command_end>();
            const uint64_t end = second.get_profiling_info<profiling::command_start>();
            EXPECT(second.get_profiling_info<profiling::command_submit>() <= end);
            EXPECT(end - start > 1000000);
            if (takes_times) {
                EXPECT(start <= slow.get_profiling_info<profiling::command_end>());
                EXPECT(end >= slow.get_profiling_info<profiling::command_end>());
            }
        }
    }
}

STORY(queues_of_every_kind_work)
{
    namespace intel = sycl::ext::intel::property::queue;
    namespace oneapi = sycl::ext::oneapi::property::queue;
    const sycl::property_list kinds[] = {
        {oneapi::priority_low()},
        {oneapi::priority_normal()},
        {oneapi::priority_high(), sycl::property::queue::in_order()},
        {intel::immediate_command_list()},
        {intel::no_immediate_command_list(), sycl::property::queue::in_order()},
    };
    for (const sycl::property_list &kind : kinds) {
        fixture test(kind);
        test.launch(test.queue, test.negate, {test.launch(test.queue, test.add)}).wait();
        EXPECT_EQ(test.data[0], -1);
    }
    EXPECT_ERROR(invalid, make_queue({oneapi::priority_low(), oneapi::priority_high()}));
    EXPECT_ERROR(invalid,
                 make_queue({intel::immediate_command_list(), intel::no_immediate_command_list()}));
}

STORY(queues_ask_for_a_compute_engine)
{
    using engine_property = sycl::ext::intel::property::queue::compute_index;
    using engine_count = sycl::ext::intel::info::device::max_compute_queue_indices;
    const int engines = make_queue().get_device().get_info<engine_count>();
    EXPECT(engines > 0);
    for (int engine = 0; engine < engines; engine++) {
        fixture test(sycl::property_list{engine_property(engine)});
        test.launch(test.queue, test.negate, {test.launch(test.queue, test.add)}).wait();
        EXPECT_EQ(test.data[0], -1);
    }
    EXPECT_ERROR(invalid, make_queue({engine_property(engines)}));
}

STORY(the_last_event_of_an_in_order_queue_is_known)
{
    fixture test(sycl::property_list{sycl::property::queue::in_order()});
    test.launch(test.queue, test.add);
    sycl::event last = *test.queue.ext_oneapi_get_last_event();
    last.wait();
    EXPECT(is_complete(last));
    EXPECT_EQ(test.data[0], 1);
    // An event from outside is waited for by the next command.
    gate held;
    sycl::queue other = make_queue();
    test.queue.ext_oneapi_set_external_event(held.close(other));
    test.launch(test.queue, test.add);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(test.data[0], 1);
    held.open();
    test.queue.wait();
    EXPECT_EQ(test.data[0], 2);
}

STORY(thousands_of_commands_are_in_flight)
{
    fixture test;
    sycl::queue ordered = make_in_order_queue();
    std::vector<sycl::event> events;
    for (int i = 0; i < 5000; i++) {
        test.launch(ordered, test.add);
        if (i % 7 == 0)
            events.push_back(test.queue.memset(test.data + 512 + i % 512, 1, 4));
    }
    ordered.wait();
    test.queue.wait();
    EXPECT_EQ(test.data[511], 5000);
    EXPECT(is_complete(events.back()));
}

#if TEST_SYCL_RELEASE >= 20262
STORY(events_are_signaled_again)
{
    fixture test;
    sycl::queue other(test.queue.get_context(), test.queue.get_device(),
                      sycl::property::queue::in_order());
    sycl::event event = syclexp::make_event(test.queue.get_context());
    for (int round = 1; round <= 10; round++) {
        test.launch(test.queue, test.add);
        syclexp::enqueue_signal_event(test.queue, event);
        syclexp::enqueue_wait_event(other, event);
        test.launch(other, test.add);
        other.wait();
        EXPECT(is_complete(event));
        EXPECT_EQ(test.data[0], 2 * round);
    }
}

STORY(an_event_that_is_signaled_again_has_the_times_of_its_signals)
{
    fixture test(sycl::property_list{sycl::property::queue::in_order()}); // without profiling
    sycl::event event = syclexp::make_event(test.queue.get_context(),
                                            syclexp::properties{syclexp::enable_profiling{true}});
    uint64_t last = 0;
    for (int round = 0; round < 3; round++) {
        test.work(test.queue);
        syclexp::enqueue_signal_event(test.queue, event);
        event.wait();
        const uint64_t end = event.get_profiling_info<profiling::command_end>();
        EXPECT(event.get_profiling_info<profiling::command_start>() <= end);
        EXPECT(end - last > 1000000);
        last = end;
    }
}
#endif
