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
                                      struct zepi_device_module **out_device_module,
                                      uint64_t *out_size_bytes)
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
    const zepi_result_t result = zepi_binary_build(&compile, &key, &build->image->blob, log,
                                                   out_device_module, out_size_bytes);
    zepi_key_finish(&key);
    return result;
}

// Makes the result of the module cache: its payload is a device module.
static enum zepi_build_status image_build_run(void *user, struct zepi_build_output *output)
{
    const struct zepi_image_build *build = user;
    struct zepi_device *device = build->context->devices[build->device_index];
    struct zepi_blob *bytes = build->image->blob;
    struct zepi_text log = {0};
    struct zepi_device_module *device_module = NULL;
    uint64_t size_bytes = bytes->size_bytes;
    zepi_result_t result = ZEPI_SUCCESS;
    char *options = zepi_build_options_for(build->options, device);
    if (!options)
        result = zepi_fail_no_memory();
    else if (build->image->format == ZEPI_DEVICE_IMAGE_SPIRV)
        result = build_from_spirv(build, options, &log, &device_module, &size_bytes);
    else
        result = zepi_native_image_load(build->context, device, bytes, build->state, &log,
                                        &device_module);
    // Objects are linked with the options that they were compiled with, and builds are told apart
    // by theirs.
    if (result == ZEPI_SUCCESS)
        device_module->options = options;
    else
        zepi_free(options);
    return zepi_device_module_end_build(output, result, device_module, size_bytes, &log);
}

// ---- Caches ----

// A build for which the end of the process waits, and that notes whether it was called.
struct held_build {
    const struct zepi_build_request *build;
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
    const enum zepi_build_status status = held->build->build(held->build->user, output);
    zepi_process_let_go();
    return status;
}

// A new reference to the result, failed or not; notes nothing.
static zepi_result_t look_up(struct zepi_context *context, uint32_t device_index,
                             struct zepi_key *key, const struct zepi_build_request *build,
                             struct zepi_build_result **out_result)
{
    struct held_build held = {build, false};
    const struct zepi_build_request request = {.build = held_build_run, .user = &held};
    zepi_result_t result = ZEPI_SUCCESS;
    if (key)
        zepi_key_add_u32(key, ZEPI_KEY_DEVICE_INDEX, device_index);
    if (key && !zepi_key_seal(key))
        result = zepi_fail_no_memory();
    if (result == ZEPI_SUCCESS) {
        const enum zepi_build_lookup lookup = zepi_build_cache_find_or_build(
            zepi_handle_caches_of(context)->modules, key, &request, out_result);
        result = *out_result ? ZEPI_SUCCESS : zepi_lookup_fail(lookup);
    }
    // No other thread has it yet.
    if (result == ZEPI_SUCCESS && !key && zepi_build_result_has_succeeded(*out_result))
        zepi_device_module_of(*out_result)->is_private = true;
    zepi_stats_count(ZEPI_STAT_PROGRAMS);
    if (!held.has_begun)
        zepi_stats_count(ZEPI_STAT_PROGRAMS_KNOWN);
    return result;
}

// Notes failure and log for the caller's thread, and consumes a result that did not succeed.
static zepi_result_t hand_out(const struct zepi_build_options *options, struct zepi_device *device,
                              struct zepi_build_result *result,
                              struct zepi_build_result **out_result)
{
    size_t size_bytes;
    const bool has_succeeded = zepi_build_result_has_succeeded(result);
    const char *log = zepi_build_log(result, &size_bytes);
    // The log reaches the callback and the thread whether it was built now or long ago.
    zepi_build_log_set(log, size_bytes);
    if (options->log && (options->logs_successes || !has_succeeded))
        options->log(options->log_data, device, log, size_bytes);
    if (has_succeeded) {
        *out_result = result;
        return ZEPI_SUCCESS;
    }
    const zepi_result_t failure = zepi_build_fail(result);
    zepi_build_result_release(result);
    return failure;
}

zepi_result_t zepi_device_module_find_or_build(struct zepi_context *context, uint32_t device_index,
                                               const struct zepi_build_options *options,
                                               struct zepi_key *key,
                                               const struct zepi_build_request *build,
                                               struct zepi_build_result **out_result)
{
    struct zepi_build_result *result = NULL;
    const zepi_result_t done = look_up(context, device_index, key, build, &result);
    return done == ZEPI_SUCCESS
               ? hand_out(options, context->devices[device_index], result, out_result)
               : done;
}

zepi_result_t zepi_device_module_get(const struct zepi_image_build *build,
                                     struct zepi_build_result **out_result)
{
    struct zepi_key key;
    const struct zepi_build_request request = {.build = image_build_run, .user = (void *)build};
    const bool is_private = build->options->variables == ZEPI_VARIABLES_OWN &&
                            build->state == ZEPI_MODULE_EXECUTABLE &&
                            zepi_device_image_has_variables(build->image);
    image_build_begin_key(&key, build);
    const zepi_result_t result =
        zepi_device_module_find_or_build(build->context, build->device_index, build->options,
                                         is_private ? NULL : &key, &request, out_result);
    zepi_key_finish(&key);
    return result;
}
