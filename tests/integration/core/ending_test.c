// SPDX-License-Identifier: MIT
// The plugin frees everything when it is closed. It frees nothing when the process ends, since
// other threads and libraries may still use it then.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"

#include <dlfcn.h>
#include <malloc.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    int status;
    const pid_t child = fork();
    if (child == 0)
        end_process();
    expect(child > 0 && waitpid(child, &status, 0) == child, "no child");
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0,
           "the plugin is of no use any more while the process ends");
}

// ---- The report of ZEPI_STATS ----

#define FILLS 3

// Uses the plugin, and ends: by a fork that ends too, or after dlclose.
static _Noreturn void end_with_stats(const char *path, bool is_closed)
{
    setenv("ZEPI_STATS", path, 1);
    test_env_use_ze_cpu();
    test_plugin_load();
    gear = test_gear_create(0);
    void *memory;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 64, 0, &memory));
    for (int i = 0; i < FILLS; i++)
        TEST_OK(zepi.queue_fill(gear.queue, memory, "x", 1, 64, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.usm_free(gear.context, memory));
    if (is_closed) {
        test_gear_destroy(&gear);
        test_plugin_unload();
        _exit(access(path, R_OK) == 0 ? 0 : 1);
    }
    const pid_t child = fork();
    if (child > 0)
        waitpid(child, NULL, 0);
    exit(0);
}

static void expect_one_report(bool is_closed)
{
    char path[] = "/tmp/zepi-ending-XXXXXX";
    char text[4096];
    int status;
    const int file = mkstemp(path);
    expect(file >= 0 && unlink(path) == 0, "no file");
    close(file);
    const pid_t child = fork();
    if (child == 0)
        end_with_stats(path, is_closed);
    expect(child > 0 && waitpid(child, &status, 0) == child, "no child");
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the process does not end well");
    FILE *report = fopen(path, "r");
    expect(report != NULL, "there is no report");
    text[fread(text, 1, sizeof(text) - 1, report)] = '\0';
    fclose(report);
    unlink(path);
    const char *first = strstr(text, "statistics of process");
    expect(first && !strstr(first + 1, "statistics of process"), "there is not one report");
    expect(strstr(text, "3 of 192 bytes") != NULL, "the report does not have the fills");
    expect(strstr(text, "at most ") && !strstr(text, "at most 0 bytes"),
           "the report does not have the memory");
}

static void test_stats(void)
{
    expect_one_report(false);
    expect_one_report(true);
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
