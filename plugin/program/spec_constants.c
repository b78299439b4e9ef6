// SPDX-License-Identifier: MIT
#include "program/spec_constants.h"

#include "core/alloc.h"
#include "program/module.h"
#include "program/this_module.h"

zepi_result_t zepi_module_fail_unknown_constant(const struct zepi_module *module, uint32_t id)
{
    const struct zepi_spec_declaration *declaration = module->declarations;
    zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN,
              "there is no specialization constant %u; the module has: %s", id,
              module->declaration_count == 0 ? "none" : "");
    for (uint32_t i = 0; i < module->declaration_count; i++, declaration++)
        zepi_error_append("%s%u (%s)", i == 0 ? "" : ", ", declaration->id,
                          zepi_scalar_name(declaration->type));
    return ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN;
}

zepi_result_t zepi_module_check_constant(const struct zepi_module *module, uint32_t id,
                                         size_t size_bytes, const void *value,
                                         struct zepi_spec_entry *out_entry)
{
    const struct zepi_spec_declaration *declaration =
        zepi_spec_find_declaration(module->declarations, module->declaration_count, id);
    return declaration ? zepi_spec_entry_init(out_entry, declaration, size_bytes, value)
                       : zepi_module_fail_unknown_constant(module, id);
}

zepi_result_t zepi_module_put_values(struct zepi_module *module, uint32_t count,
                                     const struct zepi_spec_entry *entries,
                                     const struct zepi_spec_composite *composite)
{
    struct zepi_module_values *values = module->values;
    zepi_mutex_lock(&values->mutex);
    // Relaxed: the mutex orders.
    struct zepi_spec_values *old = atomic_load_explicit(&values->set, memory_order_relaxed);
    struct zepi_spec_values *set = zepi_spec_values_with(old, count, entries, composite);
    if (set)
        atomic_store_explicit(&values->set, set, memory_order_relaxed);
    zepi_mutex_unlock(&values->mutex);
    if (!set)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    zepi_spec_values_release(old);
    if (module->unit)
        zepi_unit_note_change();
    return ZEPI_SUCCESS;
}

#define INLINE_ENTRIES 16

zepi_result_t zepi_spec_constant_set_many(zepi_module_t input, uint32_t count,
                                          const zepi_spec_value_t *values)
{
    struct zepi_spec_entry inline_entries[INLINE_ENTRIES];
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_spec_entry *entries = inline_entries;
    if (count > INLINE_ENTRIES) {
        entries = zepi_allocate(count, sizeof(*entries));
        if (!entries)
            return zepi_fail_no_memory();
    }
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = zepi_module_check_constant(input, values[i].id, values[i].size_bytes,
                                            values[i].value, &entries[i]);
    if (result == ZEPI_SUCCESS && count > 0)
        result = zepi_module_put_values(input, count, entries, NULL);
    if (entries != inline_entries)
        zepi_free(entries);
    return result;
}
