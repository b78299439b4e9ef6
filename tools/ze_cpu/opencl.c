// SPDX-License-Identifier: MIT
#include "opencl.h"

#include "options.h"
#include "ze_cpu.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUB_GROUP_SIZES_INTEL 0x4108

static struct cpu_opencl opencl;
static cl_context context;
static bool is_open;
static char message[PATH_MAX + 256];
static char tried[1024];            // reasons of the libraries that could not be opened
static char library_file[PATH_MAX]; // of the runtime
static pthread_once_t open_once = PTHREAD_ONCE_INIT;
static pthread_once_t context_once = PTHREAD_ONCE_INIT;

typedef void *(*get_extension_function_t)(const char *);

// Opens a library, or adds the loader's reason to those of libraries before.
static void *try_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const size_t length = strlen(tried);
    if (library == NULL)
        snprintf(tried + length, sizeof(tried) - length, "%s%s", length > 0 ? "; " : "", dlerror());
    return library;
}

// The file in a folder; none if there is no folder.
static void *try_folder(const char *folder, size_t length, const char *below)
{
    char path[PATH_MAX];
    if (folder == NULL || length == 0 ||
        snprintf(path, sizeof(path), "%.*s%s/libintelocl.so", (int)length, folder, below) >=
            PATH_MAX)
        return NULL;
    return try_library(path);
}

// The dynamic loader is last: in a build tree it knows the environment of tools/setup, too.
static void *open_library(void)
{
    const char *chosen = cpu_options()->opencl;
    const char *environment = secure_getenv("VIRTUAL_ENV");
    Dl_info self;
    if (chosen != NULL && chosen[0] != '\0')
        return try_library(chosen);
    const char *slash = dladdr((void *)&opencl, &self) != 0 ? strrchr(self.dli_fname, '/') : NULL;
    void *library =
        slash != NULL ? try_folder(self.dli_fname, (size_t)(slash - self.dli_fname), "") : NULL;
    if (library == NULL && environment != NULL)
        library = try_folder(environment, strlen(environment), "/lib");
    return library != NULL ? library : try_library("libintelocl.so");
}

static bool find_platform(void *library)
{
    get_extension_function_t extension =
        (get_extension_function_t)dlsym(library, "clGetExtensionFunctionAddress");
    if (extension == NULL)
        return false;
    cl_int (*get_platforms)(cl_uint, cl_platform_id *, cl_uint *) =
        (cl_int(*)(cl_uint, cl_platform_id *, cl_uint *))extension("clIcdGetPlatformIDsKHR");
    if (get_platforms == NULL)
        return false;
    cl_platform_id platforms[8];
    cl_uint count = 0;
    if (get_platforms(8, platforms, &count) != CL_SUCCESS)
        return false;
    for (cl_uint i = 0; i < count && i < 8; i++) {
        // The ICD extension fixes this: an object's first word is its dispatch table.
        const cl_icd_dispatch *api = *(const cl_icd_dispatch *const *)platforms[i];
        if (api->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &opencl.device, NULL) ==
            CL_SUCCESS) {
            opencl.api = api;
            opencl.platform = platforms[i];
            return true;
        }
    }
    return false;
}

static void find_extensions(void)
{
    const cl_icd_dispatch *api = opencl.api;
#define FIND(member, name)                                                                         \
    *(void **)&opencl.member = api->clGetExtensionFunctionAddressForPlatform(opencl.platform, name)
    FIND(set_kernel_arg_mem_pointer, "clSetKernelArgMemPointerINTEL");
    FIND(get_global_variable, "clGetDeviceGlobalVariablePointerINTEL");
    FIND(get_function_pointer, "clGetDeviceFunctionPointerINTEL");
#undef FIND
}

// ZE_CPU_MEMORY and ZE_CPU_MAX_ALLOCATION.
static void limit_memory(void)
{
    const cl_ulong memory_bytes = (cl_ulong)cpu_options()->memory_mib << 20;
    if (memory_bytes != 0 && opencl.global_memory_bytes > memory_bytes)
        opencl.global_memory_bytes = memory_bytes;
    if (memory_bytes != 0 && opencl.maximum_allocation_bytes > memory_bytes)
        opencl.maximum_allocation_bytes = memory_bytes;
    const cl_ulong allocation_bytes = (cl_ulong)cpu_options()->allocation_mib << 20;
    if (allocation_bytes != 0 && opencl.maximum_allocation_bytes > allocation_bytes)
        opencl.maximum_allocation_bytes = allocation_bytes;
}

static void read_sub_group_sizes(void)
{
    size_t sizes[8];
    size_t size_bytes = 0;
    if (opencl.api->clGetDeviceInfo(opencl.device, SUB_GROUP_SIZES_INTEL, sizeof(sizes), sizes,
                                    &size_bytes) != CL_SUCCESS)
        return;
    opencl.sub_group_size_count = (uint32_t)(size_bytes / sizeof(sizes[0]));
    // No Intel GPU has larger ones. XLA's kernels need the largest that there is.
    while (cpu_options()->reports_gpu && opencl.sub_group_size_count > 1 &&
           sizes[opencl.sub_group_size_count - 1] > 32)
        opencl.sub_group_size_count--;
    for (uint32_t i = 0; i < opencl.sub_group_size_count; i++)
        opencl.sub_group_sizes[i] = (uint32_t)sizes[i];
}

static void read_device(void)
{
#define READ(name, member)                                                                         \
    opencl.api->clGetDeviceInfo(opencl.device, name, sizeof(opencl.member), &opencl.member, NULL)
    READ(CL_DEVICE_NAME, device_name);
    READ(CL_DRIVER_VERSION, driver_version);
    READ(CL_DEVICE_MAX_COMPUTE_UNITS, compute_units);
    READ(CL_DEVICE_GLOBAL_MEM_SIZE, global_memory_bytes);
    READ(CL_DEVICE_MAX_MEM_ALLOC_SIZE, maximum_allocation_bytes);
    READ(CL_DEVICE_MAX_WORK_GROUP_SIZE, maximum_group_size);
#undef READ
    limit_memory();
    read_sub_group_sizes();
}

static void open_runtime(void)
{
    void *library = open_library();
    struct link_map *map;
    if (library == NULL) {
        snprintf(message, sizeof(message),
                 "no OpenCL runtime: in a virtual environment, pip install intel-opencl-rt, or "
                 "let ZE_CPU_OPENCL name a libintelocl.so (tried: %s)",
                 tried);
        return;
    }
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && realpath(map->l_name, library_file) == NULL)
        snprintf(library_file, sizeof(library_file), "%s", map->l_name);
    if (!find_platform(library)) {
        snprintf(message, sizeof(message), "the OpenCL runtime %s has no CPU device", library_file);
        return;
    }
    find_extensions();
    if (opencl.set_kernel_arg_mem_pointer == NULL || opencl.api->clCreateProgramWithIL == NULL) {
        snprintf(message, sizeof(message), "the OpenCL runtime %s lacks SPIR-V or USM",
                 library_file);
        return;
    }
    read_device();
    is_open = true;
}

const struct cpu_opencl *cpu_opencl_open(const char **out_message)
{
    pthread_once(&open_once, open_runtime);
    if (out_message != NULL)
        *out_message = message;
    return is_open ? &opencl : NULL;
}

__attribute__((visibility("default"))) const char *zeCpuGetRuntime(const char **out_reason)
{
    return cpu_opencl_open(out_reason) != NULL ? library_file : NULL;
}

const struct cpu_opencl *cpu_opencl(void)
{
    return &opencl;
}

static void create_context(void)
{
    context = opencl.api->clCreateContext(NULL, 1, &opencl.device, NULL, NULL, NULL);
}

cl_context cpu_opencl_context(void)
{
    pthread_once(&context_once, create_context);
    return context;
}

uint64_t cpu_opencl_number(cl_device_info name)
{
    uint64_t number = 0; // smaller ones fill its lower bytes
    opencl.api->clGetDeviceInfo(opencl.device, name, sizeof(number), &number, NULL);
    return number;
}

ze_result_t cpu_opencl_result(cl_int code)
{
    switch (code) {
    case CL_SUCCESS:
        return ZE_RESULT_SUCCESS;
    case CL_OUT_OF_HOST_MEMORY:
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case CL_OUT_OF_RESOURCES:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_INVALID_BINARY:
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    case CL_LINK_PROGRAM_FAILURE:
        return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    case CL_INVALID_ARG_SIZE:
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    case CL_INVALID_ARG_INDEX:
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    case CL_IMAGE_FORMAT_NOT_SUPPORTED:
        return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
    default:
        return ZE_RESULT_ERROR_UNKNOWN;
    }
}
