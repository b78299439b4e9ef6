// SPDX-License-Identifier: MIT
#ifndef ZEPI_TESTS_FUZZ_UR_GEAR_H
#define ZEPI_TESTS_FUZZ_UR_GEAR_H

#include "fuzz.h"
#include "ur/ur.h"

// A device behind Unified Runtime's functions, on Level Zero's null driver, which takes all
// code: zepi is judged.
struct ur_gear {
    ur_device_handle_t device;
    ur_context_handle_t context;
    ur_queue_handle_t queue;
    ur_kernel_handle_t kernel; // without arguments
};

// Brought up by the first call, for the whole process. Skips the test without the null driver.
const struct ur_gear *ur_gear_get(void);

#endif
