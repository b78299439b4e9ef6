// SPDX-License-Identifier: MIT
#include "module/this_module.h"

#include "base/alloc.h"
#include "device/context.h"
#include "module/module.h"

// A registered unit. Whoever holds one may use its images after it was unregistered.
struct zepi_unit_entry {
    struct zepi_unit_entry *next;
    zepi_unit_t token;
    atomic_uint references;
    struct zepi_module *modules; // linked by unit_next, not retained
    uint32_t image_count;
    struct zepi_image *images[]; // retained
};

// Guards the list of units and their lists of modules; nothing is called under it but try-retain.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct zepi_unit_entry *units;
static atomic_uint_fast64_t generation;

uint64_t zepi_unit_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_acquire);
}

void zepi_unit_note_change(void)
{
    // Release: who sees the new number sees the change.
    atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}

static void unit_release(struct zepi_unit_entry *unit)
{
    if (!unit || atomic_fetch_sub_explicit(&unit->references, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < unit->image_count; i++)
        zepi_release(unit->images[i]);
    zepi_free(unit);
}

static struct zepi_unit_entry *find_locked(zepi_unit_t token)
{
    struct zepi_unit_entry *unit = units;
    while (unit && unit->token != token)
        unit = unit->next;
    return unit;
}

static zepi_result_t fail_unknown(zepi_unit_t token)
{
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "no translation unit is registered under %p", token);
}

// A reference to a registered unit.
static zepi_result_t unit_get(zepi_unit_t token, struct zepi_unit_entry **out_unit)
{
    pthread_mutex_lock(&mutex);
    struct zepi_unit_entry *unit = find_locked(token);
    if (unit)
        atomic_fetch_add_explicit(&unit->references, 1, memory_order_relaxed);
    pthread_mutex_unlock(&mutex);
    if (!unit)
        return fail_unknown(token);
    *out_unit = unit;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_unit_check(zepi_unit_t token)
{
    pthread_mutex_lock(&mutex);
    const bool is_known = find_locked(token) != NULL;
    pthread_mutex_unlock(&mutex);
    return is_known ? ZEPI_SUCCESS : fail_unknown(token);
}

static zepi_result_t create_unit(zepi_unit_t token, uint32_t image_count,
                                 const zepi_image_desc_t *descs, struct zepi_unit_entry **out_unit)
{
    const size_t stride = image_count > 0 ? descs[0].size : 0;
    struct zepi_unit_entry *unit =
        zepi_allocate(1, sizeof(*unit) + image_count * sizeof(unit->images[0]));
    if (!unit)
        return zepi_fail_no_memory();
    unit->token = token;
    atomic_init(&unit->references, 1);
    for (uint32_t i = 0; i < image_count; i++) {
        const zepi_result_t result = zepi_image_create(
            (const zepi_image_desc_t *)((const char *)descs + i * stride), &unit->images[i]);
        if (result != ZEPI_SUCCESS) {
            zepi_error_prepend("image %u: ", i);
            unit_release(unit);
            return result;
        }
        unit->image_count++;
    }
    *out_unit = unit;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_unit_register(zepi_unit_t token, uint32_t image_count,
                                 const zepi_image_desc_t *descs)
{
    struct zepi_unit_entry *unit = NULL;
    if (!token || (image_count > 0 && !descs))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%s is NULL",
                         token ? "the list of images" : "the translation unit's token");
    const zepi_result_t result = create_unit(token, image_count, descs, &unit);
    if (result != ZEPI_SUCCESS)
        return result;
    pthread_mutex_lock(&mutex);
    const bool is_taken = find_locked(token) != NULL;
    if (!is_taken) {
        unit->next = units;
        units = unit;
    }
    pthread_mutex_unlock(&mutex);
    if (is_taken) {
        unit_release(unit);
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "a translation unit is registered under %p already", token);
    }
    zepi_unit_note_change();
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_unit_unregister(zepi_unit_t token)
{
    pthread_mutex_lock(&mutex);
    struct zepi_unit_entry **link = &units;
    while (*link && (*link)->token != token)
        link = &(*link)->next;
    struct zepi_unit_entry *unit = *link;
    if (unit)
        *link = unit->next;
    pthread_mutex_unlock(&mutex);
    if (!unit)
        return fail_unknown(token);
    zepi_unit_note_change();
    unit_release(unit);
    return ZEPI_SUCCESS;
}

void zepi_unit_forget(struct zepi_module *module)
{
    struct zepi_unit_entry *unit = module->unit;
    pthread_mutex_lock(&mutex);
    struct zepi_module **link = &unit->modules;
    while (*link && *link != module)
        link = &(*link)->unit_next;
    if (*link)
        *link = module->unit_next;
    pthread_mutex_unlock(&mutex);
    // Values that were set on it are gone with it.
    if (module->values)
        zepi_unit_note_change();
    unit_release(unit);
}

// A new reference to the unit's module, if somebody holds it.
static struct zepi_module *find_module_locked(const struct zepi_unit_entry *unit,
                                              const struct zepi_context *context,
                                              zepi_module_state_t state)
{
    for (struct zepi_module *module = unit->modules; module; module = module->unit_next) {
        if (module->context == context && module->state == state && zepi_try_retain(module))
            return module;
    }
    return NULL;
}

static zepi_result_t create_module(struct zepi_unit_entry *unit, struct zepi_context *context,
                                   zepi_module_state_t state, struct zepi_module **out_module)
{
    uint32_t count = 0;
    struct zepi_image **images = zepi_allocate(unit->image_count, sizeof(struct zepi_image *));
    if (!images)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < unit->image_count; i++) {
        if (unit->images[i]->state == state)
            images[count++] = unit->images[i];
    }
    const zepi_result_t result =
        zepi_module_make_of_images(context, state, count, images, out_module);
    zepi_free(images);
    return result;
}

static zepi_result_t check(zepi_context_t context, zepi_module_state_t state, const void *output)
{
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (state < ZEPI_MODULE_INPUT || state > ZEPI_MODULE_EXECUTABLE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "state %d is none of input (1), object (2), executable (3)", (int)state);
    return output ? ZEPI_SUCCESS : zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output is NULL");
}

// Makes the unit's module, unless another thread was faster.
static zepi_result_t find_or_create(struct zepi_unit_entry *unit, struct zepi_context *context,
                                    zepi_module_state_t state, struct zepi_module **out_module)
{
    struct zepi_module *made = NULL;
    pthread_mutex_lock(&mutex);
    struct zepi_module *module = find_module_locked(unit, context, state);
    pthread_mutex_unlock(&mutex);
    if (module) {
        *out_module = module;
        return ZEPI_SUCCESS;
    }
    const zepi_result_t result = create_module(unit, context, state, &made);
    if (result != ZEPI_SUCCESS)
        return result;
    pthread_mutex_lock(&mutex);
    module = find_module_locked(unit, context, state);
    if (!module) {
        atomic_fetch_add_explicit(&unit->references, 1, memory_order_relaxed);
        made->unit = unit;
        made->unit_next = unit->modules;
        unit->modules = made;
    }
    pthread_mutex_unlock(&mutex);
    if (module)
        zepi_release(made);
    *out_module = module ? module : made;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_unit_get_module(zepi_unit_t token, zepi_context_t context,
                                   zepi_module_state_t state, zepi_module_t *out_module)
{
    struct zepi_unit_entry *unit = NULL;
    struct zepi_module *module = NULL;
    zepi_result_t result = check(context, state, out_module);
    if (result == ZEPI_SUCCESS)
        result = unit_get(token, &unit);
    if (result == ZEPI_SUCCESS)
        result = find_or_create(unit, context, state, &module);
    unit_release(unit);
    if (result == ZEPI_SUCCESS)
        *out_module = module;
    return result;
}

zepi_result_t zepi_unit_has_module(zepi_unit_t token, zepi_context_t context,
                                   zepi_module_state_t state, bool *out_has)
{
    struct zepi_unit_entry *unit = NULL;
    bool has = false;
    zepi_result_t result = check(context, state, out_has);
    if (result == ZEPI_SUCCESS)
        result = unit_get(token, &unit);
    if (result != ZEPI_SUCCESS)
        return result;
    for (uint32_t i = 0; i < unit->image_count; i++)
        has = has || unit->images[i]->state == state;
    unit_release(unit);
    *out_has = has;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_unit_has_any_module(zepi_unit_t token, zepi_context_t context, bool *out_has)
{
    struct zepi_unit_entry *unit = NULL;
    zepi_result_t result = check(context, ZEPI_MODULE_INPUT, out_has);
    if (result == ZEPI_SUCCESS)
        result = unit_get(token, &unit);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_has = unit->image_count > 0;
    unit_release(unit);
    return ZEPI_SUCCESS;
}
