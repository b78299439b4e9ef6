// SPDX-License-Identifier: MIT
#include "core/stats.h"

#include "core/log.h"
#include "core/mutex.h"
#include "core/options.h"
#include "core/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SLOWEST_COUNT 10
#define KERNELS_BYTES 256

bool zepi_stats_are_on;

// Threads that launch at the same time write to no common cache line.
static struct {
    alignas(64) atomic_uint_fast64_t numbers[ZEPI_STATS];
} shards[ZEPI_THREAD_SHARDS];

struct compile {
    uint64_t duration_ns; // 0: none
    bool is_good;
    char kernels[KERNELS_BYTES];
};

// Guards the variables below. Under it, the report is written to a buffer.
static struct zepi_mutex mutex;
static struct compile slowest[SLOWEST_COUNT];  // slowest first
static const char *last_failure[2] = {"", ""}; // function and result
static int64_t memory_bytes, memory_peak_bytes;
static char unused_disk[1024]; // folders of disk caches, with the reasons

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

void zepi_stats_note_memory(int64_t size_bytes)
{
    if (!zepi_stats_are_on)
        return;
    zepi_mutex_lock(&mutex);
    memory_bytes += size_bytes;
    if (memory_bytes > memory_peak_bytes)
        memory_peak_bytes = memory_bytes;
    zepi_mutex_unlock(&mutex);
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

void zepi_stats_note_unused_disk(const char *path, const char *reason)
{
    zepi_mutex_lock(&mutex);
    const size_t length = strlen(unused_disk);
    snprintf(unused_disk + length, sizeof(unused_disk) - length, "%s%s: %s", length > 0 ? "; " : "",
             path, reason);
    zepi_mutex_unlock(&mutex);
}

// ---- The report ----

// Seconds with three digits, whatever the locale.
static void print_seconds(FILE *file, uint64_t ns)
{
    const uint64_t milliseconds = (ns + 500000) / 1000000;
    fprintf(file, "%" PRIu64 ".%03u", milliseconds / 1000, (unsigned)(milliseconds % 1000));
}

// Text in JSON. It may have any bytes.
static void print_text(FILE *file, const char *text)
{
    char line[sizeof(unused_disk)];
    snprintf(line, sizeof(line), "%s", text);
    zepi_make_printable(line, "");
    for (const char *at = line; *at; at++)
        fprintf(file, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
}

// A column for people: a text of more than `width` bytes is cut.
static void print_cut(FILE *file, const char *text, size_t width)
{
    char line[sizeof(unused_disk)];
    const bool is_cut = strlen(text) > width;
    snprintf(line, sizeof(line), "%.*s", (int)(is_cut ? width - 3 : width), text);
    zepi_make_printable(line, "");
    fprintf(file, "%s%s", line, is_cut ? "..." : "");
}

// "": the disk cache is used, as far as is known.
static const char *describe_unused_disk(void)
{
    const struct zepi_options *options = zepi_options();
    if (!options->cache_is_on || !options->disk_is_on)
        return options->cache_is_on ? "ZEPI_CACHE_DISK is off" : "ZEPI_CACHE is off";
    if (unused_disk[0] || (options->cache_folder[0] && options->disk_bytes > 0))
        return unused_disk;
    return options->cache_folder[0] ? "ZEPI_CACHE_DISK_BYTES is 0"
                                    : "no folder: set ZEPI_CACHE_DIR, XDG_CACHE_HOME or HOME";
}

// The programs that the process had in memory.
static uint64_t count_programs_in_memory(const uint64_t *numbers)
{
    const uint64_t others = numbers[ZEPI_STAT_BINARIES_DISK] + numbers[ZEPI_STAT_BINARIES_SHARED] +
                            numbers[ZEPI_STAT_BINARIES_MADE];
    const uint64_t binaries = numbers[ZEPI_STAT_BINARIES];
    return binaries > others ? binaries - others : 0;
}

static void print_json(FILE *file, const uint64_t *numbers)
{
    fprintf(file, "{\"process\": %ld, \"program\": \"", (long)process);
    print_text(file, program_invocation_short_name);
    fprintf(file,
            "\", \"programs\": {\"asked\": %" PRIu64 ", \"known\": %" PRIu64
            ", \"memory\": %" PRIu64 ", \"disk\": %" PRIu64 ", \"shared\": %" PRIu64
            ", \"compiled\": %" PRIu64 "}, \"compiler\": {\"seconds\": ",
            numbers[ZEPI_STAT_PROGRAMS], numbers[ZEPI_STAT_PROGRAMS_KNOWN],
            count_programs_in_memory(numbers), numbers[ZEPI_STAT_BINARIES_DISK],
            numbers[ZEPI_STAT_BINARIES_SHARED],
            numbers[ZEPI_STAT_COMPILES] - numbers[ZEPI_STAT_COMPILE_FAILURES]);
    print_seconds(file, numbers[ZEPI_STAT_COMPILE_NS]);
    fprintf(file, ", \"builds\": %" PRIu64 ", \"failures\": %" PRIu64 ", \"slowest\": [",
            numbers[ZEPI_STAT_COMPILES], numbers[ZEPI_STAT_COMPILE_FAILURES]);
    for (int i = 0; i < SLOWEST_COUNT && slowest[i].duration_ns > 0; i++) {
        fputs(i > 0 ? ", {\"seconds\": " : "{\"seconds\": ", file);
        print_seconds(file, slowest[i].duration_ns);
        fputs(", \"kernels\": \"", file);
        print_text(file, slowest[i].kernels);
        fprintf(file, "\", \"failed\": %s}", slowest[i].is_good ? "false" : "true");
    }
    fprintf(file,
            "]}, \"launches\": %" PRIu64 ", \"graph_executions\": %" PRIu64
            ", \"copies\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64
            "}, \"fills\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64
            "}, \"device_memory_peak_bytes\": %" PRId64 ", \"evictions\": %" PRIu64
            ", \"disk_unused\": \"",
            numbers[ZEPI_STAT_LAUNCHES], numbers[ZEPI_STAT_GRAPHS], numbers[ZEPI_STAT_COPIES],
            numbers[ZEPI_STAT_COPY_BYTES], numbers[ZEPI_STAT_FILLS], numbers[ZEPI_STAT_FILL_BYTES],
            memory_peak_bytes, count_evictions());
    print_text(file, describe_unused_disk());
    fprintf(file,
            "\", \"failed_calls\": {\"count\": %" PRIu64
            ", \"last\": \"%s\", \"result\": \"%s\"}}\n",
            numbers[ZEPI_STAT_CALL_FAILURES], last_failure[0], last_failure[1]);
}

// For people: lines of at most 100 columns.
static void print_lines(FILE *file, const uint64_t *numbers)
{
    const char *unused = describe_unused_disk();
    fprintf(file, "zepi: statistics of process %ld, ", (long)process);
    print_cut(file, program_invocation_short_name, 50);
    fprintf(file,
            "\n  programs       %" PRIu64 ": %" PRIu64 " known, %" PRIu64 " from memory, %" PRIu64
            " from disk, %" PRIu64 " shared, %" PRIu64 " compiled\n  compiler       ",
            numbers[ZEPI_STAT_PROGRAMS], numbers[ZEPI_STAT_PROGRAMS_KNOWN],
            count_programs_in_memory(numbers), numbers[ZEPI_STAT_BINARIES_DISK],
            numbers[ZEPI_STAT_BINARIES_SHARED],
            numbers[ZEPI_STAT_COMPILES] - numbers[ZEPI_STAT_COMPILE_FAILURES]);
    print_seconds(file, numbers[ZEPI_STAT_COMPILE_NS]);
    fprintf(file, " s, builds: %" PRIu64 ", of which failed: %" PRIu64 "\n",
            numbers[ZEPI_STAT_COMPILES], numbers[ZEPI_STAT_COMPILE_FAILURES]);
    for (int i = 0; i < SLOWEST_COUNT && slowest[i].duration_ns > 0; i++) {
        fputs("    ", file);
        print_seconds(file, slowest[i].duration_ns);
        fputs(slowest[i].is_good ? " s  " : " s  failed: ", file);
        print_cut(file, slowest[i].kernels, 70);
        fputc('\n', file);
    }
    fprintf(file,
            "  launches       %" PRIu64 ", executions of graphs: %" PRIu64
            "\n  copies         %" PRIu64 " of %" PRIu64
            " bytes together\n  fills          %" PRIu64 " of %" PRIu64
            " bytes together\n  device memory  %" PRId64 " bytes at most\n  evictions      %" PRIu64
            "\n",
            numbers[ZEPI_STAT_LAUNCHES], numbers[ZEPI_STAT_GRAPHS], numbers[ZEPI_STAT_COPIES],
            numbers[ZEPI_STAT_COPY_BYTES], numbers[ZEPI_STAT_FILLS], numbers[ZEPI_STAT_FILL_BYTES],
            memory_peak_bytes, count_evictions());
    fputs(unused[0] ? "  disk cache     not used: " : "  disk cache     used", file);
    print_cut(file, unused, sizeof(unused_disk));
    fprintf(file, "\n  failed calls   %" PRIu64 "%s%s%s%s\n", numbers[ZEPI_STAT_CALL_FAILURES],
            last_failure[0][0] ? ", the last: " : "", last_failure[0],
            last_failure[1][0] ? ": " : "", last_failure[1]);
}

// A FIFO without a reader fails at once, and does not keep the process from its end. One with a
// reader gets the whole report, however slowly it is read.
static int open_report(const char *path)
{
    if (strcmp(path, "stderr") == 0)
        return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file >= 0)
        fcntl(file, F_SETFL, O_APPEND);
    return file;
}

static void write_numbers(FILE *file, bool is_json)
{
    uint64_t numbers[ZEPI_STATS] = {0};
    for (unsigned i = 0; i < ZEPI_THREAD_SHARDS; i++) {
        for (int stat = 0; stat < ZEPI_STATS; stat++)
            numbers[stat] += atomic_load_explicit(&shards[i].numbers[stat], memory_order_relaxed);
    }
    zepi_mutex_lock(&mutex);
    (is_json ? print_json : print_lines)(file, numbers);
    zepi_mutex_unlock(&mutex);
}

size_t zepi_stats_write_json(char *text, size_t size)
{
    FILE *file = zepi_stats_are_on && getpid() == process ? fmemopen(text, size, "w") : NULL;
    if (!file)
        return 0;
    write_numbers(file, true);
    const long length = ftell(file);
    return fclose(file) == 0 && length > 0 ? (size_t)length : 0;
}

static void stats_end(void *unused)
{
    char report[SLOWEST_COUNT * 2 * KERNELS_BYTES + 8192]; // more than there is to write
    const char *path = zepi_options()->stats;
    const char *ending = strrchr(path, '.');
    (void)unused;
    if (getpid() != process)
        return;
    const int number = open_report(path);
    FILE *file = number >= 0 ? fdopen(number, "w") : NULL;
    if (file) {
        // Written in one piece, if the system takes it: other processes may write to the same file.
        setvbuf(file, report, _IOFBF, sizeof(report));
        write_numbers(file, ending && strcmp(ending, ".jsonl") == 0);
    }
    if (!file || fclose(file) != 0)
        fprintf(stderr, "zepi: ZEPI_STATS=%s: %s\n", path, strerror(errno));
    if (!file && number >= 0)
        close(number);
}

// Behind atexit in a library: its functions run also as the library is closed (core/unload.c).
extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
extern void *__dso_handle;

void zepi_stats_init(uint64_t (*evictions)(void))
{
    const char *path = zepi_options()->stats;
    process = getpid();
    count_evictions = evictions;
    // "on" counts for a host that asks, and writes nothing.
    zepi_stats_are_on =
        strcmp(path, "on") == 0 || (path[0] && __cxa_atexit(stats_end, NULL, &__dso_handle) == 0);
}
