// SPDX-License-Identifier: MIT
#include "core/stats.h"

#include "core/characters.h"
#include "core/mutex.h"
#include "core/options.h"
#include "core/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOWEST_COUNT 10
#define KERNELS_BYTES 256

bool zepi_stats_are_on;

// Threads that launch at the same time write to no common cache line.
static struct {
    alignas(64) atomic_uint_fast64_t numbers[ZEPI_STATS];
} shards[ZEPI_THREAD_SHARDS];

static atomic_uint_fast64_t memory_bytes;
static atomic_uint_fast64_t memory_peak_bytes;

struct compile {
    uint64_t duration_ns; // 0: none
    bool is_good;
    char kernels[KERNELS_BYTES];
};

// Guards the variables below. Under it, the report is written to memory.
static struct zepi_mutex mutex;
static struct compile slowest[SLOWEST_COUNT];  // slowest first
static const char *last_failure[2] = {"", ""}; // function and result

static pid_t process;
static uint64_t (*count_evictions)(void);

void zepi_stats_add(enum zepi_stat stat, uint64_t number)
{
    // Relaxed: only the number matters.
    atomic_fetch_add_explicit(&shards[zepi_thread_shard()].numbers[stat], number,
                              memory_order_relaxed);
}

void zepi_stats_note_compile(const char *kernels, uint64_t duration_ns, bool is_good)
{
    struct compile compile = {.duration_ns = duration_ns, .is_good = is_good};
    if (!zepi_stats_are_on)
        return;
    zepi_stats_add(ZEPI_STAT_COMPILES, 1);
    zepi_stats_add(ZEPI_STAT_COMPILE_FAILURES, !is_good);
    zepi_stats_add(ZEPI_STAT_COMPILE_NS, duration_ns);
    snprintf(compile.kernels, sizeof(compile.kernels), "%s", kernels);
    zepi_mutex_lock(&mutex);
    for (int i = 0; i < SLOWEST_COUNT; i++) {
        if (compile.duration_ns > slowest[i].duration_ns) {
            const struct compile faster = slowest[i];
            slowest[i] = compile;
            compile = faster;
        }
    }
    zepi_mutex_unlock(&mutex);
}

void zepi_stats_take_memory(uint64_t size_bytes)
{
    const uint64_t now =
        atomic_fetch_add_explicit(&memory_bytes, size_bytes, memory_order_relaxed) + size_bytes;
    uint64_t peak = atomic_load_explicit(&memory_peak_bytes, memory_order_relaxed);
    while (now > peak &&
           !atomic_compare_exchange_weak_explicit(&memory_peak_bytes, &peak, now,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

void zepi_stats_give_memory(uint64_t size_bytes)
{
    uint64_t now = atomic_load_explicit(&memory_bytes, memory_order_relaxed);
    // A driver that did not tell the size at first may tell it now.
    while (!atomic_compare_exchange_weak_explicit(&memory_bytes, &now,
                                                  now > size_bytes ? now - size_bytes : 0,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

void zepi_stats_note_failure(const char *function, const char *result)
{
    if (!zepi_stats_are_on)
        return;
    zepi_stats_add(ZEPI_STAT_CALL_FAILURES, 1);
    zepi_mutex_lock(&mutex);
    last_failure[0] = function;
    last_failure[1] = result;
    zepi_mutex_unlock(&mutex);
}

// ---- The report ----

// Seconds with three digits, whatever the locale.
static void print_seconds(FILE *file, uint64_t ns)
{
    const uint64_t milliseconds = (ns + 500000) / 1000000;
    fprintf(file, "%" PRIu64 ".%03u", milliseconds / 1000, (unsigned)(milliseconds % 1000));
}

// Names may have any bytes, and are cut: none of them ends the line or reaches a terminal as a
// command. In JSON a byte that belongs to no character becomes U+FFFD.
static void print_name(FILE *file, const char *name, bool is_json)
{
    char line[KERNELS_BYTES];
    snprintf(line, sizeof(line), "%s", name);
    if (!is_json)
        zepi_make_printable(line, "");
    for (const char *at = line; *at;) {
        const size_t count = zepi_character_bytes(at);
        if (is_json && count == 0)
            fputs("\\ufffd", file);
        else if (is_json && (*at == '"' || *at == '\\' || (unsigned char)*at < ' '))
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)*at);
        else
            fwrite(at, 1, count, file);
        at += count > 0 ? count : 1;
    }
}

static void print_slowest(FILE *file, bool is_json)
{
    for (int i = 0; i < SLOWEST_COUNT && slowest[i].duration_ns > 0; i++) {
        fputs(!is_json ? "                 " : i > 0 ? ", {\"seconds\": " : "{\"seconds\": ", file);
        print_seconds(file, slowest[i].duration_ns);
        fputs(is_json ? ", \"kernels\": \"" : slowest[i].is_good ? " s " : " s failed: ", file);
        print_name(file, slowest[i].kernels, is_json);
        fputs(!is_json             ? "\n"
              : slowest[i].is_good ? "\", \"failed\": false}"
                                   : "\", \"failed\": true}",
              file);
    }
}

// Text and JSON have the same numbers in the same order.
static void report_print(FILE *file, const uint64_t *numbers, bool is_json)
{
    const uint64_t others = numbers[ZEPI_STAT_BINARIES_DISK] + numbers[ZEPI_STAT_BINARIES_SHARED] +
                            numbers[ZEPI_STAT_BINARIES_MADE];
    const uint64_t binaries = numbers[ZEPI_STAT_BINARIES];
    fprintf(file,
            is_json ? "{\"process\": %ld, \"program\": \"" : "zepi: statistics of process %ld (",
            (long)process);
    print_name(file, program_invocation_short_name, is_json);
    fprintf(file,
            is_json ? "\", \"programs\": {\"asked\": %" PRIu64 ", \"known\": %" PRIu64
                      ", \"memory\": %" PRIu64 ", \"disk\": %" PRIu64 ", \"shared\": %" PRIu64
                      ", \"compiled\": %" PRIu64 "}, \"compiler\": {\"seconds\": "
                    : ")\n  programs       %" PRIu64 " asked for: %" PRIu64 " known, %" PRIu64
                      " in memory, %" PRIu64 " from disk, %" PRIu64
                      " from the shared store, %" PRIu64 " compiled\n  compiler       ",
            numbers[ZEPI_STAT_PROGRAMS], numbers[ZEPI_STAT_PROGRAMS_KNOWN],
            binaries > others ? binaries - others : 0, numbers[ZEPI_STAT_BINARIES_DISK],
            numbers[ZEPI_STAT_BINARIES_SHARED],
            numbers[ZEPI_STAT_COMPILES] - numbers[ZEPI_STAT_COMPILE_FAILURES]);
    print_seconds(file, numbers[ZEPI_STAT_COMPILE_NS]);
    fprintf(file,
            is_json ? ", \"builds\": %" PRIu64 ", \"failures\": %" PRIu64 ", \"slowest\": ["
                    : " s in %" PRIu64 " builds, %" PRIu64 " failed\n",
            numbers[ZEPI_STAT_COMPILES], numbers[ZEPI_STAT_COMPILE_FAILURES]);
    print_slowest(file, is_json);
    fprintf(file,
            is_json ? "]}, \"launches\": %" PRIu64 ", \"graph_executions\": %" PRIu64
                      ", \"copies\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64
                      "}, \"fills\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64
                      "}, \"device_memory_peak_bytes\": %" PRIu64 ", \"evictions\": %" PRIu64
                      ", \"failed_calls\": {\"count\": %" PRIu64
                    : "  launches       %" PRIu64 ", executions of graphs %" PRIu64
                      "\n  copies         %" PRIu64 " of %" PRIu64
                      " bytes\n  fills          %" PRIu64 " of %" PRIu64
                      " bytes\n  device memory  at most %" PRIu64
                      " bytes\n  evictions      %" PRIu64 "\n  failed calls   %" PRIu64,
            numbers[ZEPI_STAT_LAUNCHES], numbers[ZEPI_STAT_GRAPHS], numbers[ZEPI_STAT_COPIES],
            numbers[ZEPI_STAT_COPY_BYTES], numbers[ZEPI_STAT_FILLS], numbers[ZEPI_STAT_FILL_BYTES],
            (uint64_t)atomic_load_explicit(&memory_peak_bytes, memory_order_relaxed),
            count_evictions(), numbers[ZEPI_STAT_CALL_FAILURES]);
    if (is_json || last_failure[0][0])
        fprintf(file, is_json ? ", \"last\": \"%s\", \"result\": \"%s\"}}" : ", the last: %s, %s",
                last_failure[0], last_failure[1]);
    fputc('\n', file);
}

// In one piece, if the system takes it: other processes may write to the same file. On a disk that
// fills up the rest has the reason.
static bool write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(file, text, length);
        if (written < 0 && errno != EINTR)
            return false;
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

// A FIFO without a reader fails at once, and does not keep the process from its end. One with a
// reader gets the whole report, however slowly it is read.
static int open_report(const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file >= 0)
        fcntl(file, F_SETFL, O_APPEND);
    return file;
}

static bool write_report(const char *path, const char *text, size_t length)
{
    const bool is_stderr = strcmp(path, "stderr") == 0;
    const int file = is_stderr ? STDERR_FILENO : open_report(path);
    const bool is_good = file >= 0 && write_all(file, text, length);
    const int error = errno;
    if (!is_stderr && file >= 0)
        close(file);
    errno = error;
    return is_good;
}

static void stats_end(void *unused)
{
    uint64_t numbers[ZEPI_STATS] = {0};
    char *text = NULL;
    size_t length = 0;
    const char *path = zepi_options()->stats;
    const char *ending = strrchr(path, '.');
    (void)unused;
    FILE *file = getpid() == process ? open_memstream(&text, &length) : NULL;
    if (!file)
        return;
    for (unsigned i = 0; i < ZEPI_THREAD_SHARDS; i++) {
        for (int stat = 0; stat < ZEPI_STATS; stat++)
            numbers[stat] += atomic_load_explicit(&shards[i].numbers[stat], memory_order_relaxed);
    }
    zepi_mutex_lock(&mutex);
    report_print(file, numbers, ending && strcmp(ending, ".json") == 0);
    zepi_mutex_unlock(&mutex);
    const bool is_made = fclose(file) == 0;
    if (is_made && !write_report(path, text, length))
        fprintf(stderr, "zepi: ZEPI_STATS=%s: %s\n", path, strerror(errno));
    free(text);
}

// What atexit does in a library: also as it is closed (core/unload.c).
extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
extern void *__dso_handle;

bool zepi_stats_begin(uint64_t (*evictions)(void))
{
    if (!zepi_options()->stats[0])
        return false;
    process = getpid();
    count_evictions = evictions;
    zepi_stats_are_on = __cxa_atexit(stats_end, NULL, &__dso_handle) == 0;
    return zepi_stats_are_on;
}
