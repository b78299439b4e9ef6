// SPDX-License-Identifier: MIT
#include "cache/shared/shared.h"
#include "cache_fixture.h"
#include "core/sys.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct zepi_build_record record = {
    .payload = "the payload", .payload_size = 11, .log = "the log", .log_size = 7};

static struct zepi_shared_secret key_of(const char *text)
{
    struct zepi_shared_secret secret = {.size = strlen(text)};
    memcpy(secret.bytes, text, secret.size);
    return secret;
}

static uint8_t *encode(const struct zepi_shared_secret *secret, size_t *out_size)
{
    struct zepi_key key;
    fixture_key(&key, 1);
    uint8_t *bytes = zepi_shared_record_encode(secret, &key, &record, out_size);
    cr_assert_not_null(bytes);
    return bytes;
}

Test(shared_record, comes_back_whole)
{
    const struct zepi_shared_secret secrets[] = {key_of("a key"), {.size = 0}};
    for (int i = 0; i < 2; i++) {
        struct zepi_disk_record_view view;
        size_t size;
        uint8_t *bytes = encode(&secrets[i], &size);
        cr_assert(zepi_shared_record_decode(&secrets[i], bytes, size, &view));
        cr_assert_eq(view.record.payload_size, 11);
        cr_assert_eq(memcmp(view.record.payload, "the payload", 11), 0);
        cr_assert_eq(memcmp(view.record.log, "the log", 7), 0);
        zepi_sys_free(bytes);
    }
}

Test(shared_record, of_another_key_or_none_is_refused)
{
    const struct zepi_shared_secret secrets[] = {key_of("a key"), key_of("another"), {.size = 0}};
    for (int made = 0; made < 3; made++) {
        for (int read = 0; read < 3; read++) {
            struct zepi_disk_record_view view;
            size_t size;
            uint8_t *bytes = encode(&secrets[made], &size);
            cr_assert_eq(zepi_shared_record_decode(&secrets[read], bytes, size, &view),
                         made == read);
            zepi_sys_free(bytes);
        }
    }
}

Test(shared_record, with_any_bit_changed_or_byte_missing_is_refused)
{
    const struct zepi_shared_secret secrets[] = {key_of("a key"), {.size = 0}};
    for (int i = 0; i < 2; i++) {
        struct zepi_disk_record_view view;
        size_t size;
        uint8_t *bytes = encode(&secrets[i], &size);
        for (size_t bit = 0; bit < size * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            cr_assert_not(zepi_shared_record_decode(&secrets[i], bytes, size, &view), "bit %zu",
                          bit);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        for (size_t left = 0; left < size; left++)
            cr_assert_not(zepi_shared_record_decode(&secrets[i], bytes, left, &view));
        zepi_sys_free(bytes);
    }
}
