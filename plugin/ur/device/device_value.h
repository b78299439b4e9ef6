// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_DEVICE_DEVICE_VALUE_H
#define ZEPI_UR_DEVICE_DEVICE_VALUE_H

#include "device/device.h"
#include "ur/info.h"

// Values of device queries that are no members of the device. Any thread.

ur_device_type_t zepi_ur_device_type_of(const struct zepi_device *device);

// Level Zero divides a device into its tiles, once.
#define ZEPI_UR_AFFINITY_DOMAINS                                                                   \
    (UR_DEVICE_AFFINITY_DOMAIN_FLAG_NUMA | UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE)

// Strings, lists, and a number of which 0 is a value.
zepi_ur_value zepi_ur_device_vendor, zepi_ur_device_version, zepi_ur_device_driver_version,
    zepi_ur_device_il_version, zepi_ur_device_extensions, zepi_ur_device_pci_address,
    zepi_ur_device_group_limits, zepi_ur_device_sub_group_sizes, zepi_ur_device_partitions,
    zepi_ur_device_partition_type, zepi_ur_device_free_memory;

// Numbers, by a parameter.
zepi_ur_asked zepi_ur_device_computed;  // the query
zepi_ur_asked zepi_ur_device_fp_config; // ZE_DEVICE_MODULE_FLAG_FP16, ..FP64, 0: 32 bits
zepi_ur_asked zepi_ur_device_width;     // offset in struct zepi_ze_vector_widths
zepi_ur_asked zepi_ur_device_detail;    // the query
zepi_ur_asked zepi_ur_device_feature;   // the query

#endif
