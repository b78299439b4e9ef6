// SPDX-License-Identifier: MIT
#include "program/build/device_build.h"

#include "core/alloc.h"
#include "core/stats.h"
#include "core/unload.h"
#include "device/context.h"
#include "device/device.h"
#include "program/build/binary.h"
#include "program/build/compile.h"
#include "program/build/handle_caches.h"
#include "program/build/native_image.h"

// ---- The build of an image ----

void zepi_key_add_image(struct zepi_key *key, const struct zepi_device_image *image,
                        const struct zepi_spec_values *values)
{
    zepi_key_add_u32(key, ZEPI_KEY_FORMAT, image->format);
    zepi_key_add_digest(key, ZEPI_KEY_IMAGE, image->blob->digest);
    // Setting the default is the same build as not setting it.
    const uint8_t *value;
    for (uint32_t i = 0; (value = zepi_device_image_next_changed(image, values, &i)); i++)
        zepi_key_add_numbered(key, ZEPI_KEY_VALUE, image->declarations[i].id, value,
                              image->declarations[i].size_bytes);
}

// The inputs that decide a build beside the device.
static void image_build_begin_key(struct zepi_key *key, const struct zepi_image_build *build)
{
    zepi_key_init(key, ZEPI_KEY_VERSION);
    zepi_key_add_u32(key, ZEPI_KEY_KIND, ZEPI_KEY_KIND_OF(build->state));
    zepi_key_add_image(key, build->image, build->values);
    zepi_key_add_bytes(key, ZEPI_KEY_OPTIONS, build->options->text, build->options->length);
    if (build->context->devices[build->device_index]->has_large_allocations)
        zepi_key_add_u32(key, ZEPI_KEY_LARGE, true);
}

static zepi_result_t build_from_spirv(const struct zepi_image_build *build, const char *options,
                                      struct zepi_text *log,
                                      struct zepi_device_module **out_device_module)
{
    const struct zepi_compile_input input = {build->image, build->values, options};
    const struct zepi_compile compile = {
        .context = build->context,
        .device = build->context->devices[build->device_index],
        .kind =
            build->state == ZEPI_MODULE_EXECUTABLE ? ZEPI_COMPILE_EXECUTABLE : ZEPI_COMPILE_OBJECT,
        .count = 1,
        .inputs = &input,
    };
    struct zepi_key key;
    image_build_begin_key(&key, build);
    const zepi_result_t result =
        zepi_binary_build(&compile, &key, &build->image->blob, log, out_device_module);
    zepi_key_finish(&key);
    return result;
}

// Makes the result of the module cache: its payload is a device module.
static enum zepi_build_status image_build_run(void *user, struct zepi_build_output *output)
{
    const struct zepi_image_build *build = user;
    struct zepi_device *device = build->context->devices[build->device_index];
    struct zepi_text log = {0};
    struct zepi_device_module *device_module = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    char *options = zepi_build_options_for(build->options, device);
    if (!options)
        result = zepi_fail_no_memory();
    else if (build->image->format == ZEPI_DEVICE_IMAGE_SPIRV)
        result = build_from_spirv(build, options, &log, &device_module);
    else
        result = zepi_native_image_load(build->context, device, build->image->blob, build->state,
                                        &log, &device_module);
    // Objects are linked with the options that they were compiled with, and builds are told apart
    // by theirs.
    if (result == ZEPI_SUCCESS)
        device_module->options = options;
    else
        zepi_free(options);
    return zepi_device_module_end_build(output, result, device_module, &log);
}

// ---- Caches ----

// A build for which the end of the process waits, and that notes whether it was called.
struct held_build {
    zepi_build_fn *build;
    void *user;
    bool has_begun;
};

static enum zepi_build_status held_build_run(void *user, struct zepi_build_output *output)
{
    struct held_build *held = user;
    struct zepi_text log = {0};
    held->has_begun = true;
    const zepi_result_t result = zepi_build_hold();
    if (result != ZEPI_SUCCESS)
        return zepi_build_output_end(output, result, &log);
    const enum zepi_build_status status = held->build(held->user, output);
    zepi_process_let_go();
    return status;
}

// The log reaches the callback and the thread whether it was built now or long ago.
static void tell_log(const struct zepi_build_options *options, struct zepi_device *device,
                     const struct zepi_build_result *result)
{
    size_t size_bytes;
    const char *log = zepi_build_log(result, &size_bytes);
    zepi_build_log_set(log, size_bytes);
    if (options->log && (options->logs_successes || !zepi_build_result_has_succeeded(result)))
        options->log(options->log_data, device, log, size_bytes);
}

zepi_result_t zepi_device_module_find_or_build(struct zepi_context *context, uint32_t device_index,
                                               const struct zepi_build_options *options,
                                               struct zepi_key *key, zepi_build_fn *build,
                                               void *user, struct zepi_build_result **out_result)
{
    struct held_build held = {build, user, false};
    struct zepi_build_result *result;
    if (key)
        zepi_key_add_u32(key, ZEPI_KEY_DEVICE_INDEX, device_index);
    const enum zepi_build_lookup lookup = zepi_build_cache_find_or_build(
        zepi_handle_caches_of(context)->modules, key, held_build_run, &held, &result);
    zepi_stats_count(ZEPI_STAT_PROGRAMS);
    if (!held.has_begun)
        zepi_stats_count(ZEPI_STAT_PROGRAMS_KNOWN);
    if (!result)
        return zepi_lookup_fail(lookup);
    // No other thread has it yet.
    if (lookup == ZEPI_LOOKUP_SUCCEEDED && !key)
        zepi_device_module_of(result)->is_private = true;
    tell_log(options, context->devices[device_index], result);
    if (lookup == ZEPI_LOOKUP_SUCCEEDED) {
        *out_result = result;
        return ZEPI_SUCCESS;
    }
    const zepi_result_t failure = zepi_build_fail(result);
    zepi_build_result_release(result);
    return failure;
}

zepi_result_t zepi_device_module_get(const struct zepi_image_build *build,
                                     struct zepi_build_result **out_result)
{
    struct zepi_key key;
    const bool is_private = build->options->variables == ZEPI_VARIABLES_OWN &&
                            build->state == ZEPI_MODULE_EXECUTABLE &&
                            zepi_device_image_has_variables(build->image);
    image_build_begin_key(&key, build);
    const zepi_result_t result = zepi_device_module_find_or_build(
        build->context, build->device_index, build->options, is_private ? NULL : &key,
        image_build_run, (void *)build, out_result);
    zepi_key_finish(&key);
    return result;
}
