// SPDX-License-Identifier: MIT
#include "device/platform.h"

#include "core/alloc.h"
#include "ze/ze.h"

#include <dlfcn.h>
#include <stdio.h>

static void platform_destroy(void *object)
{
    struct zepi_platform *platform = object;
    for (uint32_t i = 0; i < platform->device_count; i++)
        zepi_release(platform->devices[i]);
    zepi_free(platform->devices);
    zepi_free(platform->library);
}

ZEPI_DEFINE_TYPE(platform, platform_destroy);

// The driver's own number if it has one (quirk private-version).
static void write_driver_version(struct zepi_platform *platform)
{
    const struct zepi_ze_optional *optional = &platform->optional;
    const uint32_t version = platform->properties.driverVersion;
    const ze_driver_handle_t own = zepi_ze_driver_handle(ZEL_HANDLE_DRIVER, platform->ze);
    size_t size = 0;
    if (optional->intel_get_driver_version &&
        optional->intel_get_driver_version(own, NULL, &size) == ZE_RESULT_SUCCESS && size > 0 &&
        size < sizeof(platform->version) &&
        optional->intel_get_driver_version(own, platform->version, &size) == ZE_RESULT_SUCCESS)
        return;
    snprintf(platform->version, sizeof(platform->version), "%u.%u.%u", version >> 24,
             (version >> 16) & 0xff, version & 0xffff);
}

// The driver's library is the one that has a function which only drivers have. The loader's own
// functions say nothing.
static zepi_result_t find_library(struct zepi_platform *platform)
{
    static const char *const names[] = {"zexDriverImportExternalPointer",
                                        "zeCommandListAppendLaunchKernelWithArguments"};
    Dl_info library = {0};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library.dli_fname; i++) {
        void *function = NULL;
        if (zepi_ze.zeDriverGetExtensionFunctionAddress(platform->ze, names[i], &function) !=
                ZE_RESULT_SUCCESS ||
            !function || !dladdr(function, &library))
            library.dli_fname = NULL;
    }
    platform->library = zepi_duplicate_string(library.dli_fname ? library.dli_fname : "");
    platform->compiler.driver_path = platform->library;
    platform->compiler.is_on_cpu = platform->quirks.is_on_cpu;
    return platform->library ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

static zepi_result_t platform_query(struct zepi_platform *platform)
{
    ze_api_version_t version;
    zepi_result_t result = ZEPI_ZE(zeDriverGetApiVersion, platform->ze, &version);
    if (result != ZEPI_SUCCESS)
        return result;
    platform->api_version = (uint32_t)version;
    platform->properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
    result = ZEPI_ZE(zeDriverGetProperties, platform->ze, &platform->properties);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_ze_optional_find(&platform->optional, platform->ze, platform->api_version);
    if (result == ZEPI_SUCCESS)
        result = zepi_quirks_choose(&platform->properties, &platform->optional, &platform->quirks);
    if (result != ZEPI_SUCCESS)
        return result;
    write_driver_version(platform);
    return find_library(platform);
}

zepi_result_t zepi_platform_create(ze_driver_handle_t driver, struct zepi_platform **out_platform)
{
    struct zepi_platform *platform = zepi_object_create(&zepi_platform_type);
    if (!platform)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    platform->ze = driver;
    const zepi_result_t result = platform_query(platform);
    if (result != ZEPI_SUCCESS) {
        zepi_release(platform);
        return result;
    }
    *out_platform = platform;
    return ZEPI_SUCCESS;
}
