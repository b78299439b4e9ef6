// SPDX-License-Identifier: MIT
#include "memory/image.h"

#include "core/alloc.h"
#include "device/device.h"
#include "sync/deferred.h"
#include "ze/ze.h"

#include <inttypes.h>

// The part that outlives the object until commands are over.
struct zepi_image_place {
    struct zepi_deferred deferred;
    ze_image_handle_t ze_image;  // NULL: none to destroy
    ze_sampler_handle_t sampler; // NULL: none to destroy
};

static void image_place_destroy(struct zepi_deferred *deferred)
{
    struct zepi_image_place *place = (struct zepi_image_place *)deferred;
    if (place->ze_image)
        zepi_ze.zeImageDestroy(place->ze_image);
    if (place->sampler)
        zepi_ze.zeSamplerDestroy(place->sampler);
    zepi_free(place);
}

static struct zepi_image_place *image_place_create(void)
{
    struct zepi_image_place *place = zepi_allocate(1, sizeof(*place));
    if (!place)
        return NULL;
    place->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    place->deferred.run = image_place_destroy;
    return place;
}

static void image_place_defer(struct zepi_image_place *place, struct zepi_context *context)
{
    if (place)
        zepi_defer(context, &place->deferred);
}

static void image_destroy(void *object)
{
    struct zepi_image *image = object;
    image_place_defer(image->place, image->context);
    zepi_release(image->context);
}

ZEPI_DEFINE_TYPE(image, image_destroy);

static void sampler_destroy(void *object)
{
    struct zepi_sampler *sampler = object;
    image_place_defer(sampler->place, sampler->context);
    zepi_release(sampler->context);
}

ZEPI_DEFINE_TYPE(sampler, sampler_destroy);

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

static zepi_result_t create_image_place(struct zepi_image *image, const ze_image_desc_t *desc)
{
    struct zepi_context *context = image->context;
    ze_image_handle_t ze_image;
    ze_result_t ze;
    unsigned attempt = 0;
    do
        ze = zepi_ze.zeImageCreate(context->ze, image->device->ze, desc, &ze_image);
    while (zepi_context_reclaim(context, ze, &attempt));
    if (ze == ZE_RESULT_SUCCESS)
        image->ze = ze_image;
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
    image->place = image_place_create();
    if (!image->place)
        result = zepi_fail_no_memory();
    if (result == ZEPI_SUCCESS && !native_handle)
        result = check_image_sizes(image->device, desc);
    if (result == ZEPI_SUCCESS && !native_handle)
        result = create_image_place(image, desc);
    if (result != ZEPI_SUCCESS) {
        zepi_release(image);
        return result;
    }
    if (!native_handle || ownership == ZEPI_OWNERSHIP_TRANSFER) {
        image->place->ze_image = image->ze;
        image->place->deferred.bytes += image_most_bytes(desc);
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
    sampler->place = image_place_create();
    if (!sampler->place)
        result = zepi_fail_no_memory();
    if (result == ZEPI_SUCCESS && !native_handle)
        result = ZEPI_ZE(zeSamplerCreate, context->ze, device->ze, desc, &sampler->ze);
    if (result != ZEPI_SUCCESS) {
        zepi_release(sampler);
        return result;
    }
    if (!native_handle || ownership == ZEPI_OWNERSHIP_TRANSFER)
        sampler->place->sampler = sampler->ze;
    zepi_object_publish(sampler);
    *out_sampler = sampler;
    return ZEPI_SUCCESS;
}
