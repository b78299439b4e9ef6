// SPDX-License-Identifier: MIT
//
// The story of a whole program: it brings Level Zero up, builds one module with a constant and runs
// one kernel with a fill, a barrier, a copy, events and times; then it checks the numbers.
#ifndef ZEPI_TESTS_FAULT_BUILD_AND_RUN_H
#define ZEPI_TESTS_FAULT_BUILD_AND_RUN_H

#include "walk.h"

struct build_and_run {
    zepi_device_image_desc_t image; // tests/data/scaled_copy.cl
    zepi_queue_flags_t queue_flags;
    int32_t constant;
    bool is_constant_kept; // else walk_build_anew
};
extern struct build_and_run build_and_run_with;

zepi_result_t build_and_run(void);

#endif
