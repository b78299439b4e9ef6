// SPDX-License-Identifier: MIT
//
// Servers that are slow, gone, or answer nonsense: each costs a stated time once, and is then left
// alone for a while.
#include "shared_fixture.h"
#include "test_env.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    OPERATION_MS = 400,
    REST_MS = 1500,
    // What a machine under load takes beyond the stated time.
    PATIENCE_MS = 5000,
};

TestSuite(shared_server, .timeout = 60);

// ---- A server ----

static int listener = -1;
static const char *said; // by the server, to whatever it is asked
static long pause_ms;    // before each byte of it
static atomic_int connections;

static void reply(int connection)
{
    char bytes[4096];
    // Until the other end closes, each command gets the same.
    while (recv(connection, bytes, sizeof(bytes), 0) > 0) {
        if (pause_ms == 0 && send(connection, said, strlen(said), MSG_NOSIGNAL) < 0)
            return;
        for (const char *at = said; pause_ms > 0; at += at[1] ? 1 : 0) {
            fixture_sleep_ms(pause_ms);
            if (send(connection, at, 1, MSG_NOSIGNAL) < 0)
                return;
        }
    }
}

static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        const int connection = accept(listener, NULL, NULL);
        atomic_fetch_add(&connections, 1);
        if (said)
            reply(connection);
        else
            pause();
        close(connection);
    }
    return NULL;
}

// Returns a store of a server that says `what`; NULL says nothing.
static struct zepi_shared *start(const char *what)
{
    static char address[256];
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    pthread_t thread;
    said = what;
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", test_env_scratch_path("socket"));
    snprintf(address, sizeof(address), "unix://%s", to.sun_path);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert(bind(listener, (struct sockaddr *)&to, sizeof(to)) == 0 && listen(listener, 8) == 0);
    cr_assert_eq(pthread_create(&thread, NULL, serve, NULL), 0);
    struct zepi_shared_config config = fixture_config(address);
    config.limits.operation_ms = OPERATION_MS;
    config.limits.claim_ms = OPERATION_MS;
    config.limits.backoff_ms = REST_MS;
    return fixture_shared(&config);
}

// A load misses within the stated time; the next one, with a store, asks no server.
static void expect_left_alone(struct zepi_shared *shared, uint64_t stated_ms, const char *reason)
{
    const uint64_t begin_ms = fixture_now_ms();
    cr_assert_not(fixture_loads(shared, 1));
    const uint64_t first_ms = fixture_now_ms();
    cr_assert_leq(first_ms - begin_ms, stated_ms + PATIENCE_MS);
    cr_assert_eq(fixture_note_count, 1);
    cr_assert(strstr(fixture_last_note, reason), "'%s' says nothing of '%s'", fixture_last_note,
              reason);
    const int before = connections;
    for (uint64_t number = 2; number < 100; number++)
        cr_assert_not(fixture_loads(shared, number));
    fixture_store(shared, 1, "text");
    cr_assert_eq(connections, before);
    cr_assert_eq(fixture_note_count, 1);
}

Test(shared_server, that_says_nothing_costs_its_time_once_and_is_asked_again_later)
{
    struct zepi_shared *shared = start(NULL);
    const uint64_t begin_ms = fixture_now_ms();
    expect_left_alone(shared, OPERATION_MS, "no reply in time; it is left alone for 2 s");
    cr_assert_geq(fixture_now_ms() - begin_ms, OPERATION_MS);
    fixture_sleep_ms(REST_MS);
    cr_assert_not(fixture_loads(shared, 1));
    cr_assert_eq(fixture_note_count, 2);
    zepi_shared_destroy(shared);
}

Test(shared_server, that_says_one_byte_at_a_time_costs_no_more)
{
    pause_ms = 20;
    struct zepi_shared *shared = start("$100000\r\nx");
    expect_left_alone(shared, OPERATION_MS, "no reply in time");
    zepi_shared_destroy(shared);
}

Test(shared_server, that_speaks_another_protocol_is_left_alone)
{
    static const char *const nonsense[] = {
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "*1000000000\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
        "$99999999999999999999\r\n",
        "$-7\r\nx",
        "%1\r\n",
        ":1\r\n",
        "+OK\r\n",
        "\r\n",
        "$3\r\nabcdef\r\n",
    };
    struct zepi_shared *shared = start(nonsense[0]);
    zepi_shared_destroy(shared);
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        said = nonsense[i];
        struct zepi_shared_config config = fixture_config("");
        char address[256];
        snprintf(address, sizeof(address), "unix://%s/socket", test_env_scratch());
        config.address = address;
        config.limits.operation_ms = OPERATION_MS;
        config.limits.claim_ms = OPERATION_MS;
        shared = fixture_shared(&config);
        cr_assert_not(fixture_loads(shared, 1), "%zu", i);
        const int before = connections;
        cr_assert_not(fixture_loads(shared, 1));
        cr_assert_eq(connections, before, "the server is asked again after '%s'", nonsense[i]);
        zepi_shared_destroy(shared);
    }
}

// Nil to every question: no record, and a claim that is never to be had.
Test(shared_server, that_gives_no_claim_does_not_keep_one_waiting)
{
    struct zepi_shared *shared = start("$-1\r\n");
    const uint64_t begin_ms = fixture_now_ms();
    cr_assert_not(fixture_loads(shared, 1));
    cr_assert_leq(fixture_now_ms() - begin_ms, 2 * OPERATION_MS + PATIENCE_MS);
    zepi_shared_destroy(shared);
}

Test(shared_server, that_refuses_is_left_alone_and_quoted_without_control_characters)
{
    struct zepi_shared *shared = start("-OOM command not allowed \033[31m now\r\n");
    expect_left_alone(shared, OPERATION_MS,
                      "the server says: OOM command not allowed ?[31m now; it is left alone");
    zepi_shared_destroy(shared);
}

Test(shared_server, that_is_gone_is_left_alone)
{
    struct zepi_shared_config config = fixture_config("unix:///nowhere/socket");
    struct zepi_shared *shared = fixture_shared(&config);
    expect_left_alone(shared, 0, "no connection: No such file");
    zepi_shared_destroy(shared);
}

// ---- TCP ----

static struct zepi_shared *store_at(const char *address, int connect_ms)
{
    struct zepi_shared_config config = fixture_config(address);
    config.key_file = fixture_key_file("key", 1);
    config.limits.connect_ms = connect_ms;
    return fixture_shared(&config);
}

// A listener whose queue is full: the system answers no more connections.
Test(shared_server, that_does_not_take_connections_costs_its_time_once)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(to);
    char address[64];
    const int full = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(bind(full, (struct sockaddr *)&to, size) == 0 && listen(full, 0) == 0 &&
              getsockname(full, (struct sockaddr *)&to, &size) == 0);
    for (int i = 0; i < 4; i++) {
        const int other = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(other, (struct sockaddr *)&to, size);
    }
    snprintf(address, sizeof(address), "redis://127.0.0.1:%u", ntohs(to.sin_port));
    struct zepi_shared *shared = store_at(address, 300);
    expect_left_alone(shared, 300, "no connection: Connection timed out");
    zepi_shared_destroy(shared);
}

Test(shared_server, that_nobody_runs_is_left_alone)
{
    struct zepi_shared *shared = store_at("redis://127.0.0.1:1", 1000);
    expect_left_alone(shared, 1000, "no connection: Connection refused");
    zepi_shared_destroy(shared);
}

Test(shared_server, whose_name_nobody_knows_is_left_alone)
{
    struct zepi_shared *shared = store_at("redis://no-such-host.invalid", 1000);
    expect_left_alone(shared, 1000, "");
    zepi_shared_destroy(shared);
}
