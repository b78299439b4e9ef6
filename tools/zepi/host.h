// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_HOST_H
#define ZEPI_TOOL_HOST_H

#include "exit_code.h"

#include <zepi/zepi.h>

#include <stdbool.h>

// This program as a host of the plugin: finds libzepi.so and a driver, loads the plugin, and brings
// one device up.

enum host_driver {
    HOST_DRIVER_AUTO,  // a GPU if one comes up, else the CPU
    HOST_DRIVER_CPU,   // ze_cpu
    HOST_DRIVER_GPU,   // a GPU of another driver, or none
    HOST_DRIVER_INTEL, // Intel's driver without a GPU (intel_driver.h)
};

// The plugin's table, after host_load.
extern zepi_plugin_t zepi;

// Looks for a GPU in a process of its own (probe.h).
bool host_has_gpu(void);

// Chooses the driver: ze_cpu's library is named in the environment if it is the one. Returns an
// exit code after a message.
int host_prepare(enum host_driver driver);
// Loads the plugin, for work that needs no driver. Returns an exit code after a message.
int host_load_plugin(void);
// Chooses the driver and loads the plugin. Returns an exit code after a message.
int host_load(enum host_driver driver);
// "Level Zero GPU", or "ze_cpu, which executes on the CPU (no GPU was found)".
const char *host_driver_description(void);

// The file of the OpenCL runtime that ze_cpu computes with, once drivers are up. NULL: ze_cpu is no
// driver of this process, or has none.
const char *host_cpu_runtime(void);

// The first GPU of a driver other than ze_cpu, else, unless --gpu forbids it, the first device;
// with a context and an in-order queue.
struct host_device {
    zepi_platform_t platform;
    zepi_device_t device;
    zepi_device_info_t info;
    zepi_context_t context;
    zepi_queue_t queue;
};
// Chooses the driver, loads the plugin and brings the device up. Returns an exit code after a
// message.
int host_open(struct host_device *host, enum host_driver driver);
void host_close(struct host_device *host); // a zeroed struct is fine

// The log of this thread's last build, on stderr.
void host_print_build_log(void);
// Builds an input module, and says how long that took. Returns an exit code after the log and a
// message, which begins with `what`.
int host_build(zepi_module_t input, const zepi_build_desc_t *desc, const char *what,
               zepi_module_t *out_executable, double *out_ms);
// Forgets the builds in memory, as if the next build were one of another process. Returns an exit
// code after a message.
int host_forget_builds(const struct host_device *host);

// Says "zepi: WHAT: the plugin's last error" on stderr. Returns EXIT_FAILED.
int host_fail(const char *what);

// Says that there is no device, with the reason unless zepi's log has it. Returns EXIT_NO_DEVICE.
int host_fail_without_device(void);

// Releases an object; NULL is fine.
void host_release(void *object);

// Nanoseconds on a clock that never goes back.
uint64_t host_now_ns(void);

#endif
