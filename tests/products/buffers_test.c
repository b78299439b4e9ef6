// SPDX-License-Identifier: MIT
// Buffers over memory of the host: for an integrated GPU they are that memory, which nothing
// copies.
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

#define ON(product)                                                                                \
    {                                                                                              \
        "nothing_is_copied_on_" product, nothing_is_copied,                                        \
        {                                                                                          \
            "DRM_SHIM_PRODUCT=" product, "DRM_SHIM_EXEC=1"                                         \
        }                                                                                          \
    }

static const struct intel_story stories[] = {ON("lnl"), ON("mtl"), ON("mtl-i915"), ON("tgl"), {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
