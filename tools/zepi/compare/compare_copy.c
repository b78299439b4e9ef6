// SPDX-License-Identifier: MIT
// How fast copies are: several, with one finish, against memcpy of the same memory.
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST ((size_t)16 << 20)
#define SIZES 3
#define DIRECTIONS 3

struct copies {
    zepi_queue_t queue;
    void *to;
    const void *from;
    size_t size_bytes;
    unsigned count;
};

static bool run_zepi(const void *self)
{
    const struct copies *copies = self;
    const zepi_wait_list_t no_wait = {0};
    bool is_good = true;
    for (unsigned i = 0; i < copies->count && is_good; i++)
        is_good = zepi.queue_copy(copies->queue, copies->to, copies->from, copies->size_bytes,
                                  no_wait, NULL) == ZEPI_SUCCESS;
    return is_good && zepi.queue_finish(copies->queue) == ZEPI_SUCCESS;
}

static bool run_memcpy(const void *self)
{
    const struct copies *copies = self;
    for (unsigned i = 0; i < copies->count; i++) {
        memcpy(copies->to, copies->from, copies->size_bytes);
        __asm__ volatile("" : : "r"(copies->to) : "memory");
    }
    return true;
}

static bool compare_memory(struct compare *compare, void *host, void *const device[2])
{
    static const char *const ways[] = {"zepi", "memcpy"};
    static const struct {
        size_t size_bytes;
        unsigned count;
        const char *what[DIRECTIONS];
    } sizes[SIZES] = {
        {64, 1000, {"64 B host to device", "64 B device to host", "64 B device to device"}},
        {(size_t)64 << 10,
         200,
         {"64 KiB host to device", "64 KiB device to host", "64 KiB device to device"}},
        {LARGEST,
         2,
         {"16 MiB host to device", "16 MiB device to host", "16 MiB device to device"}}};
    void *const to[DIRECTIONS] = {device[0], host, device[1]};
    const void *const from[DIRECTIONS] = {host, device[0], device[0]};
    struct copies copies[SIZES * DIRECTIONS];
    struct compare_row rows[SIZES * DIRECTIONS];
    for (size_t i = 0; i < SIZES * DIRECTIONS; i++) {
        const size_t size = i / DIRECTIONS;
        const size_t direction = i % DIRECTIONS;
        copies[i] = (struct copies){compare->host.queue, to[direction], from[direction],
                                    sizes[size].size_bytes, sizes[size].count};
        rows[i] = (struct compare_row){.what = sizes[size].what[direction],
                                       .run = {run_zepi, run_memcpy},
                                       .self = {&copies[i], &copies[i]},
                                       .count = copies[i].count,
                                       .size_bytes = copies[i].size_bytes};
    }
    return compare_in_turns(compare, "copies, one finish", ways, rows, SIZES * DIRECTIONS);
}

bool compare_copy(struct compare *compare)
{
    void *host = malloc(LARGEST);
    void *device[2] = {0};
    bool is_good = host != NULL;
    for (int i = 0; i < 2 && is_good; i++)
        is_good = zepi.usm_allocate(compare->host.context, compare->host.device, ZEPI_USM_DEVICE,
                                    LARGEST, 0, &device[i]) == ZEPI_SUCCESS;
    if (!is_good) {
        host_fail("memory to copy");
    } else {
        memset(host, 1, LARGEST);
        is_good = compare_memory(compare, host, device);
    }
    for (int i = 0; i < 2; i++) {
        if (device[i])
            zepi.usm_free(compare->host.context, device[i]);
    }
    free(host);
    return is_good;
}
