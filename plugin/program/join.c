// SPDX-License-Identifier: MIT
#include "program/join.h"

#include "core/alloc.h"
#include "device/context.h"
#include "program/built_image.h"
#include "program/module.h"

// ---- Equality ----

static bool is_same_image(const struct zepi_device_image *a, const struct zepi_device_image *b)
{
    return zepi_digest_equal(a->identity, b->identity);
}

// Whether both serve the same devices, with code that was made with the same options. Linked code
// has none of its own.
static bool has_same_devices(const struct zepi_module_part *a, const struct zepi_module_part *b,
                             uint32_t device_count)
{
    for (uint32_t i = 0; i < device_count; i++) {
        if (!a->device_module[i] != !b->device_module[i])
            return false;
        if (!a->device_module[i] || a->device_module[i] == b->device_module[i])
            continue;
        const char *options = zepi_device_module_of(a->device_module[i])->options;
        const char *other = zepi_device_module_of(b->device_module[i])->options;
        if (options && other && strcmp(options, other) != 0)
            return false;
    }
    return true;
}

// Parts of built modules: the same images in the same order, built with the same values and options
// for the same devices.
static bool is_same_part(const struct zepi_module_part *a, const struct zepi_module_part *b,
                         uint32_t device_count)
{
    if (a->image_count != b->image_count)
        return false;
    for (uint32_t i = 0; i < a->image_count; i++) {
        if (!is_same_image(a->images[i], b->images[i]) ||
            !zepi_device_image_has_equal_values(a->images[i], a->values[i], b->values[i]))
            return false;
    }
    return has_same_devices(a, b, device_count);
}

static uint32_t count_joined_image(const struct zepi_module *module,
                                   const struct zepi_device_image *image)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->image_count; i++)
        count += is_same_image(module->images[i], image);
    return count;
}

static uint32_t count_joined_part(const struct zepi_module *module, uint32_t part_count,
                                  const struct zepi_module_part *part)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < part_count; i++)
        count += is_same_part(&module->parts[i], part, module->context->device_count);
    return count;
}

static bool has_equal_images(const struct zepi_module *a, const struct zepi_module *b)
{
    for (uint32_t i = 0; i < a->image_count; i++) {
        if (count_joined_image(a, a->images[i]) != count_joined_image(b, a->images[i]))
            return false;
    }
    return true;
}

// Values that a built module did not use do not count.
static bool has_equal_parts(const struct zepi_module *a, const struct zepi_module *b)
{
    for (uint32_t i = 0; i < a->part_count; i++) {
        if (zepi_module_any_code(a, i) && count_joined_part(a, a->part_count, &a->parts[i]) !=
                                              count_joined_part(b, b->part_count, &a->parts[i]))
            return false;
    }
    return true;
}

bool zepi_modules_are_equal(const struct zepi_module *a, const struct zepi_module *b)
{
    if (a->context != b->context || a->state != b->state ||
        zepi_module_count_images(a) != zepi_module_count_images(b))
        return false;
    return a->state == ZEPI_MODULE_INPUT ? has_equal_images(a, b) : has_equal_parts(a, b);
}

// Equal images have equal hashes. Sums of them do not depend on the order of images.
static uint64_t hash_image(const struct zepi_device_image *image)
{
    return zepi_digest_hash(&image->identity, sizeof(image->identity));
}

uint64_t zepi_module_hash(const struct zepi_module *module)
{
    const uint64_t head[2] = {(uintptr_t)module->context, module->state};
    uint64_t hash = zepi_digest_hash(head, sizeof(head));
    // A sum, since the order of the images does not count.
    for (uint32_t i = 0; i < module->image_count && module->state == ZEPI_MODULE_INPUT; i++)
        hash += hash_image(module->images[i]);
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        for (uint32_t at = 0; at < part->image_count && zepi_module_any_code(module, i); at++)
            hash += hash_image(part->images[at]);
    }
    return hash;
}

// ---- Joining ----

enum listed { KERNELS, SYMBOLS };

// Whether the module lists all of them that it has. An empty module has none. The kernels of native
// images are known once these are loaded, their symbols never are.
static bool lists_all(const struct zepi_module *module, enum listed listed)
{
    const bool is_loaded = listed == KERNELS && module->part_count > 0;
    for (uint32_t i = 0; i < module->image_count && !is_loaded; i++) {
        if (!zepi_device_image_spirv(module->images[i]))
            return false;
    }
    return module->image_count > 0;
}

// The first kernel of a module that the other lacks, if that lists all; NULL: none.
static const char *find_missing_kernel(const struct zepi_module *module,
                                       const struct zepi_module *other)
{
    struct zepi_kernel_pass pass = {.module = module};
    const char *name = NULL;
    while (lists_all(other, KERNELS) && (name = zepi_module_next_kernel(&pass)) &&
           zepi_module_has_kernel(other, name))
        ;
    return name;
}

static bool module_has_symbol(const struct zepi_module *module,
                              const struct zepi_spirv_symbol *symbol)
{
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(module->images[i]);
        for (uint32_t at = 0; spirv && at < spirv->symbol_count; at++) {
            if (strcmp(spirv->symbols[at].name, symbol->name) == 0 &&
                spirv->symbols[at].linkage == symbol->linkage)
                return true;
        }
    }
    return false;
}

// The same of symbols.
static const char *find_missing_symbol(const struct zepi_module *module,
                                       const struct zepi_module *other)
{
    for (uint32_t i = 0; i < module->image_count && lists_all(other, SYMBOLS); i++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(module->images[i]);
        for (uint32_t at = 0; spirv && at < spirv->symbol_count; at++) {
            if (!module_has_symbol(other, &spirv->symbols[at]))
                return spirv->symbols[at].name;
        }
    }
    return NULL;
}

static const char *find_missing(const struct zepi_module *module, const struct zepi_module *other,
                                enum listed listed)
{
    return listed == KERNELS ? find_missing_kernel(module, other)
                             : find_missing_symbol(module, other);
}

// Each with the first one that lists all: those that list all have the same then, and the others,
// which are empty or native, no more than it. Among themselves these are not compared.
static zepi_result_t check_modules_of_join(uint32_t module_count, const zepi_module_t *modules,
                                           enum listed listed)
{
    uint32_t first = 0;
    while (first < module_count && !lists_all(modules[first], listed))
        first++;
    for (uint32_t i = 0; i < module_count && first < module_count; i++) {
        const char *missing = find_missing(modules[first], modules[i], listed);
        if (!missing)
            missing = find_missing(modules[i], modules[first], listed);
        if (missing)
            return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                             "modules %u and %u cannot be joined: only one has %s '%s'", first, i,
                             listed == KERNELS ? "kernel" : "symbol", missing);
    }
    return ZEPI_SUCCESS;
}

// The values of inputs together; `*values` is replaced by a set with those of `more`.
static zepi_result_t join_unite_values(struct zepi_spec_values **values,
                                       const struct zepi_spec_values *more)
{
    for (uint32_t i = 0; more && i < more->count; i++) {
        const struct zepi_spec_entry *entry = &more->entries[i];
        const struct zepi_spec_entry *known = zepi_spec_values_find(*values, entry->id);
        if (known && memcmp(known->value, entry->value, sizeof(entry->value)) != 0)
            return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                             "the modules set specialization constant %u to different values",
                             entry->id);
    }
    for (uint32_t i = 0; more && i <= more->composite_count; i++) {
        const struct zepi_spec_composite *composite =
            i < more->composite_count ? &more->composites[i] : NULL;
        struct zepi_spec_values *united =
            zepi_spec_values_with(*values, more->count, more->entries, composite);
        if (!united)
            return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
        zepi_spec_values_release(*values);
        *values = united;
    }
    return ZEPI_SUCCESS;
}

static zepi_result_t snapshot_modules(uint32_t module_count, const zepi_module_t *modules,
                                      struct zepi_spec_values **out_values)
{
    zepi_result_t result = ZEPI_SUCCESS;
    *out_values = NULL;
    for (uint32_t i = 0; i < module_count && result == ZEPI_SUCCESS; i++) {
        struct zepi_spec_values *values = zepi_module_snapshot(modules[i]);
        result = join_unite_values(out_values, values);
        zepi_spec_values_release(values);
    }
    if (result != ZEPI_SUCCESS) {
        zepi_spec_values_release(*out_values);
        *out_values = NULL;
    }
    return result;
}

// The joined module's image that is the same; if there is none, this one is added to the list,
// which has room for all.
static struct zepi_device_image *find_or_add_image(struct zepi_device_image **images,
                                                   uint32_t *count, struct zepi_device_image *image)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (is_same_image(images[i], image))
            return images[i];
    }
    return images[(*count)++] = image;
}

// Adds the part unless the joined module has one that is the same. All of its images are in the
// module.
static void join_part(struct zepi_module *joined, const struct zepi_module_part *from)
{
    const uint32_t device_count = joined->context->device_count;
    for (uint32_t i = 0; i < joined->part_count; i++) {
        if (is_same_part(&joined->parts[i], from, device_count))
            return;
    }
    struct zepi_module_part *to = &joined->parts[joined->part_count++];
    to->image_count = from->image_count;
    for (uint32_t i = 0; i < from->image_count; i++) {
        uint32_t image_count = joined->image_count;
        to->images[i] = find_or_add_image(joined->images, &image_count, from->images[i]);
        to->values[i] = zepi_spec_values_retain(from->values[i]);
    }
    for (uint32_t i = 0; i < device_count; i++)
        to->device_module[i] =
            from->device_module[i] ? zepi_build_result_retain(from->device_module[i]) : NULL;
}

// A module with the images of all modules, each once, and room for their parts.
static zepi_result_t make_joined_module(uint32_t module_count, const zepi_module_t *modules,
                                        struct zepi_module **out_joined)
{
    uint32_t image_room = 0, part_room = 0, part_image_room = 0, image_count = 0;
    for (uint32_t i = 0; i < module_count; i++) {
        image_room += modules[i]->image_count;
        part_room += modules[i]->part_count;
        for (uint32_t at = 0; at < modules[i]->part_count; at++) {
            if (modules[i]->parts[at].image_count > part_image_room)
                part_image_room = modules[i]->parts[at].image_count;
        }
    }
    struct zepi_device_image **images =
        zepi_allocate(image_room, sizeof(struct zepi_device_image *));
    if (!images)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < module_count; i++) {
        for (uint32_t at = 0; at < modules[i]->image_count; at++)
            find_or_add_image(images, &image_count, modules[i]->images[at]);
    }
    const zepi_result_t result =
        zepi_module_make(modules[0]->context, modules[0]->state, image_count, images, part_room,
                         part_image_room, out_joined);
    zepi_free(images);
    return result;
}

static zepi_result_t join_modules(uint32_t module_count, const zepi_module_t *modules,
                                  struct zepi_module **out_joined)
{
    struct zepi_module *joined = NULL;
    struct zepi_spec_values *values = NULL;
    zepi_result_t result = make_joined_module(module_count, modules, &joined);
    if (result != ZEPI_SUCCESS)
        return result;
    joined->part_count = 0;
    for (uint32_t i = 0; i < module_count; i++) {
        for (uint32_t at = 0; at < modules[i]->part_count; at++)
            join_part(joined, &modules[i]->parts[at]);
    }
    result = snapshot_modules(module_count, modules, &values);
    atomic_store_explicit(&joined->own_values.set, values, memory_order_relaxed);
    if (result != ZEPI_SUCCESS) {
        zepi_release(joined);
        return result;
    }
    *out_joined = joined;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_join(uint32_t module_count, const zepi_module_t *modules,
                               zepi_module_t *out_module)
{
    struct zepi_module *joined = NULL;
    zepi_result_t result = check_modules_of_join(module_count, modules, KERNELS);
    if (result == ZEPI_SUCCESS)
        result = check_modules_of_join(module_count, modules, SYMBOLS);
    if (result == ZEPI_SUCCESS)
        result = join_modules(module_count, modules, &joined);
    return zepi_module_publish(result, joined, out_module);
}
