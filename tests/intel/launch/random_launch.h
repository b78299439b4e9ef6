// SPDX-License-Identifier: MIT
//
// Random launches of the kernels of tests/data/arguments.cl and empty.cl, and the payload that the
// GPU must get for each.
#ifndef ZEPI_TESTS_INTEL_RANDOM_LAUNCH_H
#define ZEPI_TESTS_INTEL_RANDOM_LAUNCH_H

#include "payload.h"

#define RANDOM_MEMORY_BYTES (1u << 20)

enum random_kernel { STORE_VALUES, SUM_GROUPS, STORE_IDS, EMPTY, RANDOM_KERNELS };
// The kernels' names; EMPTY is of the module "empty", the others of "arguments".
extern const char *const random_kernel_names[RANDOM_KERNELS];

struct random_launch {
    enum random_kernel kernel;
    char a; // the values of STORE_VALUES in its arguments' order
    short b;
    int c;
    long d;
    float e;
    int f[4];
    struct {
        char first;
        long second;
    } g;
    void *pointers[2]; // the pointers of all kernels
    size_t local_bytes;
    uint32_t work_dim;
    size_t global[3], local[3], offset[3]; // `local` is zero if the driver chooses
};

// Chooses a launch with pointers into `memory`, and writes down what it has to be on the GPU.
struct random_launch random_launch_choose(char *memory, struct payload_launch *out_expected);

#endif
