// SPDX-License-Identifier: MIT
#include "program/compiler/compiler_process.h"

#include "core/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX_BYTES 16384
#define WAIT_FOR_HANDLE ((idtype_t)3) // Linux' P_PIDFD, which the C library's headers may lack

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

// Above those that the new process gets, since they are put there one after the other.
static int raise_descriptor(int fd)
{
    if (fd < 0 || fd > ZEPI_COMPILER_SOCKET)
        return fd;
    const int raised = fcntl(fd, F_DUPFD_CLOEXEC, ZEPI_COMPILER_SOCKET + 1);
    close(fd);
    return raised;
}

// Returns 0 or an errno.
static int set_actions(posix_spawn_file_actions_t *actions, int socket, int output)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, socket, ZEPI_COMPILER_SOCKET);
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(actions, ZEPI_COMPILER_SOCKET + 1);
    return error;
}

// No signal is blocked or ignored there, whatever the host does, and the group is its own: an
// interrupt from the terminal is for the host.
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0)
        error = posix_spawnattr_setpgroup(attributes, 0);
    if (error == 0)
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return error;
}

static int spawn(pid_t *out_id, const char *path, int socket, int output)
{
    char *const arguments[] = {(char *)"zepi-compiler", (char *)ZEPI_PROJECT_VERSION, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_actions(&actions, socket, output);
        if (error == 0)
            error = set_attributes(&attributes);
        if (error == 0)
            error = posix_spawn(out_id, path, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

zepi_result_t zepi_compiler_process_start(struct zepi_compiler_process *process, const char *path)
{
    int sockets[2] = {-1, -1};
    int error = 0;
    int output = -1;
    *process = (struct zepi_compiler_process){.handle = -1, .socket = -1, .output = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0) {
        sockets[1] = raise_descriptor(sockets[1]);
        output = raise_descriptor(memfd_create("zepi-compiler", MFD_CLOEXEC));
    }
    // Appending: the file is cut between two requests.
    if (sockets[1] < 0 || output < 0 || fcntl(output, F_SETFL, O_APPEND) != 0)
        error = errno;
    if (error == 0)
        error = spawn(&process->id, path, sockets[1], output);
    close_if_open(sockets[1]);
    if (error != 0) {
        close_if_open(sockets[0]);
        close_if_open(output);
        process->id = 0;
        return zepi_fail(
            ZEPI_ERROR_COMPILER_UNAVAILABLE, "ZEPI_COMPILER=process, but %s does not start: %s%s",
            path, strerror(error),
            error == ENOENT ? " (install it there, or set ZEPI_COMPILER=library)" : "");
    }
    process->handle = (int)syscall(SYS_pidfd_open, process->id, 0);
    process->socket = sockets[0];
    process->output = output;
    return ZEPI_SUCCESS;
}

bool zepi_compiler_process_is_idle(const struct zepi_compiler_process *process)
{
    struct pollfd poll_fd = {.fd = process->socket, .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 0;
}

uint64_t zepi_compiler_process_memory_bytes(const struct zepi_compiler_process *process)
{
    char path[32];
    unsigned long long pages = 0;
    snprintf(path, sizeof(path), "/proc/%ld/statm", (long)process->id);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

enum zepi_delivery zepi_compiler_process_ask(const struct zepi_compiler_process *process,
                                             const struct zepi_message *request,
                                             uint64_t deadline_ns, struct zepi_message *reply)
{
    if (ftruncate(process->output, 0) != 0)
        return ZEPI_DELIVERY_ENDED;
    const enum zepi_delivery delivery = zepi_message_send(request, process->socket, deadline_ns);
    // What a process sent before its end is still there.
    return delivery == ZEPI_DELIVERED || delivery == ZEPI_DELIVERY_ENDED
               ? zepi_message_receive(reply, process->socket, deadline_ns)
               : delivery;
}

char *zepi_compiler_process_read_output(const struct zepi_compiler_process *process)
{
    const off_t end = lseek(process->output, 0, SEEK_END);
    const off_t begin = end > OUTPUT_MAX_BYTES ? end - OUTPUT_MAX_BYTES : 0;
    char *text = end > 0 ? zepi_allocate((size_t)(end - begin) + 1, 1) : NULL;
    if (text && pread(process->output, text, (size_t)(end - begin), begin) <= 0)
        text[0] = '\0';
    return text;
}

void zepi_compiler_process_forget(struct zepi_compiler_process *process)
{
    close_if_open(process->handle);
    close(process->socket);
    close(process->output);
    *process = (struct zepi_compiler_process){.handle = -1, .socket = -1, .output = -1};
}

bool zepi_compiler_process_end(struct zepi_compiler_process *process, int *out_status)
{
    const bool has_handle = process->handle >= 0;
    siginfo_t about = {0};
    int result;
    if (!has_handle ||
        (syscall(SYS_pidfd_send_signal, process->handle, SIGKILL, NULL, 0) < 0 && errno != ESRCH))
        kill(process->id, SIGKILL);
    do
        result = has_handle ? waitid(WAIT_FOR_HANDLE, (id_t)process->handle, &about, WEXITED)
                            : waitid(P_PID, (id_t)process->id, &about, WEXITED);
    while (result < 0 && errno == EINTR);
    *out_status = about.si_code == CLD_EXITED ? W_EXITCODE(about.si_status, 0)
                                              : W_EXITCODE(0, about.si_status);
    zepi_compiler_process_forget(process);
    return result == 0;
}
