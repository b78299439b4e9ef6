// SPDX-License-Identifier: MIT
#include "command/command_list.h"
#include "entry.h"
#include "image/image.h"

#include <string.h>

// Fills origin and region from the application's region; NULL is all of the image. Only the width
// may be 0. SIZE if it does not fit.
static ze_result_t place(const struct cpu_image *image, const ze_image_region_t *from,
                         size_t origin[3], size_t region[3])
{
    if (from == NULL) {
        memset(origin, 0, 3 * sizeof(origin[0]));
        memcpy(region, image->extent, 3 * sizeof(region[0]));
        return ZE_RESULT_SUCCESS;
    }
    const size_t origins[3] = {from->originX, from->originY, from->originZ};
    const size_t sizes[3] = {from->width, from->height != 0 ? from->height : 1,
                             from->depth != 0 ? from->depth : 1};
    for (int i = 0; i < 3; i++) {
        if (origins[i] + sizes[i] > image->extent[i])
            return ZE_RESULT_ERROR_INVALID_SIZE;
        origin[i] = origins[i];
        region[i] = sizes[i];
    }
    return ZE_RESULT_SUCCESS;
}

// Pitches of 0 mean that rows and slices lie one behind the other.
static ze_result_t check_pitches(const struct cpu_image *image, const struct cpu_image_copy *copy,
                                 const char *function)
{
    size_t row = copy->region[0] * image->format.element_bytes;
    size_t pitch = copy->row_bytes != 0 ? copy->row_bytes : row;
    // The rows of a one-dimensional array are slices.
    size_t slice = image->is_1d_array ? row : pitch * copy->region[1];
    if (pitch >= row && (copy->slice_bytes == 0 || copy->slice_bytes >= slice))
        return ZE_RESULT_SUCCESS;
    cpu_report(function, "pitches of %zu and %zu bytes are less than %zu and %zu", copy->row_bytes,
               copy->slice_bytes, row, slice);
    return ZE_RESULT_ERROR_INVALID_SIZE;
}

static ze_result_t append(ze_command_list_handle_t hCommandList, const struct cpu_image_copy *copy,
                          ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits,
                          const char *function)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    struct cpu_command *command;
    // OpenCL takes no empty region.
    const enum cpu_command_kind kind =
        copy->region[0] == 0 ? CPU_COMMAND_BARRIER : CPU_COMMAND_IMAGE_COPY;
    ze_result_t result =
        cpu_list_command(list, kind, 0, signal, wait_count, waits, function, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command->u.image = *copy;
    return cpu_list_add(list, command, function);
}

static bool overlaps(const struct cpu_image_copy *copy)
{
    for (int i = 0; i < 3; i++)
        if (copy->source_origin[i] >= copy->target_origin[i] + copy->region[i] ||
            copy->target_origin[i] >= copy->source_origin[i] + copy->region[i])
            return false;
    return copy->source == copy->target;
}

static ze_result_t check_pair(const struct cpu_image_copy *copy, const char *function)
{
    const struct cpu_image_format *source = &copy->source->format;
    const struct cpu_image_format *target = &copy->target->format;
    if (source->format.image_channel_order != target->format.image_channel_order ||
        source->format.image_channel_data_type != target->format.image_channel_data_type ||
        source->channels.count != target->channels.count ||
        source->channels.packing != target->channels.packing ||
        memcmp(source->channels.component, target->channels.component,
               sizeof(source->channels.component)) != 0) {
        cpu_report(function, "images %p and %p have different formats", (void *)copy->source,
                   (void *)copy->target);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (overlaps(copy)) {
        cpu_report(function, "source and target overlap");
        return ZE_RESULT_ERROR_OVERLAPPING_REGIONS;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendImageCopyRegion(
    ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage, ze_image_handle_t hSrcImage,
    const ze_image_region_t *pDstRegion, const ze_image_region_t *pSrcRegion,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct cpu_image_copy copy = {.source = (struct cpu_image *)hSrcImage,
                                  .target = (struct cpu_image *)hDstImage};
    size_t target_region[3];
    ze_result_t result = place(copy.source, pSrcRegion, copy.source_origin, copy.region);
    if (result == ZE_RESULT_SUCCESS)
        result = place(copy.target, pDstRegion, copy.target_origin, target_region);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (memcmp(copy.region, target_region, sizeof(target_region)) != 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    result = check_pair(&copy, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return append(hCommandList, &copy, hSignalEvent, numWaitEvents, phWaitEvents, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendImageCopy(
    ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage, ze_image_handle_t hSrcImage,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    return cpu_zeCommandListAppendImageCopyRegion(hCommandList, hDstImage, hSrcImage, NULL, NULL,
                                                  hSignalEvent, numWaitEvents, phWaitEvents);
}

// Between memory and a region of an image.
static ze_result_t append_transfer(ze_command_list_handle_t hCommandList,
                                   struct cpu_image_copy *copy, const ze_image_region_t *region,
                                   ze_event_handle_t signal, uint32_t wait_count,
                                   ze_event_handle_t *waits, const char *function)
{
    const bool is_read = copy->source != NULL;
    const struct cpu_image *image = is_read ? copy->source : copy->target;
    ze_result_t result =
        place(image, region, is_read ? copy->source_origin : copy->target_origin, copy->region);
    if (result == ZE_RESULT_SUCCESS)
        result = check_pitches(image, copy, function);
    return result == ZE_RESULT_SUCCESS
               ? append(hCommandList, copy, signal, wait_count, waits, function)
               : result;
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendImageCopyToMemoryExt(
    ze_command_list_handle_t hCommandList, void *dstptr, ze_image_handle_t hSrcImage,
    const ze_image_region_t *pSrcRegion, uint32_t destRowPitch, uint32_t destSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct cpu_image_copy copy = {.source = (struct cpu_image *)hSrcImage,
                                  .pointer = dstptr,
                                  .row_bytes = destRowPitch,
                                  .slice_bytes = destSlicePitch};
    return append_transfer(hCommandList, &copy, pSrcRegion, hSignalEvent, numWaitEvents,
                           phWaitEvents, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendImageCopyToMemory(
    ze_command_list_handle_t hCommandList, void *dstptr, ze_image_handle_t hSrcImage,
    const ze_image_region_t *pSrcRegion, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    return cpu_zeCommandListAppendImageCopyToMemoryExt(hCommandList, dstptr, hSrcImage, pSrcRegion,
                                                       0, 0, hSignalEvent, numWaitEvents,
                                                       phWaitEvents);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendImageCopyFromMemoryExt(
    ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage, const void *srcptr,
    const ze_image_region_t *pDstRegion, uint32_t srcRowPitch, uint32_t srcSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct cpu_image_copy copy = {.target = (struct cpu_image *)hDstImage,
                                  .pointer = (void *)srcptr,
                                  .row_bytes = srcRowPitch,
                                  .slice_bytes = srcSlicePitch};
    return append_transfer(hCommandList, &copy, pDstRegion, hSignalEvent, numWaitEvents,
                           phWaitEvents, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendImageCopyFromMemory(
    ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage, const void *srcptr,
    const ze_image_region_t *pDstRegion, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    return cpu_zeCommandListAppendImageCopyFromMemoryExt(hCommandList, hDstImage, srcptr,
                                                         pDstRegion, 0, 0, hSignalEvent,
                                                         numWaitEvents, phWaitEvents);
}
