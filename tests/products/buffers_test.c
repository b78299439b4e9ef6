// SPDX-License-Identifier: MIT
// Buffers over memory of the host: for an integrated GPU they are that memory, which nothing
// copies, unless it is USM already.
#include "intel.h"

#include "ur_fixture.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS ((size_t)1 << 18)
#define BYTES (ITEMS * sizeof(int))

// The bytes that engines copied.
static uint64_t bytes_copied(void)
{
    struct intel_trace trace = intel_trace_read();
    uint64_t bytes = 0;
    for (size_t i = 0; i < trace.count; i++) {
        if (trace.commands[i].kind == INTEL_COPY)
            bytes += trace.commands[i].width * trace.commands[i].height;
    }
    intel_trace_finish(&trace);
    return bytes;
}

static uint64_t copied_by_use(ur_mem_flags_t flags, int *host)
{
    const int value = 7;
    ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                         .pHost = host};
    ur_mem_handle_t buffer;
    ur_native_handle_t native = 0;
    void *mapped;
    bytes_copied();
    const ur_kernel_handle_t kernel = ur_kernel("mark", "mark");
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE | flags, BYTES, &properties,
                            &buffer));
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, value), UR_MEM(1, buffer)};
    UR_OK(ur_launch(gear.queue, kernel, ITEMS / 2, 2, arguments, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferMap(gear.queue, buffer, true, UR_MAP_FLAG_READ, 0, BYTES, 0, NULL, NULL,
                                &mapped));
    for (size_t i = 0; i < ITEMS; i++) {
        const int expected = i < ITEMS / 2 ? value : (int)i;
        INTEL_EXPECT(((int *)mapped)[i] == expected, "item %zu: %d", i, ((int *)mapped)[i]);
    }
    INTEL_EXPECT(!(flags & UR_MEM_FLAG_USE_HOST_POINTER) || mapped == host, "mapped is %p, not %p",
                 mapped, (void *)host);
    UR_OK(urEnqueueMemUnmap(gear.queue, buffer, mapped, 0, NULL, NULL));
    UR_OK(urMemGetNativeHandle(buffer, gear.device, &native));
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urMemRelease(buffer));
    UR_OK(urKernelRelease(kernel));
    return bytes_copied();
}

static void nothing_is_copied(void)
{
    int *host = aligned_alloc(4096, BYTES);
    ur_load_device();
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
    gear.queue = ur_queue(gear.device, 0);
    for (size_t i = 0; i < ITEMS; i++)
        host[i] = (int)i;
    const uint64_t used = copied_by_use(UR_MEM_FLAG_USE_HOST_POINTER, host);
    for (size_t i = 0; i < ITEMS; i++)
        host[i] = (int)i;
    const uint64_t copied = copied_by_use(UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, host);
    INTEL_EXPECT(used == 0 && copied == 0, "%u bytes of the host's memory, %u of another",
                 (unsigned)used, (unsigned)copied);
    UR_OK(urQueueRelease(gear.queue));
    UR_OK(urContextRelease(gear.context));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
    free(host);
}

// A copy of a buffer before a kernel does not complete the kernel's event (quirk uncounted-copies):
// a copy engine that waits for the event finds what the kernel wrote.
static void events_of_kernels_wait_for_them(void)
{
    const int value = 7;
    ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES};
    ur_mem_handle_t buffer;
    ur_event_handle_t event;
    void *found;
    ur_load_device();
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
    gear.queue = ur_queue(gear.device, 0);
    const ur_queue_handle_t copies =
        ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const ur_kernel_handle_t kernel = ur_kernel("mark", "mark");
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, BYTES, &found));
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, BYTES, &properties.pHost));
    memset(properties.pHost, 0, BYTES);
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_USE_HOST_POINTER,
                            BYTES, &properties, &buffer));
    intel_set_kernel_time(50000);
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, value), UR_MEM(1, buffer)};
    UR_OK(ur_launch(gear.queue, kernel, ITEMS, 2, arguments, 0, NULL, &event));
    UR_OK(urEnqueueMemBufferRead(copies, buffer, true, 0, BYTES, found, 1, &event, NULL));
    INTEL_EXPECT(*(int *)found == value, "the copy engine finds %d", *(int *)found);
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urEventRelease(event));
    UR_OK(urMemRelease(buffer));
    ur_free(properties.pHost);
    ur_free(found);
    UR_OK(urQueueRelease(copies));
    UR_OK(urKernelRelease(kernel));
    UR_OK(urQueueRelease(gear.queue));
    UR_OK(urContextRelease(gear.context));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}

#define ON(story, product)                                                                         \
    {                                                                                              \
        .name = #story "_on_" product, .run = story,                                               \
        .environment = {"DRM_SHIM_PRODUCT=" product, "DRM_SHIM_EXEC=1"},                           \
    }

static const struct intel_story stories[] = {ON(nothing_is_copied, "lnl"),
                                             ON(nothing_is_copied, "mtl"),
                                             ON(nothing_is_copied, "mtl-i915"),
                                             ON(nothing_is_copied, "tgl"),
                                             ON(events_of_kernels_wait_for_them, "lnl"),
                                             ON(events_of_kernels_wait_for_them, "ptl"),
                                             ON(events_of_kernels_wait_for_them, "mtl"),
                                             {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
