// SPDX-License-Identifier: MIT
#include "calls.h"
#include "command/command_list.h"
#include "memory/memory.h"
#include "module/module.h"
#include "object.h"
#include "options.h"
#include "ze_cpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))
#define FAILURES_MAXIMUM 32
#define ALL_FUNCTIONS CPU_CALL_COUNT
#define EVERY_CALL UINT64_MAX

struct failure {
    uint32_t call; // enum cpu_call or ALL_FUNCTIONS
    uint64_t left; // calls until it strikes: 1 is the next; 0: struck
    ze_result_t code;
};

static const char *const call_names[] = {
#define IMPLEMENTED(table, member, name, parameters, arguments, required) #name,
#define NEWER(table, minor, name, parameters, arguments, required) #name,
#include "functions.def"
};

static _Atomic uint64_t counts[CPU_CALL_COUNT];

static _Atomic(zeCpuHook *) hook;

static pthread_mutex_t failures_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the two below
static struct failure failures[FAILURES_MAXIMUM];
static uint32_t failure_count;
static _Atomic uint32_t has_failures;
static _Atomic uint32_t is_active;
static pthread_once_t start_once = PTHREAD_ONCE_INIT;

static const struct {
    const char *name;
    ze_result_t code;
} result_names[] = {
#define RESULT(name)                                                                               \
    {                                                                                              \
#name, name                                                                                \
    }
    RESULT(ZE_RESULT_NOT_READY),
    RESULT(ZE_RESULT_ERROR_DEVICE_LOST),
    RESULT(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY),
    RESULT(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY),
    RESULT(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE),
    RESULT(ZE_RESULT_ERROR_MODULE_LINK_FAILURE),
    RESULT(ZE_RESULT_ERROR_NOT_AVAILABLE),
    RESULT(ZE_RESULT_ERROR_UNINITIALIZED),
    RESULT(ZE_RESULT_ERROR_UNSUPPORTED_VERSION),
    RESULT(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE),
    RESULT(ZE_RESULT_ERROR_INVALID_ARGUMENT),
    RESULT(ZE_RESULT_ERROR_INVALID_NULL_HANDLE),
    RESULT(ZE_RESULT_ERROR_INVALID_NULL_POINTER),
    RESULT(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE),
    RESULT(ZE_RESULT_ERROR_INVALID_SIZE),
    RESULT(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY),
    RESULT(ZE_RESULT_ERROR_INVALID_KERNEL_NAME),
    RESULT(ZE_RESULT_ERROR_UNKNOWN),
#undef RESULT
};

static bool parse_code(const char *text, ze_result_t *out_code)
{
    for (size_t i = 0; i < sizeof(result_names) / sizeof(result_names[0]); i++)
        if (strcmp(result_names[i].name, text) == 0) {
            *out_code = result_names[i].code;
            return true;
        }
    char *end;
    unsigned long code = strtoul(text, &end, 0);
    *out_code = (ze_result_t)code;
    return end != text && *end == '\0' && code != 0;
}

static bool find_call(const char *name, uint32_t *out_call)
{
    *out_call = ALL_FUNCTIONS;
    if (strcmp(name, "*") == 0)
        return true;
    for (uint32_t i = 0; i < CPU_CALL_COUNT; i++)
        if (strcmp(call_names[i], name) == 0) {
            *out_call = i;
            return true;
        }
    return false;
}

// "function:n:code", which is cut up.
static bool parse_failure(char *text, struct failure *out_failure)
{
    char *number = strchr(text, ':');
    if (number == NULL)
        return false;
    *number++ = '\0';
    char *code = strchr(number, ':');
    if (code == NULL)
        return false;
    *code++ = '\0';
    char *end = number + 1;
    out_failure->left = EVERY_CALL;
    if (strcmp(number, "*") != 0)
        out_failure->left = strtoull(number, &end, 10);
    return *end == '\0' && out_failure->left > 0 && find_call(text, &out_failure->call) &&
           parse_code(code, &out_failure->code);
}

static bool parse_failures(const char *text, struct failure *out, uint32_t *out_count)
{
    char *copy = strdup(text);
    bool is_good = copy != NULL;
    char *rest = NULL;
    *out_count = 0;
    for (char *part = copy != NULL ? strtok_r(copy, ",", &rest) : NULL; part != NULL && is_good;
         part = strtok_r(NULL, ",", &rest))
        is_good = *out_count < FAILURES_MAXIMUM && parse_failure(part, &out[(*out_count)++]);
    free(copy);
    return is_good;
}

static void print_counts(void)
{
    for (uint32_t i = 0; i < CPU_CALL_COUNT; i++)
        if (atomic_load(&counts[i]) != 0)
            fprintf(stderr, "ze_cpu: count: %s %llu\n", call_names[i],
                    (unsigned long long)atomic_load(&counts[i]));
    fprintf(stderr, "ze_cpu: count: compile:spirv %llu\nze_cpu: count: compile:native %llu\n",
            (unsigned long long)atomic_load(&cpu_compiles[CPU_COMPILE_SPIRV]),
            (unsigned long long)atomic_load(&cpu_compiles[CPU_COMPILE_NATIVE]));
}

static void print_leaks(void)
{
    for (uint32_t kind = CPU_CONTEXT; kind < CPU_KIND_COUNT; kind++)
        if (cpu_object_live(kind) != 0)
            fprintf(stderr, "ze_cpu: leak: %s %llu\n", cpu_kind_name(kind),
                    (unsigned long long)cpu_object_live(kind));
    uint64_t bytes;
    const uint64_t allocations = cpu_memory_live(&bytes);
    if (allocations != 0)
        fprintf(stderr, "ze_cpu: leak: allocation %llu\n", (unsigned long long)allocations);
}

// Runs when the library goes, which for a driver is the end of the process: after the destructors
// of libraries that the application loaded later than the loader.
__attribute__((destructor)) static void print_at_exit(void)
{
    if (!atomic_load(&is_active))
        return;
    if (cpu_options()->counts)
        print_counts();
    if (cpu_options()->lists_leaks)
        print_leaks();
}

static bool set_failures(const char *text)
{
    struct failure parsed[FAILURES_MAXIMUM];
    uint32_t count = 0;
    if (text != NULL && !parse_failures(text, parsed, &count))
        return false;
    pthread_mutex_lock(&failures_mutex);
    memcpy(failures, parsed, count * sizeof(failures[0]));
    failure_count = count;
    pthread_mutex_unlock(&failures_mutex);
    atomic_store_explicit(&has_failures, count > 0, memory_order_release);
    return true;
}

static void start(void)
{
    const char *text = cpu_options()->failures;
    atomic_store(&is_active, 1);
    if (!set_failures(text))
        fprintf(stderr, "ze_cpu: ZE_CPU_FAIL does not parse: %s\n", text);
}

static ze_result_t take_failure(enum cpu_call call)
{
    ze_result_t code = ZE_RESULT_SUCCESS;
    pthread_mutex_lock(&failures_mutex);
    for (uint32_t i = 0; i < failure_count; i++) {
        struct failure *failure = &failures[i];
        if ((failure->call != ALL_FUNCTIONS && failure->call != (uint32_t)call) ||
            failure->left == 0)
            continue;
        if (failure->left != EVERY_CALL && --failure->left > 0)
            continue;
        if (code == ZE_RESULT_SUCCESS)
            code = failure->code;
    }
    pthread_mutex_unlock(&failures_mutex);
    return code;
}

static void call_hook(enum cpu_call call, int is_over)
{
    // Acquire: the data that the hook reads.
    zeCpuHook *set = atomic_load_explicit(&hook, memory_order_acquire);
    if (set != NULL)
        set(call_names[call], is_over);
}

ze_result_t cpu_calls_begin(enum cpu_call call)
{
    pthread_once(&start_once, start);
    atomic_fetch_add_explicit(&counts[call], 1, memory_order_relaxed);
    call_hook(call, 0);
    return atomic_load_explicit(&has_failures, memory_order_acquire) ? take_failure(call)
                                                                     : ZE_RESULT_SUCCESS;
}

ze_result_t cpu_calls_end(enum cpu_call call, ze_result_t failure, ze_result_t result)
{
    call_hook(call, 1);
    if (failure != ZE_RESULT_SUCCESS)
        result = failure;
    if (cpu_options()->traces)
        fprintf(stderr, "ze_cpu: %s = 0x%x%s\n", call_names[call], (unsigned)result,
                failure != ZE_RESULT_SUCCESS ? " (made to fail)" : "");
    return result;
}

EXPORTED int zeCpuSetFail(const char *text)
{
    if (!cpu_options_have_switch())
        return ZE_CPU_INACTIVE;
    pthread_once(&start_once, start);
    return set_failures(text) ? ZE_CPU_OK : ZE_CPU_INVALID;
}

EXPORTED uint64_t zeCpuGetCount(const char *name)
{
    uint32_t call;
    uint64_t sum = 0;
    if (strcmp(name, "compile:spirv") == 0)
        return atomic_load(&cpu_compiles[CPU_COMPILE_SPIRV]);
    if (strcmp(name, "compile:native") == 0)
        return atomic_load(&cpu_compiles[CPU_COMPILE_NATIVE]);
    if (strcmp(name, "copy:compute") == 0)
        return atomic_load(&cpu_compute_copies);
    if (!find_call(name, &call))
        return 0;
    for (uint32_t i = 0; i < CPU_CALL_COUNT; i++)
        if (call == ALL_FUNCTIONS || call == i)
            sum += atomic_load(&counts[i]);
    return sum;
}

EXPORTED void zeCpuResetCounts(void)
{
    for (uint32_t i = 0; i < CPU_CALL_COUNT; i++)
        atomic_store(&counts[i], 0);
    for (uint32_t i = 0; i < CPU_COMPILE_COUNT; i++)
        atomic_store(&cpu_compiles[i], 0);
    atomic_store(&cpu_compute_copies, 0);
}

EXPORTED void zeCpuSetHook(zeCpuHook *set)
{
    atomic_store_explicit(&hook, set, memory_order_release);
}

EXPORTED uint64_t zeCpuGetLiveObjects(void)
{
    uint64_t bytes;
    uint64_t sum = cpu_memory_live(&bytes);
    for (uint32_t kind = CPU_CONTEXT; kind < CPU_KIND_COUNT; kind++)
        sum += cpu_object_live(kind);
    return sum;
}

EXPORTED uint64_t zeCpuGetLiveBytes(void)
{
    uint64_t bytes;
    cpu_memory_live(&bytes);
    return bytes;
}
