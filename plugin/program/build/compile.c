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
#include "ze/ze.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

// ---- The inputs as Level Zero takes them ----

// The constants of an input: ids ascending, one pointer a value.
struct constants {
    ze_module_constants_t ze;
    uint32_t *ids;
    const void **values;
};

static bool constants_init(struct constants *constants, const struct zepi_ze_module_input *input)
{
    const struct zepi_device_image *image = input->image;
    constants->ids = zepi_allocate(image->declaration_count, sizeof(uint32_t));
    constants->values = zepi_allocate(image->declaration_count, sizeof(void *));
    if (!constants->ids || !constants->values)
        return false;
    uint32_t count = 0;
    const uint8_t *value;
    for (uint32_t i = 0; (value = zepi_device_image_next_changed(image, input->values, &i)); i++) {
        constants->ids[count] = image->declarations[i].id;
        constants->values[count++] = value;
    }
    constants->ze = (ze_module_constants_t){count, constants->ids, constants->values};
    return true;
}

// Without these, an object may offer its functions and variables to no other module (quirk
// exports-need-options).
#define EXPORTING_FLAGS "-library-compilation -ze-take-global-address"

static bool has_exports(const struct zepi_spirv *spirv)
{
    bool has = false;
    for (uint32_t i = 0; i < spirv->symbol_count && !has; i++)
        has = spirv->symbols[i].linkage != ZEPI_SPIRV_IMPORT;
    return has;
}

// The options that the driver gets, owned.
static char *make_build_flags(const struct zepi_ze_module_input *input, enum zepi_compile how)
{
    const bool is_exporting = how == ZEPI_COMPILE_OBJECT && has_exports(&input->image->blob->spirv);
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
    bool is_program;
    size_t *sizes;
    const uint8_t **bytes;
    char **flags; // owned, each
    const ze_module_constants_t **constant_lists;
    struct constants *constants;
    size_t size_bytes; // of all SPIR-V
};

static void program_finish(struct program *program)
{
    for (uint32_t i = 0; i < program->ze.count; i++) {
        if (program->constants) {
            zepi_free(program->constants[i].ids);
            zepi_free(program->constants[i].values);
        }
        if (program->flags)
            zepi_free(program->flags[i]);
    }
    zepi_free(program->sizes);
    zepi_free((void *)program->bytes);
    zepi_free(program->flags);
    zepi_free((void *)program->constant_lists);
    zepi_free(program->constants);
}

// To be finished in any case.
static bool program_init(struct program *program, uint32_t count,
                         const struct zepi_ze_module_input *inputs, enum zepi_compile how)
{
    *program = (struct program){
        .is_program = how == ZEPI_COMPILE_PROGRAM,
        .sizes = zepi_allocate(count, sizeof(size_t)),
        .bytes = zepi_allocate(count, sizeof(uint8_t *)),
        .flags = zepi_allocate(count, sizeof(char *)),
        .constant_lists = zepi_allocate(count, sizeof(ze_module_constants_t *)),
        .constants = zepi_allocate(count, sizeof(struct constants)),
    };
    bool is_made = program->sizes && program->bytes && program->flags && program->constant_lists &&
                   program->constants;
    bool has_constants = false;
    program->ze = (ze_module_program_exp_desc_t){
        .stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
        .count = count,
        .inputSizes = program->sizes,
        .pInputModules = program->bytes,
        .pBuildFlags = (const char **)program->flags,
    };
    for (uint32_t i = 0; i < count && is_made; i++) {
        const struct zepi_blob *blob = inputs[i].image->blob;
        program->flags[i] = make_build_flags(&inputs[i], how);
        is_made = program->flags[i] && constants_init(&program->constants[i], &inputs[i]);
        program->sizes[i] = blob->size_bytes;
        program->bytes[i] = blob->bytes;
        program->constant_lists[i] = &program->constants[i].ze;
        has_constants = has_constants || program->constants[i].ze.numConstants > 0;
        program->size_bytes += blob->size_bytes;
    }
    if (has_constants)
        program->ze.pConstants = program->constant_lists;
    return is_made;
}

// ---- Lines for a person that waits ----

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
static void describe_kernels(uint32_t count, const struct zepi_ze_module_input *inputs, char *text,
                             size_t size)
{
    size_t length = 0;
    uint32_t left = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        const struct zepi_spirv *spirv = &inputs[i].image->blob->spirv;
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
static zepi_result_t ze_module_create_from_spirv(struct zepi_context *context,
                                                 const struct zepi_device *device,
                                                 const struct program *program, const char *kernels,
                                                 struct zepi_text *log,
                                                 ze_module_handle_t *out_module)
{
    const bool is_elsewhere = zepi_options()->has_compiler_processes;
    const ze_module_desc_t desc = zepi_ze_module_describe(&program->ze, program->is_program);
    struct zepi_text second_log = {0}; // of the driver here, behind the process'
    struct zepi_text *own_log = is_elsewhere ? &second_log : log;
    void *native = NULL;
    size_t native_bytes = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    if (is_elsewhere)
        result = zepi_compiler_compile(device, &program->ze, program->is_program, kernels, log,
                                       &native, &native_bytes);
    if (result == ZEPI_SUCCESS)
        result =
            native ? zepi_ze_module_load(context, device, native, native_bytes, own_log, out_module)
                   : zepi_ze_module_create(context, device, &desc, own_log, out_module);
    if (result != ZEPI_SUCCESS && second_log.bytes)
        zepi_text_append(log, second_log.bytes, second_log.size_bytes);
    zepi_text_finish(&second_log);
    zepi_free(native);
    return result;
}

// Compiles, and says it of a compile that takes long.
static zepi_result_t compile(struct zepi_context *context, const struct zepi_device *device,
                             const struct program *program, const char *kernels,
                             struct zepi_text *log, ze_module_handle_t *out_module)
{
    struct watch watch;
    const uint64_t begin_ns = zepi_clock_ns();
    watch_begin(&watch, kernels, program->size_bytes);
    const zepi_result_t result =
        ze_module_create_from_spirv(context, device, program, kernels, log, out_module);
    const bool is_told = watch_end(&watch);
    const uint64_t duration_ns = zepi_clock_ns() - begin_ns;
    zepi_stats_note_compile(kernels, duration_ns, result == ZEPI_SUCCESS);
    if (is_told)
        watch_tell("the build for '%s' took %.1f s: %s", device->properties.name,
                   (double)duration_ns / 1e9, kernels);
    else if (duration_ns > LONG_COMPILE_NS)
        zepi_log(ZEPI_LOG_INFO, "the build for '%s' took %.1f s: %s", device->properties.name,
                 (double)duration_ns / 1e9, kernels);
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

static zepi_result_t fail_missing_imports(const struct zepi_context *context,
                                          ze_module_handle_t module, const struct zepi_spirv *spirv)
{
    struct zepi_text inspected = {0};
    // Empty if the driver names none.
    zepi_ze_module_inspect(context, module, ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS,
                           &inspected);
    bool is_told = false;
    for (uint32_t i = 0; i < spirv->symbol_count && inspected.bytes && !is_told; i++)
        is_told = spirv->symbols[i].linkage == ZEPI_SPIRV_IMPORT &&
                  strstr(inspected.bytes, spirv->symbols[i].name) != NULL;
    zepi_fail(ZEPI_ERROR_LINK_FAILURE, "no module defines what this one imports:");
    for (uint32_t i = 0; i < spirv->symbol_count; i++) {
        const struct zepi_spirv_symbol *symbol = &spirv->symbols[i];
        if (symbol->linkage == ZEPI_SPIRV_IMPORT &&
            (!is_told || strstr(inspected.bytes, symbol->name)))
            zepi_error_append(" %s '%s'", symbol->is_function ? "function" : "variable",
                              symbol->name);
    }
    zepi_text_finish(&inspected);
    return ZEPI_ERROR_LINK_FAILURE;
}

// An import is unresolved if the driver says so: drivers supply some themselves.
static zepi_result_t check_no_import_missing(const struct zepi_context *context,
                                             ze_module_handle_t module,
                                             const struct zepi_spirv *spirv)
{
    bool has_imports = false;
    for (uint32_t i = 0; i < spirv->symbol_count && !has_imports; i++)
        has_imports = spirv->symbols[i].linkage == ZEPI_SPIRV_IMPORT;
    if (!has_imports)
        return ZEPI_SUCCESS;
    const zepi_result_t result = zepi_ze_module_has_imports(module, &has_imports);
    if (result != ZEPI_SUCCESS)
        return result;
    return has_imports ? fail_missing_imports(context, module, spirv) : ZEPI_SUCCESS;
}

static zepi_result_t check_compiled(const struct zepi_context *context, ze_module_handle_t module,
                                    uint32_t count, const struct zepi_ze_module_input *inputs,
                                    enum zepi_compile how)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (how == ZEPI_COMPILE_EXECUTABLE)
        result = check_no_import_missing(context, module, &inputs[0].image->blob->spirv);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = check_kernels_named(module, &inputs[i].image->blob->spirv);
    return result;
}

zepi_result_t zepi_compile_spirv(struct zepi_context *context, const struct zepi_device *device,
                                 uint32_t count, const struct zepi_ze_module_input *inputs,
                                 enum zepi_compile how, struct zepi_text *log,
                                 ze_module_handle_t *out_module)
{
    char kernels[KERNELS_TEXT_BYTES];
    struct program program;
    ze_module_handle_t module = NULL;
    zepi_result_t result =
        program_init(&program, count, inputs, how) ? ZEPI_SUCCESS : zepi_fail_no_memory();
    if (result == ZEPI_SUCCESS) {
        describe_kernels(count, inputs, kernels, sizeof(kernels));
        result = compile(context, device, &program, kernels, log, &module);
    }
    program_finish(&program);
    if (result == ZEPI_SUCCESS)
        result = check_compiled(context, module, count, inputs, how);
    if (result == ZEPI_SUCCESS)
        *out_module = module;
    else if (module)
        zepi_ze.zeModuleDestroy(module);
    return result;
}
