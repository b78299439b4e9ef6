// SPDX-License-Identifier: MIT
//
// Instructions of a hit, sealing a 100-byte key included: the difference of two runs of this
// program under callgrind that differ in the number of hits alone. Without arguments it makes the
// runs and judges; "hit N" makes N hits, "fields N" also builds the key for each.
#include "cache_fixture.h"
#include "test_cost.h"
#include "test_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 100, ENTRIES = 64, LIMIT_INSTRUCTIONS = 350 };

static void make_key(struct zepi_key *key, unsigned number)
{
    uint8_t bytes[KEY_BYTES - 10] = {0};
    memcpy(bytes, &number, sizeof(number));
    zepi_key_init(key, 1);
    zepi_key_add_bytes(key, 1, bytes, sizeof(bytes));
}

// The fields that a module's key has: image, options, three specialization values, state, device,
// context.
static void make_key_of_fields(struct zepi_key *key, unsigned number)
{
    zepi_key_init(key, 1);
    zepi_key_add_digest(key, 1, (struct zepi_digest){number, ~number});
    zepi_key_add_string(key, 2, "-g");
    for (uint32_t id = 0; id < 3; id++)
        zepi_key_add_numbered(key, 3, id, &number, sizeof(number));
    zepi_key_add_u32(key, 4, 2);
    zepi_key_add_digest(key, 5, (struct zepi_digest){1, 2});
    zepi_key_add_u64(key, 6, 77);
}

static struct fixture_build build;

static void hit(struct zepi_build_cache *cache, struct zepi_key *key)
{
    struct zepi_build_result *result;
    if (!zepi_key_seal(key) || zepi_build_cache_find_or_build(cache, key, fixture_run_build, &build,
                                                              &result) != ZEPI_LOOKUP_SUCCEEDED) {
        fputs("a lookup failed\n", stderr);
        exit(1);
    }
    zepi_build_result_release(result);
}

enum key_use { KEEP_KEYS, BUILD_KEY_EACH_TIME };

static int run(unsigned count, void (*make)(struct zepi_key *key, unsigned number),
               enum key_use use)
{
    static struct zepi_key keys[ENTRIES];
    struct fixture_cache both = fixture_cache_create(1 << 20, ENTRIES, NULL);
    for (unsigned i = 0; i < ENTRIES; i++) {
        make(&keys[i], i);
        hit(both.cache, &keys[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        struct zepi_key *key = &keys[i % ENTRIES];
        if (use == BUILD_KEY_EACH_TIME)
            make(key, i % ENTRIES);
        hit(both.cache, key);
    }
    bool is_right = fixture_counters(both.cache).hits == count;
    fixture_cache_destroy(&both);
    return is_right ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "hit") == 0)
        return run((unsigned)strtoul(argv[2], NULL, 10), make_key, KEEP_KEYS);
    if (argc == 3 && strcmp(argv[1], "fields") == 0)
        return run((unsigned)strtoul(argv[2], NULL, 10), make_key_of_fields, BUILD_KEY_EACH_TIME);
    if (!test_cost_is_measurable() || !test_cost_has_valgrind())
        return TEST_SKIPPED;
    double hit_cost = test_cost_instructions("hit", NULL);
    double fields_cost = test_cost_instructions("fields", NULL);
    printf("a hit with a %d-byte key, sealed each time: %.0f instructions (limit %d)\n", KEY_BYTES,
           hit_cost, LIMIT_INSTRUCTIONS);
    printf("a hit with a module's key, built from its fields each time: %.0f instructions\n",
           fields_cost);
    return hit_cost > 0 && hit_cost < LIMIT_INSTRUCTIONS ? 0 : 1;
}
