// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_IMAGE_H
#define ZEPI_MEMORY_IMAGE_H

#include "core/object.h"
#include "sync/deferred.h"

struct zepi_context;
struct zepi_device;

// An image (ze_image), and a sampler. Constant once made, for all threads. The driver's objects are
// destroyed when no command can use them any more; the memory of the objects here stays for as
// long.

struct zepi_image {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_device *device;   // borrowed
    ze_image_handle_t ze;
    bool is_owned;                 // else the host keeps `ze`
    ze_image_desc_t desc;          // without extensions
    struct zepi_deferred deferred; // its end
};

struct zepi_sampler {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_device *device;   // borrowed
    ze_sampler_handle_t ze;
    bool is_owned;          // else the host keeps `ze`
    ze_sampler_desc_t desc; // zeros: the host's sampler, of which nothing is known
    struct zepi_deferred deferred;
};

extern const struct zepi_type zepi_image_type;
extern const struct zepi_type zepi_sampler_type;

// `device` is one of the context's. `native_handle` NULL: a new one; else the host's, which `desc`
// describes.
zepi_result_t zepi_image_create(struct zepi_context *context, struct zepi_device *device,
                                const ze_image_desc_t *desc, ze_image_handle_t native_handle,
                                zepi_ownership_t ownership, struct zepi_image **out_image);
zepi_result_t zepi_sampler_create(struct zepi_context *context, struct zepi_device *device,
                                  const ze_sampler_desc_t *desc, ze_sampler_handle_t native_handle,
                                  zepi_ownership_t ownership, struct zepi_sampler **out_sampler);

#endif
