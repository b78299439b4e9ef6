// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_DEVICE_ACCESS_H
#define ZE_CPU_DEVICE_ACCESS_H

#include <level_zero/ze_api.h>
#include <stdbool.h>

// The memory of discrete devices (ZE_CPU_INTEGRATED=0): its pages have no access rights while no
// command runs that may use them, so that a host access faults. With access between peers (the
// default) a command on one device may use the memory of all; without, that of its own device only.
// On integrated devices nothing of this happens.

// A command on the device begins or ends. Pairs; for any thread. `apply` gives all memory the
// rights that cpu_device_access_is_open tells, and is called under the lock if they change.
void cpu_device_access_begin(ze_device_handle_t device, void (*apply)(void));
void cpu_device_access_end(ze_device_handle_t device, void (*apply)(void));

// While it is held, no command begins or ends: for those that make memory or change its rights,
// outside of their own locks.
void cpu_device_access_lock(void);
void cpu_device_access_unlock(void);

// Whether commands run that may use the device's memory. A NULL device's memory is the host's:
// always. Under the lock.
bool cpu_device_access_is_open(ze_device_handle_t device);

#endif
