// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_DEVICE_IMAGE_DEVICE_IMAGE_CREATE_H
#define ZEPI_PROGRAM_DEVICE_IMAGE_DEVICE_IMAGE_CREATE_H

#include "program/device_image/device_image.h"

// Checks and copies descriptions, which come from outside. Fills `images`, which are NULL; after
// a failure the first of them are there.
zepi_result_t zepi_device_images_create(uint32_t count, const zepi_device_image_desc_t *descs,
                                        struct zepi_device_image **images);

#endif
