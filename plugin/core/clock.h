// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_CLOCK_H
#define ZEPI_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

// Nanoseconds on the host's clock, which never goes back, and whose rate is not adjusted: it runs
// beside a device's clock as the two crystals do.
static inline uint64_t zepi_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
