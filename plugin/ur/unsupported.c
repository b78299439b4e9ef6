// SPDX-License-Identifier: MIT
// The functions that this adapter refuses, each with its reason. tests/ur checks that this list and
// the tables agree.
#include "ur/check.h"

// Defines a function that is refused for a reason.
#define REFUSED(function, reason, parameters)                                                      \
    ur_result_t zepi_##function parameters                                                         \
    {                                                                                              \
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE, "%s: %s", #function, reason);   \
    }

REFUSED(urEventSetCallback, "Level Zero has no callbacks of events",
        (ur_event_handle_t hEvent, ur_execution_info_t execStatus, ur_event_callback_t pfnNotify,
         void *pUserData))
REFUSED(urKernelSetSpecializationConstants,
        "constants are set on programs: Level Zero has them on modules",
        (ur_kernel_handle_t hKernel, uint32_t count,
         const ur_specialization_constant_info_t *pSpecConstants))
REFUSED(urEnqueueReadHostPipe, "Level Zero has no pipes",
        (ur_queue_handle_t hQueue, ur_program_handle_t hProgram, const char *pipe_symbol,
         bool blocking, void *pDst, size_t size, uint32_t wait_count,
         const ur_event_handle_t *wait_list, ur_event_handle_t *out_event))
REFUSED(urEnqueueWriteHostPipe, "Level Zero has no pipes",
        (ur_queue_handle_t hQueue, ur_program_handle_t hProgram, const char *pipe_symbol,
         bool blocking, void *pSrc, size_t size, uint32_t wait_count,
         const ur_event_handle_t *wait_list, ur_event_handle_t *out_event))

static const char no_bindless_images[] =
    "kernels with bindless images run on no driver that zepi was tried on: the OpenCL CPU runtime "
    "refuses the capability of their SPIR-V (6528, BindlessImagesINTEL)";
static const char no_semaphores[] =
    "no driver that zepi was tried on takes a semaphore of another interface "
    "(zeDeviceImportExternalSemaphoreExt returns UNSUPPORTED_FEATURE; quirk semaphores-refused)";

REFUSED(urBindlessImagesUnsampledImageHandleDestroyExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         ur_exp_image_native_handle_t hImage))
REFUSED(urBindlessImagesSampledImageHandleDestroyExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         ur_exp_image_native_handle_t hImage))
REFUSED(urBindlessImagesImageAllocateExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         const ur_image_format_t *pImageFormat, const ur_image_desc_t *pImageDesc,
         ur_exp_image_mem_native_handle_t *phImageMem))
REFUSED(urBindlessImagesImageFreeExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         ur_exp_image_mem_native_handle_t hImageMem))
REFUSED(urBindlessImagesUnsampledImageCreateExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         ur_exp_image_mem_native_handle_t hImageMem, const ur_image_format_t *pImageFormat,
         const ur_image_desc_t *pImageDesc, ur_exp_image_native_handle_t *phImage))
REFUSED(urBindlessImagesSampledImageCreateExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         ur_exp_image_mem_native_handle_t hImageMem, const ur_image_format_t *pImageFormat,
         const ur_image_desc_t *pImageDesc, const ur_sampler_desc_t *pSamplerDesc,
         ur_exp_image_native_handle_t *phImage))
REFUSED(urBindlessImagesImageCopyExp, no_bindless_images,
        (ur_queue_handle_t hQueue, const void *pSrc, void *pDst,
         const ur_image_desc_t *pSrcImageDesc, const ur_image_desc_t *pDstImageDesc,
         const ur_image_format_t *pSrcImageFormat, const ur_image_format_t *pDstImageFormat,
         ur_exp_image_copy_region_t *pCopyRegion, ur_exp_image_copy_flags_t imageCopyFlags,
         ur_exp_image_copy_input_types_t imageCopyInputTypes, uint32_t wait_count,
         const ur_event_handle_t *wait_list, ur_event_handle_t *out_event))
REFUSED(urBindlessImagesImageGetInfoExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_exp_image_mem_native_handle_t hImageMem,
         ur_image_info_t query, void *value, size_t *out_size))
REFUSED(urBindlessImagesGetImageMemoryHandleTypeSupportExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         const ur_image_desc_t *pImageDesc, const ur_image_format_t *pImageFormat,
         ur_exp_image_mem_type_t imageMemHandleType, ur_bool_t *pSupportedRet))
REFUSED(urBindlessImagesGetImageUnsampledHandleSupportExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         const ur_image_desc_t *pImageDesc, const ur_image_format_t *pImageFormat,
         ur_exp_image_mem_type_t imageMemHandleType, ur_bool_t *pSupportedRet))
REFUSED(urBindlessImagesGetImageSampledHandleSupportExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         const ur_image_desc_t *pImageDesc, const ur_image_format_t *pImageFormat,
         ur_exp_image_mem_type_t imageMemHandleType, ur_bool_t *pSupportedRet))
REFUSED(urBindlessImagesMipmapGetLevelExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         ur_exp_image_mem_native_handle_t hImageMem, uint32_t mipmapLevel,
         ur_exp_image_mem_native_handle_t *phImageMem))
REFUSED(urBindlessImagesMipmapFreeExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         ur_exp_image_mem_native_handle_t hMem))
REFUSED(urBindlessImagesMapExternalArrayExp, no_bindless_images,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         const ur_image_format_t *pImageFormat, const ur_image_desc_t *pImageDesc,
         ur_exp_external_mem_handle_t hExternalMem, ur_exp_image_mem_native_handle_t *phImageMem))
REFUSED(urBindlessImagesImportExternalSemaphoreExp, no_semaphores,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         ur_exp_external_semaphore_type_t semHandleType,
         ur_exp_external_semaphore_desc_t *pExternalSemaphoreDesc,
         ur_exp_external_semaphore_handle_t *phExternalSemaphore))
REFUSED(urBindlessImagesReleaseExternalSemaphoreExp, no_semaphores,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         ur_exp_external_semaphore_handle_t hExternalSemaphore))
REFUSED(urBindlessImagesWaitExternalSemaphoreExp, no_semaphores,
        (ur_queue_handle_t hQueue, ur_exp_external_semaphore_handle_t hSemaphore, bool hasWaitValue,
         uint64_t waitValue, uint32_t wait_count, const ur_event_handle_t *wait_list,
         ur_event_handle_t *out_event))
REFUSED(urBindlessImagesSignalExternalSemaphoreExp, no_semaphores,
        (ur_queue_handle_t hQueue, ur_exp_external_semaphore_handle_t hSemaphore,
         bool hasSignalValue, uint64_t signalValue, uint32_t wait_count,
         const ur_event_handle_t *wait_list, ur_event_handle_t *out_event))

static const char unshared_events[] =
    "no driver that zepi was tried on shares the state of an event as the header wants it "
    "(zexCounterBasedEventOpenIpcHandle): a signal of the opened event does not reach the other "
    "one, and an event that was never signalled has no status (quirk unshared-events)";

REFUSED(urIPCGetEventHandleExp, unshared_events,
        (ur_event_handle_t hEvent, void **ppIPCEventHandleData, size_t *pIPCEventHandleDataSizeRet))
REFUSED(urIPCPutEventHandleExp, unshared_events,
        (ur_context_handle_t hContext, void *pIPCEventHandleData))
REFUSED(urIPCOpenEventHandleExp, unshared_events,
        (ur_context_handle_t hContext, const void *pIPCEventHandleData,
         size_t ipcEventHandleDataSize, ur_event_handle_t *out_event))

static const char no_physical_sharing[] = "physical memory is not shared with other processes, USM "
                                          "is: no application that zepi was tried "
                                          "with shares it (plugin/memory/interop/README.md)";

REFUSED(urIPCGetPhysMemHandleExp, no_physical_sharing,
        (ur_context_handle_t hContext, ur_physical_mem_handle_t hPhysMem,
         void **ppIPCPhysMemHandleData, size_t *pIPCPhysMemHandleDataSizeRet))
REFUSED(urIPCPutPhysMemHandleExp, no_physical_sharing,
        (ur_context_handle_t hContext, const void *pIPCPhysMemHandleData))
REFUSED(urIPCOpenPhysMemHandleExp, no_physical_sharing,
        (ur_context_handle_t hContext, ur_device_handle_t hDevice,
         const void *pIPCPhysMemHandleData, size_t ipcPhysMemHandleDataSize,
         ur_physical_mem_handle_t *phPhysMem))
REFUSED(urIPCClosePhysMemHandleExp, no_physical_sharing,
        (ur_context_handle_t hContext, ur_physical_mem_handle_t hPhysMem))

static const char no_command_events[] =
    "a single command of a command buffer neither waits for events nor has one; executions do";

REFUSED(urCommandBufferUpdateSignalEventExp, no_command_events,
        (ur_exp_command_buffer_command_handle_t hCommand, ur_event_handle_t *phSignalEvent))
REFUSED(urCommandBufferUpdateWaitEventsExp, no_command_events,
        (ur_exp_command_buffer_command_handle_t hCommand, uint32_t wait_count,
         const ur_event_handle_t *wait_list))
