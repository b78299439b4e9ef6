// SPDX-License-Identifier: MIT
//
// What a shared store is made from: an address, and files with secrets.
#include "cache/shared/shared_config.h"
#include "shared_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect_address(const char *text, bool is_unix, const char *host, const char *port,
                           const char *user, const char *database)
{
    struct zepi_shared_address address;
    const char *wrong = zepi_shared_address_parse(text, &address);
    cr_assert_null(wrong, "%s: %s", text, wrong);
    cr_assert_eq(address.is_unix, is_unix);
    cr_assert_str_eq(address.host, host);
    cr_assert_str_eq(address.port, port);
    cr_assert_str_eq(address.user, user);
    cr_assert_str_eq(address.database, database);
}

Test(shared_address, is_read_in_all_its_parts)
{
    expect_address("redis://host", false, "host", "6379", "", "0");
    expect_address("redis://host/", false, "host", "6379", "", "0");
    expect_address("redis://host:1234/7", false, "host", "1234", "", "7");
    expect_address("redis://user@10.0.0.1/3", false, "10.0.0.1", "6379", "user", "3");
    expect_address("redis://[::1]:80/3", false, "::1", "80", "", "3");
    expect_address("redis+unix:///run/redis", true, "/run/redis", "6379", "", "0");
    expect_address("unix:///run/redis?db=12", true, "/run/redis", "6379", "", "12");
    expect_address("unix://user@/run/redis", true, "/run/redis", "6379", "user", "0");
}

Test(shared_address, that_is_wrong_is_refused)
{
    static const char *const wrong[] = {"",
                                        "host",
                                        "http://host",
                                        "rediss://host",
                                        "redis://",
                                        "redis://:1",
                                        "redis://host:x",
                                        "redis://host:",
                                        "redis://host:65536",
                                        "redis://[::1",
                                        "redis://host/x",
                                        "redis://host/1/2",
                                        "redis://host?db=1",
                                        "unix://run",
                                        "unix://",
                                        "unix:///run?db=",
                                        "unix:///run?db=x",
                                        "unix:///run?x=1",
                                        "redis://user:password@host",
                                        "redis://host:-1",
                                        "redis://host/9999999"};
    struct zepi_shared_address address;
    char path[200] = "unix:///";
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        cr_assert_not_null(zepi_shared_address_parse(wrong[i], &address), "%s", wrong[i]);
    memset(path + 8, 'x', 150);
    cr_assert_not_null(zepi_shared_address_parse(path, &address));
}

static void expect_refused(const struct zepi_shared_config *config, const char *reason)
{
    char refusal[ZEPI_SHARED_TEXT_BYTES];
    cr_assert_null(zepi_shared_create(config, refusal));
    cr_assert(strstr(refusal, reason), "refused with '%s', expected '%s'", refusal, reason);
}

Test(shared_config, over_tcp_needs_a_key)
{
    struct zepi_shared_config config = fixture_config("redis://127.0.0.1:1");
    expect_refused(&config, "needs a key");
    config.key_file = fixture_write_file("short", "0123456789012345678901234567890", 31);
    expect_refused(&config, "32 bytes");
    config.key_file = "/nowhere/key";
    expect_refused(&config, "cannot be opened");
    config.key_file = fixture_key_file("key", 1);
    zepi_shared_destroy(fixture_shared(&config));
    config.address = "nothing";
    expect_refused(&config, "redis://HOST");
    config.address = "redis://user:password@host";
    expect_refused(&config, "ZEPI_CACHE_SHARED_PASSWORD_FILE");
    config = fixture_config("unix:///nowhere");
    zepi_shared_destroy(fixture_shared(&config));
}

Test(shared_config, refuses_files_that_others_can_use)
{
    struct zepi_shared_config config = fixture_config("unix:///nowhere");
    config.password_file = fixture_key_file("password", 1);
    static const mode_t modes[] = {0604, 0602, 0620, 0601};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        cr_assert_eq(chmod(config.password_file, modes[i]), 0);
        expect_refused(&config, "others cannot read");
    }
    cr_assert_eq(chmod(config.password_file, 0640), 0);
    zepi_shared_destroy(fixture_shared(&config));
    if (geteuid() == 0) {
        cr_assert_eq(chown(config.password_file, 65534, 65534), 0);
        expect_refused(&config, "yours or root's");
    }
    config.password_file = "/dev/zero";
    expect_refused(&config, "expected a file");
    config.password_file = fixture_write_file("empty", "", 0);
    expect_refused(&config, "1023 bytes");
    char much[2000] = {0};
    config.password_file = fixture_write_file("much", much, sizeof(much));
    expect_refused(&config, "1023 bytes");
}
