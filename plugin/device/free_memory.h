// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_FREE_MEMORY_H
#define ZEPI_DEVICE_FREE_MEMORY_H

#include "core/status.h"

struct zepi_device;

#define ZEPI_FREE_MEMORY_UNKNOWN UINT64_MAX

// The free memory of a device now, as the driver's extension tells it, else the system management
// of Level Zero (README.md); ZEPI_FREE_MEMORY_UNKNOWN: neither does. Any thread.
zepi_result_t zepi_device_get_free_memory(const struct zepi_device *device, uint64_t *out_bytes);

#endif
