// SPDX-License-Identifier: MIT
#include "program/code_choice.h"

#include "core/alloc.h"
#include "program/module.h"

// ---- Values that are wanted ----

const struct zepi_spec_entry *zepi_wanted_find(const struct zepi_wanted *wanted, uint32_t id)
{
    for (uint32_t i = 0; i < wanted->entry_count; i++) {
        if (wanted->entries[i].id == id)
            return &wanted->entries[i];
    }
    return zepi_spec_values_find(wanted->bound, id);
}

// The declaration with the constant's default; NULL: there is none.
static const struct zepi_spec_declaration *wanted_default(const struct zepi_wanted *wanted,
                                                          uint32_t id)
{
    const struct zepi_spec_declaration *declaration =
        zepi_spec_find_declaration(wanted->declarations, wanted->declaration_count, id);
    return declaration && !declaration->has_baked_value ? declaration : NULL;
}

// Whether a value must be given, and is not. A build says so by itself.
static bool lacks_required(const struct zepi_wanted *wanted, const struct zepi_spec_entry *given,
                           const struct zepi_spec_declaration *with_default)
{
    return !given && wanted->needs_defaults && with_default && with_default->is_required;
}

// ---- The first rule ----

static bool is_declared_right(const struct zepi_wanted *wanted,
                              const struct zepi_device_image *image,
                              const struct zepi_spec_values *values,
                              const struct zepi_spec_declaration *declaration,
                              struct zepi_mismatch *out_mismatch)
{
    const struct zepi_spec_entry *given = zepi_wanted_find(wanted, declaration->id);
    const struct zepi_spec_declaration *with_default = wanted_default(wanted, declaration->id);
    const uint8_t *built = zepi_spec_effective(declaration, values);
    const uint8_t *default_value = with_default ? with_default->default_value : NULL;
    const uint8_t *value = given ? given->value : wanted->needs_defaults ? default_value : NULL;
    *out_mismatch = (struct zepi_mismatch){declaration, given, built, default_value};
    if (lacks_required(wanted, given, with_default))
        return false;
    return !value ||
           (wanted->takes_emulated && zepi_device_image_is_emulated(image, declaration->id)) ||
           memcmp(value, built, declaration->size_bytes) == 0;
}

static bool match_declared(const struct zepi_wanted *wanted, const struct zepi_code *code,
                           struct zepi_mismatch *out_mismatch)
{
    for (uint32_t i = 0; i < code->image_count; i++) {
        const struct zepi_device_image *image = code->images[i];
        const struct zepi_spec_values *values = code->values ? code->values[i] : NULL;
        for (uint32_t at = 0; at < image->declaration_count; at++) {
            if (!is_declared_right(wanted, image, values, &image->declarations[at], out_mismatch))
                return false;
        }
    }
    return true;
}

// ---- The second rule ----

static bool code_declares(const struct zepi_code *code, uint32_t id)
{
    for (uint32_t i = 0; i < code->image_count; i++) {
        if (zepi_device_image_find_constant(code->images[i], id))
            return true;
    }
    return false;
}

// Whether the code goes with the constants of another image that it does not declare.
static bool match_undeclared(const struct zepi_wanted *wanted, const struct zepi_code *code,
                             const struct zepi_device_image *other,
                             struct zepi_mismatch *out_mismatch)
{
    for (uint32_t i = 0; i < other->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &other->declarations[i];
        const struct zepi_spec_entry *given = zepi_wanted_find(wanted, declaration->id);
        const struct zepi_spec_declaration *with_default = wanted_default(wanted, declaration->id);
        const uint8_t *default_value = with_default ? with_default->default_value : NULL;
        const bool is_right = given ? default_value && memcmp(given->value, default_value,
                                                              with_default->size_bytes) == 0
                                    : !lacks_required(wanted, given, with_default);
        if (is_right || code_declares(code, declaration->id))
            continue;
        *out_mismatch = (struct zepi_mismatch){declaration, given, NULL, default_value};
        return false;
    }
    return true;
}

// Matches the code with a peer and the images that this imports from, if it has a kernel of the
// code. `listed` has room for all peers.
static zepi_result_t match_peer(const struct zepi_wanted *wanted, const struct zepi_code *code,
                                const struct zepi_code_peers *peers, uint32_t index,
                                struct zepi_device_image **listed,
                                struct zepi_mismatch *out_mismatch)
{
    bool is_right = true;
    bool has_kernel = false;
    listed[0] = peers->images[index];
    const uint32_t count =
        zepi_device_images_add_needed(peers->image_count, peers->images, 1, listed);
    for (uint32_t i = 0; i < count && is_right; i++)
        is_right = match_undeclared(wanted, code, listed[i], out_mismatch);
    const zepi_result_t result =
        is_right ? ZEPI_SUCCESS : peers->has_kernel(peers->user, peers->images[index], &has_kernel);
    if (!has_kernel)
        out_mismatch->declaration = NULL;
    return result;
}

static zepi_result_t match_peers(const struct zepi_wanted *wanted, const struct zepi_code *code,
                                 const struct zepi_code_peers *peers,
                                 struct zepi_mismatch *out_mismatch)
{
    bool is_right = true;
    zepi_result_t result = ZEPI_SUCCESS;
    // As a rule it is right whichever of them have the kernel.
    for (uint32_t i = 0; i < peers->image_count && is_right; i++)
        is_right = match_undeclared(wanted, code, peers->images[i], out_mismatch);
    out_mismatch->declaration = NULL;
    if (is_right)
        return ZEPI_SUCCESS;
    struct zepi_device_image **listed =
        zepi_allocate(peers->image_count, sizeof(struct zepi_device_image *));
    if (!listed)
        return zepi_fail_no_memory();
    for (uint32_t i = 0;
         i < peers->image_count && result == ZEPI_SUCCESS && !out_mismatch->declaration; i++)
        result = match_peer(wanted, code, peers, i, listed, out_mismatch);
    zepi_free(listed);
    return result;
}

zepi_result_t zepi_code_match(const struct zepi_wanted *wanted, const struct zepi_code *code,
                              const struct zepi_code_peers *peers,
                              struct zepi_mismatch *out_mismatch)
{
    if (!match_declared(wanted, code, out_mismatch))
        return ZEPI_SUCCESS;
    out_mismatch->declaration = NULL;
    return peers ? match_peers(wanted, code, peers, out_mismatch) : ZEPI_SUCCESS;
}

// ---- Errors ----

static unsigned long long value_bits(const uint8_t *value, size_t size_bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, value, size_bytes);
    return bits;
}

zepi_result_t zepi_mismatch_fail(const struct zepi_mismatch *mismatch)
{
    const struct zepi_spec_entry *given = mismatch->given;
    zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_MISMATCH,
              "the launch asks for specialization constant %u = 0x%llx, the code to use ",
              given->id, value_bits(given->value, given->size_bytes));
    if (mismatch->built) {
        zepi_error_append("was made with 0x%llx", value_bits(mismatch->built, given->size_bytes));
        return ZEPI_ERROR_SPEC_CONSTANT_MISMATCH;
    }
    zepi_error_append("does not say what it was made with");
    if (mismatch->default_value)
        zepi_error_append("; the default is 0x%llx",
                          value_bits(mismatch->default_value, given->size_bytes));
    return ZEPI_ERROR_SPEC_CONSTANT_MISMATCH;
}

// ---- The third rule ----

// Whether an image of a part was built with a value; *out_built is set, unless it is already, to
// the one that it has in place of that.
static bool part_has_value(const struct zepi_module_part *part, const struct zepi_spec_entry *given,
                           const uint8_t **out_built)
{
    for (uint32_t i = 0; i < part->image_count; i++) {
        const struct zepi_spec_declaration *declaration =
            zepi_device_image_find_constant(part->images[i], given->id);
        if (!declaration)
            continue;
        const uint8_t *built = zepi_spec_effective(declaration, part->values[i]);
        if (zepi_device_image_is_emulated(part->images[i], given->id) ||
            memcmp(built, given->value, declaration->size_bytes) == 0)
            return true;
        if (!*out_built)
            *out_built = built;
    }
    return false;
}

zepi_result_t zepi_wanted_check_module(const struct zepi_wanted *wanted,
                                       const struct zepi_module *module)
{
    for (uint32_t i = 0; i < wanted->entry_count; i++) {
        const struct zepi_spec_entry *given = &wanted->entries[i];
        const struct zepi_spec_declaration *with_default = wanted_default(wanted, given->id);
        struct zepi_mismatch mismatch = {.given = given};
        bool has = with_default &&
                   memcmp(with_default->default_value, given->value, with_default->size_bytes) == 0;
        for (uint32_t at = 0; at < module->part_count && !has; at++)
            has = part_has_value(&module->parts[at], given, &mismatch.built);
        if (!has)
            return zepi_mismatch_fail(&mismatch);
    }
    return ZEPI_SUCCESS;
}

// ---- Emulated constants ----

zepi_result_t zepi_wanted_emulated_values(const struct zepi_wanted *wanted,
                                          const struct zepi_device_image *image,
                                          struct zepi_spec_values *built,
                                          struct zepi_spec_values **out_values)
{
    uint32_t count = 0;
    *out_values = NULL;
    struct zepi_spec_entry *entries = zepi_allocate(image->emulated_count, sizeof(*entries));
    if (!entries)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < image->emulated_count; i++) {
        const uint32_t id = image->emulated[i].id;
        const struct zepi_spec_entry *given = zepi_wanted_find(wanted, id);
        const struct zepi_spec_entry *known = zepi_spec_values_find(built, id);
        const struct zepi_spec_declaration *own = zepi_device_image_find_constant(image, id);
        const struct zepi_spec_declaration *with_default = wanted_default(wanted, id);
        if (given && (!known || memcmp(known->value, given->value, sizeof(known->value)) != 0)) {
            entries[count++] = *given;
        } else if (!given && !known && with_default && !own->is_required &&
                   memcmp(own->default_value, with_default->default_value, own->size_bytes) != 0) {
            entries[count] = (struct zepi_spec_entry){.id = id, .size_bytes = own->size_bytes};
            memcpy(entries[count++].value, with_default->default_value, own->size_bytes);
        }
    }
    *out_values = count > 0 ? zepi_spec_values_with(built, count, entries, NULL)
                            : zepi_spec_values_retain(built);
    zepi_free(entries);
    return count > 0 && !*out_values ? ZEPI_ERROR_OUT_OF_HOST_MEMORY : ZEPI_SUCCESS;
}
