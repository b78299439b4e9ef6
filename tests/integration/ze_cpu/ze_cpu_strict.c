// SPDX-License-Identifier: MIT
//
// What Intel's driver takes though it is wrong, and ZE_CPU_STRICT refuses.
#include "fixture.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096

static ze_result_t reset_event_of_destroyed_list(const char *is_strict)
{
    setenv("ZE_CPU_STRICT", is_strict, 1);
    struct fixture fixture;
    fixture_init(&fixture);
    struct fixture_event event = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    MUST(zeCommandListAppendSignalEvent(list, event.event));
    fixture_synchronize(&fixture, list);
    MUST(zeCommandListDestroy(list));
    const ze_result_t result = zeEventHostReset(event.event);
    fixture_event_finish(&event);
    fixture_finish(&fixture);
    return result;
}

Test(ze_cpu_strict, refuses_an_event_whose_list_was_destroyed)
{
    cr_assert_eq(reset_event_of_destroyed_list("1"), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

Test(ze_cpu_strict, is_needed_to_refuse_an_event_whose_list_was_destroyed)
{
    MUST(reset_event_of_destroyed_list("0"));
}

static unsigned char *allocate(const struct fixture *fixture, int kind, size_t size_bytes)
{
    const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory;
    if (kind == 0)
        MUST(zeMemAllocHost(fixture->context, &host_desc, size_bytes, 0, &memory));
    else if (kind == 1)
        MUST(zeMemAllocDevice(fixture->context, &device_desc, size_bytes, 0, fixture->device,
                              &memory));
    else
        MUST(zeMemAllocShared(fixture->context, &device_desc, &host_desc, size_bytes, 0,
                              fixture->device, &memory));
    return memory;
}

// Memory that was used before is zeros again, and as many bytes as pages have may be written.
Test(ze_cpu_strict, is_not_needed_for_memory_of_whole_pages_of_zeros)
{
    static const size_t sizes[] = {1, 100, PAGE, PAGE + 1, 300 * PAGE};
    unsigned char *memory[3][5];
    setenv("ZE_CPU_STRICT", "0", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    for (int round = 0; round < 3; round++)
        for (int kind = 0; kind < 3; kind++) {
            for (int i = 0; i < 5; i++) {
                const size_t bytes = (sizes[i] + PAGE - 1) / PAGE * PAGE;
                memory[kind][i] = allocate(&fixture, kind, sizes[i]);
                cr_assert_eq((uintptr_t)memory[kind][i] % PAGE, 0);
                for (size_t j = 0; j < bytes; j++)
                    cr_assert_eq(memory[kind][i][j], 0, "%d: byte %zu of %zu", kind, j, sizes[i]);
                memset(memory[kind][i], 0x77, bytes);
            }
            for (int i = 0; i < 5; i++)
                MUST(zeMemFree(fixture.context, memory[kind][i]));
        }
    fixture_finish(&fixture);
}

static void write_behind(int kind, size_t size_bytes, size_t position)
{
    setenv("ZE_CPU_STRICT", "1", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    unsigned char *memory = allocate(&fixture, kind, size_bytes);
    cr_assert(memory[0] != 0 && memory[size_bytes - 1] != 0, "it looks like memory of zeros");
    memset(memory, 0, size_bytes);
    ((volatile unsigned char *)memory)[position] = 1;
    zeMemFree(fixture.context, memory);
}

Test(ze_cpu_strict, lets_memory_be_written_up_to_its_end)
{
    for (int kind = 0; kind < 3; kind++)
        write_behind(kind, 2 * PAGE, 2 * PAGE - 1);
    for (int kind = 0; kind < 3; kind++)
        write_behind(kind, 10, 9);
}

Test(ze_cpu_strict, ends_a_process_that_writes_to_the_page_behind, .signal = SIGSEGV)
{
    write_behind(1, 2 * PAGE, 2 * PAGE);
}

Test(ze_cpu_strict, ends_a_process_that_wrote_to_the_rest_of_a_page, .signal = SIGABRT)
{
    write_behind(2, 10, 10);
}

// The numbers are 8 bytes wide, the sizes are those of 4 bytes, and the other way around.
Test(ze_cpu_strict, is_not_needed_for_arguments_of_other_sizes)
{
    setenv("ZE_CPU_STRICT", "0", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "store_numbers");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_SYNCHRONOUS);
    const ze_group_count_t one = {1, 1, 1};
    long *out = fixture_shared(&fixture, 2 * sizeof(*out));
    const long wide = 0x700000005;
    MUST(zeKernelSetArgumentValue(kernel, 0, 4, &out)); // pointers are read whole
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(int), &wide));
    MUST(zeKernelSetArgumentValue(kernel, 2, sizeof(wide), &wide));
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
    cr_assert(out[0] == 5 && out[1] == 5, "%lx, %lx", out[0], out[1]);
    // What is not given stays.
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(wide), &wide));
    MUST(zeKernelSetArgumentValue(kernel, 1, 1, "\x06"));
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
    cr_assert_eq(out[0], 0x700000006);
    cr_assert_neq(zeKernelSetArgumentValue(kernel, 2, 0, &wide), ZE_RESULT_SUCCESS);
    MUST(zeMemFree(fixture.context, out));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}
