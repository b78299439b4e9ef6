// SPDX-License-Identifier: MIT
// A process that ends, forks or execs while other threads build, launch and copy: it has the exit
// code that it was to have, in time.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"

#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_CODE 7
#define FORKS 10
#define TIMES_OPENED (TEST_IS_MEASURABLE ? 1000 : 50)
// Of half of the rounds: 80 bytes a round are the test's own paths.
#define GROWTH_BYTES ((size_t)TIMES_OPENED * (TEST_IS_MEASURABLE ? 75 : 2000))
#define SECONDS 100 // until a process counts as hanging
#define THREADS 2

static struct test_gear gear;
static sem_t has_begun;

static void begin(void)
{
    sem_init(&has_begun, 0, 0);
    test_env_use_ze_cpu();
    test_plugin_load();
    gear = test_gear_create(0);
}

// ---- What threads are at ----

static void *build_slowly(void *unused)
{
    (void)unused;
    zepi_module_t output;
    zepi_module_t input = test_input(gear.context, "vector_add");
    sem_post(&has_begun);
    zepi.module_build(input, NULL, &output);
    return NULL;
}

// Until the process ends, when the driver takes nothing more.
static void *launch_and_copy(void *user)
{
    struct test_gear own = gear;
    zepi_kernel_t kernel = user;
    int32_t by = 1;
    void *memory;
    zepi_result_t result = ZEPI_SUCCESS;
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &own.queue));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4096, 0, &memory));
    const zepi_argument_t arguments[] = {TEST_VALUE(by), TEST_POINTER(memory)};
    const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, 1);
    for (int i = 0; result == ZEPI_SUCCESS; i++) {
        zepi_event_t event = NULL;
        result = zepi.queue_launch(own.queue, &launch, TEST_NO_WAIT, &event);
        if (result == ZEPI_SUCCESS)
            result = zepi.release(event);
        if (result == ZEPI_SUCCESS)
            result =
                zepi.queue_copy(own.queue, (char *)memory + 2048, memory, 1024, TEST_NO_WAIT, NULL);
        if (result == ZEPI_SUCCESS && i % 4 == 0)
            result = zepi.queue_finish(own.queue);
        if (i == 10) {
            TEST_EXPECT(result == ZEPI_SUCCESS, "launches and copies fail before the end");
            sem_post(&has_begun);
        }
    }
    return NULL;
}

static void start_work(void)
{
    zepi_kernel_t kernel;
    begin();
    zepi_module_t executable = test_executable(gear.context, "counter");
    TEST_OK(zepi.module_get_kernel(executable, "count", &kernel));
    // Detached: those that end before the process are no leak.
    for (int i = 0; i < THREADS; i++)
        pthread_detach(test_thread_start(launch_and_copy, kernel));
    for (int i = 0; i < THREADS; i++)
        sem_wait(&has_begun);
}

// ---- How processes end ----

static void end_during_a_build(void)
{
    setenv("ZE_CPU_BUILD_MS", "3000", 1);
    begin();
    pthread_detach(test_thread_start(build_slowly, NULL));
    sem_wait(&has_begun);
    usleep(100000);
    exit(EXIT_CODE);
}

static void end_during_launches(void)
{
    start_work();
    exit(EXIT_CODE);
}

static void end_from_log(void *data, zepi_device_t device, const char *log, size_t size_bytes)
{
    (void)data;
    (void)device;
    (void)log;
    (void)size_bytes;
    exit(EXIT_CODE);
}

static void end_in_a_callback(void)
{
    begin();
    zepi_module_t output;
    const zepi_build_desc_t desc = {.size = sizeof(desc), .log = end_from_log};
    zepi_module_t input = test_input(gear.context, "vector_add");
    zepi.module_build(input, &desc, &output);
}

// Waits for the child, which is to end well.
static void expect_child(pid_t child, int code)
{
    int status = 0;
    TEST_EXPECT(child > 0 && waitpid(child, &status, 0) == child, "there is no child");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        fprintf(stderr, "status 0x%x%s\n", (unsigned)status,
                WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
    TEST_EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == code, "a child does not end well");
}

// The parent goes on launching.
static _Noreturn void fork_often(void (*end_child)(void))
{
    start_work();
    for (int i = 0; i < FORKS; i++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(SECONDS / 2);
            end_child();
            _exit(1);
        }
        expect_child(child, 0);
    }
    exit(EXIT_CODE);
}

static void exec_true(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void exit_well(void)
{
    exit(0);
}

static void fork_and_exec(void)
{
    fork_often(exec_true);
}

static void fork_and_exit(void)
{
    fork_often(exit_well);
}

static bool has_library(const char *name)
{
    char line[8192];
    bool has = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    TEST_EXPECT(maps != NULL, "there is no /proc");
    while (!has && fgets(line, sizeof(line), maps))
        has = strstr(line, name) != NULL;
    fclose(maps);
    return has;
}

// Has the plugin open the library of its shared store, if it is built. The store has no server.
static void look_at_shared_store(void)
{
    zepi_cache_location_t location = {.size = sizeof(location)};
    TEST_OK(zepi.cache_get_location(&location));
    TEST_EXPECT(has_library("libzepi_shared_store") ==
                    (strstr(location.shared_state, "no connection") != NULL),
                "the shared store is loaded without need, or not at all");
}

static void open_and_close(void)
{
    size_t bytes = 0;
    int descriptors = 0;
    test_env_use_ze_cpu();
    for (int i = 0; i < TIMES_OPENED; i++) {
        void *memory;
        setenv("ZEPI_CACHE_SHARED", i % 10 == 0 ? "unix:///nowhere" : "", 1);
        test_plugin_load();
        look_at_shared_store();
        gear = test_gear_create(0);
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0, &memory));
        TEST_OK(zepi.usm_free(gear.context, memory));
        test_gear_destroy(&gear);
        test_plugin_unload();
        TEST_EXPECT(!has_library("libzepi"), "a library is left after dlclose");
        if (i == TIMES_OPENED / 2) {
            bytes = test_env_allocated_bytes();
            descriptors = test_env_count_descriptors();
        }
    }
    printf("%zu bytes at half time, %zu at the end\n", bytes, test_env_allocated_bytes());
    fflush(stdout);
    TEST_EXPECT(test_env_allocated_bytes() < bytes + GROWTH_BYTES, "memory is left after dlclose");
    TEST_EXPECT(test_env_count_descriptors() == descriptors, "descriptors are left after dlclose");
    exit(EXIT_CODE);
}

static void test(const char *story, void (*live)(void))
{
    printf("%s\n", story);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        live();
        _exit(1);
    }
    expect_child(child, EXIT_CODE);
}

int main(void)
{
    test("the end during a build", end_during_a_build);
    test("the end while threads launch", end_during_launches);
    test("the end in a callback", end_in_a_callback);
    test("a child that execs", fork_and_exec);
    test("a child that ends", fork_and_exit);
    test("opened and closed", open_and_close);
    return 0;
}
