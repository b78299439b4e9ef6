// SPDX-License-Identifier: MIT
#include "tools/zepi/cache/key_refusal.h"

#include "cache/key.h"
#include "program/native/key_tags.h"

#include <criterion/criterion.h>

// What the keys of a device say, as plugin/program/build/binary_cache.c writes them.
struct origin {
    uint32_t version, build_version, vendor, device, ip_version, driver_version;
    const char *driver;
    struct zepi_digest compiler;
};

static const struct origin own = {.version = ZEPI_KEY_VERSION,
                                  .build_version = ZEPI_KEY_VERSION,
                                  .vendor = 0x8086,
                                  .device = 7,
                                  .ip_version = 12,
                                  .driver_version = 3,
                                  .driver = "/usr/lib/libze.so",
                                  .compiler = {.low = 99, .high = 98}};

static void fill(struct zepi_key *key, const struct origin *origin)
{
    struct zepi_key build;
    zepi_key_init(&build, origin->build_version);
    zepi_key_add_u32(&build, ZEPI_KEY_KIND, ZEPI_KEY_KIND_OF(3));
    zepi_key_add_u32(&build, ZEPI_KEY_VENDOR, origin->vendor);
    zepi_key_add_u32(&build, ZEPI_KEY_DEVICE, origin->device);
    zepi_key_add_u32(&build, ZEPI_KEY_IP_VERSION, origin->ip_version);
    zepi_key_add_u32(&build, ZEPI_KEY_DRIVER_VERSION, origin->driver_version);
    zepi_key_add_string(&build, ZEPI_KEY_DRIVER, origin->driver);
    zepi_key_init(key, origin->version);
    zepi_key_add_bytes(key, ZEPI_KEY_BUILD, build.bytes, build.size);
    zepi_key_add_digest(key, ZEPI_KEY_COMPILER, origin->compiler);
    zepi_key_finish(&build);
}

static const char *refusal_of(const struct origin *origin)
{
    struct zepi_key ours, theirs;
    fill(&ours, &own);
    fill(&theirs, origin);
    const char *refusal = key_refusal(ours.bytes, ours.size, theirs.bytes, theirs.size);
    zepi_key_finish(&ours);
    zepi_key_finish(&theirs);
    return refusal;
}

#define REFUSED(words, member, other)                                                              \
    do {                                                                                           \
        struct origin origin = own;                                                                \
        origin.member = (other);                                                                   \
        const char *refusal = refusal_of(&origin);                                                 \
        cr_assert(refusal &&strstr(refusal, (words)), #member ": %s", refusal ? refusal : "");     \
    } while (0)

Test(tool_key_refusal, names_each_difference)
{
    for (unsigned bit = 0; bit < 32; bit += 8) {
        REFUSED("another version of zepi", version, own.version ^ 1u << bit);
        REFUSED("another version of zepi", build_version, own.build_version ^ 1u << bit);
        REFUSED("another vendor", vendor, own.vendor ^ 1u << bit);
        REFUSED("another device", device, own.device ^ 1u << bit);
        REFUSED("another version of the device", ip_version, own.ip_version ^ 1u << bit);
        REFUSED("another version of the driver", driver_version, own.driver_version ^ 1u << bit);
    }
    REFUSED("a driver at another path", driver, "/opt/libze.so");
    REFUSED("a driver at another path", driver, "/usr/lib/libze.so.1");
    for (unsigned bit = 0; bit < 64; bit += 8) {
        REFUSED("another compiler", compiler.low, own.compiler.low ^ UINT64_C(1) << bit);
        REFUSED("another compiler", compiler.high, own.compiler.high ^ UINT64_C(1) << bit);
    }
}

Test(tool_key_refusal, is_none_for_builds_of_this_device)
{
    struct origin origin = own;
    cr_assert_null(refusal_of(&origin));
}

Test(tool_key_refusal, is_none_for_what_is_no_native_code)
{
    struct zepi_key ours, other;
    fill(&ours, &own);
    zepi_key_init(&other, ZEPI_KEY_VERSION);
    zepi_key_add_u32(&other, ZEPI_KEY_KIND, ZEPI_KEY_KIND_SYMBOLS);
    cr_assert(key_is_of_code(ours.bytes, ours.size));
    cr_assert_not(key_is_of_code(other.bytes, other.size));
    cr_assert_null(key_refusal(ours.bytes, ours.size, other.bytes, other.size));
    zepi_key_finish(&ours);
    zepi_key_finish(&other);
}

Test(tool_key_refusal, reads_no_further_than_a_key)
{
    struct zepi_key ours;
    fill(&ours, &own);
    for (size_t size = 0; size < ours.size; size++) {
        uint8_t *cut = malloc(size + 1);
        memcpy(cut, ours.bytes, size);
        (void)key_refusal(ours.bytes, ours.size, cut, size);
        free(cut);
    }
    zepi_key_finish(&ours);
}
