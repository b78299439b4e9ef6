// SPDX-License-Identifier: MIT
#include "tools/ze_cpu/ze_newer.h"

#include "fixture.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// The queries of a SYCL runtime about a device, and whether the answers hold.

static uint32_t processors(void)
{
    cpu_set_t set;
    cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    return (uint32_t)CPU_COUNT(&set);
}

Test(ze_cpu_properties, tells_what_the_processor_is)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_device_ip_version_ext_t ip = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT,
        .ipVersion = UINT32_MAX};
    ze_eu_count_ext_t eus = {.stype = ZE_STRUCTURE_TYPE_EU_COUNT_EXT, .pNext = &ip};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                                         .pNext = &eus};
    MUST(zeDeviceGetProperties(fixture.device, &properties));
    cr_assert_eq(properties.pNext, &eus);
    cr_assert_eq(properties.type, ZE_DEVICE_TYPE_GPU);
    cr_assert(properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED, "memory is the host's");
    cr_assert_not(properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
    cr_assert_eq(strncmp(properties.name, "zepi CPU driver: ", 17), 0, "%s", properties.name);
    cr_assert(strlen(properties.name) > 17);
    cr_assert_neq(properties.vendorId, 0);
    cr_assert(properties.coreClockRate >= 100 && properties.coreClockRate < 10000, "%u MHz",
              properties.coreClockRate);
    uint32_t units = properties.numSlices * properties.numSubslicesPerSlice *
                     properties.numEUsPerSubslice * properties.numThreadsPerEU;
    // oneDPL divides by the 8 EUs that a sub-slice of every GPU has, and launches that many groups.
    cr_assert_eq(properties.numEUsPerSubslice, 8);
    cr_assert_eq(units, 8 * processors());
    cr_assert_eq(eus.numTotalEUs, 8 * processors());
    cr_assert(properties.physicalEUSimdWidth >= 4 && properties.physicalEUSimdWidth <= 16);
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    cr_assert(properties.maxMemAllocSize > memory / 8 && properties.maxMemAllocSize <= memory);
    cr_assert_neq(ip.ipVersion, UINT32_MAX);
    ze_device_properties_t again = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    MUST(zeDeviceGetProperties(fixture.device, &again));
    cr_assert_eq(memcmp(again.uuid.id, properties.uuid.id, sizeof(again.uuid.id)), 0);
    // Nanoseconds a tick in the old structure, ticks a second in the newer one.
    cr_assert_eq(properties.timerResolution, 1);
    cr_assert_eq(again.timerResolution, 1000000000);
    cr_assert_eq(properties.timestampValidBits, 64);
    MUST(zeDeviceGetStatus(fixture.device));
    fixture_finish(&fixture);
}

Test(ze_cpu_properties, ticks_in_nanoseconds)
{
    struct fixture fixture;
    fixture_init(&fixture);
    uint64_t host[2], device[2];
    MUST(zeDeviceGetGlobalTimestamps(fixture.device, &host[0], &device[0]));
    usleep(20000);
    MUST(zeDeviceGetGlobalTimestamps(fixture.device, &host[1], &device[1]));
    cr_assert_eq(host[1] - host[0], device[1] - device[0]);
    cr_assert(device[1] - device[0] >= 20000000 && device[1] - device[0] < 10000000000);
    fixture_finish(&fixture);
}

Test(ze_cpu_properties, launches_groups_as_large_as_it_says)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_device_compute_properties_t properties = {.stype =
                                                     ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    MUST(zeDeviceGetComputeProperties(fixture.device, &properties));
    cr_assert(properties.maxTotalGroupSize >= 256);
    cr_assert(properties.maxGroupCountX >= 1u << 30);
    cr_assert(properties.maxSharedLocalMemory >= 1 << 15);
    cr_assert(properties.numSubGroupSizes >= 1 && properties.numSubGroupSizes <= 8);
    for (uint32_t i = 0; i < properties.numSubGroupSizes; i++)
        cr_assert(properties.subGroupSizes[i] > 0 &&
                  (i == 0 || properties.subGroupSizes[i] > properties.subGroupSizes[i - 1]));
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t place = fixture_kernel(module, "place");
    ze_kernel_max_group_size_properties_ext_t maximum = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES};
    ze_kernel_properties_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES,
                                     .pNext = &maximum};
    MUST(zeKernelGetProperties(place, &kernel));
    cr_assert(maximum.maxGroupSize > 0 && maximum.maxGroupSize <= properties.maxTotalGroupSize);
    const uint32_t size = maximum.maxGroupSize;
    int *data = fixture_shared(&fixture, size * sizeof(int));
    const int value = 1;
    MUST(zeKernelSetGroupSize(place, size, 1, 1));
    cr_assert_neq(zeKernelSetGroupSize(place, properties.maxTotalGroupSize + 1, 1, 1),
                  ZE_RESULT_SUCCESS);
    MUST(zeKernelSetArgumentValue(place, 0, sizeof(data), &data));
    MUST(zeKernelSetArgumentValue(place, 1, sizeof(value), &value));
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    const ze_group_count_t one = {1, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(list, place, &one, NULL, 0, NULL));
    fixture_synchronize(&fixture, list);
    cr_assert_eq(data[size - 1], 1 + 1000 * (int)size);
    MUST(zeMemFree(fixture.context, data));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(place));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

#define ITEMS 4096
#define GROUP 64

static void run_atomics(const struct fixture *fixture, ze_module_handle_t module, const char *name,
                        uint32_t groups, float *single, double *twice)
{
    ze_kernel_handle_t kernel = fixture_kernel(module, name);
    memset(single, 0, 2 * sizeof(*single));
    memset(twice, 0, 2 * sizeof(*twice));
    MUST(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(single), &single));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(twice), &twice));
    ze_command_list_handle_t list = fixture_immediate(fixture, FIXTURE_IN_ORDER);
    const ze_group_count_t count = {groups, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &count, NULL, 0, NULL));
    fixture_synchronize(fixture, list);
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
}

Test(ze_cpu_properties, has_the_float_atomics_that_it_tells_of)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_float_atomic_ext_properties_t atomics = {
        .stype = ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES, .fp16Flags = UINT32_MAX};
    ze_device_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES,
                                                .pNext = &atomics};
    MUST(zeDeviceGetModuleProperties(fixture.device, &properties));
    const uint32_t all = 0x70007; // load and store, add, min and max; global and local
    cr_assert_eq(atomics.fp32Flags, all);
    cr_assert_eq(atomics.fp64Flags, all);
    cr_assert_eq(atomics.fp16Flags, 0);
    cr_assert(properties.flags & ZE_DEVICE_MODULE_FLAG_FP64);
    cr_assert(properties.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS);
    cr_assert(properties.fp64flags & ZE_DEVICE_FP_FLAG_FMA);
    cr_assert(properties.fp32flags & ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST);
    cr_assert_eq((properties.flags & ZE_DEVICE_MODULE_FLAG_FP16) != 0, properties.fp16flags != 0);
    cr_assert_eq(properties.spirvVersionSupported, ZE_MAKE_VERSION(1, 4));
    cr_assert(properties.maxArgumentsSize >= 1024 && properties.printfBufferSize >= 1024);
    ze_module_handle_t module = fixture_module(&fixture, "atomics", NULL);
    float *single = fixture_shared(&fixture, 2 * sizeof(*single));
    double *twice = fixture_shared(&fixture, 2 * sizeof(*twice));
    run_atomics(&fixture, module, "across_groups", ITEMS / GROUP, single, twice);
    cr_assert(single[0] == ITEMS / 2.0 && single[1] == ITEMS - 1, "%g %g", (double)single[0],
              (double)single[1]);
    cr_assert(twice[0] == ITEMS / 4.0 && twice[1] == -(ITEMS - 1), "%g %g", twice[0], twice[1]);
    run_atomics(&fixture, module, "in_a_group", 1, single, twice);
    cr_assert(single[0] == GROUP / 2.0 && single[1] == -(GROUP - 1));
    cr_assert(twice[0] == GROUP / 4.0 && twice[1] == GROUP - 1);
    MUST(zeMemFree(fixture.context, single));
    MUST(zeMemFree(fixture.context, twice));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_properties, tells_of_memory_caches_and_images)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const uint64_t installed = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint32_t count = 0;
    MUST(zeDeviceGetMemoryProperties(fixture.device, &count, NULL));
    cr_assert_eq(count, 1);
    ze_device_memory_ext_properties_t extension = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES, .readBandwidth = 77};
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES,
                                            .pNext = &extension};
    count = 5;
    MUST(zeDeviceGetMemoryProperties(fixture.device, &count, &memory));
    cr_assert_eq(count, 1);
    cr_assert(memory.totalSize > installed / 2 && memory.totalSize <= installed);
    cr_assert_eq(extension.readBandwidth, 0, "unknown");
    ze_device_memory_access_properties_t access = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    MUST(zeDeviceGetMemoryAccessProperties(fixture.device, &access));
    cr_assert(access.hostAllocCapabilities == 0xf && access.deviceAllocCapabilities == 0xf &&
              access.sharedSingleDeviceAllocCapabilities == 0xf &&
              access.sharedCrossDeviceAllocCapabilities == 0xf &&
              access.sharedSystemAllocCapabilities == 0xf);
    ze_device_cache_properties_t cache = {.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES};
    MUST(zeDeviceGetCacheProperties(fixture.device, &count, &cache));
    cr_assert(count == 1 && cache.cacheSize >= 1 << 14 && cache.flags == 0);
    ze_device_image_properties_t images = {.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES};
    MUST(zeDeviceGetImageProperties(fixture.device, &images));
    cr_assert(images.maxImageDims1D >= 4096 && images.maxImageDims2D >= 4096 &&
              images.maxImageDims3D >= 256 && images.maxImageArraySlices >= 256);
    cr_assert(images.maxSamplers > 0 && images.maxReadImageArgs > 0 &&
              images.maxWriteImageArgs > 0);
    fixture_finish(&fixture);
}

Test(ze_cpu_properties, tells_of_vectors_cache_lines_and_memory_that_is_left)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_result_t (*get_widths)(ze_device_handle_t, uint32_t *,
                              ze_device_vector_width_properties_ext_t *);
    *(void **)&get_widths = fixture_function(&fixture, "zeDeviceGetVectorWidthPropertiesExt");
    uint32_t count = 0;
    MUST(get_widths(fixture.device, &count, NULL));
    cr_assert_eq(count, 1);
    ze_device_vector_width_properties_ext_t widths = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_DEVICE_VECTOR_WIDTH_PROPERTIES_EXT};
    MUST(get_widths(fixture.device, &count, &widths));
    const uint32_t bytes = 4 * widths.native_vector_width_float;
    cr_assert(bytes >= 16 && bytes <= 64, "a register has %u bytes", bytes);
    cr_assert_eq(widths.native_vector_width_int * 4, bytes);
    cr_assert_eq(widths.native_vector_width_double * 8, bytes);
    cr_assert_eq(widths.native_vector_width_char, bytes);
    cr_assert(widths.preferred_vector_width_float >= 1);
    ze_device_cache_line_size_ext_t line = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT};
    ze_device_cache_properties_t cache = {.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES,
                                          .pNext = &line};
    MUST(zeDeviceGetCacheProperties(fixture.device, &count, &cache));
    cr_assert_eq(line.cacheLineSize, 64);
    ze_device_usablemem_size_ext_properties_t usable = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES};
    ze_device_readonly_memory_ext_properties_t read_only = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES};
    usable.pNext = &read_only;
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                                         .pNext = &usable};
    MUST(zeDeviceGetProperties(fixture.device, &properties));
    cr_assert(usable.currUsableMemSize > 1 << 24 &&
              usable.currUsableMemSize <=
                  (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    cr_assert_eq(read_only.readonlyCapability, CPU_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED);
    fixture_finish(&fixture);
}

Test(ze_cpu_properties, tells_of_queues_peers_and_the_driver)
{
    struct fixture fixture;
    fixture_init(&fixture);
    uint32_t count = 0;
    MUST(zeDeviceGetCommandQueueGroupProperties(fixture.device, &count, NULL));
    ze_command_queue_group_properties_t groups[2] = {
        {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES},
        {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES}};
    cr_assert_eq(count, 2);
    MUST(zeDeviceGetCommandQueueGroupProperties(fixture.device, &count, groups));
    cr_assert(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
    cr_assert_eq(groups[1].flags, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    cr_assert(groups[0].numQueues > 0 && groups[0].maxMemoryFillPatternSize >= 16);
    ze_device_p2p_properties_t peers = {.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES};
    ze_bool_t can_access = 0;
    MUST(zeDeviceGetP2PProperties(fixture.device, fixture.device, &peers));
    MUST(zeDeviceCanAccessPeer(fixture.device, fixture.device, &can_access));
    cr_assert(can_access && peers.flags == (ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS |
                                            ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS));
    ze_driver_memory_free_ext_properties_t freeing = {
        .stype = ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES};
    ze_driver_properties_t driver = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES,
                                     .pNext = &freeing};
    MUST(zeDriverGetProperties(fixture.driver, &driver));
    cr_assert_neq(driver.driverVersion, 0);
    cr_assert_eq(freeing.freePolicies, 3);
    fixture_finish(&fixture);
}

static bool is_listed(const ze_driver_extension_properties_t *extensions, uint32_t count,
                      const char *name)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += strcmp(extensions[i].name, name) == 0;
    cr_assert(found <= 1, "%s twice", name);
    return found == 1;
}

Test(ze_cpu_properties, lists_extensions_and_answers_their_functions)
{
    static const struct {
        const char *extension, *function;
    } pairs[] = {
        {"ZE_experimental_global_offset", "zeKernelSetGlobalOffsetExp"},
        {"ZE_experimental_event_query_timestamps", "zeEventQueryTimestampsExp"},
        {"ZE_extension_linkage_inspection", "zeModuleInspectLinkageExt"},
        {"ZE_extension_memory_free_policies", "zeMemFreeExt"},
        {"ZE_extension_image_copy", "zeCommandListAppendImageCopyToMemoryExt"},
        {"ZE_experimental_immediate_command_list_append",
         "zeCommandListImmediateAppendCommandListsExp"},
        {"ZE_experimental_mutable_command_list", "zeCommandListUpdateMutableCommandsExp"},
        {"ZE_extension_device_vector_sizes", "zeDeviceGetVectorWidthPropertiesExt"},
        {"ZE_extension_device_cache_line_size", NULL},
        {"ZE_extension_device_usablemem_size_properties", NULL},
        {"ZE_extension_float_atomics", NULL},
        {"ZE_extension_subgroups", NULL},
        {"ZE_extension_linkonce_odr", NULL},
        {"ZE_extension_bfloat16_conversions", NULL},
        {"ZE_extension_device_ip_version", NULL},
        {"ZE_extension_device_memory_properties", NULL},
        {"ZE_experimental_sub_allocations", NULL},
    };
    struct fixture fixture;
    fixture_init(&fixture);
    uint32_t count = 0;
    ze_driver_extension_properties_t extensions[64];
    MUST(zeDriverGetExtensionProperties(fixture.driver, &count, extensions));
    cr_assert(count > 0 && count <= 64);
    MUST(zeDriverGetExtensionProperties(fixture.driver, &count, extensions));
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        cr_assert(is_listed(extensions, count, pairs[i].extension), "%s", pairs[i].extension);
        if (pairs[i].function != NULL)
            cr_assert(fixture_function(&fixture, pairs[i].function) != NULL);
    }
    cr_assert_not(is_listed(extensions, count, "ZE_extension_raytracing"));
    fixture_finish(&fixture);
}

Test(ze_cpu_properties, refuses_ipc_by_name)
{
    setenv("ZE_CPU_TRACE", "1", 1);
    struct fixture fixture;
    fixture_init(&fixture);
    FILE *trace = tmpfile();
    cr_assert(trace != NULL && dup2(fileno(trace), STDERR_FILENO) >= 0);
    void *memory = fixture_shared(&fixture, 64);
    ze_ipc_mem_handle_t handle = {{0}};
    ze_ipc_event_pool_handle_t pool_handle = {{0}};
    struct fixture_event event = fixture_event(&fixture, 0);
    ze_event_pool_handle_t pool;
    void *opened;
    const ze_result_t refused = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    cr_assert_eq(zeMemGetIpcHandle(fixture.context, memory, &handle), refused);
    cr_assert_eq(zeMemOpenIpcHandle(fixture.context, fixture.device, handle, 0, &opened), refused);
    cr_assert_eq(zeMemCloseIpcHandle(fixture.context, memory), refused);
    cr_assert_eq(zeEventPoolGetIpcHandle(event.pool, &pool_handle), refused);
    cr_assert_eq(zeEventPoolOpenIpcHandle(fixture.context, pool_handle, &pool), refused);
    const ze_event_pool_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = ZE_EVENT_POOL_FLAG_IPC, .count = 1};
    MUST(zeEventPoolCreate(fixture.context, &desc, 0, NULL, &pool));
    cr_assert_eq(zeEventPoolGetIpcHandle(pool, &pool_handle), refused);
    MUST(zeEventPoolDestroy(pool));
    ze_driver_ipc_properties_t ipc = {.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES, .flags = 3};
    MUST(zeDriverGetIpcProperties(fixture.driver, &ipc));
    cr_assert_eq(ipc.flags, 0);
    char text[16384] = "";
    rewind(trace);
    cr_assert(fread(text, 1, sizeof(text) - 1, trace) > 0);
    cr_assert(strstr(text, "zeMemGetIpcHandle = 0x78000003") != NULL);
    cr_assert(strstr(text, "zeEventPoolOpenIpcHandle = 0x78000003 (not offered)") != NULL);
    fixture_event_finish(&event);
    MUST(zeMemFree(fixture.context, memory));
    fixture_finish(&fixture);
    fclose(trace);
}

Test(ze_cpu_properties, allocates_at_multiples_of_other_numbers_as_intels_driver_does)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const size_t alignments[] = {12, 3 << 16};
    for (int i = 0; i < 2; i++) {
        void *memory = NULL;
        MUST(zeMemAllocDevice(fixture.context, &desc, 12, alignments[i], fixture.device, &memory));
        cr_assert_eq((uintptr_t)memory % (i == 0 ? 16 : 4 << 16), 0);
        MUST(zeMemFree(fixture.context, memory));
    }
    void *memory = NULL;
    cr_assert_eq(zeMemAllocDevice(fixture.context, &desc, 12, ((size_t)1 << 30) + 1, fixture.device,
                                  &memory),
                 ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    fixture_finish(&fixture);
}

Test(ze_cpu_properties, refuses_external_memory_but_files)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const ze_result_t refused = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    ze_device_external_memory_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES, .imageExportTypes = 1};
    MUST(zeDeviceGetExternalMemoryProperties(fixture.device, &properties));
    cr_assert(properties.memoryAllocationExportTypes == properties.memoryAllocationImportTypes &&
              properties.memoryAllocationImportTypes ==
                  (ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) &&
              properties.imageExportTypes == 0 && properties.imageImportTypes == 0);
    ze_external_memory_export_desc_t export = {.stype =
                                                   ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
                                               .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32};
    ze_external_memory_import_fd_t import = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
                                             .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD,
                                             .fd = -1};
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                               .pNext = &export};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                           .pNext = &import};
    void *memory = NULL;
    cr_assert_eq(zeMemAllocDevice(fixture.context, &device, 64, 0, fixture.device, &memory),
                 refused);
    cr_assert_eq(zeMemAllocHost(fixture.context, &host, 64, 0, &memory),
                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(memory, NULL);
    ze_external_memory_export_fd_t fd = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD};
    ze_memory_allocation_properties_t asked = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &fd};
    cr_assert_eq(zeMemGetAllocProperties(fixture.context, &fixture, &asked, NULL), refused);
    fixture_finish(&fixture);
}

// A dma_buf of this driver is a file that the host, and the driver, can map.
Test(ze_cpu_properties, host_memory_is_exported_and_imported)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_external_memory_export_desc_t export = {.stype =
                                                   ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
                                               .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                     .pNext = &export};
    int *memory, *imported, *mapped;
    MUST(zeMemAllocHost(fixture.context, &desc, 64, 0, (void **)&memory));
    memory[3] = 7;
    ze_external_memory_export_fd_t exported = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                               .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD};
    ze_memory_allocation_properties_t asked = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &exported};
    cr_assert_eq(zeMemGetAllocProperties(fixture.context, memory, &asked, NULL),
                 ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "not the type that it was allocated for");
    exported.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    MUST(zeMemGetAllocProperties(fixture.context, memory, &asked, NULL));
    mapped = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED, exported.fd, 0);
    cr_assert(mapped != MAP_FAILED && mapped[3] == 7);
    ze_external_memory_import_fd_t import = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
                                             .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                             .fd = dup(exported.fd)};
    desc.pNext = &import;
    MUST(zeMemAllocHost(fixture.context, &desc, 64, 0, (void **)&imported));
    import.fd = dup(exported.fd);
    ze_physical_mem_desc_t pages = {
        .stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .pNext = &import, .size = 4096};
    ze_physical_mem_handle_t physical;
    MUST(zePhysicalMemCreate(fixture.context, fixture.device, &pages, &physical));
    MUST(zePhysicalMemDestroy(fixture.context, physical));
    MUST(zeMemFree(fixture.context, memory));
    mapped[3] = 8;
    asked.pNext = NULL;
    MUST(zeMemGetAllocProperties(fixture.context, imported, &asked, NULL));
    cr_assert(imported[3] == 8 && asked.type == ZE_MEMORY_TYPE_HOST);
    MUST(zeMemFree(fixture.context, imported));
    munmap(mapped, 64);
    fixture_finish(&fixture);
}

Test(ze_cpu_properties, hints_of_scheduling_are_taken)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_scheduling_hint_exp_properties_t offered = {
        .stype = ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_PROPERTIES, .schedulingHintFlags = 9};
    ze_device_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES,
                                                .pNext = &offered};
    MUST(zeDeviceGetModuleProperties(fixture.device, &properties));
    cr_assert_eq(offered.schedulingHintFlags, 0, "none has an effect");
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "scale");
    ze_scheduling_hint_exp_desc_t hint = {.stype = ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_DESC,
                                          .flags = ZE_SCHEDULING_HINT_EXP_FLAG_ROUND_ROBIN};
    MUST(zeKernelSchedulingHintExp(kernel, &hint));
    hint.flags = 1u << 3;
    cr_assert_eq(zeKernelSchedulingHintExp(kernel, &hint), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_properties, knows_allocations_of_the_asking_context_only)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t other;
    MUST(zeContextCreate(fixture.driver, &desc, &other));
    unsigned char *memory = fixture_shared(&fixture, 8192);
    uint32_t sub_count = 9;
    ze_memory_sub_allocations_exp_properties_t sub_allocations = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES,
        .pCount = &sub_count};
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &sub_allocations};
    ze_device_handle_t device = NULL;
    MUST(zeMemGetAllocProperties(fixture.context, memory + 8191, &properties, &device));
    cr_assert(properties.type == ZE_MEMORY_TYPE_SHARED && device == fixture.device);
    cr_assert_eq(sub_count, 0, "one piece");
    MUST(zeMemGetAllocProperties(other, memory, &properties, &device));
    cr_assert(properties.type == ZE_MEMORY_TYPE_UNKNOWN && device == NULL);
    void *base;
    cr_assert_eq(zeMemGetAddressRange(other, memory, &base, NULL),
                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeMemFree(fixture.context, memory));
    MUST(zeContextDestroy(other));
    fixture_finish(&fixture);
}
