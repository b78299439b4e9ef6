// SPDX-License-Identifier: MIT
#ifndef ZEPI_ZE_ZE_H
#define ZEPI_ZE_ZE_H

#include "core/status.h"

#include <level_zero/loader/ze_loader.h>
#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>

#include <stdbool.h>

// Level Zero 1.4 through the loader, which is opened at run time: without it the plugin loads and
// reports no platform. Functions that came after 1.4 are in ze_optional.h. The functions are found
// once, under the lock of the bring-up, and constant after it.

#define ZEPI_ZE_FUNCTIONS(X)                                                                       \
    X(zeInit)                                                                                      \
    X(zeDriverGet)                                                                                 \
    X(zeDriverGetApiVersion)                                                                       \
    X(zeDriverGetProperties)                                                                       \
    X(zeDriverGetIpcProperties)                                                                    \
    X(zeDriverGetExtensionProperties)                                                              \
    X(zeDriverGetExtensionFunctionAddress)                                                         \
    X(zeDeviceGet)                                                                                 \
    X(zeDeviceGetSubDevices)                                                                       \
    X(zeDeviceGetProperties)                                                                       \
    X(zeDeviceGetComputeProperties)                                                                \
    X(zeDeviceGetModuleProperties)                                                                 \
    X(zeDeviceGetCommandQueueGroupProperties)                                                      \
    X(zeDeviceGetMemoryProperties)                                                                 \
    X(zeDeviceGetMemoryAccessProperties)                                                           \
    X(zeDeviceGetCacheProperties)                                                                  \
    X(zeDeviceGetImageProperties)                                                                  \
    X(zeDeviceGetExternalMemoryProperties)                                                         \
    X(zeDeviceGetP2PProperties)                                                                    \
    X(zeDeviceCanAccessPeer)                                                                       \
    X(zeDevicePciGetPropertiesExt)                                                                 \
    X(zeDeviceGetStatus)                                                                           \
    X(zeDeviceGetGlobalTimestamps)                                                                 \
    X(zeContextCreateEx)                                                                           \
    X(zeContextDestroy)                                                                            \
    X(zeMemAllocHost)                                                                              \
    X(zeMemAllocDevice)                                                                            \
    X(zeMemAllocShared)                                                                            \
    X(zeMemFree)                                                                                   \
    X(zeMemGetAllocProperties)                                                                     \
    X(zeMemGetAddressRange)                                                                        \
    X(zeMemGetIpcHandle)                                                                           \
    X(zeMemOpenIpcHandle)                                                                          \
    X(zeMemCloseIpcHandle)                                                                         \
    X(zeVirtualMemQueryPageSize)                                                                   \
    X(zeVirtualMemReserve)                                                                         \
    X(zeVirtualMemFree)                                                                            \
    X(zeVirtualMemMap)                                                                             \
    X(zeVirtualMemUnmap)                                                                           \
    X(zeVirtualMemSetAccessAttribute)                                                              \
    X(zeVirtualMemGetAccessAttribute)                                                              \
    X(zePhysicalMemCreate)                                                                         \
    X(zePhysicalMemDestroy)                                                                        \
    X(zeCommandQueueCreate)                                                                        \
    X(zeCommandQueueDestroy)                                                                       \
    X(zeCommandQueueExecuteCommandLists)                                                           \
    X(zeCommandListCreate)                                                                         \
    X(zeCommandListCreateImmediate)                                                                \
    X(zeCommandListClose)                                                                          \
    X(zeCommandListReset)                                                                          \
    X(zeCommandListDestroy)                                                                        \
    X(zeCommandListAppendBarrier)                                                                  \
    X(zeCommandListAppendMemoryCopy)                                                               \
    X(zeCommandListAppendMemoryCopyRegion)                                                         \
    X(zeCommandListAppendMemoryFill)                                                               \
    X(zeCommandListAppendMemoryPrefetch)                                                           \
    X(zeCommandListAppendMemAdvise)                                                                \
    X(zeCommandListAppendSignalEvent)                                                              \
    X(zeCommandListAppendEventReset)                                                               \
    X(zeCommandListAppendLaunchKernel)                                                             \
    X(zeCommandListAppendLaunchCooperativeKernel)                                                  \
    X(zeCommandListAppendImageCopyRegion)                                                          \
    X(zeCommandListAppendImageCopyToMemory)                                                        \
    X(zeCommandListAppendImageCopyFromMemory)                                                      \
    X(zeCommandListAppendImageCopyToMemoryExt)                                                     \
    X(zeCommandListAppendImageCopyFromMemoryExt)                                                   \
    X(zeEventPoolCreate)                                                                           \
    X(zeEventPoolDestroy)                                                                          \
    X(zeEventCreate)                                                                               \
    X(zeEventDestroy)                                                                              \
    X(zeEventHostSignal)                                                                           \
    X(zeEventHostSynchronize)                                                                      \
    X(zeEventHostReset)                                                                            \
    X(zeEventQueryStatus)                                                                          \
    X(zeEventQueryKernelTimestamp)                                                                 \
    X(zeFenceCreate)                                                                               \
    X(zeFenceDestroy)                                                                              \
    X(zeFenceReset)                                                                                \
    X(zeFenceHostSynchronize)                                                                      \
    X(zeImageCreate)                                                                               \
    X(zeImageDestroy)                                                                              \
    X(zeSamplerCreate)                                                                             \
    X(zeSamplerDestroy)                                                                            \
    X(zeModuleCreate)                                                                              \
    X(zeModuleDestroy)                                                                             \
    X(zeModuleDynamicLink)                                                                         \
    X(zeModuleBuildLogDestroy)                                                                     \
    X(zeModuleBuildLogGetString)                                                                   \
    X(zeModuleGetNativeBinary)                                                                     \
    X(zeModuleGetGlobalPointer)                                                                    \
    X(zeModuleGetFunctionPointer)                                                                  \
    X(zeModuleGetKernelNames)                                                                      \
    X(zeModuleGetProperties)                                                                       \
    X(zeModuleInspectLinkageExt)                                                                   \
    X(zeKernelCreate)                                                                              \
    X(zeKernelDestroy)                                                                             \
    X(zeKernelSetGroupSize)                                                                        \
    X(zeKernelSuggestGroupSize)                                                                    \
    X(zeKernelSuggestMaxCooperativeGroupCount)                                                     \
    X(zeKernelSetArgumentValue)                                                                    \
    X(zeKernelSetIndirectAccess)                                                                   \
    X(zeKernelGetName)                                                                             \
    X(zeKernelGetProperties)                                                                       \
    X(zeKernelSetGlobalOffsetExp)                                                                  \
    X(zesDeviceEnumMemoryModules)                                                                  \
    X(zesMemoryGetProperties)                                                                      \
    X(zesMemoryGetState)

// Functions of later loaders, without a driver.
#define ZEPI_ZE_LATER_FUNCTIONS(X)                                                                 \
    X(zeInitDrivers, (uint32_t * count, ze_driver_handle_t * drivers, void *desc))                 \
    X(zelLoaderTranslateHandle, (zel_handle_type_t type, void *handle, void **out_handle))         \
    X(zesInit, (uint32_t flags))                                                                   \
    X(zesDriverGet, (uint32_t * count, zes_driver_handle_t * drivers))                             \
    X(zesDriverGetDeviceByUuidExp,                                                                 \
      (zes_driver_handle_t driver, ze_device_uuid_t uuid, zes_device_handle_t * out_device,        \
       ze_bool_t * out_is_part, uint32_t * out_part))

// A member may be NULL only for the extensions in the first list (…Ext, …Exp) and for the second
// list, on a loader that lacks it.
struct zepi_ze {
#define ZEPI_ZE_MEMBER(name) __typeof__(name) *name;
    ZEPI_ZE_FUNCTIONS(ZEPI_ZE_MEMBER)
#undef ZEPI_ZE_MEMBER
#define ZEPI_ZE_MEMBER(name, arguments) ze_result_t(ZE_APICALL *name) arguments;
    ZEPI_ZE_LATER_FUNCTIONS(ZEPI_ZE_MEMBER)
#undef ZEPI_ZE_MEMBER
};

// Filled by zepi_ze_open, read-only afterwards.
extern struct zepi_ze zepi_ze;

// Opens the loader and finds the functions. Called once, before anything else of Level Zero.
zepi_result_t zepi_ze_open(void);

// A function of the loader by name, or NULL.
void *zepi_ze_symbol(const char *name);

// Calls a function of Level Zero, and notes and translates its failure.
#define ZEPI_ZE(function, ...) zepi_check_ze(zepi_ze.function(__VA_ARGS__), #function)

#endif
