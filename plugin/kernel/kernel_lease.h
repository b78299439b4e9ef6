// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_KERNEL_LEASE_H
#define ZEPI_KERNEL_KERNEL_LEASE_H

#include "kernel/work_size.h"
#include "queue/retire.h"

#include <assert.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct zepi_context;
struct zepi_device;
struct zepi_kernel_pool;

// One ze_kernel, in one thread at a time, and what its last launches were found to be: a launch
// that looks the same needs no other check than that. What is compared is what a check would read,
// but for the values of arguments, which are only passed on.

// Two words side by side, for one comparison; arguments are aligned to one.
typedef uint64_t zepi_pair __attribute__((vector_size(16)));
typedef zepi_pair zepi_loose_pair __attribute__((aligned(8), may_alias));

// Sizes that fit, as they were asked for, and what Level Zero takes for them.
struct zepi_launch_sizes {
    uint64_t counts; // number of arguments, dimensions: as they lie in a description
    size_t global[3];
    size_t group[3];
    size_t offset[3];
    bool has_more; // dimensions than one
    struct zepi_work_size size;
};
static_assert(offsetof(zepi_launch_desc_t, work_dim) ==
                  offsetof(zepi_launch_desc_t, argument_count) + sizeof(uint32_t),
              "both counts are read at once");

// `zeros` is (0, 0), from memory: that is one instruction less.
#ifdef __SSE2__
static inline bool zepi_pair_is_zero(zepi_pair pair, const zepi_pair *zeros)
{
    return _mm_movemask_epi8(_mm_cmpeq_epi32((__m128i)pair, *(const __m128i *)zeros)) == 0xffff;
}
#else
static inline bool zepi_pair_is_zero(zepi_pair pair, const zepi_pair *zeros)
{
    return ((pair[0] ^ (*zeros)[0]) | (pair[1] ^ (*zeros)[1])) == 0;
}
#endif

// An argument as it was last checked.
struct zepi_argument_memo {
    zepi_pair head;      // kind and size, as they lie in zepi_argument_t
    zepi_pair indexed;   // the same as an indexed list has them
    uintptr_t *target;   // where its value goes
    uintptr_t least;     // 1 for an address of a value, which is not NULL; else 0
    uint64_t set_value;  // as the ze_kernel has it, if that is known and up to 8 bytes long
    uint32_t size_bytes; // as zeKernelSetArgumentValue takes it
    bool is_local;
    bool is_buffer; // the value is a zepi_buffer, whose address the kernel gets
};
static_assert(offsetof(zepi_argument_t, value) == 16 && sizeof(void *) == sizeof(uint64_t),
              "kind and size of an argument are its first two words");

// Launches of different sizes that a lease tells apart.
#define ZEPI_LEASE_SIZES 4

struct zepi_kernel_lease {
    struct zepi_retired retired; // while its last command may still run
    ze_kernel_handle_t ze;
    ze_kernel_handle_t driver_ze; // for a launch function that may have come from the driver itself
    bool is_state_known;          // by the members below; not after a launch with arguments
    uint32_t group_size[3];
    uint32_t offset[3];
    const struct zepi_context *context; // borrowed: of the buffers that may be arguments
    const struct zepi_device *device;   // borrowed
    uint32_t argument_count;
    uint32_t next_sizes; // of `sizes`: replaced next
    struct zepi_launch_sizes *last_sizes;
    struct zepi_launch_sizes sizes[ZEPI_LEASE_SIZES];
    // Where Level Zero reads each argument: where the caller has it, or in `words`, which has the
    // size of local memory. Both lie behind `arguments`.
    void **pointers;
    uintptr_t *words;
    uintptr_t unused; // what local memory has for a value: NULL
    // Of arguments that zepi_kernel_lease_take_values takes. ZEPI_LEASE_UNROLLED + 1: it takes
    // none, as there are more, or local memory, or no launch was found right since the last wrong
    // one.
    uint32_t unrolled_count;
    uint32_t takeable_count; // the same after a right one
    zepi_pair zeros;
    struct zepi_argument_memo arguments[];
};

typedef _Atomic(struct zepi_kernel_lease *) zepi_lease_slot;

// What a queue has of a kernel before its first launch: no launch looks like the last one of this.
extern struct zepi_kernel_lease zepi_no_lease;

// Makes a handle, which is in no pool yet.
zepi_result_t zepi_kernel_lease_create(const struct zepi_kernel_pool *pool,
                                       struct zepi_kernel_lease **out_lease);
// No command uses it.
void zepi_kernel_lease_free(struct zepi_kernel_lease *lease);

// Checks a launch that is not known, and notes it. *out_is_empty: it has nothing to launch, and is
// not noted. Calls the driver for a group size that it shall suggest, and for another offset.
zepi_result_t zepi_kernel_lease_check(struct zepi_kernel_lease *lease,
                                      const struct zepi_kernel_pool *pool,
                                      const struct zepi_device *device,
                                      const zepi_launch_desc_t *desc, bool *out_is_empty);

// Sets group size and arguments one by one, what differs from the last time.
zepi_result_t zepi_kernel_lease_set_state(struct zepi_kernel_lease *lease);

// ---- Launches that look like the last one ----

// Arguments as a front door has them: a word of kind, one of size, one of value, each list with its
// own distance from one argument to the next.
struct zepi_argument_list {
    uintptr_t first; // address of its first word
    size_t stride_bytes;
    bool is_indexed; // the upper half of the first word is the index, and pointers have a size
};
#define ZEPI_ARGUMENT_LIST(list)                                                                   \
    ((struct zepi_argument_list){(uintptr_t)(list), sizeof(zepi_argument_t), false})

// Takes the value of one argument and adds up in what it differs from what was checked. False: an
// address is NULL.
static inline __attribute__((always_inline)) bool
zepi_argument_take_value(const struct zepi_argument_memo *memo, struct zepi_argument_list list,
                         uint32_t index, zepi_pair *differs)
{
    const uintptr_t at = list.first + index * list.stride_bytes;
    uintptr_t value;
    memcpy(&value, (const char *)at + offsetof(zepi_argument_t, value), sizeof(value));
    *differs |= *(const zepi_loose_pair *)at ^ (list.is_indexed ? memo->indexed : memo->head);
    *memo->target = value;
    return value >= memo->least;
}

// Takes the values of as many arguments as the kernel has, maybe some of them if the answer is
// false: this knows up to ZEPI_LEASE_UNROLLED, without local memory and buffers.
#define ZEPI_LEASE_UNROLLED 16
static inline __attribute__((always_inline)) bool
zepi_kernel_lease_take_values(struct zepi_kernel_lease *lease, struct zepi_argument_list list)
{
    zepi_pair differs = lease->zeros;
    // From the last one down, without a loop: that would cost half as much again for each.
    switch (lease->unrolled_count) {
#define ZEPI_TAKE(i)                                                                               \
    case (i) + 1:                                                                                  \
        if (__builtin_expect(!zepi_argument_take_value(&lease->arguments[i], list, i, &differs),   \
                             0))                                                                   \
            return false;                                                                          \
        __attribute__((fallthrough));
        ZEPI_TAKE(15)
        ZEPI_TAKE(14)
        ZEPI_TAKE(13)
        ZEPI_TAKE(12)
        ZEPI_TAKE(11)
        ZEPI_TAKE(10)
        ZEPI_TAKE(9)
        ZEPI_TAKE(8)
        ZEPI_TAKE(7)
        ZEPI_TAKE(6)
        ZEPI_TAKE(5)
        ZEPI_TAKE(4)
        ZEPI_TAKE(3)
        ZEPI_TAKE(2)
        ZEPI_TAKE(1)
        ZEPI_TAKE(0)
#undef ZEPI_TAKE
    case 0:
        return zepi_pair_is_zero(differs, &lease->zeros);
    case ZEPI_LEASE_UNROLLED + 1:
        return false;
    default:
        __builtin_unreachable();
    }
}

static inline bool zepi_launch_sizes_match_in(const struct zepi_launch_sizes *sizes,
                                              const zepi_launch_desc_t *desc, uint32_t dimension)
{
    return desc->global_size[dimension] == sizes->global[dimension] &&
           desc->group_size[dimension] == sizes->group[dimension] &&
           desc->global_offset[dimension] == sizes->offset[dimension];
}

static inline bool zepi_launch_sizes_match(const struct zepi_launch_sizes *sizes,
                                           const zepi_launch_desc_t *desc)
{
    uint64_t counts;
    memcpy(&counts, &desc->argument_count, sizeof(counts));
    return counts == sizes->counts && zepi_launch_sizes_match_in(sizes, desc, 0) &&
           (!sizes->has_more ||
            (zepi_launch_sizes_match_in(sizes, desc, 1) &&
             (desc->work_dim < 3 || zepi_launch_sizes_match_in(sizes, desc, 2))));
}

// Whether the launch looks like the last one that was found right; the values of its arguments are
// taken then. This one knows what zepi_kernel_lease_take_values does, the other all.
static inline __attribute__((always_inline)) bool
zepi_kernel_lease_matches(struct zepi_kernel_lease *lease, const zepi_launch_desc_t *desc)
{
    return zepi_launch_sizes_match(lease->last_sizes, desc) &&
           (desc->arguments || desc->argument_count == 0) &&
           zepi_kernel_lease_take_values(lease, ZEPI_ARGUMENT_LIST(desc->arguments));
}
bool zepi_kernel_lease_matches_any(struct zepi_kernel_lease *lease, const zepi_launch_desc_t *desc);

#endif
