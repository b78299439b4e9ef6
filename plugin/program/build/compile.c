// SPDX-License-Identifier: MIT
#include "program/build/compile.h"

#include "core/alloc.h"
#include "core/log.h"
#include "core/stats.h"
#include "core/sys.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "program/build/compiler.h"
#include "program/build/ze_module.h"
#include "program/native/symbols.h"
#include "ze/ze.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

// ---- The inputs as Level Zero takes them ----

// Without these, an object may offer its functions and variables to no other module (quirk
// exports-need-options).
#define EXPORTING_FLAGS "-library-compilation -ze-take-global-address"

// The options that the driver gets, owned.
static char *make_build_flags(const struct zepi_compile_input *input, enum zepi_compile_kind kind)
{
    const bool is_exporting = kind == ZEPI_COMPILE_OBJECT && input->image->blob->spirv.has_exports;
    const size_t room = strlen(input->options) + sizeof(" " EXPORTING_FLAGS);
    char *flags = zepi_allocate(room, 1);
    if (flags)
        snprintf(flags, room, "%s%s%s", input->options,
                 is_exporting && input->options[0] ? " " : "", is_exporting ? EXPORTING_FLAGS : "");
    return flags;
}

// SPIR-V that is compiled by itself, or as a program.
struct program {
    ze_module_program_exp_desc_t ze;
    size_t size_bytes; // of all SPIR-V
    // Owned lists, with an element for each input.
    size_t *sizes;
    const uint8_t **bytes;
    char **flags; // owned, each
    ze_module_constants_t *constants;
    const ze_module_constants_t **constant_lists;
    // Owned lists, of the constants of all inputs.
    uint32_t *ids;
    const void **values;
};

static void program_finish(struct program *program)
{
    for (uint32_t i = 0; i < program->ze.count && program->flags; i++)
        zepi_free(program->flags[i]);
    zepi_free(program->sizes);
    zepi_free((void *)program->bytes);
    zepi_free(program->flags);
    zepi_free(program->constants);
    zepi_free((void *)program->constant_lists);
    zepi_free(program->ids);
    zepi_free((void *)program->values);
}

// To be finished in any case. Without memory a list is NULL.
static bool program_allocate(struct program *program, const struct zepi_compile *compile)
{
    const uint32_t count = compile->count;
    size_t constant_count = 0;
    for (uint32_t i = 0; i < count; i++)
        constant_count += compile->inputs[i].image->declaration_count;
    *program = (struct program){
        .sizes = zepi_allocate(count, sizeof(size_t)),
        .bytes = zepi_allocate(count, sizeof(uint8_t *)),
        .flags = zepi_allocate(count, sizeof(char *)),
        .constants = zepi_allocate(count, sizeof(ze_module_constants_t)),
        .constant_lists = zepi_allocate(count, sizeof(ze_module_constants_t *)),
        .ids = zepi_allocate(constant_count, sizeof(uint32_t)),
        .values = zepi_allocate(constant_count, sizeof(void *)),
    };
    program->ze = (ze_module_program_exp_desc_t){
        .stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
        .count = count,
        .inputSizes = program->sizes,
        .pInputModules = program->bytes,
        .pBuildFlags = (const char **)program->flags,
    };
    return program->sizes && program->bytes && program->flags && program->constants &&
           program->constant_lists && program->ids && program->values;
}

// To be finished in any case.
static bool program_init(struct program *program, const struct zepi_compile *compile)
{
    uint32_t used = 0; // of ids and values
    bool is_made = program_allocate(program, compile);
    for (uint32_t i = 0; i < compile->count && is_made; i++) {
        const struct zepi_compile_input *input = &compile->inputs[i];
        const struct zepi_blob *blob = input->image->blob;
        ze_module_constants_t *constants = &program->constants[i];
        const uint8_t *value;
        program->flags[i] = make_build_flags(input, compile->kind);
        is_made = program->flags[i];
        program->sizes[i] = blob->size_bytes;
        program->bytes[i] = blob->bytes;
        program->size_bytes += blob->size_bytes;
        program->constant_lists[i] = constants;
        constants->pConstantIds = program->ids + used;
        constants->pConstantValues = program->values + used;
        // Ids ascend.
        for (uint32_t at = 0;
             (value = zepi_device_image_next_changed(input->image, input->values, &at)); at++) {
            program->ids[used] = input->image->declarations[at].id;
            program->values[used++] = value;
            constants->numConstants++;
        }
    }
    if (used > 0)
        program->ze.pConstants = program->constant_lists;
    return is_made;
}

// ---- Lines about long compiles ----

// After five seconds a line says that the compiler is at work, and at the end how long it took. On
// stderr if that is a terminal, else with ZEPI_LOG=info. The thread that waits for the five seconds
// ends with the compile.
#define PATIENCE_SECONDS 5
#define LONG_COMPILE_NS UINT64_C(1000000000)

struct watch {
    const char *kernels; // borrowed
    size_t bytes;        // of SPIR-V
    sem_t is_over;
    pthread_t thread;
    bool has_thread;
    bool is_told;
};

__attribute__((format(printf, 1, 2))) static void watch_tell(const char *format, ...)
{
    char line[512];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof(line), format, values);
    va_end(values);
    if (zepi_options()->log_level < ZEPI_LOG_INFO && isatty(STDERR_FILENO))
        fprintf(stderr, "zepi: %s\n", line);
    zepi_log(ZEPI_LOG_INFO, "%s", line);
}

static void *watch_compile(void *user)
{
    struct watch *watch = user;
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += PATIENCE_SECONDS;
    if (sem_clockwait(&watch->is_over, CLOCK_MONOTONIC, &deadline) != 0) {
        const struct zepi_options *options = zepi_options();
        const bool is_kept = options->disk_is_on && options->cache_folder[0];
        watch->is_told = true;
        watch_tell("the driver has compiled for %d s and goes on: %.3f MB of SPIR-V, "
                   "%s%s",
                   PATIENCE_SECONDS, (double)watch->bytes / 1e6, watch->kernels,
                   is_kept ? "; later starts find the code in the cache" : "");
    }
    return NULL;
}

static void watch_begin(struct watch *watch, const char *kernels, size_t bytes)
{
    *watch = (struct watch){.kernels = kernels, .bytes = bytes};
    if (zepi_options()->log_level < ZEPI_LOG_INFO && !isatty(STDERR_FILENO))
        return;
    // The thread takes no signals of the host, which would end its wait.
    sigset_t all, old;
    sigfillset(&all);
    sem_init(&watch->is_over, 0, 0);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    watch->has_thread = pthread_create(&watch->thread, NULL, watch_compile, watch) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!watch->has_thread)
        sem_destroy(&watch->is_over);
}

static bool watch_end(struct watch *watch)
{
    if (!watch->has_thread)
        return false;
    sem_post(&watch->is_over);
    pthread_join(watch->thread, NULL);
    sem_destroy(&watch->is_over);
    return watch->is_told;
}

// ---- Compiling ----

#define KERNELS_TEXT_BYTES 256

// Names of the kernels, as many as there is room for.
static void describe_kernels(const struct zepi_compile *compile, char *text, size_t size)
{
    size_t length = 0;
    uint32_t left = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < compile->count; i++) {
        const struct zepi_spirv *spirv = &compile->inputs[i].image->blob->spirv;
        for (uint32_t at = 0; at < spirv->kernel_count; at++) {
            const char *name = spirv->kernels[at].name;
            const size_t more = strlen(name) + strlen(", ");
            if (left > 0 || more + sizeof(" and 4294967295 more") > size - length)
                left++;
            else
                length += (size_t)snprintf(text + length, size - length, "%s%s",
                                           length > 0 ? ", " : "", name);
        }
    }
    if (left > 0)
        snprintf(text + length, size - length, "%s%u more",
                 length > 0 ? " and " : "kernels: ", left);
    else if (length == 0)
        snprintf(text, size, "no kernels");
}

// With the compiler in a process of its own, its native code becomes the module here, as code from
// the disk does. Code that the driver does not hand out is compiled here, by a compiler that has
// managed it there.
static zepi_result_t ze_module_create_from_spirv(const struct zepi_compile *compile,
                                                 const struct program *program, const char *kernels,
                                                 struct zepi_text *log,
                                                 ze_module_handle_t *out_module)
{
    const bool is_elsewhere = zepi_options()->has_compiler_processes;
    const bool is_program = compile->kind == ZEPI_COMPILE_PROGRAM;
    const ze_module_desc_t desc = zepi_ze_module_describe(&program->ze, is_program);
    struct zepi_text second_log = {0}; // of the driver here, behind the process'
    struct zepi_text *own_log = is_elsewhere ? &second_log : log;
    void *native = NULL;
    size_t native_bytes = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    if (is_elsewhere)
        result = zepi_compiler_compile(compile->device, &program->ze, is_program, kernels, log,
                                       &native, &native_bytes);
    if (result == ZEPI_SUCCESS)
        result = native ? zepi_ze_module_load(compile->context, compile->device, native,
                                              native_bytes, own_log, out_module)
                        : zepi_ze_module_create(compile->context, compile->device, &desc, own_log,
                                                out_module);
    if (result != ZEPI_SUCCESS && second_log.bytes)
        zepi_text_append(log, second_log.bytes, second_log.size_bytes);
    zepi_text_finish(&second_log);
    zepi_free(native);
    return result;
}

// Compiles, with lines about a compile that takes long.
static zepi_result_t compile_program(const struct zepi_compile *compile,
                                     const struct program *program, struct zepi_text *log,
                                     ze_module_handle_t *out_module)
{
    char kernels[KERNELS_TEXT_BYTES];
    struct watch watch;
    describe_kernels(compile, kernels, sizeof(kernels));
    const uint64_t begin_ns = zepi_clock_ns();
    watch_begin(&watch, kernels, program->size_bytes);
    const zepi_result_t result =
        ze_module_create_from_spirv(compile, program, kernels, log, out_module);
    const bool is_told = watch_end(&watch);
    const uint64_t duration_ns = zepi_clock_ns() - begin_ns;
    zepi_stats_note_compile(kernels, duration_ns, result == ZEPI_SUCCESS);
    if (is_told)
        watch_tell("the build for '%s' took %.1f s: %s", compile->device->properties.name,
                   (double)duration_ns / 1e9, kernels);
    else if (duration_ns > LONG_COMPILE_NS)
        zepi_log(ZEPI_LOG_INFO, "the build for '%s' took %.1f s: %s",
                 compile->device->properties.name, (double)duration_ns / 1e9, kernels);
    return result;
}

// ---- Checks of the result ----

// A build that failed may succeed (quirk failed-builds-succeed): the kernels tell. Drivers that
// name none at all are believed.
static zepi_result_t check_kernels_named(ze_module_handle_t module, const struct zepi_spirv *spirv)
{
    const char **names;
    uint32_t count;
    zepi_result_t result = zepi_ze_module_get_kernel_names(module, &names, &count);
    if (result != ZEPI_SUCCESS)
        return result;
    for (uint32_t i = 0; i < spirv->kernel_count && names && result == ZEPI_SUCCESS; i++) {
        if (!zepi_find_kernel_name(names, count, spirv->kernels[i].name))
            result = zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                               "zeModuleCreate returned success, but the module lacks kernel '%s'",
                               spirv->kernels[i].name);
    }
    zepi_free(names);
    return result;
}

static bool has_imports(const struct zepi_compile *compile)
{
    bool has = false;
    for (uint32_t i = 0; i < compile->count; i++)
        has = has || compile->inputs[i].image->blob->spirv.has_imports;
    return has;
}

static zepi_result_t fail_missing_imports(const struct zepi_compile *compile,
                                          ze_module_handle_t module, const struct zepi_text *log)
{
    struct zepi_symbols own = {0};
    struct zepi_text inspected = {0};
    zepi_result_t result = ZEPI_SUCCESS;
    if (!compile->symbols)
        result = zepi_symbols_add_spirv(&own, &compile->inputs[0].image->blob->spirv, 0,
                                        ZEPI_SYMBOL_OF_NO_OBJECT)
                     ? zepi_symbols_check(&own)
                     : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    // Empty if the driver names none.
    zepi_ze_module_inspect(compile->context, module,
                           ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS, &inspected);
    if (result == ZEPI_SUCCESS)
        result = zepi_symbols_fail_missing(compile->symbols ? compile->symbols : &own,
                                           inspected.bytes ? inspected.bytes : log->bytes);
    zepi_text_finish(&inspected);
    zepi_symbols_finish(&own);
    return result;
}

// An import is unresolved if the driver says so: drivers supply some themselves.
static zepi_result_t check_no_import_missing(const struct zepi_compile *compile,
                                             ze_module_handle_t module, const struct zepi_text *log)
{
    bool is_missing = false;
    if (compile->kind == ZEPI_COMPILE_OBJECT || !has_imports(compile))
        return ZEPI_SUCCESS;
    const zepi_result_t result = zepi_ze_module_has_imports(module, &is_missing);
    return is_missing ? fail_missing_imports(compile, module, log) : result;
}

static zepi_result_t check_compiled(const struct zepi_compile *compile, ze_module_handle_t module,
                                    const struct zepi_text *log)
{
    zepi_result_t result = check_no_import_missing(compile, module, log);
    for (uint32_t i = 0; i < compile->count && result == ZEPI_SUCCESS; i++)
        result = check_kernels_named(module, &compile->inputs[i].image->blob->spirv);
    return result;
}

zepi_result_t zepi_compile_spirv(const struct zepi_compile *compile, struct zepi_text *log,
                                 ze_module_handle_t *out_module)
{
    struct program program;
    ze_module_handle_t module = NULL;
    zepi_result_t result = program_init(&program, compile)
                               ? compile_program(compile, &program, log, &module)
                               : zepi_fail_no_memory();
    program_finish(&program);
    if (result == ZEPI_SUCCESS)
        result = check_compiled(compile, module, log);
    if (result == ZEPI_SUCCESS)
        *out_module = module;
    else if (module)
        zepi_ze.zeModuleDestroy(module);
    return result;
}
