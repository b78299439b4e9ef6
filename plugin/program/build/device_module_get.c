// SPDX-License-Identifier: MIT
#include "program/build/device_module.h"

#include "core/alloc.h"
#include "core/stats.h"
#include "core/unload.h"
#include "device/context.h"
#include "device/device.h"
#include "program/build/binary.h"
#include "program/build/binary_cache.h"
#include "program/build/build_key.h"
#include "program/build/handle_caches.h"
#include "program/build/native_image.h"
#include "program/build/ze_module.h"
#include "ze/ze.h"

static void device_module_destroy_deferred(struct zepi_deferred *deferred)
{
    struct zepi_device_module *device_module = (struct zepi_device_module *)deferred;
    for (uint32_t i = 0; i < device_module->unit_count; i++) {
        if (device_module->ownership == ZEPI_OWNERSHIP_TRANSFER)
            zepi_ze.zeModuleDestroy(device_module->units[i].ze);
        zepi_free(device_module->units[i].kernel_names);
        zepi_blob_release(device_module->units[i].native);
    }
    for (uint32_t i = 0; i < device_module->source_count; i++)
        zepi_blob_release(device_module->sources[i]);
    zepi_blob_release(device_module->container);
    zepi_free(device_module->sources);
    zepi_free(device_module->options);
    zepi_free(device_module);
}

void zepi_device_module_destroy(void *pointer)
{
    struct zepi_device_module *device_module = pointer;
    device_module->deferred.bytes = ZEPI_DEFERRED_HANDLE_BYTES;
    device_module->deferred.run = device_module_destroy_deferred;
    zepi_defer(device_module->context, &device_module->deferred);
}

static zepi_result_t fill_units(struct zepi_device_module *device_module, uint32_t module_count,
                                const ze_module_handle_t *modules)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < module_count && result == ZEPI_SUCCESS; i++) {
        struct zepi_device_module_unit *unit = &device_module->units[i];
        unit->ze = modules[i];
        result =
            zepi_ze_module_get_kernel_names(unit->ze, &unit->kernel_names, &unit->kernel_count);
        device_module->unit_count++;
    }
    return result;
}

static zepi_result_t fill_sources(struct zepi_device_module *device_module, uint32_t source_count,
                                  struct zepi_blob *const *sources)
{
    device_module->sources = zepi_allocate(source_count, sizeof(struct zepi_blob *));
    if (!device_module->sources)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < source_count; i++)
        device_module->sources[i] = sources[i] ? zepi_blob_retain(sources[i]) : NULL;
    device_module->source_count = source_count;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_device_module_create(struct zepi_context *context, struct zepi_device *device,
                                        uint32_t module_count, const ze_module_handle_t *modules,
                                        zepi_ownership_t ownership, uint32_t source_count,
                                        struct zepi_blob *const *sources,
                                        struct zepi_device_module **out_device_module)
{
    static atomic_uint_fast64_t last_id;
    struct zepi_device_module *device_module =
        zepi_allocate(1, sizeof(*device_module) + module_count * sizeof(device_module->units[0]));
    if (!device_module)
        return zepi_fail_no_memory();
    zepi_result_t result = fill_sources(device_module, source_count, sources);
    if (result == ZEPI_SUCCESS)
        result = fill_units(device_module, module_count, modules);
    if (result != ZEPI_SUCCESS) {
        device_module->ownership = ZEPI_OWNERSHIP_KEEP;
        device_module_destroy_deferred(&device_module->deferred);
        return result;
    }
    device_module->context = context;
    device_module->device = device;
    device_module->ownership = ownership;
    // Relaxed: only uniqueness matters.
    device_module->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    *out_device_module = device_module;
    return ZEPI_SUCCESS;
}

static uint64_t blob_size(const struct zepi_blob *blob)
{
    return blob ? blob->size_bytes : 0;
}

uint64_t zepi_device_module_cost_bytes(const struct zepi_device_module *device_module,
                                       uint64_t native_size_bytes)
{
    uint64_t cost = native_size_bytes + blob_size(device_module->container);
    for (uint32_t i = 0; i < device_module->source_count; i++)
        cost += blob_size(device_module->sources[i]);
    for (uint32_t i = 0; i < device_module->unit_count; i++)
        cost += blob_size(device_module->units[i].native);
    return cost;
}

zepi_result_t zepi_device_module_wrap(struct zepi_device_module *device_module,
                                      struct zepi_build_result **out_result)
{
    struct zepi_build_output output = {.payload = device_module,
                                       .destroy = zepi_device_module_destroy};
    struct zepi_build_result *result = zepi_sys_allocate_lines(sizeof(*result));
    if (!result)
        return zepi_fail_no_memory();
    zepi_build_result_init(result);
    zepi_build_result_publish(result, ZEPI_BUILD_SUCCEEDED, &output);
    *out_result = result;
    return ZEPI_SUCCESS;
}

const struct zepi_spirv_kernel *
zepi_device_module_describe_kernel(const struct zepi_device_module *device_module, const char *name)
{
    const struct zepi_spirv_kernel *kernel = NULL;
    for (uint32_t i = 0; i < device_module->source_count && !kernel; i++) {
        if (device_module->sources[i])
            kernel = zepi_spirv_find_kernel(&device_module->sources[i]->spirv, name);
    }
    return kernel;
}

void zepi_device_module_for_each_kernel(const struct zepi_device_module *device_module,
                                        bool (*visit)(void *user, const char *name), void *user)
{
    bool has_names = false;
    for (uint32_t i = 0; i < device_module->unit_count; i++) {
        const struct zepi_device_module_unit *unit = &device_module->units[i];
        has_names = has_names || unit->kernel_names;
        for (uint32_t at = 0; at < unit->kernel_count; at++) {
            if (!visit(user, unit->kernel_names[at]))
                return;
        }
    }
    // A driver that does not list names: SPIR-V does.
    for (uint32_t i = 0; i < device_module->source_count && !has_names; i++) {
        const struct zepi_blob *source = device_module->sources[i];
        for (uint32_t at = 0; source && at < source->spirv.kernel_count; at++) {
            if (!visit(user, source->spirv.kernels[at].name))
                return;
        }
    }
}

// Where a kernel is: the unit, and its name there.
static const struct zepi_device_module_unit *
find_unit(const struct zepi_device_module *device_module, const char *name, const char **out_name)
{
    bool has_names = false;
    for (uint32_t i = 0; i < device_module->unit_count; i++) {
        const struct zepi_device_module_unit *unit = &device_module->units[i];
        has_names = has_names || unit->kernel_names;
        *out_name = zepi_find_kernel_name(unit->kernel_names, unit->kernel_count, name);
        if (*out_name)
            return unit;
    }
    for (uint32_t i = 0; i < device_module->source_count && !has_names; i++) {
        const struct zepi_spirv_kernel *kernel =
            device_module->sources[i]
                ? zepi_spirv_find_kernel(&device_module->sources[i]->spirv, name)
                : NULL;
        if (!kernel)
            continue;
        *out_name = kernel->name;
        return &device_module->units[device_module->unit_count > 1 ? i : 0];
    }
    return NULL;
}

const char *zepi_device_module_kernel_name(const struct zepi_device_module *device_module,
                                           const char *name)
{
    const char *own;
    return find_unit(device_module, name, &own) ? own : NULL;
}

ze_module_handle_t zepi_device_module_find_kernel(const struct zepi_device_module *device_module,
                                                  const char *name)
{
    const char *own;
    const struct zepi_device_module_unit *unit = find_unit(device_module, name, &own);
    return unit ? unit->ze : NULL;
}

// What a lookup in the module cache builds if it misses.
struct code_request {
    struct zepi_context *context;
    struct zepi_device *device;
    struct zepi_device_image *image;
    const struct zepi_spec_values *values;
    const struct zepi_build_options *options;
    enum zepi_device_module_kind kind;
    char *text; // of the options, for the device; owned while it is built
};

enum zepi_build_status zepi_device_module_end_build(struct zepi_build_output *output,
                                                    zepi_result_t result, struct zepi_text *log)
{
    output->code = (int32_t)result;
    zepi_build_output_set_texts(output, result == ZEPI_SUCCESS ? "" : zepi_last_error(NULL),
                                log->bytes, log->size_bytes);
    zepi_text_finish(log);
    return zepi_build_status_of(result);
}

static zepi_result_t device_module_compile(void *user, struct zepi_text *log,
                                           ze_module_handle_t *out_module)
{
    const struct code_request *request = user;
    return zepi_ze_module_compile(
        request->context, request->device, request->image, request->values, request->text,
        request->kind == ZEPI_DEVICE_MODULE_EXECUTABLE ? ZEPI_IMPORTS_RESOLVED
                                                       : ZEPI_IMPORTS_ALLOWED,
        log, out_module);
}

// The inputs that decide a build beside the device.
static void device_module_begin_key(struct zepi_key *key, const struct code_request *request)
{
    zepi_key_init(key, ZEPI_KEY_VERSION);
    zepi_key_add_u32(key, ZEPI_KEY_KIND, request->kind);
    zepi_key_add_image(key, request->image, request->values);
    zepi_key_add_bytes(key, ZEPI_KEY_OPTIONS, request->options->text, request->options->length);
    if (request->device->has_large_allocations)
        zepi_key_add_u32(key, ZEPI_KEY_LARGE, true);
}

static zepi_result_t device_module_end_key(struct zepi_key *key)
{
    return zepi_key_seal(key) ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

// Code from SPIR-V, through the binary cache.
static zepi_result_t device_module_make_from_spirv(struct code_request *request,
                                                   struct zepi_text *log,
                                                   struct zepi_device_module **out_device_module,
                                                   uint64_t *out_size_bytes)
{
    const struct zepi_binary_source source = {request->context, request->device,
                                              device_module_compile, request};
    struct zepi_blob *spirv = request->image->blob;
    struct zepi_key key;
    ze_module_handle_t module;
    device_module_begin_key(&key, request);
    zepi_key_add_device(&key, request->device);
    zepi_result_t result = device_module_end_key(&key);
    if (result == ZEPI_SUCCESS)
        result = zepi_binary_get(&source, &key, log, &module, out_size_bytes);
    zepi_key_finish(&key);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_device_module_create(request->context, request->device, 1, &module,
                                       ZEPI_OWNERSHIP_TRANSFER, 1, &spirv, out_device_module);
    if (result != ZEPI_SUCCESS)
        zepi_ze.zeModuleDestroy(module);
    return result;
}

// Makes the result of the module cache: its payload is a device module.
static enum zepi_build_status device_module_make(void *user, struct zepi_build_output *output)
{
    struct code_request *request = user;
    struct zepi_blob *bytes = request->image->blob;
    struct zepi_text log = {0};
    struct zepi_device_module *device_module = NULL;
    uint64_t size_bytes = bytes->size_bytes;
    zepi_result_t result = ZEPI_SUCCESS;
    request->text = zepi_build_options_for(request->options, request->device);
    if (!request->text)
        result = zepi_fail_no_memory();
    else if (request->image->format == ZEPI_DEVICE_IMAGE_SPIRV)
        result = device_module_make_from_spirv(request, &log, &device_module, &size_bytes);
    else
        result = zepi_native_image_load(request->context, request->device, bytes, request->kind,
                                        &log, &device_module);
    if (result != ZEPI_SUCCESS)
        zepi_free(request->text);
    if (result == ZEPI_SUCCESS) {
        // Objects are linked with the options that they were compiled with, and builds are told
        // apart by theirs.
        device_module->options = request->text;
        output->payload = device_module;
        output->destroy = zepi_device_module_destroy;
        output->cost_bytes = zepi_device_module_cost_bytes(device_module, size_bytes);
    }
    return zepi_device_module_end_build(output, result, &log);
}

// The log reaches the callback and the thread whether it was built now or long ago.
static void hand_out_build_log(const struct zepi_build_options *options, struct zepi_device *device,
                               const struct zepi_build_result *result)
{
    size_t size_bytes;
    const char *log = zepi_build_log(result, &size_bytes);
    zepi_build_log_set(log, size_bytes);
    if (options->log && (options->logs_successes || !zepi_build_result_has_succeeded(result)))
        options->log(options->log_data, device, log, size_bytes);
}

zepi_result_t zepi_device_module_hand_out(const struct zepi_build_options *options,
                                          struct zepi_device *device,
                                          struct zepi_build_result *result,
                                          struct zepi_build_result **out_result)
{
    hand_out_build_log(options, device, result);
    if (zepi_build_result_has_succeeded(result)) {
        *out_result = result;
        return ZEPI_SUCCESS;
    }
    const zepi_result_t failure = zepi_build_fail(result);
    zepi_build_result_release(result);
    return failure;
}

zepi_result_t zepi_build_uncached(const struct zepi_build_request *build,
                                  struct zepi_build_result **out_result)
{
    struct zepi_build_output output = {0};
    struct zepi_build_result *result = zepi_sys_allocate_lines(sizeof(*result));
    if (!result)
        return zepi_fail_no_memory();
    zepi_build_result_init(result);
    const enum zepi_build_status status = build->build(build->user, &output);
    zepi_build_result_publish(result, status, &output);
    *out_result = result;
    return ZEPI_SUCCESS;
}

// The end of the process waits for the build.
static enum zepi_build_status run_held(void *user, struct zepi_build_output *output)
{
    const struct zepi_build_request *build = user;
    struct zepi_text log = {0};
    const zepi_result_t result = zepi_build_hold();
    if (result != ZEPI_SUCCESS)
        return zepi_device_module_end_build(output, result, &log);
    const enum zepi_build_status status = build->build(build->user, output);
    zepi_process_let_go();
    return status;
}

static zepi_result_t build_private(struct zepi_context *context,
                                   const struct zepi_build_request *build,
                                   struct zepi_build_result **out_result)
{
    const struct zepi_build_request held = {.build = run_held, .user = (void *)build};
    struct zepi_build_result *result = NULL;
    zepi_stats_count(ZEPI_STAT_PROGRAMS);
    zepi_result_t done = zepi_build_uncached(&held, &result);
    if (done == ZEPI_SUCCESS && zepi_build_result_status(result) == ZEPI_BUILD_OUT_OF_MEMORY) {
        // Once more without unused results, as the caches do it.
        zepi_build_result_release(result);
        zepi_handle_caches_trim(context, 0);
        done = zepi_build_uncached(&held, &result);
    }
    if (done != ZEPI_SUCCESS)
        return done;
    // No other thread has it yet.
    if (zepi_build_result_has_succeeded(result))
        zepi_device_module_of(result)->is_private = true;
    *out_result = result;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_device_module_build_private(struct zepi_context *context, uint32_t device_index,
                                               const struct zepi_build_request *build,
                                               const struct zepi_build_options *options,
                                               struct zepi_build_result **out_result)
{
    struct zepi_build_result *result;
    const zepi_result_t done = build_private(context, build, &result);
    return done == ZEPI_SUCCESS ? zepi_device_module_hand_out(
                                      options, context->devices[device_index], result, out_result)
                                : done;
}

// A build that notes whether it was called.
struct noted_build {
    const struct zepi_build_request *build;
    bool has_begun;
};

static enum zepi_build_status noted_build_run(void *user, struct zepi_build_output *output)
{
    struct noted_build *noted = user;
    noted->has_begun = true;
    return run_held((void *)noted->build, output);
}

static zepi_result_t find_or_build(struct zepi_context *context, const struct zepi_key *key,
                                   const struct zepi_build_request *build,
                                   struct zepi_build_result **out_result)
{
    struct noted_build noted = {build, false};
    const struct zepi_build_request request = {.build = noted_build_run, .user = &noted};
    const enum zepi_build_lookup lookup = zepi_build_cache_find_or_build(
        zepi_handle_caches_of(context)->modules, key, &request, out_result);
    zepi_stats_count(ZEPI_STAT_PROGRAMS);
    if (!noted.has_begun)
        zepi_stats_count(ZEPI_STAT_PROGRAMS_KNOWN);
    switch (lookup) {
    case ZEPI_LOOKUP_SUCCEEDED:
    case ZEPI_LOOKUP_FAILED:
        return ZEPI_SUCCESS;
    case ZEPI_LOOKUP_RECURSIVE:
        // Log callbacks run after a build. During it the driver runs, and layers above it.
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the thread that builds this module asks for it from inside the build");
    default:
        return zepi_fail_no_memory();
    }
}

zepi_result_t zepi_device_module_find_or_build(struct zepi_context *context, uint32_t device_index,
                                               const struct zepi_key *key,
                                               const struct zepi_build_request *build,
                                               const struct zepi_build_options *options,
                                               struct zepi_build_result **out_result)
{
    struct zepi_build_result *result = NULL;
    const zepi_result_t done = find_or_build(context, key, build, &result);
    return done == ZEPI_SUCCESS ? zepi_device_module_hand_out(
                                      options, context->devices[device_index], result, out_result)
                                : done;
}

zepi_result_t zepi_device_module_look_up(struct zepi_context *context, uint32_t device_index,
                                         struct zepi_device_image *image,
                                         const struct zepi_spec_values *values,
                                         const struct zepi_build_options *options,
                                         enum zepi_device_module_kind kind,
                                         struct zepi_build_result **out_result)
{
    struct zepi_key key;
    struct code_request request = {.context = context,
                                   .device = context->devices[device_index],
                                   .image = image,
                                   .values = values,
                                   .options = options,
                                   .kind = kind};
    const struct zepi_build_request build = {.build = device_module_make, .user = &request};
    if (options->variables == ZEPI_VARIABLES_OWN && kind == ZEPI_DEVICE_MODULE_EXECUTABLE &&
        zepi_device_image_has_variables(image))
        return build_private(context, &build, out_result);
    device_module_begin_key(&key, &request);
    zepi_key_add_u32(&key, ZEPI_KEY_DEVICE_INDEX, device_index);
    zepi_result_t result = device_module_end_key(&key);
    if (result == ZEPI_SUCCESS)
        result = find_or_build(context, &key, &build, out_result);
    zepi_key_finish(&key);
    return result;
}

zepi_result_t zepi_device_module_get(struct zepi_context *context, uint32_t device_index,
                                     struct zepi_device_image *image,
                                     const struct zepi_spec_values *values,
                                     const struct zepi_build_options *options,
                                     enum zepi_device_module_kind kind,
                                     struct zepi_build_result **out_result)
{
    struct zepi_build_result *result = NULL;
    const zepi_result_t done =
        zepi_device_module_look_up(context, device_index, image, values, options, kind, &result);
    return done == ZEPI_SUCCESS ? zepi_device_module_hand_out(
                                      options, context->devices[device_index], result, out_result)
                                : done;
}
