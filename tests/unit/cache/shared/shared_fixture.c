// SPDX-License-Identifier: MIT
#include "shared_fixture.h"
#include "cache_fixture.h"
#include "test_env.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

atomic_int fixture_note_count;
char fixture_last_note[ZEPI_SHARED_TEXT_BYTES];

static void note(const char *line)
{
    snprintf(fixture_last_note, sizeof(fixture_last_note), "%s", line);
    atomic_fetch_add(&fixture_note_count, 1);
}

struct zepi_shared_config fixture_config(const char *address)
{
    atomic_store(&fixture_note_count, 0);
    return (struct zepi_shared_config){.address = address,
                                       .key_file = "",
                                       .password_file = "",
                                       // A machine under load takes long for little.
                                       .limits = {.connect_ms = 5000,
                                                  .operation_ms = 5000,
                                                  .claim_ms = 20000,
                                                  .backoff_ms = 60000},
                                       .note = note};
}

struct zepi_shared *fixture_shared(const struct zepi_shared_config *config)
{
    char refusal[ZEPI_SHARED_TEXT_BYTES] = "";
    struct zepi_shared *shared = zepi_shared_create(config, refusal);
    TEST_EXPECT(shared != NULL, refusal);
    return shared;
}

const char *fixture_write_file(const char *name, const void *bytes, size_t size)
{
    const char *path = test_env_scratch_path(name);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    TEST_EXPECT(file >= 0 && write(file, bytes, size) == (ssize_t)size, "a file is not written");
    close(file);
    return path;
}

const char *fixture_key_file(const char *name, uint8_t byte)
{
    uint8_t key[32];
    memset(key, byte, sizeof(key));
    return fixture_write_file(name, key, sizeof(key));
}

uint64_t fixture_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void fixture_sleep_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

// ---- The server ----

// One that no other process has just now.
static unsigned find_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    const int socket_of_port = socket(AF_INET, SOCK_STREAM, 0);
    TEST_EXPECT(bind(socket_of_port, (struct sockaddr *)&address, size) == 0 &&
                    getsockname(socket_of_port, (struct sockaddr *)&address, &size) == 0,
                "there is no free port");
    close(socket_of_port);
    return ntohs(address.sin_port);
}

static _Noreturn void run_server(const char *folder, unsigned port, const char *options)
{
    char command[1024];
    // It ends with the test, however that ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(command, sizeof(command),
             "exec redis-server --bind 127.0.0.1 --port %u --unixsocket '%s/redis' --dir '%s' "
             "--save '' --appendonly no %s >'%s/redis.log' 2>&1",
             port, folder, folder, options, folder);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

struct fixture_redis fixture_redis_start(const char *options)
{
    struct fixture_redis redis = {0};
    char state[ZEPI_SHARED_TEXT_BYTES];
    // NOLINTNEXTLINE(cert-env33-c): the command is ours
    if (system("command -v redis-server >/dev/null") != 0)
        test_env_skip("there is no redis-server");
    const char *folder = test_env_scratch();
    const unsigned port = find_free_port();
    snprintf(redis.unix_address, sizeof(redis.unix_address), "redis+unix://%s/redis", folder);
    snprintf(redis.tcp_address, sizeof(redis.tcp_address), "redis://127.0.0.1:%u", port);
    redis.pid = fork();
    if (redis.pid == 0)
        run_server(folder, port, options);
    const struct zepi_shared_config config = fixture_config(redis.unix_address);
    struct zepi_shared *shared = fixture_shared(&config);
    const uint64_t begin_ms = fixture_now_ms();
    do {
        TEST_EXPECT(fixture_now_ms() - begin_ms < 20000, "redis-server does not start");
        fixture_sleep_ms(10);
        zepi_shared_describe(shared, state);
        // A server that wants a password is there, too.
    } while (strcmp(state, "usable") != 0 && !strstr(state, "NOAUTH"));
    zepi_shared_destroy(shared);
    return redis;
}

void fixture_redis_stop(struct fixture_redis *redis)
{
    if (redis->pid > 0) {
        kill(redis->pid, SIGKILL);
        waitpid(redis->pid, NULL, 0);
    }
    redis->pid = 0;
}

// ---- Records ----

// What misses is not built here.
static bool load(struct zepi_shared *shared, uint64_t number, struct zepi_build_record *out_record)
{
    struct zepi_key key;
    fixture_key(&key, number);
    const bool is_loaded = zepi_shared_store_ops.load(shared, &key, out_record);
    if (!is_loaded)
        zepi_shared_store_ops.store(shared, &key, &(struct zepi_build_record){0});
    return is_loaded;
}

bool fixture_load_is(struct zepi_shared *shared, uint64_t number, const char *text)
{
    struct zepi_build_record record = {0};
    const bool is_right = load(shared, number, &record) && record.payload_size == strlen(text) &&
                          memcmp(record.payload, text, record.payload_size) == 0 &&
                          (uintptr_t)record.payload % 16 == 0 && record.log_size == 5 &&
                          memcmp(record.log, "a log", 5) == 0;
    zepi_build_record_finish(&record);
    return is_right;
}

bool fixture_loads(struct zepi_shared *shared, uint64_t number)
{
    struct zepi_build_record record = {0};
    const bool is_loaded = load(shared, number, &record);
    zepi_build_record_finish(&record);
    return is_loaded;
}

void fixture_store(struct zepi_shared *shared, uint64_t number, const char *text)
{
    const struct zepi_build_record record = {
        .payload = text, .payload_size = strlen(text), .log = "a log", .log_size = 5};
    struct zepi_key key;
    fixture_key(&key, number);
    zepi_shared_store_ops.store(shared, &key, &record);
}
