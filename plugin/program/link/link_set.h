// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_LINK_LINK_SET_H
#define ZEPI_PROGRAM_LINK_LINK_SET_H

#include "program/build/build_options.h"
#include "program/build/device_module.h"
#include "program/native/symbols.h"

// The device modules of some objects that are linked on one device. Made for one call of
// module_link; everything in it is borrowed from the objects.

struct zepi_link_member {
    uint32_t object_index; // in the caller's list
    struct zepi_device_image *image;
    struct zepi_spec_values *values;                // that the code was made with, or NULL
    const struct zepi_device_module *device_module; // never linked itself
    uint32_t ze_module;                             // of the code
    // Owned: the bytes of a key, of the code and its values, and behind them of its options. Equal
    // code with equal values is one definition.
    uint8_t *key;
    size_t key_size;
    size_t code_size; // of the first of them
    // Reference; the linkage table of native code, if it was looked up and is known.
    struct zepi_build_result *table;
};

// Begins zeroed but for context and device.
struct zepi_link_set {
    struct zepi_context *context;
    uint32_t device_index;
    struct zepi_device *device;
    zepi_link_method_t method; // program or dynamic
    uint32_t part;             // of the module: equal sets are one
    uint32_t count;
    size_t capacity;
    struct zepi_link_member *members; // owned; equal code once, in the caller's order
    // Owned; the members in an order of their own, so that the caller's does not matter.
    struct zepi_link_member **sorted;
};

// Adds the code of an image of the object.
zepi_result_t zepi_link_set_add(struct zepi_link_set *set, uint32_t object_index,
                                struct zepi_device_image *image, struct zepi_spec_values *values,
                                const struct zepi_device_module *device_module);
// All are added: sorts them, and chooses how to link. A method that the caller asked for and that
// cannot be is ZEPI_ERROR_UNSUPPORTED; one that the environment asked for is left then.
zepi_result_t zepi_link_set_end(struct zepi_link_set *set,
                                const struct zepi_build_options *options);
void zepi_link_set_finish(struct zepi_link_set *set);

// Whether two sets have equal members; their devices may differ.
bool zepi_link_set_is_equal(const struct zepi_link_set *a, const struct zepi_link_set *b);

// Adds the method and the members to a key.
void zepi_key_add_link_set(struct zepi_key *key, const struct zepi_link_set *set);

// NULL for native code.
static inline const struct zepi_spirv *zepi_link_member_spirv(const struct zepi_link_member *member)
{
    return zepi_device_image_spirv(member->image);
}

#endif
