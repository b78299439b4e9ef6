// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_ZE_NEWER_H
#define ZE_CPU_ZE_NEWER_H

#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>

// The declarations that the Level Zero specification added after 1.4, the version of Debian 12's
// headers, as far as ze_cpu offers them. tools/ze_cpu/specification writes values and layouts, from
// the headers of a newer libze-dev. Types that the installed headers have are left to them
// (HAVE_..., from CMakeLists.txt).

#define CPU_COMMAND_QUEUE_FLAG_IN_ORDER (1u << 1)             // 1.7
#define CPU_COMMAND_LIST_FLAG_IN_ORDER (1u << 3)              // 1.7
#define CPU_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT (1u << 5)     // 1.15
#define CPU_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT (1u << 2)    // 1.14
#define CPU_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP (1u << 3) // 1.5

#define CPU_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE (1u << 0) // 1.9; the default
#define CPU_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST (1u << 1)   // 1.9

// In the chain of an image: the memory of its elements.
#define CPU_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC 0x0002001fu

#ifndef HAVE_ZE_IMAGE_PITCHED_EXP_DESC_T
typedef struct _ze_image_pitched_exp_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    void *ptr;
} ze_image_pitched_exp_desc_t;
#endif

#define CPU_IMAGE_FORMAT_SWIZZLE_D 7

// Of three channels, ze_image_format_layout_t.
#define CPU_IMAGE_FORMAT_LAYOUT_8_8_8 43
#define CPU_IMAGE_FORMAT_LAYOUT_16_16_16 44
#define CPU_IMAGE_FORMAT_LAYOUT_32_32_32 45

#define CPU_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC 0x00020021u
#define CPU_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC 0x00020014u

#define CPU_INIT_DRIVER_TYPE_FLAG_GPU (1u << 0)
#define CPU_INIT_DRIVER_TYPE_FLAG_NPU (1u << 1)

#ifndef HAVE_ZE_INIT_DRIVER_TYPE_DESC_T
typedef uint32_t ze_init_driver_type_flags_t;
typedef struct _ze_init_driver_type_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    ze_init_driver_type_flags_t flags;
} ze_init_driver_type_desc_t;
#endif

// Zeros in a dimension are refused, as in zeKernelSetGroupSize.
#ifndef HAVE_ZE_GROUP_SIZE_T
typedef struct _ze_group_size_t {
    uint32_t groupSizeX;
    uint32_t groupSizeY;
    uint32_t groupSizeZ;
} ze_group_size_t;
#endif

#define CPU_EVENT_COUNTER_BASED_FLAG_IMMEDIATE (1u << 0)
#define CPU_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE (1u << 1)
#define CPU_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE (1u << 2)
#define CPU_EVENT_COUNTER_BASED_FLAG_IPC (1u << 3)
#define CPU_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP (1u << 4)
#define CPU_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP (1u << 5)

// The layout is also that of Intel's zex_counter_based_event_desc_t, with another stype.
#ifndef HAVE_ZE_EVENT_COUNTER_BASED_DESC_T
typedef uint32_t ze_event_counter_based_flags_t;
typedef struct _ze_event_counter_based_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    ze_event_counter_based_flags_t flags;
    ze_event_scope_flags_t signal;
    ze_event_scope_flags_t wait;
} ze_event_counter_based_desc_t;
#endif

#define CPU_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES 0x0002000du // 1.5

#ifndef HAVE_ZE_SUB_ALLOCATION_T
typedef struct _ze_sub_allocation_t {
    void *base;
    size_t size;
} ze_sub_allocation_t;

typedef struct _ze_memory_sub_allocations_exp_properties_t {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t *pCount;
    ze_sub_allocation_t *pSubAllocations;
} ze_memory_sub_allocations_exp_properties_t;
#endif

// Of zeEventQueryKernelTimestampsExt: 1.6.
#define CPU_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES 0x10011u
#define CPU_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL (1u << 0)
#define CPU_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED (1u << 1)

#ifndef HAVE_ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES_T
typedef struct _ze_event_query_kernel_timestamps_ext_properties_t {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t flags;
} ze_event_query_kernel_timestamps_ext_properties_t;

typedef struct _ze_synchronized_timestamp_data_ext_t {
    uint64_t kernelStart;
    uint64_t kernelEnd;
} ze_synchronized_timestamp_data_ext_t;

typedef struct _ze_synchronized_timestamp_result_ext_t {
    ze_synchronized_timestamp_data_ext_t global;
    ze_synchronized_timestamp_data_ext_t context;
} ze_synchronized_timestamp_result_ext_t;

typedef struct _ze_event_query_kernel_timestamps_results_ext_properties_t {
    ze_structure_type_t stype;
    void *pNext;
    ze_kernel_timestamp_result_t *pKernelTimestampsBuffer;
    ze_synchronized_timestamp_result_ext_t *pSynchronizedTimestampsBuffer;
} ze_event_query_kernel_timestamps_results_ext_properties_t;
#endif

// Of zeMemSetAtomicAccessAttributeExp: 1.7.
#define CPU_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS (1u << 6)

// Of zeMemGetIpcHandleWithProperties: 1.15.
#define CPU_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC 0x0002003du
#define CPU_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT (1u << 0)

#ifndef HAVE_ZE_IPC_MEM_HANDLE_TYPE_EXT_DESC_T
typedef struct _ze_ipc_mem_handle_type_ext_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t typeFlags;
} ze_ipc_mem_handle_type_ext_desc_t;
#endif

#define CPU_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES 0x00020040u // 1.15

#ifndef HAVE_ZE_PHYSICAL_MEM_PROPERTIES_T
typedef struct _ze_physical_mem_properties_t {
    ze_structure_type_t stype;
    void *pNext;
    uint64_t id;
    uint64_t size;
} ze_physical_mem_properties_t;
#endif

#define CPU_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC 0x00020037u

#ifndef HAVE_ZE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC_T
typedef struct _ze_external_memmap_sysmem_ext_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    void *pSystemMemory;
    uint64_t size;
} ze_external_memmap_sysmem_ext_desc_t;
#endif

// Mutable command lists: 1.9, kernels of a command 1.10.
#define CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES 0x00020015u
#define CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC 0x00020016u
#define CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC 0x00020017u
#define CPU_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC 0x00020018u
#define CPU_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC 0x00020019u
#define CPU_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC 0x0002001au
#define CPU_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC 0x0002001bu
#define CPU_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC 0x0002001cu

#define CPU_RESULT_ERROR_INVALID_KERNEL_HANDLE ((ze_result_t)0x7800001c)

#define CPU_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS (1u << 0)
#define CPU_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT (1u << 1)
#define CPU_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE (1u << 2)
#define CPU_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET (1u << 3)
#define CPU_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT (1u << 4)
#define CPU_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS (1u << 5)
#define CPU_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION (1u << 6)
#define CPU_MUTABLE_COMMAND_EXP_FLAG_GRAPH_ARGUMENTS (1u << 7)
#define CPU_MUTABLE_COMMAND_FLAGS_OFFERED 0x7fu // all but graph arguments

#ifndef HAVE_ZE_MUTABLE_COMMANDS_EXP_DESC_T
typedef uint32_t ze_mutable_command_exp_flags_t;
typedef uint32_t ze_mutable_command_list_exp_flags_t;

// Flags of 0 mean all but kernel instructions.
typedef struct _ze_mutable_command_id_exp_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    ze_mutable_command_exp_flags_t flags;
} ze_mutable_command_id_exp_desc_t;

typedef struct _ze_mutable_command_list_exp_properties_t {
    ze_structure_type_t stype;
    void *pNext;
    ze_mutable_command_list_exp_flags_t mutableCommandListFlags;
    ze_mutable_command_exp_flags_t mutableCommandFlags;
} ze_mutable_command_list_exp_properties_t;

typedef struct _ze_mutable_command_list_exp_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    ze_mutable_command_list_exp_flags_t flags;
} ze_mutable_command_list_exp_desc_t;

typedef struct _ze_mutable_commands_exp_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
} ze_mutable_commands_exp_desc_t;

typedef struct _ze_mutable_kernel_argument_exp_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    uint64_t commandId;
    uint32_t argIndex;
    size_t argSize;
    const void *pArgValue;
} ze_mutable_kernel_argument_exp_desc_t;

typedef struct _ze_mutable_group_count_exp_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    uint64_t commandId;
    const ze_group_count_t *pGroupCount;
} ze_mutable_group_count_exp_desc_t;

typedef struct _ze_mutable_group_size_exp_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    uint64_t commandId;
    uint32_t groupSizeX;
    uint32_t groupSizeY;
    uint32_t groupSizeZ;
} ze_mutable_group_size_exp_desc_t;

typedef struct _ze_mutable_global_offset_exp_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    uint64_t commandId;
    uint32_t offsetX;
    uint32_t offsetY;
    uint32_t offsetZ;
} ze_mutable_global_offset_exp_desc_t;
#endif

#define CPU_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES 0x10013u // 1.8

#ifndef HAVE_ZE_KERNEL_MAX_GROUP_SIZE_PROPERTIES_EXT_T
typedef struct _ze_kernel_max_group_size_properties_ext_t {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t maxGroupSize;
} ze_kernel_max_group_size_properties_ext_t;
#endif

#define CPU_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT 0x1000fu // 1.5

#ifndef HAVE_ZE_DEVICE_IP_VERSION_EXT_T
typedef struct _ze_device_ip_version_ext_t {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t ipVersion;
} ze_device_ip_version_ext_t;
#endif

#define CPU_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT 0x00020028u // 1.13

#ifndef HAVE_ZE_DEVICE_CACHE_LINE_SIZE_EXT_T
typedef struct _ze_device_cache_line_size_ext_t {
    ze_structure_type_t stype;
    const void *pNext;
    size_t cacheLineSize;
} ze_device_cache_line_size_ext_t;
#endif

#define CPU_STRUCTURE_TYPE_DEVICE_VECTOR_WIDTH_PROPERTIES_EXT 0x00020029u // 1.13

#ifndef HAVE_ZE_DEVICE_VECTOR_WIDTH_PROPERTIES_EXT_T
typedef struct _ze_device_vector_width_properties_ext_t {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t vector_width_size;
    uint32_t preferred_vector_width_char;
    uint32_t preferred_vector_width_short;
    uint32_t preferred_vector_width_int;
    uint32_t preferred_vector_width_long;
    uint32_t preferred_vector_width_float;
    uint32_t preferred_vector_width_double;
    uint32_t preferred_vector_width_half;
    uint32_t native_vector_width_char;
    uint32_t native_vector_width_short;
    uint32_t native_vector_width_int;
    uint32_t native_vector_width_long;
    uint32_t native_vector_width_float;
    uint32_t native_vector_width_double;
    uint32_t native_vector_width_half;
} ze_device_vector_width_properties_ext_t;
#endif

#define CPU_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES 0x00020041u

#ifndef HAVE_ZE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES_T
typedef struct _ze_device_usablemem_size_ext_properties_t {
    ze_structure_type_t stype;
    void *pNext;
    uint64_t currUsableMemSize;
} ze_device_usablemem_size_ext_properties_t;
#endif

// Of ZE_extension_virtual_mem_readonly_properties: 1.17.
#define CPU_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES 0x10015u
#define CPU_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED 2

#ifndef HAVE_ZE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES_T
typedef struct _ze_device_readonly_memory_ext_properties_t {
    ze_structure_type_t stype;
    void *pNext;
    uint32_t readonlyCapability;
} ze_device_readonly_memory_ext_properties_t;
#endif

// Of zesDriverGetDeviceByUuidExp: 1.7.
#ifndef HAVE_ZES_UUID_T
typedef struct _zes_uuid_t {
    uint8_t id[ZE_MAX_DEVICE_UUID_SIZE];
} zes_uuid_t;
#endif

// Of zeCommandListAppendHostFunction: 1.17.
#ifndef HAVE_ZE_HOST_FUNCTION_CALLBACK_T
typedef void (*ze_host_function_callback_t)(void *pUserData);
#endif

// In the chain of zeCommandListAppendLaunchKernelWithArguments: 1.14.
#define CPU_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC 0x00020036u

#ifndef HAVE_ZE_COMMAND_LIST_APPEND_LAUNCH_KERNEL_PARAM_COOPERATIVE_DESC_T
typedef struct _ze_command_list_append_launch_kernel_param_cooperative_desc_t {
    ze_structure_type_t stype;
    const void *pNext;
    ze_bool_t isCooperative;
} ze_command_list_append_launch_kernel_param_cooperative_desc_t;
#endif

#endif
