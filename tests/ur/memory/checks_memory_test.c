// SPDX-License-Identifier: MIT
// Refusals of memory: USM, pools, buffers, images, samplers.
#include "checks.h"

#include <criterion/criterion.h>

TestSuite(checks_memory, .init = checks_set_up, .fini = checks_tear_down);

#define WRONG_CONTEXT UR_RESULT_ERROR_INVALID_CONTEXT
#define WRONG_DEVICE UR_RESULT_ERROR_INVALID_DEVICE
#define WRONG_MEM UR_RESULT_ERROR_INVALID_MEM_OBJECT
#define NULL_POINTER UR_RESULT_ERROR_INVALID_NULL_POINTER

static ur_result_t allocate(enum ur_usm_type_t kind, ur_context_handle_t context,
                            ur_device_handle_t device, const ur_usm_desc_t *desc,
                            ur_usm_pool_handle_t pool, size_t size, void **out)
{
    switch (kind) {
    case UR_USM_TYPE_HOST:
        return urUSMHostAlloc(context, desc, pool, size, out);
    case UR_USM_TYPE_DEVICE:
        return urUSMDeviceAlloc(context, device, desc, pool, size, out);
    default:
        return urUSMSharedAlloc(context, device, desc, pool, size, out);
    }
}

Test(checks_memory, of_usm_of_each_kind)
{
    uint64_t max_bytes;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_MAX_MEM_ALLOC_SIZE, sizeof(max_bytes),
                          &max_bytes, NULL));
    for (enum ur_usm_type_t kind = UR_USM_TYPE_HOST; kind <= UR_USM_TYPE_SHARED; kind++) {
        ur_usm_desc_t desc = {.stype = UR_STRUCTURE_TYPE_USM_DESC};
        REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                       allocate(kind, handle, gear.device, NULL, NULL, 64, OUT(void *)));
        REFUSES(NULL_POINTER, allocate(kind, gear.context, gear.device, NULL, NULL, 64, NULL));
        REFUSES(UR_RESULT_ERROR_INVALID_USM_SIZE,
                allocate(kind, gear.context, gear.device, NULL, NULL, 0, OUT(void *)));
        REFUSES(UR_RESULT_ERROR_INVALID_USM_SIZE,
                allocate(kind, gear.context, gear.device, NULL, NULL, max_bytes + 1, OUT(void *)));
        REFUSES(UR_RESULT_ERROR_INVALID_USM_SIZE,
                allocate(kind, gear.context, gear.device, NULL, own.pool, SIZE_MAX, OUT(void *)));
        REFUSES_OTHER_HANDLE(
            POOL, ur_usm_pool_handle_t, UR_RESULT_ERROR_INVALID_VALUE,
            allocate(kind, gear.context, gear.device, NULL, handle, 64, OUT(void *)));
        REFUSES(WRONG_CONTEXT,
                allocate(kind, gear.context, gear.device, NULL, other.pool, 64, OUT(void *)));
        REFUSES_FLAGS(UR_USM_ADVICE_FLAGS_MASK,
                      (desc.hints = flags,
                       allocate(kind, gear.context, gear.device, &desc, NULL, 64, OUT(void *))));
        desc.hints = 0;
        desc.align = 24;
        REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
                allocate(kind, gear.context, gear.device, &desc, NULL, 64, OUT(void *)));
        if (kind == UR_USM_TYPE_HOST)
            continue;
        REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                       allocate(kind, gear.context, handle, NULL, NULL, 64, OUT(void *)));
        REFUSES(WRONG_DEVICE,
                allocate(kind, other.context, gear.device, NULL, NULL, 64, OUT(void *)));
    }
}

Test(checks_memory, of_pitched_usm)
{
    size_t *const pitch = OUT(size_t) + 16;
    REFUSES_HANDLE(
        CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
        urUSMPitchedAllocExp(handle, gear.device, NULL, NULL, 64, 4, 4, OUT(void *), pitch));
    REFUSES_HANDLE(
        DEVICE, ur_device_handle_t, WRONG_DEVICE,
        urUSMPitchedAllocExp(gear.context, handle, NULL, NULL, 64, 4, 4, OUT(void *), pitch));
    REFUSES(NULL_POINTER,
            urUSMPitchedAllocExp(gear.context, gear.device, NULL, NULL, 64, 4, 4, NULL, pitch));
    REFUSES(NULL_POINTER, urUSMPitchedAllocExp(gear.context, gear.device, NULL, NULL, 64, 4, 4,
                                               OUT(void *), NULL));
    static const size_t sizes[][2] = {{0, 4}, {64, 0}, {SIZE_MAX, 4}, {64, SIZE_MAX}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        REFUSES(UR_RESULT_ERROR_INVALID_USM_SIZE,
                urUSMPitchedAllocExp(gear.context, gear.device, NULL, NULL, sizes[i][0],
                                     sizes[i][1], 4, OUT(void *), pitch));
    ur_usm_desc_t desc = {.stype = UR_STRUCTURE_TYPE_USM_DESC, .align = 3};
    REFUSES(
        UR_RESULT_ERROR_INVALID_VALUE,
        urUSMPitchedAllocExp(gear.context, gear.device, &desc, NULL, 64, 4, 4, OUT(void *), pitch));
    desc.align = 0;
    REFUSES_FLAGS(UR_USM_ADVICE_FLAGS_MASK,
                  (desc.hints = flags, urUSMPitchedAllocExp(gear.context, gear.device, &desc, NULL,
                                                            64, 4, 4, OUT(void *), pitch)));
}

Test(checks_memory, of_usm_that_is_there)
{
    char on_the_stack[8];
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT, urUSMFree(handle, own.usm));
    REFUSES(NULL_POINTER, urUSMFree(gear.context, NULL));
    REFUSES(WRONG_MEM, urUSMFree(gear.context, on_the_stack));
    REFUSES(WRONG_MEM, urUSMFree(gear.context, (char *)own.usm + 8));
    REFUSES_HANDLE(
        CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
        urUSMGetMemAllocInfo(handle, own.usm, UR_USM_ALLOC_INFO_SIZE, 8, OUT(void), NULL));
    REFUSES(NULL_POINTER,
            urUSMGetMemAllocInfo(gear.context, NULL, UR_USM_ALLOC_INFO_SIZE, 8, OUT(void), NULL));
    REFUSES_INFO(ur_usm_alloc_info_t, UR_USM_ALLOC_INFO_SIZE, UR_USM_ALLOC_INFO_POOL,
                 urUSMGetMemAllocInfo(gear.context, own.usm, query, size, value, out_size));
    REFUSES(
        UR_RESULT_ERROR_INVALID_VALUE,
        urUSMGetMemAllocInfo(gear.context, own.usm, UR_USM_ALLOC_INFO_POOL, 8, OUT(void), NULL));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urUSMContextMemcpyExp(handle, OUT(char), own.usm, 8));
    REFUSES(NULL_POINTER, urUSMContextMemcpyExp(gear.context, NULL, own.usm, 8));
    REFUSES(NULL_POINTER, urUSMContextMemcpyExp(gear.context, OUT(char), NULL, 8));
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
            urUSMContextMemcpyExp(gear.context, OUT(char), own.usm, 0));
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
            urUSMContextMemcpyExp(gear.context, OUT(char), own.usm, CHECKS_BYTES + 1));
}

Test(checks_memory, of_pools)
{
    ur_usm_pool_desc_t desc = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC};
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_VALUE;
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urUSMPoolCreate(handle, &desc, OUT(ur_usm_pool_handle_t)));
    REFUSES(NULL_POINTER, urUSMPoolCreate(gear.context, NULL, OUT(ur_usm_pool_handle_t)));
    REFUSES(NULL_POINTER, urUSMPoolCreate(gear.context, &desc, NULL));
    REFUSES_FLAGS(
        UR_USM_POOL_FLAGS_MASK,
        (desc.flags = flags, urUSMPoolCreate(gear.context, &desc, OUT(ur_usm_pool_handle_t))));
    REFUSES_HANDLE(POOL, ur_usm_pool_handle_t, wrong, urUSMPoolRetain(handle));
    REFUSES_HANDLE(POOL, ur_usm_pool_handle_t, wrong, urUSMPoolRelease(handle));
    REFUSES_HANDLE(POOL, ur_usm_pool_handle_t, wrong,
                   urUSMPoolGetInfo(handle, UR_USM_POOL_INFO_CONTEXT, 8, OUT(void), NULL));
    REFUSES_INFO(ur_usm_pool_info_t, UR_USM_POOL_INFO_CONTEXT, UR_USM_POOL_INFO_USED_HIGH_EXP,
                 urUSMPoolGetInfo(own.pool, query, size, value, out_size));
    size_t number = 1;
    const ur_usm_pool_info_t threshold = UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP;
    REFUSES_HANDLE(POOL, ur_usm_pool_handle_t, wrong,
                   urUSMPoolSetInfoExp(handle, threshold, &number, sizeof(number)));
    REFUSES(NULL_POINTER, urUSMPoolSetInfoExp(own.pool, threshold, NULL, sizeof(number)));
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE, urUSMPoolSetInfoExp(own.pool, threshold, &number, 4));
    REFUSES(
        UR_RESULT_ERROR_INVALID_ENUMERATION,
        urUSMPoolSetInfoExp(own.pool, UR_USM_POOL_INFO_USED_HIGH_EXP + 1, &number, sizeof(number)));
    REFUSES(UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
            urUSMPoolSetInfoExp(own.pool, UR_USM_POOL_INFO_CONTEXT, &number, sizeof(number)));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urUSMPoolSetInfoExp(own.pool, UR_USM_POOL_INFO_USED_HIGH_EXP, &number, sizeof(number)));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urUSMPoolTrimToExp(handle, gear.device, own.pool, 0));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urUSMPoolTrimToExp(gear.context, handle, own.pool, 0));
    REFUSES_HANDLE(POOL, ur_usm_pool_handle_t, wrong,
                   urUSMPoolTrimToExp(gear.context, gear.device, handle, 0));
    REFUSES(wrong, urUSMPoolTrimToExp(gear.context, gear.device, other.pool, 0));
}

Test(checks_memory, of_pools_of_devices)
{
    ur_usm_pool_buffer_desc_t buffer = {.stype = UR_STRUCTURE_TYPE_USM_POOL_BUFFER_DESC,
                                        .pMem = own.usm,
                                        .size = CHECKS_BYTES,
                                        .memType = UR_USM_TYPE_SHARED};
    ur_usm_pool_desc_t desc = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC};
    ur_usm_pool_handle_t *const out = OUT(ur_usm_pool_handle_t);
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_VALUE;
    const struct {
        ur_result_t (*call)(ur_context_handle_t context, ur_device_handle_t device,
                            ur_usm_pool_handle_t *out);
    } getters[] = {{urUSMPoolGetDefaultDevicePoolExp}, {urUSMPoolGetDevicePoolExp}};
    const struct {
        ur_result_t (*call)(ur_context_handle_t context, ur_device_handle_t device,
                            ur_usm_pool_handle_t pool);
    } takers[] = {{urUSMPoolDestroyExp}, {urUSMPoolSetDevicePoolExp}};
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urUSMPoolCreateExp(handle, gear.device, &desc, out));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urUSMPoolCreateExp(gear.context, handle, &desc, out));
    REFUSES(WRONG_DEVICE, urUSMPoolCreateExp(other.context, gear.device, &desc, out));
    REFUSES(NULL_POINTER, urUSMPoolCreateExp(gear.context, gear.device, NULL, out));
    REFUSES(NULL_POINTER, urUSMPoolCreateExp(gear.context, gear.device, &desc, NULL));
    REFUSES_FLAGS(UR_USM_POOL_FLAGS_MASK,
                  (desc.flags = flags, urUSMPoolCreateExp(gear.context, gear.device, &desc, out)));
    desc.flags = 0;
    desc.pNext = &buffer;
    REFUSES(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
            urUSMPoolCreateExp(gear.context, gear.device, &desc, out));
    for (int i = 0; i < 2; i++) {
        REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                       getters[i].call(handle, gear.device, out));
        REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                       getters[i].call(gear.context, handle, out));
        REFUSES(NULL_POINTER, getters[i].call(gear.context, gear.device, NULL));
        REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                       takers[i].call(handle, gear.device, own.pool));
        REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                       takers[i].call(gear.context, handle, own.pool));
        REFUSES_HANDLE(POOL, ur_usm_pool_handle_t, wrong,
                       takers[i].call(gear.context, gear.device, handle));
        REFUSES(wrong, takers[i].call(gear.context, gear.device, other.pool));
    }
    REFUSES_HANDLE(POOL, ur_usm_pool_handle_t, wrong,
                   urUSMPoolGetInfoExp(handle, UR_USM_POOL_INFO_CONTEXT, OUT(void), NULL));
    REFUSES(NULL_POINTER,
            urUSMPoolGetInfoExp(own.pool, UR_USM_POOL_INFO_USED_CURRENT_EXP, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urUSMPoolGetInfoExp(own.pool, UR_USM_POOL_INFO_USED_HIGH_EXP + 1, OUT(void), NULL));
}

typedef ur_result_t allocation(ur_queue_handle_t queue, ur_usm_pool_handle_t pool,
                               const size_t size,
                               const ur_exp_async_usm_alloc_properties_t *properties,
                               uint32_t wait_count, const ur_event_handle_t *wait_list,
                               void **out_memory, ur_event_handle_t *out_event);

Test(checks_memory, of_allocations_in_the_order_of_a_queue)
{
    allocation *const allocations[] = {urEnqueueUSMDeviceAllocExp, urEnqueueUSMSharedAllocExp,
                                       urEnqueueUSMHostAllocExp};
    ur_exp_async_usm_alloc_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_EXP_ASYNC_USM_ALLOC_PROPERTIES};
    void **const out = OUT(void *);
    ur_event_handle_t *const event = OUT(ur_event_handle_t) + 8;
    for (size_t i = 0; i < sizeof(allocations) / sizeof(allocations[0]); i++) {
        allocation *const call = allocations[i];
        REFUSES_HANDLE(QUEUE, ur_queue_handle_t, UR_RESULT_ERROR_INVALID_QUEUE,
                       call(handle, NULL, 64, NULL, 0, NULL, out, event));
        REFUSES_OTHER_HANDLE(POOL, ur_usm_pool_handle_t, UR_RESULT_ERROR_INVALID_VALUE,
                             call(gear.queue, handle, 64, NULL, 0, NULL, out, event));
        REFUSES(WRONG_CONTEXT, call(gear.queue, other.pool, 64, NULL, 0, NULL, out, event));
        REFUSES(NULL_POINTER, call(gear.queue, NULL, 64, NULL, 0, NULL, NULL, event));
        REFUSES_FLAGS(UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK,
                      (properties.flags = flags,
                       call(gear.queue, NULL, 64, &properties, 0, NULL, out, event)));
        REFUSES(UR_RESULT_ERROR_INVALID_USM_SIZE,
                call(gear.queue, NULL, 0, NULL, 0, NULL, out, event));
        REFUSES(UR_RESULT_ERROR_INVALID_USM_SIZE,
                call(gear.queue, own.pool, SIZE_MAX, NULL, 0, NULL, out, event));
        REFUSES_WAIT_LISTS(call(gear.queue, NULL, 64, NULL, wait_count, wait_list, out, event));
    }
}

Test(checks_memory, of_frees_in_the_order_of_a_queue)
{
    char on_the_stack[8];
    ur_event_handle_t *const event = OUT(ur_event_handle_t);
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, UR_RESULT_ERROR_INVALID_QUEUE,
                   urEnqueueUSMFreeExp(handle, NULL, own.usm, 0, NULL, event));
    REFUSES_OTHER_HANDLE(POOL, ur_usm_pool_handle_t, UR_RESULT_ERROR_INVALID_VALUE,
                         urEnqueueUSMFreeExp(gear.queue, handle, own.usm, 0, NULL, event));
    REFUSES(WRONG_CONTEXT, urEnqueueUSMFreeExp(gear.queue, other.pool, own.usm, 0, NULL, event));
    REFUSES(NULL_POINTER, urEnqueueUSMFreeExp(gear.queue, NULL, NULL, 0, NULL, event));
    REFUSES(WRONG_MEM, urEnqueueUSMFreeExp(gear.queue, NULL, on_the_stack, 0, NULL, event));
    REFUSES(WRONG_MEM, urEnqueueUSMFreeExp(gear.queue, NULL, (char *)own.usm + 8, 0, NULL, event));
    REFUSES(WRONG_MEM, urEnqueueUSMFreeExp(gear.queue, NULL, other.usm, 0, NULL, event));
    REFUSES_WAIT_LISTS(
        urEnqueueUSMFreeExp(gear.queue, NULL, own.usm, wait_count, wait_list, event));
}

Test(checks_memory, of_buffers)
{
    static char host[64];
    ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                         .pHost = host};
    ur_mem_handle_t *const out = OUT(ur_mem_handle_t);
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urMemBufferCreate(handle, UR_MEM_FLAG_READ_WRITE, 64, NULL, out));
    REFUSES_FLAGS(UR_MEM_FLAGS_MASK, urMemBufferCreate(gear.context, flags, 64, NULL, out));
    REFUSES(NULL_POINTER, urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, 64, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_BUFFER_SIZE,
            urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, 0, NULL, out));
    static const ur_mem_flags_t needing[] = {UR_MEM_FLAG_USE_HOST_POINTER,
                                             UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER};
    for (size_t i = 0; i < 2; i++) {
        const ur_buffer_properties_t nothing = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES};
        REFUSES(UR_RESULT_ERROR_INVALID_HOST_PTR,
                urMemBufferCreate(gear.context, needing[i], 64, NULL, out));
        REFUSES(UR_RESULT_ERROR_INVALID_HOST_PTR,
                urMemBufferCreate(gear.context, needing[i], 64, &nothing, out));
    }
    REFUSES(UR_RESULT_ERROR_INVALID_HOST_PTR,
            urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, 64, &properties, out));
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG_MEM, urMemRetain(handle));
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG_MEM, urMemRelease(handle));
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG_MEM,
                   urMemGetInfo(handle, UR_MEM_INFO_SIZE, 8, OUT(void), NULL));
    REFUSES_INFO(ur_mem_info_t, UR_MEM_INFO_SIZE, UR_MEM_INFO_REFERENCE_COUNT,
                 urMemGetInfo(own.buffer, query, size, value, out_size));
}

Test(checks_memory, of_parts_of_buffers)
{
    ur_buffer_region_t region = {.stype = UR_STRUCTURE_TYPE_BUFFER_REGION, .origin = 0, .size = 64};
    const ur_buffer_create_type_t type = UR_BUFFER_CREATE_TYPE_REGION;
    const ur_mem_flags_t write = UR_MEM_FLAG_READ_WRITE;
    ur_mem_handle_t *const out = OUT(ur_mem_handle_t);
    ur_mem_handle_t part;
    ur_mem_handle_t part_of_limited;
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG_MEM,
                   urMemBufferPartition(handle, write, type, &region, out));
    REFUSES_FLAGS(UR_MEM_FLAGS_MASK, urMemBufferPartition(own.buffer, flags, type, &region, out));
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urMemBufferPartition(own.buffer, write,
                                 (ur_buffer_create_type_t)(UR_BUFFER_CREATE_TYPE_REGION + 1),
                                 &region, out));
    REFUSES(NULL_POINTER, urMemBufferPartition(own.buffer, write, type, NULL, out));
    REFUSES(NULL_POINTER, urMemBufferPartition(own.buffer, write, type, &region, NULL));
    REFUSES(WRONG_MEM, urMemBufferPartition(own.image, write, type, &region, out));
    UR_OK(urMemBufferPartition(own.buffer, write, type, &region, &part));
    REFUSES(WRONG_MEM, urMemBufferPartition(part, write, type, &region, out));
    // A part does not get more access than the whole has.
    static const ur_mem_flag_t access[] = {UR_MEM_FLAG_READ_WRITE, UR_MEM_FLAG_WRITE_ONLY,
                                           UR_MEM_FLAG_READ_ONLY};
    for (int of = 1; of < 3; of++) {
        ur_mem_handle_t limited;
        UR_OK(urMemBufferCreate(gear.context, access[of], CHECKS_BYTES, NULL, &limited));
        for (int i = 0; i < 3; i++) {
            if (i != of)
                REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
                        urMemBufferPartition(limited, access[i], type, &region, out));
        }
        UR_OK(urMemBufferPartition(limited, access[of], type, &region, &part_of_limited));
        UR_OK(urMemRelease(part_of_limited));
        UR_OK(urMemRelease(limited));
    }
    UR_OK(urMemRelease(part));
    static const size_t bad[][2] = {
        {0, 0}, {0, CHECKS_BYTES + 1}, {CHECKS_BYTES, 1}, {SIZE_MAX, 2}, {1, SIZE_MAX}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        region.origin = bad[i][0];
        region.size = bad[i][1];
        REFUSES(UR_RESULT_ERROR_INVALID_BUFFER_SIZE,
                urMemBufferPartition(own.buffer, write, type, &region, out));
    }
}

Test(checks_memory, of_native_memory)
{
    const ur_image_format_t format = {UR_IMAGE_CHANNEL_ORDER_R, UR_IMAGE_CHANNEL_TYPE_FLOAT};
    const ur_image_desc_t desc = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = UR_MEM_TYPE_IMAGE2D,
                                  .width = 4,
                                  .height = 4};
    ur_mem_handle_t *const out = OUT(ur_mem_handle_t);
    ur_native_handle_t image;
    char on_the_stack[8];
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG_MEM,
                   urMemGetNativeHandle(handle, gear.device, OUT(ur_native_handle_t)));
    REFUSES_OTHER_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                         urMemGetNativeHandle(own.buffer, handle, OUT(ur_native_handle_t)));
    REFUSES(WRONG_DEVICE, urMemGetNativeHandle(other.buffer, gear.device, OUT(ur_native_handle_t)));
    REFUSES(NULL_POINTER, urMemGetNativeHandle(own.buffer, gear.device, NULL));
    UR_OK(urMemGetNativeHandle(own.image, NULL, &image));
    REFUSES_HANDLE(
        CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
        urMemBufferCreateWithNativeHandle((ur_native_handle_t)own.usm, handle, NULL, out));
    REFUSES(NULL_POINTER, urMemBufferCreateWithNativeHandle((ur_native_handle_t)own.usm,
                                                            gear.context, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urMemBufferCreateWithNativeHandle((ur_native_handle_t)on_the_stack, gear.context, NULL,
                                              out));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urMemImageCreateWithNativeHandle(image, handle, &format, &desc, NULL, out));
    REFUSES(NULL_POINTER,
            urMemImageCreateWithNativeHandle(image, gear.context, NULL, &desc, NULL, out));
    REFUSES(NULL_POINTER,
            urMemImageCreateWithNativeHandle(image, gear.context, &format, NULL, NULL, out));
    REFUSES(NULL_POINTER,
            urMemImageCreateWithNativeHandle(image, gear.context, &format, &desc, NULL, NULL));
}

Test(checks_memory, of_samplers)
{
    ur_sampler_desc_t desc = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC};
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_SAMPLER;
    ur_sampler_handle_t *const out = OUT(ur_sampler_handle_t);
    ur_native_handle_t native;
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urSamplerCreate(handle, &desc, out));
    REFUSES(NULL_POINTER, urSamplerCreate(gear.context, NULL, out));
    REFUSES(NULL_POINTER, urSamplerCreate(gear.context, &desc, NULL));
    desc.addressingMode =
        (ur_sampler_addressing_mode_t)(UR_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT + 1);
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION, urSamplerCreate(gear.context, &desc, out));
    desc.addressingMode = UR_SAMPLER_ADDRESSING_MODE_NONE;
    desc.filterMode = (ur_sampler_filter_mode_t)(UR_SAMPLER_FILTER_MODE_LINEAR + 1);
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION, urSamplerCreate(gear.context, &desc, out));
    REFUSES_HANDLE(SAMPLER, ur_sampler_handle_t, wrong, urSamplerRetain(handle));
    REFUSES_HANDLE(SAMPLER, ur_sampler_handle_t, wrong, urSamplerRelease(handle));
    REFUSES_HANDLE(SAMPLER, ur_sampler_handle_t, wrong,
                   urSamplerGetInfo(handle, UR_SAMPLER_INFO_CONTEXT, 8, OUT(void), NULL));
    REFUSES_INFO(ur_sampler_info_t, UR_SAMPLER_INFO_CONTEXT, UR_SAMPLER_INFO_FILTER_MODE,
                 urSamplerGetInfo(own.sampler, query, size, value, out_size));
    REFUSES_HANDLE(SAMPLER, ur_sampler_handle_t, wrong,
                   urSamplerGetNativeHandle(handle, OUT(ur_native_handle_t)));
    REFUSES(NULL_POINTER, urSamplerGetNativeHandle(own.sampler, NULL));
    UR_OK(urSamplerGetNativeHandle(own.sampler, &native));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urSamplerCreateWithNativeHandle(native, handle, NULL, out));
    REFUSES(NULL_POINTER, urSamplerCreateWithNativeHandle(native, gear.context, NULL, NULL));
}
