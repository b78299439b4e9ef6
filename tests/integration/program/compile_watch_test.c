// SPDX-License-Identifier: MIT
// The thread that waits for a long compile, in a host that takes signals.
#include "gear_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_bool is_over;

static void take_signal(int number)
{
    (void)number;
}

// Signals every thread of the process but its own and the first one, which sleeps in ze_cpu, again
// and again.
static void *signal_all(void *unused)
{
    const pid_t self = (pid_t)syscall(SYS_gettid);
    while (!atomic_load(&is_over)) {
        DIR *tasks = opendir("/proc/self/task");
        for (struct dirent *task; tasks && (task = readdir(tasks));) {
            const int id = atoi(task->d_name);
            if (id > 0 && id != self && id != getpid())
                syscall(SYS_tgkill, getpid(), id, SIGUSR1);
        }
        if (tasks)
            closedir(tasks);
        usleep(10000);
    }
    return unused;
}

static void set_up(void)
{
    const struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    setenv("ZEPI_LOG", "info", 1);
    setenv("ZEPI_CACHE_DISK", "off", 1);
    setenv("ZE_CPU_BUILD_MS", "1200", 1);
    gear_set_up();
}

TestSuite(compile_watch, .init = set_up, .fini = gear_tear_down);

Test(compile_watch, is_not_woken_by_signals_of_the_host)
{
    char text[4096];
    pthread_t thread;
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    zepi_module_t input = test_input(gear.context, "negate");
    zepi_module_t executable;
    dup2(fileno(file), STDERR_FILENO);
    cr_assert_eq(pthread_create(&thread, NULL, signal_all, NULL), 0);
    const time_t begin = time(NULL);
    const zepi_result_t result = zepi.module_build(input, NULL, &executable);
    const bool takes_long = time(NULL) - begin > 4;
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    dup2(before, STDERR_FILENO);
    close(before);
    TEST_OK(result);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    cr_expect_not_null(strstr(text, "the build for"), "%s", text);
    cr_expect(takes_long || !strstr(text, "goes on"), "%s", text);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}
