// SPDX-License-Identifier: MIT
#include "module/code_key.h"

// One value at its real size; the usual sizes without a call.
static void add_value(struct zepi_key *key, uint32_t id, const uint8_t value[8], uint8_t size_bytes)
{
    if (size_bytes == 4)
        zepi_key_add_numbered(key, ZEPI_KEY_VALUE, id, value, 4);
    else if (size_bytes == 8)
        zepi_key_add_numbered(key, ZEPI_KEY_VALUE, id, value, 8);
    else
        zepi_key_add_numbered(key, ZEPI_KEY_VALUE, id, value, size_bytes);
}

// Bytes beyond the size are zero on both sides.
static bool is_same(const uint8_t a[8], const uint8_t b[8])
{
    uint64_t left;
    uint64_t right;
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return left == right;
}

void zepi_key_add_image(struct zepi_key *key, const struct zepi_image *image,
                        const struct zepi_spec_values *values)
{
    zepi_key_add_u32(key, ZEPI_KEY_FORMAT, image->format);
    zepi_key_add_digest(key, ZEPI_KEY_IMAGE, image->code->digest);
    const struct zepi_spirv *spirv = zepi_image_spirv(image);
    const struct zepi_spec_entry *set = values ? values->entries : NULL;
    const struct zepi_spec_entry *end = values ? set + values->count : NULL;
    // Declarations, constants and values are all sorted by id, the first two with the same ids.
    // Setting the default is the same build as not setting it: only what differs from the literals
    // of the SPIR-V is part of the key.
    const uint32_t count =
        spirv && (set != end || image->has_own_defaults) ? image->declaration_count : 0;
    for (uint32_t i = 0; i < count && (set != end || image->has_own_defaults); i++) {
        const struct zepi_spec_declaration *declaration = &image->declarations[i];
        const uint8_t *value = declaration->default_value;
        while (set != end && set->id < declaration->id)
            set++;
        if (set != end && set->id == declaration->id)
            value = (set++)->value;
        else if (!image->has_own_defaults)
            continue;
        if (!is_same(value, spirv->constants[i].default_value))
            add_value(key, declaration->id, value, declaration->size_bytes);
    }
}
