// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_OLDER_NAMES_H
#define ZEPI_UR_OLDER_NAMES_H

// Names that this folder uses and a release's header does not have yet. ZEPI_UR_RELEASE is the
// release that the folder is compiled for: 20253 for 2025.3.

// A query or a kind that no host of the release uses: a number of its own for each.
#define ZEPI_UR_NEVER(number) (0x7fff0000 + (number))

#if ZEPI_UR_RELEASE < 20262
#define UR_DEVICE_INFO_PREFERRED_VECTOR_WIDTH_LONG_LONG ZEPI_UR_NEVER(1)
#define UR_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG_LONG ZEPI_UR_NEVER(2)
#define UR_DEVICE_INFO_MAX_WORK_GROUPS ZEPI_UR_NEVER(3)
#define UR_DEVICE_INFO_IPC_PHYSICAL_MEMORY_SUPPORT_EXP ZEPI_UR_NEVER(4)
#define UR_DEVICE_INFO_IPC_EVENT_SUPPORT_EXP ZEPI_UR_NEVER(5)
#define UR_DEVICE_INFO_REUSABLE_EVENTS_SUPPORT_EXP ZEPI_UR_NEVER(6)
#define UR_DEVICE_INFO_USM_HOST_ALLOC_REGISTER_SUPPORT_EXP ZEPI_UR_NEVER(7)
#define UR_DEVICE_INFO_PER_EVENT_PROFILING_SUPPORT_EXP ZEPI_UR_NEVER(8)
#define UR_PHYSICAL_MEM_FLAG_ENABLE_IPC 0 // the one flag that there is means nothing
// Results that the release has no name for.
#define UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED UR_RESULT_ERROR_INVALID_OPERATION
#define UR_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED UR_RESULT_ERROR_INVALID_OPERATION
#define UR_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT UR_RESULT_ERROR_INVALID_OPERATION
#define UR_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING UR_RESULT_ERROR_INVALID_OPERATION
#define UR_RESULT_ERROR_GRAPH_UNJOINED_FORKS UR_RESULT_ERROR_INVALID_OPERATION
#define UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT UR_RESULT_ERROR_INVALID_OPERATION
typedef struct ur_exp_event_desc_t {
    ur_structure_type_t stype;
    const void *pNext;
    uint32_t flags;
} ur_exp_event_desc_t;
#define UR_EXP_EVENT_FLAG_ENABLE_PROFILING 1u
#define UR_EXP_EVENT_FLAG_IPC_EXP 2u
#define UR_EXP_EVENT_FLAGS_MASK 0xfffffffcu
typedef struct ur_exp_usm_host_alloc_register_properties_t {
    ur_structure_type_t stype;
    void *pNext;
    uint32_t flags;
} ur_exp_usm_host_alloc_register_properties_t;
#define UR_EXP_USM_HOST_ALLOC_REGISTER_FLAGS_MASK 0xfffffffe
#endif

#if ZEPI_UR_RELEASE < 20261
// 2026.1.0 has the tables of 2026.0 and asks these.
#define UR_DEVICE_INFO_XE_STACK_COUNT 133
#define UR_DEVICE_INFO_XE_REGIONS_PER_STACK 134
#define UR_DEVICE_INFO_XE_CLUSTERS_PER_REGION 135
#define UR_DEVICE_INFO_XE_CORES_PER_CLUSTER 136
#define UR_DEVICE_INFO_EUS_PER_XE_CORE 137
#define UR_DEVICE_INFO_MAX_LANES_PER_HW_THREAD 138
typedef void (*ur_exp_graph_destruction_callback_t)(void *data);
#endif

#if ZEPI_UR_RELEASE < 20260
#define UR_DEVICE_INFO_DEVICE_WAIT_SUPPORT_EXP ZEPI_UR_NEVER(30)
#define UR_DEVICE_INFO_IPC_MEMORY_SUPPORT_EXP ZEPI_UR_NEVER(31)
#define UR_DEVICE_INFO_CLOCK_SUB_GROUP_SUPPORT_EXP ZEPI_UR_NEVER(32)
#define UR_DEVICE_INFO_CLOCK_WORK_GROUP_SUPPORT_EXP ZEPI_UR_NEVER(33)
#define UR_DEVICE_INFO_CLOCK_DEVICE_SUPPORT_EXP ZEPI_UR_NEVER(34)
#define UR_DEVICE_INFO_GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP ZEPI_UR_NEVER(35)
#define UR_DEVICE_INFO_DYNAMIC_LINK_SUPPORT_EXP ZEPI_UR_NEVER(36)
#define UR_DEVICE_INFO_ENQUEUE_HOST_TASK_SUPPORT_EXP ZEPI_UR_NEVER(37)
#define UR_DEVICE_INFO_IS_INTEGRATED_GPU ZEPI_UR_NEVER(38)
#define UR_DEVICE_TYPE_CUSTOM UR_DEVICE_TYPE_VPU // the last that the release has
// Memory goes where it is used: the one hint of the release means this.
#define UR_USM_MIGRATION_FLAG_HOST_TO_DEVICE UR_USM_MIGRATION_FLAG_DEFAULT
#define UR_USM_MIGRATION_FLAG_DEVICE_TO_HOST 0
#define UR_RESULT_ERROR_INVALID_GRAPH UR_RESULT_ERROR_INVALID_VALUE
#define UR_COMMAND_ENQUEUE_GRAPH_EXP ZEPI_UR_NEVER(40)
typedef struct ur_exp_graph_handle_t_ *ur_exp_graph_handle_t;
typedef struct ur_exp_executable_graph_handle_t_ *ur_exp_executable_graph_handle_t;
typedef void (*ur_exp_host_task_function_t)(void *data);
typedef struct ur_exp_host_task_properties_t {
    ur_structure_type_t stype;
    void *pNext;
    uint32_t flags;
} ur_exp_host_task_properties_t;
#define UR_EXP_HOST_TASK_FLAGS_MASK 0xfffffffe
#define UR_COMMAND_HOST_TASK_EXP 0x2200

// The functions of layout/release_2025_3.c for slots that the header does not name.
ur_result_t zepi_ur_reserved(void);

typedef uint32_t ur_exp_program_flags_t;
#define UR_EXP_PROGRAM_FLAG_ALLOW_UNRESOLVED_SYMBOLS 1u
#define UR_EXP_PROGRAM_FLAGS_MASK 0xfffffffeu

// Properties of a launch are a chain from 2026.0 on; layout/release_2025_3.c makes one of the list.
#define UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES ZEPI_UR_NEVER(39)
#define UR_KERNEL_LAUNCH_FLAG_COOPERATIVE 1u
#define UR_KERNEL_LAUNCH_FLAGS_MASK 0xfffffffeu
typedef uint32_t ur_kernel_launch_flags_t;
typedef struct ur_kernel_launch_ext_properties_t {
    ur_structure_type_t stype;
    void *pNext;
    ur_kernel_launch_flags_t flags;
} ur_kernel_launch_ext_properties_t;

// The record of an argument, which launches get from kernel_arguments.c alone.
typedef enum ur_exp_kernel_arg_type_t {
    UR_EXP_KERNEL_ARG_TYPE_VALUE,
    UR_EXP_KERNEL_ARG_TYPE_POINTER,
    UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ,
    UR_EXP_KERNEL_ARG_TYPE_LOCAL,
    UR_EXP_KERNEL_ARG_TYPE_SAMPLER,
} ur_exp_kernel_arg_type_t;
typedef struct ur_exp_kernel_arg_properties_t {
    ur_structure_type_t stype;
    void *pNext;
    ur_exp_kernel_arg_type_t type;
    uint32_t index;
    size_t size;
    union {
        const void *value;
        const void *pointer;
        struct {
            ur_mem_handle_t hMem;
            ur_mem_flags_t flags;
        } memObjTuple;
        ur_sampler_handle_t sampler;
    } value;
} ur_exp_kernel_arg_properties_t;
#endif

#endif
