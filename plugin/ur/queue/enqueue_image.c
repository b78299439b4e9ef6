// SPDX-License-Identifier: MIT
#include "copy/image_copy.h"
#include "memory/image.h"
#include "ur/command.h"
#include "ur/memory/mem.h"

static ur_result_t image_command_begin(struct zepi_ur_command *command, ur_queue_handle_t queue,
                                       ur_mem_handle_t image, bool is_blocking, uint32_t wait_count,
                                       const ur_event_handle_t *wait_list,
                                       ur_event_handle_t *out_event)
{
    const ur_result_t result =
        zepi_ur_command_begin(command, queue, is_blocking, wait_count, wait_list, out_event);
    return result ? result : zepi_ur_check_image(image, command->queue->context);
}

// In pixels. Layers of an array are its last dimension, in both interfaces.
static ur_result_t image_region_init(ze_image_region_t *out, const struct zepi_image *image,
                                     ur_rect_offset_t origin, ur_rect_region_t region)
{
    const ze_image_desc_t *desc = &image->desc;
    const uint64_t layers = desc->arraylevels > 0 ? desc->arraylevels : 1;
    const uint64_t width = desc->width;
    const uint64_t height = desc->type == ZE_IMAGE_TYPE_1DARRAY ? layers : desc->height;
    const uint64_t depth = desc->type == ZE_IMAGE_TYPE_2DARRAY ? layers : desc->depth;
    if (region.width == 0 || region.height == 0 || region.depth == 0 || origin.x > width ||
        region.width > width - origin.x || origin.y > height || region.height > height - origin.y ||
        origin.z > depth || region.depth > depth - origin.z)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                              "the region reaches past the image of %llu x %llu x %llu pixels",
                              (unsigned long long)width, (unsigned long long)height,
                              (unsigned long long)depth);
    *out = (ze_image_region_t){.originX = (uint32_t)origin.x,
                               .originY = (uint32_t)origin.y,
                               .originZ = (uint32_t)origin.z,
                               .width = (uint32_t)region.width,
                               .height = (uint32_t)region.height,
                               .depth = (uint32_t)region.depth};
    return UR_RESULT_SUCCESS;
}

// Pitches of rows without gaps are none.
static ur_result_t copy_pitches_init(const struct zepi_ur_mem *mem, ur_rect_region_t region,
                                     size_t row_pitch, size_t slice_pitch,
                                     struct zepi_image_copy *copy)
{
    const size_t row = mem->image_element_bytes * region.width;
    const size_t pitch = row_pitch ? row_pitch : row;
    const size_t slice = slice_pitch ? slice_pitch : pitch * region.height;
    if (pitch < row || slice < pitch * region.height || pitch > UINT32_MAX || slice > UINT32_MAX)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                              "pitches of %zu and %zu bytes for rows of %zu bytes", row_pitch,
                              slice_pitch, row);
    const bool is_dense = pitch == row && slice == pitch * region.height;
    copy->row_pitch_bytes = is_dense ? 0 : (uint32_t)pitch;
    copy->slice_pitch_bytes = is_dense ? 0 : (uint32_t)slice;
    return UR_RESULT_SUCCESS;
}

static ur_result_t image_command_end(struct zepi_ur_command *command,
                                     const struct zepi_image_copy *copy, ur_command_t type)
{
    const zepi_result_t done =
        zepi_queue_copy_image(command->queue, copy, command->wait, zepi_ur_command_event(command));
    return zepi_ur_command_end(command, done, type);
}

// Pixels in memory.
struct memory_side {
    void *memory;
    size_t row_pitch, slice_pitch;
};

// Copies a region of an image to memory, or from there.
static ur_result_t transfer_image(struct zepi_ur_command *command, ur_mem_handle_t handle,
                                  ur_rect_offset_t origin, ur_rect_region_t region,
                                  const struct memory_side *side, ur_command_t type)
{
    const bool is_read = type == UR_COMMAND_MEM_IMAGE_READ;
    const struct zepi_ur_mem *mem = zepi_ur_mem(handle);
    struct zepi_image_copy copy = {.from = is_read ? mem->image : NULL,
                                   .from_memory = is_read ? NULL : side->memory,
                                   .to = is_read ? NULL : mem->image,
                                   .to_memory = is_read ? side->memory : NULL};
    ur_result_t result;
    if ((result = zepi_ur_check_pointer(side->memory, is_read ? "pDst" : "pSrc")) ||
        (result = image_region_init(is_read ? &copy.from_region : &copy.to_region, mem->image,
                                    origin, region)) ||
        (result = copy_pitches_init(mem, region, side->row_pitch, side->slice_pitch, &copy)))
        return result;
    return image_command_end(command, &copy, type);
}

ur_result_t zepi_urEnqueueMemImageRead(ur_queue_handle_t hQueue, ur_mem_handle_t hImage,
                                       bool blockingRead, ur_rect_offset_t origin,
                                       ur_rect_region_t region, size_t rowPitch, size_t slicePitch,
                                       void *pDst, uint32_t wait_count,
                                       const ur_event_handle_t *wait_list,
                                       ur_event_handle_t *out_event)
{
    struct zepi_ur_command command;
    const struct memory_side side = {pDst, rowPitch, slicePitch};
    const ur_result_t result = image_command_begin(&command, hQueue, hImage, blockingRead,
                                                   wait_count, wait_list, out_event);
    return result
               ? result
               : transfer_image(&command, hImage, origin, region, &side, UR_COMMAND_MEM_IMAGE_READ);
}

ur_result_t zepi_urEnqueueMemImageWrite(ur_queue_handle_t hQueue, ur_mem_handle_t hImage,
                                        bool blockingWrite, ur_rect_offset_t origin,
                                        ur_rect_region_t region, size_t rowPitch, size_t slicePitch,
                                        void *pSrc, uint32_t wait_count,
                                        const ur_event_handle_t *wait_list,
                                        ur_event_handle_t *out_event)
{
    struct zepi_ur_command command;
    const struct memory_side side = {pSrc, rowPitch, slicePitch};
    const ur_result_t result = image_command_begin(&command, hQueue, hImage, blockingWrite,
                                                   wait_count, wait_list, out_event);
    return result ? result
                  : transfer_image(&command, hImage, origin, region, &side,
                                   UR_COMMAND_MEM_IMAGE_WRITE);
}

ur_result_t zepi_urEnqueueMemImageCopy(ur_queue_handle_t hQueue, ur_mem_handle_t hImageSrc,
                                       ur_mem_handle_t hImageDst, ur_rect_offset_t srcOrigin,
                                       ur_rect_offset_t dstOrigin, ur_rect_region_t region,
                                       uint32_t wait_count, const ur_event_handle_t *wait_list,
                                       ur_event_handle_t *out_event)
{
    struct zepi_ur_command command;
    struct zepi_image_copy copy = {0};
    ur_result_t result;
    if ((result = image_command_begin(&command, hQueue, hImageSrc, false, wait_count, wait_list,
                                      out_event)) ||
        (result = zepi_ur_check_image(hImageDst, command.queue->context)) ||
        (result = image_region_init(&copy.from_region, zepi_ur_mem(hImageSrc)->image, srcOrigin,
                                    region)) ||
        (result =
             image_region_init(&copy.to_region, zepi_ur_mem(hImageDst)->image, dstOrigin, region)))
        return result;
    copy.from = zepi_ur_mem(hImageSrc)->image;
    copy.to = zepi_ur_mem(hImageDst)->image;
    return image_command_end(&command, &copy, UR_COMMAND_MEM_IMAGE_COPY);
}
