// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_BUILD_LIMITS_H
#define ZEPI_CACHE_BUILD_LIMITS_H

#include <stdint.h>

// The numbers of a cache: limits of a budget, and counters.

// A limit: 0 keeps nothing (builds are still shared while they run).
#define ZEPI_BUILD_UNLIMITED UINT64_MAX

struct zepi_build_limits {
    uint64_t bytes;
    uint64_t entries;
};

struct zepi_build_counters {
    uint64_t hits;         // lookups that found a result or a build in progress
    uint64_t misses;       // lookups that began one; hits + misses is the number of lookups
    uint64_t waits;        // hits on a build in progress
    uint64_t builds;       // calls of a build callback
    uint64_t failures;     // builds that ended in failure of any kind
    uint64_t evictions;    // entries that limits, a trim or lack of memory pushed out
    uint64_t store_hits;   // misses that the store had
    uint64_t store_misses; // misses that it did not have
    uint64_t build_ns;     // spent in build callbacks, nested ones counted in each
    uint64_t bytes;        // kept now, as charged to the budget
    uint64_t entries;
};

#endif
