// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_MEMORY_IMAGE_FORMAT_H
#define ZEPI_UR_MEMORY_IMAGE_FORMAT_H

#include "ur/check.h"

#include <level_zero/ze_api.h>

// Image formats of Unified Runtime (channel order and type) and of Level Zero (layout, type and
// swizzle). One that Level Zero does not have is UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT.
// Pure.
ur_result_t zepi_ur_image_format_to_ze(const ur_image_format_t *format,
                                       ze_image_format_t *out_format);

#endif
