// SPDX-License-Identifier: MIT
//
// Calls that the adapter must refuse, as UR's header documents them for each function. A check that
// fails is reported, and the test goes on.
#ifndef ZEPI_TESTS_UR_CHECKS_H
#define ZEPI_TESTS_UR_CHECKS_H

#include "ur_fixture.h"

#include <stdint.h>

enum noun {
    ADAPTER,
    PLATFORM,
    DEVICE,
    CONTEXT,
    QUEUE,
    EVENT,
    PROGRAM,
    KERNEL,
    MEM,
    SAMPLER,
    POOL,
    // There are none beforehand: every handle is a bad one.
    PHYSICAL_MEMORY,
    EXTERNAL_MEMORY,
};

// Everything once: in the gear's context of two devices, and in a context of the second device
// alone.
struct checks_objects {
    ur_context_handle_t context;
    ur_queue_handle_t queue;
    ur_event_handle_t event; // complete
    ur_program_handle_t input;
    ur_program_handle_t program; // vector_add, built
    ur_kernel_handle_t kernel;
    ur_mem_handle_t buffer; // CHECKS_BYTES
    ur_mem_handle_t image;  // CHECKS_PIXELS x CHECKS_PIXELS of 4 bytes
    ur_sampler_handle_t sampler;
    ur_usm_pool_handle_t pool;
    void *usm; // CHECKS_BYTES, shared
};
#define CHECKS_BYTES 256
#define CHECKS_PIXELS 8

extern struct checks_objects own;
extern struct checks_objects other;
#define OTHER_DEVICE gear.devices[1]

void checks_set_up(void);
void checks_tear_down(void);

// Where outputs go that must not be written.
#define OUT(type) ((type *)checks_sink)
#define CHECKS_SINK_BYTES 256
extern _Alignas(16) char checks_sink[CHECKS_SINK_BYTES];

// The call answers `expected`, says something about it, and writes no output.
#define REFUSES(expected, call)                                                                    \
    checks_refusal((call), (expected), #expected, #call, __FILE__, __LINE__)
void checks_refusal(ur_result_t result, ur_result_t expected, const char *expected_name,
                    const char *call, const char *file, int line);

// `call` uses `handle`, which takes every value that is no live handle of the noun: handles of
// other types, released ones of all types, addresses of something else. NULL is tried, too, and is
// another error, unless the function takes it.
#define REFUSES_HANDLE(noun, type, wrong, call)                                                    \
    do {                                                                                           \
        {                                                                                          \
            type handle = NULL;                                                                    \
            REFUSES(UR_RESULT_ERROR_INVALID_NULL_HANDLE, call);                                    \
        }                                                                                          \
        REFUSES_OTHER_HANDLE(noun, type, wrong, call);                                             \
    } while (false)
#define REFUSES_OTHER_HANDLE(noun, type, wrong, call)                                              \
    do {                                                                                           \
        void *bad;                                                                                 \
        for (uint32_t i_ = 0; (bad = checks_bad_handle((noun), i_)) != NULL; i_++) {               \
            type handle = (type)bad;                                                               \
            REFUSES(wrong, call);                                                                  \
        }                                                                                          \
    } while (false)
// NULL after the last one.
void *checks_bad_handle(enum noun noun, uint32_t number);

// `call` uses `wait_count` and `wait_list`.
#define REFUSES_WAIT_LISTS(call)                                                                   \
    do {                                                                                           \
        uint32_t wait_count;                                                                       \
        const ur_event_handle_t *wait_list;                                                        \
        for (uint32_t i_ = 0; checks_bad_wait_list(i_, &wait_count, &wait_list); i_++)             \
            REFUSES(UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST, call);                                \
    } while (false)
bool checks_bad_wait_list(uint32_t number, uint32_t *out_count, const ur_event_handle_t **out_list);

// `call` uses `flags`, which has a bit outside of those that the header knows.
#define REFUSES_FLAGS(unknown_mask, call)                                                          \
    do {                                                                                           \
        for (uint32_t bit_ = 0; bit_ < 32; bit_++) {                                               \
            const uint32_t flags = UINT32_C(1) << bit_;                                            \
            if (flags & (unknown_mask))                                                            \
                REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION, call);                                \
        }                                                                                          \
    } while (false)

// A ...GetInfo function. `call` uses `query`, `size`, `value` and `out_size`; `good` has an
// answer, `last` is the header's last query.
#define REFUSES_INFO(type, good, last, call)                                                       \
    REFUSES_INFO_SIZED(type, good, last, UR_RESULT_ERROR_INVALID_SIZE, call)
#define REFUSES_INFO_SIZED(type, good, last, size_0, call)                                         \
    do {                                                                                           \
        struct checks_info info_;                                                                  \
        for (uint32_t i_ = 0; checks_bad_info(i_, (good), (last), (size_0), &info_); i_++) {       \
            const type query = (type)info_.query;                                                  \
            size_t size = info_.size;                                                              \
            void *value = info_.value;                                                             \
            size_t *out_size = info_.out_size;                                                     \
            REFUSES(info_.expected, call);                                                         \
        }                                                                                          \
    } while (false)
struct checks_info {
    uint32_t query;
    size_t size;
    void *value;
    size_t *out_size;
    ur_result_t expected;
};
bool checks_bad_info(uint32_t number, uint32_t good, uint32_t last, ur_result_t size_0,
                     struct checks_info *out);

#endif
