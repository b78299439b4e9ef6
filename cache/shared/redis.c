// SPDX-License-Identifier: MIT
#include "cache/shared/redis.h"

#include "cache/shared/shared_record.h"
#include "core/sys.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S (1000 * NS_PER_MS)

enum {
    MOST_WORDS = 6,
    // Of a reply: a record and its frame.
    MOST_REPLY_BYTES = (int)ZEPI_SHARED_MAX_RECORD_BYTES + 64,
};

int64_t zepi_redis_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

// ---- Trouble ----

static bool redis_fail(struct zepi_redis *redis, const char *what, const char *detail)
{
    if (!redis->trouble[0])
        snprintf(redis->trouble, sizeof(redis->trouble), "%s%s%s", what, detail[0] ? ": " : "",
                 detail);
    // What a server wrote goes to a terminal.
    for (char *at = redis->trouble; *at; at++) {
        if (!isprint((unsigned char)*at))
            *at = '?';
    }
    return false;
}

static bool redis_fail_errno(struct zepi_redis *redis, const char *what, int error)
{
    char text[64];
    if (error == ETIMEDOUT)
        return redis_fail(redis, "no reply in time", "");
    return redis_fail(redis, what, strerror_r(error, text, sizeof(text)));
}

// ---- The socket ----

// Waits until the socket can do more. Returns 0 or an errno; ETIMEDOUT at the deadline.
static int wait_for_socket(int socket, short events, int64_t deadline_ns)
{
    for (;;) {
        struct pollfd what = {.fd = socket, .events = events};
        const int64_t left_ns = deadline_ns - zepi_redis_now_ns();
        if (left_ns <= 0)
            return ETIMEDOUT;
        const int ready = zepi_sys_poll(&what, (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS));
        if (ready > 0)
            return 0;
        if (ready < 0 && errno != EINTR)
            return errno;
    }
}

// Returns a connected socket, or -1 with errno.
static int connect_to(int family, const struct sockaddr *to, socklen_t size, int64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = 2 * NS_PER_MS};
    const int one = 1;
    int error = 0;
    socklen_t error_size = sizeof(error);
    const int socket = zepi_sys_socket(family);
    if (socket < 0)
        return -1;
    while (zepi_sys_connect(socket, to, size) != 0) {
        error = errno;
        if (error == EINPROGRESS) {
            error = wait_for_socket(socket, POLLOUT, deadline_ns);
            if (error == 0 && getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &error_size) != 0)
                error = errno;
            break;
        }
        // EAGAIN: of a socket of this machine, with a full queue.
        if (error != EAGAIN)
            break;
        if (zepi_redis_now_ns() >= deadline_ns) {
            error = ETIMEDOUT;
            break;
        }
        nanosleep(&pause, NULL);
        error = 0;
    }
    if (error != 0) {
        close(socket);
        errno = error;
        return -1;
    }
    if (family != AF_UNIX)
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return socket;
}

static bool connect_unix(struct zepi_redis *redis, const char *path, int64_t deadline_ns)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    memcpy(to.sun_path, path, strnlen(path, sizeof(to.sun_path) - 1));
    redis->socket = connect_to(AF_UNIX, (struct sockaddr *)&to, sizeof(to), deadline_ns);
    return redis->socket >= 0 || redis_fail_errno(redis, "no connection", errno);
}

// A name that the system looks up, on a thread of the C library: its servers may not reply.
struct look_up {
    struct gaicb request;
    struct addrinfo hints;
    char host[sizeof(((struct zepi_shared_address *)NULL)->host)];
    char port[sizeof(((struct zepi_shared_address *)NULL)->port)];
};

// Returns NULL, or the failure.
static const char *look_up_name(const struct zepi_shared_address *address,
                                const struct addrinfo *hints, int64_t deadline_ns,
                                struct addrinfo **out_list)
{
    struct look_up *look_up = zepi_sys_allocate(sizeof(*look_up));
    if (!look_up)
        return "no memory";
    *look_up = (struct look_up){.hints = *hints};
    memcpy(look_up->host, address->host, sizeof(look_up->host));
    memcpy(look_up->port, address->port, sizeof(look_up->port));
    look_up->request = (struct gaicb){
        .ar_name = look_up->host, .ar_service = look_up->port, .ar_request = &look_up->hints};
    struct gaicb *list[] = {&look_up->request};
    int error = getaddrinfo_a(GAI_NOWAIT, list, 1, NULL);
    for (bool is_begun = error == 0; is_begun;) {
        const int64_t left_ns = deadline_ns - zepi_redis_now_ns();
        const struct timespec left = {.tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S};
        error = gai_error(list[0]);
        if (error != EAI_INPROGRESS)
            break;
        if (left_ns <= 0) {
            const int cancelled = gai_cancel(list[0]);
            if (cancelled == EAI_ALLDONE)
                continue;
            // A thread that is at it still writes to the request, which is left to it.
            if (cancelled == EAI_CANCELED)
                zepi_sys_free(look_up);
            return "no reply in time";
        }
        (void)gai_suspend((const struct gaicb *const *)list, 1, &left);
    }
    *out_list = error == 0 ? look_up->request.ar_result : NULL;
    zepi_sys_free(look_up);
    return error == 0 ? NULL : gai_strerror(error);
}

static bool connect_tcp(struct zepi_redis *redis, const struct zepi_shared_address *address,
                        int64_t deadline_ns)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    int64_t count = 0;
    int error = 0;
    // An address in numbers needs no look-up.
    if (getaddrinfo(address->host, address->port, &hints, &list) != 0) {
        hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
        const char *wrong = look_up_name(address, &hints, deadline_ns, &list);
        if (wrong)
            return redis_fail(redis, "the name of the host", wrong);
    }
    for (const struct addrinfo *at = list; at; at = at->ai_next)
        count++;
    // An address that does not reply leaves time to the next.
    for (const struct addrinfo *at = list; at && redis->socket < 0; at = at->ai_next, count--) {
        const int64_t now_ns = zepi_redis_now_ns();
        redis->socket = connect_to(at->ai_family, at->ai_addr, at->ai_addrlen,
                                   now_ns + (deadline_ns - now_ns) / count);
        error = errno;
    }
    freeaddrinfo(list);
    return redis->socket >= 0 || redis_fail_errno(redis, "no connection", error);
}

void zepi_redis_close(struct zepi_redis *redis)
{
    if (redis->socket >= 0)
        close(redis->socket);
    redis->socket = -1;
}

void zepi_redis_begin(struct zepi_redis *redis, int operation_ms)
{
    redis->deadline_ns = zepi_redis_now_ns() + operation_ms * NS_PER_MS;
}

// ---- Commands ----

static int send_all(struct zepi_redis *redis, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t sent = zepi_sys_send(redis->socket, bytes, size);
        if (sent >= 0) {
            bytes += sent;
            size -= (size_t)sent;
            continue;
        }
        const int error =
            errno == EAGAIN ? wait_for_socket(redis->socket, POLLOUT, redis->deadline_ns) : errno;
        if (error != 0)
            return error;
    }
    return 0;
}

// The kinds of replies that its commands have: no arrays, of which a few bytes take much memory.
static bool begins_a_reply(char byte)
{
    return byte == '+' || byte == '-' || byte == ':' || byte == '$';
}

// Reads until a reply is whole. NULL with `trouble`.
static redisReply *read_reply(struct zepi_redis *redis, redisReader *reader)
{
    char bytes[16384];
    void *reply = NULL;
    size_t total = 0;
    while (!reply) {
        const int error = wait_for_socket(redis->socket, POLLIN, redis->deadline_ns);
        const ssize_t size =
            error == 0 ? zepi_sys_receive(redis->socket, bytes, sizeof(bytes)) : -1;
        if (size < 0 && error == 0 && errno == EAGAIN)
            continue;
        if (size <= 0) {
            redis_fail_errno(redis, "no reply", error ? error : size < 0 ? errno : ECONNRESET);
            return NULL;
        }
        total += (size_t)size;
        if ((total == (size_t)size && !begins_a_reply(bytes[0])) || total > MOST_REPLY_BYTES ||
            redisReaderFeed(reader, bytes, (size_t)size) != REDIS_OK ||
            redisReaderGetReply(reader, &reply) != REDIS_OK) {
            redis_fail(redis, "the reply is none of this protocol", "");
            return NULL;
        }
    }
    return reply;
}

static redisReply *ask_connected(struct zepi_redis *redis, int count,
                                 const struct zepi_redis_word *words)
{
    const char *bytes[MOST_WORDS];
    size_t sizes[MOST_WORDS];
    char *command = NULL;
    redisReply *reply = NULL;
    for (int i = 0; i < count; i++) {
        bytes[i] = words[i].bytes;
        sizes[i] = words[i].size;
    }
    const long long size = redisFormatCommandArgv(&command, count, bytes, sizes);
    redisReader *reader = redisReaderCreate();
    if (size < 0 || !reader) {
        redis_fail(redis, "no memory", "");
    } else {
        const int error = send_all(redis, command, (size_t)size);
        if (error != 0)
            redis_fail_errno(redis, "no reply", error);
        else
            reply = read_reply(redis, reader);
    }
    if (size >= 0)
        redisFreeCommand(command);
    if (reader)
        redisReaderFree(reader);
    return reply;
}

redisReply *zepi_redis_ask(struct zepi_redis *redis, int type, int count,
                           const struct zepi_redis_word *words)
{
    if (redis->socket < 0)
        return NULL;
    redisReply *reply = ask_connected(redis, count, words);
    if (reply && (reply->type == type || reply->type == REDIS_REPLY_NIL))
        return reply;
    if (reply && reply->type == REDIS_REPLY_ERROR) {
        redis_fail(redis, "the server says", reply->str);
    } else {
        // A late reply must not be taken for that of the next command.
        zepi_redis_close(redis);
        redis_fail(redis, "the reply is none of this command", "");
    }
    freeReplyObject(reply);
    return NULL;
}

void zepi_redis_do(struct zepi_redis *redis, int type, int count,
                   const struct zepi_redis_word *words)
{
    freeReplyObject(zepi_redis_ask(redis, type, count, words));
}

bool zepi_redis_open(struct zepi_redis *redis, const struct zepi_shared_address *address,
                     const struct zepi_shared_secret *password, int connect_ms, int operation_ms)
{
    *redis = (struct zepi_redis){.socket = -1};
    const int64_t deadline_ns = zepi_redis_now_ns() + connect_ms * NS_PER_MS;
    if (address->is_unix ? !connect_unix(redis, address->host, deadline_ns)
                         : !connect_tcp(redis, address, deadline_ns))
        return false;
    zepi_redis_begin(redis, operation_ms);
    if (password->size > 0) {
        struct zepi_redis_word words[3] = {ZEPI_REDIS_TEXT("AUTH")};
        int count = 1;
        if (address->user[0])
            words[count++] = ZEPI_REDIS_TEXT(address->user);
        words[count++] = (struct zepi_redis_word){password->bytes, password->size};
        zepi_redis_do(redis, REDIS_REPLY_STATUS, count, words);
    }
    const struct zepi_redis_word choose[] = {ZEPI_REDIS_TEXT("SELECT"),
                                             ZEPI_REDIS_TEXT(address->database)};
    if (!redis->trouble[0] && strcmp(address->database, "0") != 0)
        zepi_redis_do(redis, REDIS_REPLY_STATUS, 2, choose);
    return !redis->trouble[0];
}
