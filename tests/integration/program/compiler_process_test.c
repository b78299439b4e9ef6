// SPDX-License-Identifier: MIT
// ZEPI_COMPILER=process: builds in processes of their own, one each, which die, hang and end with
// their host.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 100          // until a process counts as hanging
#define REPLY_MIN_BYTES 2048 // behind the request, as a build begins
#define PROCESSES_MAX 16

static struct test_gear gear;

// ---- Processes ----

// Compiler processes that this process has as children, zombies too.
static unsigned list_compilers(pid_t parent, pid_t compilers[PROCESSES_MAX])
{
    unsigned count = 0;
    const struct dirent *entry;
    DIR *processes = opendir("/proc");
    TEST_EXPECT(processes != NULL, "there is no /proc");
    while ((entry = readdir(processes)) && count < PROCESSES_MAX) {
        char path[sizeof("/proc//stat") + sizeof(entry->d_name)];
        char line[256] = "";
        const int id = atoi(entry->d_name);
        snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
        FILE *file = id > 0 ? fopen(path, "r") : NULL;
        int other = 0;
        if (file && fgets(line, sizeof(line), file) && strstr(line, "(zepi-compiler)") &&
            sscanf(strrchr(line, ')'), ") %*c %d", &other) == 1 && other == parent)
            compilers[count++] = id;
        if (file)
            fclose(file);
    }
    closedir(processes);
    return count;
}

static unsigned count_compilers(void)
{
    pid_t compilers[PROCESSES_MAX];
    return list_compilers(getpid(), compilers);
}

// None is left, as a zombie either; else the story hangs. Where the system takes dead children from
// the host, it does so a moment later.
static void await_no_compiler(void)
{
    while (count_compilers() > 0)
        usleep(1000);
}

// ---- Builds ----

static void begin(void)
{
    setenv("ZEPI_COMPILER", "process", 1);
    test_env_use_ze_cpu();
    test_plugin_load();
    gear = test_gear_create(0);
}

static void end(void)
{
    test_gear_destroy(&gear);
    test_plugin_unload();
    await_no_compiler();
}

static zepi_result_t build(const char *name)
{
    zepi_module_t output = NULL;
    zepi_module_t input = test_input(gear.context, name);
    const zepi_result_t result = zepi.module_build(input, NULL, &output);
    TEST_OK(zepi.release(input));
    if (result == ZEPI_SUCCESS)
        TEST_OK(zepi.release(output));
    return result;
}

static void *build_slowly(void *unused)
{
    (void)unused;
    build("vector_add");
    return NULL;
}

static void *build_well(void *unused)
{
    (void)unused;
    TEST_OK(build("vector_add"));
    return NULL;
}

// Compiler processes that begin from now on build for so long.
static void set_build_time(const char *milliseconds)
{
    setenv("ZE_CPU_BUILD_MS", milliseconds, 1);
}

static void await_compilers(unsigned count, pid_t compilers[PROCESSES_MAX])
{
    while (list_compilers(getpid(), compilers) != count)
        usleep(1000);
}

// The process that builds `name`, once it does: its driver has come up.
static pid_t await_build(const char *name)
{
    pid_t compilers[PROCESSES_MAX];
    char path[64];
    struct stat file = {0};
    struct test_bytes spirv = test_env_read_spirv(name);
    free(spirv.data);
    await_compilers(1, compilers);
    snprintf(path, sizeof(path), "/proc/%d/fd/0", (int)compilers[0]);
    while (stat(path, &file) == 0 && file.st_size < (off_t)spirv.size_bytes + REPLY_MIN_BYTES)
        usleep(1000);
    return compilers[0];
}

static void launch_a_counter(void)
{
    int32_t by = 5;
    int32_t *memory;
    zepi_kernel_t kernel;
    zepi_module_t executable = test_executable(gear.context, "counter");
    TEST_OK(zepi.module_get_kernel(executable, "count", &kernel));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0, (void **)&memory));
    const zepi_argument_t arguments[] = {TEST_VALUE(by), TEST_POINTER(memory)};
    const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_EXPECT(*memory == 5, "the kernel computes something else");
    TEST_OK(zepi.usm_free(gear.context, memory));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
}

// ---- Stories ----

static void builds_and_launches(void)
{
    begin();
    launch_a_counter(); // files that the first build opens stay open
    const int descriptors = test_env_count_descriptors();
    TEST_OK(build("vector_add"));
    TEST_EXPECT(count_compilers() == 0, "the process does not end with its build");
    TEST_EXPECT(test_env_count_descriptors() == descriptors, "a descriptor is left");
    end();
}

static void tells_what_the_compiler_says(void)
{
    begin();
    zepi_module_t output;
    const zepi_build_desc_t desc = {.size = sizeof(desc), .options = "-no-such-option"};
    zepi_module_t input = test_input(gear.context, "vector_add");
    TEST_FAILS_SAYING(zepi.module_build(input, &desc, &output), ZEPI_ERROR_COMPILE_FAILURE,
                      "-no-such-option");
    TEST_EXPECT(strstr(zepi.last_build_log(), "-no-such-option") != NULL, "there is no build log");
    TEST_OK(zepi.release(input));
    end();
}

struct killing {
    const char *name;
    int signal;
};

static void *kill_compiler(void *user)
{
    const struct killing *killing = user;
    kill(await_build(killing->name), killing->signal);
    return NULL;
}

// Sanitizers catch other signals than SIGABRT.
static void fail_by(int signal, const char *name, zepi_result_t result, const char *words)
{
    struct killing killing = {name, signal};
    set_build_time("60000");
    const pthread_t killer = test_thread_start(kill_compiler, &killing);
    TEST_FAILS_SAYING(build(name), result, words);
    TEST_EXPECT(strstr(zepi.last_build_log(), words) != NULL, "the build log does not say it");
    TEST_EXPECT(strstr(zepi.last_build_log(), name) != NULL, "the log names no kernel");
    pthread_join(killer, NULL);
    await_no_compiler();
    set_build_time("0");
}

static void outlives_a_crash(void)
{
    begin();
    // Processes that are killed say nothing about the module, which is built again.
    fail_by(SIGKILL, "vector_add", ZEPI_ERROR_COMPILER_UNAVAILABLE, "SIGKILL");
    fail_by(SIGABRT, "vector_add", ZEPI_ERROR_COMPILE_FAILURE, "SIGABRT");
    TEST_FAILS_SAYING(build("vector_add"), ZEPI_ERROR_COMPILE_FAILURE, "SIGABRT");
    launch_a_counter();
    end();
}

static void *fail_to_build(void *unused)
{
    (void)unused;
    TEST_FAILS_SAYING(build("negate"), ZEPI_ERROR_COMPILER_UNAVAILABLE, "SIGKILL");
    return NULL;
}

// The kill fails the build of that process, and no other.
static void fails_the_build_of_the_process_alone(void)
{
    pid_t compilers[PROCESSES_MAX];
    begin();
    set_build_time("60000");
    const pthread_t fails = test_thread_start(fail_to_build, NULL);
    const pid_t compiler = await_build("negate");
    set_build_time("500");
    const pthread_t builder = test_thread_start(build_well, NULL);
    await_compilers(2, compilers);
    kill(compiler, SIGKILL);
    pthread_join(fails, NULL);
    pthread_join(builder, NULL);
    TEST_OK(build("negate"));
    end();
}

static void stops_when_the_time_is_up(void)
{
    set_build_time("60000");
    setenv("ZEPI_COMPILER_SECONDS", "1", 1);
    begin();
    TEST_FAILS_SAYING(build("vector_add"), ZEPI_ERROR_COMPILE_FAILURE, "ZEPI_COMPILER_SECONDS");
    TEST_EXPECT(strstr(zepi.last_build_log(), "for 1 s") != NULL, "the build log does not say it");
    TEST_EXPECT(count_compilers() == 0, "the process goes on");
    end();
}

// ---- The host ----

static void says_that_a_variable_is_gone(void)
{
    char text[4096] = "";
    const char *path = test_env_scratch_path("stderr");
    const int old = dup(STDERR_FILENO);
    setenv("ZEPI_COMPILER_IDLE_SECONDS", "1", 1);
    setenv("ZEPI_COMPILER_BYTES", "1M", 1);
    TEST_EXPECT(freopen(path, "w", stderr) != NULL, "stderr cannot be a file");
    begin();
    TEST_OK(build("vector_add"));
    end();
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    FILE *file = fopen(path, "r");
    TEST_EXPECT(file && fgets(text, sizeof(text), file), "there is no line");
    TEST_EXPECT(strstr(text, "ZEPI_COMPILER_IDLE_SECONDS") != NULL, text);
    TEST_EXPECT(!fgets(text, sizeof(text), file), text);
    fclose(file);
}

// A pipe of the host, and where its ends are in another process.
static bool has_pipe(pid_t process, int pipe)
{
    char own[64], path[64], link[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", pipe);
    const ssize_t own_size = readlink(path, own, sizeof(own));
    for (int i = 0; i < 256; i++) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", process, i);
        const ssize_t size = readlink(path, link, sizeof(link));
        if (size > 0 && size == own_size && memcmp(link, own, (size_t)size) == 0)
            return true;
    }
    return false;
}

static void keeps_descriptors_from_the_compiler(void)
{
    int pipe_of_host[2];
    begin();
    TEST_EXPECT(pipe(pipe_of_host) == 0, "there is no pipe");
    // The lowest numbers are free.
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    set_build_time("500");
    const pthread_t builder = test_thread_start(build_well, NULL);
    const pid_t compiler = await_build("vector_add");
    TEST_EXPECT(has_pipe(getpid(), pipe_of_host[0]), "the test does not find the pipe");
    TEST_EXPECT(!has_pipe(compiler, pipe_of_host[0]), "the compiler has the host's pipe");
    pthread_join(builder, NULL);
    end();
}

// A host that does not want to hear of children.
static void needs_no_news_of_children(void)
{
    signal(SIGCHLD, SIG_IGN);
    begin();
    fail_by(SIGABRT, "negate", ZEPI_ERROR_COMPILE_FAILURE, "took the news");
    TEST_OK(build("scaled_copy"));
    end();
}

static void *wait_for_children(void *is_over)
{
    while (!atomic_load((atomic_bool *)is_over)) {
        if (waitpid(-1, NULL, WNOHANG) <= 0)
            usleep(100);
    }
    return NULL;
}

static void shares_children_with_a_host_that_waits_for_all(void)
{
    atomic_bool is_over = false;
    begin();
    const pthread_t waiter = test_thread_start(wait_for_children, &is_over);
    TEST_OK(build("vector_add"));
    TEST_OK(build("scaled_copy"));
    atomic_store(&is_over, true);
    pthread_join(waiter, NULL);
    end();
}

static void builds_on_behind_a_fork(void)
{
    int status = -1;
    begin();
    set_build_time("500");
    const pthread_t builder = test_thread_start(build_well, NULL);
    await_build("vector_add");
    const pid_t child = fork();
    if (child == 0)
        _exit(0); // leak checkers would take the memory of the other thread for a leak
    TEST_EXPECT(child > 0 && waitpid(child, &status, 0) == child, "there is no child");
    TEST_EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child does not end well");
    pthread_join(builder, NULL);
    end();
}

// ---- The end of the host ----

// A fork without exec has the host's descriptors, and lives on until the story ends: with it the
// last writer to the pipe goes.
static void end_during_a_build(bool is_killed, const int end_of_story[2])
{
    char nothing;
    set_build_time("60000");
    begin();
    test_thread_start(build_slowly, NULL);
    await_build("vector_add");
    if (fork() == 0) {
        close(end_of_story[1]);
        _exit(read(end_of_story[0], &nothing, 1) == 0 ? 0 : 1);
    }
    if (is_killed)
        kill(getpid(), SIGKILL);
    exit(0);
}

// Orphans come to this process.
static void expect_compiler_to_end(bool is_killed)
{
    pid_t compilers[PROCESSES_MAX];
    int end_of_story[2];
    int status;
    TEST_EXPECT(pipe(end_of_story) == 0, "there is no pipe");
    TEST_EXPECT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "orphans do not come here");
    const pid_t host = fork();
    if (host == 0)
        end_during_a_build(is_killed, end_of_story);
    TEST_EXPECT(waitpid(host, &status, 0) == host, "there is no host");
    TEST_EXPECT(is_killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0,
                "the host does not end as it was to");
    TEST_EXPECT(list_compilers(getpid(), compilers) == 1, "the host had no compiler process");
    TEST_EXPECT(waitpid(compilers[0], &status, 0) == compilers[0], "the orphan is not here");
    TEST_EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the compiler ends by itself");
}

static void ends_with_its_host(void)
{
    expect_compiler_to_end(false);
}

static void ends_with_a_host_that_is_killed(void)
{
    expect_compiler_to_end(true);
}

// ---- Without the program ----

static void copy_file(const char *from, const char *folder)
{
    char command[16384];
    snprintf(command, sizeof(command), "mkdir -p '%s' && cp '%s' '%s'", folder, from, folder);
    TEST_EXPECT(system(command) == 0, "a file cannot be copied");
}

// The library in a folder of its own, with a program in the compiler's place.
static void load_beside(const char *program)
{
    char path[4096];
    const char *library = test_env_scratch_path("libzepi.so");
    copy_file(TEST_PLUGIN, test_env_scratch());
    snprintf(path, sizeof(path), "%s", test_env_scratch_path("zepi"));
    copy_file(TEST_CORE, path);
    if (program) {
        FILE *file = fopen(test_env_scratch_path("zepi/zepi-compiler"), "w");
        TEST_EXPECT(file && fputs(program, file) >= 0 && fclose(file) == 0, "no program");
        chmod(test_env_scratch_path("zepi/zepi-compiler"), 0700);
    }
    test_env_use_ze_cpu();
    test_plugin_load_from(library);
    gear = test_gear_create(0);
}

static void says_that_it_does_not_come_up(void)
{
    setenv("ZEPI_COMPILER", "process", 1);
    load_beside("#!/bin/sh\necho something is missing >&2\nexit 7\n");
    TEST_FAILS_SAYING(build("vector_add"), ZEPI_ERROR_COMPILER_UNAVAILABLE, "exit code 7");
    TEST_FAILS_SAYING(build("vector_add"), ZEPI_ERROR_COMPILER_UNAVAILABLE, "something is missing");
    end();
}

// A reply that is done, with sizes beyond all memory.
static void takes_no_nonsense(void)
{
    setenv("ZEPI_COMPILER", "process", 1);
    load_beside("#!/bin/sh\n(printf '\\001\\001\\001\\000'; "
                "head -c 5000 /dev/zero | tr '\\000' '\\377') >&0\n");
    TEST_EXPECT(build("vector_add") != ZEPI_SUCCESS, "nonsense is a module");
    TEST_EXPECT(zepi.last_error(NULL)[0] != '\0', "the failure has no words");
    end();
}

static void says_that_it_is_not_there(void)
{
    setenv("ZEPI_COMPILER", "process", 1);
    load_beside(NULL);
    const int descriptors = test_env_count_descriptors();
    TEST_FAILS_SAYING(build("vector_add"), ZEPI_ERROR_COMPILER_UNAVAILABLE, "/zepi/zepi-compiler");
    TEST_FAILS_SAYING(build("vector_add"), ZEPI_ERROR_COMPILER_UNAVAILABLE, "No such file");
    TEST_FAILS_SAYING(build("vector_add"), ZEPI_ERROR_COMPILER_UNAVAILABLE,
                      "ZEPI_COMPILER=library");
    TEST_EXPECT(strstr(zepi.last_build_log(), "/zepi/zepi-compiler") != NULL,
                "the build log does not name the program");
    TEST_EXPECT(test_env_count_descriptors() == descriptors, "a descriptor is left");
    end();
}

// The failure of another process, with the same cache, is not kept.
static void is_not_needed_in_the_process(void)
{
    setenv("ZEPI_COMPILER", "library", 1);
    load_beside(NULL);
    TEST_OK(build("vector_add"));
    launch_a_counter();
    end();
}

static void test(const char *story, void (*live)(void))
{
    int status = 0;
    printf("%s\n", story);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        live();
        exit(0);
    }
    TEST_EXPECT(child > 0 && waitpid(child, &status, 0) == child, "there is no child");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fprintf(stderr, "status 0x%x%s\n", (unsigned)status,
                WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
    TEST_EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a story fails");
}

int main(void)
{
    test("a build and a launch", builds_and_launches);
    test("a failure with its log", tells_what_the_compiler_says);
    test("crashes", outlives_a_crash);
    test("one of two builds", fails_the_build_of_the_process_alone);
    test("the time is up", stops_when_the_time_is_up);
    test("gone variables", says_that_a_variable_is_gone);
    test("descriptors", keeps_descriptors_from_the_compiler);
    test("a host that ignores children", needs_no_news_of_children);
    test("a host that waits for children", shares_children_with_a_host_that_waits_for_all);
    test("a fork", builds_on_behind_a_fork);
    test("the end of the host", ends_with_its_host);
    test("the host is killed", ends_with_a_host_that_is_killed);
    test("no program", says_that_it_is_not_there);
    test("no program, in the process", is_not_needed_in_the_process);
    test("another program", says_that_it_does_not_come_up);
    test("nonsense", takes_no_nonsense);
    return 0;
}
