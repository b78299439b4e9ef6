// SPDX-License-Identifier: MIT
#include "cache/shared/shared_config.h"

#include "core/sys.h"

#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

// ---- Addresses ----

enum { PARTS = 9 };

static bool match(const char *pattern, const char *text, regmatch_t parts[PARTS])
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED) != 0)
        return false;
    const bool is_match = regexec(&regex, text, PARTS, parts, 0) == 0;
    regfree(&regex);
    return is_match;
}

// A part that is not there leaves the default. False: it is too long.
static bool copy_part(char *to, size_t to_size, const char *text, regmatch_t part)
{
    const size_t length = part.rm_so < 0 ? 0 : (size_t)(part.rm_eo - part.rm_so);
    if (length > 0)
        snprintf(to, to_size, "%.*s", (int)length, text + part.rm_so);
    return length < to_size;
}

const char *zepi_shared_address_parse(const char *text, struct zepi_shared_address *out_address)
{
    static const char tcp[] = "^redis://(([^@:/?]*)@)?(\\[([^]]+)]|[^][/?:]+)(:([0-9]{1,5}))?"
                              "(/([0-9]{1,6})?)?$";
    static const char socket[] = "^(redis\\+)?unix://(([^@:/?]*)@)?(/[^?]*)(\\?db=([0-9]{1,6}))?$";
    struct zepi_shared_address address = {.port = "6379", .database = "0"};
    regmatch_t parts[PARTS];
    bool is_short;
    if (match(tcp, text, parts)) {
        // An address of IPv6 is without its brackets.
        is_short = copy_part(address.host, sizeof(address.host), text,
                             parts[parts[4].rm_so >= 0 ? 4 : 3]) &&
                   copy_part(address.user, sizeof(address.user), text, parts[2]) &&
                   copy_part(address.port, sizeof(address.port), text, parts[6]) &&
                   copy_part(address.database, sizeof(address.database), text, parts[8]);
    } else if (match(socket, text, parts)) {
        address.is_unix = true;
        is_short = copy_part(address.host, sizeof(((struct sockaddr_un *)NULL)->sun_path), text,
                             parts[4]) &&
                   copy_part(address.user, sizeof(address.user), text, parts[3]) &&
                   copy_part(address.database, sizeof(address.database), text, parts[6]);
    } else {
        return "expected redis://HOST[:PORT][/DATABASE] or redis+unix:///PATH[?db=DATABASE], "
               "without a password, which is read from ZEPI_CACHE_SHARED_PASSWORD_FILE";
    }
    if (!is_short || atoi(address.port) > 65535)
        return is_short ? "expected a port from 0 to 65535" : "a part of it is too long";
    *out_address = address;
    return NULL;
}

// ---- Secrets ----

static bool can_be_trusted(const struct stat *info)
{
    return S_ISREG(info->st_mode) && (info->st_uid == geteuid() || info->st_uid == 0) &&
           (info->st_mode & (S_IWGRP | S_IRWXO)) == 0;
}

const char *zepi_shared_secret_read(const char *path, struct zepi_shared_secret *out_secret)
{
    struct stat info;
    // Not blocking: a pipe without a writer is no file.
    const int file = zepi_sys_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    if (file < 0)
        return "it cannot be opened";
    const bool is_trusted = zepi_sys_stat(file, &info) == 0 && can_be_trusted(&info);
    const ssize_t size =
        is_trusted ? zepi_sys_read(file, out_secret->bytes, sizeof(out_secret->bytes)) : 0;
    close(file);
    if (!is_trusted)
        return "expected a file of yours or root's that the group cannot write, and others cannot "
               "read";
    if (size <= 0 || size == sizeof(out_secret->bytes))
        return size < 0 ? "it cannot be read" : "expected from 1 to 1023 bytes";
    out_secret->size = (size_t)size;
    return NULL;
}
