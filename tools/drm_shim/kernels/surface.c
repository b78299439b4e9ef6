// SPDX-License-Identifier: MIT
#include "surface.h"

#include <stddef.h>

struct format {
    uint32_t surface_format;
    ze_image_format_layout_t layout;
    ze_image_format_type_t type;
    uint32_t pixel_bytes;
};

#define UINT ZE_IMAGE_FORMAT_TYPE_UINT
#define SINT ZE_IMAGE_FORMAT_TYPE_SINT
#define UNORM ZE_IMAGE_FORMAT_TYPE_UNORM
#define SNORM ZE_IMAGE_FORMAT_TYPE_SNORM
#define FLOAT ZE_IMAGE_FORMAT_TYPE_FLOAT

static const struct format formats[] = {
    {0x000, ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, FLOAT, 16},
    {0x001, ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, SINT, 16},
    {0x002, ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, UINT, 16},
    {0x080, ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, UNORM, 8},
    {0x081, ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, SNORM, 8},
    {0x082, ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, SINT, 8},
    {0x083, ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, UINT, 8},
    {0x084, ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, FLOAT, 8},
    {0x085, ZE_IMAGE_FORMAT_LAYOUT_32_32, FLOAT, 8},
    {0x086, ZE_IMAGE_FORMAT_LAYOUT_32_32, SINT, 8},
    {0x087, ZE_IMAGE_FORMAT_LAYOUT_32_32, UINT, 8},
    {0x0c2, ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2, UNORM, 4},
    {0x0c7, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, UNORM, 4},
    {0x0c9, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, SNORM, 4},
    {0x0ca, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, SINT, 4},
    {0x0cb, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, UINT, 4},
    {0x0cc, ZE_IMAGE_FORMAT_LAYOUT_16_16, UNORM, 4},
    {0x0cd, ZE_IMAGE_FORMAT_LAYOUT_16_16, SNORM, 4},
    {0x0ce, ZE_IMAGE_FORMAT_LAYOUT_16_16, SINT, 4},
    {0x0cf, ZE_IMAGE_FORMAT_LAYOUT_16_16, UINT, 4},
    {0x0d0, ZE_IMAGE_FORMAT_LAYOUT_16_16, FLOAT, 4},
    {0x0d6, ZE_IMAGE_FORMAT_LAYOUT_32, SINT, 4},
    {0x0d7, ZE_IMAGE_FORMAT_LAYOUT_32, UINT, 4},
    {0x0d8, ZE_IMAGE_FORMAT_LAYOUT_32, FLOAT, 4},
    {0x100, ZE_IMAGE_FORMAT_LAYOUT_5_6_5, UNORM, 2},
    {0x102, ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1, UNORM, 2},
    {0x106, ZE_IMAGE_FORMAT_LAYOUT_8_8, UNORM, 2},
    {0x107, ZE_IMAGE_FORMAT_LAYOUT_8_8, SNORM, 2},
    {0x108, ZE_IMAGE_FORMAT_LAYOUT_8_8, SINT, 2},
    {0x109, ZE_IMAGE_FORMAT_LAYOUT_8_8, UINT, 2},
    {0x10a, ZE_IMAGE_FORMAT_LAYOUT_16, UNORM, 2},
    {0x10b, ZE_IMAGE_FORMAT_LAYOUT_16, SNORM, 2},
    {0x10c, ZE_IMAGE_FORMAT_LAYOUT_16, SINT, 2},
    {0x10d, ZE_IMAGE_FORMAT_LAYOUT_16, UINT, 2},
    {0x10e, ZE_IMAGE_FORMAT_LAYOUT_16, FLOAT, 2},
    {0x140, ZE_IMAGE_FORMAT_LAYOUT_8, UNORM, 1},
    {0x141, ZE_IMAGE_FORMAT_LAYOUT_8, SNORM, 1},
    {0x142, ZE_IMAGE_FORMAT_LAYOUT_8, SINT, 1},
    {0x143, ZE_IMAGE_FORMAT_LAYOUT_8, UINT, 1},
};

static const struct format *find_format(uint32_t surface_format)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].surface_format == surface_format)
            return &formats[i];
    return NULL;
}

// The source of a pixel's component.
static ze_image_format_swizzle_t swizzle_of(uint32_t select)
{
    static const ze_image_format_swizzle_t swizzles[8] = {
        ZE_IMAGE_FORMAT_SWIZZLE_0, ZE_IMAGE_FORMAT_SWIZZLE_1, ZE_IMAGE_FORMAT_SWIZZLE_X,
        ZE_IMAGE_FORMAT_SWIZZLE_X, ZE_IMAGE_FORMAT_SWIZZLE_R, ZE_IMAGE_FORMAT_SWIZZLE_G,
        ZE_IMAGE_FORMAT_SWIZZLE_B, ZE_IMAGE_FORMAT_SWIZZLE_A};
    return swizzles[select & 7];
}

static ze_image_type_t type_of(uint32_t surface_type, bool is_array)
{
    static const ze_image_type_t types[3] = {ZE_IMAGE_TYPE_1D, ZE_IMAGE_TYPE_2D, ZE_IMAGE_TYPE_3D};
    static const ze_image_type_t arrays[3] = {ZE_IMAGE_TYPE_1DARRAY, ZE_IMAGE_TYPE_2DARRAY,
                                              ZE_IMAGE_TYPE_3D};
    return is_array ? arrays[surface_type] : types[surface_type];
}

bool shim_surface_read(const uint32_t words[SHIM_SURFACE_STATE_WORDS],
                       struct shim_surface *out_surface, const struct shim_refusal *refusal)
{
    const uint32_t type = words[0] >> 29, surface_format = words[0] >> 18 & 0x1ff;
    const struct format *format = find_format(surface_format);
    if (type > 2)
        return shim_refuse(refusal, "a surface of type %u is not known", type);
    if (!format)
        return shim_refuse(refusal, "the surface format 0x%x is not known", surface_format);
    if (words[4] >> 3 & 7 || words[4] >> 18 & 0x7ff || words[5] & 0xff || words[5] >> 21)
        return shim_refuse(refusal, "a surface with samples, levels, or a part of one");
    const uint32_t width = (words[2] & 0x3fff) + 1, height = (words[2] >> 16 & 0x3fff) + 1;
    const uint32_t depth = (words[3] >> 21) + 1, distance = (words[1] & 0x7fff) << 2;
    const uint64_t row_bytes = (words[3] & 0x3ffff) + UINT64_C(1);
    const uint32_t selects = words[7];
    *out_surface = (struct shim_surface){
        .desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                 .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
                 .type = type_of(type, words[0] >> 28 & 1),
                 .format = {format->layout, format->type, swizzle_of(selects >> 25),
                            swizzle_of(selects >> 22), swizzle_of(selects >> 19),
                            swizzle_of(selects >> 16)},
                 .width = width,
                 .arraylevels = depth},
        .address = words[8] | (uint64_t)words[9] << 32,
        .row_bytes = row_bytes,
        .slice_bytes = row_bytes * (distance > height ? distance : height),
        .pixel_bytes = format->pixel_bytes,
        .width = width,
        .rows = height,
        .slices = depth,
    };
    // Lines of an array are counted by the second coordinate; their distance is in pixels.
    if (type == 0) {
        out_surface->rows = depth;
        out_surface->slices = 1;
        if (distance > 0)
            out_surface->row_bytes = (uint64_t)distance * format->pixel_bytes;
    }
    out_surface->desc.height = out_surface->rows;
    out_surface->desc.depth = out_surface->slices;
    return true;
}

bool shim_sampler_read(const uint32_t words[SHIM_SAMPLER_STATE_WORDS],
                       ze_sampler_desc_t *out_sampler, const struct shim_refusal *refusal)
{
    // By the hardware's number; one without a mode is not known.
    static const struct {
        bool is_known;
        ze_sampler_address_mode_t mode;
    } modes[8] = {
        {true, ZE_SAMPLER_ADDRESS_MODE_REPEAT},
        {true, ZE_SAMPLER_ADDRESS_MODE_MIRROR},
        {true, ZE_SAMPLER_ADDRESS_MODE_CLAMP},
        [4] = {true, ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER},
    };
    const uint32_t z = words[3] & 7, y = words[3] >> 3 & 7, x = words[3] >> 6 & 7;
    const uint32_t smaller = words[0] >> 14 & 7, larger = words[0] >> 17 & 7;
    if (x != y || y != z || !modes[x].is_known)
        return shim_refuse(refusal, "a sampler with the address modes %u, %u, %u is not known", x,
                           y, z);
    if (smaller != larger || smaller > 1)
        return shim_refuse(refusal, "a sampler with the filters %u and %u is not known", smaller,
                           larger);
    *out_sampler = (ze_sampler_desc_t){
        .stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
        .addressMode = modes[x].mode,
        .filterMode = smaller == 1 ? ZE_SAMPLER_FILTER_MODE_LINEAR : ZE_SAMPLER_FILTER_MODE_NEAREST,
        .isNormalized = !(words[3] >> 10 & 1),
    };
    return true;
}
