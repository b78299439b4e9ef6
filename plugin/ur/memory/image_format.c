// SPDX-License-Identifier: MIT
#include "ur/memory/image_format.h"

#include "checks/image.h"

// The number of channels in memory, and the channels that a kernel gets as x, y, z and w. Level
// Zero calls the channels of memory R, G, B and A, in this order.
struct order {
    uint32_t channel_count; // 0: Level Zero does not have it
    ze_image_format_swizzle_t x, y, z, w;
};

#define FIRST ZE_IMAGE_FORMAT_SWIZZLE_R
#define SECOND ZE_IMAGE_FORMAT_SWIZZLE_G
#define THIRD ZE_IMAGE_FORMAT_SWIZZLE_B
#define FOURTH ZE_IMAGE_FORMAT_SWIZZLE_A
#define ZERO ZE_IMAGE_FORMAT_SWIZZLE_0
#define ONE ZE_IMAGE_FORMAT_SWIZZLE_1

static const struct order orders[] = {
    [UR_IMAGE_CHANNEL_ORDER_A] = {1, ZERO, ZERO, ZERO, FIRST},
    [UR_IMAGE_CHANNEL_ORDER_R] = {1, FIRST, ZERO, ZERO, ONE},
    [UR_IMAGE_CHANNEL_ORDER_RG] = {2, FIRST, SECOND, ZERO, ONE},
    [UR_IMAGE_CHANNEL_ORDER_RA] = {2, FIRST, ZERO, ZERO, SECOND},
    [UR_IMAGE_CHANNEL_ORDER_RGB] = {3, FIRST, SECOND, THIRD, ONE},
    [UR_IMAGE_CHANNEL_ORDER_RGBA] = {4, FIRST, SECOND, THIRD, FOURTH},
    [UR_IMAGE_CHANNEL_ORDER_BGRA] = {4, THIRD, SECOND, FIRST, FOURTH},
    [UR_IMAGE_CHANNEL_ORDER_ARGB] = {4, SECOND, THIRD, FOURTH, FIRST},
    [UR_IMAGE_CHANNEL_ORDER_ABGR] = {4, FOURTH, THIRD, SECOND, FIRST},
    [UR_IMAGE_CHANNEL_ORDER_INTENSITY] = {1, FIRST, FIRST, FIRST, FIRST},
    [UR_IMAGE_CHANNEL_ORDER_LUMINANCE] = {1, FIRST, FIRST, FIRST, ONE},
    [UR_IMAGE_CHANNEL_ORDER_RX] = {1, FIRST, ZERO, ZERO, ONE},
    [UR_IMAGE_CHANNEL_ORDER_RGX] = {2, FIRST, SECOND, ZERO, ONE},
    [UR_IMAGE_CHANNEL_ORDER_RGBX] = {4, FIRST, SECOND, THIRD, ONE},
};

#undef FIRST
#undef SECOND
#undef THIRD
#undef FOURTH
#undef ZERO
#undef ONE

struct channel {
    uint32_t bytes; // 0: packed, or unknown
    ze_image_format_type_t type;
};

static const struct channel channels[] = {
    [UR_IMAGE_CHANNEL_TYPE_SNORM_INT8] = {1, ZE_IMAGE_FORMAT_TYPE_SNORM},
    [UR_IMAGE_CHANNEL_TYPE_SNORM_INT16] = {2, ZE_IMAGE_FORMAT_TYPE_SNORM},
    [UR_IMAGE_CHANNEL_TYPE_UNORM_INT8] = {1, ZE_IMAGE_FORMAT_TYPE_UNORM},
    [UR_IMAGE_CHANNEL_TYPE_UNORM_INT16] = {2, ZE_IMAGE_FORMAT_TYPE_UNORM},
    [UR_IMAGE_CHANNEL_TYPE_SIGNED_INT8] = {1, ZE_IMAGE_FORMAT_TYPE_SINT},
    [UR_IMAGE_CHANNEL_TYPE_SIGNED_INT16] = {2, ZE_IMAGE_FORMAT_TYPE_SINT},
    [UR_IMAGE_CHANNEL_TYPE_SIGNED_INT32] = {4, ZE_IMAGE_FORMAT_TYPE_SINT},
    [UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8] = {1, ZE_IMAGE_FORMAT_TYPE_UINT},
    [UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16] = {2, ZE_IMAGE_FORMAT_TYPE_UINT},
    [UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32] = {4, ZE_IMAGE_FORMAT_TYPE_UINT},
    [UR_IMAGE_CHANNEL_TYPE_HALF_FLOAT] = {2, ZE_IMAGE_FORMAT_TYPE_FLOAT},
    [UR_IMAGE_CHANNEL_TYPE_FLOAT] = {4, ZE_IMAGE_FORMAT_TYPE_FLOAT},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static ur_result_t find_image_format(const ur_image_format_t *format,
                                     const struct order **out_order,
                                     const struct channel **out_channel)
{
    if ((uint32_t)format->channelOrder > UR_IMAGE_CHANNEL_ORDER_SRGBA ||
        (uint32_t)format->channelType > UR_IMAGE_CHANNEL_TYPE_FLOAT)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                              "channel order %d or type %d is not known", (int)format->channelOrder,
                              (int)format->channelType);
    const uint32_t order = (uint32_t)format->channelOrder;
    const uint32_t type = (uint32_t)format->channelType;
    if (order >= COUNT(orders) || orders[order].channel_count == 0 || type >= COUNT(channels) ||
        channels[type].bytes == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
                              "Level Zero has no images with channel order %u and type %u", order,
                              type);
    *out_order = &orders[order];
    *out_channel = &channels[type];
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_ur_image_format_to_ze(const ur_image_format_t *format,
                                       ze_image_format_t *out_format)
{
    const struct order *order = NULL;
    const struct channel *channel = NULL;
    const ur_result_t result = find_image_format(format, &order, &channel);
    if (result != UR_RESULT_SUCCESS)
        return result;
    *out_format =
        (ze_image_format_t){.layout = zepi_image_layout_of(order->channel_count, channel->bytes),
                            .type = channel->type,
                            .x = order->x,
                            .y = order->y,
                            .z = order->z,
                            .w = order->w};
    return UR_RESULT_SUCCESS;
}
