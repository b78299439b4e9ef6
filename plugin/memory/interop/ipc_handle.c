// SPDX-License-Identifier: MIT
#include "memory/interop/ipc_handle.h"

#include "cache/digest.h"
#include "device/device.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAGIC 0x43504932u // changes with the layout

static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

static zepi_result_t fail_shortage(int error)
{
    return zepi_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY,
                     "memory or file descriptors do not suffice to share memory (error %d)", error);
}

// When the process began; 0: it is gone, or the system does not tell. Returns 0, or the error that
// is a shortage.
static int start_of_process(pid_t process, uint64_t *out_start)
{
    char path[64];
    char text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    *out_start = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return is_shortage(errno) ? errno : 0;
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    // The second field is a name in brackets, with any characters; the start is the 22nd.
    const char *field = strrchr(text, ')');
    for (int i = 2; field && i < 22; i++) {
        field = strchr(field, ' ');
        field = field ? field + 1 : NULL;
    }
    if (field)
        *out_start = strtoull(field, NULL, 10);
    return 0;
}

static void set_checksum(struct zepi_ipc_handle *handle)
{
    const struct zepi_digest digest =
        zepi_digest_of(handle, offsetof(struct zepi_ipc_handle, checksum));
    static_assert(sizeof(digest) == sizeof(handle->checksum), "a digest fits");
    memcpy(handle->checksum, &digest, sizeof(handle->checksum));
}

static bool find_file(int descriptor, uint64_t out_file[2])
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return false;
    out_file[0] = status.st_dev;
    out_file[1] = status.st_ino;
    return true;
}

void zepi_ipc_handle_seal(struct zepi_ipc_handle *handle)
{
    int descriptor;
    memcpy(&descriptor, handle->ze.data, sizeof(descriptor));
    if (!find_file(descriptor, handle->file))
        memset(handle->file, 0, sizeof(handle->file));
    set_checksum(handle);
}

// A number that was given back may be another file's by now.
static bool is_file_of(const struct zepi_ipc_handle *handle, int descriptor)
{
    uint64_t file[2];
    const bool is_known = handle->file[0] != 0 || handle->file[1] != 0;
    return !is_known ||
           (find_file(descriptor, file) && memcmp(file, handle->file, sizeof(file)) == 0);
}

zepi_result_t zepi_ipc_handle_begin(struct zepi_ipc_handle *handle, enum zepi_ipc_kind kind,
                                    const struct zepi_device *device)
{
    const int error = start_of_process(getpid(), &handle->process_start);
    if (error)
        return fail_shortage(error);
    handle->magic = MAGIC;
    handle->kind = kind;
    handle->process = (uint32_t)getpid();
    memcpy(handle->device, device->properties.uuid.id, sizeof(handle->device));
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_ipc_handle_read(const void *bytes, size_t size_bytes, enum zepi_ipc_kind kind,
                                   const struct zepi_device *device,
                                   struct zepi_ipc_handle *out_handle)
{
    struct zepi_ipc_handle sealed;
    if (size_bytes != sizeof(*out_handle))
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "a handle of %zu bytes, expected %zu", size_bytes,
                         sizeof(*out_handle));
    memcpy(out_handle, bytes, sizeof(*out_handle));
    sealed = *out_handle;
    set_checksum(&sealed);
    if (out_handle->magic != MAGIC ||
        memcmp(sealed.checksum, out_handle->checksum, sizeof(sealed.checksum)) != 0)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the bytes are no handle of memory, or one of another version of zepi");
    if (out_handle->kind != (uint32_t)kind)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the handle is of %s",
                         kind == ZEPI_IPC_USM ? "physical memory, expected USM"
                                              : "USM, expected physical memory");
    if (memcmp(out_handle->device, device->properties.uuid.id, sizeof(out_handle->device)) != 0)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the handle is of memory of another device");
    return ZEPI_SUCCESS;
}

static zepi_result_t fail_take(const struct zepi_ipc_handle *handle, int error)
{
    if (error == ESRCH)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "process %" PRIu32 ", which has the memory of the handle, is gone",
                         handle->process);
    if (error == EBADF)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the handle was put back");
    if (is_shortage(error))
        return fail_shortage(error);
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                     "the system does not let this process take a file descriptor of process "
                     "%" PRIu32 " (error %d): that needs Linux 5.6, no filter of system calls "
                     "against pidfd_getfd, the same user, another process that is dumpable, and "
                     "kernel.yama.ptrace_scope 0 or its prctl(PR_SET_PTRACER)",
                     handle->process, error);
}

zepi_result_t zepi_ipc_handle_take_descriptor(const struct zepi_ipc_handle *handle,
                                              int *out_descriptor)
{
    int theirs;
    memcpy(&theirs, handle->ze.data, sizeof(theirs));
    const int process = (int)syscall(SYS_pidfd_open, (pid_t)handle->process, 0);
    if (process < 0)
        return fail_take(handle, errno);
    // Its number is that of the process from here on, so it is the right one if its start is.
    uint64_t start;
    int own = -1;
    int error = start_of_process((pid_t)handle->process, &start);
    if (!error && handle->process_start && start != handle->process_start)
        error = ESRCH;
    if (!error) {
        own = (int)syscall(SYS_pidfd_getfd, process, theirs, 0);
        error = errno;
    }
    close(process);
    if (own >= 0 && !is_file_of(handle, own)) {
        close(own);
        own = -1;
        error = EBADF;
    }
    if (own < 0)
        return fail_take(handle, error);
    *out_descriptor = own;
    return ZEPI_SUCCESS;
}
