// SPDX-License-Identifier: MIT
// Devices: their identity, compared with zepi's own table; sub-devices; types.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"
#include "tools/ze_cpu/ze_newer.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set_up_sub_devices(void)
{
    setenv("ZE_CPU_SUB_DEVICES", "2", 1);
    ur_set_up();
}

static void set_up_cpu(void)
{
    setenv("ZE_CPU_TYPE", "cpu", 1);
    ur_set_up();
}

static void set_up_small(void)
{
    setenv("ZE_CPU_MEMORY", "64", 1);
    ur_set_up();
}

static void set_up_without_free_memory(void)
{
    setenv("ZE_CPU_WITHOUT", "ZE_extension_device_usablemem_size_properties", 1);
    ur_set_up();
}

static void set_up_two_with_pci(void)
{
    setenv("ZE_CPU_PCI", "1", 1);
    ur_set_up_two();
}

TestSuite(device_of_two_with_pci, .init = set_up_two_with_pci, .fini = ur_tear_down);
TestSuite(device, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(device_of_two, .init = ur_set_up_two, .fini = ur_tear_down);
TestSuite(device_of_parts, .init = set_up_sub_devices, .fini = ur_tear_down);
TestSuite(small_device, .init = set_up_small, .fini = ur_tear_down);
TestSuite(device_without_free_memory, .init = set_up_without_free_memory, .fini = ur_tear_down);
TestSuite(device_of_a_cpu, .init = set_up_cpu, .fini = ur_tear_down);

// The same device through zepi's table.
static zepi_device_info_t zepi_info(zepi_platform_info_t *out_platform)
{
    zepi_platform_t platform;
    zepi_device_t device;
    zepi_device_info_t info = {.size = sizeof(info)};
    uint32_t count;
    test_plugin_load();
    TEST_OK(zepi.platform_get(1, &platform, &count));
    TEST_OK(zepi.device_get(platform, 1, &device, &count));
    TEST_OK(zepi.device_get_info(device, &info));
    out_platform->size = sizeof(*out_platform);
    TEST_OK(zepi.platform_get_info(platform, out_platform));
    TEST_OK(zepi.release(device));
    TEST_OK(zepi.release(platform));
    return info;
}

static void expect(ur_device_info_t query, const void *expected, size_t size)
{
    char answer[512];
    size_t told;
    UR_OK(urDeviceGetInfo(gear.device, query, sizeof(answer), answer, &told));
    cr_expect(told == size && memcmp(answer, expected, size) == 0, "query %d", (int)query);
}

static void expect_u32(ur_device_info_t query, uint32_t expected)
{
    expect(query, &expected, sizeof(expected));
}

static void expect_u64(ur_device_info_t query, uint64_t expected)
{
    expect(query, &expected, sizeof(expected));
}

static void expect_text(ur_device_info_t query, const char *expected)
{
    expect(query, expected, strlen(expected) + 1);
}

Test(device, is_what_zepis_own_table_says)
{
    zepi_platform_info_t platform;
    const zepi_device_info_t info = zepi_info(&platform);
    ur_native_handle_t native;
    char text[64];
    expect_text(UR_DEVICE_INFO_NAME, info.name);
    expect_text(UR_DEVICE_INFO_DRIVER_VERSION, platform.driver_version);
    snprintf(text, sizeof(text), "SPIR-V_%u.%u", info.spirv_version >> 16,
             info.spirv_version >> 8 & 0xff);
    expect_text(UR_DEVICE_INFO_IL_VERSION, text);
    snprintf(text, sizeof(text), "%u.%u", platform.api_version >> 16,
             platform.api_version & 0xffff);
    if (!test_env_is_on_intel_driver()) // else the version of the GPU (intel.ur_device)
        expect_text(UR_DEVICE_INFO_VERSION, text);
    expect_u32(UR_DEVICE_INFO_VENDOR_ID, info.vendor_id);
    expect_u32(UR_DEVICE_INFO_DEVICE_ID, info.device_id);
    expect(UR_DEVICE_INFO_UUID, info.uuid, sizeof(info.uuid));
    expect_u32(UR_DEVICE_INFO_MAX_COMPUTE_UNITS, info.compute_unit_count);
    expect_u32(UR_DEVICE_INFO_MAX_CLOCK_FREQUENCY, info.clock_rate_mhz);
    expect_u64(UR_DEVICE_INFO_MAX_WORK_GROUP_SIZE, info.max_group_size);
    expect(UR_DEVICE_INFO_SUB_GROUP_SIZES_INTEL, info.sub_group_sizes,
           info.sub_group_size_count * sizeof(uint32_t));
    expect_u64(UR_DEVICE_INFO_LOCAL_MEM_SIZE, info.max_local_memory_bytes);
    expect_u64(UR_DEVICE_INFO_GLOBAL_MEM_SIZE, info.global_memory_bytes);
    expect_u64(UR_DEVICE_INFO_MAX_MEM_ALLOC_SIZE, info.max_allocation_bytes);
    expect_u64(UR_DEVICE_INFO_PROFILING_TIMER_RESOLUTION, info.timer_resolution_ns);
    expect_u32(UR_DEVICE_INFO_PARTITION_MAX_SUB_DEVICES, info.sub_device_count);
    const ur_bool_t has_atomics = info.has_int64_atomics;
    const ur_bool_t has_images = info.has_images;
    expect(UR_DEVICE_INFO_ATOMIC_64, &has_atomics, sizeof(has_atomics));
    expect(UR_DEVICE_INFO_IMAGE_SUPPORT, &has_images, sizeof(has_images));
    const size_t sizes[] = {info.max_group_size_per_dimension[0],
                            info.max_group_size_per_dimension[1],
                            info.max_group_size_per_dimension[2]};
    const size_t counts[] = {info.max_group_count[0], info.max_group_count[1],
                             info.max_group_count[2]};
    expect(UR_DEVICE_INFO_MAX_WORK_ITEM_SIZES, sizes, sizeof(sizes));
    expect(UR_DEVICE_INFO_MAX_WORK_GROUPS_3D, counts, sizeof(counts));
    UR_OK(urDeviceGetNativeHandle(gear.device, &native));
    cr_assert_eq((void *)native, info.native_handle);
    UR_OK(urPlatformGetNativeHandle(gear.platform, &native));
    cr_assert_eq((void *)native, platform.native_handle);
    test_plugin_unload();
}

static void find_in_loader(const char *name, void *out_function)
{
    void *found = dlsym(dlopen("libze_loader.so.1", RTLD_NOW), name);
    cr_assert_not_null(found, "%s", name);
    memcpy(out_function, &found, sizeof(found));
}

static struct {
    ze_result_t(ZE_APICALL *module)(ze_device_handle_t, ze_device_module_properties_t *);
    ze_result_t(ZE_APICALL *images)(ze_device_handle_t, ze_device_image_properties_t *);
    ze_result_t(ZE_APICALL *properties)(ze_device_handle_t, ze_device_properties_t *);
    ze_result_t(ZE_APICALL *caches)(ze_device_handle_t, uint32_t *, ze_device_cache_properties_t *);
    ze_result_t(ZE_APICALL *widths)(ze_device_handle_t, uint32_t *,
                                    ze_device_vector_width_properties_ext_t *);
} ask;

static void find_queries(void)
{
    ze_result_t(ZE_APICALL * find)(ze_driver_handle_t, const char *, void **);
    ur_native_handle_t driver;
    void *function;
    find_in_loader("zeDeviceGetModuleProperties", &ask.module);
    find_in_loader("zeDeviceGetImageProperties", &ask.images);
    find_in_loader("zeDeviceGetProperties", &ask.properties);
    find_in_loader("zeDeviceGetCacheProperties", &ask.caches);
    find_in_loader("zeDriverGetExtensionFunctionAddress", &find);
    UR_OK(urPlatformGetNativeHandle(gear.platform, &driver));
    // ze_cpu's are found under Debian's loader, too; Intel's with a loader that has them alone.
    if (find((ze_driver_handle_t)driver, "zeDeviceGetVectorWidthPropertiesExt", &function) ==
        ZE_RESULT_SUCCESS)
        memcpy(&ask.widths, &function, sizeof(function));
    else
        find_in_loader("zeDeviceGetVectorWidthPropertiesExt", &ask.widths);
}

// The values of Level Zero's extensions, not a guess.
Test(device, is_what_its_driver_says)
{
    ur_native_handle_t native;
    UR_OK(urDeviceGetNativeHandle(gear.device, &native));
    const ze_device_handle_t device = (ze_device_handle_t)native;
    ze_device_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze_device_image_properties_t images = {.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_cache_line_size_ext_t line = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT};
    ze_device_cache_properties_t cache = {.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES,
                                          .pNext = &line};
    ze_device_vector_width_properties_ext_t widths = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_DEVICE_VECTOR_WIDTH_PROPERTIES_EXT};
    uint32_t count = 1;
    uint64_t free_bytes;
    char text[1024];
    find_queries();
    cr_assert_eq(ask.module(device, &module), ZE_RESULT_SUCCESS);
    cr_assert_eq(ask.images(device, &images), ZE_RESULT_SUCCESS);
    cr_assert_eq(ask.properties(device, &properties), ZE_RESULT_SUCCESS);
    cr_assert_eq(ask.caches(device, &count, &cache), ZE_RESULT_SUCCESS);
    cr_assert_eq(ask.widths(device, &count, &widths), ZE_RESULT_SUCCESS);
    snprintf(text, sizeof(text), "SPIR-V_%u.%u", module.spirvVersionSupported >> 16,
             module.spirvVersionSupported & 0xffff);
    expect_text(UR_DEVICE_INFO_IL_VERSION, text);
    expect_u32(UR_DEVICE_INFO_GLOBAL_MEM_CACHELINE_SIZE, (uint32_t)line.cacheLineSize);
    expect_u32(UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR, widths.native_vector_width_char);
    expect_u32(UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT, widths.native_vector_width_int);
    expect_u32(UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_LONG, widths.preferred_vector_width_long);
    expect_u32(UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_FLOAT, widths.preferred_vector_width_float);
    expect_u32(UR_DEVICE_INFO_NUM_COMPUTE_UNITS,
               properties.numSlices * properties.numSubslicesPerSlice);
    const bool is_limited =
        images.maxImageBufferSize > 0 && images.maxImageBufferSize < properties.maxMemAllocSize;
    expect_u64(UR_DEVICE_INFO_MAX_CONSTANT_BUFFER_SIZE,
               is_limited ? images.maxImageBufferSize : properties.maxMemAllocSize);
    // It has the extension for these conversions.
    const ur_bool_t has_bfloat16 = true;
    expect(UR_DEVICE_INFO_BFLOAT16_CONVERSIONS_NATIVE, &has_bfloat16, sizeof(has_bfloat16));
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_EXTENSIONS, sizeof(text), text, NULL));
    cr_expect_not_null(strstr(text, "cl_intel_bfloat16_conversions"));
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_GLOBAL_MEM_FREE, sizeof(free_bytes),
                          &free_bytes, NULL));
    cr_expect_gt(free_bytes, 0);
    if (test_env_is_on_intel_driver())
        return;
    // A value that ze_cpu does not know is no answer.
    cr_expect_eq(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_MAX_MEMORY_BANDWIDTH,
                                 sizeof(free_bytes), &free_bytes, NULL),
                 UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    cr_expect_eq(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_PCI_ADDRESS, sizeof(text), text, NULL),
                 UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
}

// A device whose memory is all in use has 0 free bytes: that is an answer.
Test(small_device, has_less_free_memory_with_each_allocation_and_then_0)
{
    uint64_t free_bytes[3];
    void *memory[2];
    test_ze_cpu_require();
    for (int i = 0; i < 3; i++) {
        UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_GLOBAL_MEM_FREE, sizeof(uint64_t),
                              &free_bytes[i], NULL));
        if (i < 2)
            UR_OK(urUSMDeviceAlloc(gear.context, gear.device, NULL, NULL,
                                   i == 0 ? 16 << 20 : free_bytes[i], &memory[i]));
    }
    cr_expect_eq(free_bytes[0] - free_bytes[1], 16 << 20);
    cr_expect_gt(free_bytes[1], 0);
    cr_expect_eq(free_bytes[2], 0);
    for (int i = 0; i < 2; i++)
        UR_OK(urUSMFree(gear.context, memory[i]));
}

Test(device_without_free_memory, has_no_answer_and_works)
{
    zepi_platform_info_t platform;
    const uint64_t known_bytes = zepi_info(&platform).free_memory_bytes;
    uint64_t free_bytes;
    void *memory;
    test_plugin_unload();
    // System management may tell.
    cr_assert_eq(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_GLOBAL_MEM_FREE, sizeof(free_bytes),
                                 &free_bytes, NULL),
                 known_bytes > 0 ? UR_RESULT_SUCCESS : UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    UR_OK(urUSMDeviceAlloc(gear.context, gear.device, NULL, NULL, 64, &memory));
    UR_OK(urUSMFree(gear.context, memory));
}

// Intel's driver, too, has one a device; here its devices are the same one.
Test(device_of_two_with_pci, has_an_address_as_tools_write_it)
{
    static const char *const expected[] = {"0000:a0:00.1", "0000:a1:00.1"};
    for (int i = 0; i < 2; i++) {
        char text[32];
        unsigned part[4];
        int length = 0;
        UR_OK(
            urDeviceGetInfo(gear.devices[i], UR_DEVICE_INFO_PCI_ADDRESS, sizeof(text), text, NULL));
        cr_assert_eq(
            sscanf(text, "%4x:%2x:%2x.%1x%n", &part[0], &part[1], &part[2], &part[3], &length), 4,
            "%s", text);
        cr_assert(length == 12 && text[12] == 0, "%s", text);
        if (!test_env_is_on_intel_driver())
            cr_assert_str_eq(text, expected[i]);
    }
}

static uint32_t ask_u32(ur_device_handle_t device, ur_device_info_t query)
{
    uint32_t answer;
    UR_OK(urDeviceGetInfo(device, query, sizeof(answer), &answer, NULL));
    return answer;
}

static void expect_unknown(ur_device_handle_t device, ur_device_info_t query)
{
    uint32_t answer = 77;
    cr_expect_eq(urDeviceGetInfo(device, query, sizeof(answer), &answer, NULL),
                 UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    cr_expect_eq(answer, 77);
}

// Left out: programs ask system management itself.
Test(device, has_no_answer_about_sensors)
{
    static const ur_device_info_t queries[] = {
        UR_DEVICE_INFO_FAN_SPEED, UR_DEVICE_INFO_MIN_POWER_LIMIT, UR_DEVICE_INFO_MAX_POWER_LIMIT,
        UR_DEVICE_INFO_CURRENT_CLOCK_THROTTLE_REASONS};
    test_ze_cpu_require();
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        expect_unknown(gear.device, queries[i]);
}

// Answers that belong together.
Test(device, contradicts_itself_nowhere)
{
    zepi_platform_info_t platform;
    const zepi_device_info_t info = zepi_info(&platform);
    const struct {
        ur_device_info_t config, preferred, native;
        bool is_there;
    } types[] = {{UR_DEVICE_INFO_SINGLE_FP_CONFIG, UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_FLOAT,
                  UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT, true},
                 {UR_DEVICE_INFO_DOUBLE_FP_CONFIG, UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_DOUBLE,
                  UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE, info.has_fp64},
                 {UR_DEVICE_INFO_HALF_FP_CONFIG, UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_HALF,
                  UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF, info.has_fp16}};
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(ask_u32(gear.device, types[i].config) != 0, types[i].is_there);
        cr_expect_eq(ask_u32(gear.device, types[i].preferred) != 0, types[i].is_there);
        cr_expect_eq(ask_u32(gear.device, types[i].native) != 0, types[i].is_there);
    }
    char extensions[1024];
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_EXTENSIONS, sizeof(extensions), extensions,
                          NULL));
    cr_expect_eq(strstr(extensions, "cl_khr_fp64") != NULL, info.has_fp64);
    cr_expect_eq(strstr(extensions, "cl_khr_fp16") != NULL, info.has_fp16);
    cr_expect_eq(ask_u32(gear.device, UR_DEVICE_INFO_MAX_WORK_ITEM_DIMENSIONS), 3);
    cr_expect_eq(ask_u32(gear.device, UR_DEVICE_INFO_ADDRESS_BITS), 64);
    cr_expect_eq(ask_u32(gear.device, UR_DEVICE_INFO_TYPE), UR_DEVICE_TYPE_GPU);
    ur_platform_handle_t of;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_PLATFORM, sizeof(of), (void *)&of, NULL));
    cr_expect_eq(of, gear.platform);
    ur_backend_t backend;
    UR_OK(urPlatformGetInfo(gear.platform, UR_PLATFORM_INFO_BACKEND, sizeof(backend), &backend,
                            NULL));
    cr_expect_eq(backend, UR_BACKEND_LEVEL_ZERO);
    test_plugin_unload();
}

static uint32_t count_of(ur_device_type_t type)
{
    uint32_t count;
    UR_OK(urDeviceGet(gear.platform, type, 0, NULL, &count));
    return count;
}

Test(device_of_two, is_listed_under_its_type)
{
    cr_assert_eq(count_of(UR_DEVICE_TYPE_ALL), 2);
    cr_assert_eq(count_of(UR_DEVICE_TYPE_GPU), 2);
    cr_assert_eq(count_of(UR_DEVICE_TYPE_DEFAULT), 1);
    cr_assert_eq(count_of(UR_DEVICE_TYPE_CPU), 0);
    cr_assert_eq(count_of(UR_DEVICE_TYPE_FPGA), 0);
    // Room for one of them.
    ur_device_handle_t device = NULL;
    uint32_t count;
    UR_OK(urDeviceGet(gear.platform, UR_DEVICE_TYPE_ALL, 1, &device, &count));
    cr_assert_eq(count, 2);
    cr_assert_eq(device, gear.devices[0]);
    UR_OK(urDeviceRelease(device));
}

Test(device_of_two, comes_back_from_its_native_handle)
{
    for (uint32_t i = 0; i < 2; i++) {
        ur_native_handle_t native;
        ur_device_handle_t device;
        UR_OK(urDeviceGetNativeHandle(gear.devices[i], &native));
        UR_OK(urDeviceCreateWithNativeHandle(native, gear.adapter, NULL, &device));
        cr_assert_eq(device, gear.devices[i]);
        UR_OK(urDeviceRelease(device));
    }
    ur_native_handle_t native;
    ur_platform_handle_t platform;
    UR_OK(urPlatformGetNativeHandle(gear.platform, &native));
    UR_OK(urPlatformCreateWithNativeHandle(native, gear.adapter, NULL, &platform));
    cr_assert_eq(platform, gear.platform);
}

// ---- Strings that programs compare (docs/dpcpp.md) ----

// Words that are in a text, and words that are not; both lists end with NULL.
static void expect_words(const char *text, const char *const words[], const char *const others[])
{
    for (size_t i = 0; words[i]; i++)
        cr_expect(strstr(text, words[i]), "%s is not in '%s'", words[i], text);
    for (size_t i = 0; others[i]; i++)
        cr_expect_null(strstr(text, others[i]), "%s is in '%s'", others[i], text);
}

// oneDNN looks for OpenCL, NVIDIA and AMD before Level-Zero, llama.cpp for CUDA and HIP.
Test(device, of_a_platform_whose_name_and_vendor_programs_recognise)
{
    static const char *const words[] = {"Intel", "Level-Zero", "zepi", NULL};
    static const char *const others[] = {"OpenCL", "NVIDIA", "AMD", "CUDA", "HIP", NULL};
    char text[128];
    unsigned major, minor;
    ur_backend_t backend;
    UR_OK(urPlatformGetInfo(gear.platform, UR_PLATFORM_INFO_NAME, sizeof(text), text, NULL));
    expect_words(text, words, others);
    UR_OK(urPlatformGetInfo(gear.platform, UR_PLATFORM_INFO_VENDOR_NAME, sizeof(text), text, NULL));
    cr_expect_str_eq(text, test_env_is_on_intel_driver() ? "Intel(R) Corporation" : "zepi");
    UR_OK(urPlatformGetInfo(gear.platform, UR_PLATFORM_INFO_VERSION, sizeof(text), text, NULL));
    cr_expect_eq(sscanf(text, "%u.%u", &major, &minor), 2, "%s", text);
    UR_OK(urPlatformGetInfo(gear.platform, UR_PLATFORM_INFO_BACKEND, sizeof(backend), &backend,
                            NULL));
    cr_expect_eq(backend, UR_BACKEND_LEVEL_ZERO);
}

static void ask_text(ur_device_info_t query, char text[512])
{
    UR_OK(urDeviceGetInfo(gear.device, query, 512, text, NULL));
}

// GROMACS looks for " [0x" in the name, and for "Intel" in the vendor, which is true of a GPU
// alone. oneDNN and XLA read three numbers of the driver's version, SYCLomatic's helper two of the
// device's.
Test(device, has_the_names_and_versions_that_programs_compare)
{
    const bool is_intels = test_env_is_on_intel_driver();
    char text[512];
    unsigned version[3];
    int end = 0;
    ask_text(UR_DEVICE_INFO_NAME, text);
    cr_expect_eq(strncmp(text, "zepi CPU driver: ", strlen("zepi CPU driver: ")) != 0, is_intels,
                 "%s", text);
    cr_expect_null(strstr(text, " [0x"), "%s", text);
    ask_text(UR_DEVICE_INFO_VENDOR, text);
    cr_expect_str_eq(text, is_intels ? "Intel(R) Corporation" : "zepi");
    expect_u32(UR_DEVICE_INFO_VENDOR_ID, 0x8086);
    ask_text(UR_DEVICE_INFO_DRIVER_VERSION, text);
    cr_expect_eq(sscanf(text, "%u.%u.%u%n", &version[0], &version[1], &version[2], &end), 3);
    cr_expect(text[end] == '\0' || text[end] == '+', "%s", text);
    ask_text(UR_DEVICE_INFO_VERSION, text);
    cr_expect_eq(sscanf(text, "%u.%u", &version[0], &version[1]), 2, "%s", text);
}

// PyTorch and Triton choose code by the last ones.
Test(device, names_the_extensions_that_programs_compare)
{
    static const char *const always[] = {"cl_khr_subgroups", "cl_intel_subgroups",
                                         "cl_intel_subgroups_short",
                                         "cl_intel_required_subgroup_size", NULL};
    static const char *const never[] = {"cl_intel_subgroup_matrix_multiply_accumulate",
                                        "cl_intel_subgroup_2d_block_io", NULL};
    static const struct {
        const char *word;
        ur_device_info_t query; // whether the device can
    } others[] = {{"cl_khr_fp16", UR_DEVICE_INFO_HALF_FP_CONFIG},
                  {"cl_khr_fp64", UR_DEVICE_INFO_DOUBLE_FP_CONFIG},
                  {"cl_khr_int64_base_atomics", UR_DEVICE_INFO_ATOMIC_64}};
    char text[512];
    ask_text(UR_DEVICE_INFO_EXTENSIONS, text);
    expect_words(text, always, never);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        uint64_t ability = 0;
        UR_OK(urDeviceGetInfo(gear.device, others[i].query, sizeof(ability), &ability, NULL));
        cr_expect_eq(strstr(text, others[i].word) != NULL, ability != 0, "%s", others[i].word);
    }
}

static void name_platform(void)
{
    setenv("ZEPI_PLATFORM_NAME", "a name of one's own", 1);
    ur_set_up();
}

TestSuite(device_of_a_named_platform, .init = name_platform, .fini = ur_tear_down);

Test(device_of_a_named_platform, has_that_name)
{
    char name[128];
    UR_OK(urPlatformGetInfo(gear.platform, UR_PLATFORM_INFO_NAME, sizeof(name), name, NULL));
    cr_expect_str_eq(name, "a name of one's own");
}

static void tell_of_asserts(void)
{
    setenv("ZEPI_QUIRKS", "untold-asserts", 1);
    ur_set_up();
}

TestSuite(device_of_a_driver_with_asserts, .init = tell_of_asserts, .fini = ur_tear_down);

Test(device_of_a_driver_with_asserts, has_them)
{
    ur_bool_t has;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_USE_NATIVE_ASSERT, sizeof(has), &has, NULL));
    cr_assert(has);
}

Test(device, has_no_asserts_unless_its_driver_is_known_for_them)
{
    ur_bool_t has;
    test_ze_cpu_require();
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_USE_NATIVE_ASSERT, sizeof(has), &has, NULL));
    cr_assert(!has);
}

Test(device_of_a_cpu, says_so)
{
    cr_assert_eq(ask_u32(gear.device, UR_DEVICE_INFO_TYPE), UR_DEVICE_TYPE_CPU);
    cr_assert_eq(count_of(UR_DEVICE_TYPE_CPU), 1);
    cr_assert_eq(count_of(UR_DEVICE_TYPE_GPU), 0);
}

// A program that asks for GPUs often ends without a reason that names the device.
Test(device_of_a_cpu, tells_once_that_there_is_no_gpu)
{
    char line[512] = "";
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    count_of(UR_DEVICE_TYPE_CPU);
    count_of(UR_DEVICE_TYPE_ALL);
    const off_t silent = lseek(STDERR_FILENO, 0, SEEK_CUR);
    count_of(UR_DEVICE_TYPE_GPU);
    count_of(UR_DEVICE_TYPE_GPU);
    dup2(before, STDERR_FILENO);
    close(before);
    cr_expect_eq(silent, 0);
    rewind(file);
    cr_expect_not_null(fgets(line, sizeof(line), file));
    cr_expect_not_null(strstr(line, "asks for a GPU"), "%s", line);
    cr_expect_null(fgets(line, sizeof(line), file), "%s", line);
    fclose(file);
}

Test(device_of_parts, is_divided_and_each_part_computes)
{
    static const ur_device_affinity_domain_flag_t domains[] = {
        UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE, UR_DEVICE_AFFINITY_DOMAIN_FLAG_NUMA};
    for (size_t domain = 0; domain < 2; domain++) {
        const ur_device_partition_property_t property = {.type =
                                                             UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
                                                         .value.affinity_domain = domains[domain]};
        const ur_device_partition_properties_t properties = {
            .stype = UR_STRUCTURE_TYPE_DEVICE_PARTITION_PROPERTIES,
            .pProperties = &property,
            .PropCount = 1};
        ur_device_handle_t parts[2];
        uint32_t count;
        UR_OK(urDevicePartition(gear.device, &properties, 0, NULL, &count));
        cr_assert_eq(count, 2);
        UR_OK(urDevicePartition(gear.device, &properties, 2, parts, NULL));
        for (int i = 0; i < 2; i++) {
            ur_device_handle_t parent;
            ur_device_partition_property_t how;
            UR_OK(urDeviceGetInfo(parts[i], UR_DEVICE_INFO_PARENT_DEVICE, sizeof(parent),
                                  (void *)&parent, NULL));
            cr_assert_eq(parent, gear.device);
            UR_OK(
                urDeviceGetInfo(parts[i], UR_DEVICE_INFO_PARTITION_TYPE, sizeof(how), &how, NULL));
            cr_assert_eq(how.type, UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN);
            // A context of the part alone.
            ur_context_handle_t whole = gear.context;
            UR_OK(urContextCreate(1, &parts[i], NULL, &gear.context));
            ur_queue_handle_t queue = ur_queue(parts[i], 0);
            ur_kernel_handle_t kernel = ur_kernel("twenty_kernels", "add_7");
            int32_t *data;
            UR_OK(urUSMSharedAlloc(gear.context, parts[i], NULL, NULL, 4, (void **)&data));
            *data = i;
            const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, data);
            UR_OK(ur_launch(queue, kernel, 1, 1, &argument, 0, NULL, NULL));
            UR_OK(urQueueFinish(queue));
            cr_assert_eq(*data, 7 + i);
            ur_free(data);
            UR_OK(urKernelRelease(kernel));
            UR_OK(urQueueRelease(queue));
            UR_OK(urContextRelease(gear.context));
            gear.context = whole;
            UR_OK(urDeviceRelease(parts[i]));
        }
    }
}

// Of the device's own parts. Owned.
static ur_device_handle_t first_part(void)
{
    const ur_device_partition_property_t property = {
        .type = UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
        .value.affinity_domain = UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE};
    const ur_device_partition_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_DEVICE_PARTITION_PROPERTIES,
        .pProperties = &property,
        .PropCount = 1};
    ur_device_handle_t part;
    UR_OK(urDevicePartition(gear.device, &properties, 1, &part, NULL));
    return part;
}

static void expect_no_composite(ur_device_handle_t device)
{
    ur_device_handle_t composite = device;
    size_t size = 0;
    UR_OK(urDeviceGetInfo(device, UR_DEVICE_INFO_COMPOSITE_DEVICE, sizeof(composite),
                          (void *)&composite, &size));
    cr_assert_eq(size, sizeof(composite));
    cr_assert_null(composite);
}

Test(device_of_parts, is_no_component_of_a_composite_device_nor_are_its_parts)
{
    ur_device_handle_t part = first_part();
    expect_no_composite(gear.device);
    expect_no_composite(part);
    UR_OK(urDeviceRelease(part));
}

Test(device_of_parts, is_waited_for_with_the_queues_of_its_parts)
{
    ur_device_handle_t part = first_part();
    ur_context_handle_t whole = gear.context;
    UR_OK(urContextCreate(1, &part, NULL, &gear.context));
    ur_queue_handle_t queue = ur_queue(part, 0);
    ur_kernel_handle_t kernel = ur_kernel("spin", "spin");
    uint32_t *out;
    ur_bool_t is_empty;
    UR_OK(urUSMSharedAlloc(gear.context, part, NULL, NULL, 4, (void **)&out));
    const uint32_t rounds = 30000000;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, rounds), UR_POINTER(1, out)};
    UR_OK(ur_launch(queue, kernel, 1, 2, arguments, 0, NULL, NULL));
    UR_OK(urDeviceWaitExp(gear.device));
    UR_OK(urQueueGetInfo(queue, UR_QUEUE_INFO_EMPTY, sizeof(is_empty), &is_empty, NULL));
    cr_assert(is_empty);
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
    UR_OK(urQueueRelease(queue));
    UR_OK(urContextRelease(gear.context));
    gear.context = whole;
    UR_OK(urDeviceRelease(part));
}

static uint32_t references_of(ur_device_handle_t device)
{
    return ask_u32(device, UR_DEVICE_INFO_REFERENCE_COUNT);
}

Test(device_of_parts, counts_references_of_its_parts_alone)
{
    ur_device_handle_t again;
    ur_device_handle_t part;
    UR_OK(urDeviceGet(gear.platform, UR_DEVICE_TYPE_ALL, 1, &again, NULL));
    cr_assert_eq(references_of(gear.device), 1);
    UR_OK(urDeviceRetain(gear.device));
    cr_assert_eq(references_of(gear.device), 1);
    for (int i = 0; i < 3; i++) {
        UR_OK(urDeviceRelease(gear.device));
        cr_assert_eq(references_of(gear.device), 1);
    }
    part = first_part();
    cr_assert_eq(references_of(part), 1);
    UR_OK(urDeviceRetain(part));
    cr_assert_eq(references_of(part), 2);
    UR_OK(urDeviceRelease(part));
    cr_assert_eq(references_of(part), 1);
    UR_OK(urDeviceRelease(part));
}

static ur_result_t divide(ur_device_partition_t type, const uint32_t *values, size_t value_count,
                          ur_device_handle_t *parts, uint32_t *out_count)
{
    ur_device_partition_property_t list[3];
    for (size_t i = 0; i < value_count; i++)
        list[i] = (ur_device_partition_property_t){.type = type, .value.count = values[i]};
    const ur_device_partition_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_DEVICE_PARTITION_PROPERTIES,
        .pProperties = list,
        .PropCount = value_count};
    return urDevicePartition(gear.device, &properties, parts ? 2 : 0, parts, out_count);
}

static bool is_listed(const ur_device_partition_t *ways, size_t size, ur_device_partition_t way)
{
    for (size_t i = 0; i < size / sizeof(way); i++) {
        if (ways[i] == way)
            return true;
    }
    return false;
}

// Each way that is listed takes every count of compute units below the device's.
Test(device_of_parts, is_divided_in_every_way_that_it_lists_and_in_no_other)
{
    ur_device_partition_t ways[8];
    size_t size;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_SUPPORTED_PARTITIONS, sizeof(ways), ways,
                          &size));
    cr_assert(is_listed(ways, size, UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN));
    static const ur_device_partition_t others[] = {
        UR_DEVICE_PARTITION_EQUALLY, UR_DEVICE_PARTITION_BY_COUNTS, UR_DEVICE_PARTITION_BY_CSLICE};
    const uint32_t units = ask_u32(gear.device, UR_DEVICE_INFO_MAX_COMPUTE_UNITS);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const ur_result_t expected =
            is_listed(ways, size, others[i]) ? UR_RESULT_SUCCESS : UR_RESULT_ERROR_INVALID_VALUE;
        for (uint32_t part = 1; part < units; part++) {
            const uint32_t values[] = {part};
            uint32_t count = 0;
            UR_FAILS(divide(others[i], values, 1, NULL, &count), expected);
            cr_assert_eq(count > 0, expected == UR_RESULT_SUCCESS);
        }
    }
}

Test(device, without_parts_lists_no_way_to_divide_it)
{
    size_t size;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_SUPPORTED_PARTITIONS, 0, NULL, &size));
    cr_assert_eq(size, 0);
}

// A logger of the host gets the lines that its level lets through.
static char logged[4096];
static void note_line(ur_logger_level_t level, const char *text, void *data)
{
    cr_assert_eq(data, logged);
    cr_assert(level == UR_LOGGER_LEVEL_ERROR || level == UR_LOGGER_LEVEL_DEBUG ||
              level == UR_LOGGER_LEVEL_INFO);
    strncat(logged, text, sizeof(logged) - strlen(logged) - 1);
}

Test(device, failures_are_told_to_the_hosts_logger)
{
    UR_OK(urAdapterSetLoggerCallback(gear.adapter, note_line, logged, UR_LOGGER_LEVEL_ERROR));
    UR_FAILS(urDeviceRetain((ur_device_handle_t)gear.context), UR_RESULT_ERROR_INVALID_DEVICE);
    cr_assert(strstr(logged, "is not a device"), "%s", logged);
    logged[0] = '\0';
    UR_OK(urAdapterSetLoggerCallbackLevel(gear.adapter, UR_LOGGER_LEVEL_QUIET));
    UR_FAILS(urDeviceRetain((ur_device_handle_t)gear.context), UR_RESULT_ERROR_INVALID_DEVICE);
    cr_assert_str_eq(logged, "");
    UR_OK(urAdapterSetLoggerCallbackLevel(gear.adapter, UR_LOGGER_LEVEL_DEBUG));
    UR_FAILS(urContextCreate(0, &gear.device, NULL, &gear.context), UR_RESULT_ERROR_INVALID_SIZE);
    cr_assert(strstr(logged, "no devices"), "%s", logged);
}
