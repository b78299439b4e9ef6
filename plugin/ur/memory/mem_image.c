// SPDX-License-Identifier: MIT
#include "checks/image.h"
#include "queue/progress.h"
#include "queue/queue_create.h"
#include "ur/info.h"
#include "ur/memory/mem.h"

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

static const ze_image_type_t image_types[] = {
    [UR_MEM_TYPE_IMAGE1D] = ZE_IMAGE_TYPE_1D, [UR_MEM_TYPE_IMAGE1D_ARRAY] = ZE_IMAGE_TYPE_1DARRAY,
    [UR_MEM_TYPE_IMAGE2D] = ZE_IMAGE_TYPE_2D, [UR_MEM_TYPE_IMAGE2D_ARRAY] = ZE_IMAGE_TYPE_2DARRAY,
    [UR_MEM_TYPE_IMAGE3D] = ZE_IMAGE_TYPE_3D,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Level Zero's layout, type and swizzle for a channel order and type.
static ur_result_t read_image_format(const ur_image_format_t *format, ze_image_format_t *out_format)
{
    const uint32_t number = (uint32_t)format->channelOrder;
    const uint32_t type = (uint32_t)format->channelType;
    if (number > UR_IMAGE_CHANNEL_ORDER_SRGBA || type > UR_IMAGE_CHANNEL_TYPE_FLOAT)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                              "channel order %u or type %u is not known", number, type);
    if (number >= COUNT(orders) || orders[number].channel_count == 0 || type >= COUNT(channels) ||
        channels[type].bytes == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
                              "Level Zero has no images with channel order %u and type %u", number,
                              type);
    const struct order *order = &orders[number];
    *out_format = (ze_image_format_t){
        .layout = zepi_image_layout_of(order->channel_count, channels[type].bytes),
        .type = channels[type].type,
        .x = order->x,
        .y = order->y,
        .z = order->z,
        .w = order->w};
    return UR_RESULT_SUCCESS;
}

// The checks that the header asks for of every description.
static ur_result_t check_image_desc(const ur_image_desc_t *desc)
{
    if (desc->stype != UR_STRUCTURE_TYPE_IMAGE_DESC)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                              "pImageDesc->stype is %d, expected UR_STRUCTURE_TYPE_IMAGE_DESC",
                              (int)desc->stype);
    if ((uint32_t)desc->type >= COUNT(image_types))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                              "image type %d is none of Level Zero's", (int)desc->type);
    if (desc->numMipLevel != 0 || desc->numSamples != 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                              "mip levels and samples must be 0");
    if (desc->width == 0 || desc->width > UINT32_MAX || desc->height > UINT32_MAX ||
        desc->depth > UINT32_MAX || desc->arraySize > UINT32_MAX)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_IMAGE_SIZE,
                              "an image of %zu x %zu x %zu, %zu times", desc->width, desc->height,
                              desc->depth, desc->arraySize);
    return UR_RESULT_SUCCESS;
}

static ur_result_t read_image_desc(const ur_image_format_t *format, const ur_image_desc_t *desc,
                                   ur_mem_flags_t flags, ze_image_desc_t *out_desc)
{
    ur_result_t result;
    if ((result = zepi_ur_check_pointer(format, "pImageFormat")) ||
        (result = zepi_ur_check_pointer(desc, "pImageDesc")) || (result = check_image_desc(desc)))
        return result;
    *out_desc =
        (ze_image_desc_t){.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                          .flags = flags & UR_MEM_FLAG_READ_ONLY ? 0 : ZE_IMAGE_FLAG_KERNEL_WRITE,
                          .type = image_types[desc->type],
                          .width = desc->width,
                          .height = desc->height > 0 ? (uint32_t)desc->height : 1,
                          .depth = desc->depth > 0 ? (uint32_t)desc->depth : 1,
                          .arraylevels = (uint32_t)desc->arraySize,
                          .miplevels = desc->numMipLevel};
    return read_image_format(format, &out_desc->format);
}

static size_t image_layers_of(const ze_image_desc_t *desc)
{
    const bool is_array =
        desc->type == ZE_IMAGE_TYPE_1DARRAY || desc->type == ZE_IMAGE_TYPE_2DARRAY;
    return is_array && desc->arraylevels > 0 ? desc->arraylevels : 1;
}

static ur_result_t copy_host_pixels(struct zepi_ur_mem *mem, const void *host, size_t row_pitch,
                                    size_t slice_pitch)
{
    zepi_queue_t queue;
    if (!host)
        return UR_RESULT_SUCCESS;
    if (row_pitch > UINT32_MAX || slice_pitch > UINT32_MAX)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_IMAGE_SIZE, "pitches beyond 32 bits");
    zepi_result_t result = zepi_queue_create(mem->context, mem->context->devices[0],
                                             ZEPI_QUEUE_IN_ORDER, ZEPI_COMPUTE_ENGINE_ANY, &queue);
    if (result != ZEPI_SUCCESS)
        return zepi_ur_fail(result);
    const struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY_IMAGE,
                                       .to_image = mem->image,
                                       .from = host,
                                       .row_pitch_bytes = (uint32_t)row_pitch,
                                       .slice_pitch_bytes = (uint32_t)slice_pitch};
    result = zepi_queue_transfer(queue, &copy, (zepi_wait_list_t){NULL, 0}, NULL);
    if (result == ZEPI_SUCCESS)
        result = zepi_queue_wait(queue);
    zepi_release(queue);
    return zepi_ur_result(result);
}

// The error for a description that the driver refused, in the words for images.
static ur_result_t refuse_image(const struct zepi_context *context, zepi_result_t created,
                                ur_result_t result)
{
    if (created == ZEPI_ERROR_INVALID_SIZE)
        return UR_RESULT_ERROR_INVALID_IMAGE_SIZE;
    return created == ZEPI_ERROR_UNSUPPORTED && context->devices[0]->has_images
               ? UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT
               : result;
}

static ur_result_t mem_image_create(struct zepi_context *context, ur_mem_flags_t flags,
                                    const ur_image_format_t *format, const ze_image_desc_t *desc,
                                    ze_image_handle_t native, zepi_ownership_t ownership,
                                    struct zepi_ur_mem **out_mem)
{
    struct zepi_ur_mem *mem = zepi_ur_mem_make(context, flags);
    if (!mem)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    mem->image_format = *format;
    const zepi_result_t created =
        zepi_image_create(context, context->devices[0], desc, native, ownership, &mem->image);
    if (created != ZEPI_SUCCESS) {
        const ur_result_t result = zepi_ur_fail(created);
        zepi_release(mem);
        return refuse_image(context, created, result);
    }
    mem->size_bytes = (size_t)zepi_image_pixel_bytes(mem->image) * desc->width * desc->height *
                      desc->depth * image_layers_of(desc);
    *out_mem = mem;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urMemImageCreate(ur_context_handle_t hContext, ur_mem_flags_t flags,
                                  const ur_image_format_t *pImageFormat,
                                  const ur_image_desc_t *pImageDesc, void *pHost,
                                  ur_mem_handle_t *phMem)
{
    struct zepi_ur_mem *mem = NULL;
    ze_image_desc_t desc;
    ur_result_t result;
    if ((result = zepi_ur_check_context(hContext)) ||
        (result = zepi_ur_check_flags(flags, UR_MEM_FLAGS_MASK)) ||
        (result = zepi_ur_check_pointer(phMem, "phMem")) ||
        (result = read_image_desc(pImageFormat, pImageDesc, flags, &desc)) ||
        ((!pHost && (pImageDesc->rowPitch || pImageDesc->slicePitch)) &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                                  "pitches without a host pointer"))) ||
        (result = zepi_ur_check_host_pointer(flags, pHost)) ||
        (result = mem_image_create(zepi_ur_context(hContext), flags, pImageFormat, &desc, NULL,
                                   ZEPI_OWNERSHIP_TRANSFER, &mem)))
        return result;
    result = copy_host_pixels(mem, pHost, pImageDesc->rowPitch, pImageDesc->slicePitch);
    if (result != UR_RESULT_SUCCESS) {
        zepi_release(mem);
        return result;
    }
    *phMem = (ur_mem_handle_t)mem;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urMemImageCreateWithNativeHandle(ur_native_handle_t hNativeMem,
                                                  ur_context_handle_t hContext,
                                                  const ur_image_format_t *pImageFormat,
                                                  const ur_image_desc_t *pImageDesc,
                                                  const ur_mem_native_properties_t *pProperties,
                                                  ur_mem_handle_t *phMem)
{
    struct zepi_ur_mem *mem = NULL;
    ze_image_desc_t desc;
    ur_result_t result = zepi_ur_check_context_pointer(hContext, (void *)hNativeMem, "hNativeMem");
    result = result ? result : zepi_ur_check_pointer(phMem, "phMem");
    result =
        result ? result : read_image_desc(pImageFormat, pImageDesc, UR_MEM_FLAG_READ_WRITE, &desc);
    if (result == UR_RESULT_SUCCESS)
        result =
            mem_image_create(zepi_ur_context(hContext), UR_MEM_FLAG_READ_WRITE, pImageFormat, &desc,
                             (ze_image_handle_t)hNativeMem, ZEPI_UR_OWNERSHIP(pProperties), &mem);
    if (result == UR_RESULT_SUCCESS)
        *phMem = (ur_mem_handle_t)mem;
    return result;
}

// The sizes of an image. A dimension that a shape does not have is 0, as in OpenCL.
struct image_sizes {
    size_t element, row_pitch, slice_pitch, width, height, depth, layers;
};

static struct image_sizes image_sizes_of(const struct zepi_ur_mem *mem)
{
    const ze_image_desc_t *desc = &mem->image->desc;
    const bool is_row = desc->type == ZE_IMAGE_TYPE_1D || desc->type == ZE_IMAGE_TYPE_1DARRAY;
    const bool has_slices = desc->type == ZE_IMAGE_TYPE_3D || image_layers_of(desc) > 1;
    const size_t element = zepi_image_pixel_bytes(mem->image);
    const size_t row = element * desc->width;
    return (struct image_sizes){.element = element,
                                .row_pitch = row,
                                .slice_pitch = has_slices ? row * desc->height : 0,
                                .width = desc->width,
                                .height = is_row ? 0 : desc->height,
                                .depth = desc->type == ZE_IMAGE_TYPE_3D ? desc->depth : 0,
                                .layers = desc->arraylevels};
}

static zepi_result_t get_image_size(void *object, uint64_t parameter, uint64_t *out_number)
{
    const struct image_sizes sizes = image_sizes_of(object);
    *out_number = *(const size_t *)((const char *)&sizes + parameter);
    return ZEPI_SUCCESS;
}

#define IMAGE_SIZE(name, member)                                                                   \
    ZEPI_UR_ASKED(IMAGE_INFO_##name, SIZE, get_image_size, offsetof(struct image_sizes, member))
static const struct zepi_ur_query image_queries[] = {
    {ZEPI_UR_MEMBER(IMAGE_INFO_FORMAT, BYTES, zepi_ur_mem, image_format)},
    {IMAGE_SIZE(ELEMENT_SIZE, element)},
    {IMAGE_SIZE(ROW_PITCH, row_pitch)},
    {IMAGE_SIZE(SLICE_PITCH, slice_pitch)},
    {IMAGE_SIZE(WIDTH, width)},
    {IMAGE_SIZE(HEIGHT, height)},
    {IMAGE_SIZE(DEPTH, depth)},
    {IMAGE_SIZE(ARRAY_SIZE, layers)},
    {ZEPI_UR_IS(IMAGE_INFO_NUM_MIP_LEVELS, U32, 0)},
    {ZEPI_UR_IS(IMAGE_INFO_NUM_SAMPLES, U32, 0)},
};

ur_result_t zepi_urMemImageGetInfo(ur_mem_handle_t hMemory, ur_image_info_t query,
                                   size_t value_size, void *value, size_t *out_size)
{
    ur_result_t result = zepi_ur_check_mem(hMemory);
    result = result ? result : zepi_ur_check_image(hMemory, zepi_ur_mem(hMemory)->context);
    return zepi_ur_get_info(result, hMemory, ZEPI_UR_ROWS(image_queries), query,
                            UR_IMAGE_INFO_NUM_SAMPLES, value_size, value, out_size);
}
