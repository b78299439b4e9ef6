// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_ARGUMENT_H
#define ZEPI_LAUNCH_ARGUMENT_H

#include "copy/buffer_use.h"
#include "launch/device_kernel.h"
#include "memory/usm_table.h"

// An argument of a launch, in two words. A front end makes it of its interface's argument, checks
// the handle in it, and takes no lock for that. All code below reads this and nothing else.

enum zepi_arg_kind {
    ZEPI_ARG_BYTES,   // the bytes, or, of more than 8, a pointer to them
    ZEPI_ARG_ADDRESS, // USM, or any other pointer; of a buffer on the device, if it has a use
    ZEPI_ARG_SLM,     // nothing but a size
    ZEPI_ARG_IMAGE,   // the driver's handle, as is the next
    ZEPI_ARG_SAMPLER,
};

struct zepi_arg {
    union {
        struct {
            uint32_t size_bytes; // 0: it is not set
            uint16_t kind;       // enum zepi_arg_kind
            uint16_t use;        // 1 + the index of its object in the launch's uses, or 0
        };
        uint64_t head; // these in one word, which is written and compared at once
    };
    uint64_t payload;
};
#define ZEPI_ARG_KIND_SHIFT 32
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the size is the head's low half, and bytes lie at the payload's beginning");

// The object behind an argument. Borrowed by a launch, retained by the record of one.
struct zepi_arg_use {
    void *object;
    struct zepi_buffer_part part; // the bytes that a device uses; no buffer: it does not move
    enum zepi_buffer_access access;
};

#define ZEPI_ARG_INLINE_BYTES sizeof(uint64_t)

// No argument that is right has a size of more than 32 bits.
static inline void zepi_arg_set(struct zepi_arg *arg, enum zepi_arg_kind kind, size_t size_bytes,
                                uint64_t payload)
{
    arg->head = (size_bytes < UINT32_MAX ? size_bytes : UINT32_MAX) | (uint64_t)kind
                                                                          << ZEPI_ARG_KIND_SHIFT;
    arg->payload = payload;
}

// `size_bytes` bytes at `value`, neither of which is 0. More than 8 are borrowed.
void zepi_arg_set_bytes(struct zepi_arg *arg, const void *value, size_t size_bytes);
// Sets a value of 4 or 8 bytes, as most have. False: it has another size, and is not set.
static inline bool zepi_arg_set_word(struct zepi_arg *arg, const void *value, size_t size_bytes)
{
    uint64_t wide;
    uint32_t narrow;
    if (size_bytes == sizeof(narrow)) {
        memcpy(&narrow, value, sizeof(narrow));
        zepi_arg_set(arg, ZEPI_ARG_BYTES, sizeof(narrow), narrow);
        return true;
    }
    if (size_bytes != sizeof(wide))
        return false;
    memcpy(&wide, value, sizeof(wide));
    zepi_arg_set(arg, ZEPI_ARG_BYTES, sizeof(wide), wide);
    return true;
}

static inline void zepi_arg_set_address(struct zepi_arg *arg, const void *address)
{
    zepi_arg_set(arg, ZEPI_ARG_ADDRESS, sizeof(address), (uintptr_t)address);
}

static inline void zepi_arg_set_slm(struct zepi_arg *arg, size_t size_bytes)
{
    zepi_arg_set(arg, ZEPI_ARG_SLM, size_bytes, 0);
}

// An image or a sampler, by the driver's handle, which may be another object's later.
static inline void zepi_arg_set_handle(struct zepi_arg *arg, enum zepi_arg_kind kind,
                                       const void *handle)
{
    zepi_arg_set(arg, kind, sizeof(handle), (uintptr_t)handle);
}

// Whether the bytes are elsewhere.
static inline bool zepi_arg_is_large(const struct zepi_arg *arg)
{
    return arg->kind == ZEPI_ARG_BYTES && arg->size_bytes > ZEPI_ARG_INLINE_BYTES;
}

// Whether a later launch with the same words need not set the argument again, as long as no memory
// was freed. The driver remembers the allocation behind an address (quirk
// kept-argument-allocation), so that the same address in other memory has to be set again:
// - Bytes that the kernel declares as a value, or that are too few for an address, are comparable.
//   Eight others may be an address or a handle. Of more than eight the word is a pointer to them.
// - An address is comparable in memory that zepi made: it knows when that is freed.
// - The handle of an image or sampler may be another object's later.
static inline bool zepi_arg_is_comparable(const struct zepi_arg *arg,
                                          const struct zepi_kernel_argument *declared)
{
    switch ((enum zepi_arg_kind)arg->kind) {
    case ZEPI_ARG_SLM:
        return true;
    case ZEPI_ARG_BYTES:
        return arg->size_bytes < sizeof(void *) ||
               (arg->size_bytes == sizeof(void *) && declared->kind == ZEPI_SPIRV_ARGUMENT_VALUE);
    case ZEPI_ARG_ADDRESS:
        return zepi_usm_table_find(arg->payload) != NULL;
    default:
        return false;
    }
}

// Its bytes, as the driver takes them.
static inline const void *zepi_arg_value(const struct zepi_arg *arg)
{
    if (arg->kind == ZEPI_ARG_SLM)
        return NULL;
    return zepi_arg_is_large(arg) ? (const void *)(uintptr_t)arg->payload : &arg->payload;
}

// Checks kind and size against the kernel's declaration, as far as that is known.
zepi_result_t zepi_arg_check(const struct zepi_device_kernel *device_kernel, uint32_t index,
                             const struct zepi_arg *arg);

#endif
