// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_REQUEST_H
#define ZEPI_LAUNCH_REQUEST_H

#include "program/module.h"
#include "program/this_module.h"
#include "queue/queue.h"

// A launch by name, checked: the names, values and selector for dispatch. Lives on the stack of one
// call.

#define ZEPI_REQUEST_INLINE_VALUES 8

struct zepi_request {
    struct zepi_queue *queue;
    const zepi_launch_desc_t *desc;
    const char *name;             // of the kernel; NULL: not known
    struct zepi_module *module;   // borrowed, of the launch; NULL: its unit is searched
    struct zepi_unit_entry *unit; // owned reference, or NULL
    // The launch's own values of constants that an image declares; `entries` is owned unless it is
    // the inline list.
    uint32_t value_count;
    struct zepi_spec_entry *entries;
    struct zepi_spec_entry inline_entries[ZEPI_REQUEST_INLINE_VALUES];
    // The image that the selector chose, borrowed; NULL: any image will do.
    struct zepi_device_image *chosen;
};

// Reads the names and values of the launch. `module`: of the launch or of its kernel, in the
// queue's context; NULL: the launch names a translation unit. On failure there is nothing to
// finish.
zepi_result_t zepi_request_init(struct zepi_request *request, struct zepi_queue *queue,
                                const zepi_launch_desc_t *desc, struct zepi_module *module);
void zepi_request_finish(struct zepi_request *request);

// The launch's own value of a constant, or NULL.
const struct zepi_spec_entry *zepi_request_find_value(const struct zepi_request *request,
                                                      uint32_t id);

// `base` (may be NULL) with the launch's values: owned reference, NULL if there are none of either.
zepi_result_t zepi_request_values_on(const struct zepi_request *request,
                                     struct zepi_spec_values *base,
                                     struct zepi_spec_values **out_values);

// The error for a launch with another value of a constant than the code was built with. `built` is
// that value; NULL: it is not known.
zepi_result_t zepi_request_fail_mismatch(const struct zepi_spec_entry *asked, const uint8_t *built);

// Whether the image may be used on the queue's device, as far as its description says.
bool zepi_request_may_use(const struct zepi_request *request,
                          const struct zepi_device_image *image);

// Whether the part has the kernel for the queue's device.
bool zepi_request_is_kernel_in(const struct zepi_request *request,
                               const struct zepi_module_part *part);

// Lets the launch's selector choose. Images may be listed more than once.
zepi_result_t zepi_request_select(struct zepi_request *request, uint32_t image_count,
                                  struct zepi_device_image **images);

#endif
