// SPDX-License-Identifier: MIT
#include "cache/key.h"
#include "cache_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

enum { FORMAT = 1, TAG_A = 1, TAG_B = 2 };

static void add_text(struct zepi_key *key, uint16_t tag, const char *text)
{
    zepi_key_add_string(key, tag, text);
}

static bool are_equal(const struct zepi_key *a, const struct zepi_key *b)
{
    bool same_bytes = a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
    bool same_hash = a->hash == b->hash;
    bool same_digest = zepi_digest_equal(zepi_key_digest(a), zepi_key_digest(b));
    cr_assert_eq(same_bytes, same_hash, "hash and bytes disagree");
    cr_assert_eq(same_bytes, same_digest, "digest and bytes disagree");
    return same_bytes;
}

// Keys of up to two text fields; a NULL text is no field.
static bool are_keys_equal(uint16_t tag_a, const char *a, const char *b, uint16_t tag_c,
                           const char *c, const char *d)
{
    struct zepi_key one;
    struct zepi_key other;
    zepi_key_init(&one, FORMAT);
    zepi_key_init(&other, FORMAT);
    add_text(&one, tag_a, a);
    add_text(&other, tag_c, c);
    if (b)
        add_text(&one, tag_a, b);
    if (d)
        add_text(&other, tag_c, d);
    cr_assert(zepi_key_seal(&one));
    cr_assert(zepi_key_seal(&other));
    bool equal = are_equal(&one, &other);
    zepi_key_finish(&one);
    zepi_key_finish(&other);
    return equal;
}

Test(key, of_the_same_fields_is_the_same)
{
    cr_assert(are_keys_equal(TAG_A, "image", "options", TAG_A, "image", "options"));
}

Test(key, tells_how_bytes_are_split_over_fields)
{
    cr_assert_not(are_keys_equal(TAG_A, "ab", "c", TAG_A, "a", "bc"));
    cr_assert_not(are_keys_equal(TAG_A, "abc", "", TAG_A, "abc", NULL));
    cr_assert_not(are_keys_equal(TAG_A, "", "abc", TAG_A, "abc", ""));
    cr_assert_not(are_keys_equal(TAG_A, "a", "b", TAG_A, "b", "a"));
}

Test(key, tells_fields_by_their_tag)
{
    cr_assert_not(are_keys_equal(TAG_A, "abc", NULL, TAG_B, "abc", NULL));
}

// Each byte of the length counts.
Test(key, tells_lengths_apart_that_have_a_byte_in_common)
{
    static const size_t sizes[] = {1, 0x101, 0x10001, 0x1000001};
    static uint8_t zeros[0x1000001];
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint32_t written;
        struct zepi_key key;
        zepi_key_init(&key, FORMAT);
        zepi_key_add_bytes(&key, TAG_A, zeros, sizes[i]);
        cr_assert(zepi_key_seal(&key));
        memcpy(&written, key.bytes + 6, sizeof(written));
        cr_assert_eq(le32toh(written), sizes[i]);
        zepi_key_finish(&key);
    }
}

Test(key, cannot_be_forged_by_a_field_that_contains_a_field)
{
    struct zepi_key inner;
    struct zepi_key two_fields;
    struct zepi_key one_field;
    zepi_key_init(&inner, FORMAT);
    add_text(&inner, TAG_B, "y");
    zepi_key_init(&two_fields, FORMAT);
    add_text(&two_fields, TAG_A, "x");
    add_text(&two_fields, TAG_B, "y");
    // The text of one field is "x" followed by all bytes of field B.
    char forged[32] = "x";
    memcpy(forged + 1, inner.bytes + 4, inner.size - 4);
    zepi_key_init(&one_field, FORMAT);
    zepi_key_add_bytes(&one_field, TAG_A, forged, inner.size - 3);
    cr_assert(zepi_key_seal(&two_fields));
    cr_assert(zepi_key_seal(&one_field));
    cr_assert_eq(two_fields.size, one_field.size);
    cr_assert_not(are_equal(&two_fields, &one_field));
}

Test(key, begins_with_its_format_version)
{
    struct zepi_key one;
    struct zepi_key other;
    zepi_key_init(&one, 1);
    zepi_key_init(&other, 2);
    cr_assert(zepi_key_seal(&one));
    cr_assert(zepi_key_seal(&other));
    cr_assert_not(are_equal(&one, &other));
}

Test(key, has_no_padding_and_no_native_byte_order)
{
    static const uint8_t expected[] = {
        7, 12, 11, 10,                                                              // format
        1, 0,  2,  0,  0, 0, 'h', 'i',                                              // string
        2, 0,  4,  0,  0, 0, 4,   3,   2, 1,                                        // u32
        3, 0,  8,  0,  0, 0, 8,   7,   6, 5, 4,    3, 2, 1,                         // u64
        4, 1,  5,  0,  0, 0, 9,   8,   7, 6, 0xff,                                  // numbered
        5, 0,  16, 0,  0, 0, 1,   0,   0, 0, 0,    0, 0, 3, 2, 0, 0, 0, 0, 0, 0, 4, // digest
    };
    struct zepi_key key;
    zepi_key_init(&key, 0x0a0b0c07);
    zepi_key_add_string(&key, 1, "hi");
    zepi_key_add_u32(&key, 2, 0x01020304);
    zepi_key_add_u64(&key, 3, 0x0102030405060708);
    zepi_key_add_numbered(&key, 0x104, 0x06070809, "\xff", 1);
    zepi_key_add_digest(
        &key, 5, (struct zepi_digest){.low = 0x0300000000000001, .high = 0x0400000000000002});
    cr_assert(zepi_key_seal(&key));
    cr_assert_eq(key.size, sizeof(expected));
    cr_assert_arr_eq(key.bytes, expected, sizeof(expected));
}

Test(key, grows_beyond_its_inline_bytes)
{
    struct zepi_key key;
    static uint8_t large[100000];
    memset(large, 0xa5, sizeof(large));
    zepi_key_init(&key, FORMAT);
    for (uint32_t i = 0; i < 200; i++)
        zepi_key_add_u32(&key, TAG_A, i);
    zepi_key_add_bytes(&key, TAG_B, large, sizeof(large));
    cr_assert(zepi_key_seal(&key));
    cr_assert_eq(key.size, 4 + 200 * 10 + 6 + sizeof(large));
    for (uint32_t i = 0; i < 200; i++)
        cr_assert_eq(key.bytes[4 + i * 10 + 6], (uint8_t)i);
    cr_assert_arr_eq(key.bytes + key.size - sizeof(large), large, sizeof(large));
    zepi_key_finish(&key);
}

Test(key, that_found_no_memory_is_not_sealed)
{
    struct zepi_key key;
    static uint8_t large[ZEPI_KEY_INLINE_BYTES];
    fixture_fault(FIXTURE_FAULT_ALLOCATIONS, 1, ENOMEM, FIXTURE_FAULT_ONCE);
    zepi_key_init(&key, FORMAT);
    zepi_key_add_bytes(&key, TAG_A, large, sizeof(large));
    cr_assert(fixture_fault_end());
    // A later field that would fit does not hide it.
    zepi_key_add_u32(&key, TAG_B, 1);
    zepi_key_add_bytes(&key, TAG_B, large, 0);
    cr_assert_not(zepi_key_seal(&key));
    zepi_key_finish(&key);
}

Test(key, refuses_a_field_whose_length_does_not_fit)
{
    struct zepi_key key;
    zepi_key_init(&key, FORMAT);
    // The bytes are never read. (Volatile: the compiler would see that they are not there.)
    volatile size_t size = (size_t)UINT32_MAX + 1;
    zepi_key_add_bytes(&key, TAG_A, "", size);
    cr_assert_not(zepi_key_seal(&key));
    zepi_key_finish(&key);
}

Test(key, that_is_zeroed_can_be_finished)
{
    static struct zepi_key key;
    zepi_key_finish(&key);
}
