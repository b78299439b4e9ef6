// SPDX-License-Identifier: MIT
// Compile, link, build. Each program has variables (device globals) of its own: code that has some
// is loaded for the program alone, from the binary cache.
#include "core/alloc.h"
#include "program/module_build.h"
#include "program/module_link.h"
#include "ur/program/program.h"

// ---- An operation ----

// A build, and the logs that come back.
struct build {
    zepi_build_desc_t desc;
    const struct zepi_context *context;
    char *options;
    char **logs; // a text for each device of the context, or NULL
};

// The logs of a device's images lie one behind the other. Without memory a log is lost.
static void build_keep_log(void *data, zepi_device_t device, const char *log, size_t size_bytes)
{
    struct build *build = data;
    if (size_bytes > 0 && !build->logs)
        build->logs = zepi_allocate(build->context->device_count, sizeof(char *));
    if (size_bytes == 0 || !build->logs)
        return;
    char **own = &build->logs[zepi_context_device_index(build->context, device)];
    const size_t old_size = *own ? strlen(*own) : 0;
    char *longer = zepi_allocate(old_size + size_bytes + 1, 1);
    if (!longer)
        return;
    if (*own)
        memcpy(longer, *own, old_size);
    memcpy(longer + old_size, log, size_bytes);
    zepi_free(*own);
    *own = longer;
}

// Finished by program_build_finish.
static ur_result_t program_build_begin(struct build *build, struct zepi_context *context,
                                       uint32_t device_count, const ur_device_handle_t *devices,
                                       const char *options)
{
    ur_result_t result = UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < device_count && result == UR_RESULT_SUCCESS; i++)
        result = zepi_ur_check_device_in(context, devices[i], NULL);
    if (result != UR_RESULT_SUCCESS)
        return result;
    char *own_options = NULL;
    if (options && options[0]) {
        own_options = zepi_duplicate_string(options);
        if (!own_options)
            return zepi_ur_result(zepi_fail_no_memory());
    }
    *build = (struct build){.desc = {.size = sizeof(build->desc),
                                     .options = own_options,
                                     .log = build_keep_log,
                                     .log_data = build,
                                     .devices = (const zepi_device_t *)devices,
                                     .device_count = device_count},
                            .context = context,
                            .options = own_options};
    return UR_RESULT_SUCCESS;
}

// After a failure a device without a log has the core's sentence.
static void build_fill_logs(struct build *build)
{
    const char *sentence = zepi_last_error(NULL);
    for (uint32_t i = 0; i < build->context->device_count; i++) {
        if (!build->logs || !build->logs[i])
            build_keep_log(build, build->context->devices[i], sentence, strlen(sentence));
    }
}

// Notes in the program how the operation ended, and its module, which is consumed.
static void program_build_finish(struct build *build, struct zepi_ur_program *program,
                                 zepi_result_t result, struct zepi_module *built)
{
    const bool is_success = result == ZEPI_SUCCESS;
    if (is_success) {
        zepi_ur_program_free_logs(build->context, build->logs);
        build->logs = NULL;
    } else {
        build_fill_logs(build);
    }
    zepi_mutex_lock(&program->mutex);
    struct zepi_module *old = program->built;
    char *old_options = program->options;
    char **old_logs = program->failure_logs;
    program->built = built;
    program->options = build->options;
    program->has_failed = !is_success;
    program->failure_logs = build->logs;
    zepi_mutex_unlock(&program->mutex);
    zepi_free(old_options);
    zepi_ur_program_free_logs(program->context, old_logs);
    zepi_release(old);
}

// ---- Compile and build ----

enum operation { COMPILE, BUILD };

// The core's result of a build whose input was found good before.
static ur_result_t program_fail_build(zepi_result_t result)
{
    const ur_result_t ur = zepi_ur_result(result);
    return ZEPI_IS_COMPILE_FAILURE(result) || result == ZEPI_ERROR_LINK_FAILURE
               ? UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE
               : ur;
}

// Whether the build is of just the devices that the code was loaded for.
static bool is_loaded_for(const struct zepi_module *loaded, const zepi_build_desc_t *desc)
{
    const struct zepi_build_options named = {.devices = desc->devices,
                                             .device_count = desc->device_count};
    const struct zepi_context *context = loaded->context;
    uint32_t i = 0;
    while (i < context->device_count &&
           zepi_module_has_code(loaded, i) == zepi_build_options_want(&named, context, i))
        i++;
    return i == context->device_count;
}

// The code that creation loaded, for a build that asks for nothing else. NULL: there is none.
static __attribute__((noinline)) struct zepi_module *
program_take_loaded(struct zepi_ur_program *program, const zepi_build_desc_t *desc)
{
    zepi_mutex_lock(&program->mutex);
    struct zepi_module *loaded = program->loaded;
    program->loaded = NULL;
    zepi_mutex_unlock(&program->mutex);
    if (loaded && !desc->options && is_loaded_for(loaded, desc))
        return loaded;
    zepi_release(loaded);
    return NULL;
}

static zepi_result_t program_build(struct zepi_ur_program *program, const zepi_build_desc_t *desc,
                                   struct zepi_module **out_built)
{
    *out_built = program->is_il ? NULL : program_take_loaded(program, desc);
    return *out_built ? ZEPI_SUCCESS
                      : zepi_module_build(program->input, desc, ZEPI_VARIABLES_OWN, out_built);
}

static ur_result_t program_operate(struct zepi_ur_program *program, enum operation operation,
                                   uint32_t device_count, const ur_device_handle_t *devices,
                                   const char *options)
{
    struct build build;
    struct zepi_module *built = NULL;
    if (!program->input)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                              "the program was made by a link or around a native handle: there is "
                              "nothing to compile");
    const ur_result_t result =
        program_build_begin(&build, program->context, device_count, devices, options);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const zepi_result_t done = operation == BUILD
                                   ? program_build(program, &build.desc, &built)
                                   : zepi_module_compile(program->input, &build.desc, &built);
    program_build_finish(&build, program, done, built);
    return done == ZEPI_SUCCESS ? UR_RESULT_SUCCESS : program_fail_build(done);
}

static ur_result_t program_compile(struct zepi_ur_program *program, uint32_t device_count,
                                   const ur_device_handle_t *devices, const char *options)
{
    if (program->input && !program->is_il)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                              "the program was made of native code: there is nothing to compile");
    return program_operate(program, COMPILE, device_count, devices, options);
}

static ur_result_t check_program_context(ur_context_handle_t context, ur_program_handle_t program)
{
    const ur_result_t result = zepi_ur_check_context(context);
    return result ? result
                  : zepi_ur_check_program_in(zepi_ur_context(context), program,
                                             UR_RESULT_ERROR_INVALID_CONTEXT);
}

ur_result_t zepi_urProgramBuild(ur_context_handle_t hContext, ur_program_handle_t hProgram,
                                const char *pOptions)
{
    const ur_result_t result = check_program_context(hContext, hProgram);
    return result ? result : program_operate(zepi_ur_program(hProgram), BUILD, 0, NULL, pOptions);
}

ur_result_t zepi_urProgramCompile(ur_context_handle_t hContext, ur_program_handle_t hProgram,
                                  const char *pOptions)
{
    const ur_result_t result = check_program_context(hContext, hProgram);
    return result ? result : program_compile(zepi_ur_program(hProgram), 0, NULL, pOptions);
}

static ur_result_t check_build_devices(uint32_t count, const ur_device_handle_t *devices,
                                       ur_exp_program_flags_t flags)
{
    ur_result_t result = zepi_ur_check_pointer(devices, "phDevices");
    result = result ? result : zepi_ur_check_flags(flags, UR_EXP_PROGRAM_FLAGS_MASK);
    if (result == UR_RESULT_SUCCESS && count == 0)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "no device to build for");
    return result;
}

ur_result_t zepi_urProgramBuildExp(ur_program_handle_t hProgram, uint32_t numDevices,
                                   ur_device_handle_t *phDevices, ur_exp_program_flags_t flags,
                                   const char *pOptions)
{
    ur_result_t result;
    if ((result = zepi_ur_check_program(hProgram)) ||
        (result = check_build_devices(numDevices, phDevices, flags)))
        return result;
    // A program that may have unresolved symbols is an object.
    return program_operate(zepi_ur_program(hProgram),
                           flags & UR_EXP_PROGRAM_FLAG_ALLOW_UNRESOLVED_SYMBOLS ? COMPILE : BUILD,
                           numDevices, phDevices, pOptions);
}

ur_result_t zepi_urProgramCompileExp(ur_program_handle_t hProgram, uint32_t numDevices,
                                     ur_device_handle_t *phDevices, ur_exp_program_flags_t flags,
                                     const char *pOptions)
{
    ur_result_t result;
    if ((result = zepi_ur_check_program(hProgram)) ||
        (result = check_build_devices(numDevices, phDevices, flags)))
        return result;
    return program_compile(zepi_ur_program(hProgram), numDevices, phDevices, pOptions);
}

static void release_program_modules(uint32_t count, struct zepi_module **modules)
{
    for (uint32_t i = 0; i < count; i++)
        zepi_release(modules[i]);
    zepi_free(modules);
}

// A new reference to the compiled object of the program. Native code is an object as it is.
static ur_result_t program_get_object(struct zepi_ur_program *program, uint32_t number,
                                      struct zepi_module **out_object)
{
    struct zepi_module *module = zepi_ur_program_module(program);
    if (module && module->state != ZEPI_MODULE_INPUT) {
        *out_object = module;
        return UR_RESULT_SUCCESS;
    }
    zepi_release(module);
    return program->input && !program->is_il
               ? zepi_ur_result(zepi_module_compile(program->input, NULL, out_object))
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION, "program %u was not compiled",
                                number);
}

// Owned list of new references to the compiled object of each program.
static ur_result_t programs_get_objects(struct zepi_context *context, uint32_t count,
                                        const ur_program_handle_t *programs,
                                        struct zepi_module ***out_objects)
{
    ur_result_t result;
    if ((result = zepi_ur_check_pointer(programs, "phPrograms")) ||
        (count == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "no program to link"))))
        return result;
    struct zepi_module **objects = zepi_allocate(count, sizeof(struct zepi_module *));
    if (!objects)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < count && result == UR_RESULT_SUCCESS; i++) {
        result = zepi_ur_check_program_in(context, programs[i], UR_RESULT_ERROR_INVALID_PROGRAM);
        if (result == UR_RESULT_SUCCESS)
            result = program_get_object(zepi_ur_program(programs[i]), i, &objects[i]);
    }
    if (result == UR_RESULT_SUCCESS)
        *out_objects = objects;
    else
        release_program_modules(count, objects);
    return result;
}

// A program of native code that is executable needs no link: it is one part of the result.
static zepi_result_t link_objects(uint32_t count, struct zepi_module **objects,
                                  const zepi_build_desc_t *desc, struct zepi_module **out_module)
{
    if (count == 1 && objects[0]->state == ZEPI_MODULE_EXECUTABLE) {
        *out_module = zepi_retain(objects[0]);
        return ZEPI_SUCCESS;
    }
    return zepi_module_link(count, objects, desc, ZEPI_VARIABLES_OWN, out_module);
}

static ur_result_t link_programs(struct zepi_context *context, uint32_t count,
                                 const ur_program_handle_t *programs, const char *options,
                                 ur_program_handle_t *out_program)
{
    struct zepi_module **objects;
    struct zepi_module *linked = NULL;
    struct build build;
    ur_result_t result = programs_get_objects(context, count, programs, &objects);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_program *program = zepi_ur_program_make(context);
    result = program ? program_build_begin(&build, context, 0, NULL, options)
                     : zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    if (result != UR_RESULT_SUCCESS) {
        zepi_release(program);
        release_program_modules(count, objects);
        return result;
    }
    const zepi_result_t done = link_objects(count, objects, &build.desc, &linked);
    release_program_modules(count, objects);
    program_build_finish(&build, program, done, linked);
    // A program that failed is handed out, too, for its log.
    *out_program = (ur_program_handle_t)program;
    return done == ZEPI_ERROR_COMPILE_FAILURE ? UR_RESULT_ERROR_PROGRAM_LINK_FAILURE
                                              : zepi_ur_result(done);
}

ur_result_t zepi_urProgramLink(ur_context_handle_t hContext, uint32_t count,
                               const ur_program_handle_t *phPrograms, const char *pOptions,
                               ur_program_handle_t *phProgram)
{
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, phProgram, "phProgram");
    if (result != UR_RESULT_SUCCESS)
        return result;
    *phProgram = NULL;
    return link_programs(zepi_ur_context(hContext), count, phPrograms, pOptions, phProgram);
}

ur_result_t zepi_urProgramLinkExp(ur_context_handle_t hContext, uint32_t numDevices,
                                  ur_device_handle_t *phDevices, ur_exp_program_flags_t flags,
                                  uint32_t count, const ur_program_handle_t *phPrograms,
                                  const char *pOptions, ur_program_handle_t *phProgram)
{
    ur_result_t result = zepi_ur_check_context_pointer(hContext, phProgram, "phProgram");
    result = result ? result : check_build_devices(numDevices, phDevices, flags);
    for (uint32_t i = 0; i < numDevices && result == UR_RESULT_SUCCESS; i++)
        result = zepi_ur_check_context_device(hContext, phDevices[i]);
    if (result != UR_RESULT_SUCCESS)
        return result;
    *phProgram = NULL;
    // Links serve the devices that the programs were compiled for.
    return link_programs(zepi_ur_context(hContext), count, phPrograms, pOptions, phProgram);
}

// Each program becomes the executable that all of them make together: it has the kernels of all.
ur_result_t zepi_urProgramDynamicLinkExp(ur_context_handle_t hContext, uint32_t count,
                                         const ur_program_handle_t *phPrograms)
{
    struct zepi_module **objects;
    struct zepi_module *linked = NULL;
    ur_result_t result;
    if ((result = zepi_ur_check_context(hContext)) ||
        (result = programs_get_objects(zepi_ur_context(hContext), count, phPrograms, &objects)))
        return result;
    const zepi_result_t done = zepi_module_link(count, objects, NULL, ZEPI_VARIABLES_OWN, &linked);
    release_program_modules(count, objects);
    for (uint32_t i = 0; i < count && done == ZEPI_SUCCESS; i++) {
        struct zepi_ur_program *program = zepi_ur_program(phPrograms[i]);
        zepi_mutex_lock(&program->mutex);
        struct zepi_module *old = program->built;
        char **old_logs = program->failure_logs;
        program->built = zepi_retain(linked);
        program->has_failed = false;
        program->failure_logs = NULL;
        zepi_mutex_unlock(&program->mutex);
        zepi_ur_program_free_logs(program->context, old_logs);
        zepi_release(old);
    }
    zepi_release(linked);
    return done == ZEPI_ERROR_COMPILE_FAILURE ? UR_RESULT_ERROR_PROGRAM_LINK_FAILURE
                                              : zepi_ur_result(done);
}
