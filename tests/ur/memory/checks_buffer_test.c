// SPDX-License-Identifier: MIT
// Refusals of commands with buffers.
#include "checks.h"

#include <criterion/criterion.h>

static ur_mem_handle_t second;
static char host[4096];

static void set_up(void)
{
    checks_set_up();
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, CHECKS_BYTES, NULL, &second));
}

static void tear_down(void)
{
    UR_OK(urMemRelease(second));
    checks_tear_down();
}

TestSuite(checks_buffer, .init = set_up, .fini = tear_down);

#define WRONG UR_RESULT_ERROR_INVALID_MEM_OBJECT
#define WRONG_QUEUE UR_RESULT_ERROR_INVALID_QUEUE
#define NULL_POINTER UR_RESULT_ERROR_INVALID_NULL_POINTER
#define SIZE UR_RESULT_ERROR_INVALID_SIZE
#define EVENT_OUT OUT(ur_event_handle_t)

// Offset and size that do not fit.
static const size_t outside[][2] = {
    {0, 0}, {0, CHECKS_BYTES + 1}, {CHECKS_BYTES, 1}, {8, SIZE_MAX}, {SIZE_MAX, 8}};
#define OUTSIDE_COUNT (sizeof(outside) / sizeof(outside[0]))

Test(checks_buffer, read)
{
    REFUSES_HANDLE(
        QUEUE, ur_queue_handle_t, WRONG_QUEUE,
        urEnqueueMemBufferRead(handle, own.buffer, true, 0, 8, host, 0, NULL, EVENT_OUT));
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG,
                   urEnqueueMemBufferRead(own.queue, handle, true, 0, 8, host, 0, NULL, EVENT_OUT));
    REFUSES(WRONG,
            urEnqueueMemBufferRead(own.queue, own.image, true, 0, 8, host, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER,
            urEnqueueMemBufferRead(own.queue, own.buffer, true, 0, 8, NULL, 0, NULL, EVENT_OUT));
    REFUSES_WAIT_LISTS(urEnqueueMemBufferRead(own.queue, own.buffer, true, 0, 8, host, wait_count,
                                              wait_list, EVENT_OUT));
    for (size_t i = 0; i < OUTSIDE_COUNT; i++)
        REFUSES(SIZE, urEnqueueMemBufferRead(own.queue, own.buffer, true, outside[i][0],
                                             outside[i][1], host, 0, NULL, EVENT_OUT));
}

Test(checks_buffer, written)
{
    REFUSES_HANDLE(
        QUEUE, ur_queue_handle_t, WRONG_QUEUE,
        urEnqueueMemBufferWrite(handle, own.buffer, true, 0, 8, host, 0, NULL, EVENT_OUT));
    REFUSES_HANDLE(
        MEM, ur_mem_handle_t, WRONG,
        urEnqueueMemBufferWrite(own.queue, handle, true, 0, 8, host, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER,
            urEnqueueMemBufferWrite(own.queue, own.buffer, true, 0, 8, NULL, 0, NULL, EVENT_OUT));
    REFUSES_WAIT_LISTS(urEnqueueMemBufferWrite(own.queue, own.buffer, true, 0, 8, host, wait_count,
                                               wait_list, EVENT_OUT));
    for (size_t i = 0; i < OUTSIDE_COUNT; i++)
        REFUSES(SIZE, urEnqueueMemBufferWrite(own.queue, own.buffer, true, outside[i][0],
                                              outside[i][1], host, 0, NULL, EVENT_OUT));
}

Test(checks_buffer, copied)
{
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                   urEnqueueMemBufferCopy(handle, own.buffer, second, 0, 0, 8, 0, NULL, EVENT_OUT));
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG,
                   urEnqueueMemBufferCopy(own.queue, handle, second, 0, 0, 8, 0, NULL, EVENT_OUT));
    REFUSES_HANDLE(
        MEM, ur_mem_handle_t, WRONG,
        urEnqueueMemBufferCopy(own.queue, own.buffer, handle, 0, 0, 8, 0, NULL, EVENT_OUT));
    REFUSES_WAIT_LISTS(urEnqueueMemBufferCopy(own.queue, own.buffer, second, 0, 0, 8, wait_count,
                                              wait_list, EVENT_OUT));
    for (size_t i = 0; i < OUTSIDE_COUNT; i++) {
        REFUSES(SIZE, urEnqueueMemBufferCopy(own.queue, own.buffer, second, outside[i][0], 0,
                                             outside[i][1], 0, NULL, EVENT_OUT));
        REFUSES(SIZE, urEnqueueMemBufferCopy(own.queue, own.buffer, second, 0, outside[i][0],
                                             outside[i][1], 0, NULL, EVENT_OUT));
    }
}

Test(checks_buffer, filled)
{
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                   urEnqueueMemBufferFill(handle, own.buffer, host, 4, 0, 8, 0, NULL, EVENT_OUT));
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG,
                   urEnqueueMemBufferFill(own.queue, handle, host, 4, 0, 8, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER,
            urEnqueueMemBufferFill(own.queue, own.buffer, NULL, 4, 0, 8, 0, NULL, EVENT_OUT));
    REFUSES_WAIT_LISTS(urEnqueueMemBufferFill(own.queue, own.buffer, host, 4, 0, 8, wait_count,
                                              wait_list, EVENT_OUT));
    // Pattern, offset, size.
    static const size_t bad[][3] = {{0, 0, 8},
                                    {16, 0, 8},
                                    {3, 0, 9},
                                    {4, 0, 6},
                                    {4, 2, 8},
                                    {4, 0, 0},
                                    {8, 0, 12},
                                    {4, 0, CHECKS_BYTES + 4},
                                    {4, CHECKS_BYTES, 4},
                                    {4, 4, SIZE_MAX - 3}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        REFUSES(SIZE, urEnqueueMemBufferFill(own.queue, own.buffer, host, bad[i][0], bad[i][1],
                                             bad[i][2], 0, NULL, EVENT_OUT));
}

Test(checks_buffer, mapped)
{
    void *address;
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                   urEnqueueMemBufferMap(handle, own.buffer, true, UR_MAP_FLAG_READ, 0, 8, 0, NULL,
                                         EVENT_OUT, &address));
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG,
                   urEnqueueMemBufferMap(own.queue, handle, true, UR_MAP_FLAG_READ, 0, 8, 0, NULL,
                                         EVENT_OUT, &address));
    REFUSES_FLAGS(UR_MAP_FLAGS_MASK, urEnqueueMemBufferMap(own.queue, own.buffer, true, flags, 0, 8,
                                                           0, NULL, EVENT_OUT, &address));
    REFUSES(NULL_POINTER, urEnqueueMemBufferMap(own.queue, own.buffer, true, UR_MAP_FLAG_READ, 0, 8,
                                                0, NULL, EVENT_OUT, NULL));
    REFUSES_WAIT_LISTS(urEnqueueMemBufferMap(own.queue, own.buffer, true, UR_MAP_FLAG_READ, 0, 8,
                                             wait_count, wait_list, EVENT_OUT, OUT(void *)));
    for (size_t i = 0; i < OUTSIDE_COUNT; i++)
        REFUSES(SIZE,
                urEnqueueMemBufferMap(own.queue, own.buffer, true, UR_MAP_FLAG_READ, outside[i][0],
                                      outside[i][1], 0, NULL, EVENT_OUT, OUT(void *)));
    UR_OK(urEnqueueMemBufferMap(own.queue, own.buffer, true, UR_MAP_FLAG_READ, 0, 8, 0, NULL, NULL,
                                &address));
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                   urEnqueueMemUnmap(handle, own.buffer, address, 0, NULL, EVENT_OUT));
    REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG,
                   urEnqueueMemUnmap(own.queue, handle, address, 0, NULL, EVENT_OUT));
    REFUSES(NULL_POINTER, urEnqueueMemUnmap(own.queue, own.buffer, NULL, 0, NULL, EVENT_OUT));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urEnqueueMemUnmap(own.queue, own.buffer, host, 0, NULL, EVENT_OUT));
    // A map stays if the command that ends it is refused.
    REFUSES_WAIT_LISTS(
        urEnqueueMemUnmap(own.queue, own.buffer, address, wait_count, wait_list, EVENT_OUT));
    UR_OK(urEnqueueMemUnmap(own.queue, own.buffer, address, 0, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urEnqueueMemUnmap(own.queue, own.buffer, address, 0, NULL, EVENT_OUT));
    UR_OK(urQueueFinish(own.queue));
}

enum rect { READ, WRITE, COPY };

// The command with the same rectangle on either side, but for the pitches.
static ur_result_t rect(enum rect kind, ur_queue_handle_t queue, ur_mem_handle_t buffer,
                        ur_rect_offset_t origin, ur_rect_region_t region, const size_t pitches[4],
                        void *memory, uint32_t wait_count, const ur_event_handle_t *wait_list)
{
    const ur_rect_offset_t start = {0, 0, 0};
    switch (kind) {
    case READ:
        return urEnqueueMemBufferReadRect(queue, buffer, true, origin, start, region, pitches[0],
                                          pitches[1], pitches[2], pitches[3], memory, wait_count,
                                          wait_list, EVENT_OUT);
    case WRITE:
        return urEnqueueMemBufferWriteRect(queue, buffer, true, origin, start, region, pitches[0],
                                           pitches[1], pitches[2], pitches[3], memory, wait_count,
                                           wait_list, EVENT_OUT);
    default:
        return urEnqueueMemBufferCopyRect(queue, buffer, second, origin, start, region, pitches[0],
                                          pitches[1], pitches[2], pitches[3], wait_count, wait_list,
                                          EVENT_OUT);
    }
}

// Buffers of 256 bytes.
static const struct {
    ur_rect_offset_t origin;
    ur_rect_region_t region;
    size_t pitches[4];
} bad_rects[] = {
    {{0, 0, 0}, {0, 2, 2}, {8, 32, 8, 32}},
    {{0, 0, 0}, {4, 0, 2}, {8, 32, 8, 32}},
    {{0, 0, 0}, {4, 2, 0}, {8, 32, 8, 32}},
    {{0, 0, 0}, {4, 2, 2}, {3, 32, 8, 32}}, // rows overlap
    {{0, 0, 0}, {4, 2, 2}, {8, 32, 3, 32}},
    {{0, 0, 0}, {4, 2, 2}, {8, 8, 8, 32}}, // slices overlap
    {{0, 0, 0}, {4, 2, 2}, {8, 32, 8, 8}},
    {{0, 0, 0}, {4, 2, 2}, {8, 20, 8, 32}}, // slices are no whole rows
    {{0, 0, 0}, {4, 2, 2}, {8, 32, 8, 20}},
    {{0, 0, 0}, {4, 2, 2}, {0, 6, 8, 32}},  // pitches left out count as dense
    {{0, 0, 0}, {4, 2, 9}, {8, 32, 8, 16}}, // past the end
    {{0, 0, 0}, {257, 1, 1}, {0, 0, 0, 0}},
    {{1, 0, 0}, {256, 1, 1}, {0, 0, 0, 0}},
    {{0, 0, 8}, {4, 2, 1}, {8, 32, 8, 32}},
    {{0, 32, 0}, {4, 2, 1}, {8, 0, 8, 0}},
    {{UINT64_MAX, 0, 0}, {4, 2, 1}, {8, 0, 8, 0}},
    {{0, UINT64_MAX, 0}, {4, 2, 1}, {8, 0, 8, 0}},
    {{0, 0, 0}, {4, UINT64_MAX, 1}, {8, 0, 8, 0}},
    {{0, 0, 0}, {4, 2, UINT64_MAX}, {8, 0, 8, 0}},
    {{0, 0, 0}, {4, UINT64_MAX / 2, 4}, {8, 16, 8, 0}},
};

// Sums that are more than 64 bits hold.
static const struct {
    ur_rect_offset_t origin;
    ur_rect_region_t region;
    size_t pitches[4];
} too_large_rects[] = {
    {{UINT64_MAX, 0, 0}, {4, 2, 1}, {8, 0, 8, 0}},
    {{UINT64_MAX - 3, 0, 0}, {4, 1, 1}, {0, 0, 0, 0}},
    {{0, UINT64_MAX, 0}, {4, 2, 1}, {8, 0, 8, 0}},
    {{0, UINT64_MAX, 0}, {4, 9, 1}, {8, 0, 8, 0}},
    {{0, 0, UINT64_MAX}, {4, 2, 2}, {8, 0, 8, 0}},
    {{0, 0, 0}, {4, 2, UINT64_MAX}, {8, 0, 8, 0}},
};

Test(checks_buffer, in_rectangles)
{
    const ur_rect_offset_t start = {0, 0, 0};
    const ur_rect_region_t region = {4, 2, 2};
    const size_t pitches[4] = {8, 32, 8, 32};
    for (enum rect kind = READ; kind <= COPY; kind++) {
        REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG_QUEUE,
                       rect(kind, handle, own.buffer, start, region, pitches, host, 0, NULL));
        REFUSES_HANDLE(MEM, ur_mem_handle_t, WRONG,
                       rect(kind, own.queue, handle, start, region, pitches, host, 0, NULL));
        REFUSES(WRONG, rect(kind, own.queue, own.image, start, region, pitches, host, 0, NULL));
        if (kind != COPY)
            REFUSES(NULL_POINTER,
                    rect(kind, own.queue, own.buffer, start, region, pitches, NULL, 0, NULL));
        REFUSES_WAIT_LISTS(
            rect(kind, own.queue, own.buffer, start, region, pitches, host, wait_count, wait_list));
        for (size_t i = 0; i < sizeof(bad_rects) / sizeof(bad_rects[0]); i++)
            REFUSES(SIZE, rect(kind, own.queue, own.buffer, bad_rects[i].origin,
                               bad_rects[i].region, bad_rects[i].pitches, host, 0, NULL));
        for (size_t i = 0; i < sizeof(too_large_rects) / sizeof(too_large_rects[0]); i++)
            UR_FAILS_SAYING(rect(kind, own.queue, own.buffer, too_large_rects[i].origin,
                                 too_large_rects[i].region, too_large_rects[i].pitches, host, 0,
                                 NULL),
                            UR_RESULT_ERROR_INVALID_SIZE, "reaches past the end of the buffer");
    }
}
