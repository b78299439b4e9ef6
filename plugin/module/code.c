// SPDX-License-Identifier: MIT
#include "module/code.h"

#include "base/alloc.h"
#include "base/ze.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "module/code_cache.h"
#include "module/code_key.h"
#include "module/handle_caches.h"
#include "module/ze_module.h"

static void destroy_now(struct zepi_retired *retired)
{
    struct zepi_code *code = (struct zepi_code *)retired;
    for (uint32_t i = 0; i < code->unit_count; i++) {
        if (code->ownership == ZEPI_OWNERSHIP_TRANSFER)
            zepi_ze.zeModuleDestroy(code->units[i].ze);
        zepi_free(code->units[i].kernel_names);
    }
    zepi_intern_release(code->source);
    zepi_free(code);
}

void zepi_code_destroy(void *pointer)
{
    struct zepi_code *code = pointer;
    code->retired.weight = ZEPI_RETIRE_WEIGHT_HANDLE;
    code->retired.destroy = destroy_now;
    zepi_retire_later(&code->context->retire, &code->retired);
}

zepi_result_t zepi_code_create(struct zepi_context *context, struct zepi_device *device,
                               uint32_t module_count, const ze_module_handle_t *modules,
                               zepi_ownership_t ownership, struct zepi_interned *source,
                               struct zepi_code **out_code)
{
    static atomic_uint_fast64_t last_id;
    struct zepi_code *code =
        zepi_allocate(1, sizeof(*code) + module_count * sizeof(code->units[0]));
    zepi_result_t result = code ? ZEPI_SUCCESS : zepi_fail_no_memory();
    for (uint32_t i = 0; i < module_count && result == ZEPI_SUCCESS; i++) {
        struct zepi_code_unit *unit = &code->units[i];
        unit->ze = modules[i];
        result =
            zepi_ze_module_get_kernel_names(unit->ze, &unit->kernel_names, &unit->kernel_count);
        code->unit_count++;
    }
    if (result != ZEPI_SUCCESS) {
        if (code) {
            code->ownership = ZEPI_OWNERSHIP_KEEP;
            destroy_now(&code->retired);
        }
        return result;
    }
    code->context = context;
    code->device = device;
    code->ownership = ownership;
    code->source = source ? zepi_intern_retain(source) : NULL;
    // Relaxed: only uniqueness matters.
    code->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    *out_code = code;
    return ZEPI_SUCCESS;
}

void zepi_code_for_each_kernel(const struct zepi_code *code,
                               bool (*visit)(void *user, const char *name), void *user)
{
    bool has_names = false;
    for (uint32_t i = 0; i < code->unit_count; i++) {
        const struct zepi_code_unit *unit = &code->units[i];
        has_names = has_names || unit->kernel_names;
        for (uint32_t at = 0; at < unit->kernel_count; at++) {
            if (!visit(user, unit->kernel_names[at]))
                return;
        }
    }
    // A driver that does not answer names: SPIR-V does.
    const struct zepi_spirv *spirv = code->source ? &code->source->spirv : NULL;
    for (uint32_t i = 0; spirv && !has_names && i < spirv->kernel_count; i++) {
        if (!visit(user, spirv->kernels[i].name))
            return;
    }
}

// Where a kernel is: the unit, and its name there.
static const struct zepi_code_unit *find_unit(const struct zepi_code *code, const char *name,
                                              const char **out_name)
{
    bool has_names = false;
    for (uint32_t i = 0; i < code->unit_count; i++) {
        const struct zepi_code_unit *unit = &code->units[i];
        has_names = has_names || unit->kernel_names;
        for (uint32_t at = 0; at < unit->kernel_count; at++) {
            if (strcmp(unit->kernel_names[at], name) == 0) {
                *out_name = unit->kernel_names[at];
                return unit;
            }
        }
    }
    const struct zepi_spirv_kernel *kernel =
        has_names ? NULL : zepi_code_describe_kernel(code, name);
    if (!kernel)
        return NULL;
    *out_name = kernel->name;
    return &code->units[0];
}

const char *zepi_code_kernel_name(const struct zepi_code *code, const char *name)
{
    const char *own;
    return find_unit(code, name, &own) ? own : NULL;
}

ze_module_handle_t zepi_code_find_kernel(const struct zepi_code *code, const char *name)
{
    const char *own;
    const struct zepi_code_unit *unit = find_unit(code, name, &own);
    return unit ? unit->ze : NULL;
}

void zepi_key_add_image(struct zepi_key *key, const struct zepi_image *image,
                        const struct zepi_spec_values *values)
{
    zepi_key_add_u32(key, ZEPI_KEY_FORMAT, image->format);
    zepi_key_add_digest(key, ZEPI_KEY_IMAGE, image->code->digest);
    const struct zepi_spirv *spirv = zepi_image_spirv(image);
    for (uint32_t i = 0; spirv && i < image->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &image->declarations[i];
        const uint8_t *value = zepi_spec_effective(declaration, values);
        // Setting the default is the same build as not setting it.
        if (memcmp(value, spirv->constants[i].default_value, declaration->size_bytes) != 0)
            zepi_key_add_numbered(key, ZEPI_KEY_VALUE, declaration->id, value,
                                  declaration->size_bytes);
    }
}

// What a lookup needs that misses.
struct code_request {
    struct zepi_context *context;
    struct zepi_device *device;
    struct zepi_image *image;
    const struct zepi_spec_values *values;
    const struct zepi_build_options *options;
    enum zepi_code_kind kind;
    ze_module_handle_t made; // by compiling, on the way to the native code; or NULL
    bool is_native_refused;  // the driver did not take native code that it gave out before
};

static void destroy_made(struct code_request *request)
{
    if (request->made)
        zepi_ze.zeModuleDestroy(request->made);
    request->made = NULL;
}

// Ends a build callback: notes a failure with its texts.
static enum zepi_build_verdict finish_outcome(struct zepi_build_outcome *outcome,
                                              zepi_result_t result, struct zepi_text *log)
{
    outcome->code = (int32_t)result;
    zepi_outcome_set_texts(outcome, result == ZEPI_SUCCESS ? "" : zepi_last_error(NULL), log->bytes,
                           log->size_bytes);
    zepi_text_finish(log);
    return zepi_build_verdict_of(result);
}

// Machine code: compiles, and keeps the ze_module for the caller that began it.
static enum zepi_build_verdict compile(void *user, struct zepi_build_outcome *outcome)
{
    struct code_request *request = user;
    struct zepi_text log = {0};
    void *bytes = NULL;
    size_t size_bytes = 0;
    destroy_made(request);
    zepi_result_t result = zepi_ze_module_compile(
        request->context, request->device, request->image, request->values, request->options->text,
        request->kind == ZEPI_CODE_EXECUTABLE ? ZEPI_IMPORTS_RESOLVED : ZEPI_IMPORTS_ALLOWED, &log,
        &request->made);
    if (result == ZEPI_SUCCESS)
        result = zepi_ze_module_get_native(request->made, &bytes, &size_bytes);
    // A driver without native code: every context compiles for itself.
    if (result == ZEPI_ERROR_UNSUPPORTED)
        result = ZEPI_SUCCESS;
    if (result == ZEPI_SUCCESS && !zepi_native_code_set(outcome, bytes, size_bytes))
        result = zepi_fail_no_memory();
    zepi_free(bytes);
    if (result != ZEPI_SUCCESS)
        destroy_made(request);
    return finish_outcome(outcome, result, &log);
}

static bool make_code_key(struct zepi_key *key, const struct code_request *request)
{
    zepi_key_init(key, ZEPI_KEY_VERSION);
    zepi_key_add_u32(key, ZEPI_KEY_KIND, request->kind);
    zepi_key_add_image(key, request->image, request->values);
    zepi_key_add_bytes(key, ZEPI_KEY_OPTIONS, request->options->text, request->options->length);
    zepi_key_add_device(key, request->device);
    if (zepi_key_seal(key))
        return true;
    zepi_key_finish(key);
    zepi_fail_no_memory();
    return false;
}

// The ze_module for a successful result of machine code.
static zepi_result_t load(struct code_request *request, const struct zepi_build_result *native,
                          struct zepi_text *log, ze_module_handle_t *out_module)
{
    const struct zepi_native_code *code = zepi_build_result_payload(native);
    if (request->made) {
        *out_module = request->made;
        request->made = NULL;
        return ZEPI_SUCCESS;
    }
    if (code->size_bytes > 0) {
        const zepi_result_t result = zepi_ze_module_load(
            request->context, request->device, code->bytes, code->size_bytes, log, out_module);
        request->is_native_refused = zepi_build_verdict_of(result) == ZEPI_BUILD_REFUSED;
        return result;
    }
    return zepi_ze_module_compile(
        request->context, request->device, request->image, request->values, request->options->text,
        request->kind == ZEPI_CODE_EXECUTABLE ? ZEPI_IMPORTS_RESOLVED : ZEPI_IMPORTS_ALLOWED, log,
        out_module);
}

// Looks up the machine code, and makes a ze_module of it.
static zepi_result_t get_native(struct code_request *request, struct zepi_build_cache *codes,
                                const struct zepi_key *key, ze_module_handle_t *out_module,
                                uint64_t *out_size_bytes, struct zepi_text *log)
{
    const struct zepi_build_request build = {.build = compile, .user = request};
    struct zepi_build_result *native = NULL;
    size_t log_size;
    switch (zepi_build_cache_find_or_build(codes, key, &build, &native, NULL)) {
    case ZEPI_LOOKUP_SUCCEEDED:
        break;
    case ZEPI_LOOKUP_FAILED: {
        const char *text = zepi_build_log(native, &log_size);
        zepi_text_append(log, text, log_size);
        const zepi_result_t result = zepi_build_fail(native);
        zepi_build_result_release(native);
        return result;
    }
    default:
        return zepi_fail_no_memory();
    }
    struct zepi_text load_log = {0};
    const zepi_result_t result = load(request, native, &load_log, out_module);
    const char *text = zepi_build_log(native, &log_size);
    zepi_text_append(log, text, log_size);
    // The log is the compiler's, the same from every level; what loading says matters if it fails.
    if (result != ZEPI_SUCCESS && load_log.bytes)
        zepi_text_append(log, load_log.bytes, load_log.size_bytes);
    *out_size_bytes = ((struct zepi_native_code *)zepi_build_result_payload(native))->size_bytes;
    zepi_text_finish(&load_log);
    zepi_build_result_release(native);
    return result;
}

static zepi_result_t make_spirv_module(struct code_request *request, ze_module_handle_t *out_module,
                                       uint64_t *out_size_bytes, struct zepi_text *log)
{
    struct zepi_key key;
    struct zepi_build_cache *codes = zepi_code_cache();
    if (!codes || !make_code_key(&key, request))
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    zepi_result_t result = get_native(request, codes, &key, out_module, out_size_bytes, log);
    if (request->is_native_refused) {
        zepi_build_cache_remove(codes, &key);
        zepi_text_finish(log);
        result = get_native(request, codes, &key, out_module, out_size_bytes, log);
    }
    destroy_made(request);
    zepi_key_finish(&key);
    return result;
}

static bool is_elf(const struct zepi_interned *code)
{
    return code->size_bytes >= 4 && memcmp(code->bytes, "\177ELF", 4) == 0;
}

// Handles: the payload is the code on this context's device.
static enum zepi_build_verdict make_code(void *user, struct zepi_build_outcome *outcome)
{
    struct code_request *request = user;
    struct zepi_interned *bytes = request->image->code;
    struct zepi_text log = {0};
    struct zepi_code *code;
    ze_module_handle_t module = NULL;
    uint64_t size_bytes = bytes->size_bytes;
    zepi_result_t result;
    if (request->image->format == ZEPI_IMAGE_SPIRV)
        result = make_spirv_module(request, &module, &size_bytes, &log);
    else if (request->device->platform->is_ze_cpu && is_elf(bytes))
        result = zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                           "the image is code for a GPU, the device executes on the CPU");
    else
        result = zepi_ze_module_load(request->context, request->device, bytes->bytes,
                                     bytes->size_bytes, &log, &module);
    if (result == ZEPI_SUCCESS) {
        result = zepi_code_create(request->context, request->device, 1, &module,
                                  ZEPI_OWNERSHIP_TRANSFER, bytes, &code);
        if (result != ZEPI_SUCCESS)
            zepi_ze.zeModuleDestroy(module);
    }
    if (result == ZEPI_SUCCESS) {
        outcome->payload = code;
        outcome->destroy = zepi_code_destroy;
        outcome->cost_bytes = size_bytes ? size_bytes : bytes->size_bytes;
    }
    return finish_outcome(outcome, result, &log);
}

static bool make_handle_key(struct zepi_key *key, const struct code_request *request,
                            uint32_t device_index)
{
    zepi_key_init(key, ZEPI_KEY_VERSION);
    zepi_key_add_u32(key, ZEPI_KEY_KIND, request->kind);
    zepi_key_add_image(key, request->image, request->values);
    zepi_key_add_bytes(key, ZEPI_KEY_OPTIONS, request->options->text, request->options->length);
    zepi_key_add_u32(key, ZEPI_KEY_DEVICE_INDEX, device_index);
    if (zepi_key_seal(key))
        return true;
    zepi_key_finish(key);
    zepi_fail_no_memory();
    return false;
}

// The log reaches the callback and the thread whether it was built now or long ago.
static void hand_out_log(const struct code_request *request, const struct zepi_build_result *result)
{
    size_t size_bytes;
    const char *log = zepi_build_log(result, &size_bytes);
    zepi_build_log_set(log, size_bytes);
    if (request->options->log)
        request->options->log(request->options->log_data, request->device, log, size_bytes);
}

zepi_result_t zepi_code_get(struct zepi_context *context, uint32_t device_index,
                            struct zepi_image *image, const struct zepi_spec_values *values,
                            const struct zepi_build_options *options, enum zepi_code_kind kind,
                            struct zepi_build_result **out_result)
{
    struct code_request request = {.context = context,
                                   .device = context->devices[device_index],
                                   .image = image,
                                   .values = values,
                                   .options = options,
                                   .kind = kind};
    const struct zepi_build_request build = {.build = make_code, .user = &request};
    struct zepi_build_result *result = NULL;
    struct zepi_key key;
    if (!make_handle_key(&key, &request, device_index))
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    const enum zepi_build_lookup lookup =
        zepi_build_cache_find_or_build(context->caches->modules, &key, &build, &result, NULL);
    zepi_key_finish(&key);
    switch (lookup) {
    case ZEPI_LOOKUP_SUCCEEDED:
        hand_out_log(&request, result);
        *out_result = result;
        return ZEPI_SUCCESS;
    case ZEPI_LOOKUP_FAILED: {
        hand_out_log(&request, result);
        const zepi_result_t code = zepi_build_fail(result);
        zepi_build_result_release(result);
        return code;
    }
    case ZEPI_LOOKUP_RECURSIVE:
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "a build log callback asks for the module that is being built");
    default:
        return zepi_fail_no_memory();
    }
}
