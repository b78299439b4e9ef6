// SPDX-License-Identifier: MIT
//
// Random copies from and to memory that the driver did not allocate, while what writes it is still
// pending, compared with a model that does one after the other.
#ifndef ZEPI_TESTS_INTEL_COPY_HOST_COPIES_H
#define ZEPI_TESTS_INTEL_COPY_HOST_COPIES_H

#include "intel.h"

enum copy_queue {
    COPIES_IN_ORDER,
    COPIES_ANY_ORDER,
    COPIES_IN_ORDER_TIMED,
    COPIES_ANY_ORDER_TIMED,
    COPIES_EXPORTED, // in order, and the host has the list's handle
    COPIES_IN_TURNS, // two queues in order
    COPY_QUEUES,
};

#define COPY_IMAGE_WIDTH 32
#define COPY_IMAGE_HEIGHT 16
#define COPY_IMAGE_BYTES (4 * COPY_IMAGE_WIDTH * COPY_IMAGE_HEIGHT)

// An interface: its memory, its one image of 32-bit pixels, and one queue, or two, at a time with a
// gate: an event that the host signals.
struct copy_door {
    void (*set_up)(void);
    void (*tear_down)(void);
    void *(*allocate)(unsigned kind, size_t bytes); // 0: of the device, 1: of the host, 2: shared
    void (*free)(void *memory);
    void (*begin)(enum copy_queue kind);
    void (*end)(void);
    void (*close_gate)(void); // later commands wait for it
    void (*open_gate)(void);
    void (*finish)(void);
    void (*order)(void); // later commands follow the earlier ones
    // `waits`: has the gate in its wait list.
    void (*copy)(void *to, const void *from, size_t bytes, bool waits);
    void (*copy_rows)(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                      size_t height, bool waits);
    void (*write_image)(const void *from);
    void (*read_image)(void *to, bool waits);
    bool (*has_host_functions)(void);
    void (*call_host)(void (*function)(void *), void *data);
    // A graph of one copy, and an execution of it.
    void (*record)(void *to, const void *from, size_t bytes);
    void (*execute)(void);
};

void host_copies_run(const struct copy_door *door);

#endif
