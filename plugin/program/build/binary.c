// SPDX-License-Identifier: MIT
#include "program/build/binary.h"

#include "core/alloc.h"
#include "core/stats.h"
#include "program/build/binary_cache.h"
#include "program/build/compile.h"
#include "program/build/ze_module.h"
#include "ze/ze.h"

// The request of a lookup in the binary cache, which builds if it misses.
struct request {
    const struct zepi_compile *compile;
    ze_module_handle_t made; // compiled, on the way to the native code; or NULL
    bool is_native_refused;  // the driver did not take native code that it gave out before
};

static void destroy_made(struct request *request)
{
    if (request->made)
        zepi_ze.zeModuleDestroy(request->made);
    request->made = NULL;
}

// Makes the ze_module, and keeps it for the caller that began.
static enum zepi_build_status binary_build(void *user, struct zepi_build_output *output)
{
    struct request *request = user;
    struct zepi_text log = {0};
    void *bytes = NULL;
    size_t size_bytes = 0;
    zepi_stats_count(ZEPI_STAT_BINARIES_MADE);
    destroy_made(request);
    zepi_result_t result = zepi_compile_spirv(request->compile, &log, &request->made);
    if (result == ZEPI_SUCCESS)
        result = zepi_ze_module_get_native(request->made, &bytes, &size_bytes);
    // A driver without native code: every context makes its own.
    if (result == ZEPI_ERROR_UNSUPPORTED)
        result = ZEPI_SUCCESS;
    if (result == ZEPI_SUCCESS && !zepi_binary_set(output, bytes, size_bytes))
        result = zepi_fail_no_memory();
    zepi_free(bytes);
    if (result != ZEPI_SUCCESS)
        destroy_made(request);
    return zepi_build_output_end(output, result, &log);
}

// The ze_module for a successful result.
static zepi_result_t binary_load(struct request *request, const struct zepi_build_result *native,
                                 struct zepi_text *log, ze_module_handle_t *out_module)
{
    const struct zepi_compile *compile = request->compile;
    const size_t size_bytes = native->output.stored_size;
    if (request->made) {
        *out_module = request->made;
        request->made = NULL;
        return ZEPI_SUCCESS;
    }
    if (size_bytes > 0) {
        const zepi_result_t result = zepi_ze_module_load(
            compile->context, compile->device, native->output.stored, size_bytes, log, out_module);
        request->is_native_refused = zepi_build_status_of(result) == ZEPI_BUILD_FAILED;
        return result;
    }
    return zepi_compile_spirv(compile, log, out_module);
}

static zepi_result_t binary_look_up(struct request *request, struct zepi_build_cache *binaries,
                                    struct zepi_key *key, struct zepi_ze_module *out_module,
                                    struct zepi_text *log)
{
    struct zepi_build_result *native = NULL;
    struct zepi_text load_log = {0};
    size_t log_size;
    const enum zepi_build_lookup lookup =
        zepi_build_cache_find_or_build(binaries, key, binary_build, request, &native);
    if (!native)
        return zepi_lookup_fail(lookup);
    const char *text = zepi_build_log(native, &log_size);
    zepi_text_append(log, text, log_size);
    const zepi_result_t result = lookup == ZEPI_LOOKUP_SUCCEEDED
                                     ? binary_load(request, native, &load_log, &out_module->ze)
                                     : zepi_build_fail(native);
    out_module->native_bytes = native->output.stored_size;
    // The log is the maker's, the same from every level; the messages of loading matter if it
    // fails.
    if (result != ZEPI_SUCCESS && load_log.bytes)
        zepi_text_append(log, load_log.bytes, load_log.size_bytes);
    zepi_text_finish(&load_log);
    zepi_build_result_release(native);
    return result;
}

static zepi_result_t binary_get(const struct zepi_compile *compile, struct zepi_key *key,
                                struct zepi_text *log, struct zepi_ze_module *out_module)
{
    struct request request = {.compile = compile};
    struct zepi_build_cache *binaries = zepi_binary_cache();
    if (!binaries)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    zepi_stats_count(ZEPI_STAT_BINARIES);
    zepi_result_t result = binary_look_up(&request, binaries, key, out_module, log);
    if (request.is_native_refused) {
        zepi_build_cache_remove(binaries, key);
        zepi_text_finish(log);
        result = binary_look_up(&request, binaries, key, out_module, log);
    }
    destroy_made(&request);
    return result;
}

zepi_result_t zepi_binary_build(const struct zepi_compile *compile, struct zepi_key *key,
                                struct zepi_blob *const *spirv, struct zepi_text *log,
                                struct zepi_device_module **out_device_module)
{
    struct zepi_ze_module module = {0};
    zepi_key_add_device(key, compile->device);
    zepi_result_t result = binary_get(compile, key, log, &module);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_device_module_create(compile->context, compile->device, 1, &module,
                                       compile->count, spirv, out_device_module);
    if (result != ZEPI_SUCCESS)
        zepi_ze.zeModuleDestroy(module.ze);
    return result;
}
