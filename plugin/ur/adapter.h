// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_ADAPTER_H
#define ZEPI_UR_ADAPTER_H

#include "ur/check.h"

// The one adapter of the process. It owns nothing: platforms come up with the first query for them
// and stay (device/adapter.h), so its reference count frees nothing.
extern struct zepi_object zepi_ur_adapter;

ur_result_t zepi_ur_check_adapter(ur_adapter_handle_t adapter);

#endif
