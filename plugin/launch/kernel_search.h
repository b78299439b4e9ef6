// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_KERNEL_SEARCH_H
#define ZEPI_LAUNCH_KERNEL_SEARCH_H

#include "launch/device_kernel.h"
#include "program/code_choice.h"
#include "program/module.h"
#include "program/this_module.h"
#include "queue/queue.h"

// The search for the kernel of a launch by name: what is wanted, the code that there is, and what
// was found. Lives in one call.

// A kernel with what it needs, as a result of the context's cache of lookups (`lookups` in
// handle_caches.h), or of none. The key there is where a launch looks (a unit in its present
// version, or a module), the name and the values.
struct zepi_found_kernel {
    struct zepi_target target;
    // Kernels of a unit are held, which keeps code alive, but no module. Those of a module are the
    // module's: only a launch that names it finds them, and private code has to go with it.
    bool holds_kernel;
};

struct zepi_kernel_search {
    struct zepi_queue *queue;
    const zepi_launch_desc_t *desc;
    const char *name;             // of the kernel; NULL: not known
    struct zepi_module *module;   // that the launch names, borrowed; NULL: its unit is searched
    struct zepi_unit_entry *unit; // reference, or NULL
    // By their state: references to the unit's, or the module that the launch names. NULL: none.
    struct zepi_module *modules[ZEPI_MODULE_EXECUTABLE + 1];
    struct zepi_spec_values *bound;   // reference: the values that are set on the unit's input
    struct zepi_device_image *chosen; // by the selector, borrowed; NULL: any image will do
    struct zepi_wanted wanted;
    struct zepi_spec_entry *entries; // owned: of `wanted`
    struct zepi_error earlier;       // of steps that fell through; no text: none
    struct zepi_found_kernel found;  // its kernel is NULL before; references as it says
    struct zepi_spec_values *values; // reference: those in `found`
};

// Reads what is wanted. `module`: of the launch or of its kernel, in the queue's context; NULL: the
// launch names a unit. To be finished in any case.
zepi_result_t zepi_kernel_search_init(struct zepi_kernel_search *search, struct zepi_queue *queue,
                                      const zepi_launch_desc_t *desc, struct zepi_module *module);
void zepi_kernel_search_finish(struct zepi_kernel_search *search);

// The unit's input, with the values that are set on it; its objects or executables. Nothing, if it
// has no such image.
zepi_result_t zepi_kernel_search_get_input(struct zepi_kernel_search *search);
zepi_result_t zepi_kernel_search_get_built(struct zepi_kernel_search *search,
                                           zepi_module_state_t state);

// Whether a part, or an image, has the kernel for the queue's device. Native code of an input is
// built to find out.
bool zepi_part_has_kernel(const struct zepi_kernel_search *search,
                          const struct zepi_module_part *part);
zepi_result_t zepi_image_has_kernel(const struct zepi_kernel_search *search,
                                    struct zepi_device_image *image, bool *out_has);
// Whether SPIR-V that is for the queue's device has the kernel; native code that is for it may have
// it.
bool zepi_image_may_have_kernel(const struct zepi_kernel_search *search,
                                const struct zepi_device_image *image);

// Whether code has the values and goes with all else that has the kernel.
zepi_result_t zepi_kernel_search_match(const struct zepi_kernel_search *search,
                                       const struct zepi_wanted *wanted,
                                       const struct zepi_code *code,
                                       struct zepi_mismatch *out_mismatch);

// Takes the kernel of the first part of an executable that has it, is the selector's choice and has
// the values. If there is none, *out_mismatch is of the first that lacks a value. A kernel object
// keeps its code, that of the first part with the kernel: no other part is looked at, unless a
// selector chooses an image.
zepi_result_t zepi_kernel_search_take(struct zepi_kernel_search *search,
                                      const struct zepi_module *module,
                                      const struct zepi_wanted *wanted,
                                      struct zepi_mismatch *out_mismatch);

// A failure that every further step would meet as well.
bool zepi_is_final_failure(zepi_result_t result);

#endif
