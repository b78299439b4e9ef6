// SPDX-License-Identifier: MIT
#include "image.h"

#include "chain.h"
#include "entry.h"

#include <stdbool.h>

#define TYPES 5

struct layout {
    cl_channel_order order;
    size_t element_bytes;
    size_t channel_bytes;
};

static const struct layout layouts[] = {
    [ZE_IMAGE_FORMAT_LAYOUT_8] = {CL_R, 1, 1},
    [ZE_IMAGE_FORMAT_LAYOUT_16] = {CL_R, 2, 2},
    [ZE_IMAGE_FORMAT_LAYOUT_32] = {CL_R, 4, 4},
    [ZE_IMAGE_FORMAT_LAYOUT_8_8] = {CL_RG, 2, 1},
    [ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8] = {CL_RGBA, 4, 1},
    [ZE_IMAGE_FORMAT_LAYOUT_16_16] = {CL_RG, 4, 2},
    [ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16] = {CL_RGBA, 8, 2},
    [ZE_IMAGE_FORMAT_LAYOUT_32_32] = {CL_RG, 8, 4},
    [ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32] = {CL_RGBA, 16, 4},
};

// By ze_image_format_type_t; 0: there is none.
static const cl_channel_type types_8[TYPES] = {CL_UNSIGNED_INT8, CL_SIGNED_INT8, CL_UNORM_INT8,
                                               CL_SNORM_INT8, 0};
static const cl_channel_type types_16[TYPES] = {CL_UNSIGNED_INT16, CL_SIGNED_INT16, CL_UNORM_INT16,
                                                CL_SNORM_INT16, CL_HALF_FLOAT};
static const cl_channel_type types_32[TYPES] = {CL_UNSIGNED_INT32, CL_SIGNED_INT32, 0, 0, CL_FLOAT};

static const cl_mem_object_type object_types[] = {
    [ZE_IMAGE_TYPE_1D] = CL_MEM_OBJECT_IMAGE1D,
    [ZE_IMAGE_TYPE_1DARRAY] = CL_MEM_OBJECT_IMAGE1D_ARRAY,
    [ZE_IMAGE_TYPE_2D] = CL_MEM_OBJECT_IMAGE2D,
    [ZE_IMAGE_TYPE_2DARRAY] = CL_MEM_OBJECT_IMAGE2D_ARRAY,
    [ZE_IMAGE_TYPE_3D] = CL_MEM_OBJECT_IMAGE3D,
};

static bool find_format(const ze_image_format_t *from, cl_image_format *out_format,
                        size_t *out_element_bytes)
{
    if ((uint32_t)from->layout >= sizeof(layouts) / sizeof(layouts[0]) ||
        (uint32_t)from->type >= TYPES)
        return false;
    const struct layout *layout = &layouts[from->layout];
    const cl_channel_type *types = layout->channel_bytes == 1   ? types_8
                                   : layout->channel_bytes == 2 ? types_16
                                                                : types_32;
    out_format->image_channel_order = layout->order;
    if (layout->order == CL_RGBA && from->x == ZE_IMAGE_FORMAT_SWIZZLE_B &&
        from->z == ZE_IMAGE_FORMAT_SWIZZLE_R)
        out_format->image_channel_order = CL_BGRA;
    out_format->image_channel_data_type = types[from->type];
    *out_element_bytes = layout->element_bytes;
    return types[from->type] != 0;
}

static ze_result_t describe(const ze_image_desc_t *desc, cl_image_desc *out_desc,
                            cl_image_format *out_format, struct cpu_image *out_image)
{
    if (desc == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (cpu_chain_has_external_memory(desc->pNext))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if ((uint32_t)desc->type > ZE_IMAGE_TYPE_BUFFER || (desc->flags & ~0x3u) != 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->type == ZE_IMAGE_TYPE_BUFFER || desc->miplevels > 1)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (!find_format(&desc->format, out_format, &out_image->element_bytes))
        return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
    bool is_1d_array = desc->type == ZE_IMAGE_TYPE_1DARRAY;
    bool is_2d_array = desc->type == ZE_IMAGE_TYPE_2DARRAY;
    bool is_flat = desc->type == ZE_IMAGE_TYPE_1D || is_1d_array;
    size_t height = is_flat ? 1 : desc->height;
    size_t depth = desc->type == ZE_IMAGE_TYPE_3D ? desc->depth : 1;
    *out_desc = (cl_image_desc){
        .image_type = object_types[desc->type],
        .image_width = (size_t)desc->width,
        .image_height = height,
        .image_depth = depth,
        .image_array_size = is_1d_array || is_2d_array ? desc->arraylevels : 0,
    };
    out_image->extent[0] = (size_t)desc->width;
    out_image->extent[1] = is_1d_array ? desc->arraylevels : height;
    out_image->extent[2] = is_2d_array ? desc->arraylevels : depth;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeImageGetProperties(ze_device_handle_t hDevice,
                                                const ze_image_desc_t *desc,
                                                ze_image_properties_t *pImageProperties)
{
    (void)hDevice;
    cl_image_desc cl_desc;
    cl_image_format format;
    struct cpu_image image;
    if (pImageProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_result_t result = describe(desc, &cl_desc, &format, &image);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    bool is_integer = desc->format.type == ZE_IMAGE_FORMAT_TYPE_UINT ||
                      desc->format.type == ZE_IMAGE_FORMAT_TYPE_SINT;
    pImageProperties->samplerFilterFlags = ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT;
    if (!is_integer)
        pImageProperties->samplerFilterFlags |= ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeImageCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                         const ze_image_desc_t *desc, ze_image_handle_t *phImage)
{
    (void)hContext;
    (void)hDevice;
    cl_image_desc cl_desc;
    cl_image_format format;
    struct cpu_image described;
    if (phImage == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_result_t result = describe(desc, &cl_desc, &format, &described);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    cl_int code;
    cl_mem memory = cpu_opencl()->api->clCreateImage(cpu_opencl()->context, CL_MEM_READ_WRITE,
                                                     &format, &cl_desc, NULL, &code);
    if (memory == NULL)
        return code == CL_INVALID_IMAGE_SIZE || code == CL_INVALID_IMAGE_DESCRIPTOR
                   ? ZE_RESULT_ERROR_INVALID_SIZE
                   : cpu_opencl_result(code);
    struct cpu_image *image = cpu_object_create(CPU_IMAGE, sizeof(*image));
    if (image == NULL) {
        cpu_opencl()->api->clReleaseMemObject(memory);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    image->memory = memory;
    image->element_bytes = described.element_bytes;
    for (int i = 0; i < 3; i++)
        image->extent[i] = described.extent[i];
    *phImage = (ze_image_handle_t)image;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeImageDestroy(ze_image_handle_t hImage)
{
    struct cpu_image *image = (struct cpu_image *)hImage;
    cpu_opencl()->api->clReleaseMemObject(image->memory);
    cpu_object_destroy(image);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeContextMakeImageResident(ze_context_handle_t hContext,
                                                      ze_device_handle_t hDevice,
                                                      ze_image_handle_t hImage)
{
    (void)hContext;
    (void)hDevice;
    (void)hImage;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeContextEvictImage(ze_context_handle_t hContext,
                                               ze_device_handle_t hDevice, ze_image_handle_t hImage)
{
    return cpu_zeContextMakeImageResident(hContext, hDevice, hImage);
}

ze_result_t cpu_image_copy(cl_command_queue queue, const struct cpu_image_copy *copy)
{
    const cl_icd_dispatch *api = cpu_opencl()->api;
    cl_int code;
    if (copy->source == NULL)
        code = api->clEnqueueWriteImage(queue, copy->target->memory, CL_TRUE, copy->target_origin,
                                        copy->region, copy->row_bytes, copy->slice_bytes,
                                        copy->pointer, 0, NULL, NULL);
    else if (copy->target == NULL)
        code = api->clEnqueueReadImage(queue, copy->source->memory, CL_TRUE, copy->source_origin,
                                       copy->region, copy->row_bytes, copy->slice_bytes,
                                       copy->pointer, 0, NULL, NULL);
    else
        code = api->clEnqueueCopyImage(queue, copy->source->memory, copy->target->memory,
                                       copy->source_origin, copy->target_origin, copy->region, 0,
                                       NULL, NULL);
    if (code == CL_SUCCESS)
        code = api->clFinish(queue);
    return cpu_opencl_result(code);
}
