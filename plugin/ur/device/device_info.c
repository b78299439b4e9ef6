// SPDX-License-Identifier: MIT
// The queries of devices, each with the type of its value and its source.
#include "device/platform.h"
#include "ur/device/device_value.h"
#include "ur/handles.h"
#include "ze/ze_optional.h"

// Rows about the struct zepi_device.
#define VALUE(name, function) ZEPI_UR_VALUE(DEVICE_INFO_##name, function)
#define NUMBER(name, kind, function, parameter)                                                    \
    ZEPI_UR_ASKED(DEVICE_INFO_##name, kind, function, parameter)
#define TEXT(name, characters) ZEPI_UR_STRING(DEVICE_INFO_##name, characters)
#define COMPUTED(name, type) NUMBER(name, type, zepi_ur_device_computed, UR_DEVICE_INFO_##name)
#define DETAIL(name, type) NUMBER(name, type, zepi_ur_device_detail, UR_DEVICE_INFO_##name)
#define FEATURE(name) NUMBER(name, BOOL, zepi_ur_device_feature, UR_DEVICE_INFO_##name)
#define FLAG(name, type, member, flags)                                                            \
    ZEPI_UR_FLAG(DEVICE_INFO_##name, type, zepi_device, member, flags)
#define MEMBER(name, type, member) FLAG(name, type, member, UINT64_MAX)
#define IS(name, type, constant) ZEPI_UR_IS(DEVICE_INFO_##name, type, constant)
#define WIDTHS(TYPE, member)                                                                       \
    {NUMBER(PREFERRED_VECTOR_WIDTH_##TYPE, U32, zepi_ur_device_width,                              \
            offsetof(struct zepi_ze_vector_widths, preferred.member))},                            \
    {                                                                                              \
        NUMBER(NATIVE_VECTOR_WIDTH_##TYPE, U32, zepi_ur_device_width,                              \
               offsetof(struct zepi_ze_vector_widths, native.member))                              \
    }
// The bits are the same in both interfaces.
#define ACCESS(name, member) MEMBER(name, U32, access.member)

#define QUEUE_FLAGS                                                                                \
    (UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE | UR_QUEUE_FLAG_PROFILING_ENABLE |                \
     UR_QUEUE_FLAG_PRIORITY_LOW | UR_QUEUE_FLAG_PRIORITY_HIGH)
#define UPDATE_FLAGS                                                                               \
    (UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_KERNEL_ARGUMENTS |                            \
     UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_LOCAL_WORK_SIZE |                             \
     UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_GLOBAL_WORK_SIZE |                            \
     UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_GLOBAL_WORK_OFFSET |                          \
     UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_KERNEL_HANDLE)
#define MEMORY_ORDERS                                                                              \
    (UR_MEMORY_ORDER_CAPABILITY_FLAG_RELAXED | UR_MEMORY_ORDER_CAPABILITY_FLAG_ACQUIRE |           \
     UR_MEMORY_ORDER_CAPABILITY_FLAG_RELEASE | UR_MEMORY_ORDER_CAPABILITY_FLAG_ACQ_REL |           \
     UR_MEMORY_ORDER_CAPABILITY_FLAG_SEQ_CST)
#define MEMORY_SCOPES                                                                              \
    (UR_MEMORY_SCOPE_CAPABILITY_FLAG_WORK_ITEM | UR_MEMORY_SCOPE_CAPABILITY_FLAG_SUB_GROUP |       \
     UR_MEMORY_SCOPE_CAPABILITY_FLAG_WORK_GROUP | UR_MEMORY_SCOPE_CAPABILITY_FLAG_DEVICE |         \
     UR_MEMORY_SCOPE_CAPABILITY_FLAG_SYSTEM)

// clang-format off
static const struct zepi_ur_query queries[] = {
    // Identity
    {COMPUTED(TYPE, U32)},
    {MEMBER(VENDOR_ID, U32, properties.vendorId)},
    {MEMBER(DEVICE_ID, U32, properties.deviceId)},
    {MEMBER(UUID, BYTES, properties.uuid.id)},
    {MEMBER(NAME, CHARACTERS, properties.name)},
    {VALUE(VENDOR, zepi_ur_device_vendor)},
    {VALUE(DRIVER_VERSION, zepi_ur_device_driver_version)},
    {VALUE(BACKEND_RUNTIME_VERSION, zepi_ur_device_driver_version)},
    {VALUE(VERSION, zepi_ur_device_version)},
    {VALUE(IL_VERSION, zepi_ur_device_il_version)},
    {VALUE(EXTENSIONS, zepi_ur_device_extensions)},
    {TEXT(PROFILE, "FULL_PROFILE")},
    {TEXT(BUILT_IN_KERNELS, "")},
    {VALUE(PCI_ADDRESS, zepi_ur_device_pci_address)},
    {MEMBER(PLATFORM, BYTES, platform)},
    {MEMBER(IP_VERSION, U32_OR_NONE, ip_version)},
    {IS(COMPONENT_DEVICES, BYTES, 0)}, // no device here is a composite one
    {IS(COMPOSITE_DEVICE, SIZE, 0)},   // nor a component of one

    // Sub-devices
    {COMPUTED(REFERENCE_COUNT, U32)},
    {MEMBER(PARENT_DEVICE, BYTES, parent)},
    {MEMBER(PARTITION_MAX_SUB_DEVICES, U32, sub_device_count)},
    {COMPUTED(PARTITION_AFFINITY_DOMAIN, U32)},
    {VALUE(SUPPORTED_PARTITIONS, zepi_ur_device_partitions)},
    {VALUE(PARTITION_TYPE, zepi_ur_device_partition_type)},

    // Limits of kernels
    {COMPUTED(MAX_COMPUTE_UNITS, U32)},
    {COMPUTED(NUM_COMPUTE_UNITS, U32)},
    {IS(MAX_WORK_ITEM_DIMENSIONS, U32, 3)},
    {VALUE(MAX_WORK_ITEM_SIZES, zepi_ur_device_group_limits)},
    {MEMBER(MAX_WORK_GROUP_SIZE, SIZE, compute.maxTotalGroupSize)},
    {VALUE(MAX_WORK_GROUPS_3D, zepi_ur_device_group_limits)},
    {IS(MAX_WORK_GROUPS, SIZE, SIZE_MAX)},
    {COMPUTED(MAX_NUM_SUB_GROUPS, U32)},
    {VALUE(SUB_GROUP_SIZES_INTEL, zepi_ur_device_sub_group_sizes)},
    {IS(SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, BOOL, false)},
    {MEMBER(MAX_CLOCK_FREQUENCY, U32, properties.coreClockRate)},
    {IS(ADDRESS_BITS, U32, 64)},
    {MEMBER(MAX_PARAMETER_SIZE, SIZE, module.maxArgumentsSize)},
    {MEMBER(PRINTF_BUFFER_SIZE, SIZE, module.printfBufferSize)},
    {IS(MAX_CONSTANT_ARGS, U32, 64)},

    // Arithmetic
    {NUMBER(SINGLE_FP_CONFIG, U32, zepi_ur_device_fp_config, 0)},
    {NUMBER(HALF_FP_CONFIG, U32, zepi_ur_device_fp_config, ZE_DEVICE_MODULE_FLAG_FP16)},
    {NUMBER(DOUBLE_FP_CONFIG, U32, zepi_ur_device_fp_config, ZE_DEVICE_MODULE_FLAG_FP64)},
    {FLAG(ATOMIC_64, BOOL, module.flags, ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS)},
    {IS(ATOMIC_MEMORY_ORDER_CAPABILITIES, U32, MEMORY_ORDERS)},
    {IS(ATOMIC_FENCE_ORDER_CAPABILITIES, U32, MEMORY_ORDERS)},
    {IS(ATOMIC_MEMORY_SCOPE_CAPABILITIES, U32, MEMORY_SCOPES)},
    {IS(ATOMIC_FENCE_SCOPE_CAPABILITIES, U32, MEMORY_SCOPES)},
    WIDTHS(CHAR, of_char),
    WIDTHS(SHORT, of_short),
    WIDTHS(INT, of_int),
    WIDTHS(LONG, of_long),
    WIDTHS(LONG_LONG, of_long),
    WIDTHS(FLOAT, of_float),
    WIDTHS(DOUBLE, of_double),
    WIDTHS(HALF, of_half),

    // Memory
    {MEMBER(MAX_MEM_ALLOC_SIZE, U64, max_allocation_bytes)},
    {MEMBER(GLOBAL_MEM_SIZE, U64, global_memory_bytes)},
    {COMPUTED(LOCAL_MEM_TYPE, U32)},
    {MEMBER(LOCAL_MEM_SIZE, U64, compute.maxSharedLocalMemory)},
    {VALUE(GLOBAL_MEM_FREE, zepi_ur_device_free_memory)},
    {MEMBER(MAX_MEMORY_BANDWIDTH, U64_OR_NONE, memory_bandwidth)},
    {COMPUTED(MAX_CONSTANT_BUFFER_SIZE, U64)},
    {IS(MEM_BASE_ADDR_ALIGN, U32, 8)}, // bits: a sub-buffer may begin at any byte
    {DETAIL(GLOBAL_MEM_CACHELINE_SIZE, U32)},
    {DETAIL(GLOBAL_MEM_CACHE_TYPE, U32)},
    {DETAIL(GLOBAL_MEM_CACHE_SIZE, U64)},
    {MEMBER(MEMORY_CLOCK_RATE, U32, memory_clock_mhz)},
    {MEMBER(MEMORY_BUS_WIDTH, U32, memory_bus_bits)},
    {FLAG(ERROR_CORRECTION_SUPPORT, BOOL, properties.flags, ZE_DEVICE_PROPERTY_FLAG_ECC)},
    {FLAG(HOST_UNIFIED_MEMORY, BOOL, properties.flags, ZE_DEVICE_PROPERTY_FLAG_INTEGRATED)},
    {FLAG(IS_INTEGRATED_GPU, BOOL, properties.flags, ZE_DEVICE_PROPERTY_FLAG_INTEGRATED)},
    {ACCESS(USM_HOST_SUPPORT, hostAllocCapabilities)},
    {ACCESS(USM_DEVICE_SUPPORT, deviceAllocCapabilities)},
    {ACCESS(USM_SINGLE_SHARED_SUPPORT, sharedSingleDeviceAllocCapabilities)},
    {ACCESS(USM_CROSS_SHARED_SUPPORT, sharedCrossDeviceAllocCapabilities)},
    {ACCESS(USM_SYSTEM_SHARED_SUPPORT, sharedSystemAllocCapabilities)},

    // Images
    {MEMBER(IMAGE_SUPPORT, BOOL, has_images)},
    {MEMBER(MAX_READ_IMAGE_ARGS, U32, images.maxReadImageArgs)},
    {MEMBER(MAX_WRITE_IMAGE_ARGS, U32, images.maxWriteImageArgs)},
    {MEMBER(MAX_READ_WRITE_IMAGE_ARGS, U32, images.maxWriteImageArgs)},
    {MEMBER(IMAGE2D_MAX_WIDTH, SIZE, images.maxImageDims2D)},
    {MEMBER(IMAGE2D_MAX_HEIGHT, SIZE, images.maxImageDims2D)},
    {MEMBER(IMAGE3D_MAX_WIDTH, SIZE, images.maxImageDims3D)},
    {MEMBER(IMAGE3D_MAX_HEIGHT, SIZE, images.maxImageDims3D)},
    {MEMBER(IMAGE3D_MAX_DEPTH, SIZE, images.maxImageDims3D)},
    {MEMBER(IMAGE_MAX_BUFFER_SIZE, SIZE, images.maxImageBufferSize)},
    {MEMBER(IMAGE_MAX_ARRAY_SIZE, SIZE, images.maxImageArraySlices)},
    {MEMBER(MAX_SAMPLERS, U32, images.maxSamplers)},
    {IS(IMAGE_SRGB, BOOL, false)},

    // Bindless images, which are refused
    {IS(IMAGE_PITCH_ALIGN_EXP, U32, 0)},
    {IS(MIPMAP_MAX_ANISOTROPY_EXP, U32, 0)},
    {IS(MAX_IMAGE_LINEAR_WIDTH_EXP, SIZE, 0)},
    {IS(MAX_IMAGE_LINEAR_HEIGHT_EXP, SIZE, 0)},
    {IS(MAX_IMAGE_LINEAR_PITCH_EXP, SIZE, 0)},

    // Queues
    {IS(QUEUE_PROPERTIES, U32, QUEUE_FLAGS)},
    {IS(QUEUE_ON_HOST_PROPERTIES, U32, QUEUE_FLAGS)},
    {IS(QUEUE_ON_DEVICE_PROPERTIES, U32, 0)},
    {MEMBER(MAX_COMPUTE_QUEUE_INDICES, U32, compute_count)},
    {COMPUTED(PROFILING_TIMER_RESOLUTION, SIZE)},

    // Capabilities
    {IS(EXECUTION_CAPABILITIES, U32, UR_DEVICE_EXEC_CAPABILITY_FLAG_KERNEL)},
    {IS(KERNEL_LAUNCH_CAPABILITIES, U32, UR_KERNEL_LAUNCH_PROPERTIES_FLAG_COOPERATIVE)},
    {IS(COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP, U32, UPDATE_FLAGS)},
    {DETAIL(2D_BLOCK_ARRAY_CAPABILITIES_EXP, U32)},
    {MEMBER(COMPILER_AVAILABLE, BOOL, module.spirvVersionSupported)},
    {MEMBER(LINKER_AVAILABLE, BOOL, module.spirvVersionSupported)},
    {FEATURE(AVAILABLE)},
    {FEATURE(BFLOAT16_CONVERSIONS_NATIVE)},
    {FEATURE(USE_NATIVE_ASSERT)},
    {FEATURE(ESIMD_SUPPORT)},
    {FEATURE(ENQUEUE_HOST_TASK_SUPPORT_EXP)},
    {FEATURE(VIRTUAL_MEMORY_SUPPORT)},
    {FEATURE(IPC_MEMORY_SUPPORT_EXP)},
    {FEATURE(IPC_PHYSICAL_MEMORY_SUPPORT_EXP)},
    {FEATURE(USM_HOST_ALLOC_REGISTER_SUPPORT_EXP)},
    {FEATURE(EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP)},
    {FEATURE(MEMORY_EXPORT_EXPORTABLE_DEVICE_MEM_EXP)},
    {IS(ENDIAN_LITTLE, BOOL, true)},
    {IS(PREFERRED_INTEROP_USER_SYNC, BOOL, true)},
    // Code is compiled for each sub-device; the cache finds that it is the same code.
    {IS(BUILD_ON_SUBDEVICE, BOOL, true)},
    {IS(PROGRAM_SET_SPECIALIZATION_CONSTANTS, BOOL, true)},
    {IS(GLOBAL_VARIABLE_SUPPORT, BOOL, true)},
    {IS(USM_POOL_SUPPORT, BOOL, true)},
    {IS(ASYNC_USM_ALLOCATIONS_SUPPORT_EXP, BOOL, true)},
    {IS(COMMAND_BUFFER_SUPPORT_EXP, BOOL, true)},
    {IS(ENQUEUE_NATIVE_COMMAND_SUPPORT_EXP, BOOL, true)},
    {IS(MULTI_DEVICE_COMPILE_SUPPORT_EXP, BOOL, true)},
    {IS(DEVICE_WAIT_SUPPORT_EXP, BOOL, true)},
    {IS(DYNAMIC_LINK_SUPPORT_EXP, BOOL, true)},
    {IS(TIMESTAMP_RECORDING_SUPPORT_EXP, BOOL, true)},
    {IS(USM_P2P_SUPPORT_EXP, BOOL, true)},
    {IS(USM_CONTEXT_MEMCPY_SUPPORT_EXP, BOOL, true)},
    {IS(GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP, BOOL, true)},
    {IS(REUSABLE_EVENTS_SUPPORT_EXP, BOOL, true)},
    {IS(PER_EVENT_PROFILING_SUPPORT_EXP, BOOL, true)},
    {IS(KERNEL_SET_SPECIALIZATION_CONSTANTS, BOOL, false)},
    {IS(ASYNC_BARRIER, BOOL, false)},
    {IS(MEM_CHANNEL_SUPPORT, BOOL, false)},
    {IS(HOST_PIPE_READ_WRITE_SUPPORT, BOOL, false)},
    {IS(COMMAND_BUFFER_EVENT_SUPPORT_EXP, BOOL, false)},
    {IS(COMMAND_BUFFER_SUBGRAPH_SUPPORT_EXP, BOOL, false)},
    {IS(LOW_POWER_EVENTS_SUPPORT_EXP, BOOL, false)},
    {IS(IPC_EVENT_SUPPORT_EXP, BOOL, false)},
    {IS(CLOCK_SUB_GROUP_SUPPORT_EXP, BOOL, false)},
    {IS(CLOCK_WORK_GROUP_SUPPORT_EXP, BOOL, false)},
    {IS(CLOCK_DEVICE_SUPPORT_EXP, BOOL, false)},
};

// Parts of a GPU; other devices have none.
static const struct zepi_ur_query gpu_queries[] = {
    {COMPUTED(GPU_EU_COUNT, U32)},
    {MEMBER(GPU_EU_SIMD_WIDTH, U32, properties.physicalEUSimdWidth)},
    {MEMBER(GPU_EU_SLICES, U32, properties.numSlices)},
    {MEMBER(GPU_EU_COUNT_PER_SUBSLICE, U32, properties.numEUsPerSubslice)},
    {MEMBER(GPU_SUBSLICES_PER_SLICE, U32, properties.numSubslicesPerSlice)},
    {MEMBER(GPU_HW_THREADS_PER_EU, U32, properties.numThreadsPerEU)},
    {COMPUTED(XE_STACK_COUNT, U32)},
    {IS(XE_REGIONS_PER_STACK, U32, 1)},
    {COMPUTED(XE_CLUSTERS_PER_REGION, U32)},
    {MEMBER(XE_CORES_PER_CLUSTER, U32, properties.numSubslicesPerSlice)},
    {MEMBER(EUS_PER_XE_CORE, U32, properties.numEUsPerSubslice)},
    {COMPUTED(MAX_LANES_PER_HW_THREAD, U32)},
};
// clang-format on

// NULL: no query of this device.
static const struct zepi_ur_query *find_row(const struct zepi_device *device,
                                            ur_device_info_t query)
{
    // The header has the other queries about bindless images in one range.
    static const struct zepi_ur_query no_bindless_images = {.type = ZEPI_UR_BOOL};
    const struct zepi_ur_query *row = zepi_ur_find_query(ZEPI_UR_ROWS(queries), query);
    if (!row && query >= UR_DEVICE_INFO_BINDLESS_IMAGES_SUPPORT_EXP &&
        query <= UR_DEVICE_INFO_BINDLESS_IMAGES_GATHER_SUPPORT_EXP)
        return &no_bindless_images;
    return row || device->properties.type != ZE_DEVICE_TYPE_GPU
               ? row
               : zepi_ur_find_query(ZEPI_UR_ROWS(gpu_queries), query);
}

ur_result_t zepi_urDeviceGetInfo(ur_device_handle_t hDevice, ur_device_info_t query,
                                 size_t value_size, void *value, size_t *out_size)
{
    const ur_result_t result = zepi_ur_check_device(hDevice);
    const struct zepi_ur_query *row = result ? NULL : find_row(zepi_ur_device(hDevice), query);
    return zepi_ur_get_info(result, hDevice, row, row != NULL, row ? row->query : query,
                            UR_DEVICE_INFO_ENQUEUE_HOST_TASK_SUPPORT_EXP, value_size, value,
                            out_size);
}
