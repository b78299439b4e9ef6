// SPDX-License-Identifier: MIT
#include "program/compiler/serve.h"

#include "core/alloc.h"
#include "core/options.h"
#include "device/adapter.h"
#include "device/device.h"
#include "program/compiler/compiler_process.h"
#include "program/compiler/request.h"
#include "ze/ze.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// A context for each driver that was asked for.
struct compiler {
    struct zepi_platform *const *platforms; // borrowed
    uint32_t platform_count;
    ze_context_handle_t *contexts; // NULL: not yet
};

// ---- Devices ----

static bool is_platform(const struct zepi_platform *platform,
                        const struct zepi_compiler_request *request)
{
    return strcmp(platform->library, request->driver_library) == 0 &&
           platform->properties.driverVersion == request->driver_version;
}

// The same identity is the same native code, whichever device it is.
static const struct zepi_device *find_device(const struct compiler *compiler,
                                             const struct zepi_compiler_request *request,
                                             uint32_t *out_platform)
{
    for (uint32_t i = 0; i < compiler->platform_count; i++) {
        const struct zepi_platform *platform = compiler->platforms[i];
        for (uint32_t at = 0; at < platform->device_count; at++) {
            const struct zepi_device *device = platform->devices[at];
            *out_platform = i;
            if (is_platform(platform, request) && device->properties.vendorId == request->vendor &&
                device->properties.deviceId == request->device &&
                device->ip_version == request->ip_version)
                return device;
        }
    }
    return NULL;
}

static ze_result_t provide_context(struct compiler *compiler, uint32_t platform)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t *context = &compiler->contexts[platform];
    return *context ? ZE_RESULT_SUCCESS
                    : zepi_ze.zeContextCreateEx(compiler->platforms[platform]->ze, &desc, 0, NULL,
                                                context);
}

// ---- Builds ----

// Owned; NULL: none.
static char *take_log(ze_module_build_log_handle_t log, size_t *out_size_bytes)
{
    size_t size = 0;
    char *text = NULL;
    *out_size_bytes = 0;
    if (log && zepi_ze.zeModuleBuildLogGetString(log, &size, NULL) == ZE_RESULT_SUCCESS &&
        size > 1) {
        text = zepi_allocate(size + 1, 1);
        if (text && zepi_ze.zeModuleBuildLogGetString(log, &size, text) == ZE_RESULT_SUCCESS)
            *out_size_bytes = strnlen(text, size);
    }
    if (log)
        zepi_ze.zeModuleBuildLogDestroy(log);
    return text;
}

// Owned; none if the driver returns none. A failure is a lack of memory.
static ze_result_t take_native(ze_module_handle_t module, uint8_t **out_bytes,
                               size_t *out_size_bytes)
{
    size_t size = 0;
    if (zepi_ze.zeModuleGetNativeBinary(module, &size, NULL) != ZE_RESULT_SUCCESS || size == 0)
        return ZE_RESULT_SUCCESS;
    *out_bytes = zepi_allocate(size, 1);
    if (!*out_bytes)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (zepi_ze.zeModuleGetNativeBinary(module, &size, *out_bytes) == ZE_RESULT_SUCCESS)
        *out_size_bytes = size;
    return ZE_RESULT_SUCCESS;
}

static void build(ze_context_handle_t context, const struct zepi_device *device,
                  const struct zepi_compiler_request *request, struct zepi_message *message)
{
    static struct zepi_compiler_libraries libraries;
    const struct zepi_platform *platform = device->platform;
    ze_module_handle_t module = NULL;
    ze_module_build_log_handle_t ze_log = NULL;
    struct zepi_compiler_reply reply = {.refusal = ""};
    reply.ze = zepi_ze.zeModuleCreate(context, device->ze, &request->desc, &module, &ze_log);
    char *log = take_log(ze_log, &reply.log_bytes);
    uint8_t *native = NULL;
    if (reply.ze == ZE_RESULT_SUCCESS) {
        reply.ze = take_native(module, &native, &reply.native_bytes);
        zepi_ze.zeModuleDestroy(module);
    }
    if (zepi_compiler_libraries_list(&libraries, platform->library,
                                     platform->quirks.is_on_cpu ? ZEPI_COMPILER_OF_CPU
                                                         : ZEPI_COMPILER_OF_GPU))
        reply.libraries = &libraries;
    reply.log = log;
    reply.native = native;
    zepi_compiler_reply_put(message, &reply);
    zepi_free(log);
    zepi_free(native);
}

static void refuse(struct zepi_message *message, const char *refusal)
{
    const struct zepi_compiler_reply reply = {.refusal = refusal};
    zepi_compiler_reply_put(message, &reply);
}

static void reply_to_request(struct compiler *compiler, const struct zepi_compiler_request *request,
                             struct zepi_message *message)
{
    char refusal[4608];
    uint32_t platform;
    const struct zepi_device *device = find_device(compiler, request, &platform);
    if (!device) {
        snprintf(refusal, sizeof(refusal),
                 "the compiler's process (ZEPI_COMPILER=process) has no device 0x%x of driver %s, "
                 "version 0x%x: it comes up with the same environment, but not as this process did",
                 request->device, request->driver_library, request->driver_version);
        refuse(message, refusal);
        return;
    }
    const ze_result_t ze = provide_context(compiler, platform);
    if (ze == ZE_RESULT_SUCCESS) {
        build(compiler->contexts[platform], device, request, message);
        return;
    }
    zepi_fail_ze(ze, "zeContextCreateEx");
    snprintf(refusal, sizeof(refusal), "the compiler's process (ZEPI_COMPILER=process): %s",
             zepi_last_error(NULL));
    refuse(message, refusal);
}

static void put_no_memory(struct zepi_message *message)
{
    const struct zepi_compiler_reply reply = {.refusal = "",
                                              .ze = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY};
    zepi_message_finish(message);
    zepi_compiler_reply_put(message, &reply);
}

// Until the other end is closed, or no request has come for a while. An empty message says that the
// process has come up, and that it ends.
static void serve(struct compiler *compiler)
{
    const struct zepi_message empty = {0};
    const uint64_t idle_seconds = zepi_options()->compiler_idle_seconds;
    bool goes_on =
        zepi_message_send(&empty, ZEPI_COMPILER_SOCKET, ZEPI_NO_DEADLINE) == ZEPI_DELIVERED;
    while (goes_on) {
        struct zepi_message received = {0};
        struct zepi_message sent = {0};
        struct zepi_compiler_request request = {0};
        // At least a second: with 0 each process would end before its first request.
        const enum zepi_delivery delivery = zepi_message_receive(
            &received, ZEPI_COMPILER_SOCKET, zepi_deadline_in(idle_seconds > 0 ? idle_seconds : 1));
        goes_on = delivery == ZEPI_DELIVERED;
        if (delivery == ZEPI_DELIVERY_LATE)
            zepi_message_send(&empty, ZEPI_COMPILER_SOCKET, ZEPI_NO_DEADLINE);
        if (goes_on && zepi_compiler_request_take(&received, &request))
            reply_to_request(compiler, &request, &sent);
        else
            sent.is_bad = true;
        if (goes_on && sent.is_bad)
            put_no_memory(&sent);
        goes_on = goes_on && zepi_message_send(&sent, ZEPI_COMPILER_SOCKET, ZEPI_NO_DEADLINE) ==
                                 ZEPI_DELIVERED;
        zepi_compiler_request_finish(&request);
        zepi_message_finish(&received);
        zepi_message_finish(&sent);
    }
}

// ---- The process ----

// Ends the process with the host, in the middle of a build, too. The host's other children may have
// its end of the socket, but not its number.
static void *watch_host(void *unused)
{
    (void)unused;
    struct pollfd polled[] = {{.fd = ZEPI_COMPILER_SOCKET, .events = POLLRDHUP},
                              {.fd = (int)syscall(SYS_pidfd_open, getppid(), 0), .events = POLLIN}};
    // A descriptor that is not there is left out.
    while (poll(polled, 2, -1) < 0 && errno == EINTR)
        ;
    _exit(EXIT_SUCCESS);
}

// If memory is short in the whole system, this process goes before its host.
static void offer_to_die(void)
{
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!write(file, "1000", 4);
    close(file);
}

static bool is_started_by_zepi(int argument_count, char **arguments)
{
    struct stat about;
    if (argument_count != 2 || fstat(ZEPI_COMPILER_SOCKET, &about) != 0 ||
        !S_ISSOCK(about.st_mode)) {
        fprintf(stderr, "zepi-compiler is started by zepi itself, with ZEPI_COMPILER=process\n");
        return false;
    }
    if (strcmp(arguments[1], ZEPI_PROJECT_VERSION) != 0) {
        fprintf(stderr, "zepi-compiler is of version %s, but the process has zepi %s\n",
                ZEPI_PROJECT_VERSION, arguments[1]);
        return false;
    }
    return true;
}

int zepi_compiler_serve(int argument_count, char **arguments)
{
    struct compiler compiler = {0};
    pthread_t watcher;
    if (!is_started_by_zepi(argument_count, arguments))
        return 2;
    // Programs that the driver starts do not have it.
    fcntl(ZEPI_COMPILER_SOCKET, F_SETFD, FD_CLOEXEC);
    offer_to_die();
    if (pthread_create(&watcher, NULL, watch_host, NULL) != 0)
        return EXIT_FAILURE;
    // Reports and lines are the host's.
    unsetenv("ZEPI_STATS");
    unsetenv("ZEPI_LOG");
    // Without drivers no device is found, which is the result then.
    if (zepi_adapter_get(&compiler.platforms, &compiler.platform_count) != ZEPI_SUCCESS)
        return EXIT_FAILURE;
    compiler.contexts = zepi_allocate(compiler.platform_count, sizeof(ze_context_handle_t));
    if (!compiler.contexts)
        return EXIT_FAILURE;
    serve(&compiler);
    // Drivers and compilers are not asked to give back anything.
    _exit(EXIT_SUCCESS);
}
