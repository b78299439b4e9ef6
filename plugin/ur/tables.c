// SPDX-License-Identifier: MIT
// All tables in one place, and the getters that a loader finds by name.
#include "core/log.h"
#include "core/object.h"
#include "core/options.h"
#include "ur/loader_check.h"
#include "ur/ur.h"

#include <string.h>

const ur_dditable_t zepi_ur_tables = {
    .Adapter =
        {
            .pfnGet = zepi_urAdapterGet,
            .pfnRelease = zepi_urAdapterRelease,
            .pfnRetain = zepi_urAdapterRetain,
            .pfnGetLastError = zepi_urAdapterGetLastError,
            .pfnGetInfo = zepi_urAdapterGetInfo,
            .pfnSetLoggerCallback = zepi_urAdapterSetLoggerCallback,
            .pfnSetLoggerCallbackLevel = zepi_urAdapterSetLoggerCallbackLevel,
        },
    .Platform =
        {
            .pfnGet = zepi_urPlatformGet,
            .pfnGetInfo = zepi_urPlatformGetInfo,
            .pfnGetNativeHandle = zepi_urPlatformGetNativeHandle,
            .pfnCreateWithNativeHandle = zepi_urPlatformCreateWithNativeHandle,
            .pfnGetApiVersion = zepi_urPlatformGetApiVersion,
            .pfnGetBackendOption = zepi_urPlatformGetBackendOption,
        },
    .Context =
        {
            .pfnCreate = zepi_urContextCreate,
            .pfnRetain = zepi_urContextRetain,
            .pfnRelease = zepi_urContextRelease,
            .pfnGetInfo = zepi_urContextGetInfo,
            .pfnGetNativeHandle = zepi_urContextGetNativeHandle,
            .pfnCreateWithNativeHandle = zepi_urContextCreateWithNativeHandle,
            .pfnSetExtendedDeleter = zepi_urContextSetExtendedDeleter,
        },
    .Event =
        {
            .pfnGetInfo = zepi_urEventGetInfo,
            .pfnGetProfilingInfo = zepi_urEventGetProfilingInfo,
            .pfnWait = zepi_urEventWait,
            .pfnRetain = zepi_urEventRetain,
            .pfnRelease = zepi_urEventRelease,
            .pfnGetNativeHandle = zepi_urEventGetNativeHandle,
            .pfnCreateWithNativeHandle = zepi_urEventCreateWithNativeHandle,
            .pfnSetCallback = zepi_urEventSetCallback,
        },
    .EventExp =
        {
            .pfnCreateExp = zepi_urEventCreateExp,
        },
    .Program =
        {
            .pfnCreateWithIL = zepi_urProgramCreateWithIL,
            .pfnCreateWithBinary = zepi_urProgramCreateWithBinary,
            .pfnBuild = zepi_urProgramBuild,
            .pfnCompile = zepi_urProgramCompile,
            .pfnLink = zepi_urProgramLink,
            .pfnRetain = zepi_urProgramRetain,
            .pfnRelease = zepi_urProgramRelease,
            .pfnGetFunctionPointer = zepi_urProgramGetFunctionPointer,
            .pfnGetGlobalVariablePointer = zepi_urProgramGetGlobalVariablePointer,
            .pfnGetInfo = zepi_urProgramGetInfo,
            .pfnGetBuildInfo = zepi_urProgramGetBuildInfo,
            .pfnSetSpecializationConstants = zepi_urProgramSetSpecializationConstants,
            .pfnGetNativeHandle = zepi_urProgramGetNativeHandle,
            .pfnCreateWithNativeHandle = zepi_urProgramCreateWithNativeHandle,
        },
    .ProgramExp =
        {
            .pfnDynamicLinkExp = zepi_urProgramDynamicLinkExp,
            .pfnBuildExp = zepi_urProgramBuildExp,
            .pfnCompileExp = zepi_urProgramCompileExp,
            .pfnLinkExp = zepi_urProgramLinkExp,
        },
    .Kernel =
        {
            .pfnCreate = zepi_urKernelCreate,
            .pfnGetInfo = zepi_urKernelGetInfo,
            .pfnGetGroupInfo = zepi_urKernelGetGroupInfo,
            .pfnGetSubGroupInfo = zepi_urKernelGetSubGroupInfo,
            .pfnRetain = zepi_urKernelRetain,
            .pfnRelease = zepi_urKernelRelease,
            .pfnGetNativeHandle = zepi_urKernelGetNativeHandle,
            .pfnCreateWithNativeHandle = zepi_urKernelCreateWithNativeHandle,
            .pfnGetSuggestedLocalWorkSize = zepi_urKernelGetSuggestedLocalWorkSize,
            .pfnGetSuggestedLocalWorkSizeWithArgs = zepi_urKernelGetSuggestedLocalWorkSizeWithArgs,
            .pfnSetExecInfo = zepi_urKernelSetExecInfo,
            .pfnSetSpecializationConstants = zepi_urKernelSetSpecializationConstants,
            .pfnSuggestMaxCooperativeGroupCount = zepi_urKernelSuggestMaxCooperativeGroupCount,
        },
    .Queue =
        {
            .pfnGetInfo = zepi_urQueueGetInfo,
            .pfnCreate = zepi_urQueueCreate,
            .pfnRetain = zepi_urQueueRetain,
            .pfnRelease = zepi_urQueueRelease,
            .pfnGetNativeHandle = zepi_urQueueGetNativeHandle,
            .pfnCreateWithNativeHandle = zepi_urQueueCreateWithNativeHandle,
            .pfnFinish = zepi_urQueueFinish,
            .pfnFlush = zepi_urQueueFlush,
        },
    .QueueExp =
        {
            .pfnBeginGraphCaptureExp = zepi_urQueueBeginGraphCaptureExp,
            .pfnBeginCaptureIntoGraphExp = zepi_urQueueBeginCaptureIntoGraphExp,
            .pfnEndGraphCaptureExp = zepi_urQueueEndGraphCaptureExp,
            .pfnIsGraphCaptureEnabledExp = zepi_urQueueIsGraphCaptureEnabledExp,
            .pfnGetGraphExp = zepi_urQueueGetGraphExp,
        },
    .Sampler =
        {
            .pfnCreate = zepi_urSamplerCreate,
            .pfnRetain = zepi_urSamplerRetain,
            .pfnRelease = zepi_urSamplerRelease,
            .pfnGetInfo = zepi_urSamplerGetInfo,
            .pfnGetNativeHandle = zepi_urSamplerGetNativeHandle,
            .pfnCreateWithNativeHandle = zepi_urSamplerCreateWithNativeHandle,
        },
    .Mem =
        {
            .pfnImageCreate = zepi_urMemImageCreate,
            .pfnBufferCreate = zepi_urMemBufferCreate,
            .pfnRetain = zepi_urMemRetain,
            .pfnRelease = zepi_urMemRelease,
            .pfnBufferPartition = zepi_urMemBufferPartition,
            .pfnGetNativeHandle = zepi_urMemGetNativeHandle,
            .pfnBufferCreateWithNativeHandle = zepi_urMemBufferCreateWithNativeHandle,
            .pfnImageCreateWithNativeHandle = zepi_urMemImageCreateWithNativeHandle,
            .pfnGetInfo = zepi_urMemGetInfo,
            .pfnImageGetInfo = zepi_urMemImageGetInfo,
        },
    .PhysicalMem =
        {
            .pfnCreate = zepi_urPhysicalMemCreate,
            .pfnRetain = zepi_urPhysicalMemRetain,
            .pfnRelease = zepi_urPhysicalMemRelease,
            .pfnGetInfo = zepi_urPhysicalMemGetInfo,
        },
    .Enqueue =
        {
            .pfnEventsWait = zepi_urEnqueueEventsWait,
            .pfnEventsWaitWithBarrier = zepi_urEnqueueEventsWaitWithBarrier,
            .pfnMemBufferRead = zepi_urEnqueueMemBufferRead,
            .pfnMemBufferWrite = zepi_urEnqueueMemBufferWrite,
            .pfnMemBufferReadRect = zepi_urEnqueueMemBufferReadRect,
            .pfnMemBufferWriteRect = zepi_urEnqueueMemBufferWriteRect,
            .pfnMemBufferCopy = zepi_urEnqueueMemBufferCopy,
            .pfnMemBufferCopyRect = zepi_urEnqueueMemBufferCopyRect,
            .pfnMemBufferFill = zepi_urEnqueueMemBufferFill,
            .pfnMemImageRead = zepi_urEnqueueMemImageRead,
            .pfnMemImageWrite = zepi_urEnqueueMemImageWrite,
            .pfnMemImageCopy = zepi_urEnqueueMemImageCopy,
            .pfnMemBufferMap = zepi_urEnqueueMemBufferMap,
            .pfnMemUnmap = zepi_urEnqueueMemUnmap,
            .pfnUSMFill = zepi_urEnqueueUSMFill,
            .pfnUSMMemcpy = zepi_urEnqueueUSMMemcpy,
            .pfnUSMPrefetch = zepi_urEnqueueUSMPrefetch,
            .pfnUSMAdvise = zepi_urEnqueueUSMAdvise,
            .pfnUSMFill2D = zepi_urEnqueueUSMFill2D,
            .pfnUSMMemcpy2D = zepi_urEnqueueUSMMemcpy2D,
            .pfnDeviceGlobalVariableWrite = zepi_urEnqueueDeviceGlobalVariableWrite,
            .pfnDeviceGlobalVariableRead = zepi_urEnqueueDeviceGlobalVariableRead,
            .pfnReadHostPipe = zepi_urEnqueueReadHostPipe,
            .pfnWriteHostPipe = zepi_urEnqueueWriteHostPipe,
            .pfnEventsWaitWithBarrierExt = zepi_urEnqueueEventsWaitWithBarrierExt,
        },
    .EnqueueExp =
        {
            .pfnKernelLaunchWithArgsExp = zepi_urEnqueueKernelLaunchWithArgsExp,
            .pfnUSMDeviceAllocExp = zepi_urEnqueueUSMDeviceAllocExp,
            .pfnUSMSharedAllocExp = zepi_urEnqueueUSMSharedAllocExp,
            .pfnUSMHostAllocExp = zepi_urEnqueueUSMHostAllocExp,
            .pfnUSMFreeExp = zepi_urEnqueueUSMFreeExp,
            .pfnTimestampRecordingExp = zepi_urEnqueueTimestampRecordingExp,
            .pfnCommandBufferExp = zepi_urEnqueueCommandBufferExp,
            .pfnHostTaskExp = zepi_urEnqueueHostTaskExp,
            .pfnNativeCommandExp = zepi_urEnqueueNativeCommandExp,
            .pfnGraphExp = zepi_urEnqueueGraphExp,
        },
    .USM =
        {
            .pfnHostAlloc = zepi_urUSMHostAlloc,
            .pfnDeviceAlloc = zepi_urUSMDeviceAlloc,
            .pfnSharedAlloc = zepi_urUSMSharedAlloc,
            .pfnFree = zepi_urUSMFree,
            .pfnGetMemAllocInfo = zepi_urUSMGetMemAllocInfo,
            .pfnPoolCreate = zepi_urUSMPoolCreate,
            .pfnPoolRetain = zepi_urUSMPoolRetain,
            .pfnPoolRelease = zepi_urUSMPoolRelease,
            .pfnPoolGetInfo = zepi_urUSMPoolGetInfo,
        },
    .USMExp =
        {
            .pfnPoolCreateExp = zepi_urUSMPoolCreateExp,
            .pfnPoolDestroyExp = zepi_urUSMPoolDestroyExp,
            .pfnPoolGetDefaultDevicePoolExp = zepi_urUSMPoolGetDefaultDevicePoolExp,
            .pfnPoolGetInfoExp = zepi_urUSMPoolGetInfoExp,
            .pfnPoolSetInfoExp = zepi_urUSMPoolSetInfoExp,
            .pfnPoolSetDevicePoolExp = zepi_urUSMPoolSetDevicePoolExp,
            .pfnPoolGetDevicePoolExp = zepi_urUSMPoolGetDevicePoolExp,
            .pfnPoolTrimToExp = zepi_urUSMPoolTrimToExp,
            .pfnPitchedAllocExp = zepi_urUSMPitchedAllocExp,
            .pfnContextMemcpyExp = zepi_urUSMContextMemcpyExp,
            .pfnHostAllocUnregisterExp = zepi_urUSMHostAllocUnregisterExp,
            .pfnHostAllocRegisterExp = zepi_urUSMHostAllocRegisterExp,
            .pfnImportExp = zepi_urUSMImportExp,
            .pfnReleaseExp = zepi_urUSMReleaseExp,
        },
    .BindlessImagesExp =
        {
            .pfnUnsampledImageHandleDestroyExp =
                zepi_urBindlessImagesUnsampledImageHandleDestroyExp,
            .pfnSampledImageHandleDestroyExp = zepi_urBindlessImagesSampledImageHandleDestroyExp,
            .pfnImageAllocateExp = zepi_urBindlessImagesImageAllocateExp,
            .pfnImageFreeExp = zepi_urBindlessImagesImageFreeExp,
            .pfnUnsampledImageCreateExp = zepi_urBindlessImagesUnsampledImageCreateExp,
            .pfnSampledImageCreateExp = zepi_urBindlessImagesSampledImageCreateExp,
            .pfnImageCopyExp = zepi_urBindlessImagesImageCopyExp,
            .pfnImageGetInfoExp = zepi_urBindlessImagesImageGetInfoExp,
            .pfnGetImageMemoryHandleTypeSupportExp =
                zepi_urBindlessImagesGetImageMemoryHandleTypeSupportExp,
            .pfnGetImageUnsampledHandleSupportExp =
                zepi_urBindlessImagesGetImageUnsampledHandleSupportExp,
            .pfnGetImageSampledHandleSupportExp =
                zepi_urBindlessImagesGetImageSampledHandleSupportExp,
            .pfnMipmapGetLevelExp = zepi_urBindlessImagesMipmapGetLevelExp,
            .pfnMipmapFreeExp = zepi_urBindlessImagesMipmapFreeExp,
            .pfnImportExternalMemoryExp = zepi_urBindlessImagesImportExternalMemoryExp,
            .pfnMapExternalArrayExp = zepi_urBindlessImagesMapExternalArrayExp,
            .pfnMapExternalLinearMemoryExp = zepi_urBindlessImagesMapExternalLinearMemoryExp,
            .pfnReleaseExternalMemoryExp = zepi_urBindlessImagesReleaseExternalMemoryExp,
            .pfnFreeMappedLinearMemoryExp = zepi_urBindlessImagesFreeMappedLinearMemoryExp,
            .pfnSupportsImportingHandleTypeExp =
                zepi_urBindlessImagesSupportsImportingHandleTypeExp,
            .pfnImportExternalSemaphoreExp = zepi_urBindlessImagesImportExternalSemaphoreExp,
            .pfnReleaseExternalSemaphoreExp = zepi_urBindlessImagesReleaseExternalSemaphoreExp,
            .pfnWaitExternalSemaphoreExp = zepi_urBindlessImagesWaitExternalSemaphoreExp,
            .pfnSignalExternalSemaphoreExp = zepi_urBindlessImagesSignalExternalSemaphoreExp,
        },
    .CommandBufferExp =
        {
            .pfnCreateExp = zepi_urCommandBufferCreateExp,
            .pfnRetainExp = zepi_urCommandBufferRetainExp,
            .pfnReleaseExp = zepi_urCommandBufferReleaseExp,
            .pfnFinalizeExp = zepi_urCommandBufferFinalizeExp,
            .pfnAppendKernelLaunchExp = zepi_urCommandBufferAppendKernelLaunchExp,
            .pfnAppendKernelLaunchWithArgsExp = zepi_urCommandBufferAppendKernelLaunchWithArgsExp,
            .pfnAppendUSMMemcpyExp = zepi_urCommandBufferAppendUSMMemcpyExp,
            .pfnAppendUSMFillExp = zepi_urCommandBufferAppendUSMFillExp,
            .pfnAppendMemBufferCopyExp = zepi_urCommandBufferAppendMemBufferCopyExp,
            .pfnAppendMemBufferWriteExp = zepi_urCommandBufferAppendMemBufferWriteExp,
            .pfnAppendMemBufferReadExp = zepi_urCommandBufferAppendMemBufferReadExp,
            .pfnAppendMemBufferCopyRectExp = zepi_urCommandBufferAppendMemBufferCopyRectExp,
            .pfnAppendMemBufferWriteRectExp = zepi_urCommandBufferAppendMemBufferWriteRectExp,
            .pfnAppendMemBufferReadRectExp = zepi_urCommandBufferAppendMemBufferReadRectExp,
            .pfnAppendMemBufferFillExp = zepi_urCommandBufferAppendMemBufferFillExp,
            .pfnAppendUSMPrefetchExp = zepi_urCommandBufferAppendUSMPrefetchExp,
            .pfnAppendUSMAdviseExp = zepi_urCommandBufferAppendUSMAdviseExp,
            .pfnAppendNativeCommandExp = zepi_urCommandBufferAppendNativeCommandExp,
            .pfnUpdateKernelLaunchExp = zepi_urCommandBufferUpdateKernelLaunchExp,
            .pfnUpdateSignalEventExp = zepi_urCommandBufferUpdateSignalEventExp,
            .pfnUpdateWaitEventsExp = zepi_urCommandBufferUpdateWaitEventsExp,
            .pfnGetInfoExp = zepi_urCommandBufferGetInfoExp,
            .pfnGetNativeHandleExp = zepi_urCommandBufferGetNativeHandleExp,
        },
    .GraphExp =
        {
            .pfnCreateExp = zepi_urGraphCreateExp,
            .pfnInstantiateGraphExp = zepi_urGraphInstantiateGraphExp,
            .pfnDestroyExp = zepi_urGraphDestroyExp,
            .pfnExecutableGraphDestroyExp = zepi_urGraphExecutableGraphDestroyExp,
            .pfnIsEmptyExp = zepi_urGraphIsEmptyExp,
            .pfnGetIdExp = zepi_urGraphGetIdExp,
            .pfnSetDestructionCallbackExp = zepi_urGraphSetDestructionCallbackExp,
            .pfnDumpContentsExp = zepi_urGraphDumpContentsExp,
            .pfnGetNativeHandleExp = zepi_urGraphGetNativeHandleExp,
            .pfnExecutableGraphGetNativeHandleExp = zepi_urGraphExecutableGraphGetNativeHandleExp,
        },
    .IPCExp =
        {
            .pfnGetMemHandleExp = zepi_urIPCGetMemHandleExp,
            .pfnPutMemHandleExp = zepi_urIPCPutMemHandleExp,
            .pfnOpenMemHandleExp = zepi_urIPCOpenMemHandleExp,
            .pfnCloseMemHandleExp = zepi_urIPCCloseMemHandleExp,
            .pfnGetPhysMemHandleExp = zepi_urIPCGetPhysMemHandleExp,
            .pfnPutPhysMemHandleExp = zepi_urIPCPutPhysMemHandleExp,
            .pfnOpenPhysMemHandleExp = zepi_urIPCOpenPhysMemHandleExp,
            .pfnClosePhysMemHandleExp = zepi_urIPCClosePhysMemHandleExp,
            .pfnGetEventHandleExp = zepi_urIPCGetEventHandleExp,
            .pfnPutEventHandleExp = zepi_urIPCPutEventHandleExp,
            .pfnOpenEventHandleExp = zepi_urIPCOpenEventHandleExp,
        },
    .MemoryExportExp =
        {
            .pfnAllocExportableMemoryExp = zepi_urMemoryExportAllocExportableMemoryExp,
            .pfnFreeExportableMemoryExp = zepi_urMemoryExportFreeExportableMemoryExp,
            .pfnExportMemoryHandleExp = zepi_urMemoryExportExportMemoryHandleExp,
        },
    .UsmP2PExp =
        {
            .pfnEnablePeerAccessExp = zepi_urUsmP2PEnablePeerAccessExp,
            .pfnDisablePeerAccessExp = zepi_urUsmP2PDisablePeerAccessExp,
            .pfnPeerAccessGetInfoExp = zepi_urUsmP2PPeerAccessGetInfoExp,
        },
    .VirtualMem =
        {
            .pfnGranularityGetInfo = zepi_urVirtualMemGranularityGetInfo,
            .pfnReserve = zepi_urVirtualMemReserve,
            .pfnFree = zepi_urVirtualMemFree,
            .pfnMap = zepi_urVirtualMemMap,
            .pfnUnmap = zepi_urVirtualMemUnmap,
            .pfnSetAccess = zepi_urVirtualMemSetAccess,
            .pfnGetInfo = zepi_urVirtualMemGetInfo,
        },
    .Device =
        {
            .pfnGet = zepi_urDeviceGet,
            .pfnGetInfo = zepi_urDeviceGetInfo,
            .pfnRetain = zepi_urDeviceRetain,
            .pfnRelease = zepi_urDeviceRelease,
            .pfnPartition = zepi_urDevicePartition,
            .pfnSelectBinary = zepi_urDeviceSelectBinary,
            .pfnGetNativeHandle = zepi_urDeviceGetNativeHandle,
            .pfnCreateWithNativeHandle = zepi_urDeviceCreateWithNativeHandle,
            .pfnGetGlobalTimestamps = zepi_urDeviceGetGlobalTimestamps,
        },
    .DeviceExp =
        {
            .pfnWaitExp = zepi_urDeviceWaitExp,
        },
};

static ur_result_t fill(ur_api_version_t version, void *table, const void *from, size_t size_bytes)
{
    if (!table)
        return UR_RESULT_ERROR_INVALID_NULL_POINTER;
    // Layouts change with minor versions, too.
    if (version != UR_API_VERSION_CURRENT) {
        zepi_log(ZEPI_LOG_ERROR, "a loader of Unified Runtime %u.%u; this adapter is for %u.%u",
                 UR_MAJOR_VERSION(version), UR_MINOR_VERSION(version),
                 UR_MAJOR_VERSION(UR_API_VERSION_CURRENT),
                 UR_MINOR_VERSION(UR_API_VERSION_CURRENT));
        return UR_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    memcpy(table, from, size_bytes);
    return UR_RESULT_SUCCESS;
}

// The table that is asked for first: a loader whose layout of the others differs must not get one.
UR_DLLEXPORT ur_result_t UR_APICALL urGetAdapterProcAddrTable(ur_api_version_t version,
                                                              ur_adapter_dditable_t *pDdiTable)
{
    const void *caller = __builtin_extract_return_addr(__builtin_return_address(0));
    if (zepi_options()->ur_loader_check && !zepi_ur_loader_check(caller))
        return UR_RESULT_ERROR_UNSUPPORTED_VERSION;
    zepi_ur_loader_note(caller);
    zepi_object_set_front_door((void *)&zepi_ur_tables);
    return fill(version, pDdiTable, &zepi_ur_tables.Adapter, sizeof(*pDdiTable));
}

#define GETTER(member, type)                                                                       \
    UR_DLLEXPORT ur_result_t UR_APICALL urGet##member##ProcAddrTable(ur_api_version_t version,     \
                                                                     type *pDdiTable)              \
    {                                                                                              \
        return fill(version, pDdiTable, &zepi_ur_tables.member, sizeof(*pDdiTable));               \
    }
GETTER(Platform, ur_platform_dditable_t)
GETTER(Context, ur_context_dditable_t)
GETTER(Event, ur_event_dditable_t)
GETTER(EventExp, ur_event_exp_dditable_t)
GETTER(Program, ur_program_dditable_t)
GETTER(ProgramExp, ur_program_exp_dditable_t)
GETTER(Kernel, ur_kernel_dditable_t)
GETTER(Queue, ur_queue_dditable_t)
GETTER(QueueExp, ur_queue_exp_dditable_t)
GETTER(Sampler, ur_sampler_dditable_t)
GETTER(Mem, ur_mem_dditable_t)
GETTER(PhysicalMem, ur_physical_mem_dditable_t)
GETTER(Enqueue, ur_enqueue_dditable_t)
GETTER(EnqueueExp, ur_enqueue_exp_dditable_t)
GETTER(USM, ur_usm_dditable_t)
GETTER(USMExp, ur_usm_exp_dditable_t)
GETTER(BindlessImagesExp, ur_bindless_images_exp_dditable_t)
GETTER(CommandBufferExp, ur_command_buffer_exp_dditable_t)
GETTER(GraphExp, ur_graph_exp_dditable_t)
GETTER(IPCExp, ur_ipc_exp_dditable_t)
GETTER(MemoryExportExp, ur_memory_export_exp_dditable_t)
GETTER(UsmP2PExp, ur_usm_p2p_exp_dditable_t)
GETTER(VirtualMem, ur_virtual_mem_dditable_t)
GETTER(Device, ur_device_dditable_t)
GETTER(DeviceExp, ur_device_exp_dditable_t)
