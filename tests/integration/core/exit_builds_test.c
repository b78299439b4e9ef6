// SPDX-License-Identifier: MIT
// A process that calls exit while its threads build: it ends with its status, its output and its
// handlers, as if there were no builds. Only a build of more than two seconds costs the handlers
// that were registered before it. Also on Intel's driver.
//   exit_builds [ROUNDS]
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
#include <time.h>
#include <unistd.h>

#define EXIT_CODE 7
#define BUILDERS 2
#define PATIENCE_SECONDS 2
#define SECONDS 100  // until a process counts as hanging
#define BEGIN "."    // written as the end begins
#define SAID "said " // never flushed by the program
#define HANDLED "handled"
#define REFUSED "refused "
#define COUNT_ID 25 // of a constant in tests/data/spec_types.cl

static struct test_gear gear;
static sem_t has_begun;
static unsigned pause_us;

static void handle(void)
{
    fputs(HANDLED, stdout);
}

static void build(zepi_module_t input, int32_t value)
{
    zepi_module_t executable;
    zepi_kernel_t kernel;
    TEST_OK(zepi.spec_constant_set(input, COUNT_ID, sizeof(value), &value));
    zepi_result_t result = zepi.module_build(input, NULL, &executable);
    if (result == ZEPI_SUCCESS)
        result = zepi.module_get_kernel(executable, "show_types", &kernel);
    // The process ends.
    if (result == ZEPI_ERROR_COMPILER_UNAVAILABLE)
        for (;;)
            pause();
    TEST_OK(result);
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
}

static void *build_without_end(void *first)
{
    zepi_module_t input = test_input(gear.context, "spec_types");
    sem_post(&has_begun);
    for (int32_t value = *(int32_t *)first;; value += BUILDERS)
        build(input, value);
    return NULL;
}

static void begin(void)
{
    atexit(handle);
    sem_init(&has_begun, 0, 0);
    test_env_use_ze_cpu();
    // Builds compile.
    unsetenv("ZE_CPU_CODE_FOLDER");
    setenv("ZEPI_CACHE_DISK", "0", 1);
    test_plugin_load();
    gear = test_gear_create(0);
}

static void start_builders(void)
{
    static int32_t first[BUILDERS];
    for (int i = 0; i < BUILDERS; i++) {
        first[i] = 1000 + i;
        pthread_detach(test_thread_start(build_without_end, &first[i]));
    }
    for (int i = 0; i < BUILDERS; i++)
        sem_wait(&has_begun);
    usleep(pause_us);
}

static _Noreturn void *end(void *unused)
{
    (void)unused;
    fputs(SAID, stdout);
    TEST_EXPECT(write(STDOUT_FILENO, BEGIN, 1) == 1, "the pipe is closed");
    exit(EXIT_CODE);
}

// The compiler makes its objects while they build.
static void end_during_first_builds(void)
{
    begin();
    start_builders();
    end(NULL);
}

static void end_during_later_builds(void)
{
    begin();
    build(test_input(gear.context, "spec_types"), 1);
    start_builders();
    end(NULL);
}

// After a first build: a compiler's objects that a thread other than the main one finds half made
// are destroyed before zepi's handler (docs/options.md).
static void end_in_another_thread(void)
{
    begin();
    build(test_input(gear.context, "spec_types"), 1);
    start_builders();
    test_thread_start(end, NULL);
    for (;;)
        pause();
}

static void build_at_the_end(void)
{
    zepi_module_t executable;
    zepi_module_t input = test_input(gear.context, "vector_add");
    TEST_FAILS_SAYING(zepi.module_build(input, NULL, &executable), ZEPI_ERROR_COMPILER_UNAVAILABLE,
                      "the process ends");
    fputs(REFUSED, stdout);
}

static void end_with_a_build(void)
{
    begin();
    build(test_input(gear.context, "spec_types"), 1);
    atexit(build_at_the_end);
    end(NULL);
}

static void end_during_a_long_build(void)
{
    setenv("ZE_CPU_BUILD_MS", "60000", 1);
    end_during_first_builds();
}

// The builds are the parent's: the child has none to wait for.
static void end_of_a_child(void)
{
    int status = 0;
    setenv("ZE_CPU_BUILD_MS", "60000", 1);
    begin();
    start_builders();
    const pid_t child = fork();
    if (child == 0)
        end(NULL);
    TEST_EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status), "the child is lost");
    _exit(WEXITSTATUS(status));
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// Reads all that the child prints, and says how long its end took.
static uint64_t read_all(int file, char *text, size_t size)
{
    uint64_t begin_ms = 0;
    size_t length = 0;
    ssize_t count;
    while ((count = read(file, text + length, size - 1 - length)) > 0) {
        begin_ms = begin_ms > 0 ? begin_ms : now_ms();
        length += (size_t)count;
    }
    text[length] = '\0';
    return begin_ms > 0 ? now_ms() - begin_ms : 0;
}

static pid_t start(void (*live)(void), int *out_file)
{
    int pipes[2];
    TEST_EXPECT(pipe(pipes) == 0, "there is no pipe");
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        live();
        _exit(1);
    }
    TEST_EXPECT(child > 0, "there is no child");
    close(pipes[1]);
    *out_file = pipes[0];
    return child;
}

// Whether handlers were lost.
static bool test(const char *story, void (*live)(void), const char *printed)
{
    char text[256];
    int file, status = 0;
    const pid_t child = start(live, &file);
    const uint64_t took_ms = read_all(file, text, sizeof(text));
    close(file);
    TEST_EXPECT(waitpid(child, &status, 0) == child, "the child is lost");
    const bool has_lost_handlers = strcmp(text, BEGIN SAID) == 0;
    const bool is_good =
        WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CODE &&
        (strcmp(text, printed) == 0 || (has_lost_handlers && took_ms >= PATIENCE_SECONDS * 1000));
    if (!is_good)
        fprintf(stderr, "%s, %u us: status 0x%x, '%s' in %llu ms, expected '%s'\n", story, pause_us,
                (unsigned)status, text, (unsigned long long)took_ms, printed);
    TEST_EXPECT(is_good, "a process does not end well");
    if (has_lost_handlers)
        TEST_EXPECT(took_ms < PATIENCE_SECONDS * 1000 + 20000, "the end takes too long");
    return has_lost_handlers;
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2;
    for (unsigned i = 0; i < rounds; i++) {
        pause_us = i * 7919 % 100000;
        test("first builds", end_during_first_builds, BEGIN SAID HANDLED);
        test("later builds", end_during_later_builds, BEGIN SAID HANDLED);
        test("in another thread", end_in_another_thread, BEGIN SAID HANDLED);
        test("a build in a handler", end_with_a_build, BEGIN SAID REFUSED HANDLED);
    }
    if (!test_env_is_on_intel_driver()) {
        test("a long build", end_during_a_long_build, BEGIN SAID);
        TEST_EXPECT(!test("a child of fork", end_of_a_child, BEGIN SAID HANDLED),
                    "a child waits for builds of its parent");
    }
    return 0;
}
