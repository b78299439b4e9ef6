// SPDX-License-Identifier: MIT
#include "checks/image.h"
#include "ur/command.h"
#include "ur/memory/mem.h"

static ur_result_t image_command_begin(const struct zepi_ur_command *command, ur_mem_handle_t image)
{
    const ur_result_t result = zepi_ur_command_begin(command);
    return result ? result : zepi_ur_check_image(image, command->queue->context);
}

static ur_result_t read_region(const struct zepi_ur_mem *mem, ur_rect_offset_t origin,
                               ur_rect_region_t region, ze_image_region_t *out_region)
{
    const size_t from[3] = {origin.x, origin.y, origin.z};
    const size_t extent[3] = {region.width, region.height, region.depth};
    return zepi_ur_result(zepi_check_image_region(mem->image, from, extent, out_region));
}

static ur_result_t image_command_end(struct zepi_ur_command *command,
                                     const struct zepi_transfer *copy, ur_command_t type)
{
    const zepi_result_t done =
        zepi_queue_transfer(command->queue, copy, command->wait, zepi_ur_command_event(command));
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
    ur_result_t result = image_command_begin(command, handle);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY_IMAGE,
                                 .from_image = is_read ? mem->image : NULL,
                                 .from = is_read ? NULL : side->memory,
                                 .to_image = is_read ? NULL : mem->image,
                                 .to = is_read ? side->memory : NULL};
    ze_image_region_t *own = is_read ? &copy.from_region : &copy.to_region;
    const char *name = is_read ? "pDst" : "pSrc";
    if ((result = zepi_ur_check_pointer(side->memory, name)) ||
        (result = read_region(mem, origin, region, own)) ||
        (result = zepi_ur_result(
             zepi_check_image_memory(command->queue->context, name, side->memory, mem->image, own,
                                     side->row_pitch, side->slice_pitch, &copy))))
        return result;
    return image_command_end(command, &copy, type);
}

ur_result_t zepi_urEnqueueMemImageRead(ur_queue_handle_t hQueue, ur_mem_handle_t hImage,
                                       bool blockingRead, ur_rect_offset_t origin,
                                       ur_rect_region_t region, size_t rowPitch, size_t slicePitch,
                                       void *pDst, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingRead);
    const struct memory_side side = {pDst, rowPitch, slicePitch};
    return transfer_image(&command, hImage, origin, region, &side, UR_COMMAND_MEM_IMAGE_READ);
}

ur_result_t zepi_urEnqueueMemImageWrite(ur_queue_handle_t hQueue, ur_mem_handle_t hImage,
                                        bool blockingWrite, ur_rect_offset_t origin,
                                        ur_rect_region_t region, size_t rowPitch, size_t slicePitch,
                                        void *pSrc, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingWrite);
    const struct memory_side side = {pSrc, rowPitch, slicePitch};
    return transfer_image(&command, hImage, origin, region, &side, UR_COMMAND_MEM_IMAGE_WRITE);
}

ur_result_t zepi_urEnqueueMemImageCopy(ur_queue_handle_t hQueue, ur_mem_handle_t hImageSrc,
                                       ur_mem_handle_t hImageDst, ur_rect_offset_t srcOrigin,
                                       ur_rect_offset_t dstOrigin, ur_rect_region_t region,
                                       ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY_IMAGE};
    ur_result_t result;
    if ((result = image_command_begin(&command, hImageSrc)) ||
        (result = zepi_ur_check_image(hImageDst, command.queue->context)) ||
        (result = read_region(zepi_ur_mem(hImageSrc), srcOrigin, region, &copy.from_region)) ||
        (result = read_region(zepi_ur_mem(hImageDst), dstOrigin, region, &copy.to_region)))
        return result;
    copy.from_image = zepi_ur_mem(hImageSrc)->image;
    copy.to_image = zepi_ur_mem(hImageDst)->image;
    return image_command_end(&command, &copy, UR_COMMAND_MEM_IMAGE_COPY);
}
