// SPDX-License-Identifier: MIT
#include "program/compiler/serve.h"

#include "core/alloc.h"
#include "core/options.h"
#include "device/adapter.h"
#include "device/context.h"
#include "device/device.h"
#include "program/build/binary_cache.h"
#include "program/build/compiler.h"
#include "program/build/ze_module.h"
#include "program/native/key_tags.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define INIT_SECONDS 60

// ---- The request ----

// Memory for the build, which is not given back: the process ends behind it.
static void *allocate(size_t count, size_t size)
{
    void *memory = zepi_allocate(count, size);
    if (!memory)
        _exit(EXIT_FAILURE);
    return memory;
}

static const void *take(const uint8_t **at, size_t size_bytes)
{
    const void *taken = *at;
    *at += ZEPI_COMPILER_ROUNDED(size_bytes);
    return taken;
}

static ze_module_constants_t take_constants(const uint8_t **at)
{
    const uint64_t *count = take(at, sizeof(*count));
    const uint64_t *values = take(at, *count * sizeof(*values));
    const void **pointers = allocate(*count, sizeof(*pointers));
    for (uint64_t i = 0; i < *count; i++)
        pointers[i] = &values[i];
    return (ze_module_constants_t){(uint32_t)*count, take(at, *count * sizeof(uint32_t)), pointers};
}

// The descriptor of zeModuleCreate, with that of a program.
static ze_module_desc_t take_desc(const struct zepi_compiler_request *request, const uint8_t *at)
{
    const uint32_t count = request->module_count;
    const size_t *sizes = take(&at, count * sizeof(*sizes));
    const uint8_t **modules = allocate(count, sizeof(*modules));
    const char **flags = allocate(count, sizeof(*flags));
    ze_module_constants_t *constants = allocate(count, sizeof(*constants));
    const ze_module_constants_t **lists = allocate(count, sizeof(*lists));
    ze_module_program_exp_desc_t *program = allocate(1, sizeof(*program));
    bool has_constants = false;
    for (uint32_t i = 0; i < count; i++) {
        constants[i] = take_constants(&at);
        lists[i] = &constants[i];
        has_constants = has_constants || constants[i].numConstants > 0;
        flags[i] = take(&at, strlen((const char *)at) + 1);
        modules[i] = take(&at, sizes[i]);
    }
    *program = (ze_module_program_exp_desc_t){ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
                                              NULL,
                                              count,
                                              (size_t *)sizes,
                                              modules,
                                              flags,
                                              has_constants ? lists : NULL};
    return zepi_ze_module_describe(program, request->is_program);
}

// The first device with the key, or NULL. It has all that decides native code: enumeration orders
// and handles mean nothing in another process.
static struct zepi_device *find_device(const void *key, size_t key_bytes)
{
    struct zepi_platform *const *platforms;
    uint32_t platform_count = 0;
    struct zepi_device *found = NULL;
    // Without drivers no device is found, which is the result then.
    zepi_adapter_get(&platforms, &platform_count);
    for (uint32_t i = 0; i < platform_count; i++) {
        for (uint32_t at = 0; at < platforms[i]->device_count && !found; at++) {
            struct zepi_key other;
            zepi_key_init(&other, ZEPI_KEY_VERSION);
            zepi_key_add_device(&other, platforms[i]->devices[at]);
            if (other.size == key_bytes && memcmp(other.bytes, key, key_bytes) == 0)
                found = platforms[i]->devices[at];
            zepi_key_finish(&other);
        }
    }
    return found;
}

// ---- The build ----

static void build(const struct zepi_compiler_request *request, off_t reply_at)
{
    struct zepi_compiler_reply reply = {.is_up = true};
    const uint64_t seconds = zepi_options()->compiler_seconds;
    const uint8_t *at = (const uint8_t *)(request + 1);
    const void *key = take(&at, request->device_bytes);
    const ze_module_desc_t desc = take_desc(request, at);
    struct zepi_text log = {0};
    void *native = NULL;
    struct zepi_device *device = find_device(key, request->device_bytes);
    zepi_context_t context;
    ze_module_handle_t module;
    zepi_result_t result =
        device ? zepi_context_create(NULL, 1, &device, ZEPI_OWNERSHIP_TRANSFER, &context)
               : zepi_fail(ZEPI_ERROR_COMPILER_UNAVAILABLE,
                           "the compiler's process (ZEPI_COMPILER=process) does not find the "
                           "device, though it has the same environment");
    alarm(seconds < UINT_MAX ? (unsigned)seconds + (seconds == 0) : 0);
    (void)!pwrite(STDIN_FILENO, &reply, sizeof(reply), reply_at);
    if (result == ZEPI_SUCCESS)
        result = zepi_ze_module_create(context, device, &desc, &log, &module);
    // Without native code, the host compiles what went well here.
    if (result == ZEPI_SUCCESS)
        zepi_ze_module_get_native(module, &native, &reply.native_bytes);
    else
        zepi_error_save(&reply.error);
    // The disk gets a record of the compiler's identity, for other processes.
    reply.is_identified =
        zepi_binary_cache() && device &&
        zepi_compiler_identity_get(&device->platform->compiler, zepi_binary_disk(),
                                   ZEPI_AFTER_COMPILE, &reply.identity);
    reply.is_done = true;
    reply.log_bytes = log.size_bytes;
    const struct iovec parts[] = {
        {&reply, sizeof(reply)}, {log.bytes, log.size_bytes}, {native, reply.native_bytes}};
    (void)!pwritev(STDIN_FILENO, parts, 3, reply_at);
}

// ---- The process ----

// If memory is short in the whole system, this process goes before its host.
static void offer_to_die(void)
{
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!write(file, "1000", 4);
    close(file);
}

int zepi_compiler_serve(int argument_count, char **arguments)
{
    struct stat file;
    if (argument_count != 2 || strcmp(arguments[1], ZEPI_PROJECT_VERSION) != 0 ||
        fstat(STDIN_FILENO, &file) != 0 || !S_ISREG(file.st_mode)) {
        fprintf(stderr, "zepi-compiler is started by zepi " ZEPI_PROJECT_VERSION
                        " alone, with ZEPI_COMPILER=process\n");
        return 2;
    }
    offer_to_die();
    const void *request = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    // The process ends with its host, in the middle of a build, too. The thread that started it
    // waits for its end, so that it does not go before.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (request == MAP_FAILED)
        return EXIT_FAILURE;
    // SIGALRM ends a process whose driver does not come up, and then one that builds for too long.
    alarm(INIT_SECONDS);
    // Reports, lines and the shared store are the host's.
    unsetenv("ZEPI_STATS");
    setenv("ZEPI_LOG", "off", 1);
    unsetenv("ZEPI_CACHE_SHARED");
    build(request, file.st_size);
    // Drivers and compilers are not asked to give back anything.
    _exit(EXIT_SUCCESS);
}
