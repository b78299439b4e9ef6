// SPDX-License-Identifier: MIT
#include "program/module_build.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "program/build/device_build.h"
#include "program/code_choice.h"
#include "program/module_link.h"

static zepi_result_t check_required_constants(const struct zepi_module *module,
                                              const struct zepi_spec_values *values)
{
    for (uint32_t i = 0; i < module->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &module->declarations[i];
        if (declaration->is_required && !zepi_spec_values_find(values, declaration->id))
            return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_REQUIRED,
                             "specialization constant %u (%s, %u bytes) must be set before the "
                             "module is built",
                             declaration->id, zepi_scalar_name(declaration->type),
                             (unsigned)declaration->size_bytes);
    }
    return ZEPI_SUCCESS;
}

// A build for one device after the other.
struct build {
    struct zepi_module *input;
    const struct zepi_spec_values *values;
    const struct zepi_build_options *options;
    zepi_module_state_t state;  // object or executable
    struct zepi_module *output; // one part an image
};

// The build of one of the input's images for a device.
static struct zepi_image_build image_build_of(const struct build *build, uint32_t device_index,
                                              struct zepi_device_image *image)
{
    return (struct zepi_image_build){build->input->context, device_index,   image,
                                     build->values,         build->options, build->state};
}

// Whether a SPIR-V image in front of another one has a kernel of it.
static bool is_offered_before(const struct zepi_module *input, uint32_t image_index,
                              const char *kernel)
{
    for (uint32_t i = 0; i < image_index; i++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(input->images[i]);
        if (spirv && zepi_spirv_find_kernel(spirv, kernel))
            return true;
    }
    return false;
}

// Whether an image is SPIR-V with something to offer that the device has neither from native code
// nor from SPIR-V in front of it.
static bool is_needed(const struct build *build, uint32_t device_index, uint32_t image_index)
{
    const struct zepi_spirv *spirv = zepi_device_image_spirv(build->input->images[image_index]);
    bool is_needed = spirv && (build->input->image_count == 1 || spirv->kernel_count == 0);
    for (uint32_t i = 0; spirv && i < spirv->kernel_count && !is_needed; i++) {
        const char *kernel = spirv->kernels[i].name;
        is_needed = !zepi_module_find_part(build->output, device_index, kernel) &&
                    !is_offered_before(build->input, image_index, kernel);
    }
    return is_needed;
}

static zepi_result_t fail_without_image(const struct build *build, uint32_t device_index)
{
    zepi_fail(ZEPI_ERROR_COMPILE_FAILURE, "no image serves device '%s'; there are:",
              build->input->context->devices[device_index]->properties.name);
    for (uint32_t i = 0; i < build->input->image_count; i++) {
        const struct zepi_device_image *image = build->input->images[i];
        zepi_error_append(" %s", image->format == ZEPI_DEVICE_IMAGE_SPIRV ? "SPIR-V" : "native");
        for (uint32_t at = 0; at < image->declaration_count; at++) {
            const struct zepi_spec_declaration *declaration = &image->declarations[at];
            uint64_t value = 0;
            memcpy(&value, declaration->default_value, declaration->size_bytes);
            if (declaration->has_baked_value)
                zepi_error_append("%s%u = 0x%llx", at == 0 ? " made with " : ", ", declaration->id,
                                  (unsigned long long)value);
        }
    }
    return ZEPI_ERROR_COMPILE_FAILURE;
}

static zepi_result_t build_get_device_module(const struct build *build, uint32_t device_index,
                                             uint32_t image_index)
{
    const struct zepi_image_build one =
        image_build_of(build, device_index, build->input->images[image_index]);
    return zepi_device_module_get(&one,
                                  &build->output->parts[image_index].device_module[device_index]);
}

// ---- Native code ----

// A native image on a device, and all that another image of the module is compared with.
struct native {
    const struct build *build;
    uint32_t device_index;
    uint32_t image_index;
    struct zepi_build_result **code; // in the output; NULL: not loaded
};

// Loads the code, unless it is there.
static zepi_result_t native_load(const struct native *native)
{
    return *native->code
               ? ZEPI_SUCCESS
               : build_get_device_module(native->build, native->device_index, native->image_index);
}

static bool native_has_kernel(const struct native *native, const char *name)
{
    return zepi_device_module_find_kernel(zepi_device_module_of(*native->code), name, NULL);
}

// Whether another image has a kernel of the native one. Code that the device does not take is no
// other code of the kernel.
static zepi_result_t shares_kernel(void *user, struct zepi_device_image *image, bool *out_has)
{
    const struct native *native = user;
    const struct build *build = native->build;
    const struct zepi_spirv *spirv = zepi_device_image_spirv(image);
    const struct zepi_image_build one = image_build_of(build, native->device_index, image);
    struct zepi_build_result *result = NULL;
    if (!zepi_device_image_is_for(image, one.context->devices[native->device_index]))
        return ZEPI_SUCCESS;
    const zepi_result_t loaded = native_load(native);
    if (loaded != ZEPI_SUCCESS)
        return loaded;
    for (uint32_t i = 0; spirv && i < spirv->kernel_count && !*out_has; i++)
        *out_has = native_has_kernel(native, spirv->kernels[i].name);
    if (spirv)
        return ZEPI_SUCCESS;
    const zepi_result_t done = zepi_device_module_get(&one, &result);
    if (done != ZEPI_SUCCESS)
        return done == ZEPI_ERROR_COMPILE_FAILURE ? ZEPI_SUCCESS : done;
    const struct zepi_device_module *other = zepi_device_module_of(result);
    for (uint32_t i = 0; i < other->ze_module_count; i++) {
        for (uint32_t at = 0; at < other->ze_modules[i].kernel_count && !*out_has; at++)
            *out_has = native_has_kernel(native, other->ze_modules[i].kernel_names[at]);
    }
    zepi_build_result_release(result);
    return ZEPI_SUCCESS;
}

// How native code is used: made with the values, or taking those of emulated constants at launch.
enum native_use { AS_MADE, EMULATED };

static struct zepi_wanted build_wanted(const struct build *build, enum native_use use)
{
    return (struct zepi_wanted){.bound = build->values,
                                .declaration_count = build->input->declaration_count,
                                .declarations = build->input->declarations,
                                .needs_defaults = true,
                                .takes_emulated = use == EMULATED};
}

// Takes the native image's code for the device if it has the values: *is_served then.
static zepi_result_t try_native(const struct build *build, enum native_use use,
                                uint32_t device_index, uint32_t image_index, bool *is_served)
{
    const struct zepi_wanted wanted = build_wanted(build, use);
    const struct zepi_module *input = build->input;
    const struct zepi_code code = {1, &input->images[image_index], NULL};
    struct native native = {build, device_index, image_index,
                            &build->output->parts[image_index].device_module[device_index]};
    const struct zepi_code_peers peers = {input->image_count, input->images, shares_kernel,
                                          &native};
    struct zepi_mismatch mismatch;
    zepi_result_t result = zepi_code_match(&wanted, &code, &peers, &mismatch);
    if (result == ZEPI_SUCCESS && !mismatch.declaration)
        result = native_load(&native);
    if (mismatch.declaration) {
        zepi_build_result_release(*native.code);
        *native.code = NULL;
    }
    *is_served = *is_served || *native.code;
    // Code that the device refuses is no code for it.
    return result == ZEPI_ERROR_COMPILE_FAILURE ? ZEPI_SUCCESS : result;
}

// Native images that the device accepts.
static zepi_result_t use_native(const struct build *build, uint32_t device_index,
                                enum native_use use, bool *is_served)
{
    const struct zepi_module *input = build->input;
    const struct zepi_device *device = input->context->devices[device_index];
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < input->image_count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_device_image *image = input->images[i];
        if (image->format == ZEPI_DEVICE_IMAGE_NATIVE && zepi_device_image_is_for(image, device))
            result = try_native(build, use, device_index, i, is_served);
    }
    return result;
}

// ---- SPIR-V ----

static zepi_result_t build_spirv(const struct build *build, uint32_t device_index, bool *is_served)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < build->input->image_count && result == ZEPI_SUCCESS; i++) {
        if (!is_needed(build, device_index, i))
            continue;
        result = build_get_device_module(build, device_index, i);
        *is_served = true;
    }
    return result;
}

// First native code that was made with the values; then, as the policy says, emulation or SPIR-V;
// then the other of the two.
static zepi_result_t build_for_device(const struct build *build, uint32_t device_index)
{
    const bool emulates = build->options->native_policy == ZEPI_NATIVE_EMULATE;
    bool is_served = false;
    zepi_result_t result = use_native(build, device_index, AS_MADE, &is_served);
    if (result == ZEPI_SUCCESS && !is_served && emulates)
        result = use_native(build, device_index, EMULATED, &is_served);
    if (result == ZEPI_SUCCESS)
        result = build_spirv(build, device_index, &is_served);
    if (result == ZEPI_SUCCESS && !is_served && !emulates)
        result = use_native(build, device_index, EMULATED, &is_served);
    if (result != ZEPI_SUCCESS || is_served || build->input->image_count == 0)
        return result;
    return fail_without_image(build, device_index);
}

static zepi_result_t build_for_devices(struct build *build)
{
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_spec_values *values = (struct zepi_spec_values *)build->values;
    for (uint32_t i = 0; i < build->output->part_count && result == ZEPI_SUCCESS; i++) {
        struct zepi_module_part *part = &build->output->parts[i];
        part->image_count = 1;
        part->images[0] = build->output->images[i];
        if (part->images[0]->emulated_count > 0) {
            const struct zepi_wanted wanted = build_wanted(build, EMULATED);
            result =
                zepi_wanted_emulated_values(&wanted, part->images[0], values, &part->values[0]);
        } else {
            part->values[0] = zepi_spec_values_retain(values);
        }
    }
    for (uint32_t i = 0; i < build->input->context->device_count && result == ZEPI_SUCCESS; i++) {
        if (zepi_build_options_want(build->options, build->input->context, i))
            result = build_for_device(build, i);
    }
    return result;
}

// Whether the devices that the caller named are the context's.
static zepi_result_t check_named_devices(const struct zepi_build_options *options,
                                         const struct zepi_context *context)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (options->device_count > 0 && !options->devices)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the list of devices is NULL, for %u of them",
                         options->device_count);
    for (uint32_t i = 0; i < options->device_count && result == ZEPI_SUCCESS; i++)
        result = zepi_context_check_device(context, options->devices[i]);
    return result;
}

static zepi_result_t build_to_module(struct zepi_module *input, struct zepi_spec_values *values,
                                     const zepi_build_desc_t *desc, zepi_module_state_t state,
                                     enum zepi_variables variables, struct zepi_module **out_module)
{
    struct zepi_build_options options;
    struct zepi_module *output = NULL;
    zepi_result_t result = zepi_build_options_init(&options, desc);
    if (result != ZEPI_SUCCESS)
        return result;
    options.variables = variables;
    result = check_named_devices(&options, input->context);
    if (result == ZEPI_SUCCESS)
        result = check_required_constants(input, values);
    if (result == ZEPI_SUCCESS)
        result = zepi_module_make_from(input, state, input->image_count, &output);
    if (result == ZEPI_SUCCESS) {
        struct build build = {input, values, &options, state, output};
        result = build_for_devices(&build);
    }
    zepi_build_options_finish(&options);
    if (result != ZEPI_SUCCESS) {
        zepi_release(output);
        return result;
    }
    *out_module = output;
    return ZEPI_SUCCESS;
}

static bool is_on_device(const struct zepi_module *module, uint32_t image, uint32_t device_index)
{
    return module->state == ZEPI_MODULE_INPUT || module->parts[image].device_module[device_index];
}

// Whether images of an input import symbols that others of it export; or those of an object, on a
// device. The input does not tell: native code may have come in place of its images.
static bool has_own_imports(const struct zepi_module *module, uint32_t device_index)
{
    for (uint32_t i = 0; i < module->image_count; i++) {
        for (uint32_t at = 0; at < module->image_count; at++) {
            if (i != at && is_on_device(module, i, device_index) &&
                is_on_device(module, at, device_index) &&
                zepi_device_image_needs(module->images[i], module->images[at]))
                return true;
        }
    }
    return false;
}

// Images that need nothing of each other are built each on its own, in one step.
zepi_result_t zepi_module_build_with(struct zepi_module *input, struct zepi_spec_values *values,
                                     const zepi_build_desc_t *desc, enum zepi_variables variables,
                                     struct zepi_module **out_executable)
{
    struct zepi_module *object = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    bool is_linked = false;
    if (input->image_count > 1 && has_own_imports(input, 0))
        result = build_to_module(input, values, desc, ZEPI_MODULE_OBJECT, variables, &object);
    for (uint32_t i = 0; i < input->context->device_count && object; i++)
        is_linked = is_linked || has_own_imports(object, i);
    if (result == ZEPI_SUCCESS)
        result = is_linked ? zepi_module_link_objects(1, &object, desc, variables, out_executable)
                           : build_to_module(input, values, desc, ZEPI_MODULE_EXECUTABLE, variables,
                                             out_executable);
    zepi_release(object);
    return result;
}

zepi_result_t zepi_module_build(zepi_module_t input, const zepi_build_desc_t *desc,
                                enum zepi_variables variables, zepi_module_t *out_executable)
{
    struct zepi_module *output = NULL;
    struct zepi_spec_values *values = zepi_module_snapshot(input);
    const zepi_result_t result = zepi_module_build_with(input, values, desc, variables, &output);
    zepi_spec_values_release(values);
    return zepi_module_publish(result, output, out_executable);
}

zepi_result_t zepi_module_compile(zepi_module_t input, const zepi_build_desc_t *desc,
                                  zepi_module_t *out_object)
{
    struct zepi_module *output = NULL;
    struct zepi_spec_values *values = zepi_module_snapshot(input);
    const zepi_result_t result =
        build_to_module(input, values, desc, ZEPI_MODULE_OBJECT, ZEPI_VARIABLES_SHARED, &output);
    zepi_spec_values_release(values);
    return zepi_module_publish(result, output, out_object);
}
