// SPDX-License-Identifier: MIT
// A driver that keeps the host's pages when it is told to free them.
#include "ur/ur.h"

#include "test_plugin.h"
#include "test_ze_cpu.h"
#include "ze/ze.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

// Draws the plugin out of the archive: test_plugin_load takes it.
extern zepi_plugin_init_fn *const linked_plugin;
zepi_plugin_init_fn *const linked_plugin = zepiPluginInit;

static struct test_gear gear;
static __typeof__(zeMemAllocHost) *driver_allocate;
static __typeof__(zeMemFree) *driver_free;
static char *kept;
static unsigned trials;

static ze_result_t ZE_APICALL allocate(ze_context_handle_t context,
                                       const ze_host_mem_alloc_desc_t *desc, size_t size,
                                       size_t alignment, void **out)
{
    trials += desc->pNext != NULL;
    const ze_result_t result = driver_allocate(context, desc, size, alignment, out);
    if (result == ZE_RESULT_SUCCESS && desc->pNext)
        kept = *out;
    return result;
}

static ze_result_t ZE_APICALL free_all_but_one(ze_context_handle_t context, void *memory)
{
    return memory == kept ? ZE_RESULT_SUCCESS : driver_free(context, memory);
}

Test(host_trial, finds_a_driver_that_does_not_undo_it)
{
    test_ze_cpu_use();
    test_plugin_load();
    test_ze_cpu_require();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    driver_allocate = zepi_ze.zeMemAllocHost;
    driver_free = zepi_ze.zeMemFree;
    zepi_ze.zeMemAllocHost = allocate;
    zepi_ze.zeMemFree = free_all_but_one;
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = aligned_alloc(page, page);
    for (int i = 0; i < 2; i++) {
        ur_bool_t can = true;
        cr_assert_eq(zepi_urDeviceGetInfo((ur_device_handle_t)gear.device,
                                          UR_DEVICE_INFO_USM_HOST_ALLOC_REGISTER_SUPPORT_EXP,
                                          sizeof(can), &can, NULL),
                     UR_RESULT_SUCCESS);
        cr_assert(!can);
        cr_assert_eq(zepi_urUSMHostAllocRegisterExp(context, memory, page, NULL),
                     UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    }
    cr_assert_eq(trials, 1);
    kept[0] = 1; // still there, for the driver
    free(memory);
    zepi_ze.zeMemAllocHost = driver_allocate;
    zepi_ze.zeMemFree = driver_free;
    TEST_OK(zepi.release(gear.queue));
    TEST_OK(zepi.release(gear.context));
}
