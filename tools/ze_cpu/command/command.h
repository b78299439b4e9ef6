// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_COMMAND_H
#define ZE_CPU_COMMAND_H

#include "event/event.h"

#include <stddef.h>
#include <stdint.h>

struct cpu_program_kernel;
struct cpu_list;
struct cpu_fence;
struct cpu_stream;

enum cpu_command_kind {
    CPU_COMMAND_BARRIER, // nothing but its waits and its signal
    CPU_COMMAND_LAUNCH,
    CPU_COMMAND_LAUNCH_INDIRECT,
    CPU_COMMAND_COPY,
    CPU_COMMAND_FILL,
    CPU_COMMAND_COPY_REGION,
    CPU_COMMAND_RESET_EVENT,
    CPU_COMMAND_WRITE_TIMESTAMP,
    CPU_COMMAND_QUERY_TIMESTAMPS,
    CPU_COMMAND_IMAGE_COPY,
    CPU_COMMAND_HOST_FUNCTION,
    CPU_COMMAND_EXECUTE, // a closed list: queues and append-command-lists only
    // Around closed lists that an immediate one executes: the waits, and the signal, whose times
    // are those of all the lists.
    CPU_COMMAND_BEGIN_LISTS,
    CPU_COMMAND_END_LISTS,
};

struct cpu_wait {
    struct cpu_event *event; // borrowed: the application keeps it until the command is done; NULL:
    uint64_t goal;           // nothing to wait for, only in mutable lists
};

// Whether each execution of a recorded wait has a goal of its own.
static inline bool cpu_wait_counts(const struct cpu_wait *wait)
{
    return wait->event != NULL && wait->event->is_counter_based;
}

struct cpu_copy_region {
    size_t width_bytes, height, depth;
    size_t source_row_bytes, source_slice_bytes;
    size_t target_row_bytes, target_slice_bytes;
};

struct cpu_launch {
    struct cpu_program_kernel *kernel; // retained
    uint32_t group_size[3];
    uint32_t group_count[3];
    uint32_t offset[3];
    uint32_t argument_bytes;
    unsigned char *arguments;       // in the command's own memory; laid out as in kernel.h
    const ze_group_count_t *counts; // indirect: borrowed, read on execution
    const uint32_t *limit;          // several indirect launches: borrowed; the launch counts if its
    uint32_t position;              // position is below *limit
};

struct cpu_image_copy {
    struct cpu_image *source, *target; // borrowed; NULL: `pointer` stands in
    void *pointer;
    size_t source_origin[3], target_origin[3], region[3];
    size_t row_bytes, slice_bytes;
};

// A command of a closed list in one of its executions.
struct cpu_recorded {
    const struct cpu_command *command; // borrowed
    const uint64_t *goals;             // of the counter-based ones among its waits that are left
    uint32_t waited;                   // waits that are over
};

// One thing for an engine to do. Made by cpu_command_create, filled by the append function, then
// owned by the list that recorded it, and immutable, or by the stream that executes it.
struct cpu_command {
    struct cpu_command *next;
    struct cpu_stream *stream; // borrowed; that executes it
    enum cpu_command_kind kind;
    uint32_t wait_count;
    uint32_t waited;          // waits that are over
    struct cpu_wait *waits;   // in the command's own memory
    struct cpu_event *signal; // borrowed, may be NULL
    size_t used_bytes;
    union {
        struct cpu_launch launch;
        struct {
            const void *source;
            void *target;
            size_t size_bytes;
            size_t pattern_bytes; // fill: `source` is in the command's own memory
            struct cpu_copy_region region;
        } copy;
        struct {
            struct cpu_event *event;
        } reset;
        struct {
            struct cpu_event **events; // in the command's own memory
            uint32_t count;
            void *target;
            const size_t *offsets; // in the command's own memory, or NULL
        } timestamps;
        struct cpu_image_copy image;
        struct {
            void (*function)(void *user);
            void *user;
        } host;
        struct {
            struct cpu_list *list; // borrowed; its count of uses was raised
            const uint64_t *goals; // for the counter-based waits from `rest` on, in order; own
                                   // memory
            const struct cpu_command *rest; // of the list, behind the window; borrowed
            struct cpu_recorded *window;    // any of these may be next; own memory
            size_t window_count;
            ze_result_t result;      // of what is done
            struct cpu_fence *fence; // borrowed, may be NULL
        } execute;
        struct {
            struct cpu_command *end; // of BEGIN_LISTS: the END_LISTS behind it, borrowed
            uint64_t start;          // of END_LISTS: when the first list began
        } lists;
    } u;
    _Alignas(16) unsigned char memory[];
};

// A command with room for `extra_bytes` behind its waits. NULL without memory.
struct cpu_command *cpu_command_create(enum cpu_command_kind kind, uint32_t wait_count,
                                       size_t extra_bytes);

// A piece of the command's own memory, aligned to 16 bytes; the sum may not exceed what was asked
// for, each piece rounded up.
void *cpu_command_take(struct cpu_command *command, size_t size_bytes);

// Releases the objects that it holds. NULL is fine.
void cpu_command_destroy(struct cpu_command *command);

// Repeats the pattern; a last piece may be cut.
void cpu_fill(void *target, size_t size_bytes, const void *pattern, size_t pattern_bytes);

void cpu_copy_region(void *target, const void *source, const struct cpu_copy_region *region);

#endif
