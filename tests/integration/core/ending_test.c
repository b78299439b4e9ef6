// SPDX-License-Identifier: MIT
// The plugin frees everything when it is closed. It frees nothing when the process ends, since
// other threads and libraries may still use it then.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"

#include <dlfcn.h>
#include <malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct test_gear gear;
static zepi_device_info_t known;

static void expect(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

// ---- The end of the process ----

#define LIBRARIES 2
static int calls_left = LIBRARIES;

static void use_plugin(void)
{
    zepi_device_info_t info = {.size = sizeof(info)};
    expect(zepi.device_get_info(gear.device, &info) == ZEPI_SUCCESS, "the device is gone");
    expect(strcmp(info.name, known.name) == 0, "the device has another name");
    if (--calls_left == 0)
        _exit(0);
}

// Destructors of libraries run in some order: one library is opened before the plugin, one after.
static void open_library(const char *path)
{
    void (**at_end)(void);
    void *library = dlopen(path, RTLD_NOW);
    void *symbol = library ? dlsym(library, "test_at_end") : NULL;
    expect(symbol != NULL, "the library does not open");
    memcpy(&at_end, &symbol, sizeof(symbol));
    *at_end = use_plugin;
}

static _Noreturn void end_process(void)
{
    mallopt(M_PERTURB, 0x5a); // freed memory is not readable by chance
    open_library(TEST_AT_END_FIRST);
    test_env_use_ze_cpu();
    test_plugin_load();
    gear = test_gear_create(0);
    open_library(TEST_AT_END_SECOND);
    known.size = sizeof(known);
    TEST_OK(zepi.device_get_info(gear.device, &known));
    exit(2); // unless use_plugin is content
}

static void test_end_of_process(void)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0)
        end_process();
    expect(child > 0 && waitpid(child, &status, 0) == child, "no child");
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0,
           "the plugin is of no use any more while the process ends");
}

// ---- The report of ZEPI_STATS ----

#define FILLS 3
#define EARLIER_REPORT "an earlier report\n"
#define SECONDS 60 // until a process counts as hanging

static void fill(zepi_queue_t queue, void *memory, int count)
{
    for (int i = 0; i < count; i++)
        TEST_OK(zepi.queue_fill(queue, memory, "x", 1, 64, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(queue));
}

static void end_by_return(void) {}

static void *call_exit(void *unused)
{
    (void)unused;
    exit(0);
}

static void end_in_a_thread(void)
{
    test_thread_start(call_exit, NULL);
    for (;;)
        pause();
}

static sem_t is_filling;

// Until the process ends, when the driver takes nothing more.
static void *fill_without_end(void *memory)
{
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    fill(queue, memory, 1);
    sem_post(&is_filling);
    while (zepi.queue_fill(queue, memory, "x", 1, 64, TEST_NO_WAIT, NULL) == ZEPI_SUCCESS &&
           zepi.queue_finish(queue) == ZEPI_SUCCESS)
        continue;
    return NULL;
}

static void end_beside_threads(void)
{
    void *memory;
    sem_init(&is_filling, 0, 0);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 64, 0, &memory));
    pthread_detach(test_thread_start(fill_without_end, memory));
    sem_wait(&is_filling);
}

static void end_by_dlclose(void)
{
    test_gear_destroy(&gear);
    test_plugin_unload();
    _exit(0);
}

static void end_at_once(void)
{
    _exit(0);
}

static void end_quickly(void)
{
    quick_exit(0);
}

static void end_by_exec(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void end_by_kill(void)
{
    kill(getpid(), SIGKILL);
}

// Says true in the child. The parent goes on when the child has ended well.
static bool is_child(void)
{
    int status;
    const pid_t child = fork();
    if (child != 0)
        expect(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                   WEXITSTATUS(status) == 0,
               "a child does not end well");
    return child == 0;
}

static void fork_and_exit(void)
{
    if (is_child())
        exit(0);
}

static void fork_and_end_at_once(void)
{
    if (is_child())
        _exit(0);
}

static void fork_and_close(void)
{
    if (is_child())
        end_by_dlclose();
}

static void fork_and_exec(void)
{
    if (is_child())
        end_by_exec();
}

static void leave_it_to_a_child(void)
{
    if (is_child())
        exit(0);
    _exit(0);
}

static const struct ending {
    const char *name;
    void (*end)(void); // exit follows, if it returns
    int reports;
    int fills; // 0: any number
    int signal;
} endings[] = {
    {"a return", end_by_return, 1, FILLS, 0},
    {"exit in a thread", end_in_a_thread, 1, FILLS, 0},
    {"exit while a thread fills", end_beside_threads, 1, 0, 0},
    {"dlclose", end_by_dlclose, 1, FILLS, 0},
    {"a child that exits", fork_and_exit, 1, FILLS, 0},
    {"a child that calls _exit", fork_and_end_at_once, 1, FILLS, 0},
    {"a child that closes the library", fork_and_close, 1, FILLS, 0},
    {"a child that execs", fork_and_exec, 1, FILLS, 0},
    {"a child that exits, and _exit", leave_it_to_a_child, 0, 0, 0},
    {"_exit", end_at_once, 0, 0, 0},
    {"quick_exit", end_quickly, 0, 0, 0},
    {"exec", end_by_exec, 0, 0, 0},
    {"abort", abort, 0, 0, SIGABRT},
    {"SIGKILL", end_by_kill, 0, 0, SIGKILL},
};

static _Noreturn void end_with_stats(const char *path, const struct ending *ending)
{
    static const struct rlimit no_core;
    void *memory;
    alarm(SECONDS);
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGABRT, SIG_DFL); // sanitizers have a function of theirs
    setenv("ZEPI_STATS", path, 1);
    test_env_use_ze_cpu();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 64, 0, &memory));
    fill(gear.queue, memory, FILLS);
    TEST_OK(zepi.usm_free(gear.context, memory));
    ending->end();
    exit(0);
}

// The process' own report behind the earlier one, whole, or nothing.
static void expect_reports(const struct ending *ending, const char *text, pid_t process)
{
    char words[64];
    int reports = 0;
    expect(strncmp(text, EARLIER_REPORT, strlen(EARLIER_REPORT)) == 0,
           "the earlier report is damaged");
    for (const char *at = text; (at = strstr(at, "statistics of process")); at++)
        reports++;
    expect(reports == ending->reports, "there are not as many reports as there should be");
    if (reports == 0) {
        expect(strcmp(text, EARLIER_REPORT) == 0, "there is part of a report");
        return;
    }
    snprintf(words, sizeof(words), "\nzepi: statistics of process %ld, ", (long)process);
    expect(strstr(text, words) != NULL, "the report is another process'");
    snprintf(words, sizeof(words), "\n  fills          %d of %d bytes together\n", ending->fills,
             ending->fills * 64);
    expect(ending->fills == 0 || strstr(text, words), "the report does not have the fills");
    expect(strstr(text, "\n  device memory  ") && !strstr(text, "\n  device memory  0 "),
           "the report does not have the memory");
    const char *last = strstr(text, "\n  failed calls   ");
    expect(last && strchr(last + 1, '\n') && strchr(last + 1, '\n')[1] == '\0',
           "the report has no end, or something behind it");
}

static void test_ending(const struct ending *ending)
{
    char path[] = "/tmp/zepi-ending-XXXXXX";
    char text[4096];
    int status;
    const int file = mkstemp(path);
    printf("%s\n", ending->name);
    fflush(stdout);
    expect(file >= 0 && write(file, EARLIER_REPORT, strlen(EARLIER_REPORT)) > 0, "no file");
    const pid_t child = fork();
    if (child == 0)
        end_with_stats(path, ending);
    expect(child > 0 && waitpid(child, &status, 0) == child, "no child");
    const ssize_t size = pread(file, text, sizeof(text) - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    close(file);
    unlink(path);
    expect(ending->signal ? WIFSIGNALED(status) && WTERMSIG(status) == ending->signal
                          : WIFEXITED(status) && WEXITSTATUS(status) == 0,
           "the process does not end as it was to");
    expect_reports(ending, text, child);
}

static void test_stats(void)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        test_ending(&endings[i]);
}

// ---- dlclose ----

#define ROUNDS 4
#define LOG_BYTES 200000

struct round {
    pthread_t thread;
    sem_t is_built, may_end;
};

// Has a build log, and lives on after the plugin is gone.
static void *fail_to_build(void *user)
{
    struct round *round = user;
    static char options[LOG_BYTES];
    zepi_module_t executable;
    memset(options, 'x', sizeof(options) - 1);
    options[0] = '-';
    const zepi_build_desc_t desc = {.size = sizeof(desc), .options = options};
    zepi_module_t input = test_input(gear.context, "vector_add");
    expect(zepi.module_build(input, &desc, &executable) != ZEPI_SUCCESS, "it builds");
    expect(strlen(zepi.last_build_log()) >= LOG_BYTES - 1, "the log is short");
    TEST_OK(zepi.release(input));
    sem_post(&round->is_built);
    sem_wait(&round->may_end);
    return NULL;
}

static void test_dlclose(void)
{
    static struct round rounds[ROUNDS];
    size_t before = 0;
    test_env_use_ze_cpu();
    for (int i = 0; i < ROUNDS; i++) {
        struct round *round = &rounds[i];
        sem_init(&round->is_built, 0, 0);
        sem_init(&round->may_end, 0, 0);
        test_plugin_load();
        gear = test_gear_create(0);
        round->thread = test_thread_start(fail_to_build, round);
        sem_wait(&round->is_built);
        test_gear_destroy(&gear);
        test_plugin_unload();
        // The first round is also that of the loader and of the driver.
        if (i == 0)
            before = mallinfo2().uordblks;
    }
    const size_t after = mallinfo2().uordblks;
    for (int i = 0; i < ROUNDS; i++) {
        sem_post(&rounds[i].may_end);
        pthread_join(rounds[i].thread, NULL);
    }
    printf("%zu bytes after the first round, %zu after the last\n", before, after);
    expect(after < before + LOG_BYTES, "something is left after dlclose");
}

int main(void)
{
    test_end_of_process();
    test_stats();
    test_dlclose();
    return 0;
}
