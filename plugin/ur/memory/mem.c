// SPDX-License-Identifier: MIT
// Memory objects, and those that are buffers.
#include "ur/memory/mem.h"
#include "core/alloc.h"
#include "device/context.h"
#include "memory/image.h"
#include "memory/interop/host_memory.h"
#include "memory/usm.h"
#include "ur/info.h"

static void map_destroy(void *object)
{
    struct zepi_ur_map *map = object;
    if (map->is_staging)
        zepi_usm_put(map->context, map->address);
    zepi_release(map->context);
}

ZEPI_DEFINE_TYPE(ur_map, map_destroy);

static void mem_destroy(void *object)
{
    struct zepi_ur_mem *mem = object;
    while (mem->maps) {
        struct zepi_ur_map *map = mem->maps;
        mem->maps = map->next;
        zepi_release(map);
    }
    zepi_release(mem->buffer);
    zepi_release(mem->image);
    zepi_release(mem->parent);
    zepi_release(mem->context);
}

ZEPI_DEFINE_TYPE(ur_mem, mem_destroy);

struct zepi_ur_mem *zepi_ur_mem_make(struct zepi_context *context, ur_mem_flags_t flags)
{
    struct zepi_ur_mem *mem = zepi_object_create(&zepi_ur_mem_type);
    if (!mem)
        return NULL;
    mem->context = zepi_retain(context);
    mem->flags = flags;
    return mem;
}

// Images are not shared.
static ur_result_t check_usable_in(const struct zepi_ur_mem *mem,
                                   const struct zepi_context *context)
{
    const bool is_shared =
        mem->context->platform == context->platform && mem->buffer && mem->buffer->fixed;
    return is_shared ? UR_RESULT_SUCCESS
                     : zepi_ur_check_same_context(context, mem->context,
                                                  UR_RESULT_ERROR_INVALID_MEM_OBJECT,
                                                  mem->image ? "the image" : "the buffer");
}

static ur_result_t check_mem_of(ur_mem_handle_t handle, const struct zepi_context *context,
                                bool is_image)
{
    const ur_result_t result = zepi_ur_check_mem(handle);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (is_image != (zepi_ur_mem(handle)->image != NULL))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_MEM_OBJECT,
                              is_image ? "a buffer, expected an image"
                                       : "an image, expected a buffer");
    return check_usable_in(zepi_ur_mem(handle), context);
}

ur_result_t zepi_ur_check_buffer(ur_mem_handle_t handle, const struct zepi_context *context)
{
    return check_mem_of(handle, context, false);
}

ur_result_t zepi_ur_check_image(ur_mem_handle_t handle, const struct zepi_context *context)
{
    return check_mem_of(handle, context, true);
}

ur_result_t zepi_ur_check_buffer_range(const struct zepi_ur_mem *mem, size_t offset, size_t size)
{
    return offset <= mem->size_bytes && size <= mem->size_bytes - offset
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                                "%zu bytes from %zu on, in a buffer of %zu", size, offset,
                                mem->size_bytes);
}

ur_result_t zepi_ur_check_host_pointer(ur_mem_flags_t flags, const void *host)
{
    const ur_mem_flags_t needing =
        UR_MEM_FLAG_USE_HOST_POINTER | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER;
    if (!(flags & needing) == !host)
        return UR_RESULT_SUCCESS;
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_HOST_PTR,
                          host ? "a host pointer without a flag that says what it is for"
                               : "the flags need a host pointer, and there is none");
}

ur_result_t zepi_urMemBufferCreate(ur_context_handle_t hContext, ur_mem_flags_t flags, size_t size,
                                   const ur_buffer_properties_t *pProperties,
                                   ur_mem_handle_t *phBuffer)
{
    void *host = pProperties ? pProperties->pHost : NULL;
    ur_result_t result;
    if ((result = zepi_ur_check_context(hContext)) ||
        (result = zepi_ur_check_flags(flags, UR_MEM_FLAGS_MASK)) ||
        (result = zepi_ur_check_pointer(phBuffer, "phBuffer")) ||
        (size == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_BUFFER_SIZE, "a buffer of 0 bytes"))) ||
        (result = zepi_ur_check_host_pointer(flags, host)))
        return result;
    struct zepi_ur_mem *mem = zepi_ur_mem_make(zepi_ur_context(hContext), flags);
    if (!mem)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    mem->size_bytes = size;
    mem->host = flags & UR_MEM_FLAG_USE_HOST_POINTER ? host : NULL;
    result = zepi_ur_result(
        zepi_buffer_create(mem->context, size, mem->host, mem->host ? NULL : host, &mem->buffer));
    if (result != UR_RESULT_SUCCESS) {
        zepi_release(mem);
        return result;
    }
    *phBuffer = (ur_mem_handle_t)mem;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urMemBufferCreateWithNativeHandle(ur_native_handle_t hNativeMem,
                                                   ur_context_handle_t hContext,
                                                   const ur_mem_native_properties_t *pProperties,
                                                   ur_mem_handle_t *phMem)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_pointer(hContext, phMem, "phMem")) ||
        (result = zepi_ur_check_pointer((void *)hNativeMem, "hNativeMem")))
        return result;
    struct zepi_ur_mem *mem = zepi_ur_mem_make(zepi_ur_context(hContext), UR_MEM_FLAG_READ_WRITE);
    if (!mem)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    result = zepi_ur_result(zepi_buffer_create_from_native(
        mem->context, (void *)hNativeMem, ZEPI_UR_OWNERSHIP(pProperties), &mem->buffer));
    if (result != UR_RESULT_SUCCESS) {
        zepi_release(mem);
        return result;
    }
    mem->size_bytes = mem->buffer->size_bytes;
    *phMem = (ur_mem_handle_t)mem;
    return UR_RESULT_SUCCESS;
}

static ur_result_t check_buffer_partition(ur_mem_handle_t buffer, ur_mem_flags_t flags,
                                          ur_buffer_create_type_t type,
                                          const ur_buffer_region_t *region, const void *out)
{
    ur_result_t result;
    if ((result = zepi_ur_check_mem(buffer)) ||
        (result = zepi_ur_check_flags(flags, UR_MEM_FLAGS_MASK)) ||
        (type != UR_BUFFER_CREATE_TYPE_REGION &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                                  "a partition of type %d is not known", (int)type))) ||
        (result = zepi_ur_check_pointer(region, "pRegion")) ||
        (result = zepi_ur_check_pointer(out, "phMem")))
        return result;
    const struct zepi_ur_mem *mem = zepi_ur_mem(buffer);
    if (!mem->buffer || mem->parent)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_MEM_OBJECT,
                              "%s has no parts; expected a whole buffer",
                              mem->buffer ? "a part of a buffer" : "an image");
    const ur_mem_flags_t access =
        UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_WRITE_ONLY | UR_MEM_FLAG_READ_ONLY;
    if ((mem->flags & (UR_MEM_FLAG_WRITE_ONLY | UR_MEM_FLAG_READ_ONLY)) && (flags & access) &&
        ((mem->flags ^ flags) & access))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "a part with flags 0x%x of a buffer with flags 0x%x", flags,
                              mem->flags);
    if (region->size == 0 ||
        zepi_ur_check_buffer_range(mem, region->origin, region->size) != UR_RESULT_SUCCESS)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_BUFFER_SIZE,
                              "a part of %zu bytes from %zu on, of a buffer of %zu", region->size,
                              region->origin, mem->size_bytes);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urMemBufferPartition(ur_mem_handle_t hBuffer, ur_mem_flags_t flags,
                                      ur_buffer_create_type_t bufferCreateType,
                                      const ur_buffer_region_t *pRegion, ur_mem_handle_t *phMem)
{
    const ur_result_t result =
        check_buffer_partition(hBuffer, flags, bufferCreateType, pRegion, phMem);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_mem *whole = zepi_ur_mem(hBuffer);
    struct zepi_ur_mem *part = zepi_ur_mem_make(whole->context, flags ? flags : whole->flags);
    if (!part)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    part->parent = zepi_retain(whole);
    part->buffer = zepi_retain(whole->buffer);
    part->offset_bytes = pRegion->origin;
    part->size_bytes = pRegion->size;
    part->host = whole->host ? whole->host + pRegion->origin : NULL;
    *phMem = (ur_mem_handle_t)part;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urMemRetain(ur_mem_handle_t hMem)
{
    return zepi_ur_retain(zepi_ur_check_mem(hMem), hMem);
}

// Host memory that is a buffer's storage has the contents after the release if it is USM or
// registered: that is known to be there. Of other memory nothing is known, and SYCL's runtime
// relies on its being left alone: a buffer that shall not write back is released like any other.
static ur_result_t mem_write_back(const struct zepi_ur_mem *mem)
{
    // A part keeps its whole beyond the whole's own release.
    const struct zepi_ur_mem *whole = mem->parent ? mem->parent : mem;
    if (!whole->host || !whole->buffer || (whole->flags & UR_MEM_FLAG_READ_ONLY))
        return UR_RESULT_SUCCESS;
    return zepi_usm_is_known_inside(whole->context, whole->host, whole->size_bytes) ||
                   zepi_host_memory_is_registered(whole->context, whole->host, whole->size_bytes)
               ? zepi_ur_result(zepi_buffer_write_back(whole->buffer))
               : UR_RESULT_SUCCESS;
}

ur_result_t zepi_urMemRelease(ur_mem_handle_t hMem)
{
    const ur_result_t result = zepi_ur_check_mem(hMem);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const ur_result_t brought = mem_write_back(zepi_ur_mem(hMem));
    const ur_result_t released = zepi_ur_release(UR_RESULT_SUCCESS, hMem);
    return brought != UR_RESULT_SUCCESS ? brought : released;
}

ur_result_t zepi_urMemGetNativeHandle(ur_mem_handle_t hMem, ur_device_handle_t hDevice,
                                      ur_native_handle_t *phNativeMem)
{
    ur_result_t result;
    if ((result = zepi_ur_check_mem(hMem)) ||
        (hDevice &&
         (result = zepi_ur_check_device_in(zepi_ur_mem(hMem)->context, hDevice, NULL))) ||
        (result = zepi_ur_check_pointer(phNativeMem, "phNativeMem")))
        return result;
    const struct zepi_ur_mem *mem = zepi_ur_mem(hMem);
    void *native = mem->buffer ? NULL : (void *)mem->image->ze;
    if (mem->buffer) {
        struct zepi_device *device = hDevice ? zepi_ur_device(hDevice) : mem->context->devices[0];
        const struct zepi_buffer_part all = zepi_ur_buffer_part(mem, 0, mem->size_bytes);
        result = zepi_ur_result(zepi_buffer_get_address_of(&all, device, &native));
    }
    if (result == UR_RESULT_SUCCESS)
        *phNativeMem = (ur_native_handle_t)native;
    return result;
}

static const struct zepi_ur_query mem_queries[] = {
    {ZEPI_UR_MEMBER(MEM_INFO_SIZE, SIZE, zepi_ur_mem, size_bytes)},
    {ZEPI_UR_MEMBER(MEM_INFO_CONTEXT, BYTES, zepi_ur_mem, context)},
    {ZEPI_UR_REFERENCES(MEM_INFO_REFERENCE_COUNT)},
};

ZEPI_UR_DEFINE_GET_INFO(Mem, , mem, zepi_ur_check_mem, mem_queries, MEM_INFO_REFERENCE_COUNT)

ur_result_t zepi_ur_read_mem_arg(ur_mem_handle_t handle, const struct zepi_context *context,
                                 const struct zepi_device *device, struct zepi_arg *out_arg,
                                 struct zepi_arg_use *out_use)
{
    struct zepi_ur_mem *mem = zepi_ur_mem(handle);
    char *address;
    zepi_arg_set_address(out_arg, NULL);
    if (!handle)
        return UR_RESULT_SUCCESS;
    ur_result_t result;
    if ((result = zepi_ur_check_mem(handle)) || (result = check_usable_in(mem, context)))
        return result;
    out_use->object = mem;
    if (!mem->buffer) {
        zepi_arg_set_handle(out_arg, ZEPI_ARG_IMAGE, mem->image->ze);
        return UR_RESULT_SUCCESS;
    }
    out_use->part = zepi_ur_buffer_part(mem, 0, mem->size_bytes);
    result = zepi_ur_buffer_address(mem, device, &address);
    if (result == UR_RESULT_SUCCESS)
        zepi_arg_set_address(out_arg, address);
    return result;
}

ur_result_t zepi_ur_buffer_address(const struct zepi_ur_mem *mem, const struct zepi_device *device,
                                   char **out_address)
{
    void *address;
    const ur_result_t result =
        zepi_ur_result(zepi_buffer_get_location(mem->buffer, device, &address));
    if (result == UR_RESULT_SUCCESS)
        *out_address = (char *)address + mem->offset_bytes;
    return result;
}

ur_result_t zepi_ur_read_sampler_arg(ur_sampler_handle_t handle, const struct zepi_context *context,
                                     struct zepi_arg *out_arg)
{
    const struct zepi_sampler *sampler = zepi_ur_sampler(handle);
    ur_result_t result = zepi_ur_check_sampler(handle);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_same_context(context, sampler->context,
                                            UR_RESULT_ERROR_INVALID_SAMPLER, "the sampler");
    if (result == UR_RESULT_SUCCESS)
        zepi_arg_set_handle(out_arg, ZEPI_ARG_SAMPLER, sampler->ze);
    return result;
}
