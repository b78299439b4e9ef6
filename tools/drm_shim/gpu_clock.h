// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_GPU_CLOCK_H
#define DRM_SHIM_GPU_CLOCK_H

#include <stdint.h>

#define SHIM_CLOCK_HZ 19200000u

// The GPU's timestamp now, in ticks.
uint64_t shim_gpu_time(void);
uint64_t shim_ticks_of_us(uint64_t microseconds);

// CLOCK_MONOTONIC in nanoseconds.
int64_t shim_now_ns(void);
// When a time from now on is over; INT64_MAX: never, as for a negative one.
int64_t shim_deadline_ns(int64_t timeout_ns);

#endif
