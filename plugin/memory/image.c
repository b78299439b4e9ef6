// SPDX-License-Identifier: MIT
#include "memory/image.h"

#include "device/device.h"
#include "ze/ze.h"

#include <inttypes.h>
#include <stddef.h>

static void image_end(struct zepi_deferred *deferred)
{
    struct zepi_image *image =
        (struct zepi_image *)((char *)deferred - offsetof(struct zepi_image, deferred));
    if (image->is_owned)
        zepi_ze.zeImageDestroy(image->ze);
    zepi_object_discard_free(image, &zepi_image_type);
}

static zepi_result_t image_recycle(void *object)
{
    struct zepi_image *image = object;
    struct zepi_context *context = image->context;
    zepi_object_set_free(image);
    zepi_defer(context, &image->deferred);
    zepi_release(context);
    return ZEPI_SUCCESS;
}

ZEPI_DEFINE_RECYCLED_TYPE(image, NULL, image_recycle);

static void sampler_end(struct zepi_deferred *deferred)
{
    struct zepi_sampler *sampler =
        (struct zepi_sampler *)((char *)deferred - offsetof(struct zepi_sampler, deferred));
    if (sampler->is_owned)
        zepi_ze.zeSamplerDestroy(sampler->ze);
    zepi_object_discard_free(sampler, &zepi_sampler_type);
}

static zepi_result_t sampler_recycle(void *object)
{
    struct zepi_sampler *sampler = object;
    struct zepi_context *context = sampler->context;
    zepi_object_set_free(sampler);
    zepi_defer(context, &sampler->deferred);
    zepi_release(context);
    return ZEPI_SUCCESS;
}

ZEPI_DEFINE_RECYCLED_TYPE(sampler, NULL, sampler_recycle);

// The bytes of an element of the largest format.
#define MOST_ELEMENT_BYTES 16

static uint64_t image_most_bytes(const ze_image_desc_t *desc)
{
    uint64_t bytes = desc->width * MOST_ELEMENT_BYTES;
    bytes *= desc->height > 0 ? desc->height : 1;
    bytes *= desc->depth > 0 ? desc->depth : 1;
    return bytes * (desc->arraylevels > 0 ? desc->arraylevels : 1);
}

// Sizes beyond the device's limits may end the process (quirk sizes-end-process).
static zepi_result_t check_image_sizes(const struct zepi_device *device,
                                       const ze_image_desc_t *desc)
{
    const ze_device_image_properties_t *images = &device->images;
    const bool is_array =
        desc->type == ZE_IMAGE_TYPE_1DARRAY || desc->type == ZE_IMAGE_TYPE_2DARRAY;
    const bool is_line = desc->type == ZE_IMAGE_TYPE_1D || desc->type == ZE_IMAGE_TYPE_1DARRAY;
    const bool is_space = desc->type == ZE_IMAGE_TYPE_3D;
    const uint32_t most = is_line    ? images->maxImageDims1D
                          : is_space ? images->maxImageDims3D
                                     : images->maxImageDims2D;
    if (!device->has_images || (desc->width <= most && (is_line || desc->height <= most) &&
                                (!is_space || desc->depth <= most) &&
                                (!is_array || desc->arraylevels <= images->maxImageArraySlices)))
        return ZEPI_SUCCESS;
    return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                     "an image of %" PRIu64 " x %u x %u with %u layers; the device has at most %u "
                     "in each dimension, and %u layers",
                     desc->width, desc->height, desc->depth, desc->arraylevels, most,
                     images->maxImageArraySlices);
}

static zepi_result_t create_ze_image(struct zepi_image *image, const ze_image_desc_t *desc)
{
    struct zepi_context *context = image->context;
    ze_image_handle_t ze_image;
    ze_result_t ze;
    unsigned attempt = 0;
    do
        ze = zepi_ze.zeImageCreate(context->ze, image->device->ze, desc, &ze_image);
    while (zepi_context_reclaim(context, ze, &attempt));
    if (ze == ZE_RESULT_SUCCESS) {
        image->ze = ze_image;
        image->is_owned = true;
    }
    return zepi_check_ze(ze, "zeImageCreate");
}

zepi_result_t zepi_image_create(struct zepi_context *context, struct zepi_device *device,
                                const ze_image_desc_t *desc, ze_image_handle_t native_handle,
                                zepi_ownership_t ownership, struct zepi_image **out_image)
{
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_image *image = zepi_object_create(&zepi_image_type);
    if (!image)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    image->context = zepi_retain(context);
    image->device = device;
    image->desc = *desc;
    image->desc.pNext = NULL;
    image->ze = native_handle;
    image->is_owned = native_handle && ownership == ZEPI_OWNERSHIP_TRANSFER;
    image->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES + image_most_bytes(desc);
    image->deferred.run = image_end;
    if (!native_handle)
        result = check_image_sizes(image->device, desc);
    if (result == ZEPI_SUCCESS && !native_handle)
        result = create_ze_image(image, desc);
    if (result != ZEPI_SUCCESS) {
        zepi_release(image);
        return result;
    }
    *out_image = image;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_sampler_create(struct zepi_context *context, struct zepi_device *device,
                                  const ze_sampler_desc_t *desc, ze_sampler_handle_t native_handle,
                                  zepi_ownership_t ownership, struct zepi_sampler **out_sampler)
{
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_sampler *sampler = zepi_object_create(&zepi_sampler_type);
    if (!sampler)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    sampler->context = zepi_retain(context);
    sampler->device = device;
    sampler->desc = *desc;
    sampler->ze = native_handle;
    sampler->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    sampler->deferred.run = sampler_end;
    if (!native_handle)
        result = ZEPI_ZE(zeSamplerCreate, context->ze, device->ze, desc, &sampler->ze);
    if (result != ZEPI_SUCCESS) {
        zepi_release(sampler);
        return result;
    }
    sampler->is_owned = !native_handle || ownership == ZEPI_OWNERSHIP_TRANSFER;
    zepi_object_publish(sampler);
    *out_sampler = sampler;
    return ZEPI_SUCCESS;
}
