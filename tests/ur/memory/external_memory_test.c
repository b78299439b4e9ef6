// SPDX-License-Identifier: MIT
// Memory behind a file descriptor, imported and used as device memory: on ze_cpu that of a memfd,
// on other drivers memory that the driver exports.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <level_zero/ze_api.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES ((size_t)1 << 16)
#define ITEMS ((int)(BYTES / sizeof(int32_t)))

TestSuite(external_memory, .init = ur_set_up, .fini = ur_tear_down);

// The memory as another interface has it.
struct source {
    int32_t *numbers; // for copies of the adapter
    int descriptor;
    ze_context_handle_t context; // NULL: a memfd
};

static void make_exported(struct source *source)
{
    ur_native_handle_t context, device;
    UR_OK(urContextGetNativeHandle(gear.context, &context));
    UR_OK(urDeviceGetNativeHandle(gear.device, &device));
    source->context = (ze_context_handle_t)context;
    const ze_external_memory_export_desc_t export = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
        .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                             .pNext = &export};
    ze_external_memory_export_fd_t exported = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                               .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &exported};
    TEST_ZE_OK(zeMemAllocDevice(source->context, &desc, BYTES, 0, (ze_device_handle_t)device,
                                (void **)&source->numbers));
    TEST_ZE_OK(zeMemGetAllocProperties(source->context, source->numbers, &properties, NULL));
    source->descriptor = exported.fd;
}

static struct source make_source(void)
{
    struct source source = {.descriptor = -1};
    if (test_env_is_on_intel_driver()) {
        make_exported(&source);
        return source;
    }
    source.descriptor = memfd_create("another interface", MFD_CLOEXEC);
    cr_assert(source.descriptor >= 0 && ftruncate(source.descriptor, BYTES) == 0);
    source.numbers = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, source.descriptor, 0);
    cr_assert(source.numbers != MAP_FAILED);
    return source;
}

static void finish_source(struct source *source)
{
    if (source->context)
        TEST_ZE_OK(zeMemFree(source->context, source->numbers));
    else
        munmap(source->numbers, BYTES);
}

static ur_result_t import_as(ur_exp_external_mem_type_t type, size_t size, int descriptor,
                             ur_exp_external_mem_handle_t *out_memory)
{
    ur_exp_file_descriptor_t file = {.stype = UR_STRUCTURE_TYPE_EXP_FILE_DESCRIPTOR,
                                     .fd = descriptor};
    ur_exp_external_mem_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_EXTERNAL_MEM_DESC,
                                       .pNext = &file};
    return urBindlessImagesImportExternalMemoryExp(gear.context, gear.device, size, type, &desc,
                                                   out_memory);
}

static ur_exp_external_mem_handle_t import(const struct source *source)
{
    ur_exp_external_mem_handle_t memory;
    UR_OK(import_as(UR_EXP_EXTERNAL_MEM_TYPE_OPAQUE_FD, BYTES, source->descriptor, &memory));
    return memory;
}

static int32_t *map(ur_exp_external_mem_handle_t memory, uint64_t from, uint64_t size)
{
    void *start;
    UR_OK(urBindlessImagesMapExternalLinearMemoryExp(gear.context, gear.device, from, size, memory,
                                                     &start));
    return start;
}

static void unmap(void *start)
{
    UR_OK(urBindlessImagesFreeMappedLinearMemoryExp(gear.context, gear.device, start));
}

static void release(ur_exp_external_mem_handle_t memory)
{
    UR_OK(urBindlessImagesReleaseExternalMemoryExp(gear.context, gear.device, memory));
}

static void copy(void *destination, const void *source, size_t size)
{
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, destination, source, size, 0, NULL, NULL));
}

static void fill(int32_t *memory, int32_t number, size_t count)
{
    UR_OK(urEnqueueUSMFill(gear.queue, memory, sizeof(number), &number, count * sizeof(number), 0,
                           NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
}

static int32_t number_at(const int32_t *memory)
{
    int32_t number;
    copy(&number, memory, sizeof(number));
    return number;
}

Test(external_memory, a_kernel_reads_and_writes_memory_of_another_interface)
{
    struct source source = make_source();
    ur_kernel_handle_t kernel = ur_kernel("negate", "negate");
    int32_t numbers[256];
    for (int i = 0; i < 256; i++)
        numbers[i] = i + 1;
    copy(source.numbers, numbers, sizeof(numbers));
    ur_exp_external_mem_handle_t memory = import(&source);
    int32_t *mapped = map(memory, 0, BYTES);
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, mapped)};
    UR_OK(ur_launch(gear.queue, kernel, 256, 1, arguments, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    copy(numbers, source.numbers, sizeof(numbers));
    for (int i = 0; i < 256; i++)
        cr_assert_eq(numbers[i], -(i + 1));
    unmap(mapped);
    release(memory);
    finish_source(&source);
    UR_OK(urKernelRelease(kernel));
}

Test(external_memory, is_mapped_in_pieces)
{
    struct source source = make_source();
    ur_exp_external_mem_handle_t memory = import(&source);
    int32_t *all = map(memory, 0, BYTES);
    int32_t *second_half = map(memory, BYTES / 2, BYTES / 2);
    int32_t *last = map(memory, BYTES - 4, 4);
    fill(all, 1, ITEMS);
    fill(second_half, 2, ITEMS / 2);
    fill(last, 3, 1);
    cr_assert_eq(number_at(source.numbers), 1);
    cr_assert_eq(number_at(source.numbers + ITEMS / 2 - 1), 1);
    cr_assert_eq(number_at(source.numbers + ITEMS / 2), 2);
    cr_assert_eq(number_at(source.numbers + ITEMS - 1), 3);
    unmap(second_half);
    UR_FAILS(urBindlessImagesFreeMappedLinearMemoryExp(gear.context, gear.device, second_half),
             UR_RESULT_ERROR_INVALID_VALUE);
    // A mapping is good without the object that it was made of.
    release(memory);
    cr_assert_eq(number_at(last), 3);
    unmap(all);
    unmap(last);
    finish_source(&source);
}

Test(external_memory, pieces_that_reach_past_the_end_are_refused)
{
    static const struct {
        uint64_t offset, size;
    } wrong[] = {{0, 0},         {0, BYTES + 1},  {BYTES, 1},
                 {BYTES - 1, 2}, {UINT64_MAX, 2}, {2, UINT64_MAX},
                 {BYTES + 1, 0}, {1, BYTES},      {UINT64_MAX, UINT64_MAX}};
    struct source source = make_source();
    ur_exp_external_mem_handle_t memory = import(&source);
    void *start = NULL;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        UR_FAILS(urBindlessImagesMapExternalLinearMemoryExp(
                     gear.context, gear.device, wrong[i].offset, wrong[i].size, memory, &start),
                 UR_RESULT_ERROR_INVALID_VALUE);
    cr_assert_null(start);
    release(memory);
    finish_source(&source);
}

// Of a command that is enqueued: the memory goes when that is complete.
Test(external_memory, may_be_unmapped_while_commands_use_it)
{
    struct source source = make_source();
    ur_exp_external_mem_handle_t memory = import(&source);
    struct host_event gate = host_event_make();
    const int32_t number = 9;
    int32_t *mapped = map(memory, 0, BYTES);
    UR_OK(
        urEnqueueUSMFill(gear.queue, mapped, sizeof(number), &number, BYTES, 1, &gate.event, NULL));
    unmap(mapped);
    release(memory);
    host_event_signal(&gate);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(number_at(source.numbers + ITEMS - 1), 9);
    host_event_release(&gate);
    finish_source(&source);
}

// The descriptor is the adapter's once it was imported, and the host's if that fails.
Test(external_memory, takes_the_descriptor_when_it_succeeds)
{
    struct source source = make_source();
    ur_exp_external_mem_handle_t memory = NULL;
    const size_t wrong[] = {0, BYTES + ((size_t)1 << 20)};
    for (int i = 0; i < 2; i++)
        UR_FAILS(import_as(UR_EXP_EXTERNAL_MEM_TYPE_DMA_BUF, wrong[i], source.descriptor, &memory),
                 UR_RESULT_ERROR_INVALID_VALUE);
    cr_assert(!memory && fcntl(source.descriptor, F_GETFD) >= 0);
    UR_OK(import_as(UR_EXP_EXTERNAL_MEM_TYPE_DMA_BUF, BYTES, source.descriptor, &memory));
    cr_assert(fcntl(source.descriptor, F_GETFD) < 0 && errno == EBADF);
    release(memory);
    finish_source(&source);
}

Test(external_memory, what_is_no_such_memory_is_refused)
{
    ur_exp_external_mem_handle_t memory = NULL;
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    const int descriptors[] = {-1, 1 << 20, ends[0]};
    for (int i = 0; i < 3; i++)
        UR_FAILS(import_as(UR_EXP_EXTERNAL_MEM_TYPE_OPAQUE_FD, BYTES, descriptors[i], &memory),
                 UR_RESULT_ERROR_INVALID_VALUE);
    cr_assert_geq(fcntl(ends[0], F_GETFD), 0);
    cr_assert_null(memory);
    close(ends[0]);
    close(ends[1]);
}

Test(external_memory, of_files_is_offered_and_that_of_windows_is_not)
{
    static const struct {
        ur_exp_external_mem_type_t type;
        ur_bool_t is_offered;
    } kinds[] = {{UR_EXP_EXTERNAL_MEM_TYPE_OPAQUE_FD, true},
                 {UR_EXP_EXTERNAL_MEM_TYPE_DMA_BUF, true},
                 {UR_EXP_EXTERNAL_MEM_TYPE_WIN32_NT, false},
                 {UR_EXP_EXTERNAL_MEM_TYPE_WIN32_NT_DX12_RESOURCE, false},
                 {UR_EXP_EXTERNAL_MEM_TYPE_WIN32_NT_DX11_RESOURCE, false}};
    ur_exp_external_mem_handle_t memory = NULL;
    ur_bool_t is_offered = false;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP,
                          sizeof(is_offered), &is_offered, NULL));
    cr_assert(is_offered);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        UR_OK(urBindlessImagesSupportsImportingHandleTypeExp(gear.device, kinds[i].type,
                                                             &is_offered));
        cr_assert_eq(is_offered, kinds[i].is_offered);
        if (!kinds[i].is_offered)
            UR_FAILS(import_as(kinds[i].type, BYTES, 0, &memory),
                     UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    }
    cr_assert_null(memory);
}

// ---- Export ----

#define OPAQUE UR_EXP_EXTERNAL_MEM_TYPE_OPAQUE_FD

static int32_t *allocate_exportable(void)
{
    void *memory;
    UR_OK(urMemoryExportAllocExportableMemoryExp(gear.context, gear.device, 0, BYTES, OPAQUE,
                                                 &memory));
    return memory;
}

static int export(void *memory)
{
    int descriptor = -1;
    UR_OK(urMemoryExportExportMemoryHandleExp(gear.context, gear.device, OPAQUE, memory,
                                              &descriptor));
    cr_assert_geq(descriptor, 0);
    return descriptor;
}

static ur_result_t free_exportable(void *memory)
{
    return urMemoryExportFreeExportableMemoryExp(gear.context, gear.device, memory);
}

Test(external_memory, that_is_exported_is_the_same_where_it_is_imported)
{
    ur_kernel_handle_t kernel = ur_kernel("negate", "negate");
    int32_t *own = allocate_exportable();
    struct source source = {.numbers = own, .descriptor = export(own)};
    ur_exp_external_mem_handle_t memory = import(&source);
    int32_t *mapped = map(memory, 0, BYTES);
    cr_assert(mapped != own);
    fill(own, 7, ITEMS);
    const ur_exp_kernel_arg_properties_t theirs[] = {UR_POINTER(0, mapped)};
    UR_OK(ur_launch(gear.queue, kernel, 256, 1, theirs, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    cr_assert(number_at(own + 255) == -7 && number_at(own + 256) == 7);
    const ur_exp_kernel_arg_properties_t ours[] = {UR_POINTER(0, own)};
    UR_OK(ur_launch(gear.queue, kernel, 256, 1, ours, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(number_at(mapped + 255), 7);
    unmap(mapped);
    release(memory);
    UR_OK(free_exportable(own));
    UR_OK(urKernelRelease(kernel));
}

// Each export is a descriptor of the host's, and lives longer than the memory.
Test(external_memory, is_exported_more_than_once)
{
    int32_t *own = allocate_exportable();
    const int first = export(own);
    close(first);
    struct source source = {.numbers = own, .descriptor = export(own)};
    const int other = export(own);
    cr_assert_neq(other, source.descriptor);
    fill(own, 5, ITEMS);
    ur_exp_external_mem_handle_t memory = import(&source);
    int32_t *mapped = map(memory, 0, BYTES);
    UR_OK(free_exportable(own));
    cr_assert(fcntl(other, F_GETFD) >= 0);
    cr_assert_eq(number_at(mapped + ITEMS - 1), 5);
    unmap(mapped);
    release(memory);
    close(other);
}

// It is USM like other.
Test(external_memory, for_export_is_known_and_freed_once)
{
    struct host_event gate = host_event_make();
    ur_usm_type_t type = UR_USM_TYPE_UNKNOWN;
    size_t size = 0;
    int descriptor = -1;
    void *plain;
    int32_t *own = allocate_exportable();
    UR_OK(urUSMGetMemAllocInfo(gear.context, own + 1, UR_USM_ALLOC_INFO_TYPE, sizeof(type), &type,
                               NULL));
    UR_OK(urUSMGetMemAllocInfo(gear.context, own + 1, UR_USM_ALLOC_INFO_SIZE, sizeof(size), &size,
                               NULL));
    cr_assert(type == UR_USM_TYPE_DEVICE && size == BYTES);
    UR_FAILS(free_exportable(own + 1), UR_RESULT_ERROR_INVALID_VALUE);
    const int32_t number = 3;
    UR_OK(urEnqueueUSMFill(gear.queue, own, sizeof(number), &number, BYTES, 1, &gate.event, NULL));
    UR_OK(free_exportable(own));
    UR_FAILS(free_exportable(own), UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(
        urMemoryExportExportMemoryHandleExp(gear.context, gear.device, OPAQUE, own, &descriptor),
        UR_RESULT_ERROR_INVALID_VALUE);
    host_event_signal(&gate);
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urUSMDeviceAlloc(gear.context, gear.device, NULL, NULL, BYTES, &plain));
    UR_FAILS(free_exportable(plain), UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(
        urMemoryExportExportMemoryHandleExp(gear.context, gear.device, OPAQUE, plain, &descriptor),
        UR_RESULT_ERROR_INVALID_VALUE);
    cr_assert_eq(descriptor, -1);
    UR_OK(urUSMFree(gear.context, plain));
    UR_OK(urUSMFree(gear.context, allocate_exportable()));
    host_event_release(&gate);
}

Test(external_memory, for_export_is_refused_with_wrong_arguments)
{
    static const struct {
        size_t alignment, size;
        int type;
        ur_result_t result;
    } wrong[] = {
        {0, 0, OPAQUE, UR_RESULT_ERROR_INVALID_USM_SIZE},
        {0, SIZE_MAX, OPAQUE, UR_RESULT_ERROR_UNSUPPORTED_SIZE},
        {3, BYTES, OPAQUE, UR_RESULT_ERROR_UNSUPPORTED_ALIGNMENT},
        {0, BYTES, UR_EXP_EXTERNAL_MEM_TYPE_WIN32_NT, UR_RESULT_ERROR_UNSUPPORTED_FEATURE},
        {0, BYTES, UR_EXP_EXTERNAL_MEM_TYPE_WIN32_NT_DX11_RESOURCE,
         UR_RESULT_ERROR_UNSUPPORTED_FEATURE},
        {0, BYTES, 1000, UR_RESULT_ERROR_INVALID_ENUMERATION},
    };
    const ur_result_t no_pointer = UR_RESULT_ERROR_INVALID_NULL_POINTER;
    const ur_result_t no_handle = UR_RESULT_ERROR_INVALID_NULL_HANDLE;
    ur_bool_t is_offered = false;
    void *memory = NULL;
    int descriptor = -1;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_MEMORY_EXPORT_EXPORTABLE_DEVICE_MEM_EXP,
                          sizeof(is_offered), &is_offered, NULL));
    cr_assert(is_offered);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        UR_FAILS(urMemoryExportAllocExportableMemoryExp(
                     gear.context, gear.device, wrong[i].alignment, wrong[i].size,
                     (ur_exp_external_mem_type_t)wrong[i].type, &memory),
                 wrong[i].result);
    UR_FAILS(urMemoryExportAllocExportableMemoryExp(NULL, gear.device, 0, BYTES, OPAQUE, &memory),
             no_handle);
    UR_FAILS(urMemoryExportAllocExportableMemoryExp(gear.context, NULL, 0, BYTES, OPAQUE, &memory),
             no_handle);
    UR_FAILS(
        urMemoryExportAllocExportableMemoryExp(gear.context, gear.device, 0, BYTES, OPAQUE, NULL),
        no_pointer);
    cr_assert_null(memory);
    UR_FAILS(free_exportable(NULL), no_pointer);
    memory = allocate_exportable();
    UR_FAILS(urMemoryExportFreeExportableMemoryExp(NULL, gear.device, memory), no_handle);
    UR_FAILS(urMemoryExportFreeExportableMemoryExp(gear.context, NULL, memory), no_handle);
    UR_FAILS(urMemoryExportExportMemoryHandleExp(gear.context, gear.device, OPAQUE, memory, NULL),
             no_pointer);
    UR_FAILS(
        urMemoryExportExportMemoryHandleExp(gear.context, gear.device, OPAQUE, NULL, &descriptor),
        no_pointer);
    UR_FAILS(urMemoryExportExportMemoryHandleExp(
                 gear.context, gear.device, UR_EXP_EXTERNAL_MEM_TYPE_DMA_BUF, memory, &descriptor),
             UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urMemoryExportExportMemoryHandleExp(
                 gear.context, gear.device, UR_EXP_EXTERNAL_MEM_TYPE_WIN32_NT, memory, &descriptor),
             UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    cr_assert_eq(descriptor, -1);
    UR_OK(free_exportable(memory));
}

// Memory that the host left mapped goes with its context.
Test(external_memory, what_was_forgotten_goes_with_the_context)
{
    struct source source = make_source();
    ur_exp_external_mem_handle_t memory = import(&source);
    map(memory, 0, BYTES);
    map(memory, 0, 4);
    release(memory);
    finish_source(&source);
}
