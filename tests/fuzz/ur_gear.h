// SPDX-License-Identifier: MIT
#ifndef ZEPI_TESTS_FUZZ_UR_GEAR_H
#define ZEPI_TESTS_FUZZ_UR_GEAR_H

#include "fuzz.h"
#include "ur/ur.h"

// The null driver takes all code: zepi is judged. ze_cpu judges what it gets, and has memory.
enum ur_gear_driver {
    UR_GEAR_ON_NULL_DRIVER,
    UR_GEAR_ON_ZE_CPU,
};

// A device behind Unified Runtime's functions.
struct ur_gear {
    ur_device_handle_t device;
    ur_context_handle_t context;
    ur_queue_handle_t queue;
    ur_kernel_handle_t kernel; // without arguments
};

// Brought up by the first call, for the whole process, which has one driver. Skips the test without
// the null driver, if that is asked for.
const struct ur_gear *ur_gear_get(enum ur_gear_driver driver);

#endif
