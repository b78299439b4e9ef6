// SPDX-License-Identifier: MIT
// ZEPI_COMPILER=process and ZEPI_STATS in many hands: threads build, some of it wrong, launch and
// copy, while one thread kills the processes that compile. The statistics have all of it.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, BUILDS = 3, LAUNCHES = 50, KILLS = 2 };

static struct test_gear gear;
static atomic_bool is_over;

// Shared with the process that reads the report.
static struct seen {
    atomic_uint asked; // builds, with those whose process was killed
} * seen;

struct worker {
    int32_t number;
    zepi_queue_t queue;
    int32_t *memory;
};

static void launch(struct worker *worker, zepi_module_t executable, int32_t factor)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    const zepi_argument_t arguments[] = {TEST_POINTER(worker->memory),
                                         TEST_POINTER(worker->memory + 1)};
    const zepi_launch_desc_t desc = test_launch(kernel, 2, arguments, 1);
    for (int i = 0; i < LAUNCHES; i++)
        TEST_OK(zepi.queue_launch(worker->queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_copy(worker->queue, worker->memory + 2, worker->memory + 1, 4, TEST_NO_WAIT,
                            NULL));
    TEST_OK(zepi.queue_finish(worker->queue));
    TEST_EXPECT(worker->memory[2] == factor * worker->memory[0], "a wrong number");
    TEST_OK(zepi.release(kernel));
}

// A process that is killed says nothing about the module, which is built again.
static zepi_result_t build(zepi_module_t input, const char *options, zepi_module_t *out_executable)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc), .options = options};
    zepi_result_t result;
    do {
        result = zepi.module_build(input, &desc, out_executable);
        atomic_fetch_add(&seen->asked, 1);
    } while (result == ZEPI_ERROR_COMPILER_UNAVAILABLE);
    return result;
}

static void *work(void *user)
{
    struct worker *worker = user;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &worker->queue));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 12, 0,
                              (void **)&worker->memory));
    worker->memory[0] = 7;
    for (int32_t round = 0; round < BUILDS; round++) {
        const int32_t value = 2 + worker->number * BUILDS + round; // each is built once
        char wrong[64];
        zepi_module_t executable;
        TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
        TEST_OK(build(input, NULL, &executable));
        launch(worker, executable, value);
        TEST_OK(zepi.release(executable));
        snprintf(wrong, sizeof(wrong), "-no-such-option-%d", value);
        TEST_FAILS(build(input, wrong, &executable), ZEPI_ERROR_COMPILE_FAILURE);
    }
    TEST_OK(zepi.usm_free(gear.context, worker->memory));
    TEST_OK(zepi.release(worker->queue));
    TEST_OK(zepi.release(input));
    return NULL;
}

// Kills a process that compiles. Processes are children of the thread that started them.
static bool kill_one(void)
{
    bool is_killed = false;
    const struct dirent *entry;
    DIR *threads = opendir("/proc/self/task");
    TEST_EXPECT(threads != NULL, "there is no /proc");
    while (!is_killed && (entry = readdir(threads))) {
        char path[sizeof("/proc/self/task//children") + sizeof(entry->d_name)];
        int compiler;
        snprintf(path, sizeof(path), "/proc/self/task/%s/children", entry->d_name);
        FILE *file = fopen(path, "r");
        is_killed = file && fscanf(file, "%d", &compiler) == 1 && kill(compiler, SIGKILL) == 0;
        if (file)
            fclose(file);
    }
    closedir(threads);
    return is_killed;
}

static void *kill_compilers(void *user)
{
    (void)user;
    for (int kills = 0; kills < KILLS && !atomic_load(&is_over); kills += kill_one())
        usleep(200000);
    return NULL;
}

// ---- The statistics ----

static void expect_report(const char *path, uint64_t asked)
{
    const struct test_bytes bytes = test_env_read_file(path);
    char *text = strndup((const char *)bytes.data, bytes.size_bytes);
    TEST_EXPECT(text != NULL, "no memory");
    TEST_EXPECT(test_env_number_behind(text, "\"asked\": ") == asked, "programs");
    TEST_EXPECT(test_env_number_behind(text, "\"compiled\": ") == THREADS * BUILDS,
                "compiled programs");
    TEST_EXPECT(test_env_number_behind(text, "\"builds\": ") == asked, "builds");
    TEST_EXPECT(test_env_number_behind(text, "\"failures\": ") == asked - THREADS * BUILDS,
                "builds that failed");
    TEST_EXPECT(test_env_number_behind(text, "\"launches\": ") == THREADS * BUILDS * LAUNCHES,
                "launches");
    TEST_EXPECT(test_env_number_behind(text, "\"copies\": {\"count\": ") == THREADS * BUILDS,
                "copies");
    free(text);
    free(bytes.data);
}

static _Noreturn void run(const char *path)
{
    struct worker workers[THREADS] = {0};
    setenv("ZEPI_STATS", path, 1);
    setenv("ZEPI_COMPILER", "process", 1);
    test_env_use_ze_cpu();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    for (int i = 0; i < THREADS; i++)
        workers[i].number = i;
    const pthread_t killer = test_thread_start(kill_compilers, NULL);
    test_threads_run(THREADS, work, workers, sizeof(workers[0]));
    atomic_store(&is_over, true);
    pthread_join(killer, NULL);
    test_gear_destroy(&gear);
    exit(0);
}

int main(void)
{
    static char path[4096];
    int status;
    snprintf(path, sizeof(path), "%s", test_env_scratch_path("stats.jsonl"));
    seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TEST_EXPECT(seen != MAP_FAILED, "no memory");
    const pid_t child = fork();
    if (child == 0)
        run(path);
    TEST_EXPECT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                    WEXITSTATUS(status) == 0,
                "the process does not end well");
    const uint64_t asked = atomic_load(&seen->asked);
    printf("%u builds\n", (unsigned)asked);
    expect_report(path, asked);
    return 0;
}
