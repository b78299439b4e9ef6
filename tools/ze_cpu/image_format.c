// SPDX-License-Identifier: MIT
#include "image_format.h"

#include "chain.h"

#define TYPES 5
#define FORMATS_MAXIMUM 256

struct layout {
    uint32_t channels;
    size_t channel_bytes;
};

static const struct layout layouts[] = {
    [ZE_IMAGE_FORMAT_LAYOUT_8] = {1, 1},           [ZE_IMAGE_FORMAT_LAYOUT_16] = {1, 2},
    [ZE_IMAGE_FORMAT_LAYOUT_32] = {1, 4},          [ZE_IMAGE_FORMAT_LAYOUT_8_8] = {2, 1},
    [ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8] = {4, 1},     [ZE_IMAGE_FORMAT_LAYOUT_16_16] = {2, 2},
    [ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16] = {4, 2}, [ZE_IMAGE_FORMAT_LAYOUT_32_32] = {2, 4},
    [ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32] = {4, 4},
};

// By ze_image_format_type_t; 0: there is none.
static const cl_channel_type types_8[TYPES] = {CL_UNSIGNED_INT8, CL_SIGNED_INT8, CL_UNORM_INT8,
                                               CL_SNORM_INT8, 0};
static const cl_channel_type types_16[TYPES] = {CL_UNSIGNED_INT16, CL_SIGNED_INT16, CL_UNORM_INT16,
                                                CL_SNORM_INT16, CL_HALF_FLOAT};
static const cl_channel_type types_32[TYPES] = {CL_UNSIGNED_INT32, CL_SIGNED_INT32, 0, 0, CL_FLOAT};

// What a kernel reads as x, y, z and w: channels of memory counted from R, or a constant.
struct order {
    uint32_t channels;
    uint8_t swizzle[4];
    cl_channel_order order;
};

enum { R, G, B, A, ZERO, ONE };

static const struct order orders[] = {
    {1, {R, ZERO, ZERO, ONE}, CL_R}, {1, {ZERO, ZERO, ZERO, R}, CL_A},
    {1, {R, R, R, R}, CL_INTENSITY}, {1, {R, R, R, ONE}, CL_LUMINANCE},
    {2, {R, G, ZERO, ONE}, CL_RG},   {2, {R, ZERO, ZERO, G}, CL_RA},
    {4, {R, G, B, A}, CL_RGBA},      {4, {B, G, R, A}, CL_BGRA},
    {4, {G, B, A, R}, CL_ARGB},
};

// Whether a component that is asked for is the one that the order has. Descriptions name R, G, B
// and A whatever the layout: a channel that memory lacks reads as zero, alpha as one. In layouts
// without four channels, the last one may be called A as well.
static bool is_served(const struct order *order, int component, uint32_t asked)
{
    uint32_t has = order->swizzle[component];
    if (asked == ZE_IMAGE_FORMAT_SWIZZLE_X || asked == has)
        return true;
    if (order->channels == 4 || asked > ZE_IMAGE_FORMAT_SWIZZLE_A)
        return false;
    if (asked < order->channels)
        return false;
    return has == (component == 3 ? ONE : ZERO) ||
           (asked == ZE_IMAGE_FORMAT_SWIZZLE_A && component == 3 && has == order->channels - 1);
}

static cl_channel_order find_order(uint32_t channels, const ze_image_format_t *from)
{
    const uint32_t asked[4] = {from->x, from->y, from->z, from->w};
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        bool fits = orders[i].channels == channels;
        for (int j = 0; j < 4; j++)
            fits = fits && is_served(&orders[i], j, asked[j]);
        if (fits)
            return orders[i].order;
    }
    return 0;
}

static bool is_offered(const cl_image_format *format, cl_mem_object_type type, cl_mem_flags flags)
{
    cl_image_format formats[FORMATS_MAXIMUM];
    cl_uint count = 0;
    const struct cpu_opencl *cl = cpu_opencl();
    if (cl->api->clGetSupportedImageFormats(cl->context, flags, type, FORMATS_MAXIMUM, formats,
                                            &count) != CL_SUCCESS)
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

bool cpu_image_format_find(const ze_image_desc_t *desc, cl_mem_object_type type,
                           struct cpu_image_format *out_format)
{
    const ze_image_format_t *from = &desc->format;
    if ((uint32_t)from->layout >= sizeof(layouts) / sizeof(layouts[0]) ||
        (uint32_t)from->type >= TYPES)
        return false;
    const struct layout *layout = &layouts[from->layout];
    const cl_channel_type *types = layout->channel_bytes == 1   ? types_8
                                   : layout->channel_bytes == 2 ? types_16
                                                                : types_32;
    struct cpu_image_format format = {
        .format = {find_order(layout->channels, from), types[from->type]},
        .element_bytes = layout->channels * layout->channel_bytes,
        .is_integer =
            from->type == ZE_IMAGE_FORMAT_TYPE_UINT || from->type == ZE_IMAGE_FORMAT_TYPE_SINT,
        .is_read_only = is_srgb(desc),
    };
    if (format.is_read_only) {
        if (desc->flags & ZE_IMAGE_FLAG_KERNEL_WRITE)
            return false;
        format.format.image_channel_order = format.format.image_channel_order == CL_RGBA ? CL_sRGBA
                                            : format.format.image_channel_order == CL_BGRA
                                                ? CL_sBGRA
                                                : 0;
    }
    if (format.format.image_channel_order == 0 || format.format.image_channel_data_type == 0 ||
        !is_offered(&format.format, type,
                    format.is_read_only ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE))
        return false;
    *out_format = format;
    return true;
}
