// SPDX-License-Identifier: MIT
#include "program/build/compile_watch.h"

#include "core/log.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_SECONDS 5

void zepi_compile_watch_tell(const char *format, ...)
{
    char line[512];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof(line), format, values);
    va_end(values);
    if (zepi_options()->log_level < ZEPI_LOG_INFO && isatty(STDERR_FILENO))
        fprintf(stderr, "zepi: %s\n", line);
    zepi_log(ZEPI_LOG_INFO, "%s", line);
}

static void *watch_compile(void *user)
{
    struct zepi_compile_watch *watch = user;
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += PATIENCE_SECONDS;
    if (sem_clockwait(&watch->is_over, CLOCK_MONOTONIC, &deadline) != 0) {
        const struct zepi_options *options = zepi_options();
        const bool is_kept = options->disk_is_on && options->cache_folder[0];
        watch->is_told = true;
        zepi_compile_watch_tell("the driver has compiled for %d s and goes on: %.3f MB of SPIR-V, "
                                "%s%s",
                                PATIENCE_SECONDS, (double)watch->bytes / 1e6, watch->kernels,
                                is_kept ? "; later starts find the code in the cache" : "");
    }
    return NULL;
}

void zepi_compile_watch_begin(struct zepi_compile_watch *watch, const char *kernels, size_t bytes)
{
    *watch = (struct zepi_compile_watch){.kernels = kernels, .bytes = bytes};
    if (zepi_options()->log_level < ZEPI_LOG_INFO && !isatty(STDERR_FILENO))
        return;
    // The thread takes no signals of the host, which would end its wait.
    sigset_t all, old;
    sigfillset(&all);
    sem_init(&watch->is_over, 0, 0);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    watch->has_thread = pthread_create(&watch->thread, NULL, watch_compile, watch) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!watch->has_thread)
        sem_destroy(&watch->is_over);
}

bool zepi_compile_watch_end(struct zepi_compile_watch *watch)
{
    if (!watch->has_thread)
        return false;
    sem_post(&watch->is_over);
    pthread_join(watch->thread, NULL);
    sem_destroy(&watch->is_over);
    return watch->is_told;
}
