// SPDX-License-Identifier: MIT
#include "cache/shared/shared.h"

#include "core/sys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define NS_PER_MS UINT64_C(1000000)
#define MOST_REPLY_BYTES (ZEPI_SHARED_MAX_RECORD_BYTES + 64) // a record and its frame

enum {
    LEAST_KEY_BYTES = 32,
    FIRST_PAUSE_MS = 10,
    LONGEST_PAUSE_MS = 250,
    // Of the sign that a claim was given up, which all that wait for it see meanwhile.
    GIVEN_UP_MS = 2000,
};

struct zepi_shared {
    struct zepi_shared_address address;
    struct zepi_shared_limits limits;
    struct zepi_shared_secret key;
    struct zepi_shared_secret password;
    void (*note)(const char *line);
    uint8_t token[16];                     // the contents of this process' claims
    atomic_uint_fast64_t backoff_until_ns; // the server is left alone until then
};

// ---- Create ----

// Returns NULL or the reason of a refusal, in *out_file of which file.
static const char *configure(struct zepi_shared *shared, const struct zepi_shared_config *config,
                             const char **out_file)
{
    const char *wrong = zepi_shared_address_parse(config->address, &shared->address);
    if (wrong)
        return wrong;
    if (!config->key_file[0] && !shared->address.is_unix)
        return "a server that is reached over TCP needs a key, since the code in its records is "
               "run: name a file in ZEPI_CACHE_SHARED_KEY_FILE";
    *out_file = config->key_file;
    if (config->key_file[0])
        wrong = zepi_shared_secret_read(config->key_file, &shared->key);
    if (wrong || (config->key_file[0] && shared->key.size < LEAST_KEY_BYTES))
        return wrong ? wrong : "expected a key of 32 bytes or more";
    *out_file = config->password_file;
    if (config->password_file[0])
        wrong = zepi_shared_secret_read(config->password_file, &shared->password);
    const uint8_t *end = memchr(shared->password.bytes, '\n', shared->password.size);
    if (end)
        shared->password.size = (size_t)(end - shared->password.bytes);
    if (!wrong && getrandom(shared->token, sizeof(shared->token), 0) != sizeof(shared->token))
        return "no random numbers";
    return wrong;
}

struct zepi_shared *zepi_shared_create(const struct zepi_shared_config *config,
                                       char out_refusal[ZEPI_SHARED_TEXT_BYTES])
{
    struct zepi_shared *shared = zepi_sys_allocate(sizeof(*shared));
    const char *file = "";
    const char *wrong = "no memory";
    if (shared) {
        *shared = (struct zepi_shared){.limits = config->limits, .note = config->note};
        wrong = configure(shared, config, &file);
    }
    if (!wrong)
        return shared;
    snprintf(out_refusal, ZEPI_SHARED_TEXT_BYTES, "%s%s%s", file, file[0] ? ": " : "", wrong);
    zepi_shared_destroy(shared);
    return NULL;
}

void zepi_shared_destroy(struct zepi_shared *shared)
{
    if (!shared)
        return;
    explicit_bzero(shared, sizeof(*shared));
    zepi_sys_free(shared);
}

// ---- A session: a connection for one operation ----

// hiredis' own commands limit each read and not the whole, and let a server that is gone end the
// process by SIGPIPE: commands are sent here.
struct session {
    struct zepi_shared *shared;
    redisContext *context; // owned; NULL: no connection
    uint64_t deadline_ns;
    char trouble[192]; // the first failure, for people; "": none
    const struct zepi_key *key;
    char name[64]; // of the record; that of the claim has ":claim" behind it
    bool is_told;  // that the record is not sound
};

static void session_fail(struct session *session, const char *what, const char *detail)
{
    if (!session->trouble[0])
        snprintf(session->trouble, sizeof(session->trouble), "%s%s%s", what, detail[0] ? ": " : "",
                 detail);
    // A server's words go to a terminal.
    for (char *at = session->trouble; *at; at++) {
        if (!isprint((unsigned char)*at))
            *at = '?';
    }
}

// In the middle of a command, whose late reply must not be taken for that of the next one.
static void session_break(struct session *session, const char *what, const char *detail)
{
    session_fail(session, what, detail);
    redisFree(session->context);
    session->context = NULL;
}

// The commands until the next call have this time together.
static void session_begin_operation(struct session *session)
{
    session->deadline_ns =
        zepi_clock_ns() + (unsigned)session->shared->limits.operation_ms * NS_PER_MS;
}

// Lets the next call of the socket end by the deadline. False: it is over, and the connection too.
static bool limit_next_call(struct session *session)
{
    const int64_t left_us = (int64_t)(session->deadline_ns - zepi_clock_ns()) / 1000;
    const struct timeval left = {.tv_sec = left_us / 1000000, .tv_usec = left_us % 1000000};
    const bool is_limited = left_us > 0 && redisSetTimeout(session->context, left) == REDIS_OK;
    if (!is_limited)
        session_break(session, "no reply in time", "");
    return is_limited;
}

static bool send_command(struct session *session, const char *bytes, size_t size)
{
    while (size > 0) {
        if (!limit_next_call(session))
            return false;
        const ssize_t sent = zepi_sys_send(session->context->fd, bytes, size);
        if (sent < 0 && errno != EAGAIN) {
            session_break(session, "no reply", strerror(errno));
            return false;
        }
        bytes += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

// The kinds of replies that its commands have: no arrays, of which a few bytes take much memory.
static bool is_sane(const redisReader *reader)
{
    return reader->len <= MOST_REPLY_BYTES &&
           (reader->len == 0 || reader->ridx >= 0 || strchr("+-:$", reader->buf[reader->pos]));
}

static redisReply *read_reply(struct session *session)
{
    redisContext *context = session->context;
    void *reply = NULL;
    while (!reply && limit_next_call(session)) {
        if (redisBufferRead(context) != REDIS_OK) {
            const bool is_late = context->err == REDIS_ERR_IO && errno == EAGAIN;
            session_break(session, is_late ? "no reply in time" : "no reply",
                          is_late ? "" : context->errstr);
            break;
        }
        if (!is_sane(context->reader) || redisGetReplyFromReader(context, &reply) != REDIS_OK) {
            session_break(session, "the reply is none of this protocol", "");
            break;
        }
    }
    return reply;
}

// Sends a command, as redisCommand() formats it, and returns its reply, which the caller frees by
// freeReplyObject: of the type REDIS_REPLY_..., or nil. NULL with trouble: the connection is
// closed, or still open if the server replied with an error of which that is not the type.
static redisReply *session_ask(struct session *session, int type, const char *format, ...)
{
    char *command = NULL;
    redisReply *reply = NULL;
    va_list arguments;
    if (!session->context)
        return NULL;
    va_start(arguments, format);
    const int size = redisvFormatCommand(&command, format, arguments);
    va_end(arguments);
    if (size < 0)
        session_break(session, "no memory", "");
    else if (send_command(session, command, (size_t)size))
        reply = read_reply(session);
    if (size >= 0)
        redisFreeCommand(command);
    if (!reply || reply->type == type || reply->type == REDIS_REPLY_NIL)
        return reply;
    if (reply->type == REDIS_REPLY_ERROR)
        session_fail(session, "the server says", reply->str);
    else
        session_break(session, "the reply is none of this command", "");
    freeReplyObject(reply);
    return NULL;
}

// False: no connection.
static bool session_connect(struct session *session)
{
    struct zepi_shared *shared = session->shared;
    const struct zepi_shared_address *address = &shared->address;
    const struct zepi_shared_secret *password = &shared->password;
    const struct timeval limit = {.tv_sec = shared->limits.connect_ms / 1000,
                                  .tv_usec = shared->limits.connect_ms % 1000 * 1000};
    session->context = address->is_unix
                           ? redisConnectUnixWithTimeout(address->host, limit)
                           : redisConnectWithTimeout(address->host, atoi(address->port), limit);
    if (!session->context || session->context->err) {
        session_break(session, "no connection",
                      session->context ? session->context->errstr : "no memory");
        return false;
    }
    fcntl(session->context->fd, F_SETFD, FD_CLOEXEC);
    session_begin_operation(session);
    if (password->size > 0 && address->user[0])
        freeReplyObject(session_ask(session, REDIS_REPLY_STATUS, "AUTH %s %b", address->user,
                                    password->bytes, password->size));
    else if (password->size > 0)
        freeReplyObject(
            session_ask(session, REDIS_REPLY_STATUS, "AUTH %b", password->bytes, password->size));
    if (!session->trouble[0] && strcmp(address->database, "0") != 0)
        freeReplyObject(session_ask(session, REDIS_REPLY_STATUS, "SELECT %s", address->database));
    return !session->trouble[0];
}

// To be ended in any case. Returns false if the server is left alone or cannot be reached.
static bool session_begin(struct session *session, struct zepi_shared *shared,
                          const struct zepi_key *key)
{
    const struct zepi_digest digest = zepi_key_digest(key);
    *session = (struct session){.shared = shared, .key = key};
    snprintf(session->name, sizeof(session->name), "zepi%d:%016" PRIx64 "%016" PRIx64,
             ZEPI_DISK_FORMAT_VERSION, digest.high, digest.low);
    // Relaxed: a thread that sees an old time asks once more.
    return zepi_clock_ns() >=
               atomic_load_explicit(&shared->backoff_until_ns, memory_order_relaxed) &&
           session_connect(session);
}

static void session_note(const struct session *session, const char *what)
{
    if (session->shared->note)
        session->shared->note(what);
}

static void session_end(struct session *session)
{
    struct zepi_shared *shared = session->shared;
    const unsigned backoff_ms = (unsigned)shared->limits.backoff_ms;
    char what[sizeof(session->trouble) + 40];
    redisFree(session->context);
    if (!session->trouble[0])
        return;
    atomic_store_explicit(&shared->backoff_until_ns, zepi_clock_ns() + backoff_ms * NS_PER_MS,
                          memory_order_relaxed);
    snprintf(what, sizeof(what), "%s; it is left alone for %u s", session->trouble,
             (backoff_ms + 999) / 1000);
    session_note(session, what);
}

// ---- Records ----

static bool make_mac(const struct zepi_shared_secret *secret, const uint8_t *bytes, size_t size,
                     uint8_t out_mac[ZEPI_SHARED_MAC_BYTES])
{
    memset(out_mac, 0, ZEPI_SHARED_MAC_BYTES);
    return secret->size == 0 ||
           HMAC(EVP_sha256(), secret->bytes, (int)secret->size, bytes, size, out_mac, NULL);
}

uint8_t *zepi_shared_record_encode(const struct zepi_shared_secret *secret,
                                   const struct zepi_key *key,
                                   const struct zepi_build_record *record, size_t *out_size)
{
    struct zepi_disk_record_file file;
    zepi_disk_record_encode(key, record, &file);
    if (file.size_bytes > ZEPI_SHARED_MAX_RECORD_BYTES - ZEPI_SHARED_MAC_BYTES)
        return NULL;
    *out_size = ZEPI_SHARED_MAC_BYTES + (size_t)file.size_bytes;
    uint8_t *bytes = zepi_sys_allocate(*out_size);
    if (!bytes)
        return NULL;
    size_t at = ZEPI_SHARED_MAC_BYTES;
    for (int i = 0; i < ZEPI_DISK_RECORD_PARTS; i++) {
        if (file.parts[i].size > 0)
            memcpy(bytes + at, file.parts[i].bytes, file.parts[i].size);
        at += file.parts[i].size;
    }
    if (make_mac(secret, bytes + ZEPI_SHARED_MAC_BYTES, (size_t)file.size_bytes, bytes))
        return bytes;
    zepi_sys_free(bytes);
    return NULL;
}

bool zepi_shared_record_decode(const struct zepi_shared_secret *secret, const uint8_t *bytes,
                               size_t size, struct zepi_disk_record_view *out_view)
{
    uint8_t mac[ZEPI_SHARED_MAC_BYTES];
    if (size < sizeof(mac) || size > ZEPI_SHARED_MAX_RECORD_BYTES)
        return false;
    const uint8_t *record = bytes + sizeof(mac);
    size -= sizeof(mac);
    // In constant time: how much of a forged one is right must not show.
    return make_mac(secret, record, size, mac) && CRYPTO_memcmp(mac, bytes, sizeof(mac)) == 0 &&
           zepi_disk_record_decode(record, size, out_view);
}

// A record that is damaged, or was made with another key, is a miss, and told once.
static bool session_get(struct session *session, struct zepi_build_record *out_record)
{
    struct zepi_disk_record_view view;
    const struct zepi_key *key = session->key;
    redisReply *reply = session_ask(session, REDIS_REPLY_STRING, "GET %s", session->name);
    const bool is_there = reply && reply->type == REDIS_REPLY_STRING;
    // A copy of its own, in which the payload is aligned.
    const size_t size = is_there && reply->len > ZEPI_SHARED_MAC_BYTES ? reply->len : 0;
    uint8_t *copy = size > 0 ? zepi_sys_allocate(size) : NULL;
    if (copy)
        memcpy(copy, reply->str, size);
    freeReplyObject(reply);
    const bool is_taken =
        copy && zepi_shared_record_decode(&session->shared->key, copy, size, &view) &&
        view.key_size == key->size && memcmp(view.key, key->bytes, key->size) == 0;
    if (is_taken) {
        *out_record = view.record;
        out_record->storage = copy;
    } else {
        zepi_sys_free(copy);
    }
    if (is_there && !is_taken && !session->is_told)
        session_note(session, "a record is damaged, or was made with another key; it is replaced");
    session->is_told = session->is_told || (is_there && !is_taken);
    return is_taken;
}

// ---- Claims ----

// Whether the claim is this process' from now on. False: another one has it, or trouble.
static bool session_claim(struct session *session)
{
    const struct zepi_shared *shared = session->shared;
    redisReply *reply =
        session_ask(session, REDIS_REPLY_STATUS, "SET %s:claim %b NX PX %d", session->name,
                    shared->token, sizeof(shared->token), shared->limits.claim_ms);
    const bool is_mine = reply && reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return is_mine;
}

// Gives back this process' claim, if it has not ended by its time: in one step, so that a claim
// that another process made meanwhile stays. For `ms` there is a sign of it. A server that refuses
// the step is no trouble: the claim ends by its time.
static void session_give_back_claim(struct session *session, int ms)
{
    const struct zepi_shared *shared = session->shared;
    freeReplyObject(session_ask(session, REDIS_REPLY_ERROR, "EVAL %s 2 %s:claim %s:given-up %b %d",
                                "if redis.call('GET', KEYS[1]) == ARGV[1] then "
                                "redis.call('RENAME', KEYS[1], KEYS[2]) "
                                "redis.call('PEXPIRE', KEYS[2], ARGV[2]) end",
                                session->name, session->name, shared->token, sizeof(shared->token),
                                ms));
}

// Whether a process has given up its claim without a record just now.
static bool session_is_given_up(struct session *session)
{
    redisReply *reply =
        session_ask(session, REDIS_REPLY_INTEGER, "EXISTS %s:given-up", session->name);
    const bool is = reply && reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
    freeReplyObject(reply);
    return is;
}

// Finds the record, now or once another process has built it. False: the caller builds, with the
// claim if it is to be had.
static bool session_find(struct session *session, struct zepi_build_record *out_record)
{
    const struct zepi_shared_limits *limits = &session->shared->limits;
    const uint64_t give_up_ns = zepi_clock_ns() + 2 * NS_PER_MS * (unsigned)limits->claim_ms;
    for (long pause_ms = FIRST_PAUSE_MS;; pause_ms *= 2) {
        const struct timespec pause = {
            .tv_nsec = (pause_ms < LONGEST_PAUSE_MS ? pause_ms : LONGEST_PAUSE_MS) * 1000000};
        session_begin_operation(session);
        if (session_get(session, out_record))
            return true;
        if (session_claim(session)) {
            // The last builder may have stored it just before its claim ended.
            const bool is_found = session_get(session, out_record);
            if (is_found)
                session_give_back_claim(session, 0);
            return is_found;
        }
        if (session_is_given_up(session) || session->trouble[0])
            return false;
        if (zepi_clock_ns() >= give_up_ns) {
            // A server that says this of every key costs this once, too.
            session_fail(session, "a build by another process took too long", "");
            return false;
        }
        nanosleep(&pause, NULL);
    }
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
    uint8_t *bytes =
        record->payload ? zepi_shared_record_encode(&shared->key, key, record, &size) : NULL;
    if (session_begin(&session, self, key)) {
        redisReply *reply = bytes ? session_ask(&session, REDIS_REPLY_STATUS, "SET %s %b",
                                                session.name, bytes, size)
                                  : NULL;
        // Without a record, and if the server refused it, no process is to wait for it.
        session_give_back_claim(&session, reply ? 0 : GIVEN_UP_MS);
        freeReplyObject(reply);
    }
    session_end(&session);
    zepi_sys_free(bytes);
}

static void shared_remove(void *self, const struct zepi_key *key)
{
    struct session session;
    if (session_begin(&session, self, key))
        freeReplyObject(session_ask(&session, REDIS_REPLY_INTEGER, "DEL %s", session.name));
    session_end(&session);
}

const struct zepi_build_store_ops zepi_shared_store_ops = {
    .load = shared_load,
    .store = shared_store,
    .remove = shared_remove,
};

void zepi_shared_describe(struct zepi_shared *shared, char out_state[ZEPI_SHARED_TEXT_BYTES])
{
    struct session session = {.shared = shared};
    if (session_connect(&session))
        freeReplyObject(session_ask(&session, REDIS_REPLY_STATUS, "PING"));
    redisFree(session.context);
    snprintf(out_state, ZEPI_SHARED_TEXT_BYTES, "%s",
             session.trouble[0] ? session.trouble : "usable");
}

extern const struct zepi_shared_library ZEPI_SHARED_TABLE;
const struct zepi_shared_library ZEPI_SHARED_TABLE = {
    .create = zepi_shared_create,
    .destroy = zepi_shared_destroy,
    .describe = zepi_shared_describe,
    .ops = &zepi_shared_store_ops,
};
