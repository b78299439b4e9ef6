// SPDX-License-Identifier: MIT
// Refusals of images, and of commands with them.
#include "checks.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(checks_image, .init = checks_set_up, .fini = checks_tear_down);

#define WRONG_MEM UR_RESULT_ERROR_INVALID_MEM_OBJECT
#define NULL_POINTER UR_RESULT_ERROR_INVALID_NULL_POINTER
#define BAD_DESC UR_RESULT_ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR

static const ur_image_format_t rgba = {UR_IMAGE_CHANNEL_ORDER_RGBA,
                                       UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8};
static const ur_image_desc_t square = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                       .type = UR_MEM_TYPE_IMAGE2D,
                                       .width = CHECKS_PIXELS,
                                       .height = CHECKS_PIXELS};

static ur_result_t create(const ur_image_desc_t *desc)
{
    return urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &rgba, desc, NULL,
                            OUT(ur_mem_handle_t));
}

Test(checks_image, of_its_creation)
{
    static char host[CHECKS_PIXELS * CHECKS_PIXELS * 4];
    ur_mem_handle_t *const out = OUT(ur_mem_handle_t);
    const ur_mem_flags_t write = UR_MEM_FLAG_READ_WRITE;
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, UR_RESULT_ERROR_INVALID_CONTEXT,
                   urMemImageCreate(handle, write, &rgba, &square, NULL, out));
    REFUSES_FLAGS(UR_MEM_FLAGS_MASK,
                  urMemImageCreate(gear.context, flags, &rgba, &square, NULL, out));
    REFUSES(NULL_POINTER, urMemImageCreate(gear.context, write, NULL, &square, NULL, out));
    REFUSES(NULL_POINTER, urMemImageCreate(gear.context, write, &rgba, NULL, NULL, out));
    REFUSES(NULL_POINTER, urMemImageCreate(gear.context, write, &rgba, &square, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_HOST_PTR,
            urMemImageCreate(gear.context, write, &rgba, &square, host, out));
    REFUSES(
        UR_RESULT_ERROR_INVALID_HOST_PTR,
        urMemImageCreate(gear.context, UR_MEM_FLAG_USE_HOST_POINTER, &rgba, &square, NULL, out));
    REFUSES(UR_RESULT_ERROR_INVALID_HOST_PTR,
            urMemImageCreate(gear.context, UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, &rgba, &square,
                             NULL, out));
}

Test(checks_image, of_its_description)
{
    ur_image_desc_t desc = square;
    desc.stype = UR_STRUCTURE_TYPE_BUFFER_REGION;
    REFUSES(BAD_DESC, create(&desc));
    desc = square;
    desc.type = (ur_mem_type_t)(UR_MEM_TYPE_IMAGE1D_ARRAY + 1);
    REFUSES(BAD_DESC, create(&desc));
    desc = square;
    desc.numMipLevel = 1;
    REFUSES(BAD_DESC, create(&desc));
    desc = square;
    desc.numSamples = 1;
    REFUSES(BAD_DESC, create(&desc));
    desc = square;
    desc.rowPitch = 64;
    REFUSES(BAD_DESC, create(&desc));
    desc = square;
    desc.slicePitch = 1024;
    REFUSES(BAD_DESC, create(&desc));
    desc = square;
    desc.width = 0;
    REFUSES(UR_RESULT_ERROR_INVALID_IMAGE_SIZE, create(&desc));
    desc.width = SIZE_MAX;
    REFUSES(UR_RESULT_ERROR_INVALID_IMAGE_SIZE, create(&desc));
    desc = square;
    desc.height = (size_t)UINT32_MAX + 9;
    REFUSES(UR_RESULT_ERROR_INVALID_IMAGE_SIZE, create(&desc));
    size_t most;
    UR_OK(
        urDeviceGetInfo(gear.device, UR_DEVICE_INFO_IMAGE2D_MAX_WIDTH, sizeof(most), &most, NULL));
    desc = square;
    desc.width = most + 1;
    REFUSES(UR_RESULT_ERROR_INVALID_IMAGE_SIZE, create(&desc));
}

Test(checks_image, of_its_format)
{
    ur_mem_handle_t *const out = OUT(ur_mem_handle_t);
    const ur_mem_flags_t write = UR_MEM_FLAG_READ_WRITE;
    ur_image_format_t format = {UR_IMAGE_CHANNEL_ORDER_SRGBA, UR_IMAGE_CHANNEL_TYPE_UNORM_INT8};
    REFUSES(UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
            urMemImageCreate(gear.context, write, &format, &square, NULL, out));
    format =
        (ur_image_format_t){UR_IMAGE_CHANNEL_ORDER_RGBA, UR_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565};
    REFUSES(UR_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
            urMemImageCreate(gear.context, write, &format, &square, NULL, out));
    format = (ur_image_format_t){UR_IMAGE_CHANNEL_ORDER_FORCE_UINT32,
                                 UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8};
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urMemImageCreate(gear.context, write, &format, &square, NULL, out));
    format = (ur_image_format_t){UR_IMAGE_CHANNEL_ORDER_RGBA, UR_IMAGE_CHANNEL_TYPE_FORCE_UINT32};
    REFUSES(UR_RESULT_ERROR_INVALID_ENUMERATION,
            urMemImageCreate(gear.context, write, &format, &square, NULL, out));
}

Test(checks_image, of_queries)
{
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG_MEM,
                   urMemImageGetInfo(handle, UR_IMAGE_INFO_WIDTH, 8, OUT(void), NULL));
    REFUSES(WRONG_MEM, urMemImageGetInfo(own.buffer, UR_IMAGE_INFO_WIDTH, 8, OUT(void), NULL));
    REFUSES_INFO(ur_image_info_t, UR_IMAGE_INFO_WIDTH, UR_IMAGE_INFO_NUM_SAMPLES,
                 urMemImageGetInfo(own.image, query, size, value, out_size));
}

static const ur_rect_offset_t origin;
static const ur_rect_region_t whole = {CHECKS_PIXELS, CHECKS_PIXELS, 1};
// Each of them is empty or reaches past the end.
static const struct {
    ur_rect_offset_t origin;
    ur_rect_region_t region;
} outside[] = {
    {{0, 0, 0}, {0, 1, 1}},
    {{0, 0, 0}, {1, 0, 1}},
    {{0, 0, 0}, {1, 1, 0}},
    {{1, 0, 0}, {CHECKS_PIXELS, 1, 1}},
    {{0, 1, 0}, {1, CHECKS_PIXELS, 1}},
    {{0, 0, 1}, {1, 1, 1}},
    {{UINT64_MAX, 0, 0}, {2, 1, 1}},
    {{0, 0, 0}, {1, 1, UINT64_MAX}},
};
#define OUTSIDE_COUNT (sizeof(outside) / sizeof(outside[0]))

Test(checks_image, of_reads)
{
    static char host[CHECKS_PIXELS * CHECKS_PIXELS * 4];
    ur_event_handle_t *const out = OUT(ur_event_handle_t);
    REFUSES_HANDLE(
        QUEUE, ur_queue_handle_t, UR_RESULT_ERROR_INVALID_QUEUE,
        urEnqueueMemImageRead(handle, own.image, true, origin, whole, 0, 0, host, 0, NULL, out));
    REFUSES_HANDLE(
        MEM, ur_mem_handle_t, WRONG_MEM,
        urEnqueueMemImageRead(own.queue, handle, true, origin, whole, 0, 0, host, 0, NULL, out));
    REFUSES(WRONG_MEM, urEnqueueMemImageRead(own.queue, own.buffer, true, origin, whole, 0, 0, host,
                                             0, NULL, out));
    REFUSES(WRONG_MEM, urEnqueueMemImageRead(own.queue, other.image, true, origin, whole, 0, 0,
                                             host, 0, NULL, out));
    REFUSES(NULL_POINTER, urEnqueueMemImageRead(own.queue, own.image, true, origin, whole, 0, 0,
                                                NULL, 0, NULL, out));
    REFUSES_WAIT_LISTS(urEnqueueMemImageRead(own.queue, own.image, true, origin, whole, 0, 0, host,
                                             wait_count, wait_list, out));
    for (size_t i = 0; i < OUTSIDE_COUNT; i++) {
        REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
                urEnqueueMemImageRead(own.queue, own.image, true, outside[i].origin,
                                      outside[i].region, 0, 0, host, 0, NULL, out));
        // By zepi: a driver need not check it.
        cr_assert_not_null(strstr(ur_last_error(), "pixels in a dimension"));
    }
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE, urEnqueueMemImageRead(own.queue, own.image, true, origin,
                                                                whole, 4, 0, host, 0, NULL, out));
}

Test(checks_image, of_writes)
{
    static char host[CHECKS_PIXELS * CHECKS_PIXELS * 4];
    ur_event_handle_t *const out = OUT(ur_event_handle_t);
    REFUSES_HANDLE(
        QUEUE, ur_queue_handle_t, UR_RESULT_ERROR_INVALID_QUEUE,
        urEnqueueMemImageWrite(handle, own.image, true, origin, whole, 0, 0, host, 0, NULL, out));
    REFUSES_HANDLE(
        MEM, ur_mem_handle_t, WRONG_MEM,
        urEnqueueMemImageWrite(own.queue, handle, true, origin, whole, 0, 0, host, 0, NULL, out));
    REFUSES(WRONG_MEM, urEnqueueMemImageWrite(own.queue, other.image, true, origin, whole, 0, 0,
                                              host, 0, NULL, out));
    REFUSES(NULL_POINTER, urEnqueueMemImageWrite(own.queue, own.image, true, origin, whole, 0, 0,
                                                 NULL, 0, NULL, out));
    REFUSES_WAIT_LISTS(urEnqueueMemImageWrite(own.queue, own.image, true, origin, whole, 0, 0, host,
                                              wait_count, wait_list, out));
    for (size_t i = 0; i < OUTSIDE_COUNT; i++)
        REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
                urEnqueueMemImageWrite(own.queue, own.image, true, outside[i].origin,
                                       outside[i].region, 0, 0, host, 0, NULL, out));
}

// From 4 bytes before the end of an allocation on.
Test(checks_image, of_memory_that_is_too_small_for_the_pixels)
{
    ur_event_handle_t *const out = OUT(ur_event_handle_t);
    char *const end = (char *)own.usm + CHECKS_BYTES - 4;
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE, urEnqueueMemImageRead(own.queue, own.image, true, origin,
                                                                whole, 0, 0, end, 0, NULL, out));
    REFUSES(UR_RESULT_ERROR_INVALID_SIZE, urEnqueueMemImageWrite(own.queue, own.image, true, origin,
                                                                 whole, 0, 0, end, 0, NULL, out));
}

Test(checks_image, of_copies)
{
    ur_event_handle_t *const out = OUT(ur_event_handle_t);
    ur_mem_handle_t second;
    UR_OK(urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &rgba, &square, NULL, &second));
    REFUSES_HANDLE(
        QUEUE, ur_queue_handle_t, UR_RESULT_ERROR_INVALID_QUEUE,
        urEnqueueMemImageCopy(handle, own.image, second, origin, origin, whole, 0, NULL, out));
    REFUSES_HANDLE(
        MEM, ur_mem_handle_t, WRONG_MEM,
        urEnqueueMemImageCopy(own.queue, handle, second, origin, origin, whole, 0, NULL, out));
    REFUSES_HANDLE(
        MEM, ur_mem_handle_t, WRONG_MEM,
        urEnqueueMemImageCopy(own.queue, own.image, handle, origin, origin, whole, 0, NULL, out));
    REFUSES(WRONG_MEM, urEnqueueMemImageCopy(own.queue, own.image, other.image, origin, origin,
                                             whole, 0, NULL, out));
    REFUSES(WRONG_MEM, urEnqueueMemImageCopy(own.queue, other.image, own.image, origin, origin,
                                             whole, 0, NULL, out));
    REFUSES(WRONG_MEM, urEnqueueMemImageCopy(own.queue, own.image, own.buffer, origin, origin,
                                             whole, 0, NULL, out));
    REFUSES_WAIT_LISTS(urEnqueueMemImageCopy(own.queue, own.image, second, origin, origin, whole,
                                             wait_count, wait_list, out));
    for (size_t i = 0; i < OUTSIDE_COUNT; i++) {
        REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
                urEnqueueMemImageCopy(own.queue, own.image, second, outside[i].origin, origin,
                                      outside[i].region, 0, NULL, out));
        REFUSES(UR_RESULT_ERROR_INVALID_SIZE,
                urEnqueueMemImageCopy(own.queue, own.image, second, origin, outside[i].origin,
                                      outside[i].region, 0, NULL, out));
    }
    UR_OK(urMemRelease(second));
}
