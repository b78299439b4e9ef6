// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_SYSMAN_H
#define ZEPI_DEVICE_SYSMAN_H

#include "core/status.h"

#include <stdint.h>

struct zepi_device;

// The free memory of a device, now, as Level Zero's system management (zes) tells it: for drivers
// that do not tell it themselves. 0: not known. The first query brings system management up. Any
// thread. Needs a loader with zesInit (1.9 and later), or ZES_ENABLE_SYSMAN=1 in the environment.
zepi_result_t zepi_sysman_get_free_memory(const struct zepi_device *device, uint64_t *out_bytes);

#endif
