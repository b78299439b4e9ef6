// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_FENCE_H
#define ZE_CPU_FENCE_H

#include "event.h"

// An ordinary event that only executions signal. It is never looked up as an event.
struct cpu_fence {
    struct cpu_object object;
    struct cpu_event event;
};

void cpu_fence_complete(struct cpu_fence *fence);

#endif
