// SPDX-License-Identifier: MIT
//
// Stories through Unified Runtime's tables, while each Level Zero call and each allocation fails in
// turn. The result of a failure agrees with the core's own result.
#include "test_env.h"
#include "ur/layout/layout.h"
#include "ur/ur.h"
#include "walk.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unified-runtime/ur_ddi.h>

#include "ur_slots.h"

#define ITEMS 64
#define BYTES (ITEMS * sizeof(int32_t))

static ur_dditable_t ur;

// Objects that live as long as a story.
static struct {
    ur_adapter_handle_t adapter;
    ur_device_handle_t device;
    ur_context_handle_t context;
    ur_queue_handle_t queue;
} gear;

enum { OBJECTS = 4 };
static zepi_device_image_desc_t scaled_copy;
static zepi_device_image_desc_t diamond[OBJECTS];
static int32_t constant;
static ur_queue_flags_t queue_flags;

static const struct {
    zepi_result_t zepi;
    ur_result_t ur;
} results[] = {
    {ZEPI_ERROR_OUT_OF_HOST_MEMORY, UR_RESULT_ERROR_OUT_OF_HOST_MEMORY},
    {ZEPI_ERROR_OUT_OF_DEVICE_MEMORY, UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY},
    {ZEPI_ERROR_DEVICE_LOST, UR_RESULT_ERROR_DEVICE_LOST},
    {ZEPI_ERROR_UNKNOWN, UR_RESULT_ERROR_UNKNOWN},
};

// The core's result behind UR's: that of the thread's last error.
static zepi_result_t result_behind(ur_result_t answered, const char *call)
{
    zepi_result_t noted;
    if (answered == UR_RESULT_SUCCESS)
        return ZEPI_SUCCESS;
    zepi.last_error(&noted);
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        if (results[i].zepi == noted && results[i].ur == answered)
            return noted;
    }
    fprintf(stderr, "%s answers %d, and the core %s: %s\n", call, (int)answered,
            zepi.result_name(noted), zepi.last_error(NULL));
    exit(1);
}

#define UR_STEP(call) STEP(result_behind((call), #call))
// A release that fails cannot be repeated: its object is gone.
#define UR_RELEASE(noun, handle)                                                                   \
    do {                                                                                           \
        if (handle)                                                                                \
            WALK_EXPECT(ur##noun##Release(handle) == UR_RESULT_SUCCESS);                           \
    } while (false)

static void settle(ur_queue_handle_t queue)
{
    while (queue && urQueueFinish(queue) != UR_RESULT_SUCCESS)
        ;
}

typedef zepi_result_t part_fn(void);

// A part of a story with gear of its own.
static zepi_result_t with_gear(part_fn *part)
{
    const ur_queue_properties_t properties = {.stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES,
                                              .flags = queue_flags};
    ur_platform_handle_t platform;
    uint32_t count;
    zepi_result_t result;
    memset(&gear, 0, sizeof(gear));
    UR_STEP(urAdapterGet(1, &gear.adapter, &count));
    UR_STEP(urPlatformGet(gear.adapter, 1, &platform, &count));
    UR_STEP(urDeviceGet(platform, UR_DEVICE_TYPE_ALL, 1, &gear.device, &count));
    UR_STEP(urContextCreate(1, &gear.device, NULL, &gear.context));
    UR_STEP(urQueueCreate(gear.context, gear.device, &properties, &gear.queue));
    result = part();
out:
    UR_RELEASE(Queue, gear.queue);
    UR_RELEASE(Context, gear.context);
    UR_RELEASE(Device, gear.device);
    UR_RELEASE(Adapter, gear.adapter);
    return result;
}

static ur_exp_kernel_arg_properties_t buffer_argument(uint32_t index, ur_mem_handle_t buffer)
{
    return (ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,
                                            .type = UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ,
                                            .index = index,
                                            .size = sizeof(void *),
                                            .value.memObjTuple = {buffer, UR_MEM_FLAG_READ_WRITE}};
}

// Programs: built, as native code, in another program.
static zepi_result_t make_kernel(ur_kernel_handle_t *out_kernel)
{
    constant = walk_build_anew();
    const ur_specialization_constant_info_t value = {7, sizeof(constant), &constant};
    ur_program_handle_t program = NULL;
    ur_program_handle_t native = NULL;
    uint8_t *binary = NULL;
    size_t size;
    zepi_result_t result;
    UR_STEP(urProgramCreateWithIL(gear.context, scaled_copy.bytes, scaled_copy.size_bytes, NULL,
                                  &program));
    UR_STEP(urProgramSetSpecializationConstants(program, 1, &value));
    UR_STEP(urProgramBuild(gear.context, program, NULL));
    UR_STEP(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(size), &size, NULL));
    binary = malloc(size);
    UR_STEP(
        urProgramGetInfo(program, UR_PROGRAM_INFO_BINARIES, sizeof(binary), (void *)&binary, NULL));
    UR_STEP(urProgramCreateWithBinary(gear.context, 1, &gear.device, &size,
                                      (const uint8_t **)&binary, NULL, &native));
    UR_STEP(urProgramBuild(gear.context, native, NULL));
    UR_STEP(urKernelCreate(native, "scaled_copy_int", out_kernel));
out:
    free(binary);
    UR_RELEASE(Program, program);
    UR_RELEASE(Program, native);
    return result;
}

static zepi_result_t use_buffers(void)
{
    int32_t numbers[ITEMS];
    const ur_buffer_properties_t host = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                         .pHost = numbers};
    const ur_buffer_region_t half = {
        .stype = UR_STRUCTURE_TYPE_BUFFER_REGION, .origin = 0, .size = BYTES / 2};
    const ur_rect_offset_t start = {0, 0, 0};
    const ur_rect_region_t rows = {16, 4, 1};
    const size_t items = ITEMS;
    const int32_t zero = 0;
    ur_kernel_handle_t kernel = NULL;
    ur_mem_handle_t in = NULL, out = NULL, part = NULL;
    ur_event_handle_t launched = NULL, mapped = NULL;
    int32_t *seen = NULL;
    zepi_result_t result;
    for (int32_t i = 0; i < ITEMS; i++)
        numbers[i] = i;
    STEP(make_kernel(&kernel));
    UR_STEP(urMemBufferCreate(gear.context,
                              UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, BYTES,
                              &host, &in));
    UR_STEP(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, BYTES, NULL, &out));
    UR_STEP(urMemBufferPartition(out, UR_MEM_FLAG_READ_WRITE, UR_BUFFER_CREATE_TYPE_REGION, &half,
                                 &part));
    UR_STEP(urEnqueueMemBufferFill(gear.queue, out, &zero, sizeof(zero), 0, BYTES, 0, NULL, NULL));
    UR_STEP(urEnqueueEventsWaitWithBarrier(gear.queue, 0, NULL, NULL));
    const ur_exp_kernel_arg_properties_t arguments[] = {buffer_argument(0, in),
                                                        buffer_argument(1, out)};
    UR_STEP(urEnqueueKernelLaunchWithArgsExp(gear.queue, kernel, 1, NULL, &items, NULL, 2,
                                             arguments, NULL, 0, NULL, &launched));
    UR_STEP(urEnqueueMemBufferMap(gear.queue, part, false, UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE, 0,
                                  BYTES / 2, 1, &launched, &mapped, (void **)&seen));
    UR_STEP(urEventWait(1, &mapped));
    for (int32_t i = 0; i < ITEMS / 2; i++) {
        WALK_EXPECT(seen[i] == i * constant);
        seen[i] = 7;
    }
    UR_STEP(urEnqueueMemUnmap(gear.queue, part, seen, 0, NULL, NULL));
    UR_STEP(urEnqueueEventsWaitWithBarrier(gear.queue, 0, NULL, NULL));
    UR_STEP(urEnqueueMemBufferCopy(gear.queue, out, in, 0, 0, BYTES, 0, NULL, NULL));
    UR_STEP(urEnqueueEventsWaitWithBarrier(gear.queue, 0, NULL, NULL));
    memset(numbers, 0, sizeof(numbers));
    UR_STEP(urEnqueueMemBufferReadRect(gear.queue, in, true, start, start, rows, 32, 0, 32, 0,
                                       numbers, 0, NULL, NULL));
    WALK_EXPECT(numbers[0] == 7 && numbers[3] == 7 && numbers[4] == 0 && numbers[8] == 7);
    UR_STEP(urEnqueueMemBufferRead(gear.queue, in, true, 0, BYTES, numbers, 0, NULL, NULL));
    WALK_EXPECT(numbers[31] == 7 && numbers[63] == 63 * constant);
out:
    // All commands are complete before the host's memory is freed.
    settle(gear.queue);
    UR_RELEASE(Event, launched);
    UR_RELEASE(Event, mapped);
    UR_RELEASE(Mem, part);
    UR_RELEASE(Mem, in);
    UR_RELEASE(Mem, out);
    UR_RELEASE(Kernel, kernel);
    return result;
}

static zepi_result_t buffers(void)
{
    return with_gear(use_buffers);
}

static zepi_result_t use_usm_and_events(void)
{
    ur_usm_pool_desc_t pool_desc = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC,
                                    .flags = UR_USM_POOL_FLAG_ZERO_INITIALIZE_BLOCK};
    ur_usm_pool_handle_t pool = NULL;
    unsigned char *shared = NULL;
    void *device = NULL;
    unsigned char back[120];
    const unsigned char pattern[3] = {1, 2, 3}; // of a size that the driver does not fill with
    ur_event_handle_t filled = NULL, copied = NULL, recorded = NULL;
    ur_native_handle_t native;
    uint64_t time_ns;
    zepi_result_t result;
    UR_STEP(urUSMPoolCreate(gear.context, &pool_desc, &pool));
    UR_STEP(urUSMSharedAlloc(gear.context, gear.device, NULL, pool, 120, (void **)&shared));
    UR_STEP(urUSMDeviceAlloc(gear.context, gear.device, NULL, pool, 120, &device));
    UR_STEP(urEnqueueUSMFill(gear.queue, shared, 3, pattern, 120, 0, NULL, &filled));
    UR_STEP(urEnqueueUSMMemcpy(gear.queue, false, device, shared, 120, 1, &filled, &copied));
    UR_STEP(urEnqueueUSMMemcpy2D(gear.queue, true, back, 30, device, 30, 20, 4, 1, &copied, NULL));
    WALK_EXPECT(back[0] == 1 && back[19] == 2 && back[30] == 1);
    UR_STEP(urEventGetNativeHandle(copied, &native));
    UR_STEP(urEventGetProfilingInfo(copied, UR_PROFILING_INFO_COMMAND_END, sizeof(time_ns),
                                    &time_ns, NULL));
    UR_STEP(urEnqueueTimestampRecordingExp(gear.queue, true, 0, NULL, &recorded));
    UR_STEP(urEventGetProfilingInfo(recorded, UR_PROFILING_INFO_COMMAND_SUBMIT, sizeof(time_ns),
                                    &time_ns, NULL));
    UR_STEP(urUSMContextMemcpyExp(gear.context, back, device, 120));
    WALK_EXPECT(back[119] == 3);
    UR_STEP(urQueueFinish(gear.queue));
out:
    settle(gear.queue);
    UR_RELEASE(Event, filled);
    UR_RELEASE(Event, copied);
    UR_RELEASE(Event, recorded);
    if (shared)
        urUSMFree(gear.context, shared);
    if (device)
        urUSMFree(gear.context, device);
    UR_RELEASE(USMPool, pool);
    return result;
}

static zepi_result_t usm_and_events(void)
{
    return with_gear(use_usm_and_events);
}

// A second context's commands wait for the first one's, and its kernel has a buffer of the first.
static zepi_result_t use_two_contexts(void)
{
    const ur_queue_properties_t properties = {.stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES,
                                              .flags = queue_flags};
    const int32_t four = 4;
    int32_t found[ITEMS] = {0};
    struct {
        ur_context_handle_t context;
        ur_queue_handle_t queue;
    } first = {gear.context, gear.queue}, second = {NULL, NULL};
    ur_kernel_handle_t kernel = NULL;
    ur_mem_handle_t buffer = NULL;
    ur_event_handle_t events[2] = {NULL, NULL};
    const size_t items = ITEMS;
    zepi_result_t result;
    UR_STEP(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, BYTES, NULL, &buffer));
    UR_STEP(urContextCreate(1, &gear.device, NULL, &second.context));
    UR_STEP(urQueueCreate(second.context, gear.device, &properties, &second.queue));
    gear.context = second.context; // for make_kernel
    result = make_kernel(&kernel);
    gear.context = first.context;
    if (result != ZEPI_SUCCESS)
        goto out;
    UR_STEP(urEnqueueMemBufferFill(first.queue, buffer, &four, sizeof(four), 0, BYTES, 0, NULL,
                                   &events[0]));
    const ur_exp_kernel_arg_properties_t arguments[] = {buffer_argument(0, buffer),
                                                        buffer_argument(1, buffer)};
    UR_STEP(urEnqueueKernelLaunchWithArgsExp(second.queue, kernel, 1, NULL, &items, NULL, 2,
                                             arguments, NULL, 1, &events[0], &events[1]));
    UR_STEP(
        urEnqueueMemBufferRead(first.queue, buffer, true, 0, BYTES, found, 1, &events[1], NULL));
    WALK_EXPECT(found[ITEMS - 1] == 4 * constant);
out:
    settle(second.queue);
    settle(first.queue);
    for (int i = 0; i < 2; i++)
        UR_RELEASE(Event, events[i]);
    UR_RELEASE(Kernel, kernel);
    UR_RELEASE(Mem, buffer);
    UR_RELEASE(Queue, second.queue);
    UR_RELEASE(Context, second.context);
    return result;
}

static zepi_result_t two_contexts(void)
{
    return with_gear(use_two_contexts);
}

static zepi_result_t use_images(void)
{
    enum { WIDTH = 8, HEIGHT = 4 };
    const ur_image_format_t format = {UR_IMAGE_CHANNEL_ORDER_R,
                                      UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32};
    const ur_image_desc_t desc = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = UR_MEM_TYPE_IMAGE2D,
                                  .width = WIDTH,
                                  .height = HEIGHT};
    const ur_sampler_desc_t sampler_desc = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC};
    const ur_rect_offset_t start = {0, 0, 0};
    const ur_rect_region_t whole = {WIDTH, HEIGHT, 1};
    uint32_t pixels[HEIGHT * WIDTH];
    uint32_t back[HEIGHT * WIDTH] = {0};
    ur_mem_handle_t first = NULL, second = NULL;
    ur_sampler_handle_t sampler = NULL;
    ur_event_handle_t copied = NULL;
    zepi_result_t result;
    for (uint32_t i = 0; i < HEIGHT * WIDTH; i++)
        pixels[i] = i;
    UR_STEP(urSamplerCreate(gear.context, &sampler_desc, &sampler));
    UR_STEP(urMemImageCreate(gear.context,
                             UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, &format,
                             &desc, pixels, &first));
    UR_STEP(urMemImageCreate(gear.context, UR_MEM_FLAG_READ_WRITE, &format, &desc, NULL, &second));
    pixels[0] = 99;
    UR_STEP(urEnqueueMemImageWrite(gear.queue, first, true, start, (ur_rect_region_t){1, 1, 1}, 0,
                                   0, pixels, 0, NULL, NULL));
    UR_STEP(
        urEnqueueMemImageCopy(gear.queue, first, second, start, start, whole, 0, NULL, &copied));
    UR_STEP(urEnqueueMemImageRead(gear.queue, second, true, start, whole, 0, 0, back, 1, &copied,
                                  NULL));
    WALK_EXPECT(memcmp(pixels, back, sizeof(pixels)) == 0);
out:
    settle(gear.queue);
    UR_RELEASE(Event, copied);
    UR_RELEASE(Mem, first);
    UR_RELEASE(Mem, second);
    UR_RELEASE(Sampler, sampler);
    return result;
}

static zepi_result_t images(void)
{
    return with_gear(use_images);
}

// The diamond of tests/data/link/link_top.cl.
static zepi_result_t use_links(void)
{
    constant = walk_build_anew();
    const ur_specialization_constant_info_t value = {1, sizeof(constant), &constant};
    ur_program_handle_t objects[OBJECTS] = {NULL};
    ur_program_handle_t program = NULL;
    ur_kernel_handle_t kernel = NULL;
    void *address;
    size_t size;
    int32_t counter = 0;
    zepi_result_t result;
    for (int i = 0; i < OBJECTS; i++)
        UR_STEP(urProgramCreateWithIL(gear.context, diamond[i].bytes, diamond[i].size_bytes, NULL,
                                      &objects[i]));
    UR_STEP(urProgramSetSpecializationConstants(objects[0], 1, &value));
    for (int i = 0; i < OBJECTS; i++)
        UR_STEP(urProgramCompile(gear.context, objects[i], NULL));
    UR_STEP(urProgramLink(gear.context, OBJECTS, objects, NULL, &program));
    UR_STEP(urProgramGetGlobalVariablePointer(gear.device, program, "counter", &size, &address));
    UR_STEP(urEnqueueDeviceGlobalVariableRead(gear.queue, program, "counter", true, sizeof(counter),
                                              0, &counter, 0, NULL, NULL));
    WALK_EXPECT(counter == 7);
    UR_STEP(urKernelCreate(program, "diamond", &kernel));
out:
    settle(gear.queue);
    UR_RELEASE(Kernel, kernel);
    UR_RELEASE(Program, program);
    for (int i = 0; i < OBJECTS; i++)
        UR_RELEASE(Program, objects[i]);
    return result;
}

static zepi_result_t links(void)
{
    return with_gear(use_links);
}

static void load(void)
{
    walk_begin();
    // The adapter is linked in with the core, whose allocations can be made to fail.
    const struct zepi_ur_layout *layout = &zepi_ur_layouts[ZEPI_UR_RELEASE_2026_2];
    zepi_ur_layout_use(layout);
    memcpy(&ur, layout->slots, sizeof(ur));
    scaled_copy = test_spirv_image("scaled_copy");
    static const char *const names[OBJECTS] = {"link_base", "link_left", "link_right", "link_top"};
    for (int i = 0; i < OBJECTS; i++)
        diamond[i] = test_spirv_image(names[i]);
}

int main(void)
{
    static const struct {
        const char *name;
        story_fn *story;
        bool has_order; // its queue is in order or not
    } stories[] = {{"buffers", buffers, true},
                   {"usm and events", usm_and_events, true},
                   {"two contexts", two_contexts, true},
                   {"images", images, false},
                   {"links", links, false}};
    load();
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
        queue_flags = UR_QUEUE_FLAG_PROFILING_ENABLE;
        TEST_OK(stories[i].story());
        walk_calls(stories[i].name, stories[i].story, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
        walk_allocations(stories[i].name, stories[i].story);
        if (!stories[i].has_order)
            continue;
        queue_flags |= UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        walk_calls(stories[i].name, stories[i].story, "ZE_RESULT_ERROR_DEVICE_LOST");
    }
    return 0;
}
