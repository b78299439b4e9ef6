// SPDX-License-Identifier: MIT
#include "images.h"

#include "kernels/cpu_driver.h"
#include "kernels/surface.h"
#include "log.h"
#include "memory/gpu_memory.h"

#include <stdlib.h>
#include <string.h>

struct shim_image {
    struct shim_image *next;
    struct shim_surface surface;
    ze_image_handle_t handle; // NULL: not made
    uint8_t *pixels;          // owned: as the launch found them, without gaps
};

static size_t row_bytes(const struct shim_surface *surface)
{
    return (size_t)surface->width * surface->pixel_bytes;
}

static size_t pixels_bytes(const struct shim_surface *surface)
{
    return row_bytes(surface) * surface->rows * surface->slices;
}

// Where a row of the surface lies. NULL: it is not bound, which is logged.
static uint8_t *row_at(struct shim_address_space *space, const struct shim_surface *surface,
                       uint32_t slice, uint32_t row)
{
    return shim_gpu_memory_at(
        space, surface->address + slice * surface->slice_bytes + row * surface->row_bytes,
        row_bytes(surface));
}

static bool gather(struct shim_address_space *space, const struct shim_surface *surface,
                   uint8_t *pixels)
{
    for (uint32_t slice = 0; slice < surface->slices; slice++) {
        for (uint32_t row = 0; row < surface->rows; row++) {
            const uint8_t *from = row_at(space, surface, slice, row);
            if (!from)
                return false;
            memcpy(pixels, from, row_bytes(surface));
            pixels += row_bytes(surface);
        }
    }
    return true;
}

// Pixels that are as before stay alone: a kernel of another queue may write them.
static bool scatter_changes(struct shim_address_space *space, const struct shim_surface *surface,
                            const uint8_t *before, const uint8_t *after)
{
    const size_t bytes = row_bytes(surface), pixel = surface->pixel_bytes;
    for (uint32_t slice = 0; slice < surface->slices; slice++) {
        for (uint32_t row = 0; row < surface->rows; row++, before += bytes, after += bytes) {
            if (memcmp(before, after, bytes) == 0)
                continue;
            uint8_t *to = row_at(space, surface, slice, row);
            if (!to)
                return false;
            for (size_t at = 0; at < bytes; at += pixel)
                if (memcmp(before + at, after + at, pixel) != 0)
                    memcpy(to + at, after + at, pixel);
        }
    }
    return true;
}

static bool make_image(struct shim_image *image, struct shim_address_space *space,
                       const char *kernel)
{
    const struct shim_cpu_driver *cpu = shim_cpu_driver();
    image->pixels = malloc(pixels_bytes(&image->surface));
    if (!image->pixels || !gather(space, &image->surface, image->pixels)) {
        shim_error("%s is refused: the pixels of an image cannot be read", kernel);
        return false;
    }
    ze_result_t result =
        cpu->image.pfnCreate(cpu->context, cpu->device, &image->surface.desc, &image->handle);
    if (result != ZE_RESULT_SUCCESS)
        image->handle = NULL;
    else
        result = shim_cpu_write_image(cpu, image->handle, image->pixels);
    if (result != ZE_RESULT_SUCCESS)
        shim_error("%s is refused: ze_cpu has no such image: 0x%x", kernel, result);
    return result == ZE_RESULT_SUCCESS;
}

bool shim_images_add(struct shim_images *images, struct shim_address_space *space,
                     const char *kernel, uint64_t state, ze_image_type_t type,
                     ze_image_handle_t *out_image)
{
    char message[128];
    const uint32_t *words = shim_gpu_memory_at(space, state, 4 * SHIM_SURFACE_STATE_WORDS);
    struct shim_image *image = words ? calloc(1, sizeof(*image)) : NULL;
    if (!image)
        return false;
    image->next = images->images;
    images->images = image;
    if (!shim_surface_read(words, &image->surface,
                           &(struct shim_refusal){message, sizeof(message)})) {
        shim_error("%s is refused: an image: %s", kernel, message);
        return false;
    }
    // The driver's own kernels see each image as one of three dimensions.
    if (type != ZE_IMAGE_TYPE_FORCE_UINT32)
        image->surface.desc.type = type;
    *out_image = make_image(image, space, kernel) ? image->handle : NULL;
    return *out_image != NULL;
}

bool shim_images_add_sampler(struct shim_images *images, struct shim_address_space *space,
                             const char *kernel, uint64_t state, ze_sampler_handle_t *out_sampler)
{
    char message[128];
    ze_sampler_desc_t desc;
    const struct shim_cpu_driver *cpu = shim_cpu_driver();
    const uint32_t *words = shim_gpu_memory_at(space, state, 4 * SHIM_SAMPLER_STATE_WORDS);
    if (!words)
        return false;
    if (!shim_sampler_read(words, &desc, &(struct shim_refusal){message, sizeof(message)})) {
        shim_error("%s is refused: %s", kernel, message);
        return false;
    }
    ze_sampler_handle_t *samplers =
        realloc(images->samplers, (images->sampler_count + 1) * sizeof(*samplers));
    if (samplers)
        images->samplers = samplers;
    if (!samplers || cpu->sampler.pfnCreate(cpu->context, cpu->device, &desc, out_sampler) !=
                         ZE_RESULT_SUCCESS) {
        shim_error("%s is refused: ze_cpu has no such sampler", kernel);
        return false;
    }
    samplers[images->sampler_count++] = *out_sampler;
    return true;
}

bool shim_images_write_back(const struct shim_images *images, struct shim_address_space *space)
{
    bool is_done = true;
    for (const struct shim_image *image = images->images; image && is_done; image = image->next) {
        const struct shim_surface *surface = &image->surface;
        uint8_t *after = malloc(pixels_bytes(surface));
        is_done =
            after &&
            shim_cpu_read_image(shim_cpu_driver(), image->handle, after) == ZE_RESULT_SUCCESS &&
            scatter_changes(space, surface, image->pixels, after);
        free(after);
        if (!is_done)
            shim_error("the pixels that a kernel wrote are lost");
    }
    return is_done;
}

void shim_images_finish(struct shim_images *images)
{
    for (struct shim_image *image = images->images, *next; image; image = next) {
        next = image->next;
        if (image->handle)
            shim_cpu_driver()->image.pfnDestroy(image->handle);
        free(image->pixels);
        free(image);
    }
    for (uint32_t i = 0; i < images->sampler_count; i++)
        shim_cpu_driver()->sampler.pfnDestroy(images->samplers[i]);
    free(images->samplers);
    *images = (struct shim_images){0};
}
