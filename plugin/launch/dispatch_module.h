// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_DISPATCH_MODULE_H
#define ZEPI_LAUNCH_DISPATCH_MODULE_H

#include "launch/request.h"
#include "launch/request_table.h"

// Launches that name an executable, or a kernel object of one.

// Finds the kernel in request->module.
zepi_result_t zepi_dispatch_in_module(struct zepi_request *request,
                                      struct zepi_dispatch *out_dispatch);
// The value of a constant that such a launch sees beside its own, borrowed from the module; NULL:
// no image has it.
const uint8_t *zepi_dispatch_module_value(const struct zepi_request *request, uint32_t id,
                                          size_t *out_size_bytes);

#endif
