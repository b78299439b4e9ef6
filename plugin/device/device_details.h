// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_DEVICE_DETAILS_H
#define ZEPI_DEVICE_DEVICE_DETAILS_H

#include "ze/ze_optional.h"

struct zepi_device;

// Properties that drivers tell by extensions of Level Zero, queried each time. A driver without the
// extension, or without a value, is no error: the value is 0 then. Any thread.

zepi_result_t zepi_device_get_cache_line(const struct zepi_device *device, uint32_t *out_bytes);
// By the driver's extension, else by the system management of Level Zero (README.md).
zepi_result_t zepi_device_get_free_memory(const struct zepi_device *device, uint64_t *out_bytes);
// ZEPI_ZE_BLOCK_ARRAY_...: the instructions of the device for arrays of two dimensions.
zepi_result_t zepi_device_get_block_array(const struct zepi_device *device, uint32_t *out_flags);
zepi_result_t zepi_device_get_vector_widths(const struct zepi_device *device,
                                            struct zepi_ze_vector_widths *out_widths);

// "domain:bus:device.function" in hexadecimal digits; "" if unknown.
#define ZEPI_PCI_ADDRESS_BYTES 32
zepi_result_t zepi_device_get_pci_address(const struct zepi_device *device,
                                          char out_address[ZEPI_PCI_ADDRESS_BYTES]);

// The kinds of memory of other interfaces that the driver imports, and as which it exports device
// memory: ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD and _DMA_BUF.
struct zepi_external_kinds {
    uint32_t imported;
    uint32_t exported;
};
zepi_result_t zepi_device_get_external_kinds(const struct zepi_device *device,
                                             struct zepi_external_kinds *out_kinds);

#endif
