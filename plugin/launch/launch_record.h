// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_LAUNCH_RECORD_H
#define ZEPI_LAUNCH_LAUNCH_RECORD_H

#include "core/alloc.h"
#include "launch/argument.h"

struct zepi_device;
struct zepi_module;

// A launch as all code below the front ends has it. A front end fills it in one pass, and lends it
// for one call; graphs keep a record of it.
struct zepi_launch {
    struct zepi_arg *args;
    uint32_t arg_count;
    uint32_t use_count;
    struct zepi_arg_use *uses;
    size_t large_bytes;         // of arguments that have more than 8, with gaps between them
    struct zepi_module *module; // that the kernel is of; NULL: of a unit
    uint32_t work_dim;          // 1 to 3
    zepi_launch_flags_t flags;
    struct zepi_target target; // its code on the device
    // Of `work_dim` dimensions. Borrowed, as args and uses are; in a record they lie behind it.
    const size_t *global_size;
    const size_t *group_size; // zeros: suggested by the driver
    const size_t *global_offset;
};

static const size_t zepi_no_sizes[3] = {0};

static inline struct zepi_device_kernel *zepi_launch_device_kernel(const struct zepi_launch *launch)
{
    return zepi_device_kernel_of(launch->target.device_kernel);
}

// Whether the kernel takes specialization constants through one more argument (emulation.h).
static inline bool zepi_launch_is_emulated(const struct zepi_launch *launch)
{
    return launch->target.image != NULL;
}

// Whether buffers among its arguments are brought to the device before it.
static inline bool zepi_launch_has_moving_buffers(const struct zepi_launch *launch)
{
    for (uint32_t i = 0; i < launch->use_count; i++) {
        const struct zepi_buffer *buffer = launch->uses[i].part.buffer;
        if (buffer && !buffer->fixed)
            return true;
    }
    return false;
}

// Checks the sum of local memory that the kernel declares and its arguments have. An excess may be
// noticed late, or never (quirk local-excess-unnoticed).
zepi_result_t zepi_launch_check_slm(const struct zepi_launch *launch,
                                    const struct zepi_device *device);

static inline bool zepi_sizes_are_equal(uint32_t work_dim, const size_t *a, const size_t *b)
{
    for (uint32_t i = 0; i < work_dim; i++) {
        if (a[i] != b[i])
            return false;
    }
    return true;
}

// ---- Filling in ----

// The memory of a launch that is filled in, on the stack of one call.
#define ZEPI_LAUNCH_INLINE_ARGS 32
struct zepi_launch_room {
    struct zepi_arg args[ZEPI_LAUNCH_INLINE_ARGS];
    struct zepi_arg_use uses[ZEPI_LAUNCH_INLINE_ARGS];
};

zepi_result_t zepi_launch_room_grow(struct zepi_launch *launch, uint32_t count)
    __attribute__((cold, noinline));
// Room for `count` arguments, to be filled in by index. On success to be finished.
static inline zepi_result_t zepi_launch_room_init(struct zepi_launch_room *room,
                                                  struct zepi_launch *launch, uint32_t count)
{
    launch->args = room->args;
    launch->uses = room->uses;
    launch->arg_count = count;
    launch->use_count = 0;
    launch->large_bytes = 0;
    return __builtin_expect(count > ZEPI_LAUNCH_INLINE_ARGS, 0)
               ? zepi_launch_room_grow(launch, count)
               : ZEPI_SUCCESS;
}
// Copies arguments of another launch, to where there is room.
static inline void zepi_launch_copy_values(struct zepi_launch *to, const struct zepi_launch *from)
{
    const struct zepi_arg *from_args = from->args;
    struct zepi_arg *to_args = to->args;
    const uint32_t arg_count = from->arg_count;
    for (uint32_t i = 0; i < arg_count; i++)
        to_args[i] = from_args[i];
}
// Copies the arguments with their uses.
static inline void zepi_launch_copy_args(struct zepi_launch *to, const struct zepi_launch *from)
{
    zepi_launch_copy_values(to, from);
    const uint32_t use_count = from->use_count;
    for (uint32_t i = 0; i < use_count; i++)
        to->uses[i] = from->uses[i];
    to->use_count = use_count;
}
static inline void zepi_launch_room_finish(const struct zepi_launch_room *room,
                                           const struct zepi_launch *launch)
{
    if (__builtin_expect(launch->args != room->args, 0))
        zepi_free(launch->args);
}

// The sizes of `work_dim` dimensions, 1 to 3, borrowed. NULL is no group size, or no offset.
static inline void zepi_launch_set_sizes(struct zepi_launch *launch, uint32_t work_dim,
                                         const size_t *global_size, const size_t *group_size,
                                         const size_t *global_offset)
{
    launch->work_dim = work_dim;
    launch->global_size = global_size;
    launch->group_size = group_size ? group_size : zepi_no_sizes;
    launch->global_offset = global_offset ? global_offset : zepi_no_sizes;
}

// Bytes as an argument, as zepi_arg_set_bytes takes them.
void zepi_launch_set_bytes(struct zepi_launch *launch, uint32_t index, const void *value,
                           size_t size_bytes);

// The object behind an argument that is set, once.
static inline void zepi_launch_add_use(struct zepi_launch *launch, uint32_t index,
                                       const struct zepi_arg_use *use)
{
    launch->uses[launch->use_count++] = *use;
    launch->args[index].use = (uint16_t)launch->use_count;
}

void zepi_launch_drop_use(struct zepi_launch *launch, uint32_t use);
// The argument is nothing yet, and uses nothing.
static inline void zepi_launch_clear_arg(struct zepi_launch *launch, uint32_t index)
{
    if (launch->args[index].use > 0)
        zepi_launch_drop_use(launch, launch->args[index].use);
    launch->args[index] = (struct zepi_arg){0};
}

// ---- Records ----

// A launch of one command, with copies of all that it needs, and references to module, target and
// objects. Constant while it is shared, but for `next`; any thread.
struct zepi_launch_record {
    struct zepi_launch_record *next; // of those that an update of a graph gives up
    atomic_uint references;
    bool is_plain;
    struct zepi_launch launch; // arguments, uses and bytes lie behind it
    size_t sizes[3][3];        // global size, group size and offset
};

// The record of a launch that was checked. NULL without memory (noted).
struct zepi_launch_record *zepi_launch_record_create(const struct zepi_launch *launch);
void zepi_launch_record_destroy(struct zepi_launch_record *record);

// Whether a record of it keeps a kernel without emulated constants, and nothing else.
static inline bool zepi_launch_is_plain(const struct zepi_launch *launch)
{
    return !launch->target.image && launch->use_count == 0 && launch->large_bytes == 0;
}
// Whether a record of it has the size of this plain one, and keeps the same.
static inline bool zepi_launch_record_has_form_of(const struct zepi_launch_record *record,
                                                  const struct zepi_launch *launch)
{
    return record->is_plain &&
           record->launch.target.device_kernel == launch->target.device_kernel &&
           record->launch.module == launch->module;
}

static inline bool zepi_launch_record_has_sizes_of(const struct zepi_launch_record *record,
                                                   const struct zepi_launch_record *other)
{
    const uint32_t work_dim = record->launch.work_dim;
    bool is_same = work_dim == other->launch.work_dim;
    for (uint32_t i = 0; i < work_dim && is_same; i++)
        is_same = record->sizes[0][i] == other->sizes[0][i] &&
                  record->sizes[1][i] == other->sizes[1][i] &&
                  record->sizes[2][i] == other->sizes[2][i];
    return is_same;
}

static inline void zepi_launch_record_copy_sizes(struct zepi_launch_record *record,
                                                 const struct zepi_launch *launch)
{
    const uint32_t work_dim = launch->work_dim;
    for (uint32_t i = 0; i < work_dim; i++) {
        record->sizes[0][i] = launch->global_size[i];
        record->sizes[1][i] = launch->group_size[i];
        record->sizes[2][i] = launch->global_offset[i];
    }
    record->launch.work_dim = work_dim;
}

// Makes a record that is not shared any more one of a launch of the same form. False: it is shared,
// or of another form, and stays as it is.
static inline bool zepi_launch_record_rewrite(struct zepi_launch_record *record,
                                              const struct zepi_launch *launch)
{
    // Acquire: others' reads are over.
    if (atomic_load_explicit(&record->references, memory_order_acquire) > 1 ||
        !zepi_launch_is_plain(launch) || !zepi_launch_record_has_form_of(record, launch))
        return false;
    zepi_launch_copy_values(&record->launch, launch);
    zepi_launch_record_copy_sizes(record, launch);
    record->launch.flags = launch->flags;
    return true;
}

static inline struct zepi_launch_record *
zepi_launch_record_retain(struct zepi_launch_record *record)
{
    // Relaxed: a reference is made from a reference.
    if (record)
        atomic_fetch_add_explicit(&record->references, 1, memory_order_relaxed);
    return record;
}
// NULL is fine.
static inline void zepi_launch_record_release(struct zepi_launch_record *record)
{
    // Acquire and release: others' reads are over before the memory goes.
    if (record && atomic_fetch_sub_explicit(&record->references, 1, memory_order_acq_rel) == 1)
        zepi_launch_record_destroy(record);
}

#endif
