// SPDX-License-Identifier: MIT
#include "device/adapter.h"
#include "ur/handles.h"
#include "ur/info.h"

#include <link.h>
#include <string.h>

static ur_result_t check_devices_of_context(uint32_t count, const ur_device_handle_t *devices)
{
    ur_result_t result = zepi_ur_check_pointer(devices, "phDevices");
    if (result == UR_RESULT_SUCCESS && count == 0)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "a context of no devices");
    // The header's word for handles of no device, NULL or not.
    for (uint32_t i = 0; i < count && result == UR_RESULT_SUCCESS; i++)
        result = zepi_ur_check(devices[i], &zepi_device_type, UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    return result;
}

ur_result_t zepi_urContextCreate(uint32_t DeviceCount, const ur_device_handle_t *phDevices,
                                 const ur_context_properties_t *pProperties,
                                 ur_context_handle_t *phContext)
{
    ur_result_t result;
    if ((result = check_devices_of_context(DeviceCount, phDevices)) ||
        (result = zepi_ur_check_pointer(phContext, "phContext")) ||
        (pProperties && (result = zepi_ur_check_flags(pProperties->flags, UR_CONTEXT_FLAGS_MASK))))
        return result;
    return zepi_ur_result(zepi_context_create(NULL, DeviceCount, (const zepi_device_t *)phDevices,
                                              ZEPI_OWNERSHIP_TRANSFER,
                                              (zepi_context_t *)phContext));
}

ZEPI_UR_DEFINE_REFERENCES(Context, , ur_context_handle_t, zepi_ur_check_context)

static ur_result_t get_context_devices(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_context *context = object;
    return zepi_ur_info_return(info, context->devices,
                               context->device_count * sizeof(context->devices[0]));
}

static int has_sycl_name(struct dl_phdr_info *info, size_t size, void *unused)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    (void)unused;
    return strncmp(slash ? slash + 1 : info->dlpi_name, "libsycl.so", strlen("libsycl.so")) == 0;
}

// DPC++'s runtime gives urEnqueueUSMFill2D pitch and width in elements where they should be in
// bytes: told that there is none, it fills with a kernel of its own.
static uint64_t has_fill_2d(void *context)
{
    (void)context;
    return dl_iterate_phdr(has_sycl_name, NULL) == 0;
}

static const struct zepi_ur_query context_queries[] = {
    {ZEPI_UR_MEMBER(CONTEXT_INFO_NUM_DEVICES, U32, zepi_context, device_count)},
    {ZEPI_UR_VALUE(CONTEXT_INFO_DEVICES, get_context_devices)},
    {ZEPI_UR_REFERENCES(CONTEXT_INFO_REFERENCE_COUNT)},
    {ZEPI_UR_IS(CONTEXT_INFO_USM_MEMCPY2D_SUPPORT, BOOL, true)},
    {ZEPI_UR_NUMBER(CONTEXT_INFO_USM_FILL2D_SUPPORT, BOOL, has_fill_2d)},
};

ZEPI_UR_DEFINE_GET_INFO(Context, , context, zepi_ur_check_context, context_queries,
                        CONTEXT_INFO_USM_FILL2D_SUPPORT)

ZEPI_UR_DEFINE_GET_NATIVE(Context, context)

// All devices, where the host names none. A ze_context does not tell its driver.
static ur_result_t get_all_devices(uint32_t *out_count, const ur_device_handle_t **out_devices)
{
    struct zepi_platform *const *platforms;
    uint32_t count;
    const ur_result_t result = zepi_ur_result(zepi_adapter_get(&platforms, &count));
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (count != 1)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "there are %u platforms: devices must be named", count);
    *out_count = platforms[0]->device_count;
    *out_devices = (const ur_device_handle_t *)platforms[0]->devices;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urContextCreateWithNativeHandle(ur_native_handle_t hNativeContext,
                                                 ur_adapter_handle_t hAdapter, uint32_t numDevices,
                                                 const ur_device_handle_t *phDevices,
                                                 const ur_context_native_properties_t *pProperties,
                                                 ur_context_handle_t *phContext)
{
    ur_result_t result;
    if ((result = zepi_ur_check_adapter(hAdapter)) ||
        (result = zepi_ur_check_pointer(phContext, "phContext")) ||
        (numDevices == 0 && !phDevices && (result = get_all_devices(&numDevices, &phDevices))) ||
        (result = check_devices_of_context(numDevices, phDevices)) ||
        (!hNativeContext &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "the native handle is NULL"))))
        return result;
    return zepi_ur_result(
        zepi_context_create((void *)hNativeContext, numDevices, (const zepi_device_t *)phDevices,
                            ZEPI_UR_OWNERSHIP(pProperties), (zepi_context_t *)phContext));
}

ur_result_t zepi_urContextSetExtendedDeleter(ur_context_handle_t hContext,
                                             ur_context_extended_deleter_t pfnDeleter,
                                             void *pUserData)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context(hContext)) ||
        (!pfnDeleter && (result = zepi_ur_refuse_null("pfnDeleter"))))
        return result;
    return zepi_ur_result(
        zepi_context_at_destroy(zepi_ur_context(hContext), pfnDeleter, pUserData));
}
