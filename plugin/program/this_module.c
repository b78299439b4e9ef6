// SPDX-License-Identifier: MIT
#include "program/this_module.h"

#include "core/alloc.h"
#include "core/mutex.h"
#include "core/unload.h"
#include "device/context.h"
#include "program/device_image/device_image_create.h"
#include "program/module_create.h"

// The values that were set on a unit's input in a context, while that module is not held. Gone with
// the unit or the context.
struct zepi_unit_values {
    struct zepi_unit_values *next;       // of the unit
    struct zepi_unit_values *of_context; // the next of the context
    struct zepi_unit_values **link;      // to this one among the context's
    struct zepi_unit_entry *unit;        // borrowed, as the context
    const struct zepi_context *context;
    struct zepi_spec_values *values; // reference; NULL: none, or the module has them
};

// The part of a context.
struct context_values {
    struct zepi_unit_values *first;
};

// Guards the table of units, their lists and those of contexts; nothing is called under it but
// try-retain and allocation.
static struct zepi_mutex mutex;
static struct zepi_unit_entry *units;

atomic_uint_fast64_t zepi_unit_version_number;

void zepi_unit_note_change(void)
{
    // Release: a thread that sees the new number sees the change.
    atomic_fetch_add_explicit(&zepi_unit_version_number, 1, memory_order_release);
}

static void context_add_values_locked(struct zepi_context *context, struct zepi_unit_values *values)
{
    struct context_values *part = context->components[ZEPI_COMPONENT_UNITS];
    values->of_context = part->first;
    values->link = &part->first;
    if (part->first)
        part->first->link = &values->of_context;
    part->first = values;
}

static void context_remove_values_locked(struct zepi_unit_values *values)
{
    *values->link = values->of_context;
    if (values->of_context)
        values->of_context->link = values->link;
}

void zepi_unit_release(struct zepi_unit_entry *unit)
{
    // Acquire and release: others' accesses are over before the memory goes.
    if (!unit || atomic_fetch_sub_explicit(&unit->references, 1, memory_order_acq_rel) > 1)
        return;
    zepi_mutex_lock(&mutex);
    for (struct zepi_unit_values *values = unit->values; values; values = values->next)
        context_remove_values_locked(values);
    zepi_mutex_unlock(&mutex);
    for (uint32_t i = 0; i < unit->image_count; i++)
        zepi_release(unit->images[i]);
    while (unit->values) {
        struct zepi_unit_values *values = unit->values;
        unit->values = values->next;
        zepi_spec_values_release(values->values);
        zepi_free(values);
    }
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

// Without memory for the table the unit is not in it.
static void unit_add_locked(struct zepi_unit_entry *unit)
{
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, units, &unit->token, sizeof(unit->token),
                                token_hash(unit->token), unit);
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
        unit_add_locked(unit);
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

static struct zepi_unit_values *unit_find_values_locked(const struct zepi_unit_entry *unit,
                                                        const struct zepi_context *context)
{
    struct zepi_unit_values *values = unit->values;
    while (values && values->context != context)
        values = values->next;
    return values;
}

static bool is_module_of(const struct zepi_module *module, const struct zepi_context *context,
                         zepi_module_state_t state)
{
    return module->context == context && module->state == state;
}

// The module is destroyed.
static void unit_forget(struct zepi_module *module)
{
    struct zepi_unit_entry *unit = module->unit;
    bool has_successor = false;
    zepi_mutex_lock(&mutex);
    struct zepi_module **link = &unit->modules;
    while (*link && *link != module)
        link = &(*link)->unit_next;
    if (*link)
        *link = module->unit_next;
    for (const struct zepi_module *other = unit->modules; other; other = other->unit_next)
        has_successor = has_successor || is_module_of(other, module->context, module->state);
    struct zepi_unit_values *kept = unit_find_values_locked(unit, module->context);
    // A successor took them already. None is set on this one any more.
    if (module->state == ZEPI_MODULE_INPUT && kept && !has_successor)
        kept->values =
            zepi_spec_values_retain(atomic_load_explicit(&module->values, memory_order_relaxed));
    zepi_mutex_unlock(&mutex);
    zepi_unit_release(unit);
}

static void units_finish(struct zepi_context *context)
{
    struct context_values *part = context->components[ZEPI_COMPONENT_UNITS];
    zepi_mutex_lock(&mutex);
    struct zepi_unit_values *gone = part->first;
    for (struct zepi_unit_values *values = gone; values; values = values->of_context) {
        struct zepi_unit_values **link = &values->unit->values;
        while (*link != values)
            link = &(*link)->next;
        *link = values->next;
    }
    zepi_mutex_unlock(&mutex);
    while (gone) {
        struct zepi_unit_values *values = gone;
        gone = values->of_context;
        zepi_spec_values_release(values->values);
        zepi_free(values);
    }
}

// The values that were set on the units' inputs in a context.
ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_UNITS, .size_bytes = sizeof(struct context_values),
                      .finish = units_finish);

// A new reference to the unit's module, if it is held.
static struct zepi_module *unit_find_module_locked(const struct zepi_unit_entry *unit,
                                                   const struct zepi_context *context,
                                                   zepi_module_state_t state)
{
    for (struct zepi_module *module = unit->modules; module; module = module->unit_next) {
        if (is_module_of(module, context, state) && zepi_try_retain(module))
            return module;
    }
    return NULL;
}

// The values that were set on the module's predecessor, which may be on its way out.
static struct zepi_spec_values *unit_take_values_locked(const struct zepi_unit_entry *unit,
                                                        const struct zepi_context *context,
                                                        struct zepi_unit_values *kept)
{
    for (struct zepi_module *module = unit->modules; module; module = module->unit_next) {
        if (is_module_of(module, context, ZEPI_MODULE_INPUT))
            return zepi_spec_values_retain(
                atomic_load_explicit(&module->values, memory_order_relaxed));
    }
    struct zepi_spec_values *values = kept->values;
    kept->values = NULL;
    return values;
}

// Enters a module that was made, unless another thread was faster: returns a new reference to that
// one. `values` is consumed if it is used; then it is NULL.
static struct zepi_module *unit_enter_locked(struct zepi_unit_entry *unit, struct zepi_module *made,
                                             struct zepi_unit_values **values)
{
    struct zepi_module *there = unit_find_module_locked(unit, made->context, made->state);
    if (there)
        return there;
    atomic_fetch_add_explicit(&unit->references, 1, memory_order_relaxed);
    if (made->state == ZEPI_MODULE_INPUT) {
        struct zepi_unit_values *kept = unit_find_values_locked(unit, made->context);
        if (!kept) {
            kept = *values;
            kept->unit = unit;
            kept->next = unit->values;
            unit->values = kept;
            context_add_values_locked(made->context, kept);
            *values = NULL;
        }
        // Relaxed: no other thread has the module yet.
        atomic_store_explicit(&made->values, unit_take_values_locked(unit, made->context, kept),
                              memory_order_relaxed);
    }
    made->unit = unit;
    made->unit_forget = unit_forget;
    made->unit_next = unit->modules;
    unit->modules = made;
    return NULL;
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
    struct zepi_unit_values *values = zepi_allocate(1, sizeof(*values));
    if (!values)
        return zepi_fail_no_memory();
    values->context = context;
    const zepi_result_t result = create_unit_module(unit, context, state, &made);
    if (result == ZEPI_SUCCESS) {
        zepi_mutex_lock(&mutex);
        module = unit_enter_locked(unit, made, &values);
        zepi_mutex_unlock(&mutex);
    }
    zepi_free(values);
    if (result != ZEPI_SUCCESS)
        return result;
    if (module)
        zepi_release(made);
    else
        zepi_object_publish(made);
    *out_module = module ? module : made;
    return ZEPI_SUCCESS;
}
