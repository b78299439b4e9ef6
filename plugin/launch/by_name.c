// SPDX-License-Identifier: MIT
#include "launch/by_name.h"

#include "core/alloc.h"
#include "device/context.h"
#include "launch/kernel.h"
#include "launch/search_steps.h"
#include "program/build/device_build.h"
#include "program/build/handle_caches.h"

#include <assert.h>

// The module that the launch names; NULL: none.
static struct zepi_module *named_module(const zepi_launch_desc_t *desc)
{
    return desc->kernel ? desc->kernel->module : desc->module;
}

// ---- Keys of lookups ----

// The only field of a key: where the kernel is looked for, the values, and then the name.
enum place_kind { IN_UNIT, IN_MODULE, OF_KERNEL_OBJECT };
struct place {
    uint64_t number; // the module's own, or the units' version
    // The unit's token; of a launch with a kernel object, its device kernel. The object's own
    // address may be another object's later.
    uint64_t origin;
    uint16_t kind;
    uint16_t device_index;
    uint32_t value_count;
};
struct value {
    uint32_t id;
    uint32_t size_bytes;
    uint64_t bits;
};
static_assert(sizeof(struct place) == 24 && sizeof(struct value) == 16, "no padding in keys");

static struct place lookup_place(const struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                 const struct zepi_module *module)
{
    struct place place = {.device_index = (uint16_t)queue->device_index,
                          .value_count = desc->spec_value_count};
    if (!module) {
        // Before the search: after a change from now on no launch finds its result.
        place.number = zepi_unit_version();
        place.origin = (uintptr_t)desc->unit;
        return place;
    }
    place.number = module->number;
    place.kind = desc->kernel ? OF_KERNEL_OBJECT : IN_MODULE;
    if (desc->kernel)
        place.origin = (uintptr_t)desc->kernel->devices[queue->device_index].target.device_kernel;
    return place;
}

// Most have 4 bytes, for which the compiler calls no function.
static inline uint64_t value_bits(const zepi_spec_value_t *value)
{
    uint64_t bits = 0;
    if (value->size_bytes == sizeof(uint32_t))
        memcpy(&bits, value->value, sizeof(uint32_t));
    else
        memcpy(&bits, value->value, value->size_bytes);
    return bits;
}

// Returns false for a list that the search finds to be wrong.
static inline bool write_values(uint8_t *at, const zepi_launch_desc_t *desc)
{
    for (uint32_t i = 0; i < desc->spec_value_count; i++) {
        const zepi_spec_value_t *from = &desc->spec_values[i];
        if (!from->value || from->size_bytes > sizeof(uint64_t))
            return false;
        const struct value value = {from->id, (uint32_t)from->size_bytes, value_bits(from)};
        memcpy(at + i * sizeof(value), &value, sizeof(value));
    }
    return true;
}

// Returns false if the launch is not looked up: a selector chooses anew each time.
static inline bool lookup_key_init(struct zepi_key *key, const struct zepi_queue *queue,
                                   const zepi_launch_desc_t *desc, const struct zepi_module *module)
{
    const struct place place = lookup_place(queue, desc, module);
    const char *name = desc->kernel ? desc->kernel->name : desc->kernel_name;
    const size_t values_size = desc->spec_value_count * sizeof(struct value);
    const size_t name_size = strlen(name);
    if (desc->selector || (desc->spec_value_count > 0 && !desc->spec_values))
        return false;
    zepi_key_init(key, ZEPI_KEY_VERSION);
    uint8_t *at =
        zepi_key_begin_field(key, ZEPI_KEY_LOOKUP, sizeof(place) + values_size + name_size);
    bool is_good = at != NULL;
    if (is_good) {
        memcpy(at, &place, sizeof(place));
        memcpy(at + sizeof(place) + values_size, name, name_size);
        is_good = write_values(at + sizeof(place), desc) && zepi_key_seal(key);
    }
    if (!is_good)
        zepi_key_finish(key);
    return is_good;
}

// ---- Lookups ----

static void found_kernel_destroy(void *payload)
{
    struct zepi_found_kernel *kernel = payload;
    if (kernel->holds_kernel)
        zepi_build_result_release(kernel->target.device_kernel);
    zepi_release((struct zepi_device_image *)kernel->target.image);
    zepi_spec_values_release((struct zepi_spec_values *)kernel->target.values);
    zepi_free(kernel);
}

static enum zepi_build_status hand_over(void *user, struct zepi_build_output *output)
{
    const struct zepi_found_kernel *kernel = user;
    struct zepi_found_kernel *kept = zepi_duplicate(kernel, sizeof(*kernel));
    if (!kept)
        return ZEPI_BUILD_OUT_OF_MEMORY;
    if (kept->holds_kernel)
        zepi_build_result_retain(kept->target.device_kernel);
    if (kept->target.image)
        zepi_retain((struct zepi_device_image *)kept->target.image);
    zepi_spec_values_retain((struct zepi_spec_values *)kept->target.values);
    output->payload = kept;
    output->destroy = found_kernel_destroy;
    output->cost_bytes = sizeof(*kept);
    return ZEPI_BUILD_SUCCEEDED;
}

// Keeps the kernel for the next such launch, or, without a key, for this one alone.
static zepi_result_t keep_found(const struct zepi_queue *queue, struct zepi_key *key,
                                const struct zepi_found_kernel *kernel,
                                struct zepi_build_result **out_found)
{
    struct zepi_build_result *found = NULL;
    zepi_build_cache_find_or_build(zepi_handle_caches_of(queue->context)->lookups, key, hand_over,
                                   (void *)kernel, &found);
    if (found && zepi_build_result_has_succeeded(found)) {
        *out_found = found;
        return ZEPI_SUCCESS;
    }
    zepi_build_result_release(found);
    return zepi_fail_no_memory();
}

static __attribute__((noinline)) zepi_result_t search_and_keep(struct zepi_queue *queue,
                                                               const zepi_launch_desc_t *desc,
                                                               struct zepi_key *key,
                                                               struct zepi_build_result **out_found)
{
    struct zepi_kernel_search search;
    zepi_result_t result = zepi_kernel_search_init(&search, queue, desc, named_module(desc));
    if (result == ZEPI_SUCCESS)
        result = zepi_kernel_search_run(&search);
    if (result == ZEPI_SUCCESS)
        result = keep_found(queue, key, &search.found, out_found);
    zepi_kernel_search_finish(&search);
    return result;
}

zepi_result_t zepi_by_name_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                struct zepi_build_result **out_found)
{
    struct zepi_key key;
    zepi_result_t result = ZEPI_SUCCESS;
    assert(desc->kernel || desc->kernel_name);
    if (!lookup_key_init(&key, queue, desc, named_module(desc)))
        return search_and_keep(queue, desc, NULL, out_found);
    *out_found = zepi_build_cache_find(zepi_handle_caches_of(queue->context)->lookups, &key);
    if (!*out_found)
        result = search_and_keep(queue, desc, &key, out_found);
    zepi_key_finish(&key);
    return result;
}

// ---- Values that a launch would see ----

static void copy_value(const struct zepi_spec_declaration *declaration, const uint8_t *value,
                       uint8_t out_value[8], size_t *out_size_bytes)
{
    memcpy(out_value, value, declaration->size_bytes);
    *out_size_bytes = declaration->size_bytes;
}

// The first of a part's images that has the constant.
static void read_part_value(const struct zepi_module_part *part, uint32_t id, uint8_t out_value[8],
                            size_t *out_size_bytes)
{
    for (uint32_t i = 0; i < part->image_count && *out_size_bytes == 0; i++) {
        const struct zepi_spec_declaration *declaration =
            zepi_device_image_find_constant(part->images[i], id);
        if (declaration)
            copy_value(declaration, zepi_spec_effective(declaration, part->values[i]), out_value,
                       out_size_bytes);
    }
}

// The value of the code that the launch would use; if that does not state it, the default; else
// that of other code.
static zepi_result_t read_module_value(const struct zepi_kernel_search *search, uint32_t id,
                                       uint8_t out_value[8], size_t *out_size_bytes)
{
    const struct zepi_module *module = search->module;
    const struct zepi_spec_declaration *declaration =
        zepi_spec_find_declaration(module->declarations, module->declaration_count, id);
    for (uint32_t i = 0; i < module->part_count && search->name && *out_size_bytes == 0; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        const struct zepi_code code = {part->image_count, part->images, part->values};
        struct zepi_mismatch mismatch;
        if (!zepi_part_has_kernel(search, part))
            continue;
        const zepi_result_t result =
            zepi_kernel_search_match(search, &search->wanted, &code, &mismatch);
        if (result != ZEPI_SUCCESS)
            return result;
        if (!mismatch.declaration)
            read_part_value(part, id, out_value, out_size_bytes);
    }
    if (*out_size_bytes == 0 && declaration && !declaration->has_baked_value)
        copy_value(declaration, declaration->default_value, out_value, out_size_bytes);
    for (uint32_t i = 0; i < module->part_count; i++)
        read_part_value(&module->parts[i], id, out_value, out_size_bytes);
    return ZEPI_SUCCESS;
}

// The value set on the unit's input, else the default.
static zepi_result_t read_unit_value(struct zepi_kernel_search *search, uint32_t id,
                                     uint8_t out_value[8], size_t *out_size_bytes)
{
    const struct zepi_spec_declaration *declaration = zepi_unit_find_declaration(search->unit, id);
    const zepi_result_t result = declaration ? zepi_kernel_search_get_input(search) : ZEPI_SUCCESS;
    if (declaration && result == ZEPI_SUCCESS)
        copy_value(declaration, zepi_spec_effective(declaration, search->bound), out_value,
                   out_size_bytes);
    return result;
}

// *out_size_bytes stays 0 if nothing has the constant. A value of the launch for one that no image
// declares has no effect, and is read back as the launch has it; sizes that no constant has are
// none.
static zepi_result_t read_value(struct zepi_kernel_search *search, uint32_t id,
                                uint8_t out_value[8], size_t *out_size_bytes)
{
    const struct zepi_spec_entry *given = zepi_wanted_find(&search->wanted, id);
    if (given) {
        memcpy(out_value, given->value, sizeof(given->value));
        *out_size_bytes = given->size_bytes;
    }
    for (uint32_t i = 0; i < search->desc->spec_value_count && *out_size_bytes == 0; i++) {
        const zepi_spec_value_t *value = &search->desc->spec_values[i];
        if (value->id != id || value->size_bytes > sizeof(uint64_t))
            continue;
        memcpy(out_value, value->value, value->size_bytes);
        *out_size_bytes = value->size_bytes;
    }
    if (*out_size_bytes > 0)
        return ZEPI_SUCCESS;
    return search->module ? read_module_value(search, id, out_value, out_size_bytes)
                          : read_unit_value(search, id, out_value, out_size_bytes);
}

zepi_result_t zepi_by_name_value(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                                 uint32_t id, uint8_t out_value[8], size_t *out_size_bytes)
{
    struct zepi_kernel_search search;
    *out_size_bytes = 0;
    zepi_result_t result = zepi_kernel_search_init(&search, queue, desc, named_module(desc));
    if (result == ZEPI_SUCCESS)
        result = read_value(&search, id, out_value, out_size_bytes);
    zepi_kernel_search_finish(&search);
    return result;
}
