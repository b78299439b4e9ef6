// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_OPTIONS_H
#define DRM_SHIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

// The DRM_SHIM_ variables, read once on first use and constant from then on. See README.md.
struct shim_options {
    const char *trace;   // path of the trace, NULL: none
    const char *faults;  // NULL: none
    const char *product; // of each device, with commas; NULL: the first (products.h)
    uint64_t arena_bytes, system_bytes;
    uint64_t vram_bytes; // 0: the product's
    uint64_t kernel_us;
    bool executes;
    bool runs_inline;
    bool fails_at_exit;
};

const struct shim_options *shim_options(void);

#endif
