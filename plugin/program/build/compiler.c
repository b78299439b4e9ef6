// SPDX-License-Identifier: MIT
#include "program/build/compiler.h"

#include "core/alloc.h"
#include "core/log.h"
#include "device/device.h"
#include "device/platform.h"
#include "program/build/binary_cache.h"
#include "program/native/key_tags.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX_BYTES 16384

// A build in a process, a child of this one.
struct process {
    const char *name; // of the module
    int file;         // owned: the request, and behind it the reply
    int output;       // owned: what the process prints
    off_t request_bytes;
};

// ---- The request ----

static bool put(int file, const void *bytes, size_t size_bytes)
{
    static const uint8_t zeros[8];
    const size_t padding = ZEPI_COMPILER_ROUNDED(size_bytes) - size_bytes;
    return zepi_sys_write(file, bytes, size_bytes) == (ssize_t)size_bytes &&
           zepi_sys_write(file, zeros, padding) == (ssize_t)padding;
}

// Each value has 8 bytes to read, zeros behind its own.
static bool put_constants(int file, const ze_module_constants_t *constants)
{
    const uint64_t count = constants ? constants->numConstants : 0;
    bool is_put = put(file, &count, sizeof(count));
    for (uint32_t i = 0; i < count && is_put; i++)
        is_put = put(file, constants->pConstantValues[i], sizeof(uint64_t));
    return is_put && (count == 0 || put(file, constants->pConstantIds, count * sizeof(uint32_t)));
}

static bool put_modules(int file, const struct zepi_key *device,
                        const ze_module_program_exp_desc_t *all, bool is_program)
{
    const struct zepi_compiler_request request = {device->size, all->count, is_program};
    bool is_put = put(file, &request, sizeof(request)) && put(file, device->bytes, device->size) &&
                  put(file, all->inputSizes, all->count * sizeof(size_t));
    for (uint32_t i = 0; i < all->count && is_put; i++)
        is_put = put_constants(file, all->pConstants ? all->pConstants[i] : NULL) &&
                 put(file, all->pBuildFlags[i], strlen(all->pBuildFlags[i]) + 1) &&
                 put(file, all->pInputModules[i], all->inputSizes[i]);
    return is_put;
}

// Above the numbers of the new process' descriptors, which are taken one after the other.
static int make_file(void)
{
    const int low = memfd_create("zepi-compiler", MFD_CLOEXEC);
    const int file = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (low >= 0)
        close(low);
    return file;
}

static zepi_result_t put_request(struct process *process, const struct zepi_device *device,
                                 const ze_module_program_exp_desc_t *sources, bool is_program)
{
    struct zepi_key key;
    process->file = make_file();
    process->output = make_file();
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    zepi_key_add_device(&key, device);
    const bool is_put = process->file >= 0 && process->output >= 0 && zepi_key_seal(&key) &&
                        put_modules(process->file, &key, sources, is_program);
    zepi_key_finish(&key);
    process->request_bytes = is_put ? lseek(process->file, 0, SEEK_CUR) : 0;
    return is_put ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

// ---- The process ----

// No signal is blocked or ignored there, whatever the host does, and the group is its own: an
// interrupt from the terminal is for the host. Returns 0 or an errno.
static int spawn(const struct process *process, const char *path, pid_t *out_id)
{
    char *const arguments[] = {(char *)"zepi-compiler", (char *)ZEPI_PROJECT_VERSION, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    int error = 0;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && error == 0; fd++)
        error = posix_spawn_file_actions_adddup2(
            &actions, fd == STDIN_FILENO ? process->file : process->output, fd);
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (error == 0)
        error = posix_spawn(out_id, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

// Until the process ends; a reply that is not there stays zeroed. *out_status is that of waitpid();
// -1: the host has taken it.
static zepi_result_t process_run(const struct process *process, struct zepi_compiler_reply *reply,
                                 int *out_status)
{
    char path[PATH_MAX] = "zepi-compiler beside zepi's library";
    pid_t id;
    const int error =
        zepi_sys_find_beside("zepi-compiler", path) ? spawn(process, path, &id) : ENOENT;
    if (error != 0)
        return zepi_fail(
            ZEPI_ERROR_COMPILER_UNAVAILABLE, "ZEPI_COMPILER=process, but %s does not start: %s%s",
            path, strerror(error),
            error == ENOENT ? " (install it there, or set ZEPI_COMPILER=library)" : "");
    *out_status = -1;
    while (waitpid(id, out_status, 0) < 0 && errno == EINTR)
        ;
    (void)!pread(process->file, reply, sizeof(*reply), process->request_bytes);
    reply->error.text[sizeof(reply->error.text) - 1] = '\0';
    return ZEPI_SUCCESS;
}

// ---- The reply ----

// The sizes are the process', and checked.
static zepi_result_t use_reply(const struct process *process, const struct zepi_device *device,
                               const struct zepi_compiler_reply *reply, struct zepi_text *log,
                               void **out_native)
{
    const uint64_t size = reply->log_bytes + reply->native_bytes;
    char *bytes = size >= reply->log_bytes ? zepi_allocate(size, 1) : NULL;
    if (!bytes || pread(process->file, bytes, size,
                        process->request_bytes + (off_t)sizeof(*reply)) != (ssize_t)size) {
        zepi_free(bytes);
        return zepi_fail_no_memory();
    }
    zepi_text_append(log, bytes, reply->log_bytes);
    if (reply->native_bytes > 0)
        *out_native = zepi_duplicate(bytes + reply->log_bytes, reply->native_bytes);
    zepi_free(bytes);
    if (reply->is_identified)
        zepi_compiler_identity_note(&device->platform->compiler, reply->identity);
    if (reply->error.result != ZEPI_SUCCESS)
        zepi_error_restore(&reply->error);
    else if (reply->native_bytes > 0 && !*out_native)
        return zepi_fail_no_memory();
    return reply->error.result;
}

// A process that was killed from outside, or has not come up, says nothing about the module. Its
// time is limited by SIGALRM.
static zepi_result_t fail_by_end(const struct process *process, bool is_up, int status)
{
    const int signal = status != -1 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const bool is_spurious = !is_up || signal == SIGKILL || signal == SIGTERM;
    const char *name = sigabbrev_np(signal);
    char how[96];
    if (is_up && signal == SIGALRM)
        return zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                         "the compiler was stopped: it had built %s for %llu s "
                         "(ZEPI_COMPILER_SECONDS)",
                         process->name, (unsigned long long)zepi_options()->compiler_seconds);
    if (status == -1)
        snprintf(how, sizeof(how), "ended, and its host took the news of how,");
    else if (signal != 0)
        snprintf(how, sizeof(how), "died of SIG%s (signal %d)", name ? name : "?", signal);
    else
        snprintf(how, sizeof(how), "ended with exit code %d", WEXITSTATUS(status));
    return zepi_fail(is_spurious ? ZEPI_ERROR_COMPILER_UNAVAILABLE : ZEPI_ERROR_COMPILE_FAILURE,
                     "the compiler %s %s %s, in a process of its own (ZEPI_COMPILER=process)", how,
                     is_up ? "while it built" : "before it could build", process->name);
}

// The log is the sentence, and behind it what the process printed. One that has not come up says
// why in its first line.
static void log_failure(const struct process *process, bool is_up, struct zepi_text *log)
{
    char output[OUTPUT_MAX_BYTES + 1] = "";
    const off_t end = lseek(process->output, 0, SEEK_END);
    if (pread(process->output, output, OUTPUT_MAX_BYTES,
              end > OUTPUT_MAX_BYTES ? end - OUTPUT_MAX_BYTES : 0) > 0 &&
        !is_up)
        zepi_error_append(": %.*s", (int)strcspn(output, "\n"), output);
    zepi_text_append(log, zepi_last_error(NULL), strlen(zepi_last_error(NULL)));
    zepi_text_append(log, "\n", 1);
    zepi_text_append(log, output, strlen(output));
}

zepi_result_t zepi_compiler_compile(const struct zepi_device *device,
                                    const ze_module_program_exp_desc_t *sources, bool is_program,
                                    const char *name, struct zepi_text *log, void **out_native,
                                    size_t *out_native_bytes)
{
    struct process process = {.name = name};
    struct zepi_compiler_reply reply = {0};
    int status;
    *out_native = NULL;
    zepi_result_t result = put_request(&process, device, sources, is_program);
    if (result == ZEPI_SUCCESS)
        result = process_run(&process, &reply, &status);
    if (reply.is_done) {
        result = use_reply(&process, device, &reply, log, out_native);
    } else {
        if (result == ZEPI_SUCCESS)
            result = fail_by_end(&process, reply.is_up, status);
        log_failure(&process, reply.is_up, log);
        zepi_log(ZEPI_LOG_ERROR, "%s", zepi_last_error(NULL));
    }
    *out_native_bytes = reply.native_bytes;
    if (process.file >= 0)
        close(process.file);
    if (process.output >= 0)
        close(process.output);
    return result;
}
