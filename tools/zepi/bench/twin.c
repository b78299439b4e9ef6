// SPDX-License-Identifier: MIT
#include "twin.h"

#include "rows.h"
#include "times.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool read_all(int file, void *bytes, size_t size_bytes)
{
    char *at = bytes;
    while (size_bytes > 0) {
        const ssize_t count = read(file, at, size_bytes);
        if (count <= 0)
            return false;
        at += count;
        size_bytes -= (size_t)count;
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t size_bytes)
{
    const char *at = bytes;
    while (size_bytes > 0) {
        const ssize_t count = write(file, at, size_bytes);
        if (count <= 0)
            return false;
        at += count;
        size_bytes -= (size_t)count;
    }
    return true;
}

// In the second process, until nobody asks any more.
static bool serve(struct bench *bench, int ask, int answer)
{
    char letter;
    bench_round_t round;
    signal(SIGINT, SIG_IGN);
    setenv("ZEPI_ONE_CALL_LAUNCH", "off", 1);
    bench->skips_slow = true;
    bench->adapter_count = 0;
    if (bench_rows_open(bench) != 0)
        return false;
    bool is_good = true;
    while (is_good && read(ask, &letter, 1) == 1)
        is_good = bench_times_run_round(bench, BENCH_ONE_BY_ONE, round) &&
                  write_all(answer, round, sizeof(round));
    bench_rows_close(bench);
    return is_good;
}

bool bench_twin_start(struct bench_twin *twin, const struct bench *bench)
{
    int ask[2];
    int answer[2];
    if (pipe(ask) != 0) {
        perror("zepi bench");
        return false;
    }
    if (pipe(answer) != 0) {
        perror("zepi bench");
        close(ask[0]);
        close(ask[1]);
        return false;
    }
    fflush(NULL);
    const pid_t process = fork();
    if (process == 0) {
        struct bench own = *bench;
        close(ask[1]);
        close(answer[0]);
        _exit(serve(&own, ask[0], answer[1]) ? 0 : 1);
    }
    close(ask[0]);
    close(answer[1]);
    *twin = (struct bench_twin){process, ask[1], answer[0]};
    if (process > 0)
        return true;
    perror("zepi bench");
    close(ask[1]);
    close(answer[0]);
    *twin = (struct bench_twin){0};
    return false;
}

bool bench_twin_run_round(const struct bench_twin *twin, bench_round_t out_round)
{
    return write_all(twin->ask, "r", 1) && read_all(twin->answer, out_round, sizeof(bench_round_t));
}

void bench_twin_stop(struct bench_twin *twin)
{
    if (twin->process == 0)
        return;
    close(twin->ask);
    close(twin->answer);
    waitpid(twin->process, NULL, 0);
    *twin = (struct bench_twin){0};
}
