// SPDX-License-Identifier: MIT
// Device and host memory of one process in another one.
#include "chain.h"
#include "device/device.h"
#include "entry.h"
#include "memory.h"
#include "options.h"
#include "shared_file.h"
#include "ze_newer.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAGIC 0x75706369u

// The contents of a ze_ipc_mem_handle_t. As with Intel's driver it begins with a file descriptor:
// of the process that has the memory, or, if the receiver put another one in its place, the
// receiver's.
struct shared_memory {
    int file;
    int their_file;
    uint32_t process;
    uint32_t magic;
    uint64_t offset;
    uint64_t size_bytes;
    uint32_t is_of_host;
};

static void write_handle(struct shared_memory *shared, ze_ipc_mem_handle_t *out_handle)
{
    shared->their_file = shared->file;
    memset(out_handle, 0, sizeof(*out_handle));
    memcpy(out_handle->data, shared, sizeof(*shared));
}

// The allocation that begins there, with the file that its pages are in (borrowed) and their
// offset. False: there is none, or it is in no file.
static bool find_shared(ze_context_handle_t context, const void *pointer,
                        struct cpu_allocation *out_allocation)
{
    struct cpu_allocation *found = out_allocation;
    if (!cpu_memory_find(pointer, found) || found->address != (uintptr_t)pointer ||
        found->context != context || found->origin != CPU_ALLOCATED ||
        (found->offset == CPU_NO_FILE && found->exported_as == 0))
        return false;
    if (found->exported_as != 0)
        found->offset = 0;
    else
        found->file = cpu_shared_file();
    return true;
}

ze_result_t ZE_APICALL cpu_zeMemGetIpcHandle(ze_context_handle_t hContext, const void *ptr,
                                             ze_ipc_mem_handle_t *pIpcHandle)
{
    struct cpu_allocation found;
    if (!cpu_options()->shares_memory)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (!find_shared(hContext, ptr, &found)) {
        cpu_report(__func__, "%p is not where device or host memory of the context begins", ptr);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    struct shared_memory shared = {.file = found.file,
                                   .process = (uint32_t)getpid(),
                                   .magic = MAGIC,
                                   .offset = found.offset,
                                   .size_bytes = found.size_bytes,
                                   .is_of_host = found.type == ZE_MEMORY_TYPE_HOST};
    write_handle(&shared, pIpcHandle);
    return ZE_RESULT_SUCCESS;
}

// Handles are for processes of one machine.
ze_result_t ZE_APICALL cpu_zeMemGetIpcHandleWithProperties(ze_context_handle_t hContext,
                                                           const void *ptr, void *pNext,
                                                           ze_ipc_mem_handle_t *pIpcHandle)
{
    const ze_ipc_mem_handle_type_ext_desc_t *type =
        cpu_chain_find(pNext, CPU_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC);
    if (type != NULL && (type->typeFlags & ~CPU_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT) != 0)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return cpu_zeMemGetIpcHandle(hContext, ptr, pIpcHandle);
}

static ze_result_t read_handle(const ze_ipc_mem_handle_t *handle, struct shared_memory *out_shared)
{
    memcpy(out_shared, handle->data, sizeof(*out_shared));
    return out_shared->magic == MAGIC ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t ZE_APICALL cpu_zeMemGetFileDescriptorFromIpcHandleExp(ze_context_handle_t hContext,
                                                                  ze_ipc_mem_handle_t ipcHandle,
                                                                  uint64_t *pHandle)
{
    struct shared_memory shared;
    ze_result_t result = read_handle(&ipcHandle, &shared);
    if (result == ZE_RESULT_SUCCESS)
        *pHandle = (uint64_t)shared.file;
    return result;
}

// The handle is of all of the file.
ze_result_t ZE_APICALL cpu_zeMemGetIpcHandleFromFileDescriptorExp(ze_context_handle_t hContext,
                                                                  uint64_t handle,
                                                                  ze_ipc_mem_handle_t *pIpcHandle)
{
    struct shared_memory shared = {
        .file = (int)handle, .process = (uint32_t)getpid(), .magic = MAGIC};
    struct stat status;
    if (handle > INT_MAX || fstat(shared.file, &status) != 0 || !S_ISREG(status.st_mode))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    shared.size_bytes = (uint64_t)status.st_size;
    write_handle(&shared, pIpcHandle);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeMemPutIpcHandle(ze_context_handle_t hContext,
                                             ze_ipc_mem_handle_t handle)
{
    struct shared_memory shared;
    return cpu_options()->shares_memory ? read_handle(&handle, &shared)
                                        : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

// The file of the handle, as a descriptor of this process; negative: there is none.
static int open_file(const struct shared_memory *shared)
{
    if (shared->file != shared->their_file || shared->process == (uint32_t)getpid())
        return fcntl(shared->file, F_DUPFD_CLOEXEC, 0);
    const int process = (int)syscall(SYS_pidfd_open, (pid_t)shared->process, 0);
    const int own = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, shared->file, 0) : -1;
    if (process >= 0)
        close(process);
    return own;
}

ze_result_t ZE_APICALL cpu_zeMemOpenIpcHandle(ze_context_handle_t hContext,
                                              ze_device_handle_t hDevice,
                                              ze_ipc_mem_handle_t handle,
                                              ze_ipc_memory_flags_t flags, void **pptr)
{
    struct shared_memory shared;
    struct stat status;
    if (!cpu_options()->shares_memory)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if ((flags & ~(uint32_t)(ZE_IPC_MEMORY_FLAG_BIAS_CACHED | ZE_IPC_MEMORY_FLAG_BIAS_UNCACHED)))
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    ze_result_t result = read_handle(&handle, &shared);
    const int opened = result == ZE_RESULT_SUCCESS ? open_file(&shared) : -1;
    if (opened < 0)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (fstat(opened, &status) != 0 || !S_ISREG(status.st_mode) || shared.size_bytes == 0 ||
        shared.offset % CPU_PAGE_BYTES != 0 || shared.size_bytes > (uint64_t)status.st_size ||
        shared.offset > (uint64_t)status.st_size - shared.size_bytes)
        result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    else
        result = cpu_memory_map_file(hContext, shared.is_of_host ? NULL : hDevice, CPU_IMPORTED,
                                     opened, shared.offset, shared.size_bytes, pptr);
    close(opened);
    return result;
}

ze_result_t ZE_APICALL cpu_zeMemCloseIpcHandle(ze_context_handle_t hContext, const void *ptr)
{
    if (!cpu_options()->shares_memory)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (cpu_memory_close(ptr))
        return ZE_RESULT_SUCCESS;
    cpu_report(__func__, "%p is no memory that was opened", ptr);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
