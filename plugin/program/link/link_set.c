// SPDX-License-Identifier: MIT
#include "program/link/link_set.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "program/build/device_build.h"

#include <stdlib.h>

// Imported code has no image with bytes: the driver's native code identifies it.
static zepi_result_t add_imported_code(struct zepi_key *key, const struct zepi_link_member *member)
{
    struct zepi_blob *native;
    const zepi_result_t result =
        zepi_ze_module_native_blob(&member->device_module->ze_modules[member->ze_module], &native);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!native)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver returns no native code for an "
                                                 "imported object, which linking needs");
    zepi_key_add_u32(key, ZEPI_KEY_FORMAT, member->image->format);
    zepi_key_add_digest(key, ZEPI_KEY_IMAGE, native->digest);
    zepi_blob_release(native);
    return ZEPI_SUCCESS;
}

static zepi_result_t link_member_identify(struct zepi_link_member *member)
{
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_key key;
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    if (member->image->blob)
        zepi_key_add_image(&key, member->image, member->values);
    else
        result = add_imported_code(&key, member);
    zepi_key_add_u32(&key, ZEPI_KEY_MEMBERS, member->ze_module);
    member->code_size = key.size;
    if (member->device_module->options)
        zepi_key_add_string(&key, ZEPI_KEY_OPTIONS, member->device_module->options);
    member->key_size = key.size;
    member->key = zepi_key_seal(&key) ? zepi_duplicate(key.bytes, key.size) : NULL;
    if (!member->key && result == ZEPI_SUCCESS)
        result = zepi_fail_no_memory();
    zepi_key_finish(&key);
    return result;
}

static int compare_keys(const struct zepi_link_member *a, const struct zepi_link_member *b)
{
    const size_t size = a->key_size < b->key_size ? a->key_size : b->key_size;
    const int order = memcmp(a->key, b->key, size);
    return order != 0 ? order : (a->key_size > b->key_size) - (a->key_size < b->key_size);
}

static int compare_members(const void *left, const void *right)
{
    return compare_keys(*(struct zepi_link_member *const *)left,
                        *(struct zepi_link_member *const *)right);
}

static bool is_equal_code(const struct zepi_link_member *a, const struct zepi_link_member *b)
{
    return a->code_size == b->code_size && memcmp(a->key, b->key, a->code_size) == 0;
}

// Equal code once. If it was compiled with different options, the keys choose one, not the caller's
// order.
static void link_set_unite_last(struct zepi_link_set *set)
{
    struct zepi_link_member *last = &set->members[set->count - 1];
    for (uint32_t i = 0; i + 1 < set->count; i++) {
        struct zepi_link_member *member = &set->members[i];
        if (!is_equal_code(member, last))
            continue;
        if (compare_keys(last, member) < 0) {
            uint8_t *key = member->key;
            member->device_module = last->device_module;
            member->key = last->key;
            member->key_size = last->key_size;
            last->key = key;
        }
        zepi_free(last->key);
        set->count--;
        return;
    }
}

zepi_result_t zepi_link_set_add(struct zepi_link_set *set, uint32_t object_index,
                                struct zepi_device_image *image, struct zepi_spec_values *values,
                                const struct zepi_device_module *device_module)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < device_module->ze_module_count && result == ZEPI_SUCCESS; i++) {
        struct zepi_link_member *members =
            zepi_grow(set->members, set->count, &set->capacity, sizeof(*members));
        if (!members)
            return zepi_fail_no_memory();
        set->members = members;
        members[set->count] = (struct zepi_link_member){.object_index = object_index,
                                                        .image = image,
                                                        .values = values,
                                                        .device_module = device_module,
                                                        .ze_module = i};
        result = link_member_identify(&members[set->count++]);
        if (result == ZEPI_SUCCESS)
            link_set_unite_last(set);
    }
    return result;
}

void zepi_link_set_finish(struct zepi_link_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        zepi_build_result_release(set->members[i].table);
        zepi_free(set->members[i].key);
    }
    zepi_free(set->members);
    zepi_free(set->sorted);
    *set = (struct zepi_link_set){0};
}

bool zepi_link_set_is_equal(const struct zepi_link_set *a, const struct zepi_link_set *b)
{
    bool is_equal = a->count == b->count && a->method == b->method;
    for (uint32_t i = 0; i < a->count && is_equal; i++)
        is_equal = compare_keys(a->sorted[i], b->sorted[i]) == 0;
    return is_equal;
}

void zepi_key_add_link_set(struct zepi_key *key, const struct zepi_link_set *set)
{
    zepi_key_add_u32(key, ZEPI_KEY_KIND,
                     ZEPI_KEY_KIND_OF(ZEPI_MODULE_EXECUTABLE) | (uint32_t)set->method << 8);
    zepi_key_add_u32(key, ZEPI_KEY_MEMBERS, set->count);
    for (uint32_t i = 0; i < set->count; i++)
        zepi_key_add_bytes(key, ZEPI_KEY_MEMBERS, set->sorted[i]->key, set->sorted[i]->key_size);
}

// Whether some id has different values in force in two members.
static bool has_value_conflict(const struct zepi_link_member *a, const struct zepi_link_member *b,
                               uint32_t *out_id)
{
    for (uint32_t i = 0; i < a->image->declaration_count; i++) {
        const struct zepi_spec_declaration *own = &a->image->declarations[i];
        const struct zepi_spec_declaration *other =
            zepi_device_image_find_constant(b->image, own->id);
        if (other && (other->size_bytes != own->size_bytes ||
                      memcmp(zepi_spec_effective(own, a->values),
                             zepi_spec_effective(other, b->values), own->size_bytes) != 0)) {
            *out_id = own->id;
            return true;
        }
    }
    return false;
}

// Why the members cannot be one program, as an error; ZEPI_SUCCESS: they can.
static zepi_result_t check_link_program(const struct zepi_link_set *set)
{
    const char *options = set->count > 0 ? set->members[0].device_module->options : NULL;
    uint32_t id;
    if (!set->context->platform->optional.has_module_program)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver cannot link as a program");
    for (uint32_t i = 0; i < set->count; i++) {
        const struct zepi_link_member *member = &set->members[i];
        if (!zepi_link_member_spirv(member))
            return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                             "object %u is native code, a program is linked from SPIR-V",
                             member->object_index);
        // The driver takes one set of options for all.
        if (strcmp(member->device_module->options, options) != 0)
            return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                             "objects %u and %u were compiled with different options, a program "
                             "has one",
                             set->members[0].object_index, member->object_index);
        for (uint32_t before = 0; before < i; before++) {
            if (has_value_conflict(&set->members[before], member, &id))
                return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                                 "objects %u and %u have different values of specialization "
                                 "constant %u, a program has one",
                                 set->members[before].object_index, member->object_index, id);
        }
    }
    return ZEPI_SUCCESS;
}

static zepi_result_t choose_link_method(struct zepi_link_set *set,
                                        const struct zepi_build_options *options)
{
    struct zepi_error before;
    set->method = ZEPI_LINK_DYNAMIC;
    if (options->link_method == ZEPI_LINK_DYNAMIC)
        return ZEPI_SUCCESS;
    zepi_error_save(&before);
    const zepi_result_t result = check_link_program(set);
    if (result == ZEPI_SUCCESS)
        set->method = ZEPI_LINK_PROGRAM;
    else if (options->is_link_method_forced)
        return result;
    zepi_error_restore(&before);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_link_set_end(struct zepi_link_set *set, const struct zepi_build_options *options)
{
    set->sorted = zepi_allocate(set->count, sizeof(set->sorted[0]));
    if (!set->sorted)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < set->count; i++)
        set->sorted[i] = &set->members[i];
    qsort(set->sorted, set->count, sizeof(set->sorted[0]), compare_members);
    return choose_link_method(set, options);
}
