// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_CONTEXT_H
#define ZE_CPU_CONTEXT_H

#include "object.h"

struct cpu_context {
    struct cpu_object object;
};

#endif
