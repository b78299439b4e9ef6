// SPDX-License-Identifier: MIT
// Clocks, timeouts, and how long the end of a process takes while a kernel runs.
#include "test_env.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <level_zero/ze_api.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXIT_CODE 4
#define ENDING_SECONDS 2.0
#define SLACK_SECONDS 20.0 // for a machine that does much else; the kernel takes longer than both

#define MUST(call) must((call) == ZE_RESULT_SUCCESS, #call)

static void must(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "failed: %s\n", what);
    _exit(1);
}

// ---- A raw clock of this program's own, which its driver sees, too: slow, and an hour ahead ----

static bool has_own_clock;

static int real_clock(clockid_t clock, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
        memcpy(&real, &symbol, sizeof(symbol));
    }
    return real(clock, out);
}

static uint64_t ns_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *out)
{
    if (clock != CLOCK_MONOTONIC_RAW || !has_own_clock)
        return real_clock(clock, out);
    if (real_clock(CLOCK_MONOTONIC, out) != 0)
        return -1;
    const uint64_t ns = ns_of(out) / 10 * 8 + UINT64_C(3600000000000);
    *out = (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
    return 0;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return ns_of(&now);
}

// ---- A kernel that runs for more than a minute ----

static struct {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    ze_event_handle_t event; // of no command
} gear;

static void start_driver(void)
{
    uint32_t count = 1;
    ze_driver_handle_t driver;
    ze_event_pool_handle_t pool;
    test_env_use_ze_cpu();
    MUST(zeInit(0));
    MUST(zeDriverGet(&count, &driver));
    MUST(zeDeviceGet(driver, &count, &gear.device));
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    MUST(zeContextCreate(driver, &context, &gear.context));
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    MUST(zeCommandListCreateImmediate(gear.context, gear.device, &queue, &gear.list));
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    MUST(zeEventPoolCreate(gear.context, &pool_desc, 0, NULL, &pool));
    MUST(zeEventCreate(pool, &event, &gear.event));
}

static void launch_long_kernel(void)
{
    struct test_bytes spirv = test_env_read_spirv("spin");
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    void *memory;
    const uint32_t rounds = UINT32_MAX;
    const ze_group_count_t groups = {64, 1, 1};
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                          .inputSize = spirv.size_bytes,
                                          .pInputModule = spirv.data};
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = "spin"};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    MUST(zeModuleCreate(gear.context, gear.device, &module_desc, &module, NULL));
    MUST(zeKernelCreate(module, &kernel_desc, &kernel));
    MUST(zeMemAllocHost(gear.context, &host, 64 * 64 * 4, 64, &memory));
    MUST(zeKernelSetGroupSize(kernel, 64, 1, 1));
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(rounds), &rounds));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(memory), &memory));
    MUST(zeCommandListAppendLaunchKernel(gear.list, kernel, &groups, NULL, 0, NULL));
    usleep(50000); // it has begun
}

// ---- The ends ----

static double seconds_since(uint64_t start_ns)
{
    return (double)(clock_ns(CLOCK_MONOTONIC) - start_ns) * 1e-9;
}

// The time at which the process begins to end goes to stdout, with the rest of stdio's buffer.
static int end_process(const char *how)
{
    start_driver();
    launch_long_kernel();
    const uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    if (strcmp(how, "fork") == 0) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0)
            exit(EXIT_CODE);
        must(child > 0 && waitpid(child, &status, 0) == child, "fork");
        fprintf(stderr, "a child of fork ends after %.2f s\n", seconds_since(start_ns));
        must(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CODE &&
                 seconds_since(start_ns) < ENDING_SECONDS + SLACK_SECONDS,
             "the end of a child");
        printf("%llu", (unsigned long long)start_ns);
        fflush(stdout);
        _exit(EXIT_CODE);
    }
    printf("%llu", (unsigned long long)start_ns);
    if (strcmp(how, "exit") == 0)
        exit(EXIT_CODE);
    return EXIT_CODE;
}

static void test_ends(void)
{
    static const char *const ends[] = {"exit", "return", "fork"};
    enum { COUNT = sizeof(ends) / sizeof(ends[0]) };
    pid_t pids[COUNT];
    int outputs[COUNT];
    for (int i = 0; i < COUNT; i++) {
        int pipes[2];
        posix_spawn_file_actions_t actions;
        char *const arguments[] = {(char *)"ze_cpu_time", (char *)ends[i], NULL};
        must(pipe2(pipes, O_CLOEXEC) == 0, "pipe");
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
        must(posix_spawn(&pids[i], "/proc/self/exe", &actions, NULL, arguments, environ) == 0,
             "posix_spawn");
        posix_spawn_file_actions_destroy(&actions);
        close(pipes[1]);
        outputs[i] = pipes[0];
    }
    for (int i = 0; i < COUNT; i++) {
        char text[64] = "";
        int status;
        must(waitpid(pids[i], &status, 0) == pids[i], "waitpid");
        const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
        must(read(outputs[i], text, sizeof(text) - 1) > 0, "what was written is lost");
        const double seconds = (double)(now_ns - strtoull(text, NULL, 10)) * 1e-9;
        fprintf(stderr, "%s: ended after %.2f s\n", ends[i], seconds);
        must(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CODE, "another exit code");
        // That of the child was looked at by its parent.
        must(strcmp(ends[i], "fork") == 0 || seconds < ENDING_SECONDS + SLACK_SECONDS, ends[i]);
    }
}

// ---- Clocks and timeouts ----

static void test_clock(void)
{
    uint64_t host_ns, device_ticks;
    const uint64_t before = clock_ns(CLOCK_MONOTONIC_RAW);
    MUST(zeDeviceGetGlobalTimestamps(gear.device, &host_ns, &device_ticks));
    must(host_ns >= before && host_ns <= clock_ns(CLOCK_MONOTONIC_RAW),
         "host timestamps are of CLOCK_MONOTONIC_RAW");
}

static void test_timeouts(void)
{
    const uint64_t timeout_ns = 40000000;
    const uint64_t start = clock_ns(CLOCK_MONOTONIC_RAW);
    must(zeEventHostSynchronize(gear.event, timeout_ns) == ZE_RESULT_NOT_READY, "an event waits");
    must(clock_ns(CLOCK_MONOTONIC_RAW) - start >= timeout_ns, "a wait of 40 ms is shorter");
    must(zeEventHostSynchronize(gear.event, 0) == ZE_RESULT_NOT_READY, "an event is looked at");
    must(zeEventHostSynchronize(gear.event, 1000) == ZE_RESULT_NOT_READY, "an event waits shortly");
}

// A look costs no wait: a synchronization that may wait spins for a while first.
static void test_looks(void)
{
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    enum { LOOKS = 1000 };
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                                .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    MUST(zeCommandQueueCreate(gear.context, gear.device, &queue_desc, &queue));
    MUST(zeCommandListCreate(gear.context, gear.device, &list_desc, &list));
    MUST(zeCommandListAppendWaitOnEvents(list, 1, &gear.event));
    MUST(zeCommandListClose(list));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    const uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < LOOKS; i++)
        must(zeCommandQueueSynchronize(queue, 0) == ZE_RESULT_NOT_READY, "a queue is looked at");
    const uint64_t each_ns = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / LOOKS;
    fprintf(stderr, "a look takes %llu ns\n", (unsigned long long)each_ns);
    must(each_ns < 5000, "a look that takes no time");
    MUST(zeEventHostSignal(gear.event));
    MUST(zeCommandQueueSynchronize(queue, UINT64_MAX));
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return end_process(argv[1]);
    has_own_clock = true;
    start_driver();
    test_clock();
    test_timeouts();
    test_looks();
    has_own_clock = false;
    test_ends();
    return 0;
}
