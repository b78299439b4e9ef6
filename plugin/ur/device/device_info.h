// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_DEVICE_DEVICE_INFO_H
#define ZEPI_UR_DEVICE_DEVICE_INFO_H

#include "device/device.h"
#include "ur/info.h"

// Device queries, in groups. UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION of one says that the query
// belongs to another group or is not supported. Devices are constant: any thread.

// Its parts, and its parent.
ur_result_t zepi_ur_device_partition_info(const struct zepi_device *device, ur_device_info_t query,
                                          const struct zepi_ur_info *info);
// Limits of kernels and arithmetic.
ur_result_t zepi_ur_device_compute_info(const struct zepi_device *device, ur_device_info_t query,
                                        const struct zepi_ur_info *info);
// Memory, caches, USM, images.
ur_result_t zepi_ur_device_memory_info(const struct zepi_device *device, ur_device_info_t query,
                                       const struct zepi_ur_info *info);
// Its capabilities.
ur_result_t zepi_ur_device_feature_info(const struct zepi_device *device, ur_device_info_t query,
                                        const struct zepi_ur_info *info);

#endif
