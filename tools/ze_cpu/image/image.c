// SPDX-License-Identifier: MIT
#include "image.h"

#include "chain.h"
#include "entry.h"
#include "memory/memory.h"
#include "options.h"
#include "ze_newer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const cl_mem_object_type object_types[] = {
    [ZE_IMAGE_TYPE_1D] = CL_MEM_OBJECT_IMAGE1D,
    [ZE_IMAGE_TYPE_1DARRAY] = CL_MEM_OBJECT_IMAGE1D_ARRAY,
    [ZE_IMAGE_TYPE_2D] = CL_MEM_OBJECT_IMAGE2D,
    [ZE_IMAGE_TYPE_2DARRAY] = CL_MEM_OBJECT_IMAGE2D_ARRAY,
    [ZE_IMAGE_TYPE_3D] = CL_MEM_OBJECT_IMAGE3D,
    [ZE_IMAGE_TYPE_BUFFER] = CL_MEM_OBJECT_IMAGE1D_BUFFER,
};

// The application's memory that has the elements; NULL: the image has its own.
static void *memory_of(const ze_image_desc_t *desc)
{
    const ze_image_pitched_exp_desc_t *pitched =
        cpu_chain_find(desc->pNext, CPU_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC);
    return pitched != NULL ? pitched->ptr : NULL;
}

// Fills the format and the extent of the image.
static ze_result_t describe(const ze_image_desc_t *desc, cl_image_desc *out_desc,
                            struct cpu_image *out_image)
{
    if (cpu_chain_has_external_memory(desc->pNext))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if ((uint32_t)desc->type > ZE_IMAGE_TYPE_BUFFER || (desc->flags & ~0x3u) != 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    const void *memory = memory_of(desc);
    if (desc->miplevels > 1 || (memory != NULL && desc->type != ZE_IMAGE_TYPE_BUFFER))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (!cpu_image_format_find(desc, object_types[desc->type], &out_image->format) ||
        (memory != NULL && out_image->format.is_view))
        return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
    bool is_1d_array = desc->type == ZE_IMAGE_TYPE_1DARRAY;
    bool is_2d_array = desc->type == ZE_IMAGE_TYPE_2DARRAY;
    bool is_flat =
        desc->type == ZE_IMAGE_TYPE_1D || desc->type == ZE_IMAGE_TYPE_BUFFER || is_1d_array;
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
    cl_image_desc cl_desc;
    struct cpu_image image;
    ze_result_t result = describe(desc, &cl_desc, &image);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    pImageProperties->samplerFilterFlags = ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT;
    if (!image.format.is_integer)
        pImageProperties->samplerFilterFlags |= ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR;
    return ZE_RESULT_SUCCESS;
}

// The image keeps the buffer that its elements are in.
static cl_mem create_object(const struct cpu_image_format *format, cl_image_desc *desc,
                            void *memory, cl_int *out_code)
{
    const cl_icd_dispatch *api = cpu_opencl()->api;
    const cl_mem_flags flags = format->is_read_only ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
    if (desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
        const size_t bytes =
            format->is_view ? cpu_image_view_bytes(&format->channels) : format->element_bytes;
        desc->buffer = api->clCreateBuffer(cpu_opencl_context(),
                                           flags | (memory != NULL ? CL_MEM_USE_HOST_PTR : 0),
                                           desc->image_width * bytes, memory, out_code);
        if (desc->buffer == NULL)
            return NULL;
    }
    cl_mem object =
        api->clCreateImage(cpu_opencl_context(), flags, &format->format, desc, NULL, out_code);
    if (desc->buffer != NULL)
        api->clReleaseMemObject(desc->buffer);
    return object;
}

static void finish_image(struct cpu_image *image)
{
    if (image->memory != NULL)
        cpu_opencl()->api->clReleaseMemObject(image->memory);
    free(image->hidden);
    image->hidden = NULL;
    cpu_memory_give(image->taken_bytes);
    cpu_object_destroy(image);
}

static ze_result_t fill_image(struct cpu_image *image, const ze_image_desc_t *desc)
{
    cl_image_desc cl_desc;
    ze_result_t result = describe(desc, &cl_desc, image);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const struct cpu_image_format *format = &image->format;
    const size_t elements = image->extent[0] * image->extent[1] * image->extent[2];
    const size_t taken_bytes = memory_of(desc) != NULL ? 0 : elements * format->element_bytes;
    if (!cpu_memory_take(taken_bytes))
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    image->taken_bytes = taken_bytes;
    cl_int code = CL_SUCCESS;
    // Where nothing is executed, no element is read or written.
    if (cpu_options()->executes)
        image->memory = create_object(format, &cl_desc, memory_of(desc), &code);
    if (code == CL_INVALID_IMAGE_SIZE || code == CL_INVALID_IMAGE_DESCRIPTOR)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (code != CL_SUCCESS)
        return cpu_opencl_result(code);
    image->is_settled_after_launch = format->is_view &&
                                     (desc->flags & ZE_IMAGE_FLAG_KERNEL_WRITE) &&
                                     cpu_image_components_repeat(&format->channels);
    if (!format->is_view || !cpu_image_channels_are_hidden(&format->channels))
        return ZE_RESULT_SUCCESS;
    image->hidden = calloc(elements, format->element_bytes);
    return image->hidden != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t ZE_APICALL cpu_zeImageCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                         const ze_image_desc_t *desc, ze_image_handle_t *phImage)
{
    struct cpu_image *image = cpu_object_create(CPU_IMAGE, sizeof(*image));
    if (image == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    const ze_result_t result = fill_image(image, desc);
    if (result != ZE_RESULT_SUCCESS) {
        finish_image(image);
        return result;
    }
    image->context = hContext;
    image->id = cpu_memory_new_id();
    *phImage = (ze_image_handle_t)image;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeImageDestroy(ze_image_handle_t hImage)
{
    finish_image((struct cpu_image *)hImage);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
cpu_zeImageGetAllocPropertiesExt(ze_context_handle_t hContext, ze_image_handle_t hImage,
                                 ze_image_allocation_ext_properties_t *pImageAllocProperties)
{
    const struct cpu_image *image = (const struct cpu_image *)hImage;
    if (image->context != hContext) {
        cpu_report(__func__, "image %p belongs to another context", (const void *)image);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    pImageAllocProperties->id = image->id;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeImageGetMemoryPropertiesExp(
    ze_image_handle_t hImage, ze_image_memory_properties_exp_t *pMemoryProperties)
{
    const struct cpu_image *image = (const struct cpu_image *)hImage;
    pMemoryProperties->rowPitch = image->extent[0] * image->format.element_bytes;
    pMemoryProperties->slicePitch = pMemoryProperties->rowPitch * image->extent[1];
    pMemoryProperties->size = pMemoryProperties->slicePitch * image->extent[2];
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeContextMakeImageResident(ze_context_handle_t hContext,
                                                      ze_device_handle_t hDevice,
                                                      ze_image_handle_t hImage)
{
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeContextEvictImage(ze_context_handle_t hContext,
                                               ze_device_handle_t hDevice, ze_image_handle_t hImage)
{
    return cpu_zeContextMakeImageResident(hContext, hDevice, hImage);
}

// A part of a view, mapped.
struct mapped {
    unsigned char *view;
    size_t row_bytes, slice_bytes;
};

static cl_int map_view(cl_command_queue queue, const struct cpu_image *image, cl_map_flags flags,
                       const size_t origin[3], const size_t region[3], struct mapped *out)
{
    cl_int code;
    *out = (struct mapped){0};
    out->view = cpu_opencl()->api->clEnqueueMapImage(queue, image->memory, CL_TRUE, flags, origin,
                                                     region, &out->row_bytes, &out->slice_bytes, 0,
                                                     NULL, NULL, &code);
    // The rows of a one-dimensional array are slices.
    if (image->is_1d_array)
        out->row_bytes = out->slice_bytes;
    return code;
}

static cl_int unmap_view(cl_command_queue queue, const struct cpu_image *image,
                         const struct mapped *mapped)
{
    return cpu_opencl()->api->clEnqueueUnmapMemObject(queue, image->memory, mapped->view, 0, NULL,
                                                      NULL);
}

static unsigned char *hidden_row(const struct cpu_image *image, const size_t origin[3], size_t y,
                                 size_t z)
{
    const size_t row = (origin[2] + z) * image->extent[1] + origin[1] + y;
    return image->hidden + (row * image->extent[0] + origin[0]) * image->format.element_bytes;
}

// Between memory and an image that is a view.
static cl_int translate(cl_command_queue queue, const struct cpu_image_copy *copy)
{
    const bool is_write = copy->source == NULL;
    const struct cpu_image *image = is_write ? copy->target : copy->source;
    const size_t *origin = is_write ? copy->target_origin : copy->source_origin;
    const size_t bytes = copy->region[0] * image->format.element_bytes;
    size_t row_bytes = copy->row_bytes != 0 ? copy->row_bytes : bytes;
    if (image->is_1d_array && copy->slice_bytes != 0)
        row_bytes = copy->slice_bytes;
    const size_t slice_bytes =
        copy->slice_bytes != 0 ? copy->slice_bytes : row_bytes * copy->region[1];
    struct mapped mapped;
    cl_int code = map_view(queue, image, is_write ? CL_MAP_WRITE : CL_MAP_READ, origin,
                           copy->region, &mapped);
    if (code != CL_SUCCESS)
        return code;
    for (size_t z = 0; z < copy->region[2]; z++)
        for (size_t y = 0; y < copy->region[1]; y++) {
            unsigned char *memory =
                (unsigned char *)copy->pointer + z * slice_bytes + y * row_bytes;
            unsigned char *view = mapped.view + z * mapped.slice_bytes + y * mapped.row_bytes;
            if (is_write && image->hidden != NULL)
                memcpy(hidden_row(image, origin, y, z), memory, bytes);
            else if (image->hidden != NULL)
                memcpy(memory, hidden_row(image, origin, y, z), bytes);
            if (is_write)
                cpu_image_to_view(&image->format.channels, copy->region[0], memory, view);
            else
                cpu_image_from_view(&image->format.channels, copy->region[0], view, memory);
        }
    return unmap_view(queue, image, &mapped);
}

static void copy_hidden(const struct cpu_image_copy *copy)
{
    for (size_t z = 0; z < copy->region[2]; z++)
        for (size_t y = 0; y < copy->region[1]; y++)
            memcpy(hidden_row(copy->target, copy->target_origin, y, z),
                   hidden_row(copy->source, copy->source_origin, y, z),
                   copy->region[0] * copy->source->format.element_bytes);
}

ze_result_t cpu_image_settle(cl_command_queue queue, const struct cpu_image *image)
{
    const size_t origin[3] = {0};
    struct mapped mapped;
    cl_int code =
        map_view(queue, image, CL_MAP_READ | CL_MAP_WRITE, origin, image->extent, &mapped);
    if (code != CL_SUCCESS)
        return cpu_opencl_result(code);
    for (size_t z = 0; z < image->extent[2]; z++)
        for (size_t y = 0; y < image->extent[1]; y++)
            cpu_image_settle_view(&image->format.channels, image->extent[0],
                                  mapped.view + z * mapped.slice_bytes + y * mapped.row_bytes);
    code = unmap_view(queue, image, &mapped);
    if (code == CL_SUCCESS)
        code = cpu_opencl()->api->clFinish(queue);
    return cpu_opencl_result(code);
}

ze_result_t cpu_image_copy(cl_command_queue queue, const struct cpu_image_copy *copy)
{
    const cl_icd_dispatch *api = cpu_opencl()->api;
    const struct cpu_image *image = copy->source != NULL ? copy->source : copy->target;
    cl_int code;
    if (copy->source != NULL && copy->target != NULL && image->hidden != NULL)
        copy_hidden(copy);
    if (image->format.is_view && (copy->source == NULL || copy->target == NULL))
        code = translate(queue, copy);
    else if (copy->source == NULL)
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
