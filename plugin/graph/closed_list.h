// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_CLOSED_LIST_H
#define ZEPI_GRAPH_CLOSED_LIST_H

#include "core/status.h"

struct zepi_context;
struct zepi_device;

// An open command list, to be recorded, closed and executed more than once. The caller destroys it.
// `extension` is the descriptor's chain, or NULL. The caller holds no lock that an end of an
// execution or a deferred free needs: if the driver lacks memory, the context gives back unused
// memory.
zepi_result_t zepi_closed_list_create(struct zepi_context *context,
                                      const struct zepi_device *device, const void *extension,
                                      ze_command_list_handle_t *out_list);

#endif
