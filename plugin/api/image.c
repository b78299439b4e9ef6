// SPDX-License-Identifier: MIT
#include "checks/image.h"
#include "api/api.h"
#include "api/check.h"
#include "core/interface.h"
#include "device/device.h"

#include <stddef.h>

// ---- Descriptions ----

// The channel is not ZEPI_CHANNEL_DEFAULT.
static ze_image_format_swizzle_t swizzle_of(zepi_channel_t channel)
{
    return (ze_image_format_swizzle_t)(channel - ZEPI_CHANNEL_FIRST);
}
static_assert(ZEPI_CHANNEL_FOURTH - ZEPI_CHANNEL_FIRST == ZE_IMAGE_FORMAT_SWIZZLE_A &&
                  ZEPI_CHANNEL_ZERO - ZEPI_CHANNEL_FIRST == ZE_IMAGE_FORMAT_SWIZZLE_0 &&
                  ZEPI_CHANNEL_ONE - ZEPI_CHANNEL_FIRST == ZE_IMAGE_FORMAT_SWIZZLE_1,
              "channels are Level Zero's, in its order");

static zepi_result_t read_image_format(const zepi_image_desc_t *desc, ze_image_format_t *out_format)
{
    ze_image_format_swizzle_t order[4];
    const ze_image_format_layout_t layout =
        zepi_image_layout_of(desc->channel_count, desc->channel_bytes);
    if (layout == ZE_IMAGE_FORMAT_LAYOUT_FORCE_UINT32 || desc->channel_count == 3)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "channel_count is %u and channel_bytes %u, expected 1, 2 or 4 each",
                         desc->channel_count, desc->channel_bytes);
    if ((unsigned)desc->channel_type > ZEPI_CHANNEL_FLOAT)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "channel_type %d is not known",
                         (int)desc->channel_type);
    for (uint32_t i = 0; i < 4; i++) {
        const zepi_channel_t last = i == 3 ? ZEPI_CHANNEL_ONE : ZEPI_CHANNEL_ZERO;
        const zepi_channel_t own = (zepi_channel_t)(ZEPI_CHANNEL_FIRST + i);
        if ((unsigned)desc->order[i] > ZEPI_CHANNEL_ONE)
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "order[%u] is %d, which is no channel", i,
                             (int)desc->order[i]);
        if (desc->order[i] != ZEPI_CHANNEL_DEFAULT)
            order[i] = swizzle_of(desc->order[i]);
        else
            order[i] = swizzle_of(i < desc->channel_count ? own : last);
    }
    // The types have Level Zero's numbers.
    *out_format = (ze_image_format_t){.layout = layout,
                                      .type = (ze_image_format_type_t)desc->channel_type,
                                      .x = order[0],
                                      .y = order[1],
                                      .z = order[2],
                                      .w = order[3]};
    return ZEPI_SUCCESS;
}
static_assert((int)ZEPI_CHANNEL_UINT == ZE_IMAGE_FORMAT_TYPE_UINT &&
                  (int)ZEPI_CHANNEL_SINT == ZE_IMAGE_FORMAT_TYPE_SINT &&
                  (int)ZEPI_CHANNEL_UNORM == ZE_IMAGE_FORMAT_TYPE_UNORM &&
                  (int)ZEPI_CHANNEL_SNORM == ZE_IMAGE_FORMAT_TYPE_SNORM &&
                  (int)ZEPI_CHANNEL_FLOAT == ZE_IMAGE_FORMAT_TYPE_FLOAT,
              "channel types are Level Zero's");
static_assert((int)ZEPI_IMAGE_1D == ZE_IMAGE_TYPE_1D &&
                  (int)ZEPI_IMAGE_1D_ARRAY == ZE_IMAGE_TYPE_1DARRAY &&
                  (int)ZEPI_IMAGE_2D == ZE_IMAGE_TYPE_2D &&
                  (int)ZEPI_IMAGE_2D_ARRAY == ZE_IMAGE_TYPE_2DARRAY &&
                  (int)ZEPI_IMAGE_3D == ZE_IMAGE_TYPE_3D,
              "shapes are Level Zero's");

// Dimensions that the shape lacks are 0 or 1, the others at least 1.
static zepi_result_t check_image_shape(const zepi_image_desc_t *desc)
{
    const bool is_array = desc->shape == ZEPI_IMAGE_1D_ARRAY || desc->shape == ZEPI_IMAGE_2D_ARRAY;
    const bool is_line = desc->shape == ZEPI_IMAGE_1D || desc->shape == ZEPI_IMAGE_1D_ARRAY;
    const struct {
        const char *member;
        uint32_t value;
        bool is_used;
    } sizes[] = {{"width", desc->width, true},
                 {"height", desc->height, !is_line},
                 {"depth", desc->depth, desc->shape == ZEPI_IMAGE_3D},
                 {"layer_count", desc->layer_count, is_array}};
    if ((unsigned)desc->shape > ZEPI_IMAGE_3D)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the image's shape %d is not known",
                         (int)desc->shape);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].is_used ? sizes[i].value == 0 : sizes[i].value > 1)
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                             "the image's %s is %u, expected %s for shape %d", sizes[i].member,
                             sizes[i].value, sizes[i].is_used ? "at least 1" : "0 or 1",
                             (int)desc->shape);
    return ZEPI_SUCCESS;
}

static zepi_result_t read_image_desc(const zepi_image_desc_t *desc, ze_image_desc_t *out_desc)
{
    zepi_image_desc_t own;
    ze_image_format_t format = {0};
    zepi_result_t result;
    if ((result = zepi_read_desc(&own, sizeof(own), offsetof(zepi_image_desc_t, order), desc,
                                 "image description")) ||
        (result = check_image_shape(&own)) || (result = read_image_format(&own, &format)))
        return result;
    const bool is_array = own.shape == ZEPI_IMAGE_1D_ARRAY || own.shape == ZEPI_IMAGE_2D_ARRAY;
    *out_desc = (ze_image_desc_t){.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                                  .flags = own.is_read_only ? 0 : ZE_IMAGE_FLAG_KERNEL_WRITE,
                                  .type = (ze_image_type_t)own.shape,
                                  .format = format,
                                  .width = own.width,
                                  .height = own.height > 0 ? own.height : 1,
                                  .depth = own.depth > 0 ? own.depth : 1,
                                  .arraylevels = is_array ? own.layer_count : 0};
    return ZEPI_SUCCESS;
}

static zepi_result_t check_has_images(const struct zepi_device *device)
{
    return device->has_images ? ZEPI_SUCCESS
                              : zepi_fail(ZEPI_ERROR_UNSUPPORTED, "device '%s' has no images",
                                          device->properties.name);
}

static zepi_result_t create_checked(zepi_context_t context, zepi_device_t device,
                                    const zepi_image_desc_t *desc, void *native_handle,
                                    zepi_ownership_t ownership, zepi_image_t *out_image)
{
    ze_image_desc_t ze_desc;
    zepi_result_t result;
    if ((result = zepi_api_check_context_device(context, device)) ||
        (result = zepi_api_check_output(out_image, "output for the image")) ||
        (result = read_image_desc(desc, &ze_desc)) || (result = check_has_images(device)))
        return result;
    return zepi_image_create(context, device, &ze_desc, native_handle, ownership, out_image);
}

zepi_result_t zepi_api_image_create(zepi_context_t context, zepi_device_t device,
                                    const zepi_image_desc_t *desc, zepi_image_t *out_image)
{
    return create_checked(context, device, desc, NULL, ZEPI_OWNERSHIP_TRANSFER, out_image);
}

zepi_result_t zepi_api_image_create_from_native(zepi_context_t context, zepi_device_t device,
                                                const zepi_image_desc_t *desc, void *native_handle,
                                                zepi_ownership_t ownership, zepi_image_t *out_image)
{
    const zepi_result_t result = zepi_api_check_native(native_handle, ownership);
    return result ? result
                  : create_checked(context, device, desc, native_handle, ownership, out_image);
}

zepi_result_t zepi_api_image_get_info(zepi_image_t image, zepi_image_info_t *out_info)
{
    const zepi_result_t result = zepi_check_object(image, &zepi_image_type);
    if (result != ZEPI_SUCCESS)
        return result;
    const ze_image_desc_t *desc = &image->desc;
    const zepi_image_info_t info = {.context = image->context,
                                    .device = image->device,
                                    .shape = (zepi_image_shape_t)desc->type,
                                    .width = (uint32_t)desc->width,
                                    .height = desc->height,
                                    .depth = desc->depth,
                                    .layer_count = desc->arraylevels > 0 ? desc->arraylevels : 1,
                                    .pixel_bytes = zepi_image_pixel_bytes(image),
                                    .native_handle = image->ze};
    return zepi_copy_info(out_info, &info, sizeof(info));
}

zepi_result_t zepi_api_sampler_create(zepi_context_t context, zepi_device_t device,
                                      const zepi_sampler_desc_t *desc, zepi_sampler_t *out_sampler)
{
    static const ze_sampler_address_mode_t modes[] = {
        [ZEPI_ADDRESS_NONE] = ZE_SAMPLER_ADDRESS_MODE_NONE,
        [ZEPI_ADDRESS_REPEAT] = ZE_SAMPLER_ADDRESS_MODE_REPEAT,
        [ZEPI_ADDRESS_CLAMP_TO_EDGE] = ZE_SAMPLER_ADDRESS_MODE_CLAMP,
        [ZEPI_ADDRESS_CLAMP_TO_BORDER] = ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
        [ZEPI_ADDRESS_MIRROR] = ZE_SAMPLER_ADDRESS_MODE_MIRROR,
    };
    zepi_sampler_desc_t own;
    zepi_result_t result;
    if ((result = zepi_api_check_context_device(context, device)) ||
        (result = zepi_api_check_output(out_sampler, "output for the sampler")) ||
        (result = zepi_read_desc(&own, sizeof(own), sizeof(own), desc, "sampler description")) ||
        (result = check_has_images(device)))
        return result;
    if ((unsigned)own.address_mode > ZEPI_ADDRESS_MIRROR)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "address mode %d is not known",
                         (int)own.address_mode);
    const ze_sampler_desc_t ze_desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                                       .addressMode = modes[own.address_mode],
                                       .filterMode = own.is_linear ? ZE_SAMPLER_FILTER_MODE_LINEAR
                                                                   : ZE_SAMPLER_FILTER_MODE_NEAREST,
                                       .isNormalized = own.is_normalized};
    return zepi_sampler_create(context, device, &ze_desc, NULL, ZEPI_OWNERSHIP_TRANSFER,
                               out_sampler);
}

// ---- Copies ----

static zepi_result_t check_copied_image(zepi_queue_t queue, zepi_image_t image,
                                        zepi_wait_list_t wait)
{
    zepi_result_t result;
    if ((result = zepi_api_check_command(queue, wait)) ||
        (result = zepi_check_object(image, &zepi_image_type)))
        return result;
    const struct zepi_device *device = queue->device;
    while (device && device != image->device)
        device = device->parent;
    if (image->context != queue->context || !device)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "the image is of another %s than the queue",
                         image->context != queue->context ? "context" : "device");
    return ZEPI_SUCCESS;
}

// `region` NULL: the whole image.
static zepi_result_t read_image_region(const struct zepi_image *image,
                                       const zepi_image_region_t *region,
                                       ze_image_region_t *out_region)
{
    size_t origin[3] = {0}, extent[3] = {0};
    for (int i = 0; i < 3 && region; i++) {
        origin[i] = region->origin[i];
        extent[i] = region->extent[i];
    }
    return zepi_check_image_region(image, origin, region ? extent : NULL, out_region);
}

// `copy` has the image, and memory on the other side.
static zepi_result_t copy_with_memory(zepi_queue_t queue, struct zepi_transfer *copy,
                                      const zepi_image_region_t *region, uint32_t row_pitch_bytes,
                                      uint32_t slice_pitch_bytes, zepi_wait_list_t wait,
                                      zepi_event_t *out_event)
{
    zepi_image_t image = copy->to_image ? copy->to_image : copy->from_image;
    ze_image_region_t *own = copy->to_image ? &copy->to_region : &copy->from_region;
    const void *memory = copy->to_image ? copy->from : copy->to;
    zepi_result_t result;
    if ((result = check_copied_image(queue, image, wait)) ||
        (result = read_image_region(image, region, own)) ||
        (result = zepi_check_image_memory(queue->context, "memory", memory, image, own,
                                          row_pitch_bytes, slice_pitch_bytes, copy)))
        return result;
    return zepi_queue_transfer(queue, copy, wait, out_event);
}

zepi_result_t zepi_api_queue_copy_to_image(zepi_queue_t queue, zepi_image_t image,
                                           const zepi_image_region_t *region, const void *memory,
                                           uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                           zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_transfer copy = {
        .head.kind = ZEPI_COMMAND_COPY_IMAGE, .to_image = image, .from = memory};
    return copy_with_memory(queue, &copy, region, row_pitch_bytes, slice_pitch_bytes, wait,
                            out_event);
}

zepi_result_t zepi_api_queue_copy_from_image(zepi_queue_t queue, void *memory,
                                             uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                             zepi_image_t image, const zepi_image_region_t *region,
                                             zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_transfer copy = {
        .head.kind = ZEPI_COMMAND_COPY_IMAGE, .from_image = image, .to = memory};
    return copy_with_memory(queue, &copy, region, row_pitch_bytes, slice_pitch_bytes, wait,
                            out_event);
}

zepi_result_t zepi_api_queue_copy_image(zepi_queue_t queue, zepi_image_t to,
                                        const uint32_t to_origin[3], zepi_image_t from,
                                        const zepi_image_region_t *from_region,
                                        zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_transfer copy = {
        .head.kind = ZEPI_COMMAND_COPY_IMAGE, .to_image = to, .from_image = from};
    zepi_result_t result;
    if ((result = check_copied_image(queue, to, wait)) ||
        (result = check_copied_image(queue, from, wait)) ||
        (zepi_image_pixel_bytes(to) != zepi_image_pixel_bytes(from) &&
         (result =
              zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                        "the copy is from pixels of %u bytes to pixels of %u, expected one size",
                        zepi_image_pixel_bytes(from), zepi_image_pixel_bytes(to)))) ||
        (result = read_image_region(from, from_region, &copy.from_region)))
        return result;
    const ze_image_region_t *region = &copy.from_region;
    zepi_image_region_t there = {.extent = {region->width, region->height, region->depth}};
    for (uint32_t i = 0; i < 3; i++)
        there.origin[i] = to_origin ? to_origin[i] : 0;
    result = read_image_region(to, &there, &copy.to_region);
    return result ? result : zepi_queue_transfer(queue, &copy, wait, out_event);
}
