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
    CPU_COMMAND_COPY,
    CPU_COMMAND_FILL,
    CPU_COMMAND_RESET_EVENT,
    CPU_COMMAND_WRITE_TIMESTAMP,
    CPU_COMMAND_QUERY_TIMESTAMPS,
    CPU_COMMAND_IMAGE_COPY,
    CPU_COMMAND_HOST_FUNCTION,
    // The end of a closed list, behind its copies. Around those that an immediate list executes:
    // the waits, and one more end with the signal, whose times are those of all the lists.
    CPU_COMMAND_END,
    CPU_COMMAND_BEGIN,
};

struct cpu_wait {
    struct cpu_event *event; // borrowed: the application keeps it until the command is done; NULL:
    uint64_t goal;           // nothing to wait for, only in mutable lists
};

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
    const ze_group_count_t *counts; // indirect: borrowed, read on execution; NULL: group_count
    const uint32_t *limit;          // several indirect launches: borrowed; the launch counts if its
    uint32_t position;              // position is below *limit
};

struct cpu_image_copy {
    struct cpu_image *source, *target; // borrowed; NULL: `pointer` stands in
    void *pointer;
    size_t source_origin[3], target_origin[3], region[3];
    size_t row_bytes, slice_bytes;
};

// One thing for an engine to do. Made by cpu_command_create, filled by the append function, then
// owned by the list that recorded it, and immutable, or by the stream that executes it. A closed
// list is executed as copies of its commands.
struct cpu_command {
    struct cpu_command *next;
    struct cpu_stream *stream; // borrowed; that executes it
    struct cpu_command *end;   // of a copy: the end of its list, behind it; borrowed
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
            struct cpu_copy_region region; // of a copy
            size_t size_bytes;             // of a fill, as is the next
            size_t pattern_bytes;          // `source` is in the command's own memory
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
            struct cpu_command *end; // of all the lists, borrowed
        } begin;
        struct {
            struct cpu_list *list;   // borrowed; its count of uses is raised while copies are left
            uint32_t left;           // copies that are not done
            bool is_reordered;       // copies that nothing orders are executed in another order
            uint64_t start;          // behind BEGIN: when that was
            struct cpu_fence *fence; // borrowed, may be NULL
        } end;
    } u;
    _Alignas(16) unsigned char memory[];
};

// A command with room for `extra_bytes` behind its waits. NULL without memory.
struct cpu_command *cpu_command_create(enum cpu_command_kind kind, uint32_t wait_count,
                                       size_t extra_bytes);

// A piece of the command's own memory, aligned to 16 bytes; the sum may not exceed what was asked
// for, each piece rounded up.
void *cpu_command_take(struct cpu_command *command, size_t size_bytes);

// A copy for one execution, whose list ends with `end`. It shares the objects and the memory of the
// recorded command, which stay while the list is used. NULL without memory.
struct cpu_command *cpu_command_copy(const struct cpu_command *recorded, struct cpu_command *end);

// Releases the objects that it holds. NULL is fine.
void cpu_command_destroy(struct cpu_command *command);

// Takes the command past the waits that are over. Whether all are; else `waited` is the number of
// the one that is not.
bool cpu_command_is_ready(struct cpu_command *command);

// Commands that are linked by `next`. A zeroed struct is an empty chain.
struct cpu_chain {
    struct cpu_command *head, *tail; // owned; `tail` counts where `head` is not NULL
};

void cpu_chain_append(struct cpu_chain *chain, struct cpu_chain more);
void cpu_chain_destroy(struct cpu_chain *chain);

// Repeats the pattern; a last piece may be cut.
void cpu_fill(void *target, size_t size_bytes, const void *pattern, size_t pattern_bytes);

void cpu_copy_region(void *target, const void *source, const struct cpu_copy_region *region);

#endif
