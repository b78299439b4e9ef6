// SPDX-License-Identifier: MIT
//
// The shared store in many threads, of two stores as two machines have them, on a real server: each
// load is a record as it was stored, or a miss; then the server is killed under way, and all of
// them miss.
#include "shared_fixture.h"

#include "cache_fixture.h"
#include "test_env.h"
#include "test_threads.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 6, ROUNDS = 150, KEYS = 12, ROUNDS_BEFORE_THE_END = 60 };

static struct zepi_shared *stores[2];
static struct fixture_redis redis;
static atomic_uint hits, misses;
static atomic_bool is_over;

static unsigned next(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void make_text(char text[64], uint64_t number)
{
    snprintf(text, 64, "the record of number %u", (unsigned)number);
}

static void build(struct zepi_shared *shared, const struct zepi_key *key, uint64_t number,
                  unsigned *state)
{
    char text[64];
    make_text(text, number);
    if (next(state) % 4 == 0)
        zepi_shared_store_ops.store(shared, key, &(struct zepi_build_record){0});
    else
        fixture_store(shared, number, text);
}

static void *work(void *user)
{
    unsigned state = *(unsigned *)user;
    for (int round = 0; round < ROUNDS; round++) {
        struct zepi_shared *shared = stores[next(&state) % 2];
        const uint64_t number = next(&state) % KEYS;
        struct zepi_build_record record = {0};
        struct zepi_key key;
        char text[64];
        make_text(text, number);
        fixture_key(&key, number);
        if (zepi_shared_store_ops.load(shared, &key, &record)) {
            atomic_fetch_add(&hits, 1);
            TEST_EXPECT(record.payload_size == strlen(text) &&
                            memcmp(record.payload, text, record.payload_size) == 0,
                        "a load answers another record");
        } else {
            atomic_fetch_add(&misses, 1);
            build(shared, &key, number, &state);
        }
        zepi_build_record_finish(&record);
        if (next(&state) % 8 == 0)
            zepi_shared_store_ops.remove(shared, &key);
    }
    return NULL;
}

static void *kill_server(void *user)
{
    (void)user;
    while (atomic_load(&hits) + atomic_load(&misses) < THREADS * ROUNDS_BEFORE_THE_END)
        fixture_sleep_ms(1);
    fixture_redis_stop(&redis);
    return NULL;
}

static void *look(void *user)
{
    char state[ZEPI_SHARED_TEXT_BYTES];
    (void)user;
    while (!atomic_load(&is_over)) {
        zepi_shared_describe(stores[0], state);
        TEST_EXPECT(state[0] != '\0', "the store says nothing of itself");
        fixture_sleep_ms(1);
    }
    return NULL;
}

int main(void)
{
    unsigned numbers[THREADS];
    redis = fixture_redis_start("");
    struct zepi_shared_config config = fixture_config(redis.unix_address);
    config.note = NULL; // that of the fixture is for one thread
    for (int i = 0; i < 2; i++)
        stores[i] = fixture_shared(&config);
    for (unsigned i = 0; i < THREADS; i++)
        numbers[i] = i;
    const pthread_t killer = test_thread_start(kill_server, NULL);
    const pthread_t observer = test_thread_start(look, NULL);
    test_threads_run(THREADS, work, numbers, sizeof(numbers[0]));
    atomic_store(&is_over, true);
    pthread_join(killer, NULL);
    pthread_join(observer, NULL);
    for (int i = 0; i < 2; i++)
        zepi_shared_destroy(stores[i]);
    printf("%u hits, %u misses\n", atomic_load(&hits), atomic_load(&misses));
    TEST_EXPECT(atomic_load(&hits) > THREADS, "hardly anything is found");
    return 0;
}
