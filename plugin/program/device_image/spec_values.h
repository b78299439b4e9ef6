// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_DEVICE_IMAGE_SPEC_VALUES_H
#define ZEPI_PROGRAM_DEVICE_IMAGE_SPEC_VALUES_H

#include "core/status.h"
#include "spirv/spirv.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Specialization constants as an image declares them, and values that were set. Both are sorted by
// id, each id once.

// The declaration of an image, or of all images of a module.
struct zepi_spec_declaration {
    uint32_t id;
    zepi_scalar_type_t type;
    uint8_t size_bytes; // 1, 2, 4 or 8
    bool is_required;
    bool is_native;
    bool has_baked_value; // a native image was made with `default_value`
    uint8_t default_value[8];
};

// One value, at its real size.
struct zepi_spec_entry {
    uint32_t id;
    uint8_t size_bytes;
    uint8_t unused[3]; // zero
    uint8_t value[8];  // first size_bytes; the rest zero
};

static_assert(offsetof(struct zepi_spec_declaration, id) == 0 &&
                  offsetof(struct zepi_spec_entry, id) == 0,
              "both are found by their first member");

// Position of the first declaration or entry of a sorted list whose id is not below; `size_bytes`
// is that of one.
static inline uint32_t zepi_spec_lower_bound(const void *list, size_t size_bytes, uint32_t count,
                                             uint32_t id)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        uint32_t found;
        memcpy(&found, (const char *)list + middle * size_bytes, sizeof(found));
        if (found < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The bytes of a composite as they were set, with those between its elements.
struct zepi_spec_composite {
    char *name; // owned
    size_t size_bytes;
    uint8_t *bytes; // owned
};

// Values that were set. Immutable once shared: a change makes another list.
struct zepi_spec_values {
    atomic_uint references;
    uint32_t count;
    uint32_t composite_count;
    struct zepi_spec_composite *composites; // owned; NULL: none
    struct zepi_spec_entry entries[];
};

static inline struct zepi_spec_values *zepi_spec_values_retain(struct zepi_spec_values *values)
{
    // Relaxed: a reference is made from a reference.
    if (values)
        atomic_fetch_add_explicit(&values->references, 1, memory_order_relaxed);
    return values;
}
void zepi_spec_values_release(struct zepi_spec_values *values); // NULL is fine

// NULL values are no values. Borrowed.
const struct zepi_spec_entry *zepi_spec_values_find(const struct zepi_spec_values *values,
                                                    uint32_t id);
const struct zepi_spec_composite *
zepi_spec_values_find_composite(const struct zepi_spec_values *values, const char *name);

// A new set: `old` (may be NULL) with `count` entries (any order, ids may repeat: the last counts)
// and, if `composite` is not NULL, that composite's bytes. One reference, or NULL without memory
// (noted).
struct zepi_spec_values *zepi_spec_values_with(const struct zepi_spec_values *old, uint32_t count,
                                               const struct zepi_spec_entry *entries,
                                               const struct zepi_spec_composite *composite);

// Finds a declaration in a sorted list, or NULL.
static inline const struct zepi_spec_declaration *
zepi_spec_find_declaration(const struct zepi_spec_declaration *declarations, uint32_t count,
                           uint32_t id)
{
    const uint32_t at = zepi_spec_lower_bound(declarations, sizeof(*declarations), count, id);
    return at < count && declarations[at].id == id ? &declarations[at] : NULL;
}

// The value in force: the one set, else the default.
const uint8_t *zepi_spec_effective(const struct zepi_spec_declaration *declaration,
                                   const struct zepi_spec_values *values);

// Checks a value from outside against a declaration, and makes an entry of it (bools are 0 or 1).
zepi_result_t zepi_spec_entry_init(struct zepi_spec_entry *entry,
                                   const struct zepi_spec_declaration *declaration,
                                   size_t size_bytes, const void *value);

// Writes the declarations of the module's constants.
void zepi_spec_declare_spirv(const struct zepi_spirv *spirv,
                             struct zepi_spec_declaration *declarations);

// 0 if the type is not known.
size_t zepi_scalar_size(zepi_scalar_type_t type);
const char *zepi_scalar_name(zepi_scalar_type_t type);

#endif
