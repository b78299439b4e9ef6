// SPDX-License-Identifier: MIT
// A GPU of two tiles as one device, as two devices and as parts of one, by the variables of Level
// Zero. Each has right numbers, and the tiles that have to run a kernel do: a tile executes its
// part of the groups alone, so that a wrong split makes wrong numbers.
#include "intel.h"

#include "ur_fixture.h"

#include <string.h>

#define TILES 2
#define GROUP 16
#define GROUPS 7 // so that the tiles' parts differ
#define ITEMS ((size_t)GROUP * GROUPS)

// Brings up all devices, of which there have to be so many.
static void set_up(uint32_t count)
{
    ur_load_device();
    UR_OK(urDeviceGet(gear.platform, UR_DEVICE_TYPE_ALL, UR_TEST_DEVICES, gear.devices,
                      &gear.device_count));
    INTEL_EXPECT(gear.device_count == count, "%u devices", gear.device_count);
}

static void tear_down(void)
{
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}

static const ur_device_partition_property_t by_tile = {
    .type = UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
    .value.affinity_domain = UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE};
static const ur_device_partition_properties_t partition = {
    .stype = UR_STRUCTURE_TYPE_DEVICE_PARTITION_PROPERTIES,
    .pProperties = &by_tile,
    .PropCount = 1};

static uint32_t parts_of(ur_device_handle_t device)
{
    uint32_t count = 0;
    UR_OK(urDeviceGetInfo(device, UR_DEVICE_INFO_PARTITION_MAX_SUB_DEVICES, sizeof(count), &count,
                          NULL));
    return count;
}

static uint64_t memory_of(ur_device_handle_t device)
{
    uint64_t bytes = 0;
    UR_OK(urDeviceGetInfo(device, UR_DEVICE_INFO_GLOBAL_MEM_SIZE, sizeof(bytes), &bytes, NULL));
    return bytes;
}

// The kernel driver's queues that the kernels of the trace ran in: their number, and the first.
static size_t queues_of_kernels(unsigned *out_first)
{
    struct intel_trace trace = intel_trace_read();
    unsigned queues[8] = {0};
    size_t count = 0;
    for (size_t i = 0; i < trace.count; i++) {
        size_t known = 0;
        if (trace.commands[i].kind != INTEL_BEGIN)
            continue;
        while (known < count && queues[known] != trace.commands[i].queue)
            known++;
        if (known == count && count < 8)
            queues[count++] = trace.commands[i].queue;
    }
    intel_trace_finish(&trace);
    *out_first = queues[0];
    return count;
}

// Computes on a device of a context, in memory of its own; the first queue of the kernels that
// `tiles` tiles ran.
static unsigned compute(ur_context_handle_t context, ur_device_handle_t device, size_t tiles)
{
    static float numbers[ITEMS];
    const size_t offset = 0, items = ITEMS, group = GROUP;
    unsigned first;
    gear.context = context;
    gear.device = device;
    for (size_t i = 0; i < ITEMS; i++)
        numbers[i] = (float)i;
    const ur_queue_handle_t queue = ur_queue(device, 0);
    const ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    void *memory = ur_device_memory(sizeof(numbers));
    const ur_exp_kernel_arg_properties_t arguments[] = {
        UR_POINTER(0, memory), UR_POINTER(1, memory), UR_POINTER(2, memory)};
    UR_OK(urEnqueueUSMMemcpy(queue, false, memory, numbers, sizeof(numbers), 0, NULL, NULL));
    UR_OK(urQueueFinish(queue));
    queues_of_kernels(&first);
    for (int round = 0; round < 3; round++)
        UR_OK(urEnqueueKernelLaunchWithArgsExp(queue, kernel, 1, &offset, &items, &group, 3,
                                               arguments, NULL, 0, NULL, NULL));
    UR_OK(urQueueFinish(queue));
    const size_t count = queues_of_kernels(&first);
    UR_OK(urEnqueueUSMMemcpy(queue, true, numbers, memory, sizeof(numbers), 0, NULL, NULL));
    for (size_t i = 0; i < ITEMS; i++)
        INTEL_EXPECT(numbers[i] == 8.0f * (float)i, "item %zu: %f", i, numbers[i]);
    INTEL_EXPECT(count == tiles, "%zu tiles ran the kernel", count);
    ur_free(memory);
    UR_OK(urKernelRelease(kernel));
    UR_OK(urQueueRelease(queue));
    return first;
}

// In a context of its own.
static unsigned compute_alone(ur_device_handle_t device, size_t tiles)
{
    ur_context_handle_t context;
    UR_OK(urContextCreate(1, &device, NULL, &context));
    const unsigned queue = compute(context, device, tiles);
    UR_OK(urContextRelease(context));
    return queue;
}

// FLAT and COMBINED.
static void tiles_are_devices(void)
{
    ur_context_handle_t context;
    static const float number = 3.5f;
    float result = 0;
    set_up(TILES);
    for (int i = 0; i < TILES; i++) {
        INTEL_EXPECT(parts_of(gear.devices[i]) == 0, "a tile has parts");
        compute_alone(gear.devices[i], 1);
    }
    UR_OK(urContextCreate(TILES, gear.devices, NULL, &context));
    const unsigned first = compute(context, gear.devices[0], 1);
    const unsigned second = compute(context, gear.devices[1], 1);
    INTEL_EXPECT(first != second, "both devices are one tile");
    // From tile to tile.
    void *memory[TILES];
    for (int i = 0; i < TILES; i++)
        UR_OK(urUSMDeviceAlloc(context, gear.devices[i], NULL, NULL, sizeof(number), &memory[i]));
    const ur_queue_handle_t queue = ur_queue(gear.devices[1], 0);
    UR_OK(urEnqueueUSMMemcpy(queue, true, memory[0], &number, sizeof(number), 0, NULL, NULL));
    UR_OK(urEnqueueUSMMemcpy(queue, true, memory[1], memory[0], sizeof(number), 0, NULL, NULL));
    UR_OK(urEnqueueUSMMemcpy(queue, true, &result, memory[1], sizeof(number), 0, NULL, NULL));
    INTEL_EXPECT(result == number, "%f", result);
    for (int i = 0; i < TILES; i++)
        ur_free(memory[i]);
    UR_OK(urQueueRelease(queue));
    UR_OK(urContextRelease(context));
    tear_down();
}

// COMPOSITE: both tiles run each kernel of the device, and one those of a part.
static void tiles_are_parts_of_one_device(void)
{
    ur_device_handle_t parts[TILES];
    ur_context_handle_t context;
    unsigned queues[TILES];
    uint32_t count = 0;
    set_up(1);
    const ur_device_handle_t whole = gear.device;
    INTEL_EXPECT(parts_of(whole) == TILES, "%u parts", parts_of(whole));
    compute_alone(whole, TILES);
    UR_OK(urDevicePartition(whole, &partition, TILES, parts, &count));
    for (int i = 0; i < TILES; i++) {
        INTEL_EXPECT(memory_of(parts[i]) * TILES == memory_of(whole), "a part has not its share");
        compute_alone(parts[i], 1);
    }
    // In the whole's context, with the whole's code.
    UR_OK(urContextCreate(1, &whole, NULL, &context));
    compute(context, whole, TILES);
    for (int i = 0; i < TILES; i++)
        queues[i] = compute(context, parts[i], 1);
    INTEL_EXPECT(queues[0] != queues[1], "both parts are one tile");
    UR_OK(urContextRelease(context));
    for (int i = 0; i < TILES; i++)
        UR_OK(urDeviceRelease(parts[i]));
    tear_down();
}

// ZE_AFFINITY_MASK: one tile, which the story's environment names.
static void a_mask_leaves_one_tile(void)
{
    set_up(1);
    INTEL_EXPECT(parts_of(gear.device) == 0, "a tile has parts");
    INTEL_EXPECT(memory_of(gear.device) == UINT64_C(64) << 30, "%u GiB",
                 (unsigned)(memory_of(gear.device) >> 30));
    compute_alone(gear.device, 1);
    tear_down();
}

#define PVC "DRM_SHIM_PRODUCT=pvc", "DRM_SHIM_EXEC=1"
#define HIERARCHY(name) "ZE_FLAT_DEVICE_HIERARCHY=" name

static const struct intel_story stories[] = {
    {"tiles_are_devices", tiles_are_devices, {PVC, HIERARCHY("FLAT")}},
    {"tiles_are_devices_of_a_combined_one", tiles_are_devices, {PVC, HIERARCHY("COMBINED")}},
    {"tiles_are_parts_of_one_device", tiles_are_parts_of_one_device, {PVC, HIERARCHY("COMPOSITE")}},
    {"a_mask_leaves_the_second_part",
     a_mask_leaves_one_tile,
     {PVC, HIERARCHY("COMPOSITE"), "ZE_AFFINITY_MASK=0.1"}},
    {"a_mask_leaves_the_first_device", a_mask_leaves_one_tile, {PVC, "ZE_AFFINITY_MASK=0"}},
    {"a_mask_leaves_the_second_device", a_mask_leaves_one_tile, {PVC, "ZE_AFFINITY_MASK=1"}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
