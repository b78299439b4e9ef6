// SPDX-License-Identifier: MIT
#include "key_refusal.h"

#include "program/native/key_tags.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

struct field {
    const uint8_t *bytes;
    size_t size;
};

// The last field of this tag in a key (cache/key.h); without bytes if there is none.
static struct field find_field(const uint8_t *key, size_t size, uint16_t tag)
{
    struct field found = {0};
    for (size_t at = sizeof(uint32_t); at < size && size - at >= 6;) {
        uint16_t its_tag;
        uint32_t length;
        memcpy(&its_tag, key + at, sizeof(its_tag));
        memcpy(&length, key + at + sizeof(its_tag), sizeof(length));
        at += 6;
        if (le32toh(length) > size - at)
            break;
        if (le16toh(its_tag) == tag)
            found = (struct field){key + at, le32toh(length)};
        at += le32toh(length);
    }
    return found;
}

static bool is_equal(const struct field *a, const struct field *b)
{
    return a->bytes && b->bytes && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool is_version(const uint8_t *key, size_t size)
{
    uint32_t version;
    if (size < sizeof(version))
        return false;
    memcpy(&version, key, sizeof(version));
    return le32toh(version) == ZEPI_KEY_VERSION;
}

bool key_is_of_code(const uint8_t *key, size_t size)
{
    return find_field(key, size, ZEPI_KEY_BUILD).bytes;
}

const char *key_refusal(const uint8_t *own_key, size_t own_size, const uint8_t *key,
                        size_t key_size)
{
    static const struct {
        enum zepi_key_tag tag;
        const char *refusal;
    } compared[] = {{ZEPI_KEY_VENDOR, "for a device of another vendor"},
                    {ZEPI_KEY_DEVICE, "for another device"},
                    {ZEPI_KEY_IP_VERSION, "for another version of the device"},
                    {ZEPI_KEY_DRIVER, "of a driver at another path"},
                    {ZEPI_KEY_DRIVER_VERSION, "of another version of the driver"}};
    const struct field build = find_field(key, key_size, ZEPI_KEY_BUILD);
    const struct field own_build = find_field(own_key, own_size, ZEPI_KEY_BUILD);
    if (!build.bytes)
        return NULL; // not native code
    if (!is_version(key, key_size) || !is_version(build.bytes, build.size))
        return "of another version of zepi";
    for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++) {
        const struct field field = find_field(build.bytes, build.size, compared[i].tag);
        const struct field own = find_field(own_build.bytes, own_build.size, compared[i].tag);
        if (!is_equal(&field, &own))
            return compared[i].refusal;
    }
    const struct field compiler = find_field(key, key_size, ZEPI_KEY_COMPILER);
    const struct field own_compiler = find_field(own_key, own_size, ZEPI_KEY_COMPILER);
    return is_equal(&compiler, &own_compiler)
               ? NULL
               : "made by another compiler, with other settings of it, or for another CPU";
}
