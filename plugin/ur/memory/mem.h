// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_MEMORY_MEM_H
#define ZEPI_UR_MEMORY_MEM_H

#include "copy/buffer_use.h"
#include "core/mutex.h"
#include "launch/argument.h"
#include "memory/image.h"
#include "queue/progress.h"
#include "ur/handles.h"

// A memory object: a buffer, a part of one, or an image. Constant once it is made, but for `maps`;
// any thread.
struct zepi_ur_mem {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_ur_mem *parent;   // retained; of a part of a buffer
    struct zepi_buffer *buffer;   // retained; NULL: an image
    struct zepi_image *image;     // retained; NULL: a buffer
    size_t offset_bytes;          // in the whole buffer
    size_t size_bytes;
    ur_mem_flags_t flags;
    ur_image_format_t image_format;
    char *host; // borrowed; UR_MEM_FLAG_USE_HOST_POINTER: where this object is mapped to
    struct zepi_mutex mutex;  // guards `maps`; nothing is called under it
    struct zepi_ur_map *maps; // owned
};

extern const struct zepi_type zepi_ur_mem_type;

ZEPI_UR_DEFINE_HANDLE(sampler, ur_sampler_handle_t, zepi_sampler, UR_RESULT_ERROR_INVALID_SAMPLER)
ZEPI_UR_DEFINE_HANDLE(mem, ur_mem_handle_t, zepi_ur_mem, UR_RESULT_ERROR_INVALID_MEM_OBJECT)

// A part of a buffer that the host sees at `address`. The buffer has a reference until the host
// unmaps it, and so has a graph that maps or unmaps it with each execution.
struct zepi_ur_map {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_ur_map *next;
    char *address;
    size_t offset_bytes;
    size_t size_bytes;
    bool is_written; // the host may change it
    bool is_staging; // memory at `address` is owned
};

extern const struct zepi_type zepi_ur_map_type;

// An object without memory. One reference, or NULL (noted).
struct zepi_ur_mem *zepi_ur_mem_make(struct zepi_context *context, ur_mem_flags_t flags);

// A buffer that commands of the context can use: its own, or of another context of the platform
// with one place for its life, since pointers are the same in all of them.
ur_result_t zepi_ur_check_buffer(ur_mem_handle_t handle, const struct zepi_context *context);
ur_result_t zepi_ur_check_image(ur_mem_handle_t handle, const struct zepi_context *context);

// A command of the queue that uses the buffer has been enqueued: a buffer of another context, which
// does not know that, stays until the command is complete.
static inline void zepi_ur_hold_foreign(struct zepi_queue *queue, struct zepi_ur_mem *mem)
{
    if (__builtin_expect(mem->context != queue->context, 0))
        zepi_queue_release_later(queue, mem);
}

// A flag of `flags` says what the host pointer is for, or there is neither.
ur_result_t zepi_ur_check_host_pointer(ur_mem_flags_t flags, const void *host);
// `size` bytes from `offset` on, inside the buffer.
ur_result_t zepi_ur_check_buffer_range(const struct zepi_ur_mem *mem, size_t offset, size_t size);

// Some bytes of a buffer or of a part of one.
static inline struct zepi_buffer_part zepi_ur_buffer_part(const struct zepi_ur_mem *mem,
                                                          size_t offset, size_t size)
{
    return (struct zepi_buffer_part){mem->buffer, mem->offset_bytes + offset, size};
}

// Its address in commands of a device of its context, without its contents.
ur_result_t zepi_ur_buffer_address(const struct zepi_ur_mem *mem, const struct zepi_device *device,
                                   char **out_address);

// An argument of a kernel on a device of the context. NULL is a null pointer, which uses nothing.
ur_result_t zepi_ur_read_mem_arg(ur_mem_handle_t handle, const struct zepi_context *context,
                                 const struct zepi_device *device, struct zepi_arg *out_arg,
                                 struct zepi_arg_use *out_use);
ur_result_t zepi_ur_read_sampler_arg(ur_sampler_handle_t handle, const struct zepi_context *context,
                                     struct zepi_arg *out_arg);

#endif
