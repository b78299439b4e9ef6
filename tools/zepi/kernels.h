// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_KERNELS_H
#define ZEPI_TOOL_KERNELS_H

#include <zepi/zepi.h>

// Device code of this program, compiled to SPIR-V and built in: an input image. Ends the program if
// there is none of this name: they are ours.
zepi_device_image_desc_t kernel_image(const char *name);

#endif
