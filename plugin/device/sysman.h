// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_SYSMAN_H
#define ZEPI_DEVICE_SYSMAN_H

#include "core/status.h"

struct zepi_device;

// Level Zero's system management (zes), for facts that the core interface of a driver does not
// tell. The first query brings it up; a driver without it is used all the same. Any thread. It
// needs a loader with zesInit (1.9 and later), or ZES_ENABLE_SYSMAN=1 in the environment.

// Bytes of the device's memory that are free now; 0: unknown.
zepi_result_t zepi_sysman_get_free_memory(const struct zepi_device *device, uint64_t *out_bytes);

#endif
