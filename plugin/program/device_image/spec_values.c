// SPDX-License-Identifier: MIT
#include "program/device_image/spec_values.h"

#include "core/alloc.h"

#include <assert.h>

static_assert(sizeof(struct zepi_spec_entry) == 16, "entries have no padding");

void zepi_spec_values_release(struct zepi_spec_values *values)
{
    // Acquire and release: others' reads are over before the memory goes.
    if (!values || atomic_fetch_sub_explicit(&values->references, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < values->composite_count; i++) {
        zepi_free(values->composites[i].name);
        zepi_free(values->composites[i].bytes);
    }
    if (values->composites)
        zepi_free(values->composites);
    zepi_free(values);
}

const struct zepi_spec_entry *zepi_spec_values_find(const struct zepi_spec_values *values,
                                                    uint32_t id)
{
    if (!values)
        return NULL;
    const uint32_t at =
        zepi_spec_lower_bound(values->entries, sizeof(values->entries[0]), values->count, id);
    return at < values->count && values->entries[at].id == id ? &values->entries[at] : NULL;
}

const struct zepi_spec_composite *
zepi_spec_values_find_composite(const struct zepi_spec_values *values, const char *name)
{
    for (uint32_t i = 0; values && i < values->composite_count; i++) {
        if (strcmp(values->composites[i].name, name) == 0)
            return &values->composites[i];
    }
    return NULL;
}

static void spec_values_put(struct zepi_spec_values *values, const struct zepi_spec_entry *entry)
{
    const uint32_t at =
        zepi_spec_lower_bound(values->entries, sizeof(*entry), values->count, entry->id);
    if (at == values->count || values->entries[at].id != entry->id) {
        memmove(&values->entries[at + 1], &values->entries[at],
                (values->count - at) * sizeof(values->entries[0]));
        values->count++;
    }
    values->entries[at] = *entry;
}

static bool spec_values_put_composite(struct zepi_spec_values *values,
                                      const struct zepi_spec_composite *composite)
{
    uint32_t at = 0;
    while (at < values->composite_count &&
           strcmp(values->composites[at].name, composite->name) != 0)
        at++;
    uint8_t *bytes = zepi_duplicate(composite->bytes, composite->size_bytes);
    if (!bytes)
        return false;
    if (at == values->composite_count) {
        values->composites[at].name = zepi_duplicate_string(composite->name);
        if (!values->composites[at].name) {
            zepi_free(bytes);
            return false;
        }
        values->composite_count++;
    }
    zepi_free(values->composites[at].bytes);
    values->composites[at].bytes = bytes;
    values->composites[at].size_bytes = composite->size_bytes;
    return true;
}

struct zepi_spec_values *zepi_spec_values_with(const struct zepi_spec_values *old, uint32_t count,
                                               const struct zepi_spec_entry *entries,
                                               const struct zepi_spec_composite *composite)
{
    const uint32_t old_count = old ? old->count : 0;
    const uint32_t old_composites = old ? old->composite_count : 0;
    struct zepi_spec_values *values = zepi_sys_allocate(
        sizeof(*values) + ((size_t)old_count + count) * sizeof(values->entries[0]));
    bool is_good = values;
    if (is_good) {
        atomic_init(&values->references, 1);
        values->count = old_count;
        values->composite_count = 0;
        values->composites = NULL;
    }
    if (is_good && old_count > 0)
        memcpy(values->entries, old->entries, old_count * sizeof(values->entries[0]));
    if (is_good && (old_composites > 0 || composite)) {
        values->composites =
            zepi_allocate((size_t)old_composites + 1, sizeof(values->composites[0]));
        is_good = values->composites;
    }
    for (uint32_t i = 0; i < old_composites && is_good; i++)
        is_good = spec_values_put_composite(values, &old->composites[i]);
    for (uint32_t i = 0; i < count && is_good; i++)
        spec_values_put(values, &entries[i]);
    if (is_good && composite)
        is_good = spec_values_put_composite(values, composite);
    if (!is_good) {
        zepi_spec_values_release(values);
        zepi_fail_no_memory();
        return NULL;
    }
    return values;
}

const uint8_t *zepi_spec_effective(const struct zepi_spec_declaration *declaration,
                                   const struct zepi_spec_values *values)
{
    const struct zepi_spec_entry *entry = zepi_spec_values_find(values, declaration->id);
    return entry ? entry->value : declaration->default_value;
}

zepi_result_t zepi_spec_entry_init(struct zepi_spec_entry *entry,
                                   const struct zepi_spec_declaration *declaration,
                                   size_t size_bytes, const void *value)
{
    if (!value)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the value of specialization constant %u is NULL", declaration->id);
    if (size_bytes != declaration->size_bytes)
        return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                         "specialization constant %u is %s: expected a value of %u bytes, got %zu",
                         declaration->id, zepi_scalar_name(declaration->type),
                         (unsigned)declaration->size_bytes, size_bytes);
    *entry = (struct zepi_spec_entry){.id = declaration->id, .size_bytes = (uint8_t)size_bytes};
    memcpy(entry->value, value, size_bytes);
    if (declaration->type == ZEPI_SCALAR_BOOL)
        entry->value[0] = entry->value[0] != 0;
    return ZEPI_SUCCESS;
}

static const struct {
    const char *name;
    size_t size_bytes;
} scalars[] = {
    [ZEPI_SCALAR_BOOL] = {"bool", 1},       [ZEPI_SCALAR_INT8] = {"int8", 1},
    [ZEPI_SCALAR_UINT8] = {"uint8", 1},     [ZEPI_SCALAR_INT16] = {"int16", 2},
    [ZEPI_SCALAR_UINT16] = {"uint16", 2},   [ZEPI_SCALAR_INT32] = {"int32", 4},
    [ZEPI_SCALAR_UINT32] = {"uint32", 4},   [ZEPI_SCALAR_INT64] = {"int64", 8},
    [ZEPI_SCALAR_UINT64] = {"uint64", 8},   [ZEPI_SCALAR_FLOAT16] = {"float16", 2},
    [ZEPI_SCALAR_FLOAT32] = {"float32", 4}, [ZEPI_SCALAR_FLOAT64] = {"float64", 8},
};

size_t zepi_scalar_size(zepi_scalar_type_t type)
{
    return (unsigned)type < sizeof(scalars) / sizeof(scalars[0]) ? scalars[type].size_bytes : 0;
}

const char *zepi_scalar_name(zepi_scalar_type_t type)
{
    return zepi_scalar_size(type) > 0 ? scalars[type].name : "of unknown type";
}

static zepi_scalar_type_t element_type_of(const struct zepi_spirv_constant *constant)
{
    if (constant->kind == ZEPI_SPIRV_BOOL)
        return ZEPI_SCALAR_BOOL;
    // By size; the columns are unsigned, signed and floating-point numbers.
    static const zepi_scalar_type_t types[9][3] = {
        [1] = {ZEPI_SCALAR_UINT8, ZEPI_SCALAR_INT8},
        [2] = {ZEPI_SCALAR_UINT16, ZEPI_SCALAR_INT16, ZEPI_SCALAR_FLOAT16},
        [4] = {ZEPI_SCALAR_UINT32, ZEPI_SCALAR_INT32, ZEPI_SCALAR_FLOAT32},
        [8] = {ZEPI_SCALAR_UINT64, ZEPI_SCALAR_INT64, ZEPI_SCALAR_FLOAT64},
    };
    return types[constant->size_bytes]
                [constant->kind == ZEPI_SPIRV_FLOAT ? 2 : constant->is_signed];
}

void zepi_spec_declare_spirv(const struct zepi_spirv *spirv,
                             struct zepi_spec_declaration *declarations)
{
    for (uint32_t i = 0; i < spirv->constant_count; i++) {
        struct zepi_spec_declaration *declaration = &declarations[i];
        *declaration =
            (struct zepi_spec_declaration){.id = spirv->constants[i].id,
                                           .type = element_type_of(&spirv->constants[i]),
                                           .size_bytes = (uint8_t)spirv->constants[i].size_bytes,
                                           .is_native = true};
        memcpy(declaration->default_value, spirv->constants[i].default_value,
               sizeof(declaration->default_value));
    }
}
