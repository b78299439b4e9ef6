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
    cl_int (*set_kernel_arg_mem_pointer)(cl_kernel, cl_uint, const void *);
    cl_int (*get_global_variable)(cl_device_id, cl_program, const char *, size_t *, void **);
    cl_int (*get_function_pointer)(cl_device_id, cl_program, const char *, cl_ulong *);
    char device_name[128];
    char driver_version[64];
    cl_uint compute_units;
    cl_ulong global_memory_bytes;
    cl_ulong maximum_allocation_bytes;
    size_t maximum_group_size;
    uint32_t sub_group_sizes[8];
    uint32_t sub_group_size_count;
};

// Opens the runtime on the first call. NULL if there is none that serves; `out_message` then says
// why (static storage; may be NULL).
const struct cpu_opencl *cpu_opencl_open(const char **out_message);

// The result of cpu_opencl_open, without its check. Only after it succeeded.
const struct cpu_opencl *cpu_opencl(void);

// Created on the first call: programs that run no kernel save a third of the time to start. NULL if
// that fails: each OpenCL call refuses it.
cl_context cpu_opencl_context(void);

// A property of the device that is a number, of up to 64 bits; 0: it has none.
uint64_t cpu_opencl_number(cl_device_info name);

ze_result_t cpu_opencl_result(cl_int code);

#endif
