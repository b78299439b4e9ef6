// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_SCALE_H
#define ZEPI_TOOL_BENCH_SCALE_H

#include "../operation/bench.h"
#include "../row/row_zepi.h"

// The costs of operations while few and while many objects of a type are alive.

#define SCALE_FEW 200
#define SCALE_MANY 20000
// zepi's own instructions an operation at SCALE_MANY, in times those at SCALE_FEW.
#define SCALE_LIMIT 2.0
// Instructions more that are no growth: few objects share a slab or a list, of many each has
// another.
#define SCALE_ROOM 250
#define SCALE_MAX_OPERATIONS 8 // of a case
#define SCALE_MAX_CASES 64

struct ur_row;

// The objects of one case.
struct scale {
    const struct scale_case *info;
    const struct zepi_row *row;
    const struct ur_row *ur;
    unsigned live;
    void *objects[SCALE_MANY + 1];
    void *beside[SCALE_MANY + 1]; // what objects need, one each
    void *common[4];              // what a case keeps for all objects
    size_t page_bytes;            // of virtual memory
    int file;                     // behind imported memory
};

// Does something with the object at `i`; false: it failed.
typedef bool scale_fn(struct scale *scale, unsigned i);

struct scale_operation {
    const char *title;
    scale_fn *run; // at random places; the object stays alive
    bool is_new;   // of one more object, made before and released behind it
};

struct scale_case {
    const char *name;
    const char *types; // of objects that there are many of, as plugin/ names them; with spaces
    unsigned kind;     // of USM, or the flags of queues
    size_t size_bytes; // of USM
    bool (*open)(struct scale *scale);   // before all objects; may be NULL
    void (*close)(struct scale *scale);  // after all objects; may be NULL
    bool (*settle)(struct scale *scale); // after the operations with so many objects; may be NULL
    scale_fn *make;                      // the object at `i`
    scale_fn *drop;                      // NULL: `make` is no operation
    // Besides: one more object, made and released; an object in between, released and made anew.
    struct scale_operation operations[SCALE_MAX_OPERATIONS - 2];
};

// Ends with a case without name.
extern const struct scale_case scale_objects[];  // of scale_objects.c
extern const struct scale_case scale_programs[]; // of scale_programs.c
extern const struct scale_case scale_memory[];   // of scale_memory.c
extern const struct scale_case scale_graphs[];   // of scale_graphs.c
extern const struct scale_case scale_ur[];       // of scale_ur.c

// Types of objects that there are never many of, or that no host can make, and why. Ends with NULL.
struct scale_left_out {
    const char *type;
    const char *reason;
};
extern const struct scale_left_out scale_left_out[];

struct scale_cell {
    const char *title; // NULL: the case has no more operations
    double own[2];     // instructions of few and of many
};

struct scale_result {
    const struct scale_case *info; // NULL: there are no more
    struct scale_cell cells[SCALE_MAX_OPERATIONS];
};

// The name of a case; NULL: there are no more.
const char *bench_scale_name(size_t index);
// Measures the chosen cases, and prints them, as JSON or in Markdown. Returns an exit code: whether
// all are within the limit.
int bench_scale(struct bench *bench, const char *folder);
// The part that runs under callgrind.
int bench_scale_run_counted(struct bench *bench);

// Of scale_report.c.
bool scale_is_within_limit(const struct scale_cell *cell);
void scale_report_table(const struct scale_result *results);
void scale_report_json(const struct scale_result *results);

// ---- Of scale_objects.c ----

// Calls of zepi's table that several cases have. False: it failed.

static inline bool scale_ok(zepi_result_t result)
{
    return result == ZEPI_SUCCESS;
}

static inline zepi_context_t scale_context(const struct scale *scale)
{
    return scale->row->host.context;
}

// The release of the object at `i`.
bool scale_release(struct scale *scale, unsigned i);
// The release of what the case keeps for all objects.
void scale_close_common(struct scale *scale);

// A launch of a kernel with 3 arguments: by its object, or by name from a module or a unit.
struct scale_launch {
    zepi_queue_t queue;   // NULL: the row's
    zepi_kernel_t kernel; // NULL: the row's, unless there is a module or a unit
    zepi_module_t module;
    zepi_unit_t unit;
    zepi_buffer_t buffer; // NULL: the first argument is USM
    int value;            // of the third one
    zepi_event_t wait;    // or NULL
    zepi_event_t *out_event;
};
bool scale_launch(const struct scale *scale, struct scale_launch launch);
// Its description, for graphs. `launch` and `arguments` have to live as long.
zepi_launch_desc_t scale_describe(const struct scale *scale, const struct scale_launch *launch,
                                  zepi_argument_t arguments[3]);

bool scale_launch_in_queue(struct scale *scale, unsigned i);
// The event of a launch.
bool scale_make_event(struct scale *scale, unsigned i);

bool scale_create_queue(const struct scale *scale, zepi_queue_flags_t flags, void **out_queue);

// In the row's queue.
bool scale_copy(const struct scale *scale, void *to, const void *from);

// Allocates and frees 4 KiB of device memory; `context` NULL: the row's.
bool scale_allocate_in(const struct scale *scale, zepi_context_t context);
bool scale_allocate(struct scale *scale, unsigned i);

#endif
