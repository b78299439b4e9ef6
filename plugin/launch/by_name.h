// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_BY_NAME_H
#define ZEPI_LAUNCH_BY_NAME_H

#include "launch/kernel_search.h"

// The kernel of a launch that names a module or a translation unit, or brings specialization values
// or a selector, for the thread that launches (SYCL Modules, "dispatch"; zepi_plugin_t.queue_launch
// has the order). The handles of `desc` are live ones of the queue's context.

static inline const struct zepi_target *zepi_found_target(const struct zepi_build_result *found)
{
    return &((const struct zepi_found_kernel *)zepi_build_result_payload(found))->target;
}

// `desc` has a kernel or a name. *out_found: a new reference.
zepi_result_t zepi_by_name_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                struct zepi_build_result **out_found);

// The value of a constant that the launch would see, and its size; 0: nothing has the constant.
zepi_result_t zepi_by_name_value(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                 uint32_t id, uint8_t out_value[8], size_t *out_size_bytes);

#endif
