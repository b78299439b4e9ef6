// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_DEVICE_KERNEL_CREATE_H
#define ZEPI_LAUNCH_DEVICE_KERNEL_CREATE_H

#include "launch/device_kernel.h"

// Making device kernels, and lending their instances. Any thread.

// A kernel of a device module, from the cache or made. *out_result is a new reference to a result
// whose payload is a struct zepi_device_kernel.
zepi_result_t zepi_device_kernel_get(struct zepi_build_result *device_module, const char *name,
                                     struct zepi_build_result **out_result);

// Takes a free instance, or makes one.
zepi_result_t zepi_kernel_instance_take(struct zepi_device_kernel *device_kernel,
                                        struct zepi_kernel_instance **out_instance);
// Keeps it for queues of this number, or gives it back if another thread was faster. Returns the
// one that is kept.
struct zepi_kernel_instance *zepi_kernel_instance_keep(struct zepi_device_kernel *device_kernel,
                                                       uint32_t queue_number,
                                                       struct zepi_kernel_instance *instance);
// Gives it back, or destroys it if enough are free.
void zepi_kernel_instance_give(struct zepi_device_kernel *device_kernel,
                               struct zepi_kernel_instance *instance);
void zepi_kernel_instance_destroy(struct zepi_device_kernel *device_kernel,
                                  struct zepi_kernel_instance *instance);

#endif
