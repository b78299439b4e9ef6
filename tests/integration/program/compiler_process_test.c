// SPDX-License-Identifier: MIT
// ZEPI_COMPILER=process: builds in processes of their own, which die, hang and end with their host.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"

#include <dirent.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 100 // until a process counts as hanging
#define BUILD_MS "500"
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
    const int descriptors = test_env_count_descriptors();
    TEST_EXPECT(count_compilers() == 0, "a process is there before a build");
    launch_a_counter();
    TEST_OK(build("vector_add"));
    TEST_EXPECT(count_compilers() == 1, "one build after the other takes more than one process");
    TEST_EXPECT(test_env_count_descriptors() == descriptors + 3, "a process has three descriptors");
    end();
    TEST_EXPECT(test_env_count_descriptors() <= descriptors, "a descriptor is left");
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

// Sends the compiler process, which is up, a signal while it builds.
static void *kill_compiler(void *signal)
{
    pid_t compilers[PROCESSES_MAX];
    TEST_EXPECT(list_compilers(getpid(), compilers) == 1, "there is no process");
    usleep(100000);
    kill(compilers[0], *(int *)signal);
    return NULL;
}

// `other` has the process come up. Sanitizers catch other signals than SIGABRT.
static void fail_by(int signal, const char *other, zepi_result_t result, const char *words)
{
    TEST_OK(build(other));
    const pthread_t killer = test_thread_start(kill_compiler, &signal);
    TEST_FAILS_SAYING(build("vector_add"), result, words);
    TEST_EXPECT(strstr(zepi.last_build_log(), words) != NULL, "the build log does not say it");
    TEST_EXPECT(strstr(zepi.last_build_log(), "vector_add") != NULL, "the log names no kernel");
    pthread_join(killer, NULL);
    await_no_compiler();
}

static void outlives_a_crash(void)
{
    setenv("ZE_CPU_BUILD_MS", BUILD_MS, 1);
    begin();
    // Processes that are killed say nothing about the module, which is built again.
    fail_by(SIGKILL, "negate", ZEPI_ERROR_COMPILER_UNAVAILABLE, "SIGKILL");
    fail_by(SIGABRT, "scaled_copy", ZEPI_ERROR_COMPILE_FAILURE, "SIGABRT");
    TEST_FAILS_SAYING(build("vector_add"), ZEPI_ERROR_COMPILE_FAILURE, "SIGABRT");
    launch_a_counter();
    // Between two builds.
    pid_t compilers[PROCESSES_MAX];
    TEST_EXPECT(list_compilers(getpid(), compilers) == 1, "the next build has no process");
    siginfo_t about;
    kill(compilers[0], SIGKILL);
    TEST_EXPECT(waitid(P_PID, (id_t)compilers[0], &about, WEXITED | WNOWAIT) == 0, "it lives");
    TEST_OK(build("spin"));
    end();
}

static void stops_when_the_time_is_up(void)
{
    setenv("ZE_CPU_BUILD_MS", "60000", 1);
    setenv("ZEPI_COMPILER_SECONDS", "1", 1);
    begin();
    TEST_FAILS_SAYING(build("vector_add"), ZEPI_ERROR_COMPILE_FAILURE, "ZEPI_COMPILER_SECONDS");
    TEST_EXPECT(strstr(zepi.last_build_log(), "for 1 s") != NULL, "the build log does not say it");
    TEST_EXPECT(count_compilers() == 0, "the process goes on");
    end();
}

// ---- Processes that do not stay ----

static void ends_when_it_keeps_too_much_memory(void)
{
    setenv("ZEPI_COMPILER_BYTES", "1M", 1);
    begin();
    const int descriptors = test_env_count_descriptors();
    launch_a_counter();
    TEST_OK(build("vector_add"));
    TEST_EXPECT(count_compilers() == 0, "a process with much memory stays");
    TEST_EXPECT(test_env_count_descriptors() == descriptors, "a descriptor is left");
    end();
}

static pid_t expect_compiler(void)
{
    pid_t compilers[PROCESSES_MAX];
    TEST_EXPECT(list_compilers(getpid(), compilers) == 1, "there is no process, or another one");
    return compilers[0];
}

static void ends_when_it_waits_for_too_long(void)
{
    siginfo_t about;
    setenv("ZEPI_COMPILER_IDLE_SECONDS", "1", 1);
    begin();
    TEST_OK(build("vector_add"));
    const pid_t compiler = expect_compiler();
    TEST_EXPECT(waitid(P_PID, (id_t)compiler, &about, WEXITED | WNOWAIT) == 0, "it lives");
    TEST_EXPECT(about.si_code == CLD_EXITED && about.si_status == 0, "it does not end well");
    TEST_OK(build("scaled_copy"));
    TEST_EXPECT(expect_compiler() != compiler, "the process that has ended is still there");
    end();
}

static void *build_well(void *unused)
{
    (void)unused;
    TEST_OK(build("vector_add"));
    return NULL;
}

// The process is stopped until its time is up; the request is there by then, and another process
// has to take it.
static void is_asked_as_it_ends(void)
{
    setenv("ZEPI_COMPILER_IDLE_SECONDS", "1", 1);
    begin();
    TEST_OK(build("negate"));
    const pid_t compiler = expect_compiler();
    kill(compiler, SIGSTOP);
    const pthread_t builder = test_thread_start(build_well, NULL);
    usleep(1100000);
    kill(compiler, SIGCONT);
    pthread_join(builder, NULL);
    TEST_OK(build("scaled_copy"));
    end();
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
    pid_t compilers[PROCESSES_MAX];
    begin();
    TEST_EXPECT(pipe(pipe_of_host) == 0, "there is no pipe");
    // The lowest numbers are free.
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    TEST_OK(build("vector_add"));
    TEST_EXPECT(list_compilers(getpid(), compilers) == 1, "there is no process");
    TEST_EXPECT(has_pipe(getpid(), pipe_of_host[0]), "the test does not find the pipe");
    TEST_EXPECT(!has_pipe(compilers[0], pipe_of_host[0]), "the compiler has the host's pipe");
    end();
}

// A host that does not want to hear of children, or takes them all itself.
static void needs_no_news_of_children(void)
{
    setenv("ZE_CPU_BUILD_MS", BUILD_MS, 1);
    signal(SIGCHLD, SIG_IGN);
    begin();
    fail_by(SIGABRT, "negate", ZEPI_ERROR_COMPILE_FAILURE, "took the news");
    TEST_OK(build("scaled_copy"));
    end();
}

// Its number may be another process' then.
static void leaves_a_process_alone_whose_end_the_host_knows(void)
{
    int status;
    begin();
    TEST_OK(build("vector_add"));
    const pid_t compiler = expect_compiler();
    kill(compiler, SIGKILL);
    TEST_EXPECT(waitpid(compiler, &status, 0) == compiler, "the process is not there");
    TEST_OK(build("scaled_copy"));
    TEST_EXPECT(expect_compiler() != compiler, "the process that has ended is still there");
    end();
}

static void leaves_the_compiler_to_the_parent(void)
{
    begin();
    TEST_OK(build("vector_add"));
    const pid_t child = fork();
    if (child == 0)
        exit(0);
    int status;
    TEST_EXPECT(child > 0 && waitpid(child, &status, 0) == child, "there is no child");
    TEST_EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child does not end well");
    pid_t before[PROCESSES_MAX], after[PROCESSES_MAX];
    TEST_EXPECT(list_compilers(getpid(), before) == 1, "the child has ended its parent's compiler");
    TEST_OK(build("scaled_copy"));
    TEST_EXPECT(list_compilers(getpid(), after) == 1 && before[0] == after[0],
                "the compiler is another one");
    end();
}

// ---- The end of the host ----

// A fork without exec has the host's descriptors, and lives on until the story ends: with it the
// last writer to the pipe goes.
static void end_during_a_build(bool is_killed, const int end_of_story[2])
{
    char nothing;
    setenv("ZE_CPU_BUILD_MS", "60000", 1);
    begin();
    test_thread_start(build_slowly, NULL);
    while (count_compilers() == 0)
        usleep(10000);
    usleep(100000);
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
    TEST_EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the compiler does not end well");
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

// ---- Several images ----

static void builds_images_at_one_time(void)
{
    zepi_module_t input, output;
    setenv("ZE_CPU_BUILD_MS", "200", 1);
    begin();
    const zepi_device_image_desc_t images[] = {
        test_spirv_image("vector_add"), test_spirv_image("scaled_copy"),
        test_spirv_image("counter"), test_spirv_image("negate")};
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 4, images, &input));
    TEST_OK(zepi.module_build(input, NULL, &output));
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    TEST_EXPECT(count_compilers() == (cores < 4 ? (unsigned)cores : 4),
                "there is no process for each image or core");
    TEST_OK(zepi.release(output));
    TEST_OK(zepi.release(input));
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
    test("the time is up", stops_when_the_time_is_up);
    test("much memory", ends_when_it_keeps_too_much_memory);
    test("no more builds", ends_when_it_waits_for_too_long);
    test("a build at the end", is_asked_as_it_ends);
    test("descriptors", keeps_descriptors_from_the_compiler);
    test("a host that ignores children", needs_no_news_of_children);
    test("a host that waits for children", leaves_a_process_alone_whose_end_the_host_knows);
    test("a fork", leaves_the_compiler_to_the_parent);
    test("the end of the host", ends_with_its_host);
    test("the host is killed", ends_with_a_host_that_is_killed);
    test("no program", says_that_it_is_not_there);
    test("no program, in the process", is_not_needed_in_the_process);
    test("another program", says_that_it_does_not_come_up);
    test("several images", builds_images_at_one_time);
    return 0;
}
