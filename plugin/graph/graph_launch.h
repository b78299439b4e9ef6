// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_GRAPH_LAUNCH_H
#define ZEPI_GRAPH_GRAPH_LAUNCH_H

#include "copy/buffer_use.h"
#include "launch/launch.h"

// Memory, or another object, that a recorded command uses.
struct zepi_graph_memory {
    void *object;                 // owned reference; NULL: none
    struct zepi_buffer_part part; // the bytes that a device uses; no buffer: it does not move
};

// What differs between two launches of a command: bits of arguments, the last of which stands for
// all further ones, and these.
#define ZEPI_GRAPH_CHANGED_ARGUMENTS 61
#define ZEPI_GRAPH_CHANGED_OFFSET (1ull << 61)
#define ZEPI_GRAPH_CHANGED_SIZES (1ull << 62) // or the offset
#define ZEPI_GRAPH_CHANGED_KERNEL (1ull << 63)
static inline uint64_t zepi_graph_changed_argument(uint32_t index)
{
    return 1ull << (index < ZEPI_GRAPH_CHANGED_ARGUMENTS ? index
                                                         : ZEPI_GRAPH_CHANGED_ARGUMENTS - 1);
}

// A launch with copies of all that it needs. Recordings hold it for its kernel and its objects, so
// these stay; arguments without objects, and sizes, are changed by updates (launch_update.h).
struct zepi_graph_launch {
    atomic_uint references;
    bool is_in_arena;                 // its memory goes with the graph
    bool moves;                       // a buffer among its arguments does
    bool has_objects;                 // `memory` has
    bool is_draft;                    // of the update that is being made, which alone has it
    struct zepi_kernel *kernel;       // retained
    zepi_launch_desc_t desc;          // arguments are the ones below
    struct zepi_graph_memory *memory; // of each argument
    zepi_argument_t arguments[];      // then `memory`, then the bytes of values
};

// How many zeroed bytes a launch with these arguments, which are to be read to it, takes up. 0:
// there is no memory of that size.
size_t zepi_graph_launch_size(const struct zepi_argument_list *list);
// Fills in the rest of a launch whose arguments were read, with one reference. `memory`: that of
// each argument, without references; NULL: that of the buffers, images and samplers among them.
void zepi_graph_launch_init(struct zepi_graph_launch *launch, struct zepi_kernel *kernel,
                            const struct zepi_launch *from, const struct zepi_graph_memory *memory);

// The launch with another kernel, number of arguments, and argument, if `index` is below the
// number. `argument_memory` without a reference, or NULL. Further arguments are gone; new ones are
// values without bytes. NULL without memory (noted).
struct zepi_graph_launch *
zepi_graph_launch_create_changed(const struct zepi_graph_launch *from, struct zepi_kernel *kernel,
                                 uint32_t count, uint32_t index, const zepi_argument_t *argument,
                                 const struct zepi_graph_memory *argument_memory);

// ---- Changes ----

// The first argument from `index` on that was changed; a number above all if there is none.
static inline uint32_t zepi_graph_next_changed(uint64_t changes, uint32_t index)
{
    if (index >= ZEPI_GRAPH_CHANGED_ARGUMENTS)
        return changes & zepi_graph_changed_argument(index) ? index : UINT32_MAX;
    changes &= ZEPI_GRAPH_CHANGED_OFFSET - 1;
    return changes >> index ? index + (uint32_t)__builtin_ctzll(changes >> index) : UINT32_MAX;
}

static inline bool zepi_graph_has_bytes(const zepi_argument_t *argument)
{
    return argument->kind == ZEPI_ARGUMENT_VALUE && argument->value;
}
// Room for a value's bytes, such that the next one is aligned, too.
#define ZEPI_GRAPH_VALUE_ALIGNMENT 8
static inline size_t zepi_graph_room_bytes(size_t size_bytes)
{
    return (size_bytes + ZEPI_GRAPH_VALUE_ALIGNMENT - 1) / ZEPI_GRAPH_VALUE_ALIGNMENT *
           ZEPI_GRAPH_VALUE_ALIGNMENT;
}
// Whether an argument, which has bytes if it is a value, can take the place of the launch's.
static inline bool zepi_graph_launch_has_room(const struct zepi_graph_launch *launch,
                                              uint32_t index, const zepi_argument_t *argument)
{
    const zepi_argument_t *own = &launch->arguments[index];
    return argument->kind != ZEPI_ARGUMENT_VALUE ||
           (zepi_graph_has_bytes(own) &&
            argument->size_bytes <= zepi_graph_room_bytes(own->size_bytes));
}
// Copies such an argument.
static inline void zepi_graph_launch_set_argument(struct zepi_graph_launch *launch, uint32_t index,
                                                  const zepi_argument_t *argument)
{
    zepi_argument_t *own = &launch->arguments[index];
    if (argument->kind == ZEPI_ARGUMENT_VALUE) {
        memcpy((void *)own->value, argument->value, argument->size_bytes);
        own->size_bytes = argument->size_bytes;
    } else {
        *own = *argument;
    }
}
// The memory of an argument, without a reference, or NULL. Of a draft.
void zepi_graph_launch_set_memory(struct zepi_graph_launch *launch, uint32_t index,
                                  const struct zepi_graph_memory *memory);
// Whether the launch has this argument. A pointer or a buffer never counts as the same: the memory
// there may be another one, of which the driver has to know.
bool zepi_graph_launch_has_argument(const struct zepi_graph_launch *launch,
                                    const struct zepi_device_kernel *device_kernel, uint32_t index,
                                    const zepi_argument_t *argument,
                                    const struct zepi_graph_memory *memory);
// What differs in work sizes and offset.
uint64_t zepi_graph_compare_sizes(const zepi_launch_desc_t *old, const zepi_launch_desc_t *desc);
// What differs in all.
uint64_t zepi_graph_launch_compare(const struct zepi_graph_launch *old,
                                   const struct zepi_graph_launch *launch,
                                   const struct zepi_device_kernel *device_kernel);

static inline struct zepi_graph_launch *zepi_graph_launch_retain(struct zepi_graph_launch *launch)
{
    // Relaxed: a reference is made from a reference.
    if (launch)
        atomic_fetch_add_explicit(&launch->references, 1, memory_order_relaxed);
    return launch;
}
void zepi_graph_launch_release(struct zepi_graph_launch *launch); // NULL is fine

#endif
