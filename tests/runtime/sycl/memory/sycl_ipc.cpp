// SPDX-License-Identifier: MIT
// Memory that two processes share. The second one begins before the runtime does, and each has a
// runtime of its own.
#include "sycl_support.hpp"

#include <sycl/ext/oneapi/experimental/ipc_memory.hpp>

#include <cstdlib>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

namespace ipc = syclexp::ipc;

constexpr size_t count = 1000;
constexpr size_t handle_room = 512;

struct message {
    size_t size = 0;
    std::byte handle[handle_room];
};

pid_t other_process;
int to_other;
int from_other;

void expect_numbers(sycl::queue &queue, const int *memory, int first)
{
    std::vector<int> numbers(count);
    queue.copy(memory, numbers.data(), count).wait();
    EXPECT(numbers == count_from(first, count));
}

// Opens the memory of the handle that comes, and negates the numbers in it with a kernel.
void use_memory_of_the_first_process(int in, int out)
{
    message message;
    EXPECT(read(in, &message, sizeof(message)) == sizeof(message));
    sycl::queue queue = make_queue();
    const sycl::kernel negate = kernel_of(queue.get_context(), "negate", "negate");
    const ipc::handle_data_t data(message.handle, message.handle + message.size);
    int *memory =
        static_cast<int *>(ipc::memory::open(data, queue.get_context(), queue.get_device()));
    expect_numbers(queue, memory, 1);
    queue
        .submit([&](sycl::handler &handler) {
            handler.set_arg(0, memory);
            handler.parallel_for(sycl::range<1>(count), negate);
        })
        .wait();
    ipc::memory::close(memory, queue.get_context());
    EXPECT(write(out, &message, sizeof(message)) == sizeof(message));
}

} // namespace

STORY(a_kernel_of_another_process_works_on_memory_of_this_one)
{
    sycl::queue queue = make_queue();
    EXPECT(queue.get_device().has(sycl::aspect::ext_oneapi_ipc_memory));
    int *memory = sycl::malloc_device<int>(count, queue);
    queue.copy(count_from(1, count).data(), memory, count).wait();
    ipc::handle handle = ipc::memory::get(memory, queue.get_context());
    const ipc::handle_data_t data = handle.data();
    message message;
    EXPECT(data.size() <= handle_room);
    message.size = data.size();
    std::copy(data.begin(), data.end(), message.handle);
    EXPECT(write(to_other, &message, sizeof(message)) == sizeof(message));
    const bool is_answered = read(from_other, &message, sizeof(message)) == sizeof(message);
    EXPECT(is_answered);
    std::vector<int> numbers(count);
    queue.copy(memory, numbers.data(), count).wait();
    for (size_t i = 0; i < count; i++)
        EXPECT_EQ(numbers[i], -static_cast<int>(i + 1));
    ipc::memory::put(handle, queue.get_context());
    sycl::free(memory, queue);
}

STORY(bytes_that_are_no_handle_are_an_error)
{
    sycl::queue queue = make_queue();
    const ipc::handle_data_t garbage(200);
    EXPECT_ERROR(invalid, ipc::memory::open(garbage, queue.get_context(), queue.get_device()));
}

int main(int argc, char **argv)
{
    int there[2], back[2];
    // Where Yama lets only some processes look at others.
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    setenv("ZE_CPU_IPC", "1", 1);
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    other_process = fork();
    if (other_process == 0) {
        close(there[1]);
        try {
            use_memory_of_the_first_process(there[0], back[1]);
        } catch (...) {
            return 1;
        }
        return 0;
    }
    close(there[0]);
    close(back[1]);
    to_other = there[1];
    from_other = back[0];
    const int code = story_main(argc, argv);
    int status = 0;
    close(to_other);
    waitpid(other_process, &status, 0);
    return code != 0 ? code : !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}
