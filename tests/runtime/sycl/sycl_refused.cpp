// SPDX-License-Identifier: MIT
// Features that zepi lacks: the device does not report them, and a program that uses them gets an
// exception, not a crash.
#include "sycl_support.hpp"

#if TEST_SYCL_RELEASE >= 20260
#include <sycl/ext/oneapi/experimental/ipc_memory.hpp>
#endif

#include <functional>

namespace
{

// That the statement throws sycl::exception, and the queue works afterwards.
void expect_refused(sycl::queue queue, const char *what, const std::function<void()> &statement)
{
    bool is_refused = false;
    try {
        statement();
    } catch (const sycl::exception &) {
        is_refused = true;
    }
    if (!is_refused)
        story_fail(__FILE__, __LINE__, std::string(what) + " was not refused");
    int *memory = sycl::malloc_shared<int>(1, queue);
    queue.memset(memory, 0x11, sizeof(int)).wait_and_throw();
    EXPECT_EQ(*memory, 0x11111111);
    sycl::free(memory, queue);
}

#if TEST_SYCL_RELEASE >= 20262
namespace ipc_memory = syclexp::ipc::memory;
#elif TEST_SYCL_RELEASE >= 20260
namespace ipc_memory = syclexp::ipc_memory;
#endif

#define EXPECT_REFUSED(queue, ...) expect_refused(queue, #__VA_ARGS__, [&] { __VA_ARGS__; })

} // namespace

#if TEST_SYCL_RELEASE >= 20260
STORY(memory_of_other_processes)
{
    sycl::queue queue = make_queue();
    if (queue.get_device().has(sycl::aspect::ext_oneapi_ipc_memory))
        story_skip("the driver shares memory");
    int *memory = sycl::malloc_device<int>(4, queue);
    EXPECT_REFUSED(queue, ipc_memory::get(memory, queue.get_context()));
    sycl::free(memory, queue);
}
#endif

STORY(bindless_images)
{
    sycl::queue queue = make_queue();
    EXPECT(!queue.get_device().has(sycl::aspect::ext_oneapi_bindless_images));
    const syclexp::image_descriptor desc({4, 4}, 4, sycl::image_channel_type::fp32);
    EXPECT_REFUSED(queue, syclexp::alloc_image_mem(desc, queue));
    EXPECT_REFUSED(queue, syclexp::pitched_alloc_device(nullptr, desc, queue));
    EXPECT_REFUSED(queue, syclexp::create_image(syclexp::image_mem_handle(), desc, queue));
}

#if TEST_SYCL_RELEASE >= 20261
STORY(queues_that_record_by_the_driver)
{
    sycl::queue queue = make_queue();
    EXPECT_REFUSED(queue, {
        syclexp::command_graph graph(queue.get_context(), queue.get_device(),
                                     {syclexp::property::graph::enable_native_recording()});
        graph.begin_recording(queue);
    });
}
#endif

STORY(system_memory_is_no_usm_unless_the_device_says_so)
{
    sycl::queue queue = make_queue();
    if (queue.get_device().has(sycl::aspect::usm_system_allocations))
        story_skip("this device takes any memory");
    std::vector<int> numbers = count_from(1, 16);
    EXPECT(sycl::get_pointer_type(numbers.data(), queue.get_context()) ==
           sycl::usm::alloc::unknown);
}
