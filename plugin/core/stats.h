// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_STATS_H
#define ZEPI_CORE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The statistics that ZEPI_STATS asks for: counters of the process, and the report at its end. Any
// thread. Without ZEPI_STATS nothing is counted.

enum zepi_stat {
    ZEPI_STAT_LAUNCHES, // a launch of a graph once, as it is recorded
    ZEPI_STAT_GRAPHS,   // executions of graphs
    ZEPI_STAT_COPIES,   // without those of images
    ZEPI_STAT_COPY_BYTES,
    ZEPI_STAT_FILLS,
    ZEPI_STAT_FILL_BYTES,
    ZEPI_STAT_PROGRAMS,       // builds, links and native images that were asked for, for a device
    ZEPI_STAT_PROGRAMS_KNOWN, // of these: the context had them
    ZEPI_STAT_BINARIES,       // lookups of native code, for the rest of the programs
    ZEPI_STAT_BINARIES_DISK,
    ZEPI_STAT_BINARIES_SHARED,
    ZEPI_STAT_BINARIES_MADE, // neither memory nor a store had it
    ZEPI_STAT_COMPILES,
    ZEPI_STAT_COMPILE_FAILURES,
    ZEPI_STAT_COMPILE_NS,
    ZEPI_STAT_CALL_FAILURES, // calls of Level Zero
    ZEPI_STATS,
};

extern bool zepi_stats_are_on; // constant once zepi_stats_init returned

void zepi_stats_add(enum zepi_stat stat, uint64_t number);
static inline void zepi_stats_count(enum zepi_stat stat)
{
    if (__builtin_expect(zepi_stats_are_on, 0))
        zepi_stats_add(stat, 1);
}

// A command that moves bytes is appended; `stat` is COPIES or FILLS.
static inline void zepi_stats_count_bytes(enum zepi_stat stat, uint64_t size_bytes)
{
    if (__builtin_expect(zepi_stats_are_on, 0)) {
        zepi_stats_add(stat, 1);
        zepi_stats_add(stat + 1, size_bytes);
    }
}

// The driver's compiler worked for `duration_ns`. `kernels` is a text, copied.
void zepi_stats_note_compile(const char *kernels, uint64_t duration_ns, bool is_good);

// Memory of devices that was taken from the driver, or, as a negative number, given back.
void zepi_stats_note_memory(int64_t size_bytes);

// Why the folder of a disk cache is not used. Copied.
void zepi_stats_note_unused_disk(const char *path, const char *reason);

// Literals.
void zepi_stats_note_failure(const char *function, const char *result);

// The report so far as JSON, for hosts of libzepi_core.so (Python's zepi.stats). Returns its
// length, 0 in a process that does not count; nothing is written unless it is below `size`.
size_t zepi_stats_write_json(char *text, size_t size);

// Called once, at the bring-up. If ZEPI_STATS asks for statistics, the report is written when the
// process ends or closes the library. A child that the process forks writes none. `evictions` tells
// how many entries the caches evicted.
void zepi_stats_init(uint64_t (*evictions)(void));

#endif
