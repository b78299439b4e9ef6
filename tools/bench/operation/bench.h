// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_H
#define ZEPI_TOOL_BENCH_H

#include "lists.h"
#include "tools/zepi/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The measurements of zepi-bench: operations, each through several rows (zepi's table, adapters of
// Unified Runtime). An operation is done in a loop. Instructions of the loop,
// which are this program's own, are not counted.

enum bench_operation {
    BENCH_LAUNCH_3,
    BENCH_LAUNCH_12,
    BENCH_LAUNCH_24,
    BENCH_LAUNCH_EVENT,
    BENCH_LAUNCH_AFTER,
    BENCH_LAUNCH_LOCAL,
    BENCH_LAUNCH_2_SIZES,
    BENCH_LAUNCH_100_SIZES,
    BENCH_LAUNCH_TURNS,
    BENCH_LAUNCH_BUFFER,
    // zepi's table alone.
    BENCH_LAUNCH_VALUE,
    BENCH_LAUNCH_VALUES,
    BENCH_COPY,
    BENCH_QUEUE,
    BENCH_ALLOCATE,
    BENCH_ALLOCATE_BUSY,
    BENCH_KERNEL,
    BENCH_PROGRAM,
    BENCH_PROGRAM_LARGE,
#define OPERATION(constant, ...) BENCH_##constant,
    BENCH_TRANSFERS(OPERATION) BENCH_GRAPHS(OPERATION) BENCH_CYCLES(OPERATION)
#undef OPERATION
        BENCH_OPERATION_COUNT,
    BENCH_FIRST_TRANSFER = BENCH_COPY_IN_ORDER,
    BENCH_FIRST_GRAPH = BENCH_GRAPH_1,
    BENCH_FIRST_CYCLE = BENCH_MEMORY_DEVICE_4K,
};

// Parts of the operations, counted in processes of their own: what a driver and adapters keep of
// some operations makes others dearer.
enum bench_part {
    BENCH_PART_ALL,
    BENCH_PART_SINGLE,
    BENCH_PART_TRANSFERS,
    BENCH_PART_GRAPHS,
    BENCH_PART_CYCLES,
    BENCH_PART_COUNT,
};

// Kernels of kernels/bench.cl.
enum bench_kernel {
    BENCH_THREE,
    BENCH_THREE_TOO,
    BENCH_WITH_LOCAL,
    BENCH_TWELVE,
    BENCH_TWENTY_FOUR,
    BENCH_KERNEL_COUNT,
};

struct bench_kernel_info {
    const char *name;
    uint32_t argument_count;
};
extern const struct bench_kernel_info bench_kernels[BENCH_KERNEL_COUNT];
#define BENCH_MAX_ARGUMENTS 24

// How a kernel is launched, of the operations that are launches.
struct bench_launch {
    enum bench_kernel kernel;
    bool has_turns;      // with BENCH_THREE_TOO
    bool has_event;      // released
    bool is_after;       // waits for the event of the launch before, out of order
    bool is_second;      // of the second of two threads, to a queue of its own
    bool has_buffer;     // the second argument is one
    unsigned more_sizes; // besides 1,024 work-items
    unsigned values;     // by name, with the next of so many values of a constant; 0: by object
};

struct bench_operation_info {
    const char *name;  // for the command line and scripts
    const char *title; // for people
    const char *image; // the image that is built, see kernels.h, or NULL
    // The most instructions that an operation may cost on ze_cpu through Unified Runtime.
    double limit;
    struct bench_launch launch;
    bool is_beside;      // with --intel-driver, measured if nothing is asked for
    bool is_extra;       // measured only if it is asked for
    bool is_unlimited;   // has no limit
    bool is_long;        // with --intel-driver, takes a driver's time: shorter loops
    unsigned shortening; // loops are so many times shorter, as the operation is a long one
};
extern const struct bench_operation_info bench_operations[BENCH_OPERATION_COUNT];

// Launches of two threads at the same time, of one kernel object.
enum bench_crew {
    BENCH_CREW_LAUNCH,
    BENCH_CREW_ONE_QUEUE,
    BENCH_CREW_COUNT,
};
#define BENCH_CREW_SIZE 2
#define BENCH_MAX_ONLY 16

struct bench_crew_info {
    const char *name;
    const char *title;
    unsigned loop; // operations of each thread in a round
};
extern const struct bench_crew_info bench_crews[BENCH_CREW_COUNT];

// How a row does an operation once. `state` is the row's, `i` the number in a loop. False: it
// failed.
typedef bool bench_step(void *state, enum bench_operation operation, unsigned i);

struct bench_row {
    const char *name;
    bench_step *const *steps; // [BENCH_OPERATION_COUNT], NULL for those that the row does not have;
                              // NULL: the row is not there
    bool (*launch)(void *state, const struct bench_launch *launch, unsigned i);
    bool (*settle)(void *state); // waits until all that was submitted is done
    void *state;                 // of the functions above
};

// Does an operation of the row `count` times; false: one failed.
bool bench_run(const struct bench_row *row, enum bench_operation operation, unsigned count);

// Each row has its place; one that is not there has no steps.
enum bench_place {
    BENCH_ROW_ZEPI,
    BENCH_ROW_UR,      // zepi as an adapter
    BENCH_ROW_ADAPTER, // others
    BENCH_MAX_ADAPTERS = 3,
    BENCH_ROW_COUNT = BENCH_ROW_ADAPTER + BENCH_MAX_ADAPTERS,
};

// Of three lengths of loops: if the first half differs from the second, an operation does not cost
// the same each time.
struct bench_slope {
    double whole;
    double first;
    double second;
};

struct bench_time {
    double best_ns;
    double median_ns;
};

// The measurements of an operation in a row.
struct bench_cell {
    bool is_chosen; // the row has the operation, and it was asked for
    bool has_time;
    struct bench_time time;
    bool has_count;
    struct bench_slope count;
    double loader_count; // the loader's share of it
    double driver_count; // the driver's
    bool has_growth;
    long growth_kib; // in a million operations
};

// Nanoseconds an operation, all threads together; 0: not measured.
struct bench_pair {
    double one_ns;
    double two_ns;
};

struct bench {
    const char *only[BENCH_MAX_ONLY]; // parts of names of operations and rows; none: everything
    int only_count;
    const char *adapters[BENCH_MAX_ADAPTERS]; // borrowed
    int adapter_count;
    struct bench_row rows[BENCH_ROW_COUNT];
    struct bench_cell cells[BENCH_ROW_COUNT][BENCH_OPERATION_COUNT];
    struct bench_pair pairs[BENCH_ROW_COUNT][BENCH_CREW_COUNT];
    struct bench_pair spin;  // of threads that share nothing
    enum bench_part part;    // the only one that is counted
    enum host_driver driver; // ze_cpu, which executes nothing here, Intel's without a GPU, or a GPU
};

// Whether the counts, through zepi's table and through Unified Runtime, are within the limits;
// prints those that are not. On Intel's driver the limit is what Intel's adapter v2 costs, if it is
// measured, too, and 1 %.
bool bench_is_within_limits(const struct bench *bench);
// Whether `only` selects this name.
bool bench_is_asked_for(const struct bench *bench, const char *name);
// Whether an operation is to be measured, by its name or since nothing is asked for.
bool bench_asks_for(const struct bench *bench, enum bench_operation operation);
// How often an operation is done where others are done `length` times.
unsigned bench_loop_length(const struct bench *bench, enum bench_operation operation,
                           unsigned length);
bool bench_is_of_part(const struct bench *bench, enum bench_operation operation);
bool bench_asks_for_threads(const struct bench *bench);
// The operation's title, with the size of its image.
#define BENCH_TITLE_SIZE 96
void bench_title(enum bench_operation operation, char title[BENCH_TITLE_SIZE]);

// ---- Arguments of launches ----

// Half of the arguments differ from launch to launch. Those behind the twelfth are as those before.

#define BENCH_MEMORIES 4
// The memories of copies. Each is within an adapter's pool: Intel's driver finds memory sooner that
// begins an allocation, as the first one does in some adapters.
#define BENCH_COPY_TO 2
#define BENCH_COPY_FROM 3

struct bench_values {
    int changing;
    int same;
    float real;
    int64_t wide;
    int64_t wide_same;
};

struct bench_argument {
    size_t size_bytes; // of a value; 0: a pointer
    size_t offset;     // in struct bench_values
    unsigned memory;   // that the pointer is to
    bool is_changing;  // to the next memory in turns
};
#define BENCH_ARGUMENT_CYCLE 12
extern const struct bench_argument bench_arguments[BENCH_ARGUMENT_CYCLE];
// After these of BENCH_WITH_LOCAL.
#define BENCH_LOCAL_INDEX 3
#define BENCH_LOCAL_BYTES 256

// The values in the arguments of launch number `i`, and whether it is the second of two turns.
static inline unsigned bench_change(const struct bench_launch *launch, struct bench_values *values,
                                    unsigned i)
{
    const unsigned turn = (launch->has_turns ? i >> 1 : i) & 1;
    values->changing = (int)turn;
    values->wide = turn;
    values->real = (float)turn;
    return turn;
}

static inline const void *bench_value(const struct bench_values *values,
                                      const struct bench_argument *argument)
{
    return (const char *)values + argument->offset;
}

static inline unsigned bench_memory(const struct bench_argument *argument, unsigned turn)
{
    return argument->memory + (argument->is_changing ? turn : 0);
}

static inline enum bench_kernel bench_kernel_of(const struct bench_launch *launch, unsigned i)
{
    return launch->has_turns && (i & 1) ? BENCH_THREE_TOO : launch->kernel;
}

// In groups of 64.
static inline size_t bench_global_size(const struct bench_launch *launch, unsigned i)
{
    return 1024 + (launch->more_sizes > 0 ? (size_t)64 * (i % (launch->more_sizes + 1)) : 0);
}

#endif
