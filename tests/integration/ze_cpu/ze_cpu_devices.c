// SPDX-License-Identifier: MIT
#include "fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// Two devices with two sub-devices each, in one context.

#define PLACES 6
#define COUNT 256

struct place {
    ze_device_handle_t device, root;
    ze_module_handle_t module;
    ze_kernel_handle_t scale;
    ze_command_list_handle_t list;
    int *data; // COUNT, device memory
};

struct machine {
    struct fixture fixture;
    struct place places[PLACES]; // each device and then its sub-devices
};

static ze_command_list_handle_t list_on(const struct fixture *fixture, ze_device_handle_t device)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_handle_t list;
    MUST(zeCommandListCreateImmediate(fixture->context, device, &desc, &list));
    return list;
}

static void open_place(const struct fixture *fixture, struct place *place)
{
    struct fixture there = *fixture;
    there.device = place->device;
    place->module = fixture_module(&there, "kernels", NULL);
    place->scale = fixture_kernel(place->module, "scale");
    place->list = list_on(fixture, place->device);
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory;
    MUST(zeMemAllocDevice(fixture->context, &desc, COUNT * sizeof(int), 0, place->device, &memory));
    place->data = memory;
    MUST(zeKernelSetGroupSize(place->scale, 16, 1, 1));
}

static void open_machine(struct machine *machine)
{
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("ZE_CPU_SUB_DEVICES", "2", 1);
    memset(machine, 0, sizeof(*machine));
    fixture_init(&machine->fixture);
    uint32_t count = 2;
    ze_device_handle_t devices[2];
    MUST(zeDeviceGet(machine->fixture.driver, &count, devices));
    cr_assert_eq(count, 2);
    for (int i = 0; i < 2; i++) {
        struct place *first = &machine->places[3 * i];
        ze_device_handle_t parts[2];
        MUST(zeDeviceGetSubDevices(devices[i], &count, parts));
        cr_assert_eq(count, 2);
        first[0].device = devices[i];
        first[1].device = parts[0];
        first[2].device = parts[1];
        for (int j = 0; j < 3; j++)
            first[j].root = devices[i];
    }
    for (int i = 0; i < PLACES; i++)
        open_place(&machine->fixture, &machine->places[i]);
}

static void close_machine(struct machine *machine)
{
    for (int i = 0; i < PLACES; i++) {
        MUST(zeCommandListDestroy(machine->places[i].list));
        MUST(zeKernelDestroy(machine->places[i].scale));
        MUST(zeModuleDestroy(machine->places[i].module));
        MUST(zeMemFree(machine->fixture.context, machine->places[i].data));
    }
    fixture_finish(&machine->fixture);
}

Test(ze_cpu_devices, are_different_devices_that_reach_each_other)
{
    struct machine machine;
    open_machine(&machine);
    ze_result_t (*get_root)(ze_device_handle_t, ze_device_handle_t *);
    *(void **)&get_root = fixture_function(&machine.fixture, "zeDeviceGetRootDevice");
    ze_device_properties_t properties[PLACES];
    for (int i = 0; i < PLACES; i++) {
        const struct place *place = &machine.places[i];
        ze_device_handle_t root;
        properties[i] = (ze_device_properties_t){.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        MUST(zeDeviceGetProperties(place->device, &properties[i]));
        MUST(get_root(place->device, &root));
        bool is_part = place->device != place->root;
        cr_assert_eq(root, is_part ? place->root : NULL);
        cr_assert_eq((properties[i].flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE) != 0, is_part);
        cr_assert_eq(properties[i].subdeviceId, is_part ? (uint32_t)(i % 3 - 1) : 0);
        uint32_t count = 0;
        MUST(zeDeviceGetSubDevices(place->device, &count, NULL));
        cr_assert_eq(count, is_part ? 0 : 2);
        for (int j = 0; j < i; j++) {
            cr_assert(memcmp(&properties[i].uuid, &properties[j].uuid, sizeof(properties[i].uuid)));
            ze_bool_t can_access = 0;
            MUST(zeDeviceCanAccessPeer(place->device, machine.places[j].device, &can_access));
            cr_assert(can_access);
        }
    }
    close_machine(&machine);
}

// A token goes from place to place: each scales the memory of the one before into its own, and its
// event lets the next one begin.
Test(ze_cpu_devices, hand_work_on_with_events_and_reach_the_memory_of_others)
{
    struct machine machine;
    open_machine(&machine);
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                                     ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                            .count = 2 * PLACES + 1};
    ze_device_handle_t devices[PLACES];
    for (int i = 0; i < PLACES; i++)
        devices[i] = machine.places[i].device;
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[2 * PLACES + 1];
    MUST(zeEventPoolCreate(machine.fixture.context, &pool_desc, PLACES, devices, &pool));
    for (uint32_t i = 0; i < pool_desc.count; i++) {
        const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};
        MUST(zeEventCreate(pool, &desc, &events[i]));
    }
    for (int i = 0; i < COUNT; i++)
        machine.places[PLACES - 1].data[i] = i;
    // The last one first: nothing may depend on the order of submission.
    for (int i = PLACES - 1; i >= 0; i--) {
        struct place *place = &machine.places[i];
        int *source = machine.places[(i + PLACES - 1) % PLACES].data;
        const int factor = i + 1;
        const ze_group_count_t groups = {COUNT / 16, 1, 1};
        MUST(zeCommandListAppendMemoryCopy(place->list, place->data, source, COUNT * sizeof(int),
                                           events[2 * i + 1], 1, &events[2 * i]));
        MUST(zeKernelSetArgumentValue(place->scale, 0, sizeof(place->data), &place->data));
        MUST(zeKernelSetArgumentValue(place->scale, 1, sizeof(factor), &factor));
        MUST(zeCommandListAppendLaunchKernel(place->list, place->scale, &groups, events[2 * i + 2],
                                             1, &events[2 * i + 1]));
    }
    cr_assert_eq(zeEventHostSynchronize(events[2 * PLACES], 20000000), ZE_RESULT_NOT_READY);
    MUST(zeEventHostSignal(events[0]));
    MUST(zeEventHostSynchronize(events[2 * PLACES], UINT64_MAX));
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(machine.places[PLACES - 1].data[i], i * 720, "%d", i);
    // One clock for all.
    ze_kernel_timestamp_result_t times[2];
    for (int i = 1; i < 2 * PLACES; i++) {
        MUST(zeEventQueryKernelTimestamp(events[i], &times[0]));
        MUST(zeEventQueryKernelTimestamp(events[i + 1], &times[1]));
        cr_assert(times[0].global.kernelEnd <= times[1].global.kernelStart);
    }
    for (uint32_t i = 0; i < pool_desc.count; i++)
        MUST(zeEventDestroy(events[i]));
    MUST(zeEventPoolDestroy(pool));
    close_machine(&machine);
}

Test(ze_cpu_devices, tell_whose_memory_it_is_and_share_native_code)
{
    struct machine machine;
    open_machine(&machine);
    size_t size_bytes = 0;
    MUST(zeModuleGetNativeBinary(machine.places[0].module, &size_bytes, NULL));
    uint8_t *binary = malloc(size_bytes);
    cr_assert(binary != NULL);
    MUST(zeModuleGetNativeBinary(machine.places[0].module, &size_bytes, binary));
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = size_bytes,
                                   .pInputModule = binary};
    for (int i = 0; i < PLACES; i++) {
        struct place *place = &machine.places[i];
        ze_memory_allocation_properties_t properties = {
            .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
        ze_device_handle_t device;
        MUST(zeMemGetAllocProperties(machine.fixture.context, place->data, &properties, &device));
        cr_assert(properties.type == ZE_MEMORY_TYPE_DEVICE && device == place->device);
        ze_module_handle_t module;
        MUST(zeModuleCreate(machine.fixture.context, place->device, &desc, &module, NULL));
        ze_kernel_handle_t kernel = fixture_kernel(module, "scale");
        MUST(zeKernelDestroy(kernel));
        MUST(zeModuleDestroy(module));
    }
    free(binary);
    close_machine(&machine);
}

Test(ze_cpu_devices, are_vertices_of_a_fabric_without_links)
{
    struct machine machine;
    open_machine(&machine);
    uint32_t count = 0;
    ze_fabric_vertex_handle_t vertices[2], parts[2], vertex;
    ze_fabric_edge_handle_t edge;
    MUST(zeFabricVertexGetExp(machine.fixture.driver, &count, NULL));
    cr_assert_eq(count, 2);
    MUST(zeFabricVertexGetExp(machine.fixture.driver, &count, vertices));
    MUST(zeFabricVertexGetSubVerticesExp(vertices[1], &count, parts));
    cr_assert_eq(count, 2);
    for (int i = 0; i < PLACES; i++) {
        ze_device_handle_t device = machine.places[i].device, found;
        ze_device_properties_t expected = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        ze_fabric_vertex_exp_properties_t properties = {
            .stype = ZE_STRUCTURE_TYPE_FABRIC_VERTEX_EXP_PROPERTIES, .remote = 1};
        MUST(zeDeviceGetFabricVertexExp(device, &vertex));
        MUST(zeFabricVertexGetDeviceExp(vertex, &found));
        MUST(zeFabricVertexGetPropertiesExp(vertex, &properties));
        MUST(zeDeviceGetProperties(device, &expected));
        cr_assert(found == device && properties.type == (i % 3 == 0 ? 1 : 2) && !properties.remote);
        cr_assert_eq(memcmp(&properties.uuid, &expected.uuid, sizeof(expected.uuid)), 0);
    }
    cr_assert_eq(vertex, parts[1]);
    count = 1;
    MUST(zeFabricEdgeGetExp(vertices[0], vertices[1], &count, &edge));
    cr_assert_eq(count, 0);
    close_machine(&machine);
}

Test(ze_cpu_devices, run_kernels_of_a_device_on_its_parts_and_on_no_other)
{
    struct machine machine;
    open_machine(&machine);
    struct place *root = &machine.places[0];
    const ze_group_count_t groups = {COUNT / 16, 1, 1};
    const int factor = 2;
    MUST(zeKernelSetArgumentValue(root->scale, 0, sizeof(root->data), &root->data));
    MUST(zeKernelSetArgumentValue(root->scale, 1, sizeof(factor), &factor));
    for (int i = 0; i < COUNT; i++)
        root->data[i] = i;
    for (int i = 0; i < PLACES; i++) {
        ze_result_t result = zeCommandListAppendLaunchKernel(machine.places[i].list, root->scale,
                                                             &groups, NULL, 0, NULL);
        cr_assert_eq(result, i < 3 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT, "%d", i);
        fixture_synchronize(&machine.fixture, machine.places[i].list);
    }
    cr_assert_eq(root->data[COUNT - 1], 8 * (COUNT - 1));
    close_machine(&machine);
}

Test(ze_cpu_devices, execute_lists_that_were_made_for_them_only)
{
    struct machine machine;
    open_machine(&machine);
    const struct fixture *fixture = &machine.fixture;
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_command_list_desc_t copy_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                              .commandQueueGroupOrdinal = 1};
    ze_command_list_handle_t list, copies;
    MUST(zeCommandListCreate(fixture->context, machine.places[1].device, &desc, &list));
    MUST(zeCommandListCreate(fixture->context, machine.places[1].device, &copy_desc, &copies));
    MUST(zeCommandListClose(list));
    MUST(zeCommandListClose(copies));
    for (int i = 0; i < PLACES; i++) {
        const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
        ze_command_queue_handle_t queue;
        MUST(zeCommandQueueCreate(fixture->context, machine.places[i].device, &queue_desc, &queue));
        cr_assert_eq(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
                     i == 1 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT, "%d", i);
        if (i == 1)
            cr_assert_eq(zeCommandQueueExecuteCommandLists(queue, 1, &copies, NULL),
                         ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
        MUST(zeCommandQueueSynchronize(queue, UINT64_MAX));
        MUST(zeCommandQueueDestroy(queue));
    }
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandListDestroy(copies));
    close_machine(&machine);
}
