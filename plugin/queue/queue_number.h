// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_QUEUE_NUMBER_H
#define ZEPI_QUEUE_QUEUE_NUMBER_H

#include <stdatomic.h>
#include <stdint.h>

// Small numbers for the queues of a context, each of one queue at a time: what is kept by number is
// a queue's own while it lives, and needs no other lock than its mutex.

#define ZEPI_QUEUE_NUMBERS 32
#define ZEPI_NO_QUEUE_NUMBER ZEPI_QUEUE_NUMBERS // all numbers were taken

// Zeroed memory has all numbers.
struct zepi_queue_numbers {
    _Atomic uint32_t taken; // a bit each
};

static inline uint32_t zepi_queue_number_take(struct zepi_queue_numbers *numbers)
{
    uint32_t taken = atomic_load_explicit(&numbers->taken, memory_order_relaxed);
    while (taken != UINT32_MAX) {
        const uint32_t number = (uint32_t)__builtin_ctz(~taken);
        // Acquire: what the number's last queue left behind.
        if (atomic_compare_exchange_weak_explicit(&numbers->taken, &taken,
                                                  taken | UINT32_C(1) << number,
                                                  memory_order_acquire, memory_order_relaxed))
            return number;
    }
    return ZEPI_NO_QUEUE_NUMBER;
}

static inline void zepi_queue_number_give(struct zepi_queue_numbers *numbers, uint32_t number)
{
    if (number != ZEPI_NO_QUEUE_NUMBER)
        atomic_fetch_and_explicit(&numbers->taken, ~(UINT32_C(1) << number), memory_order_release);
}

#endif
