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

struct zepi_ze_counter_based_desc { // 1.8, in the chain of ze_event_pool_desc_t
    ze_structure_type_t stype;
    const void *next;
    uint32_t flags;
};
#define ZEPI_ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC 0x00020014u
#define ZEPI_ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE (1u << 0)

struct zepi_ze_init_drivers_desc { // 1.10
    ze_structure_type_t stype;
    const void *next;
    uint32_t flags;
};
#define ZEPI_ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC 0x00020021u

struct zepi_ze_ip_version { // ZE_extension_device_ip_version
    ze_structure_type_t stype;
    void *next;
    uint32_t ip_version;
};
#define ZEPI_ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT 0x0001000fu

struct zepi_ze_cache_line { // ZE_extension_device_cache_line_size
    ze_structure_type_t stype;
    void *next;
    size_t size_bytes;
};
#define ZEPI_ZE_STRUCTURE_TYPE_CACHE_LINE 0x00020028u

struct zepi_ze_usable_memory { // ZE_extension_device_usablemem_size_properties
    ze_structure_type_t stype;
    void *next;
    uint64_t size_bytes;
};
#define ZEPI_ZE_STRUCTURE_TYPE_USABLE_MEMORY 0x00020041u

struct zepi_ze_sysmem_desc { // ZE_extension_external_memmap_sysmem
    ze_structure_type_t stype;
    const void *next;
    void *memory;
    uint64_t size_bytes;
};
#define ZEPI_ZE_STRUCTURE_TYPE_SYSMEM 0x00020037u

struct zepi_ze_block_array { // ZE_intel_experimental_device_block_array_properties
    ze_structure_type_t stype;
    void *next;
    uint32_t flags;
};
#define ZEPI_ZE_STRUCTURE_TYPE_BLOCK_ARRAY 0x00030007u
#define ZEPI_ZE_BLOCK_ARRAY_STORE 1u
#define ZEPI_ZE_BLOCK_ARRAY_LOAD 2u

struct zepi_ze_register_file { // of kernels; no extension names it
    ze_structure_type_t stype;
    const void *next;
    uint32_t register_count; // of a hardware thread
};
#define ZEPI_ZE_STRUCTURE_TYPE_REGISTER_FILE 0x00030012u

// Mutable command lists: ZE_experimental_mutable_command_list.
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
struct zepi_ze_mutable_list_properties { // of a device
    ze_structure_type_t stype;
    void *next;
    uint32_t list_flags;
    uint32_t command_flags;
};
struct zepi_ze_mutable_flags_desc { // of a list, of a command's identifier, of changes
    ze_structure_type_t stype;
    const void *next;
    uint32_t flags;
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

struct zepi_ze_optional {
    bool has_in_order_lists;
    bool has_copy_offload_hint;
    bool has_module_program;
    bool has_linkage_inspection;
    bool has_ip_version;
    bool has_global_offset;
    bool has_relaxed_allocation_limits;
    bool has_counter_based_events;
    bool has_bfloat16;
    bool has_cache_line;
    bool has_usable_memory;
    bool has_block_array;
    bool has_memory_details;
    bool has_sysmem_mapping;
    bool has_append_lists;
    bool has_mutable_lists; // with the functions below
    bool has_pci;
    // Which of the functions below came from the driver itself, not from the loader: such a
    // function takes the driver's own handles.
    bool is_synchronize_drivers;
    bool is_vector_widths_drivers;
    bool is_append_lists_drivers;
    bool is_mutable_lists_drivers;
    bool is_put_ipc_handle_drivers;
    bool is_host_function_drivers;
    // zeIntelGetDriverVersionString, with the driver's own handle (quirk private-version). NULL
    // text: asks for the size, which is without the terminating zero.
    ze_result_t(ZE_APICALL *intel_get_driver_version)(ze_driver_handle_t, char *, size_t *);
    // zexKernelGetArgumentSize, with the driver's own handle. How many bytes the native code reads
    // of the argument at least.
    ze_result_t(ZE_APICALL *kernel_get_argument_size)(ze_kernel_handle_t, uint32_t, uint32_t *);
    // zexDriverImportExternalPointer and zexDriverReleaseImportedPointer, with the driver's own
    // handle. Copies of the memory in between need no preparation.
    ze_result_t(ZE_APICALL *import_host_pointer)(ze_driver_handle_t, void *, size_t);
    ze_result_t(ZE_APICALL *release_host_pointer)(ze_driver_handle_t, void *);
    // 1.13
    ze_result_t(ZE_APICALL *device_get_vector_widths)(ze_device_handle_t, uint32_t *,
                                                      struct zepi_ze_vector_widths *);
    // 1.6
    ze_result_t(ZE_APICALL *put_ipc_handle)(ze_context_handle_t, ze_ipc_mem_handle_t);
    // 1.9
    ze_result_t(ZE_APICALL *command_list_host_synchronize)(ze_command_list_handle_t, uint64_t);
    // 1.17: the list calls a function of the host
    ze_result_t(ZE_APICALL *append_host_function)(ze_command_list_handle_t, void (*)(void *),
                                                  void *, const void *, ze_event_handle_t, uint32_t,
                                                  ze_event_handle_t *);
    // An immediate list executes closed ones: ZE_experimental_immediate_command_list_append, 1.9,
    // and if the driver lacks that, its successor, whose chain is the fourth argument.
    ze_result_t(ZE_APICALL *append_command_lists)(ze_command_list_handle_t, uint32_t,
                                                  ze_command_list_handle_t *, ze_event_handle_t,
                                                  uint32_t, ze_event_handle_t *);
    ze_result_t(ZE_APICALL *append_lists_with_parameters)(ze_command_list_handle_t, uint32_t,
                                                          ze_command_list_handle_t *, const void *,
                                                          ze_event_handle_t, uint32_t,
                                                          ze_event_handle_t *);
    // ZE_experimental_mutable_command_list 1.1, with kernels: 1.10.
    ze_result_t(ZE_APICALL *get_next_command_id)(ze_command_list_handle_t,
                                                 const struct zepi_ze_mutable_flags_desc *,
                                                 uint32_t, ze_kernel_handle_t *, uint64_t *);
    ze_result_t(ZE_APICALL *update_mutable_commands)(ze_command_list_handle_t,
                                                     const struct zepi_ze_mutable_flags_desc *);
    ze_result_t(ZE_APICALL *update_command_kernels)(ze_command_list_handle_t, uint32_t, uint64_t *,
                                                    ze_kernel_handle_t *);
};

// Whether an immediate list executes closed ones, under one name or the other.
static inline bool zepi_ze_appends_lists(const struct zepi_ze_optional *optional)
{
    return optional->append_command_lists || optional->append_lists_with_parameters;
}

// `api_version` is the driver's. A missing function is no failure; a driver that cannot tell for
// the moment (out of memory, device lost) is.
zepi_result_t zepi_ze_optional_find(struct zepi_ze_optional *optional, ze_driver_handle_t driver,
                                    uint32_t api_version);

// The driver's own handle for one of the loader's, for functions that came from the driver. With
// one driver they are the same, with several the loader wraps handles.
void *zepi_ze_driver_handle(zel_handle_type_t type, void *handle);

#endif
