// SPDX-License-Identifier: MIT
//
// The shared store with a real server.
#include "cache_fixture.h"
#include "core/sys.h"
#include "shared_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(shared, .timeout = 120);

static struct fixture_redis redis;

static struct zepi_shared *over_socket(void)
{
    const struct zepi_shared_config config = fixture_config(redis.unix_address);
    return fixture_shared(&config);
}

static struct zepi_shared *over_tcp(uint8_t key)
{
    struct zepi_shared_config config = fixture_config(redis.tcp_address);
    config.key_file = fixture_key_file("key", key);
    return fixture_shared(&config);
}

// ---- Records ----

Test(shared, keeps_records_over_both_transports)
{
    redis = fixture_redis_start("");
    for (int i = 0; i < 2; i++) {
        struct zepi_shared *first = i ? over_tcp(1) : over_socket();
        struct zepi_shared *second = i ? over_tcp(1) : over_socket();
        cr_assert_not(fixture_loads(first, 1));
        fixture_store(first, 1, "machine code");
        cr_assert(fixture_load_is(second, 1, "machine code"));
        cr_assert(fixture_load_is(first, 1, "machine code"));
        cr_assert_not(fixture_loads(first, 2));
        cr_assert_eq(fixture_note_count, i == 0 ? 0 : 1, "%s", fixture_last_note);
        struct zepi_key key;
        fixture_key(&key, 1);
        zepi_shared_store_ops.remove(second, &key);
        cr_assert_not(fixture_loads(first, 1));
        zepi_shared_destroy(first);
        zepi_shared_destroy(second);
        // The record of the socket, which has no key, is none over TCP.
        first = over_socket();
        fixture_store(first, 1, "without a key");
        zepi_shared_destroy(first);
    }
    fixture_redis_stop(&redis);
}

Test(shared, keeps_large_records)
{
    redis = fixture_redis_start("");
    struct zepi_shared *shared = over_tcp(1);
    const size_t size = 5 * 1000 * 1000;
    char *text = malloc(size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    fixture_store(shared, 1, text);
    cr_assert(fixture_load_is(shared, 1, text), "%s", fixture_last_note);
    free(text);
    zepi_shared_destroy(shared);
    fixture_redis_stop(&redis);
}

Test(shared, logs_in_and_uses_a_database)
{
    char state[ZEPI_SHARED_TEXT_BYTES];
    char address[512];
    redis =
        fixture_redis_start("--requirepass word --user zepi on '>other' '~zepi1:*' -@all +get +set "
                            "+del +rename +pexpire +exists +eval +ping +select");
    struct zepi_shared_config config = fixture_config(redis.unix_address);
    struct zepi_shared *shared = fixture_shared(&config);
    zepi_shared_describe(shared, state);
    cr_assert(strstr(state, "the server says: NOAUTH"), "%s", state);
    zepi_shared_destroy(shared);

    config.password_file = fixture_write_file("wrong", "xyz", 3);
    shared = fixture_shared(&config);
    zepi_shared_describe(shared, state);
    cr_assert(strstr(state, "the server says: WRONGPASS"), "%s", state);
    zepi_shared_destroy(shared);

    config.password_file = fixture_write_file("password", "word\n", 5);
    shared = fixture_shared(&config);
    zepi_shared_describe(shared, state);
    cr_assert_str_eq(state, "usable");
    fixture_store(shared, 1, "text");
    cr_assert(fixture_load_is(shared, 1, "text"));
    zepi_shared_destroy(shared);

    snprintf(address, sizeof(address), "redis+unix://zepi@%s?db=3",
             strchr(redis.unix_address, '/') + 2);
    config.address = address;
    config.password_file = fixture_write_file("other", "other\n", 6);
    shared = fixture_shared(&config);
    zepi_shared_describe(shared, state);
    cr_assert_str_eq(state, "usable");
    cr_assert_not(fixture_loads(shared, 1), "the record of another database");
    fixture_store(shared, 1, "text");
    cr_assert(fixture_load_is(shared, 1, "text"));
    zepi_shared_destroy(shared);
    fixture_redis_stop(&redis);
}

// What the server has under a key, exchanged for other bytes.
static void plant(uint64_t number, const void *bytes, size_t size)
{
    struct zepi_key key;
    fixture_key(&key, number);
    const struct zepi_digest digest = zepi_key_digest(&key);
    redisContext *connection = redisConnectUnix(strchr(redis.unix_address, '/') + 2);
    cr_assert(connection && connection->err == 0);
    redisReply *reply =
        redisCommand(connection, "SET zepi1:%016llx%016llx %b", (unsigned long long)digest.high,
                     (unsigned long long)digest.low, bytes, size);
    cr_assert(reply && reply->type == REDIS_REPLY_STATUS);
    freeReplyObject(reply);
    redisFree(connection);
}

// A planted record is a miss that is told, and the next store puts it right.
static void expect_replaced(struct zepi_shared *shared, const void *bytes, size_t size)
{
    plant(1, bytes, size);
    atomic_store(&fixture_note_count, 0);
    cr_assert_not(fixture_loads(shared, 1));
    cr_assert_eq(fixture_note_count, 1);
    cr_assert(strstr(fixture_last_note, "is damaged, or was made with another key"));
    fixture_store(shared, 1, "right");
    cr_assert(fixture_load_is(shared, 1, "right"));
}

Test(shared, takes_no_record_that_is_damaged_cut_short_or_foreign)
{
    const struct zepi_build_record record = {
        .payload = "right", .payload_size = 5, .log = "a log", .log_size = 5};
    struct zepi_shared_secret secret = {.size = 32};
    struct zepi_key keys[2];
    size_t size;
    redis = fixture_redis_start("");
    struct zepi_shared *shared = over_tcp(1);
    fixture_key(&keys[0], 1);
    fixture_key(&keys[1], 2);
    memset(secret.bytes, 1, 32);
    uint8_t *bytes = zepi_shared_record_encode(&secret, &keys[0], &record, &size);
    plant(1, bytes, size);
    cr_assert(fixture_load_is(shared, 1, "right"), "a sound record is not taken");
    for (size_t at = 0; at < size; at += 29) {
        bytes[at] ^= 1;
        expect_replaced(shared, bytes, size);
        bytes[at] ^= 1;
    }
    expect_replaced(shared, bytes, size - 1);
    expect_replaced(shared, bytes, 10);
    expect_replaced(shared, "", 0);
    zepi_sys_free(bytes);
    // Of another key, under this name.
    bytes = zepi_shared_record_encode(&secret, &keys[1], &record, &size);
    expect_replaced(shared, bytes, size);
    zepi_sys_free(bytes);
    // Of a writer without the key, or with another.
    secret.bytes[31] = 2;
    bytes = zepi_shared_record_encode(&secret, &keys[0], &record, &size);
    expect_replaced(shared, bytes, size);
    zepi_sys_free(bytes);
    secret.size = 0;
    bytes = zepi_shared_record_encode(&secret, &keys[0], &record, &size);
    expect_replaced(shared, bytes, size);
    zepi_sys_free(bytes);
    zepi_shared_destroy(shared);
    fixture_redis_stop(&redis);
}

// ---- One builds, the others wait ----

// In memory that all processes of a test share.
static struct counts {
    atomic_int begun;
    atomic_int builds;
    atomic_int results;
    atomic_int first_pid;
} * counts;

static enum zepi_build_status status;
static unsigned build_ms;

static void count_build(void *unused)
{
    (void)unused;
    if (atomic_fetch_add(&counts->begun, 1) == 0)
        atomic_store(&counts->first_pid, getpid());
    fixture_sleep_ms(build_ms);
    atomic_fetch_add(&counts->builds, 1);
}

// A process of its own, with an empty cache and no disk.
static _Noreturn void run_process(const struct zepi_shared_config *config)
{
    char refusal[ZEPI_SHARED_TEXT_BYTES];
    struct zepi_shared *shared = zepi_shared_create(config, refusal);
    const struct zepi_build_store store = {
        .ops = &zepi_shared_store_ops, .self = shared, .make_payload = fixture_make_payload};
    struct fixture_build build = {
        .status = status, .text = "machine code", .log = "a log", .inside = count_build};
    struct fixture_cache both =
        fixture_cache_create(ZEPI_BUILD_UNLIMITED, ZEPI_BUILD_UNLIMITED, &store);
    struct zepi_build_result *result = NULL;
    fixture_ask(both.cache, 1, &build, &result);
    const bool is_right =
        status != ZEPI_BUILD_SUCCEEDED || strcmp(fixture_text(result), "machine code") == 0;
    counts->results += is_right;
    zepi_build_result_release(result);
    fixture_cache_destroy(&both);
    zepi_shared_destroy(shared);
    _exit(is_right ? 0 : 1);
}

enum { PROCESSES = 16 };

static void start_processes(const struct zepi_shared_config *config, pid_t *processes, int count)
{
    counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(counts, MAP_FAILED);
    for (int i = 0; i < count; i++) {
        processes[i] = fork();
        if (processes[i] == 0)
            run_process(config);
    }
}

// Waits for them, and returns how many were killed.
static int wait_for_processes(const pid_t *processes, int count)
{
    int killed = 0;
    for (int i = 0; i < count; i++) {
        int how;
        cr_assert_eq(waitpid(processes[i], &how, 0), processes[i]);
        killed += WIFSIGNALED(how);
        cr_assert(WIFSIGNALED(how) || WEXITSTATUS(how) == 0);
    }
    return killed;
}

static void wait_for_a_build(void)
{
    while (counts->first_pid == 0)
        fixture_sleep_ms(2);
}

Test(shared, lets_one_of_sixteen_processes_build)
{
    pid_t processes[PROCESSES];
    redis = fixture_redis_start("");
    struct zepi_shared_config config = fixture_config(redis.unix_address);
    build_ms = 300;
    for (int i = 0; i < 2; i++) {
        if (i == 1) {
            config.address = redis.tcp_address;
            config.key_file = fixture_key_file("key", 1);
        }
        start_processes(&config, processes, PROCESSES);
        cr_assert_eq(wait_for_processes(processes, PROCESSES), 0);
        cr_assert_eq(counts->builds, 1);
        cr_assert_eq(counts->results, PROCESSES);
    }
    fixture_redis_stop(&redis);
}

Test(shared, lets_another_build_once_the_claim_of_a_dead_builder_ends)
{
    pid_t processes[PROCESSES];
    redis = fixture_redis_start("");
    struct zepi_shared_config config = fixture_config(redis.unix_address);
    config.limits.claim_ms = 3000;
    build_ms = 500;
    const uint64_t begin_ms = fixture_now_ms();
    start_processes(&config, processes, PROCESSES);
    wait_for_a_build();
    kill(counts->first_pid, SIGKILL);
    cr_assert_eq(wait_for_processes(processes, PROCESSES), 1);
    cr_assert_geq(fixture_now_ms() - begin_ms, 2900);
    cr_assert_eq(counts->begun, 2);
    cr_assert_eq(counts->builds, 1);
    cr_assert_eq(counts->results, PROCESSES - 1);
    fixture_redis_stop(&redis);
}

Test(shared, keeps_nobody_waiting_for_a_build_that_failed)
{
    pid_t processes[PROCESSES];
    redis = fixture_redis_start("");
    const struct zepi_shared_config config = fixture_config(redis.unix_address);
    status = ZEPI_BUILD_FAILED;
    build_ms = 1000;
    const uint64_t begin_ms = fixture_now_ms();
    start_processes(&config, processes, 8);
    cr_assert_eq(wait_for_processes(processes, 8), 0);
    cr_assert_eq(counts->builds, 8);
    // The first, then the others at once: not one after the other.
    cr_assert_lt(fixture_now_ms() - begin_ms, 6000);
    fixture_redis_stop(&redis);
}

// ---- Claims ----

// Sends a command for a claim over a connection beside those of the stores. `value`: or NULL.
static redisReply *ask(const char *command, uint64_t number, const char *value)
{
    struct zepi_key key;
    fixture_key(&key, number);
    const struct zepi_digest digest = zepi_key_digest(&key);
    char name[64];
    snprintf(name, sizeof(name), "zepi1:%016" PRIx64 "%016" PRIx64 ":claim", digest.high,
             digest.low);
    const char *words[] = {command, name, value};
    redisContext *connection = redisConnectUnix(strchr(redis.unix_address, '/') + 2);
    cr_assert(connection && connection->err == 0);
    redisReply *reply = redisCommandArgv(connection, value ? 3 : 2, words, NULL);
    cr_assert_not_null(reply);
    redisFree(connection);
    return reply;
}

static bool has_claim_of_another(uint64_t number)
{
    redisReply *reply = ask("GET", number, NULL);
    const bool is_it = reply->type == REDIS_REPLY_STRING && strcmp(reply->str, "another") == 0;
    freeReplyObject(reply);
    return is_it;
}

static int sends_before; // the other process claims the key

static int claim_for_another(enum zepi_sys_call call)
{
    if (call == ZEPI_SYS_SEND && sends_before-- == 0)
        freeReplyObject(ask("SET", 1, "another"));
    return 0;
}

Test(shared, leaves_a_claim_that_another_process_made_between_its_commands)
{
    redis = fixture_redis_start("");
    struct zepi_shared *shared = over_socket();
    for (int n = 0; sends_before < 0 || n == 0; n++) {
        struct zepi_build_record record = {0};
        struct zepi_key key;
        fixture_key(&key, 1);
        freeReplyObject(ask("DEL", 1, NULL));
        zepi_shared_store_ops.remove(shared, &key);
        cr_assert_not(zepi_shared_store_ops.load(shared, &key, &record));
        sends_before = n;
        zepi_sys_set_hook(claim_for_another);
        fixture_store(shared, 1, "text");
        zepi_sys_set_hook(NULL);
        cr_assert(sends_before >= 0 || has_claim_of_another(1), "claimed before command %d", n + 1);
    }
    cr_assert_eq(fixture_note_count, 0, "%s", fixture_last_note);
    zepi_shared_destroy(shared);
    fixture_redis_stop(&redis);
}

Test(shared, lets_claims_end_by_their_time_if_the_server_forbids_scripts)
{
    redis = fixture_redis_start("--user default on nopass '~zepi1:*' -@all +get +set +del "
                                "+exists +ping +select");
    struct zepi_shared_config config = fixture_config(redis.unix_address);
    config.limits.claim_ms = 2000;
    struct zepi_shared *first = fixture_shared(&config);
    struct zepi_shared *second = fixture_shared(&config);
    // A build that fails: another store has the claim only once its time is over.
    const uint64_t begin_ms = fixture_now_ms();
    cr_assert_not(fixture_loads(first, 1));
    cr_assert_not(fixture_loads(second, 1));
    cr_assert_geq(fixture_now_ms() - begin_ms, 1900);
    // The server is not left alone.
    for (uint64_t number = 2; number < 5; number++) {
        cr_assert_not(fixture_loads(first, number));
        fixture_store(first, number, "text");
        cr_assert(fixture_load_is(second, number, "text"));
    }
    cr_assert_eq(fixture_note_count, 0, "%s", fixture_last_note);
    zepi_shared_destroy(first);
    zepi_shared_destroy(second);
    fixture_redis_stop(&redis);
}

// ---- A server that dies ----

Test(shared, builds_everywhere_when_the_server_dies)
{
    pid_t processes[PROCESSES];
    redis = fixture_redis_start("");
    const struct zepi_shared_config config = fixture_config(redis.unix_address);
    build_ms = 1000;
    const uint64_t begin_ms = fixture_now_ms();
    start_processes(&config, processes, PROCESSES);
    wait_for_a_build();
    fixture_redis_stop(&redis);
    cr_assert_eq(wait_for_processes(processes, PROCESSES), 0);
    cr_assert_eq(counts->results, PROCESSES);
    cr_assert_lt(fixture_now_ms() - begin_ms, (uint64_t)config.limits.claim_ms);
}

Test(shared, asks_a_server_that_came_back)
{
    redis = fixture_redis_start("");
    struct zepi_shared_config config = fixture_config(redis.unix_address);
    config.limits.backoff_ms = 1;
    struct zepi_shared *shared = fixture_shared(&config);
    fixture_redis_stop(&redis);
    cr_assert_not(fixture_loads(shared, 1));
    cr_assert_eq(fixture_note_count, 1);
    redis = fixture_redis_start("");
    fixture_sleep_ms(2);
    fixture_store(shared, 1, "text");
    cr_assert(fixture_load_is(shared, 1, "text"));
    zepi_shared_destroy(shared);
    fixture_redis_stop(&redis);
}

// ---- A server without room ----

enum { TEXTS = 60, TEXT_BYTES = 200 * 1000 };

static const char *long_text(void)
{
    static char text[TEXT_BYTES + 1];
    memset(text, 'x', TEXT_BYTES);
    return text;
}

Test(shared, takes_a_record_that_the_server_evicted_for_a_miss)
{
    int hits = 0;
    redis = fixture_redis_start("--maxmemory 6mb --maxmemory-policy allkeys-lru");
    struct zepi_shared *shared = over_socket();
    for (uint64_t number = 0; number < TEXTS; number++)
        fixture_store(shared, number, long_text());
    for (uint64_t number = 0; number < TEXTS; number++)
        hits += fixture_load_is(shared, number, long_text());
    cr_assert(hits > 0 && hits < TEXTS, "%d hits", hits);
    cr_assert_eq(fixture_note_count, 0, "%s", fixture_last_note);
    zepi_shared_destroy(shared);
    fixture_redis_stop(&redis);
}

Test(shared, leaves_a_full_server_alone)
{
    redis = fixture_redis_start("--maxmemory 6mb --maxmemory-policy noeviction");
    struct zepi_shared *shared = over_socket();
    for (uint64_t number = 100; number < 100 + TEXTS; number++)
        fixture_store(shared, number, long_text());
    cr_assert_eq(fixture_note_count, 1);
    cr_assert(strstr(fixture_last_note, "the server says: OOM"), "%s", fixture_last_note);
    zepi_shared_destroy(shared);
    // Other processes do not wait either.
    pid_t processes[PROCESSES];
    const struct zepi_shared_config config = fixture_config(redis.unix_address);
    const uint64_t begin_ms = fixture_now_ms();
    build_ms = 100;
    start_processes(&config, processes, PROCESSES);
    cr_assert_eq(wait_for_processes(processes, PROCESSES), 0);
    cr_assert_eq(counts->results, PROCESSES);
    cr_assert_lt(fixture_now_ms() - begin_ms, (uint64_t)config.limits.claim_ms);
    fixture_redis_stop(&redis);
}

// ---- Faults ----

// Whichever call fails, the operation ends, and the next one is right.
static void walk(struct zepi_shared *shared, unsigned mask, int error)
{
    bool was_met = true;
    for (int n = 1; was_met; n++) {
        fixture_fault(mask, n, error, FIXTURE_FAULT_ONCE);
        (void)fixture_loads(shared, 1);
        fixture_store(shared, 1, "text");
        (void)fixture_loads(shared, 1);
        was_met = fixture_fault_end();
        fixture_sleep_ms(2);
        fixture_store(shared, 1, "text");
        cr_assert(fixture_load_is(shared, 1, "text"), "after call %d: %s", n, fixture_last_note);
        struct zepi_key key;
        fixture_key(&key, 1);
        zepi_shared_store_ops.remove(shared, &key);
    }
}

Test(shared, survives_the_failure_of_any_call)
{
    redis = fixture_redis_start("");
    struct zepi_shared_config config = fixture_config(redis.unix_address);
    config.limits.claim_ms = 200;
    config.limits.backoff_ms = 1;
    struct zepi_shared *shared = fixture_shared(&config);
    walk(shared, FIXTURE_FAULT_ALLOCATIONS, ENOMEM);
    walk(shared, FIXTURE_FAULT_FILES, EIO);
    walk(shared, 1u << ZEPI_SYS_SEND, EAGAIN);
    zepi_shared_destroy(shared);
    for (int n = 1; n < 4; n++) {
        char refusal[ZEPI_SHARED_TEXT_BYTES];
        config.key_file = fixture_key_file("key", 1);
        fixture_fault(~0u, n, EIO, FIXTURE_FAULT_ONCE);
        cr_assert_null(zepi_shared_create(&config, refusal));
        cr_assert(fixture_fault_end() && refusal[0]);
    }
    fixture_redis_stop(&redis);
}
