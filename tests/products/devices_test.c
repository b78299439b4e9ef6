// SPDX-License-Identifier: MIT
// Devices of two products in one process: a discrete one behind xe, an integrated one behind i915.
#include "intel.h"

#include "test_plugin.h"

#include <stdlib.h>
#include <string.h>

#define DEVICES 2
#define ITEMS 1000

// The products' ids, in the order of the driver: devices with memory of their own come first.
static const uint32_t device_ids[DEVICES] = {0xe20b, 0x9a49};

static struct side {
    zepi_platform_t platform;
    zepi_device_t device;
    zepi_context_t context;
    zepi_queue_t queue;
} sides[DEVICES];

static void open_side(struct side *side, uint32_t device_id)
{
    zepi_device_info_t info = {.size = sizeof(info)};
    uint32_t count = 1;
    TEST_OK(zepi.device_get(side->platform, 1, &side->device, &count));
    TEST_OK(zepi.device_get_info(side->device, &info));
    INTEL_EXPECT(info.device_id == device_id, "the device is 0x%x", info.device_id);
    TEST_OK(zepi.context_create(1, &side->device, &side->context));
    TEST_OK(zepi.queue_create(side->context, side->device, ZEPI_QUEUE_IN_ORDER, &side->queue));
}

static void set_up(void)
{
    zepi_platform_t platforms[DEVICES];
    uint32_t count = 0;
    test_plugin_load();
    TEST_OK(zepi.platform_get(DEVICES, platforms, &count));
    INTEL_EXPECT(count == DEVICES, "%u platforms", count);
    for (int i = 0; i < DEVICES; i++) {
        sides[i].platform = platforms[i];
        open_side(&sides[i], device_ids[i]);
    }
}

static void tear_down(void)
{
    for (int i = 0; i < DEVICES; i++) {
        TEST_OK(zepi.release(sides[i].queue));
        TEST_OK(zepi.release(sides[i].context));
        TEST_OK(zepi.release(sides[i].device));
        TEST_OK(zepi.release(sides[i].platform));
    }
    test_plugin_unload();
}

static float *allocate(const struct side *side, zepi_usm_kind_t kind)
{
    void *memory;
    TEST_OK(zepi.usm_allocate(side->context, kind == ZEPI_USM_HOST ? NULL : side->device, kind,
                              ITEMS * sizeof(float), 0, &memory));
    return memory;
}

// sum[i] = a[i] + b[i], on one device.
static void add(const struct side *side, const float *a, const float *b, float *sum)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(a), TEST_POINTER(b), TEST_POINTER(sum)};
    const zepi_module_t module = test_executable(side->context, "vector_add");
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, "vector_add", &kernel));
    const zepi_launch_desc_t desc = test_launch(kernel, 3, arguments, ITEMS);
    TEST_OK(zepi.queue_launch(side->queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
}

static void copy(const struct side *side, void *to, const void *from)
{
    TEST_OK(zepi.queue_copy(side->queue, to, from, ITEMS * sizeof(float), TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(side->queue));
}

static void each_builds_and_runs_its_own_code(void)
{
    zepi_device_image_desc_t codes[DEVICES];
    set_up();
    for (int i = 0; i < DEVICES; i++) {
        const struct side *side = &sides[i];
        float *memory = allocate(side, ZEPI_USM_SHARED);
        for (int item = 0; item < ITEMS; item++)
            memory[item] = (float)(item + i);
        for (int round = 1; round <= 3; round++)
            add(side, memory, memory, memory);
        TEST_OK(zepi.queue_finish(side->queue));
        for (int item = 0; item < ITEMS; item++)
            INTEL_EXPECT(memory[item] == 8.0f * (float)(item + i), "device %d, item %d: %f", i,
                         item, memory[item]);
        TEST_OK(zepi.usm_free(side->context, memory));
        const zepi_module_t module = test_executable(side->context, "vector_add");
        codes[i] = test_native_image(module, side->device, ZEPI_MODULE_EXECUTABLE);
        TEST_OK(zepi.release(module));
    }
    INTEL_EXPECT(codes[0].size_bytes != codes[1].size_bytes ||
                     memcmp(codes[0].bytes, codes[1].bytes, codes[0].size_bytes) != 0,
                 "both devices have the same code");
    for (int i = 0; i < DEVICES; i++)
        test_native_image_finish(&codes[i]);
    tear_down();
}

static zepi_cache_counters_t counters(void)
{
    zepi_cache_counters_t counters = {.size = sizeof(counters)};
    TEST_OK(zepi.cache_get_counters(NULL, ZEPI_CACHE_BINARIES, &counters));
    return counters;
}

// Builds in a context of its own, whose cache of modules is empty, and forgets the code.
static void build_anew(const struct side *side)
{
    zepi_context_t context;
    TEST_OK(zepi.context_create(1, &side->device, &context));
    TEST_OK(zepi.release(test_executable(context, "mark")));
    TEST_OK(zepi.release(context));
    TEST_OK(zepi.cache_clear(NULL));
}

static void expect_counters(uint64_t builds, uint64_t store_hits)
{
    const zepi_cache_counters_t is = counters();
    INTEL_EXPECT(is.builds == builds && is.store_hits == store_hits,
                 "%u builds, %u results from the disk", (unsigned)is.builds,
                 (unsigned)is.store_hits);
}

// Of the process and on disk.
static void a_cache_of_one_is_none_of_the_other(void)
{
    set_up();
    build_anew(&sides[0]);
    build_anew(&sides[0]);
    expect_counters(1, 1);
    build_anew(&sides[1]);
    expect_counters(2, 1);
    build_anew(&sides[1]);
    build_anew(&sides[0]);
    expect_counters(2, 3);
    tear_down();
}

// From device to device by way of host memory: plain, or of the context that copies from there.
static void copies_go_through_host_memory(void)
{
    static float plain[ITEMS], result[ITEMS];
    float *device[DEVICES], *host[DEVICES];
    set_up();
    for (int i = 0; i < DEVICES; i++) {
        device[i] = allocate(&sides[i], ZEPI_USM_DEVICE);
        host[i] = allocate(&sides[i], ZEPI_USM_HOST);
    }
    for (int item = 0; item < ITEMS; item++)
        plain[item] = (float)item;
    copy(&sides[0], device[0], plain);
    add(&sides[0], device[0], device[0], device[0]);
    copy(&sides[0], host[0], device[0]);
    memcpy(host[1], host[0], sizeof(plain));
    copy(&sides[1], device[1], host[1]);
    add(&sides[1], device[1], device[1], device[1]);
    copy(&sides[1], result, device[1]);
    copy(&sides[0], device[0], result);
    add(&sides[0], device[0], device[0], device[0]);
    copy(&sides[0], result, device[0]);
    for (int item = 0; item < ITEMS; item++)
        INTEL_EXPECT(result[item] == 8.0f * (float)item, "item %d: %f", item, result[item]);
    for (int i = 0; i < DEVICES; i++) {
        TEST_OK(zepi.usm_free(sides[i].context, device[i]));
        TEST_OK(zepi.usm_free(sides[i].context, host[i]));
    }
    tear_down();
}

static void objects_of_one_are_refused_by_the_other(void)
{
    zepi_event_t event;
    zepi_context_t context;
    zepi_usm_info_t info = {.size = sizeof(info)};
    set_up();
    const zepi_device_t both[] = {sides[0].device, sides[1].device};
    TEST_FAILS_SAYING(zepi.context_create(2, both, &context), ZEPI_ERROR_INVALID_OBJECT,
                      "different platforms");
    float *memory = allocate(&sides[0], ZEPI_USM_DEVICE);
    TEST_FAILS(zepi.usm_free(sides[1].context, memory), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.usm_get_info(sides[1].context, memory, &info));
    INTEL_EXPECT(info.kind == ZEPI_USM_UNKNOWN, "memory of another context is known");
    TEST_OK(zepi.queue_marker(sides[0].queue, TEST_NO_WAIT, &event));
    TEST_FAILS(zepi.queue_marker(sides[1].queue, (zepi_wait_list_t){&event, 1}, NULL),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    const zepi_module_t module = test_executable(sides[0].context, "empty");
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, "empty", &kernel));
    const zepi_launch_desc_t desc = test_launch(kernel, 0, NULL, 1);
    TEST_FAILS(zepi.queue_launch(sides[1].queue, &desc, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.usm_free(sides[0].context, memory));
    tear_down();
}

// A device is lost, and the other goes on.
static void a_reset_is_of_one_device(void)
{
    zepi_event_t event;
    float *memory[DEVICES];
    set_up();
    for (int i = 0; i < DEVICES; i++) {
        memory[i] = allocate(&sides[i], ZEPI_USM_SHARED);
        for (int item = 0; item < ITEMS; item++)
            memory[i][item] = 1;
        add(&sides[i], memory[i], memory[i], memory[i]);
        TEST_OK(zepi.queue_finish(sides[i].queue));
    }
    intel_set_faults("reset:1:EIO");
    add(&sides[1], memory[1], memory[1], memory[1]);
    TEST_OK(zepi.queue_marker(sides[0].queue, TEST_NO_WAIT, &event));
    INTEL_EXPECT(zepi.queue_finish(sides[1].queue) != ZEPI_SUCCESS, "the device is not lost");
    for (int round = 0; round < 3; round++)
        add(&sides[0], memory[0], memory[0], memory[0]);
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_OK(zepi.queue_finish(sides[0].queue));
    INTEL_EXPECT(memory[0][ITEMS - 1] == 16.0f, "%f", memory[0][ITEMS - 1]);
    INTEL_EXPECT(memory[1][ITEMS - 1] == 2.0f, "%f", memory[1][ITEMS - 1]);
    TEST_OK(zepi.release(event));
    for (int i = 0; i < DEVICES; i++)
        TEST_OK(zepi.usm_free(sides[i].context, memory[i]));
    tear_down();
}

#define TWO_PRODUCTS "DRM_SHIM_PRODUCT=tgl,bmg"
#define EXECUTED "DRM_SHIM_EXEC=1"

static const struct intel_story stories[] = {
    {"each_builds_and_runs_its_own_code",
     each_builds_and_runs_its_own_code,
     {TWO_PRODUCTS, EXECUTED}},
    {"a_cache_of_one_is_none_of_the_other", a_cache_of_one_is_none_of_the_other, {TWO_PRODUCTS}},
    {"copies_go_through_host_memory", copies_go_through_host_memory, {TWO_PRODUCTS, EXECUTED}},
    {"objects_of_one_are_refused_by_the_other",
     objects_of_one_are_refused_by_the_other,
     {TWO_PRODUCTS}},
    {"a_reset_is_of_one_device", a_reset_is_of_one_device, {TWO_PRODUCTS, EXECUTED}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
