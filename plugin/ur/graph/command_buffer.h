// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_GRAPH_COMMAND_BUFFER_H
#define ZEPI_UR_GRAPH_COMMAND_BUFFER_H

#include "cache/mutex.h"
#include "ur/memory/mem.h"
#include "ur/program/kernel.h"

struct zepi_native_list;

// A command buffer is a list of commands with copies of their arguments, which every enqueue hands
// to the core one after the other, as if the host had. It keeps alive what its commands use:
// kernels and memory objects.
struct zepi_ur_command_buffer {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_device *device;   // borrowed
    bool is_updatable;
    bool is_in_order; // each command after the one before; else after its sync points
    bool is_profiled;
    // Guards what is below; allocation alone under it.
    struct zepi_mutex mutex;
    bool is_finalized;                  // the list of commands does not change any more
    struct zepi_ur_recorded **commands; // owned list of references; sync points are its indices
    size_t command_count;
    size_t command_capacity;
    uint32_t most_waits;             // of any command
    struct zepi_native_list *native; // borrowed; what a host's function records to at the moment
    // Held while an execution is enqueued: the next one follows it, on whatever queue. Guards
    // `last`.
    struct zepi_mutex turn;
    zepi_event_t last; // owned reference; of the last execution; NULL: there was none
};

enum zepi_ur_recorded_kind {
    ZEPI_UR_RECORDED_COPY,
    ZEPI_UR_RECORDED_COPY_RECT,
    ZEPI_UR_RECORDED_FILL,
    ZEPI_UR_RECORDED_PREFETCH,
    ZEPI_UR_RECORDED_ADVISE,
    ZEPI_UR_RECORDED_LAUNCH,
    ZEPI_UR_RECORDED_NATIVE,
};

// A command, whose handle the host gets for updates. It goes with its command buffer. Written only
// before it is appended, but for `launch`.
struct zepi_ur_recorded {
    struct zepi_object object;
    struct zepi_ur_command_buffer *buffer; // borrowed: holds the command
    enum zepi_ur_recorded_kind kind;
    bool is_awaited;                           // by a later command
    uint32_t wait_count;                       // in buffers that are not in order
    ur_exp_command_buffer_sync_point_t *waits; // owned
    struct zepi_ur_mem *mems[2];               // references; `to` and `from` may lie in them
    // Copies, fills, hints.
    char *to;
    const char *from;
    size_t size_bytes;
    size_t box[3]; // rectangles
    zepi_rect_t to_rect;
    zepi_rect_t from_rect;
    void *pattern; // owned
    size_t pattern_size_bytes;
    uint32_t flags; // of hints
    // Launches. The state is replaced by updates, under the buffer's mutex.
    struct zepi_ur_recorded_launch *launch; // one reference
    struct zepi_kernel **kernels;           // owned list of references: that it may be of
    uint32_t kernel_count;
    struct zepi_native_list *native; // owned
};

extern const struct zepi_type zepi_ur_command_buffer_type;
extern const struct zepi_type zepi_ur_recorded_type;

static inline struct zepi_ur_command_buffer *
zepi_ur_command_buffer(ur_exp_command_buffer_handle_t handle)
{
    return (struct zepi_ur_command_buffer *)handle;
}

static inline ur_result_t zepi_ur_check_command_buffer(ur_exp_command_buffer_handle_t handle)
{
    return zepi_ur_check(handle, &zepi_ur_command_buffer_type,
                         UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_EXP);
}

// ---- Appending ----

// The frame around every append. First the handle, the lists and what is not supported are checked;
// then the caller makes its command, and fills it; then that is appended, or released if it cannot
// be.
//
//     struct zepi_ur_append append = {...};
//     ur_result_t result = zepi_ur_append_begin(&append);
//     ... more checks ...
//     if (result != UR_RESULT_SUCCESS)
//         return result;
//     struct zepi_ur_recorded *recorded = zepi_ur_append_make(&append, kind);
//     if (recorded)
//         recorded->... = ...;
//     return zepi_ur_append_end(&append, recorded);
struct zepi_ur_append {
    ur_exp_command_buffer_handle_t handle;
    uint32_t wait_count;
    const ur_exp_command_buffer_sync_point_t *waits;
    uint32_t event_count;
    const ur_event_handle_t *events;
    ur_event_handle_t *out_event;
    ur_exp_command_buffer_sync_point_t *out_sync_point;  // NULL: none is wanted
    ur_exp_command_buffer_command_handle_t *out_command; // NULL: none is wanted
    struct zepi_ur_command_buffer *buffer;               // once it has begun
};

ur_result_t zepi_ur_append_begin(struct zepi_ur_append *append);
// NULL without memory (noted).
struct zepi_ur_recorded *zepi_ur_append_make(const struct zepi_ur_append *append,
                                             enum zepi_ur_recorded_kind kind);
// `recorded` is consumed; NULL: there was no memory.
ur_result_t zepi_ur_append_end(const struct zepi_ur_append *append,
                               struct zepi_ur_recorded *recorded);

#endif
