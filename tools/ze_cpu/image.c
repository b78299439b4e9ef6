// SPDX-License-Identifier: MIT
#include "image.h"

#include "chain.h"
#include "entry.h"
#include "memory.h"

#include <stdbool.h>

static const cl_mem_object_type object_types[] = {
    [ZE_IMAGE_TYPE_1D] = CL_MEM_OBJECT_IMAGE1D,
    [ZE_IMAGE_TYPE_1DARRAY] = CL_MEM_OBJECT_IMAGE1D_ARRAY,
    [ZE_IMAGE_TYPE_2D] = CL_MEM_OBJECT_IMAGE2D,
    [ZE_IMAGE_TYPE_2DARRAY] = CL_MEM_OBJECT_IMAGE2D_ARRAY,
    [ZE_IMAGE_TYPE_3D] = CL_MEM_OBJECT_IMAGE3D,
};

static ze_result_t describe(const ze_image_desc_t *desc, cl_image_desc *out_desc,
                            struct cpu_image_format *out_format, struct cpu_image *out_image)
{
    if (desc == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (cpu_chain_has_external_memory(desc->pNext))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if ((uint32_t)desc->type > ZE_IMAGE_TYPE_BUFFER || (desc->flags & ~0x3u) != 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->type == ZE_IMAGE_TYPE_BUFFER || desc->miplevels > 1)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (!cpu_image_format_find(desc, object_types[desc->type], out_format))
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
    out_image->is_1d_array = is_1d_array;
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
    struct cpu_image_format format;
    struct cpu_image image;
    if (pImageProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_result_t result = describe(desc, &cl_desc, &format, &image);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    pImageProperties->samplerFilterFlags = ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT;
    if (!format.is_integer)
        pImageProperties->samplerFilterFlags |= ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeImageCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                         const ze_image_desc_t *desc, ze_image_handle_t *phImage)
{
    (void)hDevice;
    cl_image_desc cl_desc;
    struct cpu_image_format format;
    struct cpu_image described;
    if (phImage == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_result_t result = describe(desc, &cl_desc, &format, &described);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    cl_int code;
    cl_mem memory = cpu_opencl()->api->clCreateImage(
        cpu_opencl()->context, format.is_read_only ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE,
        &format.format, &cl_desc, NULL, &code);
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
    image->format = format;
    image->is_1d_array = described.is_1d_array;
    image->context = hContext;
    image->id = cpu_memory_new_id();
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

ze_result_t ZE_APICALL
cpu_zeImageGetAllocPropertiesExt(ze_context_handle_t hContext, ze_image_handle_t hImage,
                                 ze_image_allocation_ext_properties_t *pImageAllocProperties)
{
    const struct cpu_image *image = (const struct cpu_image *)hImage;
    if (pImageAllocProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (image->context != hContext) {
        cpu_report(__func__, "image %p belongs to another context", (const void *)image);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    pImageAllocProperties->id = image->id;
    return ZE_RESULT_SUCCESS;
}

static size_t read_size(const struct cpu_image *image, cl_image_info name)
{
    size_t value = 0;
    cpu_opencl()->api->clGetImageInfo(image->memory, name, sizeof(value), &value, NULL);
    return value;
}

ze_result_t ZE_APICALL cpu_zeImageGetMemoryPropertiesExp(
    ze_image_handle_t hImage, ze_image_memory_properties_exp_t *pMemoryProperties)
{
    const struct cpu_image *image = (const struct cpu_image *)hImage;
    if (pMemoryProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    size_t row = read_size(image, CL_IMAGE_ROW_PITCH);
    size_t slice = read_size(image, CL_IMAGE_SLICE_PITCH);
    size_t rows = row * image->extent[1] * image->extent[2];
    pMemoryProperties->rowPitch = row;
    pMemoryProperties->slicePitch = slice != 0 ? slice : row * image->extent[1];
    pMemoryProperties->size = slice * image->extent[2] > rows ? slice * image->extent[2] : rows;
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
