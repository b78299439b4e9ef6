// SPDX-License-Identifier: MIT
#include "core/stats.h"

#include "core/log.h"
#include "core/mutex.h"
#include "core/options.h"
#include "core/thread.h"

#include <errno.h>
#include <fcntl.h>
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

// The same parts in the same order: a line of JSON, and lines of at most 100 columns for people.
static const char json_begin[] =
    "{\"process\": %ld, \"program\": \"%s\", \"programs\": {\"asked\": %ju, \"known\": %ju, "
    "\"memory\": %ju, \"disk\": %ju, \"shared\": %ju, \"compiled\": %ju}, \"compiler\": "
    "{\"seconds\": %s, \"builds\": %ju, \"failures\": %ju, \"slowest\": [";
static const char lines_begin[] =
    "zepi: statistics of process %ld, %s\n"
    "  programs       %ju: %ju known, %ju from memory, %ju from disk, %ju shared, %ju compiled\n"
    "  compiler       %s s, builds: %ju, of which failed: %ju\n";
static const char json_build[] = "%s{\"seconds\": %s, \"failed\": %s, \"kernels\": \"%s\"}";
static const char lines_build[] = "%s    %s s  %s%s\n";
static const char json_end[] =
    "]}, \"launches\": %ju, \"graph_executions\": %ju, \"copies\": {\"count\": %ju, \"bytes\": "
    "%ju}, "
    "\"fills\": {\"count\": %ju, \"bytes\": %ju}, \"device_memory_peak_bytes\": %jd, "
    "\"evictions\": %ju, \"disk_unused\": \"%s%s\", \"failed_calls\": {\"count\": %ju";
static const char lines_end[] = "  launches       %ju, executions of graphs: %ju\n"
                                "  copies         %ju of %ju bytes together\n"
                                "  fills          %ju of %ju bytes together\n"
                                "  device memory  %jd bytes at most\n"
                                "  evictions      %ju\n"
                                "  disk cache     %s%s\n"
                                "  failed calls   %ju";
static const char json_failure[] = ", \"last\": \"%s\", \"result\": \"%s\"}}\n";
static const char lines_failure[] = ", the last: %s: %s\n";

struct text {
    char bytes[2 * sizeof(unused_disk)];
};

// Of any bytes, as JSON has it; with a `width`, for people, who get no more of it.
static struct text make_text(const char *bytes, size_t width)
{
    struct text text;
    char line[sizeof(unused_disk)];
    char *to = text.bytes;
    const bool is_cut = width > 0 && strlen(bytes) > width;
    snprintf(line, sizeof(line), "%.*s", (int)(is_cut ? width - 3 : sizeof(line) - 1), bytes);
    zepi_make_printable(line, "");
    for (const char *at = line; *at; at++) {
        if (width == 0 && (*at == '"' || *at == '\\'))
            *to++ = '\\';
        *to++ = *at;
    }
    strcpy(to, is_cut ? "..." : "");
    return text;
}

// Three digits, whatever the locale.
static struct text make_seconds(uint64_t ns)
{
    struct text text;
    const uintmax_t ms = (ns + 500000) / 1000000;
    snprintf(text.bytes, sizeof(text.bytes), "%ju.%03ju", ms / 1000, ms % 1000);
    return text;
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
static uintmax_t count_programs_in_memory(const uintmax_t *numbers)
{
    const uintmax_t others = numbers[ZEPI_STAT_BINARIES_DISK] + numbers[ZEPI_STAT_BINARIES_SHARED] +
                             numbers[ZEPI_STAT_BINARIES_MADE];
    const uintmax_t binaries = numbers[ZEPI_STAT_BINARIES];
    return binaries > others ? binaries - others : 0;
}

static void print_slowest(FILE *file, bool is_json)
{
    static const char *const states[2][2] = {{"failed: ", ""}, {"true", "false"}};
    for (int i = 0; i < SLOWEST_COUNT && slowest[i].duration_ns > 0; i++) {
        fprintf(file, is_json ? json_build : lines_build, is_json && i > 0 ? ", " : "",
                make_seconds(slowest[i].duration_ns).bytes, states[is_json][slowest[i].is_good],
                make_text(slowest[i].kernels, is_json ? 0 : 70).bytes);
    }
}

static void print_report(FILE *file, const uintmax_t *numbers, bool is_json)
{
    const char *unused = describe_unused_disk();
    const char *unused_name = unused[0] ? "not used: " : "used";
    fprintf(file, is_json ? json_begin : lines_begin, (long)process,
            make_text(program_invocation_short_name, is_json ? 0 : 50).bytes,
            numbers[ZEPI_STAT_PROGRAMS], numbers[ZEPI_STAT_PROGRAMS_KNOWN],
            count_programs_in_memory(numbers), numbers[ZEPI_STAT_BINARIES_DISK],
            numbers[ZEPI_STAT_BINARIES_SHARED],
            numbers[ZEPI_STAT_COMPILES] - numbers[ZEPI_STAT_COMPILE_FAILURES],
            make_seconds(numbers[ZEPI_STAT_COMPILE_NS]).bytes, numbers[ZEPI_STAT_COMPILES],
            numbers[ZEPI_STAT_COMPILE_FAILURES]);
    print_slowest(file, is_json);
    fprintf(file, is_json ? json_end : lines_end, numbers[ZEPI_STAT_LAUNCHES],
            numbers[ZEPI_STAT_GRAPHS], numbers[ZEPI_STAT_COPIES], numbers[ZEPI_STAT_COPY_BYTES],
            numbers[ZEPI_STAT_FILLS], numbers[ZEPI_STAT_FILL_BYTES], (intmax_t)memory_peak_bytes,
            (uintmax_t)count_evictions(), is_json ? "" : unused_name,
            make_text(unused, is_json ? 0 : sizeof(unused_disk)).bytes,
            numbers[ZEPI_STAT_CALL_FAILURES]);
    const char *lines = last_failure[0][0] ? lines_failure : "%s%s\n";
    fprintf(file, is_json ? json_failure : lines, last_failure[0], last_failure[1]);
}

static void write_report(FILE *file, bool is_json)
{
    uintmax_t numbers[ZEPI_STATS] = {0};
    for (unsigned i = 0; i < ZEPI_THREAD_SHARDS; i++) {
        for (int stat = 0; stat < ZEPI_STATS; stat++)
            numbers[stat] += atomic_load_explicit(&shards[i].numbers[stat], memory_order_relaxed);
    }
    zepi_mutex_lock(&mutex);
    print_report(file, numbers, is_json);
    zepi_mutex_unlock(&mutex);
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

size_t zepi_stats_write_json(char *text, size_t size)
{
    FILE *file = zepi_stats_are_on && getpid() == process ? fmemopen(text, size, "w") : NULL;
    if (!file)
        return 0;
    write_report(file, true);
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
        write_report(file, ending && strcmp(ending, ".jsonl") == 0);
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
