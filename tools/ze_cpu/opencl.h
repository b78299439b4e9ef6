// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_OPENCL_H
#define ZE_CPU_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <level_zero/ze_api.h>
#include <stddef.h>
#include <stdint.h>

// The OpenCL runtime under the driver: opened directly, without an ICD loader, once per process,
// and called through its platform's dispatch table. One OpenCL context serves all Level Zero
// contexts: memory is plain memory (memory.h), so nothing else would tell them apart.
struct cpu_opencl {
    const cl_icd_dispatch *api; // borrowed from the platform
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_int (*set_kernel_arg_mem_pointer)(cl_kernel, cl_uint, const void *);
    cl_int (*get_global_variable)(cl_device_id, cl_program, const char *, size_t *, void **);
    cl_int (*get_function_pointer)(cl_device_id, cl_program, const char *, cl_ulong *);
    char device_name[128];
    char driver_version[64];
    cl_uint compute_units;
    cl_uint clock_mhz; // 0: unknown
    cl_uint vendor_id, device_id, ip_version;
    cl_uint cache_line_bytes;
    struct cpu_vector_widths {
        cl_uint of_char, of_short, of_int, of_long, of_float, of_double, of_half;
    } native_widths, preferred_widths; // elements
    cl_ulong global_memory_bytes;
    cl_ulong local_memory_bytes;
    cl_ulong maximum_allocation_bytes;
    cl_ulong cache_bytes;
    size_t maximum_group_size;
    size_t maximum_argument_bytes;
    size_t printf_buffer_bytes;
    cl_device_fp_config half_config, single_config, double_config;
    cl_bitfield single_atomics, double_atomics; // cl_ext_float_atomics
    cl_bitfield dot_products;                   // cl_khr_integer_dot_product
    cl_bool has_images;
    size_t image_2d_width, image_3d_width, image_array_size, image_buffer_width;
    cl_uint samplers, read_images, write_images;
    uint32_t sub_group_sizes[8];
    uint32_t sub_group_size_count;
};

// Opens the runtime on the first call. NULL if there is none that serves; `out_message` then says
// why (static storage; may be NULL).
const struct cpu_opencl *cpu_opencl_open(const char **out_message);

// The result of cpu_opencl_open, without its check. Only after it succeeded.
const struct cpu_opencl *cpu_opencl(void);

ze_result_t cpu_opencl_result(cl_int code);

#endif
