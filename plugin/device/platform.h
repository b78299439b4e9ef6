// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_PLATFORM_H
#define ZEPI_DEVICE_PLATFORM_H

#include "core/object.h"
#include "device/compiler_identity.h"
#include "ze/quirks.h"

// A Level Zero driver. Made when the adapter comes up, and there until the plugin is unloaded.
// Constant in between, so that all threads read it without a lock.
struct zepi_platform {
    struct zepi_object object;
    ze_driver_handle_t ze;
    ze_driver_properties_t properties;
    uint32_t api_version;
    char version[64]; // of the driver, as it numbers itself
    struct zepi_ze_optional optional;
    struct zepi_quirks quirks;
    struct zepi_device **devices; // owned; root devices
    uint32_t device_count;
    char *library; // owned; path of the driver's, "" if it is not known
    struct zepi_compiler_identity compiler;
};

extern const struct zepi_type zepi_platform_type;

// One reference, for the adapter. Without devices yet (zepi_device_create_roots).
zepi_result_t zepi_platform_create(ze_driver_handle_t driver, struct zepi_platform **out_platform);

#endif
