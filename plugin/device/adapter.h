// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_ADAPTER_H
#define ZEPI_DEVICE_ADAPTER_H

#include "device/platform.h"

// All platforms of the process. They come up with the first query for them, and are there until
// the plugin is unloaded.

// *out_platforms: borrowed until then. No loader or driver is a success with none; the thread's
// last error says why. A driver that does not come up is left out and its error noted. Another call
// tries again as long as there is none.
zepi_result_t zepi_adapter_get(struct zepi_platform *const **out_platforms, uint32_t *out_count);

zepi_result_t zepi_platform_get(uint32_t capacity, zepi_platform_t *out_platforms,
                                uint32_t *out_count);

// The value of every object's front end, from now on and for platforms and devices that are there.
// A host of zepi's own table may have made objects before: no other interface sees these.
void zepi_adapter_set_front_end(void *front_end);

#endif
