// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_DISPATCH_H
#define ZEPI_KERNEL_DISPATCH_H

#include "kernel/kernel.h"

struct zepi_queue;

// Which kernel object a launch means that names a kernel, a module or a translation unit, or brings
// specialization values (SYCL Modules, "dispatch"; zepi_plugin_t.queue_launch has the order).

// What the queue's last launch of this kind found: the same question has the same answer as long as
// no unit and no value changes.
struct zepi_dispatch_memo; // opaque

// *out_kernel is a new reference. `desc` asks for more than a kernel object.
zepi_result_t zepi_dispatch_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                 struct zepi_kernel **out_kernel);

void zepi_dispatch_memo_destroy(struct zepi_dispatch_memo *memo); // NULL is fine

zepi_result_t zepi_spec_constant_get_for_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                                uint32_t id, size_t size_bytes, void *out_value);

#endif
