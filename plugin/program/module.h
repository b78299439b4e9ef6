// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_MODULE_H
#define ZEPI_PROGRAM_MODULE_H

#include "core/mutex.h"
#include "program/build/build_options.h"
#include "program/build/device_module.h"
#include "program/device_image/device_image.h"
#include "program/device_image/module_images.h"

struct zepi_context;

// A part of an object or executable: code, for each device, and the images that it was made from.
struct zepi_module_part {
    uint32_t image_count;              // several if they were linked
    struct zepi_device_image **images; // in the module's list; borrowed from it
    struct zepi_spec_values **values; // owned references; the values that each image was built with
    // Owned references, one a device of the context; NULL: this part does not serve that device.
    // Payload: struct zepi_device_module.
    struct zepi_build_result **device_module;
    // Owned, one a device: made when the host asks for a native handle, for the host alone.
    _Atomic(struct zepi_device_module *) *exported;
};

// A kernel that launches by name use on a device. The list only grows, until the module goes.
struct zepi_module_kernel {
    struct zepi_module_kernel *next;
    struct zepi_build_result *device_kernel; // owned reference
};

// Lists of parts up to this size lie in the module itself: one image, two devices.
#define ZEPI_MODULE_INLINE_BYTES (sizeof(struct zepi_module_part) + 6 * sizeof(void *))

// The values that were set on an input.
struct zepi_module_values {
    struct zepi_mutex mutex; // guards changes of the set; nothing is called under it
    // Reference; NULL: none set. Without the lock it only tells whether there are any.
    _Atomic(struct zepi_spec_values *) set;
};

// A SYCL module: device images in one state. Immutable, but for the values of an input.
struct zepi_module {
    struct zepi_object object;
    struct zepi_module_images *shared; // reference; context, images and declarations are its
    struct zepi_context *context;      // borrowed, as the four below
    struct zepi_device_image **images;
    const struct zepi_spec_declaration *declarations; // sorted by id
    struct zepi_unit_entry *unit;                     // reference; NULL: not of a translation unit
    struct zepi_module *unit_next;                    // under the lock of this_module.c
    void (*unit_forget)(struct zepi_module *module);  // at the end, if there is a unit
    uint32_t image_count;
    uint32_t declaration_count;
    zepi_module_state_t state;
    uint32_t part_count;
    uint64_t number; // no other module has it, or will have it
    // Inputs.
    struct zepi_module_values *values; // own_values, or those of the unit in this context
    struct zepi_module_values own_values;
    // Objects and executables.
    struct zepi_module_part *parts;
    _Atomic(struct zepi_module_images *) built;   // reference; NULL: they were not asked for
    _Atomic(struct zepi_module_kernel *) kernels; // owned; those that launches by name use
    void *storage; // parts and the lists in them: owned, or inline_storage
    alignas(max_align_t) char inline_storage[ZEPI_MODULE_INLINE_BYTES];
};

extern const struct zepi_type zepi_module_type;

// A module with these images and room for parts of up to so many of them, whose lists the caller
// fills before zepi_object_publish makes it one of the context's modules. One reference; on failure
// nothing is left.
zepi_result_t zepi_module_make(struct zepi_context *context, zepi_module_state_t state,
                               uint32_t image_count, struct zepi_device_image *const *images,
                               uint32_t part_count, uint32_t part_image_count,
                               struct zepi_module **out_module);
// Ends the making of a module: makes it one of the context's, unless it failed.
static inline zepi_result_t zepi_module_publish(zepi_result_t made, struct zepi_module *module,
                                                zepi_module_t *out_module)
{
    if (made == ZEPI_SUCCESS) {
        zepi_object_publish(module);
        *out_module = module;
    }
    return made;
}
// A module with the images of another one; each part has room for all of them.
zepi_result_t zepi_module_make_from(const struct zepi_module *input, zepi_module_state_t state,
                                    uint32_t part_count, struct zepi_module **out_module);

// The values of an input at this moment. Owned reference; NULL: none are set.
struct zepi_spec_values *zepi_module_snapshot(struct zepi_module *module);
// The first part that has a kernel for a device of the context, borrowed; NULL: none.
const struct zepi_module_part *zepi_module_find_part(const struct zepi_module *module,
                                                     uint32_t device_index,
                                                     const char *kernel_name);

// The code of a part on the first device that it serves, borrowed; NULL: it serves none.
struct zepi_build_result *zepi_module_any_code(const struct zepi_module *module, uint32_t part);

// Whether a part of the module serves a device of the context.
bool zepi_module_has_code(const struct zepi_module *module, uint32_t device_index);

// A pass over the names of the kernels, each once.
struct zepi_kernel_pass {
    const struct zepi_module *module; // the only member that is not zero at first
    uint32_t part, image, ze_module, at;
};
// Borrowed from the module; NULL: there are no more.
const char *zepi_module_next_kernel(struct zepi_kernel_pass *pass);

// Appends ": there are 'a', 'b'" to the thread's last error.
void zepi_module_append_kernel_names(const struct zepi_module *module);

const char *zepi_module_state_name(zepi_module_state_t state);

bool zepi_module_has_kernel(const struct zepi_module *module, const char *name);
// The log of the first part that has one. Borrowed from the module.
const char *zepi_module_build_log(const struct zepi_module *module, uint32_t device_index);

// Variables and functions in an executable's code, where the driver has them.
enum zepi_global_kind { ZEPI_GLOBAL_VARIABLE, ZEPI_GLOBAL_FUNCTION };
struct zepi_global {
    void *address;     // device memory; valid as long as the module's code is in use
    size_t size_bytes; // 0 for a function
};

// Modules of the same build share their code, and so their variables, unless they were built or
// linked to have their own. ZEPI_ERROR_INVALID_VALUE: there is none of that name. `module` is an
// executable.
zepi_result_t zepi_module_find_global(struct zepi_module *module, zepi_device_t device,
                                      const char *name, enum zepi_global_kind kind,
                                      struct zepi_global *out_global);

#endif
