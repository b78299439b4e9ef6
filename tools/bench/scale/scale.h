// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_SCALE_H
#define ZEPI_TOOL_BENCH_SCALE_H

#include "../operation/bench.h"

// The costs of operations while few and while many objects of a type are alive.

#define SCALE_FEW 200
#define SCALE_MANY 20000
// zepi's own instructions an operation at SCALE_MANY, in times those at SCALE_FEW.
#define SCALE_LIMIT 2.0
#define SCALE_MAX_OPERATIONS 8 // of a case
#define SCALE_MAX_CASES 64

struct zepi_row;
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
};

struct scale_case {
    const char *name;  // for the command line and scripts
    const char *title; // for people
    const char *types; // of objects that there are many of, as plugin/ names them; with spaces
    bool is_one_way;   // there is no `drop`, and `make` is no operation
    unsigned kind;     // of USM, or the flags of queues
    size_t size_bytes; // of USM
    bool (*open)(struct scale *scale);   // before all objects; may be NULL
    void (*close)(struct scale *scale);  // after all objects; may be NULL
    bool (*settle)(struct scale *scale); // after the operations with so many objects; may be NULL
    scale_fn *make;                      // the object at `i`
    scale_fn *drop;
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
int bench_scale(struct bench *bench, bool is_json, const char *folder);
// The part that runs under callgrind.
int bench_scale_run_counted(struct bench *bench);

// Of scale_report.c.
bool scale_is_within_limit(const struct scale_cell *cell);
void scale_report_table(const struct scale_result *results);
void scale_report_json(const struct scale_result *results);

#endif
