// SPDX-License-Identifier: MIT
#include "cache/shared/address.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static const char *const expected =
    "expected redis://HOST[:PORT][/DATABASE] or redis+unix:///PATH[?db=DATABASE]";

// Copies `length` bytes of text. False: there are too many.
static bool copy_part(char *to, size_t to_size, const char *text, size_t length)
{
    if (length >= to_size)
        return false;
    memcpy(to, text, length);
    to[length] = '\0';
    return true;
}

static bool copy_number(char *to, size_t to_size, const char *text, size_t length, long limit)
{
    return length > 0 && strspn(text, "0123456789") >= length &&
           copy_part(to, to_size, text, length) && strtol(to, NULL, 10) <= limit;
}

// Returns the text behind "beginning", or NULL.
static const char *skip(const char *text, const char *beginning)
{
    const size_t length = strlen(beginning);
    return strncmp(text, beginning, length) == 0 ? text + length : NULL;
}

static const char *parse_socket(const char *text, struct zepi_shared_address *address)
{
    const size_t length = strcspn(text, "?");
    const char *query = text + length;
    if (text[0] != '/')
        return expected;
    if (length >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
        return "the path of a socket has at most 107 bytes";
    copy_part(address->host, sizeof(address->host), text, length);
    if (!*query)
        return NULL;
    query = skip(query, "?db=");
    return query && copy_number(address->database, sizeof(address->database), query, strlen(query),
                                999999)
               ? NULL
               : expected;
}

static const char *parse_host(const char *text, struct zepi_shared_address *address)
{
    const char *end;
    if (text[0] == '[') {
        end = strchr(++text, ']');
        if (!end)
            return expected;
    } else {
        end = text + strcspn(text, ":/?");
    }
    if (end == text || !copy_part(address->host, sizeof(address->host), text, (size_t)(end - text)))
        return expected;
    end += *end == ']';
    if (*end == ':') {
        const size_t length = strcspn(++end, "/");
        if (!copy_number(address->port, sizeof(address->port), end, length, 65535))
            return "expected a port from 0 to 65535";
        end += length;
    }
    if (strcmp(end, "") == 0 || strcmp(end, "/") == 0)
        return NULL;
    return *end == '/' && copy_number(address->database, sizeof(address->database), end + 1,
                                      strlen(end + 1), 999999)
               ? NULL
               : expected;
}

const char *zepi_shared_address_parse(const char *text, struct zepi_shared_address *out_address)
{
    struct zepi_shared_address address = {.port = "6379", .database = "0"};
    const char *rest = skip(text, "redis://");
    if (!rest) {
        rest = skip(text, "redis+unix://");
        rest = rest ? rest : skip(text, "unix://");
        address.is_unix = true;
    }
    if (!rest)
        return expected;
    const size_t user_length = strcspn(rest, "@/?");
    if (rest[user_length] == '@') {
        if (memchr(rest, ':', user_length))
            return "a password is read from ZEPI_CACHE_SHARED_PASSWORD_FILE alone";
        if (!copy_part(address.user, sizeof(address.user), rest, user_length))
            return "the name of the user is too long";
        rest += user_length + 1;
    }
    const char *wrong = address.is_unix ? parse_socket(rest, &address) : parse_host(rest, &address);
    if (!wrong)
        *out_address = address;
    return wrong;
}
