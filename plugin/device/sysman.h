// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_SYSMAN_H
#define ZEPI_DEVICE_SYSMAN_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct zepi_device;

// Level Zero's system management (zes), for facts that the core interface of a driver does not
// tell. The first query brings it up; a driver without it is used all the same. Any thread. It
// needs a loader with zesInit (1.9 and later), or ZES_ENABLE_SYSMAN=1 in the environment.

enum zepi_sysman_query {
    ZEPI_SYSMAN_FREE_BYTES,       // of the device's memory, now
    ZEPI_SYSMAN_FAN_PERCENT,      // speed of its fastest fan
    ZEPI_SYSMAN_MIN_POWER_MW,     // least limit of power that it can have
    ZEPI_SYSMAN_MAX_POWER_MW,     // greatest one
    ZEPI_SYSMAN_THROTTLE_REASONS, // zes_freq_throttle_reason_flags_t, of all its clocks, now
};

// *out_is_known is false where the driver does not tell.
zepi_result_t zepi_sysman_get(const struct zepi_device *device, enum zepi_sysman_query query,
                              uint64_t *out_value, bool *out_is_known);

#endif
