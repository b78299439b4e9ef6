// SPDX-License-Identifier: MIT
// Refusals of adapters, platforms, devices and contexts.
#include "checks.h"

#include <criterion/criterion.h>

TestSuite(checks_device, .init = checks_set_up, .fini = checks_tear_down);

static void log_nothing(ur_logger_level_t level, const char *text, void *data)
{
    (void)level;
    (void)text;
    (void)data;
}

Test(checks_device, of_the_adapter)
{
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE, urAdapterGet(0, OUT(ur_adapter_handle_t), NULL));
    // The list is optional, with any count.
    uint32_t count = 0;
    UR_OK(urAdapterGet(1, NULL, &count));
    cr_assert_eq(count, 1);
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_ARGUMENT;
    REFUSES_HANDLE(ADAPTER, ur_adapter_handle_t, wrong, urAdapterRetain(handle));
    REFUSES_HANDLE(ADAPTER, ur_adapter_handle_t, wrong, urAdapterRelease(handle));
    REFUSES_HANDLE(ADAPTER, ur_adapter_handle_t, wrong,
                   urAdapterGetLastError(handle, OUT(const char *), OUT(int32_t) + 16));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urAdapterGetLastError(gear.adapter, NULL, OUT(int32_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urAdapterGetLastError(gear.adapter, OUT(const char *), NULL));
    REFUSES_HANDLE(ADAPTER, ur_adapter_handle_t, wrong,
                   urAdapterGetInfo(handle, UR_ADAPTER_INFO_BACKEND, 8, OUT(char), NULL));
    REFUSES_INFO(ur_adapter_info_t, UR_ADAPTER_INFO_BACKEND, UR_ADAPTER_INFO_VERSION,
                 urAdapterGetInfo(gear.adapter, query, size, value, out_size));
}

Test(checks_device, of_the_logger)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_ARGUMENT;
    const ur_logger_level_t unknown = (ur_logger_level_t)(UR_LOGGER_LEVEL_QUIET + 1);
    REFUSES_HANDLE(ADAPTER, ur_adapter_handle_t, wrong,
                   urAdapterSetLoggerCallback(handle, log_nothing, NULL, UR_LOGGER_LEVEL_ERROR));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urAdapterSetLoggerCallback(gear.adapter, NULL, NULL, UR_LOGGER_LEVEL_ERROR));
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urAdapterSetLoggerCallback(gear.adapter, log_nothing, NULL, unknown));
    REFUSES_HANDLE(ADAPTER, ur_adapter_handle_t, wrong,
                   urAdapterSetLoggerCallbackLevel(handle, UR_LOGGER_LEVEL_ERROR));
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urAdapterSetLoggerCallbackLevel(gear.adapter, unknown));
}

Test(checks_device, of_platforms)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_PLATFORM;
    ur_native_handle_t native;
    UR_OK(urPlatformGetNativeHandle(gear.platform, &native));
    REFUSES_HANDLE(ADAPTER, ur_adapter_handle_t, UR_RESULT_ERROR_INVALID_ARGUMENT,
                   urPlatformGet(handle, 1, OUT(ur_platform_handle_t), NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
            urPlatformGet(gear.adapter, 0, OUT(ur_platform_handle_t), NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE, urPlatformGet(gear.adapter, 0, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE, urPlatformGet(gear.adapter, 1, NULL, NULL));
    // The list is optional, with any count.
    uint32_t count = 0;
    UR_OK(urPlatformGet(gear.adapter, 1, NULL, &count));
    cr_assert_eq(count, 1);
    REFUSES_HANDLE(PLATFORM, ur_platform_handle_t, wrong,
                   urPlatformGetInfo(handle, UR_PLATFORM_INFO_NAME, 99, OUT(char), NULL));
    REFUSES_INFO(ur_platform_info_t, UR_PLATFORM_INFO_NAME, UR_PLATFORM_INFO_ADAPTER,
                 urPlatformGetInfo(gear.platform, query, size, value, out_size));
    REFUSES_HANDLE(PLATFORM, ur_platform_handle_t, wrong,
                   urPlatformGetApiVersion(handle, OUT(ur_api_version_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER, urPlatformGetApiVersion(gear.platform, NULL));
    REFUSES_HANDLE(PLATFORM, ur_platform_handle_t, wrong,
                   urPlatformGetNativeHandle(handle, OUT(ur_native_handle_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER, urPlatformGetNativeHandle(gear.platform, NULL));
    REFUSES_HANDLE(
        ADAPTER, ur_adapter_handle_t, UR_RESULT_ERROR_INVALID_ARGUMENT,
        urPlatformCreateWithNativeHandle(native, handle, NULL, OUT(ur_platform_handle_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urPlatformCreateWithNativeHandle(native, gear.adapter, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urPlatformCreateWithNativeHandle(0, gear.adapter, NULL, OUT(ur_platform_handle_t)));
    REFUSES_HANDLE(PLATFORM, ur_platform_handle_t, wrong,
                   urPlatformGetBackendOption(handle, "-O0", OUT(const char *)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urPlatformGetBackendOption(gear.platform, NULL, OUT(const char *)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urPlatformGetBackendOption(gear.platform, "-O0", NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urPlatformGetBackendOption(gear.platform, "-no-such-option", OUT(const char *)));
}

Test(checks_device, of_devices)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_DEVICE;
    REFUSES_HANDLE(PLATFORM, ur_platform_handle_t, UR_RESULT_ERROR_INVALID_PLATFORM,
                   urDeviceGet(handle, UR_DEVICE_TYPE_ALL, 1, OUT(ur_device_handle_t), NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urDeviceGet(gear.platform, (ur_device_type_t)(UR_DEVICE_TYPE_CUSTOM + 1), 1,
                        OUT(ur_device_handle_t), NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urDeviceGet(gear.platform, (ur_device_type_t)0, 1, OUT(ur_device_handle_t), NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
            urDeviceGet(gear.platform, UR_DEVICE_TYPE_ALL, 0, OUT(ur_device_handle_t), NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urDeviceGet(gear.platform, UR_DEVICE_TYPE_ALL, 1, NULL, OUT(uint32_t)));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong, urDeviceRetain(handle));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong, urDeviceRelease(handle));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong,
                   urDeviceGetInfo(handle, UR_DEVICE_INFO_TYPE, 8, OUT(char), NULL));
    REFUSES_INFO(ur_device_info_t, UR_DEVICE_INFO_TYPE,
                 UR_DEVICE_INFO_ENQUEUE_HOST_TASK_SUPPORT_EXP,
                 urDeviceGetInfo(gear.device, query, size, value, out_size));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong,
                   urDeviceGetGlobalTimestamps(handle, OUT(uint64_t), NULL));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong, urDeviceWaitExp(handle));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong,
                   urDeviceGetNativeHandle(handle, OUT(ur_native_handle_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER, urDeviceGetNativeHandle(gear.device, NULL));
    ur_native_handle_t native;
    UR_OK(urDeviceGetNativeHandle(gear.device, &native));
    REFUSES_HANDLE(ADAPTER, ur_adapter_handle_t, UR_RESULT_ERROR_INVALID_ARGUMENT,
                   urDeviceCreateWithNativeHandle(native, handle, NULL, OUT(ur_device_handle_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urDeviceCreateWithNativeHandle(native, gear.adapter, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urDeviceCreateWithNativeHandle(0, gear.adapter, NULL, OUT(ur_device_handle_t)));
}

Test(checks_device, of_peers)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_DEVICE;
    const ur_exp_peer_info_t access = UR_EXP_PEER_INFO_UR_PEER_ACCESS_SUPPORT;
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong,
                   urUsmP2PEnablePeerAccessExp(handle, OTHER_DEVICE));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong,
                   urUsmP2PEnablePeerAccessExp(gear.device, handle));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong,
                   urUsmP2PDisablePeerAccessExp(handle, OTHER_DEVICE));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong,
                   urUsmP2PDisablePeerAccessExp(gear.device, handle));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong,
                   urUsmP2PPeerAccessGetInfoExp(handle, OTHER_DEVICE, access, 4, OUT(void), NULL));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, wrong,
                   urUsmP2PPeerAccessGetInfoExp(gear.device, handle, access, 4, OUT(void), NULL));
    REFUSES_INFO(
        ur_exp_peer_info_t, access, UR_EXP_PEER_INFO_UR_PEER_ATOMICS_SUPPORT,
        urUsmP2PPeerAccessGetInfoExp(gear.device, OTHER_DEVICE, query, size, value, out_size));
}

Test(checks_device, of_partitions)
{
    ur_device_partition_property_t property = {
        .type = UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
        .value.affinity_domain = UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE};
    ur_device_partition_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_DEVICE_PARTITION_PROPERTIES,
        .pProperties = &property,
        .PropCount = 1};
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, UR_RESULT_ERROR_INVALID_DEVICE,
                   urDevicePartition(handle, &properties, 1, OUT(ur_device_handle_t), NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urDevicePartition(gear.device, NULL, 1, OUT(ur_device_handle_t), NULL));
    // The driver's devices have no tiles here.
    REFUSES(UR_RESULT_ERROR_DEVICE_PARTITION_FAILED,
            urDevicePartition(gear.device, &properties, 1, OUT(ur_device_handle_t), NULL));
    property.type = UR_DEVICE_PARTITION_EQUALLY;
    property.value.equally = 1;
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urDevicePartition(gear.device, &properties, 1, OUT(ur_device_handle_t), NULL));
    property.type = UR_DEVICE_PARTITION_BY_CSLICE;
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urDevicePartition(gear.device, &properties, 1, OUT(ur_device_handle_t), NULL));
    properties.PropCount = 0;
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urDevicePartition(gear.device, &properties, 1, OUT(ur_device_handle_t), NULL));
    properties.pProperties = NULL;
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urDevicePartition(gear.device, &properties, 1, OUT(ur_device_handle_t), NULL));
}

Test(checks_device, of_the_choice_of_a_binary)
{
    const ur_device_binary_t binaries[] = {
        {.stype = UR_STRUCTURE_TYPE_DEVICE_BINARY, .pDeviceTargetSpec = "nvptx64"},
        {.stype = UR_STRUCTURE_TYPE_DEVICE_BINARY,
         .pDeviceTargetSpec = UR_DEVICE_BINARY_TARGET_SPIRV64_GEN},
        {.stype = UR_STRUCTURE_TYPE_DEVICE_BINARY, .pDeviceTargetSpec = NULL},
        {.stype = UR_STRUCTURE_TYPE_DEVICE_BINARY,
         .pDeviceTargetSpec = UR_DEVICE_BINARY_TARGET_SPIRV64}};
    uint32_t selected;
    UR_OK(urDeviceSelectBinary(gear.device, binaries, 4, &selected));
    cr_assert_eq(selected, 3);
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, UR_RESULT_ERROR_INVALID_DEVICE,
                   urDeviceSelectBinary(handle, binaries, 4, OUT(uint32_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urDeviceSelectBinary(gear.device, NULL, 4, OUT(uint32_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urDeviceSelectBinary(gear.device, binaries, 4, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
            urDeviceSelectBinary(gear.device, binaries, 0, OUT(uint32_t)));
    // Code for Intel GPUs is none for a CPU that poses as a GPU.
    REFUSES(UR_RESULT_ERROR_INVALID_BINARY,
            urDeviceSelectBinary(gear.device, binaries, 3, OUT(uint32_t)));
}

static void delete_nothing(void *data)
{
    (void)data;
}

Test(checks_device, of_contexts)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_CONTEXT;
    // The header's words: no valid handles are NULL handles.
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, UR_RESULT_ERROR_INVALID_NULL_HANDLE,
                   urContextCreate(1, &handle, NULL, OUT(ur_context_handle_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urContextCreate(1, NULL, NULL, OUT(ur_context_handle_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER, urContextCreate(1, &gear.device, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
            urContextCreate(0, &gear.device, NULL, OUT(ur_context_handle_t)));
    ur_context_properties_t properties = {.stype = UR_STRUCTURE_TYPE_CONTEXT_PROPERTIES};
    REFUSES_FLAGS(UR_CONTEXT_FLAGS_MASK,
                  (properties.flags = flags,
                   urContextCreate(1, &gear.device, &properties, OUT(ur_context_handle_t))));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, wrong, urContextRetain(handle));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, wrong, urContextRelease(handle));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, wrong,
                   urContextGetInfo(handle, UR_CONTEXT_INFO_DEVICES, 16, OUT(char), NULL));
    REFUSES_INFO(ur_context_info_t, UR_CONTEXT_INFO_DEVICES, UR_CONTEXT_INFO_USM_FILL2D_SUPPORT,
                 urContextGetInfo(gear.context, query, size, value, out_size));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, wrong,
                   urContextSetExtendedDeleter(handle, delete_nothing, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urContextSetExtendedDeleter(gear.context, NULL, NULL));
}

Test(checks_device, of_contexts_native_handles)
{
    ur_native_handle_t native;
    UR_OK(urContextGetNativeHandle(gear.context, &native));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, UR_RESULT_ERROR_INVALID_CONTEXT,
                   urContextGetNativeHandle(handle, OUT(ur_native_handle_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER, urContextGetNativeHandle(gear.context, NULL));
    REFUSES_HANDLE(ADAPTER, ur_adapter_handle_t, UR_RESULT_ERROR_INVALID_ARGUMENT,
                   urContextCreateWithNativeHandle(native, handle, 1, &gear.device, NULL,
                                                   OUT(ur_context_handle_t)));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, UR_RESULT_ERROR_INVALID_NULL_HANDLE,
                   urContextCreateWithNativeHandle(native, gear.adapter, 1, &handle, NULL,
                                                   OUT(ur_context_handle_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urContextCreateWithNativeHandle(native, gear.adapter, 1, NULL, NULL,
                                            OUT(ur_context_handle_t)));
    REFUSES(UR_RESULT_ERROR_INVALID_NULL_POINTER,
            urContextCreateWithNativeHandle(native, gear.adapter, 1, &gear.device, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urContextCreateWithNativeHandle(0, gear.adapter, 1, &gear.device, NULL,
                                            OUT(ur_context_handle_t)));
    // The list of devices is optional: all of them.
    ur_context_handle_t context;
    uint32_t count;
    UR_OK(urContextCreateWithNativeHandle(native, gear.adapter, 0, NULL, NULL, &context));
    UR_OK(urContextGetInfo(context, UR_CONTEXT_INFO_NUM_DEVICES, sizeof(count), &count, NULL));
    cr_assert_eq(count, 2);
    UR_OK(urContextRelease(context));
}
