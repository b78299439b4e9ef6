// SPDX-License-Identifier: MIT
#include "device/adapter.h"

#include "cache/build_cache.h"
#include "core/alloc.h"
#include "core/interface.h"
#include "core/log.h"
#include "core/mutex.h"
#include "core/stats.h"
#include "core/unload.h"
#include "device/device.h"
#include "ze/ze.h"

#include <stdatomic.h>

// Held while platforms come up: everybody else waits for the same platforms. Nothing else is locked
// under it but the memory of objects.
static struct zepi_mutex mutex;
static bool has_loader;
static struct zepi_platform **platforms; // owned
static uint32_t platform_count;          // set once it is not 0
// Level Zero's loader 1.20 crashes if it is asked again for drivers that it did not find.
static bool is_newer_list_refused;

static void adapter_unload(void)
{
    for (uint32_t i = 0; i < platform_count; i++)
        zepi_release(platforms[i]);
    zepi_free(platforms);
    platforms = NULL;
    platform_count = 0;
}

struct drivers {
    ze_driver_handle_t *handles; // owned
    uint32_t count;
};

// Adds the handles that lie behind those of the list, but for the ones that it has already.
static void add_new_drivers(struct drivers *all, uint32_t count)
{
    const ze_driver_handle_t *more = all->handles + all->count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t known = 0;
        while (known < all->count && all->handles[known] != more[i])
            known++;
        if (known == all->count)
            all->handles[all->count++] = more[i];
    }
}

static zepi_result_t fail_no_driver(void)
{
    char reason[1024];
    zepi_quirks_explain_no_driver(reason, sizeof(reason));
    return zepi_fail(ZEPI_ERROR_UNINITIALIZED, "no Level Zero driver comes up: %s", reason);
}

// zeInitDrivers lists drivers of Level Zero 1.10 and later, zeInit and zeDriverGet those of the
// first generation: together they list all.
static zepi_result_t find_drivers(struct drivers *out_drivers)
{
    struct zepi_ze_number desc = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
        .value = UINT32_MAX};
    const bool has_newer =
        zepi_options()->newer_functions && !is_newer_list_refused && zepi_ze.zeInitDrivers;
    uint32_t newer_count = 0;
    uint32_t count = 0;
    if (has_newer && zepi_ze.zeInitDrivers(&newer_count, NULL, &desc) != ZE_RESULT_SUCCESS) {
        newer_count = 0;
        is_newer_list_refused = true;
    }
    zepi_result_t result = ZEPI_ZE(zeInit, 0);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeDriverGet, &count, NULL);
    if (result != ZEPI_SUCCESS && newer_count == 0)
        return result == ZEPI_ERROR_UNINITIALIZED ? fail_no_driver() : result;

    struct drivers all = {zepi_allocate((size_t)count + newer_count, sizeof(ze_driver_handle_t)),
                          0};
    if (!all.handles)
        return zepi_fail_no_memory();
    if (newer_count > 0 &&
        zepi_ze.zeInitDrivers(&newer_count, all.handles, &desc) == ZE_RESULT_SUCCESS)
        all.count = newer_count;
    if (count > 0) {
        result = ZEPI_ZE(zeDriverGet, &count, all.handles + all.count);
        if (result == ZEPI_SUCCESS)
            add_new_drivers(&all, count);
    }
    if (all.count == 0) {
        zepi_free(all.handles);
        return result != ZEPI_SUCCESS ? result : fail_no_driver();
    }
    *out_drivers = all;
    return ZEPI_SUCCESS;
}

static zepi_result_t create_platform(ze_driver_handle_t driver, struct zepi_platform **out_platform)
{
    struct zepi_platform *platform;
    zepi_result_t result = zepi_platform_create(driver, &platform);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_device_create_roots(platform);
    if (result != ZEPI_SUCCESS) {
        zepi_release(platform);
        return result;
    }
    zepi_log(ZEPI_LOG_INFO, "driver %p: Level Zero %u.%u, version 0x%x, %u devices%s",
             (void *)driver, platform->api_version >> 16, platform->api_version & 0xffff,
             platform->properties.driverVersion, platform->device_count,
             platform->quirks.is_on_cpu ? ", executes on the CPU" : "");
    *out_platform = platform;
    return ZEPI_SUCCESS;
}

// The reason is not in the result of any call: without drivers there are no platforms.
static void note_no_driver(void)
{
    static atomic_flag is_noted = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_noted))
        zepi_log(ZEPI_LOG_NOTICE, "%s", zepi_last_error(NULL));
}

static zepi_result_t bring_up_locked(void)
{
    if (!has_loader) {
        const zepi_result_t result = zepi_ze_open();
        if (result != ZEPI_SUCCESS)
            return result;
        zepi_stats_init(zepi_build_budget_evictions);
        has_loader = true;
    }
    struct drivers drivers = {0};
    zepi_result_t result = find_drivers(&drivers);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_platform **made = zepi_allocate(drivers.count, sizeof(struct zepi_platform *));
    uint32_t made_count = 0;
    if (!made)
        result = zepi_fail_no_memory();
    for (uint32_t i = 0; i < drivers.count && made; i++) {
        result = create_platform(drivers.handles[i], &made[made_count]);
        if (result == ZEPI_SUCCESS)
            made_count++;
        else if (result == ZEPI_ERROR_OUT_OF_HOST_MEMORY)
            break;
        else
            zepi_log(ZEPI_LOG_ERROR, "a driver does not come up: %s", zepi_last_error(NULL));
    }
    zepi_free(drivers.handles);
    // Platforms stay as they are: without memory for all of them there are none, until the next
    // call.
    if (made_count == 0 || result == ZEPI_ERROR_OUT_OF_HOST_MEMORY) {
        while (made_count > 0)
            zepi_release(made[--made_count]);
        zepi_free(made);
        return result;
    }
    platforms = made;
    platform_count = made_count;
    zepi_at_unload(ZEPI_UNLOAD_ADAPTER, adapter_unload);
    zepi_process_watch_end();
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_adapter_get(struct zepi_platform *const **out_platforms, uint32_t *out_count)
{
    zepi_mutex_lock(&mutex);
    const zepi_result_t result = platform_count > 0 ? ZEPI_SUCCESS : bring_up_locked();
    *out_platforms = platforms;
    *out_count = platform_count;
    zepi_mutex_unlock(&mutex);
    if (result != ZEPI_SUCCESS && result != ZEPI_ERROR_OUT_OF_HOST_MEMORY)
        note_no_driver();
    // Lack of memory says nothing about the drivers that there are.
    return result == ZEPI_ERROR_OUT_OF_HOST_MEMORY ? result : ZEPI_SUCCESS;
}

static void set_front_end(struct zepi_device *const *devices, uint32_t count, void *front_end)
{
    for (uint32_t i = 0; i < count; i++) {
        devices[i]->object.front_end = front_end;
        set_front_end(devices[i]->sub_devices, devices[i]->sub_device_count, front_end);
    }
}

void zepi_adapter_set_front_end(void *front_end)
{
    zepi_mutex_lock(&mutex);
    zepi_object_set_front_end(front_end);
    for (uint32_t i = 0; i < platform_count; i++) {
        platforms[i]->object.front_end = front_end;
        set_front_end(platforms[i]->devices, platforms[i]->device_count, front_end);
    }
    zepi_mutex_unlock(&mutex);
}

zepi_result_t zepi_platform_get(uint32_t capacity, zepi_platform_t *out_platforms,
                                uint32_t *out_count)
{
    struct zepi_platform *const *all;
    uint32_t count;
    zepi_result_t result = zepi_check_list(capacity, out_platforms, out_count);
    if (result == ZEPI_SUCCESS)
        result = zepi_adapter_get(&all, &count);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_list_objects(count, (void *const *)all, capacity, (void **)out_platforms, out_count);
    return ZEPI_SUCCESS;
}
