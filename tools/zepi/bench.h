// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_H
#define ZEPI_TOOL_BENCH_H

#include "host.h"

// What zepi bench measures: operations in a loop. Each case is run with several counts; what it
// does before and after its loop falls out of the difference. What its loop does beside the
// operation is run by itself, and subtracted.

struct bench {
    struct host_device host; // with an in-order queue
    zepi_queue_t out_of_order;
    zepi_module_t input; // of kernels/bench.cl
    zepi_module_t executable;
    zepi_kernel_t three;
    zepi_kernel_t twelve;
    void *memory[4];
    struct plain *plain; // owned; of bench_plain.c
    void *state;         // of the case that runs: its adapter
};

struct bench_case {
    const char *row;                                  // who does it: "zepi", "Level Zero"
    const char *name;                                 // what is done, the same in every row
    bool (*run)(struct bench *bench, unsigned count); // false: the operation failed
    // The same loop with the same preparations, without the operation.
    bool (*loop)(struct bench *bench, unsigned count);
    bool has_launch; // measured without launch-with-arguments, too
};

// A loop that prepares nothing.
bool bench_empty_loop(struct bench *bench, unsigned count);

// Makes the compiler believe that something reads and writes what `pointer` points to.
static inline void bench_keep(const void *pointer)
{
    __asm__ volatile("" : : "r"(pointer) : "memory");
}

// Ended by a case without a name.
extern const struct bench_case bench_zepi_cases[];
extern const struct bench_case bench_plain_cases[];

// Frees what the plain cases made.
void bench_plain_finish(struct bench *bench);

// Half of the arguments differ from launch to launch.
#define BENCH_CHANGING(i) ((i)&1)

#endif
