// SPDX-License-Identifier: MIT
#include "program/build/device_build.h"
#include "program/link/link_set.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// An image with two constants of four bytes, with the literals 7 and 8, and one of eight bytes, 0.
struct fixture {
    struct zepi_spirv_constant constants[3];
    struct zepi_spec_declaration declarations[3];
    struct zepi_blob blob;
    struct zepi_device_image image;
};

static void fixture_init(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    for (uint8_t i = 0; i < 2; i++) {
        fixture->constants[i].default_value[0] = 7 + i;
        fixture->declarations[i] = (struct zepi_spec_declaration){
            .id = 10 + i, .type = ZEPI_SCALAR_UINT32, .size_bytes = 4, .default_value = {7 + i}};
    }
    fixture->declarations[2] =
        (struct zepi_spec_declaration){.id = 12, .type = ZEPI_SCALAR_UINT64, .size_bytes = 8};
    fixture->blob.is_spirv = true;
    fixture->blob.digest = (struct zepi_digest){.low = 1, .high = 2};
    fixture->blob.spirv.constants = fixture->constants;
    fixture->blob.spirv.constant_count = 3;
    fixture->image.format = ZEPI_DEVICE_IMAGE_SPIRV;
    fixture->image.blob = &fixture->blob;
    fixture->image.declarations = fixture->declarations;
    fixture->image.declaration_count = 3;
}

static struct zepi_spec_entry entry(uint32_t id, uint8_t value)
{
    return (struct zepi_spec_entry){.id = id, .size_bytes = 4, .value = {value}};
}

static struct zepi_digest key_of(const struct fixture *fixture, uint32_t count,
                                 const struct zepi_spec_entry *entries)
{
    struct zepi_key key;
    struct zepi_spec_values *values =
        entries ? zepi_spec_values_with(NULL, count, entries, NULL) : NULL;
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    zepi_key_add_image(&key, &fixture->image, values);
    cr_assert(zepi_key_seal(&key));
    const struct zepi_digest digest = zepi_key_digest(&key);
    zepi_key_finish(&key);
    zepi_spec_values_release(values);
    return digest;
}

static bool are_equal(struct zepi_digest a, struct zepi_digest b)
{
    return a.low == b.low && a.high == b.high;
}

Test(build_key, of_a_value_that_is_the_default_is_that_of_no_value)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const struct zepi_spec_entry defaults[] = {entry(10, 7), entry(11, 8)};
    cr_assert(are_equal(key_of(&fixture, 2, defaults), key_of(&fixture, 0, NULL)));
}

Test(build_key, differs_by_each_value_and_by_the_constant_that_has_it)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const struct zepi_spec_entry first = entry(10, 9), second = entry(11, 9), other = entry(10, 3);
    const struct zepi_digest none = key_of(&fixture, 0, NULL);
    const struct zepi_digest a = key_of(&fixture, 1, &first);
    const struct zepi_digest b = key_of(&fixture, 1, &second);
    const struct zepi_digest c = key_of(&fixture, 1, &other);
    cr_assert(!are_equal(none, a) && !are_equal(a, b) && !are_equal(a, c) && !are_equal(b, c));
}

// Two values of each byte, of the constant of four bytes and of that of eight.
Test(build_key, differs_by_each_byte_of_a_value)
{
    enum { KEYS = 1 + 2 * (4 + 8) };
    struct fixture fixture;
    struct zepi_digest keys[KEYS];
    fixture_init(&fixture);
    keys[0] = key_of(&fixture, 0, NULL);
    for (uint32_t i = 0; i < KEYS - 1; i++) {
        const uint32_t size = i < 8 ? 4 : 8;
        struct zepi_spec_entry changed = {.id = i < 8 ? 11 : 12, .size_bytes = size};
        changed.value[i / 2 % size] = (uint8_t)(1 + i % 2);
        keys[i + 1] = key_of(&fixture, 1, &changed);
        for (uint32_t other = 0; other <= i; other++)
            cr_assert(!are_equal(keys[i + 1], keys[other]), "keys %u and %u", i + 1, other);
    }
}

Test(build_key, differs_by_each_byte_of_an_id_and_of_the_digest)
{
    struct fixture fixture;
    const struct zepi_spec_entry nine = entry(10, 9);
    fixture_init(&fixture);
    const struct zepi_digest first = key_of(&fixture, 1, &nine);
    for (int i = 0; i < 8; i++) {
        const uint64_t bit = UINT64_C(1) << 8 * i;
        struct zepi_digest *digest = &fixture.blob.digest;
        digest->low ^= bit;
        cr_assert(!are_equal(key_of(&fixture, 1, &nine), first), "byte %d, low", i);
        digest->low ^= bit;
        digest->high ^= bit;
        cr_assert(!are_equal(key_of(&fixture, 1, &nine), first), "byte %d, high", i);
        digest->high ^= bit;
    }
    for (int i = 0; i < 4; i++) {
        const struct zepi_spec_entry other = entry(10 ^ UINT32_C(1) << (8 * i + 6), 9);
        fixture.declarations[0].id = other.id;
        cr_assert(!are_equal(key_of(&fixture, 1, &other), first), "byte %d of the id", i);
    }
}

Test(build_key, is_the_same_in_whatever_order_values_were_set)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const struct zepi_spec_entry up[] = {entry(10, 1), entry(11, 2)};
    const struct zepi_spec_entry down[] = {entry(11, 2), entry(10, 1)};
    cr_assert(are_equal(key_of(&fixture, 2, up), key_of(&fixture, 2, down)));
}

Test(build_key, ignores_values_of_constants_that_the_image_does_not_declare)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const struct zepi_spec_entry mixed[] = {entry(3, 1), entry(10, 9), entry(99, 1)};
    const struct zepi_spec_entry own = entry(10, 9);
    cr_assert(are_equal(key_of(&fixture, 3, mixed), key_of(&fixture, 1, &own)));
}

Test(build_key, has_the_image_s_own_defaults_where_they_are_not_the_literals)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const struct zepi_digest literals = key_of(&fixture, 0, NULL);
    const struct zepi_spec_entry nine = entry(10, 9);
    const struct zepi_digest set = key_of(&fixture, 1, &nine);
    fixture.declarations[0].default_value[0] = 9;
    fixture.image.has_own_defaults = true;
    cr_assert(!are_equal(key_of(&fixture, 0, NULL), literals));
    cr_assert(are_equal(key_of(&fixture, 0, NULL), set), "one build, however 9 came to be");
    const struct zepi_spec_entry seven = entry(10, 7);
    cr_assert(are_equal(key_of(&fixture, 1, &seven), literals));
}

Test(build_key, differs_by_bytes_and_format)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const struct zepi_digest first = key_of(&fixture, 0, NULL);
    fixture.blob.digest.high++;
    const struct zepi_digest second = key_of(&fixture, 0, NULL);
    fixture.image.format = ZEPI_DEVICE_IMAGE_NATIVE;
    const struct zepi_digest third = key_of(&fixture, 0, NULL);
    cr_assert(!are_equal(first, second) && !are_equal(second, third));
}

// ---- Links ----

// Code of an object; freed by free().
static struct zepi_device_module *make_code(const char *options)
{
    struct zepi_device_module *code = calloc(1, sizeof(*code) + sizeof(code->ze_modules[0]));
    code->ze_module_count = 1;
    code->options = (char *)options;
    return code;
}

static bool key_contains(const struct zepi_key *key, const void *bytes, size_t size)
{
    return memmem(key->bytes, key->size, bytes, size);
}

// What decides the code of each member is in the key itself, and not a digest of it.
Test(build_key, of_a_link_has_the_bytes_of_its_members_keys)
{
    const char options[] = "-ze-opt-level=2";
    const struct zepi_spec_entry values[] = {
        {.id = 12, .size_bytes = 8, .value = {1, 2, 3, 4, 5, 6, 7, 8}}};
    const struct zepi_build_options dynamic = {.link_method = ZEPI_LINK_DYNAMIC};
    struct fixture fixture;
    struct zepi_link_set set = {0};
    struct zepi_key key;
    fixture_init(&fixture);
    struct zepi_spec_values *set_values = zepi_spec_values_with(NULL, 1, values, NULL);
    struct zepi_device_module *code = make_code(options);
    cr_assert_eq(zepi_link_set_add(&set, 0, &fixture.image, NULL, code), ZEPI_SUCCESS);
    cr_assert_eq(zepi_link_set_add(&set, 1, &fixture.image, set_values, code), ZEPI_SUCCESS);
    cr_assert_eq(zepi_link_set_end(&set, &dynamic), ZEPI_SUCCESS);
    zepi_key_init(&key, ZEPI_KEY_VERSION);
    zepi_key_add_link_set(&key, &set);
    cr_assert(key_contains(&key, options, strlen(options)));
    cr_assert(key_contains(&key, values[0].value, 8));
    cr_assert(key_contains(&key, &fixture.blob.digest, sizeof(fixture.blob.digest)));
    zepi_key_finish(&key);
    zepi_link_set_finish(&set);
    zepi_spec_values_release(set_values);
    free(code);
}

// Equal code that was compiled with different options: the same one of the two counts, whatever the
// order of the objects.
Test(build_key, of_a_link_chooses_between_options_by_them)
{
    const struct zepi_build_options dynamic = {.link_method = ZEPI_LINK_DYNAMIC};
    struct fixture fixture;
    struct zepi_key keys[2];
    fixture_init(&fixture);
    struct zepi_device_module *codes[] = {make_code("-g"), make_code("-ze-opt-level=2")};
    for (int i = 0; i < 2; i++) {
        struct zepi_link_set set = {0};
        for (uint32_t at = 0; at < 2; at++)
            cr_assert_eq(zepi_link_set_add(&set, at, &fixture.image, NULL, codes[(at + i) % 2]),
                         ZEPI_SUCCESS);
        cr_assert_eq(set.count, 1);
        cr_assert_eq(set.members[0].object_index, 0);
        cr_assert_str_eq(set.members[0].device_module->options, "-g");
        cr_assert_eq(zepi_link_set_end(&set, &dynamic), ZEPI_SUCCESS);
        zepi_key_init(&keys[i], ZEPI_KEY_VERSION);
        zepi_key_add_link_set(&keys[i], &set);
        zepi_link_set_finish(&set);
    }
    cr_assert_eq(keys[0].size, keys[1].size);
    cr_assert_arr_eq(keys[0].bytes, keys[1].bytes, keys[0].size);
    for (int i = 0; i < 2; i++) {
        zepi_key_finish(&keys[i]);
        free(codes[i]);
    }
}
