// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_MODULE_CREATE_H
#define ZEPI_PROGRAM_MODULE_CREATE_H

#include "program/module.h"

// Modules of images that are in their state already: native objects and executables are loaded.
// Any thread.

zepi_result_t zepi_module_create(zepi_context_t context, zepi_module_state_t state,
                                 uint32_t image_count, const zepi_device_image_desc_t *images,
                                 zepi_module_t *out_module);

// A module of images that were declared with this state, not published: native objects and
// executables are loaded for the devices that take them. An image that no device takes is
// a compile failure, executables without any kernel are invalid-value; or they are left out.
enum zepi_unusable_images { ZEPI_REFUSE_UNUSABLE, ZEPI_LEAVE_UNUSABLE_OUT };
zepi_result_t zepi_module_make_of_images(struct zepi_context *context, zepi_module_state_t state,
                                         uint32_t image_count,
                                         struct zepi_device_image *const *images,
                                         enum zepi_unusable_images unusable,
                                         struct zepi_module **out_module);

#endif
