// SPDX-License-Identifier: MIT
#include "program/build/build_key.h"

void zepi_key_add_image(struct zepi_key *key, const struct zepi_device_image *image,
                        const struct zepi_spec_values *values)
{
    zepi_key_add_u32(key, ZEPI_KEY_FORMAT, image->format);
    zepi_key_add_digest(key, ZEPI_KEY_IMAGE, image->blob->digest);
    const struct zepi_spirv *spirv = zepi_device_image_spirv(image);
    const struct zepi_spec_entry *set = values ? values->entries : NULL;
    const struct zepi_spec_entry *end = values ? set + values->count : NULL;
    // Declarations, constants and values are all sorted by id, the first two with the same ids.
    // Setting the default is the same build as not setting it: only values that differ from the
    // literals of the SPIR-V are part of the key.
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
        if (memcmp(value, spirv->constants[i].default_value, declaration->size_bytes) != 0)
            zepi_key_add_numbered(key, ZEPI_KEY_VALUE, declaration->id, value,
                                  declaration->size_bytes);
    }
}
