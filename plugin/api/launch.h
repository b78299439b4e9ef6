// SPDX-License-Identifier: MIT
#ifndef ZEPI_API_LAUNCH_H
#define ZEPI_API_LAUNCH_H

#include <zepi/zepi.h>

// Whether a launch description is right by itself.
zepi_result_t zepi_api_check_launch_desc(const zepi_launch_desc_t *desc);

#endif
