// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_BUFFER_H
#define ZEPI_MEMORY_BUFFER_H

#include "core/mutex.h"
#include "core/object.h"
#include "memory/buffer_contents.h"

struct zepi_context;
struct zepi_device;

// Memory that all devices of a context can use. It has one location for its life (`fixed`) where
// all devices use the same one: the device's own memory in a context of one device with memory
// apart, host memory where no device has any. Else it lives where it is used: in host memory, in
// the memory of each device that has used it, and in the host's own memory if that is the buffer's
// storage. This header says which location has which bytes; copy/buffer_use.h makes the copies. The
// memory of a device's location, once made, stays until the buffer goes, as do addresses of it. All
// of it is freed when no command can use it any more. Any thread.

// Locations of buffers that move. A device with memory of its own is ZEPI_LOCATION_DEVICES plus its
// number in the context.
#define ZEPI_LOCATION_SHARED 0u // host memory that every device reaches
#define ZEPI_LOCATION_HOST 1u   // the host's own, not made by zepi
#define ZEPI_LOCATION_DEVICES 2u
#define ZEPI_LOCATION_MAXIMUM 64u

// A copy to a location.
struct zepi_buffer_copy {
    struct zepi_buffer_copy *next; // owned
    zepi_event_t event;            // owned
};

struct zepi_buffer_location {
    void *memory; // owned, but for the host's own; NULL: not needed yet
    // Owned: the copies to here that may be under way, but for those that a later one waits for.
    struct zepi_buffer_copy *copies;
};

struct zepi_buffer {
    struct zepi_object object;
    struct zepi_context *context; // retained
    size_t size_bytes;
    void *fixed;          // NULL: the buffer moves
    zepi_usm_kind_t kind; // of `fixed`
    bool is_owned;        // `fixed` is
    // A buffer that moves has these:
    struct zepi_mutex mutex; // guards the members below; allocation alone under it
    struct zepi_buffer_contents contents;
    struct zepi_buffer_location *locations; // owned
    uint32_t location_count;
};

// Some bytes of a buffer.
struct zepi_buffer_part {
    struct zepi_buffer *buffer; // borrowed
    size_t offset_bytes;
    size_t size_bytes;
};

extern const struct zepi_type zepi_buffer_type;

// `host_memory`: the host's own, which is the buffer's storage and outlives the commands that use
// the buffer. `data`: bytes that are copied into the buffer at once. One of them at most. `context`
// has been checked.
zepi_result_t zepi_buffer_create(struct zepi_context *context, size_t size_bytes, void *host_memory,
                                 const void *data, zepi_buffer_t *out_buffer);
// Around memory of the context, an allocation or a part of one. `context` has been checked.
zepi_result_t zepi_buffer_create_from_native(struct zepi_context *context, void *memory,
                                             zepi_ownership_t ownership, zepi_buffer_t *out_buffer);

// ---- Of a buffer that moves ----

// Where commands of the device find it.
uint32_t zepi_buffer_location_of(const struct zepi_buffer *buffer,
                                 const struct zepi_device *device);

// Releases the copies of a list. They may go on.
void zepi_buffer_copies_release(struct zepi_buffer_copy *copies);

// Makes the location's memory, if there is none.
zepi_result_t zepi_buffer_need_location(struct zepi_buffer *buffer, uint32_t location);

// The buffer's address in commands of a device of its context, without its contents if it moves.
zepi_result_t zepi_buffer_get_location(struct zepi_buffer *buffer, const struct zepi_device *device,
                                       void **out_address);

#endif
