// SPDX-License-Identifier: MIT
#include "cache/shared/shared.h"

#include "cache/shared/address.h"
#include "cache/shared/redis.h"
#include "cache/shared/secret.h"
#include "cache/shared/shared_record.h"
#include "core/sys.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define NS_PER_MS INT64_C(1000000)

enum {
    LEAST_KEY_BYTES = 32,
    TOKEN_BYTES = 16,
    FIRST_PAUSE_MS = 10,
    LONGEST_PAUSE_MS = 250,
    // A claim that ends so much earlier than its time was given up.
    CLAIM_SLACK_MS = 100,
};

struct zepi_shared {
    struct zepi_shared_address address;
    struct zepi_shared_limits limits;
    struct zepi_shared_secret key;
    struct zepi_shared_secret password;
    void (*note)(const char *line);
    uint8_t token[TOKEN_BYTES];            // the contents of this process' claims
    _Atomic int64_t rest_until_ns;         // the server is left alone until then
    _Atomic uint64_t claims;               // made and not given back
    _Atomic bool is_refusal_told;          // that claims cannot be given back
    char text[ZEPI_SHARED_TEXT_BYTES / 2]; // the address, for people
};

// ---- Create ----

static struct zepi_shared *refuse(struct zepi_shared *shared, char *out_refusal, const char *what,
                                  const char *path, const char *wrong)
{
    snprintf(out_refusal, ZEPI_SHARED_TEXT_BYTES, "%s%s%s", what, path, wrong);
    zepi_shared_destroy(shared);
    return NULL;
}

struct zepi_shared *zepi_shared_create(const struct zepi_shared_config *config,
                                       char out_refusal[ZEPI_SHARED_TEXT_BYTES])
{
    struct zepi_shared *shared = zepi_sys_allocate(sizeof(*shared));
    if (!shared)
        return refuse(NULL, out_refusal, "no memory", "", "");
    *shared = (struct zepi_shared){.limits = config->limits, .note = config->note};
    snprintf(shared->text, sizeof(shared->text), "%s", config->address);
    const char *wrong = zepi_shared_address_parse(config->address, &shared->address);
    if (wrong)
        return refuse(shared, out_refusal, wrong, "", "");
    if (config->key_file[0]) {
        wrong = zepi_shared_secret_read(config->key_file, &shared->key);
        if (!wrong && shared->key.size < LEAST_KEY_BYTES)
            wrong = "expected a key of 32 bytes or more";
        if (wrong)
            return refuse(shared, out_refusal, config->key_file, ": ", wrong);
    } else if (!shared->address.is_unix) {
        return refuse(
            shared, out_refusal,
            "a server that is reached over TCP needs a key, since the code in its records "
            "is run: name a file in ZEPI_CACHE_SHARED_KEY_FILE",
            "", "");
    }
    if (config->password_file[0]) {
        wrong = zepi_shared_secret_read(config->password_file, &shared->password);
        if (wrong)
            return refuse(shared, out_refusal, config->password_file, ": ", wrong);
        zepi_shared_secret_cut_line(&shared->password);
    }
    if (getrandom(shared->token, sizeof(shared->token), 0) != sizeof(shared->token))
        return refuse(shared, out_refusal, "no random numbers", "", "");
    return shared;
}

void zepi_shared_destroy(struct zepi_shared *shared)
{
    if (!shared)
        return;
    zepi_shared_secret_finish(&shared->key);
    zepi_shared_secret_finish(&shared->password);
    zepi_sys_free(shared);
}

// ---- A session: one operation on one key ----

struct session {
    struct zepi_shared *shared;
    const struct zepi_key *key;
    struct zepi_redis redis;
    char record_name[64];
    char claim_name[64];
    bool is_told; // that the record is not sound
};

static void sleep_ms(int64_t ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS};
    nanosleep(&time, NULL);
}

static void session_begin_operation(struct session *session)
{
    zepi_redis_begin(&session->redis, session->shared->limits.operation_ms);
}

// To be ended in any case. Returns false if the server is left alone or cannot be reached.
static bool session_begin(struct session *session, struct zepi_shared *shared,
                          const struct zepi_key *key)
{
    const struct zepi_digest digest = zepi_key_digest(key);
    *session = (struct session){.shared = shared, .key = key, .redis = {.socket = -1}};
    snprintf(session->record_name, sizeof(session->record_name), "zepi%d:%016" PRIx64 "%016" PRIx64,
             ZEPI_DISK_FORMAT_VERSION, digest.high, digest.low);
    snprintf(session->claim_name, sizeof(session->claim_name), "%.48s:claim", session->record_name);
    // Relaxed: a thread that sees an old time asks once more.
    return zepi_redis_now_ns() >=
               atomic_load_explicit(&shared->rest_until_ns, memory_order_relaxed) &&
           zepi_redis_open(&session->redis, &shared->address, &shared->password,
                           shared->limits.connect_ms, shared->limits.operation_ms);
}

static void session_note(const struct session *session, const char *what)
{
    char line[ZEPI_SHARED_TEXT_BYTES];
    snprintf(line, sizeof(line), "shared store %s: %s", session->shared->text, what);
    if (session->shared->note)
        session->shared->note(line);
}

static void session_end(struct session *session)
{
    struct zepi_shared *shared = session->shared;
    char what[sizeof(session->redis.trouble) + 40];
    zepi_redis_close(&session->redis);
    if (!session->redis.trouble[0])
        return;
    atomic_store_explicit(&shared->rest_until_ns,
                          zepi_redis_now_ns() + shared->limits.rest_ms * NS_PER_MS,
                          memory_order_relaxed);
    snprintf(what, sizeof(what), "%s; it is left alone for %d s", session->redis.trouble,
             (shared->limits.rest_ms + 999) / 1000);
    session_note(session, what);
}

// ---- Records ----

enum found {
    FOUND,
    MISSING,
    TROUBLE, // nothing more can be asked
};

static bool record_is_of_key(const struct zepi_disk_record_view *view, const struct zepi_key *key)
{
    return view->key_size == key->size && memcmp(view->key, key->bytes, key->size) == 0;
}

// The record of the server, with storage of its own. False: it is not sound, or there is no
// memory.
static bool session_take(const struct session *session, const redisReply *reply,
                         struct zepi_build_record *out_record)
{
    struct zepi_disk_record_view view;
    const uint8_t *bytes = (const uint8_t *)reply->str;
    if (!zepi_shared_record_decode(&session->shared->key, bytes, reply->len, &view) ||
        !record_is_of_key(&view, session->key))
        return false;
    // Its payload has to be aligned.
    uint8_t *copy = zepi_sys_allocate(reply->len - ZEPI_SHARED_MAC_BYTES);
    if (!copy)
        return false;
    memcpy(copy, bytes + ZEPI_SHARED_MAC_BYTES, reply->len - ZEPI_SHARED_MAC_BYTES);
    const uint8_t *old = bytes + ZEPI_SHARED_MAC_BYTES;
    *out_record = view.record;
    out_record->payload = copy + ((const uint8_t *)view.record.payload - old);
    out_record->log = (const char *)copy + ((const uint8_t *)view.record.log - old);
    out_record->storage = copy;
    return true;
}

// Of a record that is damaged, or was made with another secret: a miss, told once.
static enum found session_get(struct session *session, struct zepi_build_record *out_record)
{
    const struct zepi_redis_word words[] = {ZEPI_REDIS_TEXT("GET"),
                                            ZEPI_REDIS_TEXT(session->record_name)};
    redisReply *reply = zepi_redis_ask(&session->redis, REDIS_REPLY_STRING, 2, words);
    if (!reply)
        return TROUBLE;
    const bool is_there = reply->type == REDIS_REPLY_STRING;
    const bool is_taken = is_there && session_take(session, reply, out_record);
    freeReplyObject(reply);
    if (is_there && !is_taken && !session->is_told) {
        session_note(session, "a record is damaged, or was made with another key; it is replaced");
        session->is_told = true;
    }
    return is_taken ? FOUND : MISSING;
}

// ---- Claims ----

enum claim { CLAIM_MINE, CLAIM_OF_ANOTHER, CLAIM_TROUBLE };

static struct zepi_redis_word session_token(const struct session *session)
{
    return (struct zepi_redis_word){session->shared->token, TOKEN_BYTES};
}

static enum claim session_claim(struct session *session)
{
    char time[16];
    snprintf(time, sizeof(time), "%d", session->shared->limits.claim_ms);
    const struct zepi_redis_word words[] = {
        ZEPI_REDIS_TEXT("SET"), ZEPI_REDIS_TEXT(session->claim_name),
        session_token(session), ZEPI_REDIS_TEXT("NX"),
        ZEPI_REDIS_TEXT("PX"),  ZEPI_REDIS_TEXT(time)};
    redisReply *reply = zepi_redis_ask(&session->redis, REDIS_REPLY_STATUS, 6, words);
    if (!reply)
        return CLAIM_TROUBLE;
    const bool is_mine = reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    if (is_mine)
        atomic_fetch_add_explicit(&session->shared->claims, 1, memory_order_relaxed);
    return is_mine ? CLAIM_MINE : CLAIM_OF_ANOTHER;
}

// Gives this process' claim back, if it has not ended by its time: in one step, so that the claim
// that another process made meanwhile stays. A server that refuses the step is no trouble: the
// claim ends by its time.
static void session_release_claim(struct session *session)
{
    const struct zepi_redis_word words[] = {
        ZEPI_REDIS_TEXT("EVAL"),
        ZEPI_REDIS_TEXT("if redis.call('GET', KEYS[1]) == ARGV[1] then "
                        "return redis.call('DEL', KEYS[1]) else return 0 end"),
        ZEPI_REDIS_TEXT("1"), ZEPI_REDIS_TEXT(session->claim_name), session_token(session)};
    struct zepi_shared *shared = session->shared;
    struct zepi_redis *redis = &session->redis;
    const bool had_trouble = redis->trouble[0];
    redisReply *reply = zepi_redis_ask(redis, REDIS_REPLY_INTEGER, 5, words);
    if (reply && reply->type == REDIS_REPLY_INTEGER && reply->integer == 1)
        atomic_fetch_sub_explicit(&shared->claims, 1, memory_order_relaxed);
    freeReplyObject(reply);
    // An error with the connection still there: the server refused.
    if (reply || redis->socket < 0 || had_trouble)
        return;
    if (!atomic_exchange_explicit(&shared->is_refusal_told, true, memory_order_relaxed))
        session_note(session, "it refuses EVAL; claims end by their time");
    redis->trouble[0] = '\0';
}

// How long the claim still holds, in *out_ms; below 0: there is none. False: trouble.
static bool session_ask_time(struct session *session, int64_t *out_ms)
{
    const struct zepi_redis_word words[] = {ZEPI_REDIS_TEXT("PTTL"),
                                            ZEPI_REDIS_TEXT(session->claim_name)};
    redisReply *reply = zepi_redis_ask(&session->redis, REDIS_REPLY_INTEGER, 2, words);
    if (!reply)
        return false;
    *out_ms = reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
    freeReplyObject(reply);
    return true;
}

enum wait {
    WAIT_FOUND,
    WAIT_EXPIRED, // the builder died, or takes longer than its claim
    WAIT_OVER,    // there will be no record, or not in time
};

// Waits for the record of another process' claim.
static enum wait session_wait(struct session *session, int64_t give_up_ms,
                              struct zepi_build_record *out_record)
{
    int64_t pause_ms = FIRST_PAUSE_MS;
    // Between these the claim ends; 0: not known yet. A thread may sleep between command and
    // reply.
    int64_t first_end_ms = 0;
    int64_t last_end_ms = 0;
    for (;;) {
        int64_t left_ms;
        session_begin_operation(session);
        const int64_t asked_ms = zepi_redis_now_ns() / NS_PER_MS;
        // The claim before the record: a record that is stored in between is found.
        if (!session_ask_time(session, &left_ms))
            return WAIT_OVER;
        const enum found found = session_get(session, out_record);
        if (found != MISSING)
            return found == FOUND ? WAIT_FOUND : WAIT_OVER;
        const int64_t now_ms = zepi_redis_now_ns() / NS_PER_MS;
        if (left_ms < 0)
            return first_end_ms == 0 || now_ms >= first_end_ms - CLAIM_SLACK_MS ? WAIT_EXPIRED
                                                                                : WAIT_OVER;
        const int64_t end_ms = asked_ms + left_ms;
        const bool is_another = end_ms > last_end_ms + CLAIM_SLACK_MS;
        // Another one's claim by now, while that of the first had time left.
        if (first_end_ms > 0 && is_another &&
            end_ms - session->shared->limits.claim_ms < first_end_ms - CLAIM_SLACK_MS)
            return WAIT_OVER;
        if (is_another) {
            first_end_ms = end_ms;
            last_end_ms = now_ms + left_ms;
        }
        if (now_ms >= give_up_ms) {
            // A server that says this of every key costs this once, too.
            snprintf(session->redis.trouble, sizeof(session->redis.trouble),
                     "a build by another process took too long");
            return WAIT_OVER;
        }
        sleep_ms(pause_ms);
        pause_ms = pause_ms * 2 < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS;
    }
}

// Finds the record, now or once another process has built it. False: the caller builds, with the
// claim if it is to be had.
static bool session_find(struct session *session, struct zepi_build_record *out_record)
{
    const int64_t give_up_ms =
        zepi_redis_now_ns() / NS_PER_MS + 2 * (int64_t)session->shared->limits.claim_ms;
    enum found found = session_get(session, out_record);
    while (found == MISSING && zepi_redis_now_ns() / NS_PER_MS < give_up_ms) {
        const enum claim claim = session_claim(session);
        if (claim == CLAIM_TROUBLE)
            return false;
        if (claim == CLAIM_MINE) {
            // The last builder may have stored it just before it gave its claim back.
            found = session_get(session, out_record);
            if (found == FOUND)
                session_release_claim(session);
            return found == FOUND;
        }
        const enum wait wait = session_wait(session, give_up_ms, out_record);
        if (wait != WAIT_EXPIRED)
            return wait == WAIT_FOUND;
        // For a server that never gives a claim.
        sleep_ms(FIRST_PAUSE_MS);
        session_begin_operation(session);
    }
    return found == FOUND;
}

// ---- The operations ----

static bool shared_load(void *self, const struct zepi_key *key,
                        struct zepi_build_record *out_record)
{
    struct session session;
    const bool is_found = session_begin(&session, self, key) && session_find(&session, out_record);
    session_end(&session);
    return is_found;
}

static void shared_store(void *self, const struct zepi_key *key,
                         const struct zepi_build_record *record)
{
    const struct zepi_shared *shared = self;
    struct session session;
    size_t size = 0;
    uint8_t *bytes = zepi_shared_record_encode(&shared->key, key, record, &size);
    if (session_begin(&session, self, key)) {
        const struct zepi_redis_word words[] = {
            ZEPI_REDIS_TEXT("SET"), ZEPI_REDIS_TEXT(session.record_name), {bytes, size}};
        if (bytes)
            zepi_redis_do(&session.redis, REDIS_REPLY_STATUS, 3, words);
        // Also if the server refused the record: no process is to wait for it.
        session_release_claim(&session);
    }
    session_end(&session);
    zepi_sys_free(bytes);
}

static void shared_abandon(void *self, const struct zepi_key *key)
{
    struct zepi_shared *shared = self;
    struct session session;
    if (atomic_load_explicit(&shared->claims, memory_order_relaxed) == 0)
        return;
    if (session_begin(&session, shared, key))
        session_release_claim(&session);
    session_end(&session);
}

static void shared_remove(void *self, const struct zepi_key *key)
{
    struct session session;
    if (session_begin(&session, self, key)) {
        const struct zepi_redis_word words[] = {ZEPI_REDIS_TEXT("DEL"),
                                                ZEPI_REDIS_TEXT(session.record_name)};
        zepi_redis_do(&session.redis, REDIS_REPLY_INTEGER, 2, words);
    }
    session_end(&session);
}

const struct zepi_build_store_ops zepi_shared_store_ops = {
    .load = shared_load,
    .store = shared_store,
    .abandon = shared_abandon,
    .remove = shared_remove,
};

void zepi_shared_describe(const struct zepi_shared *shared, char out_state[ZEPI_SHARED_TEXT_BYTES])
{
    const struct zepi_redis_word words[] = {ZEPI_REDIS_TEXT("PING")};
    struct zepi_redis redis;
    if (zepi_redis_open(&redis, &shared->address, &shared->password, shared->limits.connect_ms,
                        shared->limits.operation_ms))
        zepi_redis_do(&redis, REDIS_REPLY_STATUS, 1, words);
    zepi_redis_close(&redis);
    snprintf(out_state, ZEPI_SHARED_TEXT_BYTES, "%s", redis.trouble[0] ? redis.trouble : "usable");
}
