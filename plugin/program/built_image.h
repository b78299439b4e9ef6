// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILT_IMAGE_H
#define ZEPI_PROGRAM_BUILT_IMAGE_H

#include "program/device_image/device_image.h"

struct zepi_module;

// The images of objects and executables, as hosts see them: one for each image that a part was
// built from, if the part serves a device. Inside, parts know the images that they were built from.
// A built image is made of one when a host first asks for the module's images, and lives as long as
// a host holds it or the module. An image that was declared in the module's state is its own built
// image. Any thread.

uint32_t zepi_module_count_images(const struct zepi_module *module);

// The module's images, in any state. Borrowed from it.
zepi_result_t zepi_module_list_images(struct zepi_module *module,
                                      struct zepi_device_image *const **out_images);

// The built image of image number `index` of a part, borrowed. NULL: none was made, and so the
// host has none.
const struct zepi_device_image *zepi_module_find_built_image(const struct zepi_module *module,
                                                             uint32_t part_index, uint32_t index);

// The properties of any image. The native code of a built one is queried when it is first needed.
zepi_result_t zepi_device_image_describe(struct zepi_device_image *image,
                                         zepi_device_image_info_t *out_info);

#endif
