// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_DISPATCH_UNIT_H
#define ZEPI_LAUNCH_DISPATCH_UNIT_H

#include "launch/request.h"
#include "launch/request_table.h"

// Launches that find their kernel in a translation unit: an executable, the objects linked, or the
// input built.

// Finds the kernel in request->unit.
zepi_result_t zepi_dispatch_in_unit(struct zepi_request *request,
                                    struct zepi_dispatch *out_dispatch);

#endif
