// SPDX-License-Identifier: MIT
#include "image_format.h"

#include "chain.h"
#include "ze_newer.h"

#include <string.h>

#define TYPES 5
#define FORMATS_MAXIMUM 256

struct layout {
    uint32_t channels; // 0: not offered
    size_t channel_bytes;
    const struct cpu_image_packing *packing; // NULL: none
    uint32_t types;                          // a bit each; packed layouts only
};

#define UINT (1u << ZE_IMAGE_FORMAT_TYPE_UINT)
#define SINT (1u << ZE_IMAGE_FORMAT_TYPE_SINT)
#define UNORM (1u << ZE_IMAGE_FORMAT_TYPE_UNORM)
#define SNORM (1u << ZE_IMAGE_FORMAT_TYPE_SNORM)
#define FLOAT (1u << ZE_IMAGE_FORMAT_TYPE_FLOAT)

// As on Intel's GPUs: blue comes first where an element has 16 bits, and red where it has 32.
static const struct cpu_image_packing packing_5_6_5 = {2, {11, 5, 0}, {5, 6, 5}};
static const struct cpu_image_packing packing_5_5_5_1 = {2, {10, 5, 0, 15}, {5, 5, 5, 1}};
static const struct cpu_image_packing packing_4_4_4_4 = {2, {8, 4, 0, 12}, {4, 4, 4, 4}};
static const struct cpu_image_packing packing_10_10_10_2 = {4, {0, 10, 20, 30}, {10, 10, 10, 2}};
static const struct cpu_image_packing packing_11_11_10 = {4, {0, 11, 22}, {11, 11, 10}};

static const struct layout layouts[] = {
    [ZE_IMAGE_FORMAT_LAYOUT_8] = {1, 1},
    [ZE_IMAGE_FORMAT_LAYOUT_16] = {1, 2},
    [ZE_IMAGE_FORMAT_LAYOUT_32] = {1, 4},
    [ZE_IMAGE_FORMAT_LAYOUT_8_8] = {2, 1},
    [ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8] = {4, 1},
    [ZE_IMAGE_FORMAT_LAYOUT_16_16] = {2, 2},
    [ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16] = {4, 2},
    [ZE_IMAGE_FORMAT_LAYOUT_32_32] = {2, 4},
    [ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32] = {4, 4},
    [CPU_IMAGE_FORMAT_LAYOUT_8_8_8] = {3, 1},
    [CPU_IMAGE_FORMAT_LAYOUT_16_16_16] = {3, 2},
    [CPU_IMAGE_FORMAT_LAYOUT_32_32_32] = {3, 4},
    [ZE_IMAGE_FORMAT_LAYOUT_5_6_5] = {3, 2, &packing_5_6_5, UNORM},
    [ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1] = {4, 2, &packing_5_5_5_1, UNORM},
    [ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4] = {4, 2, &packing_4_4_4_4, UNORM},
    [ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2] = {4, 2, &packing_10_10_10_2, UINT | SINT | UNORM | SNORM},
    [ZE_IMAGE_FORMAT_LAYOUT_11_11_10] = {3, 2, &packing_11_11_10, FLOAT},
};

// By ze_image_format_type_t; 0: there is none.
static const cl_channel_type types_8[TYPES] = {CL_UNSIGNED_INT8, CL_SIGNED_INT8, CL_UNORM_INT8,
                                               CL_SNORM_INT8, 0};
static const cl_channel_type types_16[TYPES] = {CL_UNSIGNED_INT16, CL_SIGNED_INT16, CL_UNORM_INT16,
                                                CL_SNORM_INT16, CL_HALF_FLOAT};
static const cl_channel_type types_32[TYPES] = {CL_UNSIGNED_INT32, CL_SIGNED_INT32, 0, 0, CL_FLOAT};

// OpenCL's channel orders, by the components that kernels read in x, y, z and w.
struct order {
    uint8_t channels;
    uint8_t component[4];
    cl_channel_order order;
};

#define R CPU_COMPONENT_R
#define G CPU_COMPONENT_G
#define B CPU_COMPONENT_B
#define A CPU_COMPONENT_A
#define ZERO CPU_COMPONENT_ZERO
#define ONE CPU_COMPONENT_ONE

static const struct order orders[] = {
    {1, {R, ZERO, ZERO, ONE}, CL_R}, {1, {ZERO, ZERO, ZERO, R}, CL_A},
    {1, {R, R, R, R}, CL_INTENSITY}, {1, {R, R, R, ONE}, CL_LUMINANCE},
    {2, {R, G, ZERO, ONE}, CL_RG},   {2, {R, ZERO, ZERO, G}, CL_RA},
    {4, {R, G, B, A}, CL_RGBA},      {4, {B, G, R, A}, CL_BGRA},
    {4, {G, B, A, R}, CL_ARGB},
};

// As on Intel's GPUs: a colour that memory lacks reads as 0, and so does a colour that is not used;
// alpha reads as 1. False for a number that is no swizzle.
static bool read_swizzle(const ze_image_format_t *from, struct cpu_image_channels *channels)
{
    const uint32_t asked[4] = {from->x, from->y, from->z, from->w};
    for (int i = 0; i < 4; i++) {
        const bool is_depth = asked[i] == CPU_IMAGE_FORMAT_SWIZZLE_D && channels->count == 1;
        if (asked[i] > ZE_IMAGE_FORMAT_SWIZZLE_X && !is_depth)
            return false;
        if (is_depth)
            channels->component[i] = R;
        else if (asked[i] == ZE_IMAGE_FORMAT_SWIZZLE_1 ||
                 (asked[i] == ZE_IMAGE_FORMAT_SWIZZLE_A && channels->count < 4))
            channels->component[i] = ONE;
        else if (asked[i] < channels->count)
            channels->component[i] = (uint8_t)asked[i];
        else
            channels->component[i] = ZERO;
    }
    return true;
}

static cl_channel_order find_order(const struct cpu_image_channels *channels)
{
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        if (orders[i].channels == channels->count &&
            memcmp(orders[i].component, channels->component, sizeof(channels->component)) == 0)
            return orders[i].order;
    return 0;
}

#undef R
#undef G
#undef B
#undef A
#undef ZERO
#undef ONE

// The bits of 1 in a channel, by ze_image_format_type_t.
static uint32_t bits_of_one(ze_image_format_type_t type, size_t bytes)
{
    switch (type) {
    case ZE_IMAGE_FORMAT_TYPE_UNORM:
        return bytes == 1 ? 0xff : 0xffff;
    case ZE_IMAGE_FORMAT_TYPE_SNORM:
        return bytes == 1 ? 0x7f : 0x7fff;
    case ZE_IMAGE_FORMAT_TYPE_FLOAT:
        return bytes == 2 ? 0x3c00 : 0x3f800000;
    default:
        return 1;
    }
}

static bool is_offered(const cl_image_format *format, cl_mem_object_type type, cl_mem_flags flags)
{
    cl_image_format formats[FORMATS_MAXIMUM];
    cl_uint count = 0;
    const struct cpu_opencl *cl = cpu_opencl();
    if (cl->api->clGetSupportedImageFormats(cpu_opencl_context(), flags, type, FORMATS_MAXIMUM,
                                            formats, &count) != CL_SUCCESS)
        return false;
    for (cl_uint i = 0; i < count && i < FORMATS_MAXIMUM; i++)
        if (formats[i].image_channel_order == format->image_channel_order &&
            formats[i].image_channel_data_type == format->image_channel_data_type)
            return true;
    return false;
}

static bool is_srgb(const ze_image_desc_t *desc)
{
    const ze_srgb_ext_desc_t *srgb = cpu_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_SRGB_EXT_DESC);
    return srgb != NULL && srgb->sRGB != 0;
}

// OpenCL decodes the first three components, so the fourth has to be alpha and none of them.
static bool choose_srgb(struct cpu_image_format *format)
{
    const uint8_t *component = format->channels.component;
    cl_channel_order *order = &format->format.image_channel_order;
    for (int i = 0; i < 3; i++)
        if (component[i] == CPU_COMPONENT_A)
            return false;
    if (component[3] < CPU_COMPONENT_A)
        return false;
    format->is_view = *order != CL_RGBA && *order != CL_BGRA;
    *order = *order == CL_BGRA ? CL_sBGRA : CL_sRGBA;
    return true;
}

bool cpu_image_format_find(const ze_image_desc_t *desc, cl_mem_object_type type,
                           struct cpu_image_format *out_format)
{
    const ze_image_format_t *from = &desc->format;
    if ((uint32_t)from->layout >= sizeof(layouts) / sizeof(layouts[0]) ||
        layouts[from->layout].channels == 0 || (uint32_t)from->type >= TYPES)
        return false;
    const struct layout *layout = &layouts[from->layout];
    if (layout->packing != NULL && (layout->types >> from->type & 1) == 0)
        return false;
    const cl_channel_type *types = layout->channel_bytes == 1   ? types_8
                                   : layout->channel_bytes == 2 ? types_16
                                                                : types_32;
    struct cpu_image_format format = {
        .format = {0, types[from->type]},
        .is_integer =
            from->type == ZE_IMAGE_FORMAT_TYPE_UINT || from->type == ZE_IMAGE_FORMAT_TYPE_SINT,
        .is_read_only = is_srgb(desc),
        .channels = {.count = (uint8_t)layout->channels,
                     .bytes = (uint8_t)layout->channel_bytes,
                     .one = bits_of_one(from->type, layout->channel_bytes),
                     .packing = layout->packing,
                     .type = from->type},
    };
    format.element_bytes = cpu_image_element_bytes(&format.channels);
    if (format.format.image_channel_data_type == 0 || !read_swizzle(from, &format.channels))
        return false;
    format.format.image_channel_order = find_order(&format.channels);
    cl_mem_flags flags = CL_MEM_READ_WRITE;
    if (format.is_read_only) {
        flags = CL_MEM_READ_ONLY;
        if (layout->packing != NULL || (desc->flags & ZE_IMAGE_FLAG_KERNEL_WRITE) ||
            layout->channels != 4 || !choose_srgb(&format))
            return false;
    } else if (layout->packing != NULL || !is_offered(&format.format, type, flags)) {
        format.format.image_channel_order = CL_RGBA;
        format.is_view = true;
    }
    if (!is_offered(&format.format, type, flags))
        return false;
    *out_format = format;
    return true;
}
