// SPDX-License-Identifier: MIT
#include "program/this_module.h"

#include "core/alloc.h"
#include "core/mutex.h"
#include "core/unload.h"
#include "device/context.h"
#include "program/device_image/device_image_create.h"
#include "program/module_create.h"

#include <utlist.h>

// The values that are set on a unit's input in a context. Gone with the unit or the context, which
// the modules keep that use them.
struct zepi_unit_values {
    struct zepi_unit_values *next;
    const struct zepi_unit_entry *unit; // borrowed, as the context
    const struct zepi_context *context;
    struct zepi_module_values values;
};

// Guards the table of units, their lists of modules and the list of values; nothing is called under
// it but try-retain and allocation.
static struct zepi_mutex mutex;
static struct zepi_unit_entry *units;
static struct zepi_unit_values *all_values; // owned

atomic_uint_fast64_t zepi_unit_version_number;

void zepi_unit_note_change(void)
{
    // Release: a thread that sees the new number sees the change.
    atomic_fetch_add_explicit(&zepi_unit_version_number, 1, memory_order_release);
}

// A unit or a context goes; the other of the two is NULL.
static void forget_values(const struct zepi_unit_entry *unit, const struct zepi_context *context)
{
    struct zepi_unit_values *gone = NULL;
    zepi_mutex_lock(&mutex);
    for (struct zepi_unit_values **at = &all_values; *at;) {
        struct zepi_unit_values *values = *at;
        if (values->unit != unit && values->context != context) {
            at = &values->next;
            continue;
        }
        *at = values->next;
        LL_PREPEND(gone, values);
    }
    zepi_mutex_unlock(&mutex);
    while (gone) {
        struct zepi_unit_values *values = gone;
        gone = values->next;
        zepi_spec_values_release(atomic_load_explicit(&values->values.set, memory_order_relaxed));
        zepi_free(values);
    }
}

void zepi_unit_release(struct zepi_unit_entry *unit)
{
    // Acquire and release: others' accesses are over before the memory goes.
    if (!unit || atomic_fetch_sub_explicit(&unit->references, 1, memory_order_acq_rel) > 1)
        return;
    forget_values(unit, NULL);
    for (uint32_t i = 0; i < unit->image_count; i++)
        zepi_release(unit->images[i]);
    zepi_free(unit);
}

// Tokens are addresses as a rule: the upper bits of the product depend on all of them.
static unsigned token_hash(zepi_unit_t token)
{
    return (unsigned)((uintptr_t)token * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct zepi_unit_entry *unit_find_locked(zepi_unit_t token)
{
    struct zepi_unit_entry *unit;
    HASH_FIND_BYHASHVALUE(hh, units, &token, sizeof(token), token_hash(token), unit);
    return unit;
}

static zepi_result_t fail_unknown_unit(zepi_unit_t token)
{
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "no translation unit is registered under %p", token);
}

zepi_result_t zepi_unit_acquire(zepi_unit_t token, struct zepi_unit_entry **out_unit)
{
    zepi_mutex_lock(&mutex);
    struct zepi_unit_entry *unit = unit_find_locked(token);
    if (unit)
        atomic_fetch_add_explicit(&unit->references, 1, memory_order_relaxed);
    zepi_mutex_unlock(&mutex);
    if (!unit)
        return fail_unknown_unit(token);
    *out_unit = unit;
    return ZEPI_SUCCESS;
}

// Which of two images has the default of a launch: the input, as its module has it; else the one
// that launches take first.
static int default_value_rank(const struct zepi_device_image *image,
                              const struct zepi_spec_declaration *declaration)
{
    if (image->state == ZEPI_MODULE_INPUT && !declaration->has_baked_value)
        return image->format == ZEPI_DEVICE_IMAGE_SPIRV ? 5 : 4;
    return (int)image->state;
}

const struct zepi_spec_declaration *zepi_unit_find_declaration(const struct zepi_unit_entry *unit,
                                                               uint32_t id)
{
    const struct zepi_spec_declaration *found = NULL;
    int found_rank = 0;
    for (uint32_t i = 0; i < unit->image_count; i++) {
        const struct zepi_spec_declaration *declaration =
            zepi_device_image_find_constant(unit->images[i], id);
        if (!declaration || default_value_rank(unit->images[i], declaration) <= found_rank)
            continue;
        found = declaration;
        found_rank = default_value_rank(unit->images[i], declaration);
    }
    return found;
}

// ---- Registering ----

static zepi_result_t create_unit(zepi_unit_t token, uint32_t image_count,
                                 const zepi_device_image_desc_t *descs,
                                 struct zepi_unit_entry **out_unit)
{
    struct zepi_unit_entry *unit =
        zepi_allocate(1, sizeof(*unit) + image_count * sizeof(unit->images[0]));
    if (!unit)
        return zepi_fail_no_memory();
    unit->token = token;
    unit->image_count = image_count;
    atomic_init(&unit->references, 1);
    const zepi_result_t result = zepi_device_images_create(image_count, descs, unit->images);
    if (result != ZEPI_SUCCESS) {
        zepi_unit_release(unit);
        return result;
    }
    for (uint32_t i = 0; i < image_count; i++)
        unit->counts[unit->images[i]->state]++;
    *out_unit = unit;
    return ZEPI_SUCCESS;
}

// Units that the host never unregistered, when the plugin is unloaded.
static void release_units(void)
{
    while (units) {
        struct zepi_unit_entry *unit = units;
        HASH_DELETE(hh, units, unit);
        zepi_unit_release(unit);
    }
}

zepi_result_t zepi_unit_register(zepi_unit_t token, uint32_t image_count,
                                 const zepi_device_image_desc_t *descs)
{
    struct zepi_unit_entry *unit = NULL;
    if (!token || (image_count > 0 && !descs))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%s is NULL",
                         token ? "the list of images" : "the translation unit's token");
    const zepi_result_t result = create_unit(token, image_count, descs, &unit);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_at_unload(ZEPI_UNLOAD_UNITS, release_units);
    zepi_mutex_lock(&mutex);
    const bool is_taken = unit_find_locked(token) != NULL;
    if (!is_taken)
        HASH_ADD_KEYPTR_BYHASHVALUE(hh, units, &unit->token, sizeof(unit->token), token_hash(token),
                                    unit);
    const bool is_added = !is_taken && zepi_hash_was_added(&unit->hh);
    zepi_mutex_unlock(&mutex);
    if (!is_added) {
        zepi_unit_release(unit);
        return is_taken ? zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                                    "a translation unit is registered under %p already", token)
                        : zepi_fail_no_memory();
    }
    zepi_unit_note_change();
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_unit_unregister(zepi_unit_t token)
{
    zepi_mutex_lock(&mutex);
    struct zepi_unit_entry *unit = unit_find_locked(token);
    if (unit)
        HASH_DELETE(hh, units, unit);
    zepi_mutex_unlock(&mutex);
    if (!unit)
        return fail_unknown_unit(token);
    zepi_unit_note_change();
    zepi_unit_release(unit);
    return ZEPI_SUCCESS;
}

// ---- Modules ----

// NULL without memory.
static struct zepi_unit_values *find_or_add_values_locked(const struct zepi_unit_entry *unit,
                                                          const struct zepi_context *context)
{
    struct zepi_unit_values *values = all_values;
    while (values && (values->unit != unit || values->context != context))
        values = values->next;
    if (values)
        return values;
    values = zepi_allocate(1, sizeof(*values));
    if (!values)
        return NULL;
    values->unit = unit;
    values->context = context;
    LL_PREPEND(all_values, values);
    return values;
}

// The module is destroyed.
static void unit_forget(struct zepi_module *module)
{
    struct zepi_unit_entry *unit = module->unit;
    zepi_mutex_lock(&mutex);
    LL_DELETE2(unit->modules, module, unit_next);
    zepi_mutex_unlock(&mutex);
    zepi_unit_release(unit);
}

static void units_finish(struct zepi_context *context)
{
    forget_values(NULL, context);
}

// It has no state of a context's own, but learns of its end.
ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_UNITS, .size_bytes = 0, .finish = units_finish);

// A new reference to the unit's module, if it is held.
static struct zepi_module *unit_find_module_locked(const struct zepi_unit_entry *unit,
                                                   const struct zepi_context *context,
                                                   zepi_module_state_t state)
{
    for (struct zepi_module *module = unit->modules; module; module = module->unit_next) {
        if (module->context == context && module->state == state && zepi_try_retain(module))
            return module;
    }
    return NULL;
}

// Enters a module that was made, unless another thread was faster: returns it, or a new reference
// to that one. NULL without memory.
static struct zepi_module *unit_enter_locked(struct zepi_unit_entry *unit, struct zepi_module *made)
{
    struct zepi_module *there = unit_find_module_locked(unit, made->context, made->state);
    if (there)
        return there;
    if (made->state == ZEPI_MODULE_INPUT) {
        struct zepi_unit_values *values = find_or_add_values_locked(unit, made->context);
        if (!values)
            return NULL;
        made->values = &values->values;
    }
    atomic_fetch_add_explicit(&unit->references, 1, memory_order_relaxed);
    made->unit = unit;
    made->unit_forget = unit_forget;
    LL_PREPEND2(unit->modules, made, unit_next);
    return made;
}

static zepi_result_t create_unit_module(struct zepi_unit_entry *unit, struct zepi_context *context,
                                        zepi_module_state_t state, struct zepi_module **out_module)
{
    uint32_t count = 0;
    struct zepi_device_image **images =
        zepi_allocate(unit->image_count, sizeof(struct zepi_device_image *));
    if (!images)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < unit->image_count; i++) {
        if (unit->images[i]->state == state)
            images[count++] = unit->images[i];
    }
    const zepi_result_t result = zepi_module_make_of_images(context, state, count, images,
                                                            ZEPI_LEAVE_UNUSABLE_OUT, out_module);
    zepi_free(images);
    return result;
}

zepi_result_t zepi_unit_find_or_create_module(struct zepi_unit_entry *unit,
                                              struct zepi_context *context,
                                              zepi_module_state_t state,
                                              struct zepi_module **out_module)
{
    struct zepi_module *made = NULL;
    zepi_mutex_lock(&mutex);
    struct zepi_module *module = unit_find_module_locked(unit, context, state);
    zepi_mutex_unlock(&mutex);
    if (module) {
        *out_module = module;
        return ZEPI_SUCCESS;
    }
    const zepi_result_t result = create_unit_module(unit, context, state, &made);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_mutex_lock(&mutex);
    module = unit_enter_locked(unit, made);
    zepi_mutex_unlock(&mutex);
    if (module == made)
        zepi_object_publish(made);
    else
        zepi_release(made);
    if (!module)
        return zepi_fail_no_memory();
    *out_module = module;
    return ZEPI_SUCCESS;
}
