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
    uint64_t duration_ns;
    bool is_good;
    char kernels[KERNELS_BYTES];
};

// Guards the variables below; nothing is called under it.
static struct zepi_mutex mutex;
static struct compile slowest[SLOWEST_COUNT]; // slowest first
static uint64_t compile_count;
static uint64_t compile_failures;
static uint64_t compile_ns;
static const char *last_failure[2]; // function and result; NULL: none

static pid_t process;
static uint64_t (*count_evictions)(void);

void zepi_stats_add(enum zepi_stat stat, uint64_t number)
{
    // Relaxed: only the number matters.
    atomic_fetch_add_explicit(&shards[zepi_thread_shard()].numbers[stat], number,
                              memory_order_relaxed);
}

static uint64_t stats_sum(enum zepi_stat stat)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ZEPI_THREAD_SHARDS; i++)
        sum += atomic_load_explicit(&shards[i].numbers[stat], memory_order_relaxed);
    return sum;
}

void zepi_stats_note_compile(const char *kernels, uint64_t duration_ns, bool is_good)
{
    struct compile compile = {.duration_ns = duration_ns, .is_good = is_good};
    if (!zepi_stats_are_on)
        return;
    snprintf(compile.kernels, sizeof(compile.kernels), "%s", kernels);
    zepi_mutex_lock(&mutex);
    compile_count++;
    compile_failures += !is_good;
    compile_ns += duration_ns;
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

// What the report says, at one time.
struct report {
    uint64_t numbers[ZEPI_STATS];
    uint64_t binaries_in_memory;
    uint64_t compile_count;
    uint64_t compile_failures;
    uint64_t compile_ns;
    uint64_t memory_peak_bytes;
    uint64_t evictions;
    const char *last_failure[2];
    struct compile slowest[SLOWEST_COUNT];
};

static void report_init(struct report *report)
{
    for (int i = 0; i < ZEPI_STATS; i++)
        report->numbers[i] = stats_sum((enum zepi_stat)i);
    const uint64_t others = report->numbers[ZEPI_STAT_BINARIES_DISK] +
                            report->numbers[ZEPI_STAT_BINARIES_SHARED] +
                            report->numbers[ZEPI_STAT_BINARIES_MADE];
    const uint64_t binaries = report->numbers[ZEPI_STAT_BINARIES];
    report->binaries_in_memory = binaries > others ? binaries - others : 0;
    report->memory_peak_bytes = atomic_load_explicit(&memory_peak_bytes, memory_order_relaxed);
    report->evictions = count_evictions();
    zepi_mutex_lock(&mutex);
    report->compile_count = compile_count;
    report->compile_failures = compile_failures;
    report->compile_ns = compile_ns;
    memcpy(report->last_failure, last_failure, sizeof(last_failure));
    memcpy(report->slowest, slowest, sizeof(slowest));
    zepi_mutex_unlock(&mutex);
}

// Seconds with three digits, whatever the locale.
static void print_seconds(FILE *file, uint64_t ns)
{
    const uint64_t milliseconds = (ns + 500000) / 1000000;
    fprintf(file, "%" PRIu64 ".%03u", milliseconds / 1000, (unsigned)(milliseconds % 1000));
}

// Names may have any bytes: none of them ends the line or reaches a terminal as a command.
static void print_name(FILE *file, const char *name)
{
    char line[KERNELS_BYTES];
    snprintf(line, sizeof(line), "%s", name);
    zepi_make_printable(line, "");
    fputs(line, file);
}

static void report_print_text(const struct report *report, FILE *file)
{
    const uint64_t *numbers = report->numbers;
    fprintf(file, "zepi: statistics of process %ld (", (long)process);
    print_name(file, program_invocation_short_name);
    fputs(")\n", file);
    fprintf(file,
            "  programs       %" PRIu64 " asked for: %" PRIu64 " known, %" PRIu64
            " in memory, %" PRIu64 " from disk, %" PRIu64 " from the shared store, %" PRIu64
            " compiled\n",
            numbers[ZEPI_STAT_PROGRAMS], numbers[ZEPI_STAT_PROGRAMS_KNOWN],
            report->binaries_in_memory, numbers[ZEPI_STAT_BINARIES_DISK],
            numbers[ZEPI_STAT_BINARIES_SHARED], report->compile_count - report->compile_failures);
    fprintf(file, "  compiler       ");
    print_seconds(file, report->compile_ns);
    fprintf(file, " s in %" PRIu64 " builds, %" PRIu64 " failed\n", report->compile_count,
            report->compile_failures);
    for (int i = 0; i < SLOWEST_COUNT && report->slowest[i].duration_ns > 0; i++) {
        fprintf(file, "                 ");
        print_seconds(file, report->slowest[i].duration_ns);
        fprintf(file, " s %s", report->slowest[i].is_good ? "" : "failed: ");
        print_name(file, report->slowest[i].kernels);
        fputc('\n', file);
    }
    fprintf(file, "  launches       %" PRIu64 ", executions of graphs %" PRIu64 "\n",
            numbers[ZEPI_STAT_LAUNCHES], numbers[ZEPI_STAT_GRAPHS]);
    fprintf(file, "  copies         %" PRIu64 " of %" PRIu64 " bytes\n", numbers[ZEPI_STAT_COPIES],
            numbers[ZEPI_STAT_COPY_BYTES]);
    fprintf(file, "  fills          %" PRIu64 " of %" PRIu64 " bytes\n", numbers[ZEPI_STAT_FILLS],
            numbers[ZEPI_STAT_FILL_BYTES]);
    fprintf(file, "  device memory  at most %" PRIu64 " bytes\n", report->memory_peak_bytes);
    fprintf(file, "  evictions      %" PRIu64 "\n", report->evictions);
    fprintf(file, "  failed calls   %" PRIu64, numbers[ZEPI_STAT_CALL_FAILURES]);
    if (report->last_failure[0])
        fprintf(file, ", the last: %s, %s", report->last_failure[0], report->last_failure[1]);
    fputc('\n', file);
}

// Names may have any bytes, and are cut. A byte that belongs to no character becomes U+FFFD.
static void print_json_string(FILE *file, const char *text)
{
    fputc('"', file);
    while (*text) {
        const size_t count = zepi_character_bytes(text);
        if (count == 0)
            fputs("\\ufffd", file);
        else if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            fwrite(text, 1, count, file);
        text += count > 0 ? count : 1;
    }
    fputc('"', file);
}

static void report_print_json(const struct report *report, FILE *file)
{
    const uint64_t *numbers = report->numbers;
    fprintf(file, "{\"process\": %ld, \"program\": ", (long)process);
    print_json_string(file, program_invocation_short_name);
    fprintf(file,
            ", \"programs\": {\"asked\": %" PRIu64 ", \"known\": %" PRIu64 ", \"memory\": %" PRIu64
            ", \"disk\": %" PRIu64 ", \"shared\": %" PRIu64 ", \"compiled\": %" PRIu64
            "}, \"compiler\": {\"seconds\": ",
            numbers[ZEPI_STAT_PROGRAMS], numbers[ZEPI_STAT_PROGRAMS_KNOWN],
            report->binaries_in_memory, numbers[ZEPI_STAT_BINARIES_DISK],
            numbers[ZEPI_STAT_BINARIES_SHARED], report->compile_count - report->compile_failures);
    print_seconds(file, report->compile_ns);
    fprintf(file, ", \"builds\": %" PRIu64 ", \"failures\": %" PRIu64 ", \"slowest\": [",
            report->compile_count, report->compile_failures);
    for (int i = 0; i < SLOWEST_COUNT && report->slowest[i].duration_ns > 0; i++) {
        fprintf(file, "%s{\"seconds\": ", i > 0 ? ", " : "");
        print_seconds(file, report->slowest[i].duration_ns);
        fprintf(file, ", \"kernels\": ");
        print_json_string(file, report->slowest[i].kernels);
        fprintf(file, ", \"failed\": %s}", report->slowest[i].is_good ? "false" : "true");
    }
    fprintf(file,
            "]}, \"launches\": %" PRIu64 ", \"graph_executions\": %" PRIu64
            ", \"copies\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64
            "}, \"fills\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64
            "}, \"device_memory_peak_bytes\": %" PRIu64 ", \"evictions\": %" PRIu64
            ", \"failed_calls\": {\"count\": %" PRIu64 ", \"last\": ",
            numbers[ZEPI_STAT_LAUNCHES], numbers[ZEPI_STAT_GRAPHS], numbers[ZEPI_STAT_COPIES],
            numbers[ZEPI_STAT_COPY_BYTES], numbers[ZEPI_STAT_FILLS], numbers[ZEPI_STAT_FILL_BYTES],
            report->memory_peak_bytes, report->evictions, numbers[ZEPI_STAT_CALL_FAILURES]);
    print_json_string(file, report->last_failure[0] ? report->last_failure[0] : "");
    fprintf(file, ", \"result\": ");
    print_json_string(file, report->last_failure[1] ? report->last_failure[1] : "");
    fputs("}}\n", file);
}

static bool has_ending(const char *text, const char *ending)
{
    const size_t length = strlen(text);
    const size_t end = strlen(ending);
    return length >= end && strcmp(text + length - end, ending) == 0;
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
    if (file < 0)
        return false;
    const bool is_good = write_all(file, text, length);
    const int error = errno;
    if (!is_stderr)
        close(file);
    errno = error;
    return is_good;
}

static void stats_end(void *unused)
{
    static struct report report;
    char *text = NULL;
    size_t length = 0;
    const char *path = zepi_options()->stats;
    (void)unused;
    FILE *file = getpid() == process ? open_memstream(&text, &length) : NULL;
    if (!file)
        return;
    report_init(&report);
    if (has_ending(path, ".json"))
        report_print_json(&report, file);
    else
        report_print_text(&report, file);
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
