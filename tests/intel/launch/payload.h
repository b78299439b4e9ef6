// SPDX-License-Identifier: MIT
//
// Compares launches with the commands that reached the GPU. Where a kernel's arguments lie in a
// command's payload is not known, but for each kernel and argument it is one place: the place at
// which every launch's bytes are that launch's value. There is none if one value is wrong.
#ifndef ZEPI_TESTS_INTEL_PAYLOAD_H
#define ZEPI_TESTS_INTEL_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_VALUES 12
#define PAYLOAD_KERNELS 8

struct payload_launch {
    int kernel;         // below PAYLOAD_KERNELS; one number a kernel
    uint32_t global[3]; // in work-items
    uint32_t local[3];  // zero: suggested
    bool has_local;     // the kernel asks for its group size, which is in the payload therefore
    size_t local_bytes; // of local memory, 0: none
    int value_count;
    struct payload_value {
        size_t size;
        uint8_t bytes[16];
    } values[PAYLOAD_VALUES];
};

// Adds a value; a kernel's launches add theirs in the same order.
void payload_expect(struct payload_launch *launch, const void *value, size_t size);

// Reads the trace: it has exactly these launches, in this order. Ends the story where one differs.
void payload_judge(struct payload_launch *launches, size_t count);

#endif
