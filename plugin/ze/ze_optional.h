// SPDX-License-Identifier: MIT
#ifndef ZEPI_ZE_ZE_OPTIONAL_H
#define ZEPI_ZE_ZE_OPTIONAL_H

#include "core/status.h"

#include <level_zero/loader/ze_loader.h>
#include <level_zero/ze_api.h>

#include <stdbool.h>
#include <stdint.h>

// Functions that Level Zero got after 1.4, found at run time for each driver. Names, values and
// layouts are the specification's; the types have names of our own, so that any version of the
// headers does.
//
// A symbol of the loader counts only if the driver's API version reaches the function's, for flags
// too (quirk symbols-without-function). A pointer from zeDriverGetExtensionFunctionAddress counts
// as it is.

#define ZEPI_ZE_COMMAND_QUEUE_FLAG_IN_ORDER (1u << 1)          // 1.7
#define ZEPI_ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT (1u << 2) // 1.14

// Layouts of images with three channels, ze_image_format_layout_t. Drivers of older specifications
// refuse them.
#define ZEPI_ZE_IMAGE_FORMAT_LAYOUT_8_8_8 43
#define ZEPI_ZE_IMAGE_FORMAT_LAYOUT_16_16_16 44
#define ZEPI_ZE_IMAGE_FORMAT_LAYOUT_32_32_32 45

// Structures of one number, in the chain of another one.
struct zepi_ze_number {
    ze_structure_type_t stype;
    const void *next;
    uint32_t value;
};
#define ZEPI_ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC 0x00020014u // 1.8; flags
#define ZEPI_ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE (1u << 0)
#define ZEPI_ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC 0x00020021u // 1.10; flags
#define ZEPI_ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT 0x0001000fu // ZE_extension_device_ip_version
// ZE_intel_experimental_device_block_array_properties; flags
#define ZEPI_ZE_STRUCTURE_TYPE_BLOCK_ARRAY 0x00030007u
#define ZEPI_ZE_BLOCK_ARRAY_STORE 1u
#define ZEPI_ZE_BLOCK_ARRAY_LOAD 2u
// The registers of a hardware thread, of kernels; no extension names it.
#define ZEPI_ZE_STRUCTURE_TYPE_REGISTER_FILE 0x00030012u

struct zepi_ze_size {
    ze_structure_type_t stype;
    const void *next;
    uint64_t size_bytes;
};
#define ZEPI_ZE_STRUCTURE_TYPE_CACHE_LINE 0x00020028u    // ZE_extension_device_cache_line_size
#define ZEPI_ZE_STRUCTURE_TYPE_USABLE_MEMORY 0x00020041u // ..._device_usablemem_size_properties

struct zepi_ze_physical_properties { // 1.15
    ze_structure_type_t stype;
    void *next;
    uint64_t id;
    uint64_t size_bytes;
};
#define ZEPI_ZE_STRUCTURE_TYPE_PHYSICAL_PROPERTIES 0x00020040u

struct zepi_ze_sysmem_desc { // ZE_extension_external_memmap_sysmem
    ze_structure_type_t stype;
    const void *next;
    void *memory;
    uint64_t size_bytes;
};
#define ZEPI_ZE_STRUCTURE_TYPE_SYSMEM 0x00020037u

// Mutable command lists: ZE_experimental_mutable_command_list. Descriptions of lists, of commands'
// identifiers and of changes have flags alone (struct zepi_ze_number).
#define ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_LIST_PROPERTIES 0x00020015u
#define ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_LIST_DESC 0x00020016u
#define ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_ID_DESC 0x00020017u
#define ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_DESC 0x00020018u
#define ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_ARGUMENT_DESC 0x00020019u
#define ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_DESC 0x0002001au
#define ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_DESC 0x0002001bu
#define ZEPI_ZE_STRUCTURE_TYPE_MUTABLE_OFFSET_DESC 0x0002001cu
#define ZEPI_ZE_MUTABLE_ARGUMENTS (1u << 0)
#define ZEPI_ZE_MUTABLE_GROUP_COUNT (1u << 1)
#define ZEPI_ZE_MUTABLE_GROUP_SIZE (1u << 2)
#define ZEPI_ZE_MUTABLE_OFFSET (1u << 3)
#define ZEPI_ZE_MUTABLE_KERNEL (1u << 6)
// What a list must be able to change.
#define ZEPI_ZE_MUTABLE_NEEDED                                                                     \
    (ZEPI_ZE_MUTABLE_ARGUMENTS | ZEPI_ZE_MUTABLE_GROUP_COUNT | ZEPI_ZE_MUTABLE_GROUP_SIZE)
struct zepi_ze_mutable_list_properties { // of a device
    ze_structure_type_t stype;
    void *next;
    uint32_t list_flags;
    uint32_t command_flags;
};
struct zepi_ze_mutable_argument_desc {
    ze_structure_type_t stype;
    const void *next;
    uint64_t id;
    uint32_t index;
    size_t size_bytes;
    const void *value;
};
struct zepi_ze_mutable_group_count_desc {
    ze_structure_type_t stype;
    const void *next;
    uint64_t id;
    const ze_group_count_t *counts;
};
struct zepi_ze_mutable_triple_desc { // group size, offset
    ze_structure_type_t stype;
    const void *next;
    uint64_t id;
    uint32_t xyz[3];
};

struct zepi_ze_widths {
    uint32_t of_char, of_short, of_int, of_long, of_float, of_double, of_half;
};
struct zepi_ze_vector_widths { // 1.13
    ze_structure_type_t stype;
    void *next;
    uint32_t size;
    struct zepi_ze_widths preferred;
    struct zepi_ze_widths native;
};
#define ZEPI_ZE_STRUCTURE_TYPE_VECTOR_WIDTHS 0x00020029u

#define ZEPI_ZE_API_VERSION(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))

// X(member of struct zepi_ze_optional, name of the extension)
#define ZEPI_ZE_EXTENSIONS(X)                                                                      \
    X(has_module_program, ZE_MODULE_PROGRAM_EXP_NAME)                                              \
    X(has_linkage_inspection, ZE_LINKAGE_INSPECTION_EXT_NAME)                                      \
    X(has_global_offset, ZE_GLOBAL_OFFSET_EXP_NAME)                                                \
    X(has_ip_version, "ZE_extension_device_ip_version")                                            \
    X(has_relaxed_allocation_limits, ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME)                        \
    X(has_bfloat16, "ZE_extension_bfloat16_conversions")                                           \
    X(has_cache_line, "ZE_extension_device_cache_line_size")                                       \
    X(has_usable_memory, "ZE_extension_device_usablemem_size_properties")                          \
    X(has_block_array, "ZE_intel_experimental_device_block_array_properties")                      \
    X(has_memory_details, ZE_DEVICE_MEMORY_PROPERTIES_EXT_NAME)                                    \
    X(has_sysmem_mapping, "ZE_extension_external_memmap_sysmem")                                   \
    X(has_pci, ZE_PCI_PROPERTIES_EXT_NAME)                                                         \
    X(has_counter_based_events, "ZE_experimental_event_pool_counter_based")                        \
    X(has_append_lists, "ZE_experimental_immediate_command_list_append")                           \
    X(has_mutable_lists, "ZE_experimental_mutable_command_list")

// X(member of struct zepi_ze_optional, name, version of the specification, arguments).
//
// - intel_get_driver_version: quirk private-version. NULL text: asks for the size, which is without
//   the terminating zero.
// - kernel_get_argument_size: how many bytes the native code reads of the argument at least.
// - import_host_pointer, release_host_pointer: copies of the memory in between need no preparation.
#define ZEPI_ZE_DRIVERS_OWN UINT32_MAX // in place of a version: takes the driver's own handle
#define ZEPI_ZE_OPTIONAL_FUNCTIONS(X)                                                              \
    X(device_get_vector_widths, "zeDeviceGetVectorWidthPropertiesExt", ZEPI_ZE_API_VERSION(1, 13), \
      (ze_device_handle_t, uint32_t *, struct zepi_ze_vector_widths *))                            \
    X(put_ipc_handle, "zeMemPutIpcHandle", ZEPI_ZE_API_VERSION(1, 6),                              \
      (ze_context_handle_t, ze_ipc_mem_handle_t))                                                  \
    X(intel_get_driver_version, "zeIntelGetDriverVersionString", ZEPI_ZE_DRIVERS_OWN,              \
      (ze_driver_handle_t, char *, size_t *))                                                      \
    X(kernel_get_argument_size, "zexKernelGetArgumentSize", ZEPI_ZE_DRIVERS_OWN,                   \
      (ze_kernel_handle_t, uint32_t, uint32_t *))                                                  \
    X(import_host_pointer, "zexDriverImportExternalPointer", ZEPI_ZE_DRIVERS_OWN,                  \
      (ze_driver_handle_t, void *, size_t))                                                        \
    X(release_host_pointer, "zexDriverReleaseImportedPointer", ZEPI_ZE_DRIVERS_OWN,                \
      (ze_driver_handle_t, void *))

// Those that ZEPI_NEWER_FUNCTIONS=off does without.
//
// - append_host_function: the list calls a function of the host.
// - physical_mem_get_properties: exports physical memory as a file descriptor, by its chain.
// - append_command_lists, append_lists_with_parameters: an immediate list executes closed ones. The
//   second one, whose chain is the fourth argument, is for drivers without the first one.
// - The last three: ZE_experimental_mutable_command_list 1.1, with kernels.
#define ZEPI_ZE_NEWER_FUNCTIONS(X)                                                                 \
    X(command_list_host_synchronize, "zeCommandListHostSynchronize", ZEPI_ZE_API_VERSION(1, 9),    \
      (ze_command_list_handle_t, uint64_t))                                                        \
    X(append_host_function, "zeCommandListAppendHostFunction", ZEPI_ZE_API_VERSION(1, 17),         \
      (ze_command_list_handle_t, void (*)(void *), void *, const void *, ze_event_handle_t,        \
       uint32_t, ze_event_handle_t *))                                                             \
    X(physical_mem_get_properties, "zePhysicalMemGetProperties", ZEPI_ZE_API_VERSION(1, 15),       \
      (ze_context_handle_t, ze_physical_mem_handle_t, struct zepi_ze_physical_properties *))       \
    X(append_command_lists, "zeCommandListImmediateAppendCommandListsExp",                         \
      ZEPI_ZE_API_VERSION(1, 9),                                                                   \
      (ze_command_list_handle_t, uint32_t, ze_command_list_handle_t *, ze_event_handle_t,          \
       uint32_t, ze_event_handle_t *))                                                             \
    X(append_lists_with_parameters, "zeCommandListImmediateAppendCommandListsWithParameters",      \
      ZEPI_ZE_API_VERSION(1, 16),                                                                  \
      (ze_command_list_handle_t, uint32_t, ze_command_list_handle_t *, const void *,               \
       ze_event_handle_t, uint32_t, ze_event_handle_t *))                                          \
    X(get_next_command_id, "zeCommandListGetNextCommandIdWithKernelsExp",                          \
      ZEPI_ZE_API_VERSION(1, 10),                                                                  \
      (ze_command_list_handle_t, const struct zepi_ze_number *, uint32_t, ze_kernel_handle_t *,    \
       uint64_t *))                                                                                \
    X(update_mutable_commands, "zeCommandListUpdateMutableCommandsExp",                            \
      ZEPI_ZE_API_VERSION(1, 10), (ze_command_list_handle_t, const struct zepi_ze_number *))       \
    X(update_command_kernels, "zeCommandListUpdateMutableCommandKernelsExp",                       \
      ZEPI_ZE_API_VERSION(1, 10),                                                                  \
      (ze_command_list_handle_t, uint32_t, uint64_t *, ze_kernel_handle_t *))

struct zepi_ze_optional {
#define ZEPI_ZE_MEMBER(member, name) bool member;
    ZEPI_ZE_EXTENSIONS(ZEPI_ZE_MEMBER)
#undef ZEPI_ZE_MEMBER
    bool has_in_order_lists;
    bool has_copy_offload_hint;
    // NULL: the driver lacks it. `..._is_drivers`: it came from the driver itself, not from the
    // loader, and takes the driver's own handles.
#define ZEPI_ZE_MEMBER(member, name, since, arguments)                                             \
    ze_result_t(ZE_APICALL *member) arguments;                                                     \
    bool member##_is_drivers;
    ZEPI_ZE_OPTIONAL_FUNCTIONS(ZEPI_ZE_MEMBER)
    ZEPI_ZE_NEWER_FUNCTIONS(ZEPI_ZE_MEMBER)
#undef ZEPI_ZE_MEMBER
};

// Whether an immediate list executes closed ones, under one name or the other.
static inline bool zepi_ze_appends_lists(const struct zepi_ze_optional *optional)
{
    return optional->append_command_lists || optional->append_lists_with_parameters;
}
static inline bool zepi_ze_appends_by_driver(const struct zepi_ze_optional *optional)
{
    return optional->append_command_lists ? optional->append_command_lists_is_drivers
                                          : optional->append_lists_with_parameters_is_drivers;
}

// `api_version` is the driver's. A missing function is no failure; a driver that cannot tell for
// the moment (out of memory, device lost) is.
zepi_result_t zepi_ze_optional_find(struct zepi_ze_optional *optional, ze_driver_handle_t driver,
                                    uint32_t api_version);

// The driver's own handle for one of the loader's, for functions that came from the driver. With
// one driver they are the same, with several the loader wraps handles.
void *zepi_ze_driver_handle(zel_handle_type_t type, void *handle);

#endif
