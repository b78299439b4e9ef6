// SPDX-License-Identifier: MIT
// Handles of memory where the system keeps a process from the file descriptors of another one.
#include "ipc_fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The system calls that take the descriptor of another process.
static bool filter_call(int number, uint32_t error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// As container runtimes do for a process without CAP_SYS_PTRACE.
static bool filter_taking(void)
{
    return filter_call(SYS_pidfd_getfd, EPERM);
}

static bool filter_opening(void)
{
    return filter_call(SYS_pidfd_open, EPERM);
}

// As Linux before 5.6 has it.
static bool lack_taking(void)
{
    return filter_call(SYS_pidfd_getfd, ENOSYS);
}

// Of a process that is not dumpable, and of another user's, nothing is taken without a capability.
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {{0}};
    return syscall(SYS_capset, &header, none) == 0;
}

static bool become_another_user(void)
{
    const uid_t nobody = 65534;
    return syscall(SYS_setresuid, nobody, nobody, nobody) == 0 && drop_capabilities();
}

// What the other process does to itself before it opens handles; set before it begins.
static bool (*restrict_reader)(void);

static int count_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

#define EXIT_NO_WAY 8 // exit status: this system does not take the restriction

// Opens the handles of USM and of physical memory, which must fail with the reason.
static void open_what_is_forbidden(void)
{
    struct message messages[2];
    void *opened = NULL;
    ur_physical_mem_handle_t physical = NULL;
    if (!ipc_receive(&messages[0]) || !ipc_receive(&messages[1]))
        _exit(1);
    if (!restrict_reader())
        _exit(EXIT_NO_WAY);
    const int before = count_descriptors();
    UR_FAILS_SAYING(urIPCOpenMemHandleExp(gear.context, gear.device, messages[0].handle,
                                          messages[0].size, &opened),
                    UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                    "the system does not let this process take a file descriptor of process");
    UR_FAILS_SAYING(urIPCOpenPhysMemHandleExp(gear.context, gear.device, messages[1].handle,
                                              messages[1].size, &physical),
                    UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                    "the system does not let this process take a file descriptor of process");
    if (opened || physical || count_descriptors() != before)
        _exit(1);
    ur_tear_down();
}

static void send_usm_handle(void *memory)
{
    struct message message = {0};
    void *handle;
    UR_OK(urIPCGetMemHandleExp(gear.context, memory, &handle, &message.size));
    memcpy(message.handle, handle, message.size);
    ipc_send(&message);
}

static void send_physical_handle(ur_physical_mem_handle_t memory)
{
    struct message message = {0};
    void *handle;
    UR_OK(urIPCGetPhysMemHandleExp(gear.context, memory, &handle, &message.size));
    memcpy(message.handle, handle, message.size);
    ipc_send(&message);
}

static void share(bool (*restriction)(void), bool is_hidden)
{
    const ur_physical_mem_properties_t properties = {.stype =
                                                         UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES,
                                                     .flags = UR_PHYSICAL_MEM_FLAG_ENABLE_IPC};
    ur_physical_mem_handle_t physical;
    size_t page;
    restrict_reader = restriction;
    ipc_set_up_with(open_what_is_forbidden);
    UR_OK(urVirtualMemGranularityGetInfo(gear.context, gear.device, 1,
                                         UR_VIRTUAL_MEM_GRANULARITY_INFO_MINIMUM, sizeof(page),
                                         &page, NULL));
    UR_OK(urPhysicalMemCreate(gear.context, gear.device, page, &properties, &physical));
    void *memory = ur_device_memory(5000);
    if (is_hidden)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    send_usm_handle(memory);
    send_physical_handle(physical);
    const int status = ipc_wait();
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    ur_free(memory);
    UR_OK(urPhysicalMemRelease(physical));
    ur_tear_down();
    if (status == EXIT_NO_WAY)
        cr_skip_test("this system does not take the restriction");
    cr_assert_eq(status, 0, "the other process fails");
}

Test(ipc_forbidden, by_a_filter_of_system_calls)
{
    share(filter_taking, false);
}

Test(ipc_forbidden, by_a_filter_of_opening_processes)
{
    share(filter_opening, false);
}

Test(ipc_forbidden, by_a_kernel_without_the_system_call)
{
    share(lack_taking, false);
}

Test(ipc_forbidden, by_a_process_that_is_not_dumpable)
{
    share(drop_capabilities, true);
}

Test(ipc_forbidden, by_another_user)
{
    share(become_another_user, false);
}
