// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_CPU_DRIVER_H
#define DRM_SHIM_CPU_DRIVER_H

#include "module_inputs.h"
#include "ze_info.h"

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <pthread.h>

// The driver that executes: ze_cpu, opened beside Intel's driver, without the loader. Found beside
// this library, or where DRM_SHIM_ZE_CPU says.

struct shim_cpu_driver {
    ze_context_handle_t context;
    ze_device_handle_t device;
    bool has_parts; // kernels have the arguments of group_part.h: a GPU has several tiles
    ze_module_dditable_t module;
    ze_module_build_log_dditable_t build_log;
    ze_kernel_dditable_t kernel;
    ze_kernel_exp_dditable_t kernel_exp;
    ze_image_dditable_t image;
    ze_sampler_dditable_t sampler;
    ze_command_list_dditable_t list;
    ze_result_t(ZE_APICALL *synchronize)(ze_command_list_handle_t list, uint64_t timeout_ns);
};

// Brings the driver up at the first call. NULL: it does not come up; the first call logged why.
const struct shim_cpu_driver *shim_cpu_driver(void);
// The process ends, and the driver's runtime with it: nothing can be executed any more.
bool shim_cpu_driver_has_ended(void);

// Builds what native code with this .ze_info was made of. NULL: ze_cpu does not build the inputs,
// which is logged with the build log.
ze_module_handle_t shim_cpu_build(const struct shim_cpu_driver *cpu,
                                  const struct shim_module_inputs *inputs,
                                  const struct shim_ze_info *info);

// Launches a kernel whose state is set, and unlocks `kernel_mutex`, which the caller holds, once
// the launch has a copy of that state. Then waits until the launch is complete.
ze_result_t shim_cpu_launch(const struct shim_cpu_driver *cpu, ze_kernel_handle_t kernel,
                            const uint32_t groups[3], pthread_mutex_t *kernel_mutex);

// Copy all pixels of an image, without gaps in memory; return when they are copied.
ze_result_t shim_cpu_write_image(const struct shim_cpu_driver *cpu, ze_image_handle_t image,
                                 const void *pixels);
ze_result_t shim_cpu_read_image(const struct shim_cpu_driver *cpu, ze_image_handle_t image,
                                void *pixels);

#endif
