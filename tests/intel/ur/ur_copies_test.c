// SPDX-License-Identifier: MIT
// Copies of memory that the driver did not allocate, through Unified Runtime's tables.
#include "copy/host_copies.h"

#include "ur_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static ur_mem_handle_t image;
static ur_queue_handle_t queues[2]; // the second is NULL, or takes turns with the first
static ur_queue_handle_t queue;     // the one that is at work
static bool is_any_order;
static struct host_event gate;
static ur_exp_command_buffer_handle_t command_buffer;
static const ur_rect_offset_t start;
static const ur_rect_region_t all_pixels = {COPY_IMAGE_WIDTH, COPY_IMAGE_HEIGHT, 1};

static void set_up(void)
{
    const ur_image_format_t format = {UR_IMAGE_CHANNEL_ORDER_R,
                                      UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32};
    const ur_image_desc_t desc = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = UR_MEM_TYPE_IMAGE2D,
                                  .width = COPY_IMAGE_WIDTH,
                                  .height = COPY_IMAGE_HEIGHT};
    ur_load_device();
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
    UR_OK(urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &format, &desc, NULL, &image));
}

static void tear_down(void)
{
    UR_OK(urMemRelease(image));
    UR_OK(urContextRelease(gear.context));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}

static void *allocate(unsigned kind, size_t bytes)
{
    void *memory;
    if (kind == 0)
        return ur_device_memory(bytes);
    if (kind == 2)
        return ur_shared(bytes);
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, bytes, &memory));
    return memory;
}

static ur_queue_flags_t flags_of(enum copy_queue kind)
{
    const ur_queue_flags_t any = UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    switch (kind) {
    case COPIES_ANY_ORDER:
        return any;
    case COPIES_ANY_ORDER_TIMED:
        return any | UR_QUEUE_FLAG_PROFILING_ENABLE;
    case COPIES_IN_ORDER_TIMED:
        return UR_QUEUE_FLAG_PROFILING_ENABLE;
    default:
        return 0;
    }
}

static void begin(enum copy_queue kind)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC};
    ur_native_handle_t native;
    is_any_order = flags_of(kind) & UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    queues[0] = ur_queue(gear.device, flags_of(kind));
    if (kind == COPIES_IN_TURNS)
        queues[1] = ur_queue(gear.device, flags_of(kind));
    if (kind == COPIES_EXPORTED)
        UR_OK(urQueueGetNativeHandle(queues[0], NULL, &native));
    queue = queues[0];
    gate = host_event_make();
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &command_buffer));
}

static void end(void)
{
    UR_OK(urCommandBufferReleaseExp(command_buffer));
    UR_OK(urQueueRelease(queues[0]));
    if (queues[1])
        UR_OK(urQueueRelease(queues[1]));
    queues[1] = NULL;
    host_event_release(&gate);
}

static void close_gate(void)
{
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 1, &gate.event, NULL));
}

static void open_gate(void)
{
    host_event_signal(&gate);
}

static void finish(void)
{
    UR_OK(urQueueFinish(queues[0]));
    if (queues[1])
        UR_OK(urQueueFinish(queues[1]));
}

static void order(void)
{
    ur_event_handle_t event;
    if (is_any_order)
        UR_OK(urEnqueueEventsWaitWithBarrier(queue, 0, NULL, NULL));
    if (!queues[1])
        return;
    UR_OK(urEnqueueEventsWait(queue, 0, NULL, &event));
    queue = queue == queues[0] ? queues[1] : queues[0];
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 1, &event, NULL));
    UR_OK(urEventRelease(event));
}

static void copy(void *to, const void *from, size_t bytes, bool waits)
{
    UR_OK(
        urEnqueueUSMMemcpy(queue, false, to, from, bytes, waits, waits ? &gate.event : NULL, NULL));
}

static void copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                      size_t height, bool waits)
{
    UR_OK(urEnqueueUSMMemcpy2D(queue, false, to, to_pitch, from, from_pitch, width, height, waits,
                               waits ? &gate.event : NULL, NULL));
}

static void write_image(const void *from)
{
    UR_OK(urEnqueueMemImageWrite(queue, image, false, start, all_pixels, 0, 0, (void *)from, 0,
                                 NULL, NULL));
}

static void read_image(void *to, bool waits)
{
    UR_OK(urEnqueueMemImageRead(queue, image, false, start, all_pixels, 0, 0, to, waits,
                                waits ? &gate.event : NULL, NULL));
}

static bool has_host_functions(void)
{
    ur_bool_t has;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_ENQUEUE_HOST_TASK_SUPPORT_EXP, sizeof(has),
                          &has, NULL));
    return has;
}

static void call_host(void (*function)(void *), void *data)
{
    UR_OK(urEnqueueHostTaskExp(queue, function, data, NULL, 0, NULL, NULL));
}

static void record(void *to, const void *from, size_t bytes)
{
    UR_OK(urCommandBufferAppendUSMMemcpyExp(command_buffer, to, from, bytes, 0, NULL, 0, NULL, NULL,
                                            NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(command_buffer));
}

static void execute(void)
{
    UR_OK(urEnqueueCommandBufferExp(queue, command_buffer, 0, NULL, NULL));
}

static const struct copy_door table = {.set_up = set_up,
                                       .tear_down = tear_down,
                                       .allocate = allocate,
                                       .free = ur_free,
                                       .begin = begin,
                                       .end = end,
                                       .close_gate = close_gate,
                                       .open_gate = open_gate,
                                       .finish = finish,
                                       .order = order,
                                       .copy = copy,
                                       .copy_rows = copy_rows,
                                       .write_image = write_image,
                                       .read_image = read_image,
                                       .has_host_functions = has_host_functions,
                                       .call_host = call_host,
                                       .record = record,
                                       .execute = execute};

static void copies_read_plain_memory_when_it_is_their_turn(void)
{
    host_copies_run(&table);
}

// ---- Buffers ----

#define BYTES 8192

static unsigned char *plain;

static void set_up_buffers(enum copy_queue kind)
{
    set_up();
    begin(kind);
    plain = malloc(BYTES);
    INTEL_EXPECT(plain != NULL, "no memory");
    memset(plain, 1, BYTES);
}

static void tear_down_buffers(void)
{
    free(plain);
    end();
    tear_down();
}

static ur_mem_handle_t create_buffer(void *storage)
{
    const ur_buffer_properties_t around = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                           .pHost = storage};
    ur_mem_handle_t buffer;
    UR_OK(urMemBufferCreate(gear.context,
                            UR_MEM_FLAG_READ_WRITE | (storage ? UR_MEM_FLAG_USE_HOST_POINTER : 0),
                            BYTES, storage ? &around : NULL, &buffer));
    return buffer;
}

static void expect_buffer(ur_mem_handle_t buffer, unsigned char expected)
{
    static unsigned char read[BYTES];
    UR_OK(urEnqueueMemBufferRead(queue, buffer, true, 0, BYTES, read, 0, NULL, NULL));
    for (size_t i = 0; i < BYTES; i++)
        INTEL_EXPECT(read[i] == expected, "byte %zu is %u, expected %u", i, read[i], expected);
}

// ---- Rows that are a page apart ----

#define PAGE 4096
#define FAR_BYTES 64
#define FAR_ROWS 8
#define FAR_SLICE ((FAR_ROWS + 1) * PAGE)
#define FAR_SLICES 4

static unsigned char far_values(const unsigned char *memory, ur_rect_offset_t origin,
                                ur_rect_region_t region)
{
    const unsigned char *first = memory + origin.z * FAR_SLICE + origin.y * PAGE + origin.x;
    for (size_t slice = 0; slice < region.depth; slice++)
        for (size_t row = 0; row < region.height; row++)
            for (size_t i = 0; i < region.width; i++) {
                const unsigned char value = first[slice * FAR_SLICE + row * PAGE + i];
                INTEL_EXPECT(value == *first, "slice %zu, row %zu, byte %zu is %u, not %u", slice,
                             row, i, value, *first);
            }
    return *first;
}

// To plain memory, which is all 0 before, and back.
static void copy_far_rows(ur_rect_offset_t origin, ur_rect_region_t region)
{
    const size_t bytes = region.width * region.height * region.depth;
    const size_t slice_pitch = region.width * region.height;
    unsigned char *memory = aligned_alloc(PAGE, FAR_SLICES * FAR_SLICE);
    INTEL_EXPECT(memory != NULL, "no memory");
    memset(memory, 0, FAR_SLICES * FAR_SLICE);
    ur_mem_handle_t buffer = create_buffer(NULL);
    UR_OK(urEnqueueMemBufferWrite(queue, buffer, true, 0, BYTES, plain, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferReadRect(queue, buffer, true, start, origin, region, region.width,
                                     slice_pitch, PAGE, FAR_SLICE, memory, 0, NULL, NULL));
    INTEL_EXPECT(far_values(memory, origin, region) == 1, "the rows were not read");
    memset(memory, 2, FAR_SLICES * FAR_SLICE);
    UR_OK(urEnqueueMemBufferWriteRect(queue, buffer, true, start, origin, region, region.width,
                                      slice_pitch, PAGE, FAR_SLICE, memory, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferRead(queue, buffer, true, 0, BYTES, plain, 0, NULL, NULL));
    for (size_t i = 0; i < BYTES; i++)
        INTEL_EXPECT(plain[i] == (i < bytes ? 2 : 1), "byte %zu is %u", i, plain[i]);
    UR_OK(urMemRelease(buffer));
    free(memory);
}

// Quirk forgotten-slices.
static void rows_of_plain_memory_are_far_apart_in_any_slice(void)
{
    static const ur_rect_offset_t origins[] = {{0, 0, 0}, {16, 1, 0}, {16, 1, 2}};
    for (int kind = COPIES_IN_ORDER; kind <= COPIES_ANY_ORDER; kind++)
        for (size_t i = 0; i < sizeof(origins) / sizeof(*origins); i++)
            for (size_t depth = 1; depth <= 2; depth++) {
                set_up_buffers((enum copy_queue)kind);
                copy_far_rows(origins[i], (ur_rect_region_t){FAR_BYTES, FAR_ROWS, depth});
                tear_down_buffers();
            }
}

static void buffers_are_written_from_plain_memory_in_order(void)
{
    const ur_rect_region_t half = {64, BYTES / 128, 1};
    const ur_rect_offset_t second = {64, 0, 0};
    for (int kind = COPIES_IN_ORDER; kind <= COPIES_ANY_ORDER; kind++) {
        set_up_buffers((enum copy_queue)kind);
        ur_mem_handle_t buffer = create_buffer(NULL);
        close_gate();
        // Rows of 128 bytes: their first halves, and before that all of them.
        UR_OK(urEnqueueMemBufferWrite(queue, buffer, false, 0, BYTES, plain, 0, NULL, NULL));
        order();
        UR_OK(urEnqueueMemBufferWriteRect(queue, buffer, false, second, second, half, 128, 0, 128,
                                          0, plain, 0, NULL, NULL));
        memset(plain, 2, BYTES);
        open_gate();
        order();
        finish();
        expect_buffer(buffer, 2);
        UR_OK(urMemRelease(buffer));
        tear_down_buffers();
    }
}

// The storage is written back to by the map, and read again by the copy: both on the device's side
// of the gate.
static void a_buffer_returns_from_its_storage_after_it_was_written_back(void)
{
    void *map;
    set_up_buffers(COPIES_IN_ORDER);
    unsigned char *storage = malloc(BYTES);
    memset(storage, 3, BYTES);
    ur_mem_handle_t buffer = create_buffer(storage);
    ur_mem_handle_t other = create_buffer(NULL);
    UR_OK(urEnqueueMemBufferWrite(queue, buffer, true, 0, BYTES, plain, 0, NULL, NULL));
    close_gate();
    UR_OK(urEnqueueMemBufferMap(queue, buffer, false, UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE, 0,
                                BYTES, 1, &gate.event, NULL, &map));
    UR_OK(urEnqueueMemUnmap(queue, buffer, map, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferCopy(queue, buffer, other, 0, 0, BYTES, 0, NULL, NULL));
    INTEL_EXPECT(storage[0] == 3, "the storage was written before its time");
    open_gate();
    finish();
    expect_buffer(other, 1);
    UR_OK(urMemRelease(buffer));
    UR_OK(urMemRelease(other));
    free(storage);
    tear_down_buffers();
}

// A buffer that no device has yet is copied from its storage.
static void a_buffer_leaves_its_storage_in_order(void)
{
    set_up_buffers(COPIES_IN_ORDER);
    ur_mem_handle_t buffer = create_buffer(plain);
    ur_mem_handle_t other = create_buffer(NULL);
    close_gate();
    UR_OK(urEnqueueMemBufferCopy(queue, buffer, other, 0, 0, BYTES, 0, NULL, NULL));
    memset(plain, 2, BYTES);
    open_gate();
    finish();
    expect_buffer(other, 2);
    UR_OK(urMemRelease(buffer));
    UR_OK(urMemRelease(other));
    tear_down_buffers();
}

// ---- Copies to plain memory ----

// Behind an event that is signalled once the copy is enqueued.
static void a_copy_to_plain_memory_is_enqueued_without_a_wait(void)
{
    for (int kind = COPIES_IN_ORDER; kind <= COPIES_ANY_ORDER; kind++) {
        set_up_buffers((enum copy_queue)kind);
        unsigned char *memory = allocate(1, BYTES);
        memset(memory, 2, BYTES);
        close_gate();
        copy(plain, memory, BYTES, false);
        INTEL_EXPECT(plain[0] == 1, "the copy came before its time");
        open_gate();
        finish();
        INTEL_EXPECT(plain[0] == 2 && plain[BYTES - 1] == 2, "the copy did not come");
        ur_free(memory);
        tear_down_buffers();
    }
}

static atomic_bool is_over;

static void *see_completions(void *unused)
{
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    (void)unused;
    while (!atomic_load(&is_over)) {
        ur_event_handle_t event;
        UR_OK(urEnqueueEventsWaitWithBarrier(other, 0, NULL, &event));
        UR_OK(urEventWait(1, &event));
        UR_OK(urEventRelease(event));
    }
    UR_OK(urQueueRelease(other));
    return NULL;
}

// A copy is over while it is still being enqueued.
static void plain_memory_is_not_released_while_a_copy_is_enqueued(void)
{
    pthread_t thread;
    set_up_buffers(COPIES_IN_ORDER);
    unsigned char *memory = allocate(0, BYTES);
    INTEL_EXPECT(pthread_create(&thread, NULL, see_completions, NULL) == 0, "no thread");
    intel_set_return_time(2000);
    for (int i = 0; i < 100; i++)
        copy(plain, memory, BYTES, false);
    intel_set_return_time(0);
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    finish();
    ur_free(memory);
    tear_down_buffers();
}

// With a command before it that is over, and with one that may not be.
static void a_blocking_copy_to_plain_memory_is_complete(void)
{
    for (int kind = COPIES_IN_ORDER; kind <= COPIES_ANY_ORDER; kind++) {
        set_up_buffers((enum copy_queue)kind);
        unsigned char *memory = allocate(0, BYTES);
        for (unsigned i = 0; i < 8; i++) {
            const unsigned char value = (unsigned char)(i + 3);
            UR_OK(urEnqueueUSMFill(queue, memory, 1, &value, BYTES, 0, NULL, NULL));
            if (i % 2 == 0)
                finish();
            else
                order();
            UR_OK(urEnqueueUSMMemcpy(queue, true, plain, memory, BYTES, 0, NULL, NULL));
            INTEL_EXPECT(plain[0] == value && plain[BYTES - 1] == value, "%u: %u, %u", i, plain[0],
                         plain[BYTES - 1]);
        }
        ur_free(memory);
        tear_down_buffers();
    }
}

#define EXECUTE "DRM_SHIM_EXEC=1"

static const struct intel_story stories[] = {
    {"copies_read_plain_memory_when_it_is_their_turn",
     copies_read_plain_memory_when_it_is_their_turn,
     {EXECUTE}},
    {"and_without_the_newer_functions",
     copies_read_plain_memory_when_it_is_their_turn,
     {EXECUTE, "ZEPI_NEWER_FUNCTIONS=off"}},
    {"buffers_are_written_from_plain_memory_in_order",
     buffers_are_written_from_plain_memory_in_order,
     {EXECUTE}},
    {"a_buffer_returns_from_its_storage_after_it_was_written_back",
     a_buffer_returns_from_its_storage_after_it_was_written_back,
     {EXECUTE}},
    {"a_buffer_leaves_its_storage_in_order", a_buffer_leaves_its_storage_in_order, {EXECUTE}},
    {"a_copy_to_plain_memory_is_enqueued_without_a_wait",
     a_copy_to_plain_memory_is_enqueued_without_a_wait,
     {EXECUTE}},
    {"plain_memory_is_not_released_while_a_copy_is_enqueued",
     plain_memory_is_not_released_while_a_copy_is_enqueued,
     {EXECUTE, "GLIBC_TUNABLES=glibc.rtld.execstack=2:glibc.malloc.perturb=165"}},
    {"a_blocking_copy_to_plain_memory_is_complete",
     a_blocking_copy_to_plain_memory_is_complete,
     {EXECUTE}},
    {"rows_of_plain_memory_are_far_apart_in_any_slice",
     rows_of_plain_memory_are_far_apart_in_any_slice,
     {EXECUTE}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
