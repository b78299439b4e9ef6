// SPDX-License-Identifier: MIT
#include "tools/ze_cpu/ze_newer.h"

#include "fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ZE_CPU_INTEGRATED=0: no host access of a device's memory while nothing runs there.

#define COUNT 4096

static void open_discrete(struct fixture *fixture)
{
    setenv("ZE_CPU_INTEGRATED", "0", 1);
    fixture_init(fixture);
}

static void *device_memory(const struct fixture *fixture, ze_device_handle_t device,
                           size_t size_bytes, size_t alignment)
{
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory;
    MUST(zeMemAllocDevice(fixture->context, &desc, size_bytes, alignment, device, &memory));
    return memory;
}

// The system reads the byte and answers an error where the process would get a signal.
static bool is_readable(const void *byte)
{
    int ends[2];
    cr_assert(pipe(ends) == 0);
    const ssize_t written = write(ends[1], byte, 1);
    cr_assert(written == 1 || errno == EFAULT, "errno %d", errno);
    close(ends[0]);
    close(ends[1]);
    return written == 1;
}

Test(ze_cpu_discrete, says_so_and_promises_what_a_discrete_device_does)
{
    struct fixture fixture;
    open_discrete(&fixture);
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    MUST(zeDeviceGetProperties(fixture.device, &device));
    cr_assert_eq(device.flags, 0, "flags 0x%x", device.flags);
    ze_device_memory_access_properties_t access = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    MUST(zeDeviceGetMemoryAccessProperties(fixture.device, &access));
    const ze_memory_access_cap_flags_t expected =
        ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;
    cr_assert_eq(access.hostAllocCapabilities, expected);
    cr_assert_eq(access.deviceAllocCapabilities, expected);
    cr_assert_eq(access.sharedSingleDeviceAllocCapabilities, expected);
    cr_assert_eq(access.sharedCrossDeviceAllocCapabilities, expected);
    cr_assert_eq(access.sharedSystemAllocCapabilities, 0);
    fixture_finish(&fixture);
}

Test(ze_cpu_discrete, computes_in_memory_that_the_host_cannot_reach)
{
    struct fixture fixture;
    open_discrete(&fixture);
    static int numbers[COUNT];
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
    int *data = device_memory(&fixture, fixture.device, sizeof(numbers), 0);
    int *shared = fixture_shared(&fixture, sizeof(numbers));
    cr_assert(!is_readable(data) && !is_readable(data + COUNT - 1) && is_readable(shared));
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t scale = fixture_kernel(module, "scale");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    struct fixture_event event = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    const int factor = 3;
    MUST(zeKernelSetGroupSize(scale, 64, 1, 1));
    MUST(zeKernelSetArgumentValue(scale, 0, sizeof(data), &data));
    MUST(zeKernelSetArgumentValue(scale, 1, sizeof(factor), &factor));
    MUST(zeCommandListAppendMemoryCopy(list, data, numbers, sizeof(numbers), NULL, 0, NULL));
    MUST(zeCommandListAppendLaunchKernel(list, scale, &(ze_group_count_t){COUNT / 64, 1, 1}, NULL,
                                         0, NULL));
    MUST(zeCommandListAppendMemoryCopy(list, shared, data, sizeof(numbers), event.event, 0, NULL));
    MUST(zeEventHostSynchronize(event.event, UINT64_MAX));
    cr_assert(!is_readable(data), "what signalled the event has ended");
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(shared[i], 3 * i);
    MUST(zeCommandListAppendMemoryFill(list, data, &factor, sizeof(factor), sizeof(numbers), NULL,
                                       0, NULL));
    fixture_synchronize(&fixture, list);
    cr_assert(!is_readable(data));
    fixture_event_finish(&event);
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(scale));
    MUST(zeModuleDestroy(module));
    MUST(zeMemFree(fixture.context, shared));
    MUST(zeMemFree(fixture.context, data));
    fixture_finish(&fixture);
}

Test(ze_cpu_discrete, keeps_alignments_and_gives_every_page_back)
{
    struct fixture fixture;
    open_discrete(&fixture);
    for (size_t alignment = 1; alignment <= (size_t)1 << 22; alignment *= 2) {
        unsigned char *memory = device_memory(&fixture, fixture.device, 5000, alignment);
        cr_assert_eq((uintptr_t)memory % alignment, 0);
        MUST(zeMemFree(fixture.context, memory));
        cr_assert(!is_readable(memory + 4999));
    }
    fixture_finish(&fixture);
}

Test(ze_cpu_discrete, protects_mapped_memory_of_the_device_alike)
{
    struct fixture fixture;
    open_discrete(&fixture);
    size_t page_bytes;
    void *place;
    ze_physical_mem_handle_t physical;
    MUST(zeVirtualMemQueryPageSize(fixture.context, fixture.device, 1, &page_bytes));
    MUST(zeVirtualMemReserve(fixture.context, NULL, page_bytes, &place));
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .size = page_bytes};
    MUST(zePhysicalMemCreate(fixture.context, fixture.device, &desc, &physical));
    MUST(zeVirtualMemMap(fixture.context, place, page_bytes, physical, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_NONE));
    MUST(zeVirtualMemSetAccessAttribute(fixture.context, place, page_bytes,
                                        ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    cr_assert(!is_readable(place));
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_SYNCHRONOUS);
    int in = 42, out = 0;
    MUST(zeCommandListAppendMemoryCopy(list, place, &in, sizeof(in), NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(list, &out, place, sizeof(out), NULL, 0, NULL));
    cr_assert_eq(out, 42);
    cr_assert(!is_readable(place));
    MUST(zeCommandListDestroy(list));
    MUST(zeVirtualMemUnmap(fixture.context, place, page_bytes));
    MUST(zePhysicalMemDestroy(fixture.context, physical));
    MUST(zeVirtualMemFree(fixture.context, place, page_bytes));
    fixture_finish(&fixture);
}

// While a kernel runs on the first device: the accessible memory of both devices.
static void run_on_the_first(bool *out_first, bool *out_second)
{
    struct fixture fixture;
    setenv("ZE_CPU_DEVICES", "2", 1);
    open_discrete(&fixture);
    uint32_t count = 2;
    ze_device_handle_t devices[2];
    ze_bool_t are_peers;
    MUST(zeDeviceGet(fixture.driver, &count, devices));
    MUST(zeDeviceCanAccessPeer(devices[0], devices[1], &are_peers));
    const char *peers = getenv("ZE_CPU_PEERS");
    cr_assert_eq(are_peers, peers == NULL || strcmp(peers, "0") != 0);
    unsigned char *memory[2];
    for (int i = 0; i < 2; i++)
        memory[i] = device_memory(&fixture, devices[i], 1, 0);

    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t meet = fixture_kernel(module, "meet");
    ze_command_list_handle_t list = fixture_immediate(&fixture, 0);
    int *shared = fixture_shared(&fixture, 3 * sizeof(int));
    memset(shared, 0, 3 * sizeof(int));
    volatile int *flags = shared;
    const int rounds = INT32_MAX;
    MUST(zeKernelSetGroupSize(meet, 1, 1, 1));
    for (uint32_t i = 0; i < 2; i++)
        MUST(zeKernelSetArgumentValue(meet, i, sizeof(int *), &(int *){&shared[i]}));
    MUST(zeKernelSetArgumentValue(meet, 2, sizeof(rounds), &rounds));
    MUST(zeKernelSetArgumentValue(meet, 3, sizeof(int *), &(int *){&shared[2]}));
    MUST(zeCommandListAppendLaunchKernel(list, meet, &(ze_group_count_t){1, 1, 1}, NULL, 0, NULL));
    while (flags[0] == 0)
        usleep(100);
    *out_first = is_readable(memory[0]);
    *out_second = is_readable(memory[1]);
    flags[1] = 1;
    fixture_synchronize(&fixture, list);
    cr_assert_eq(shared[2], 1, "the kernel ended before it was asked to");
    cr_assert(!is_readable(memory[0]) && !is_readable(memory[1]));

    MUST(zeMemFree(fixture.context, shared));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(meet));
    MUST(zeModuleDestroy(module));
    for (int i = 0; i < 2; i++)
        MUST(zeMemFree(fixture.context, memory[i]));
    fixture_finish(&fixture);
}

Test(ze_cpu_discrete, lets_a_kernel_use_the_memory_of_peers)
{
    bool first, second;
    run_on_the_first(&first, &second);
    cr_assert(first && second);
}

Test(ze_cpu_discrete, keeps_devices_that_are_no_peers_apart)
{
    bool first, second;
    setenv("ZE_CPU_PEERS", "0", 1);
    run_on_the_first(&first, &second);
    cr_assert(first && !second);
}

Test(ze_cpu_discrete, frees_memory_behind_the_commands_that_use_it)
{
    struct fixture fixture;
    open_discrete(&fixture);
    const ze_memory_free_ext_desc_t later = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                             .freePolicy =
                                                 ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    int *data = device_memory(&fixture, fixture.device, COUNT * sizeof(int), 0);
    struct fixture_event gate = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    const int in = 7;
    int out = 0;
    MUST(zeCommandListAppendMemoryCopy(list, data, &in, sizeof(in), NULL, 1, &gate.event));
    MUST(zeCommandListAppendMemoryCopy(list, &out, data, sizeof(out), NULL, 0, NULL));
    MUST(zeMemFreeExt(fixture.context, &later, data));
    MUST(zeEventHostSignal(gate.event));
    fixture_synchronize(&fixture, list);
    cr_assert_eq(out, 7);
    fixture_event_finish(&gate);
    MUST(zeCommandListDestroy(list));
    fixture_finish(&fixture);
}
