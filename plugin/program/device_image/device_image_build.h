// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_DEVICE_IMAGE_DEVICE_IMAGE_BUILD_H
#define ZEPI_PROGRAM_DEVICE_IMAGE_DEVICE_IMAGE_BUILD_H

#include "program/device_image/device_image.h"

// The parts of an image that come from its description; only device_image_create.c calls these, in
// this order and before other threads see the image. The description's lists are not NULL where
// their counts are not 0.

zepi_result_t zepi_device_image_build_constants(struct zepi_device_image *image,
                                                const zepi_device_image_desc_t *desc);
zepi_result_t zepi_device_image_build_layouts(struct zepi_device_image *image,
                                              const zepi_device_image_desc_t *desc);
zepi_result_t zepi_device_image_build_identity(struct zepi_device_image *image);

// Fills declarations and identity of a plain image of SPIR-V from its bytes.
zepi_result_t zepi_device_image_describe_code(struct zepi_blob *blob);

#endif
