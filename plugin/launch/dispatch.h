// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_DISPATCH_H
#define ZEPI_LAUNCH_DISPATCH_H

#include "launch/request_table.h"

struct zepi_queue;

// The target of a launch that names a module or a translation unit, or brings specialization values
// or a selector, for the thread that launches (SYCL Modules, "dispatch"; zepi_plugin_t.queue_launch
// has the order).

// The caller releases out_dispatch->held.
zepi_result_t zepi_dispatch_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                 struct zepi_dispatch *out_dispatch);

zepi_result_t zepi_spec_constant_get_for_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                                uint32_t id, size_t size_bytes, void *out_value);

#endif
