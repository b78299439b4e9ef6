// SPDX-License-Identifier: MIT
// Programs that end while objects are alive: each story runs this program once more, as one that
// ends in its own way, and expects the exit code that it ends with.
#include "sycl_support.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

namespace
{

constexpr int good_code = 7;

// Objects in static storage of some of the programs, in this order.
struct everything {
    sycl::queue queue;
    sycl::queue ordered{sycl::property::queue::in_order()};
    sycl::context context{queue.get_device()};
    sycl::buffer<int> buffer{sycl::range<1>(1000)};
    std::vector<int> numbers = count_from(0, 1000);
    sycl::buffer<int> writing_back{numbers.data(), sycl::range<1>(1000)};
    executable_bundle bundle = build_spirv(queue.get_context(), "negate");
    sycl::kernel kernel = bundle.ext_oneapi_get_kernel("negate");
    sycl::kernel spin = kernel_of(queue.get_context(), "spin", "spin");
    int *shared = sycl::malloc_shared<int>(1000, queue);
    std::vector<sycl::event> events;
    std::optional<syclexp::command_graph<syclexp::graph_state::executable>> graph;

    void use()
    {
        std::fill_n(shared, 1000, 1);
        events.push_back(queue.submit([&](sycl::handler &handler) {
            handler.set_arg(0, shared);
            handler.parallel_for(sycl::range<1>(1000), kernel);
        }));
        events.push_back(ordered.submit([&](sycl::handler &handler) {
            sycl::accessor access(writing_back, handler, sycl::read_write);
            handler.set_arg(0, access);
            handler.parallel_for(sycl::range<1>(1000), kernel);
        }));
        queue.submit([&](sycl::handler &handler) {
            handler.fill(sycl::accessor(buffer, handler, sycl::write_only, sycl::no_init), 5);
        });
        syclexp::command_graph<syclexp::graph_state::modifiable> recorded(queue.get_context(),
                                                                          queue.get_device());
        recorded.add([&](sycl::handler &handler) {
            handler.set_arg(0, shared);
            handler.parallel_for(sycl::range<1>(1000), kernel);
        });
        graph.emplace(recorded.finalize());
        events.push_back(queue.ext_oneapi_graph(*graph, events[0]));
    }

    // Leaves the device busy for a while.
    void work()
    {
        for (int i = 0; i < 3; i++)
            queue.submit([&](sycl::handler &handler) {
                handler.set_args(20000000u, shared + i);
                handler.parallel_for(sycl::range<1>(1), spin);
            });
    }
};

everything *at_exit_uses;
std::optional<everything> early;
bool is_early;

int end_with_everything_in_static_storage()
{
    static everything all;
    all.use();
    all.queue.wait();
    return good_code;
}

int end_while_kernels_run()
{
    static everything all;
    all.use();
    all.work();
    return good_code;
}

int end_with_everything_leaked()
{
    auto *all = new everything;
    all->use();
    all->work();
    return good_code;
}

int end_by_exit_in_a_thread()
{
    static everything all;
    all.use();
    std::thread([] { std::exit(good_code); }).join();
    return 0;
}

// No submissions: the runtime's variables of the thread are gone by then.
int end_with_a_function_that_gives_back()
{
    at_exit_uses = new everything;
    at_exit_uses->use();
    at_exit_uses->work();
    std::atexit([] {
        at_exit_uses->queue.wait();
        at_exit_uses->ordered.wait();
        delete at_exit_uses;
    });
    return good_code;
}

int end_with_objects_of_a_thread()
{
    thread_local everything mine;
    mine.use();
    std::thread([] {
        thread_local everything others;
        others.use();
        others.work();
    }).join();
    return good_code;
}

// Made before main() began.
int end_with_objects_from_before_main()
{
    early->use();
    return is_early ? good_code : 1;
}

int end_at_once()
{
    static everything all;
    all.use();
    std::quick_exit(good_code);
}

int end_without_a_word_to_the_device()
{
    return good_code;
}

const std::map<std::string, int (*)()> ends = {
    {"static_storage", end_with_everything_in_static_storage},
    {"running", end_while_kernels_run},
    {"leaked", end_with_everything_leaked},
    {"thread", end_by_exit_in_a_thread},
    {"at_exit", end_with_a_function_that_gives_back},
    {"thread_local", end_with_objects_of_a_thread},
    {"before_main", end_with_objects_from_before_main},
    {"at_once", end_at_once},
    {"nothing", end_without_a_word_to_the_device},
};

const char end_variable[] = "SYCL_EXIT_END";

const bool early_is_made = [] {
    const char *end = std::getenv(end_variable);
    if (end && std::strcmp(end, "before_main") == 0) {
        early.emplace();
        is_early = true;
    }
    return true;
}();

void expect_end(const char *name)
{
    setenv(end_variable, name, 1);
    char program[] = "/proc/self/exe";
    char *arguments[] = {program, nullptr};
    pid_t child;
    EXPECT_EQ(posix_spawn(&child, program, nullptr, nullptr, arguments, environ), 0);
    unsetenv(end_variable);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        story_fail(__FILE__, __LINE__, "ended by signal " + std::to_string(WTERMSIG(status)));
    EXPECT_EQ(WEXITSTATUS(status), good_code);
}

} // namespace

STORY(with_everything_in_static_storage)
{
    expect_end("static_storage");
}

STORY(while_kernels_run)
{
    expect_end("running");
}

STORY(with_everything_leaked)
{
    expect_end("leaked");
}

STORY(by_exit_in_a_thread)
{
    expect_end("thread");
}

STORY(with_a_function_that_gives_back)
{
    expect_end("at_exit");
}

STORY(with_objects_of_a_thread)
{
    expect_end("thread_local");
}

STORY(with_objects_from_before_main)
{
    expect_end("before_main");
}

STORY(at_once)
{
    expect_end("at_once");
}

STORY(without_a_word_to_the_device)
{
    expect_end("nothing");
}

int main(int argc, char **argv)
{
    if (const char *end = std::getenv(end_variable))
        return ends.at(end)();
    return story_main(argc, argv);
}
