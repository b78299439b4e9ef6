// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_SHARED_SHARED_CONFIG_H
#define ZEPI_CACHE_SHARED_SHARED_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The address of a server, as a user writes it, and secrets in files. Functions return NULL, or the
// reason of a refusal: a static text, the end of a sentence.

//     redis://[USER@]HOST[:PORT][/DATABASE]      port 6379, database 0; an IPv6 HOST in brackets
//     redis+unix://[USER@]/PATH[?db=DATABASE]    a socket of this machine; unix:// is the same
//
// Passwords have no place in it: other users may see a process' environment.
struct zepi_shared_address {
    bool is_unix;
    char host[256]; // or the path of the socket
    char port[8];
    char user[128]; // "": the server's default
    char database[8];
};

const char *zepi_shared_address_parse(const char *text, struct zepi_shared_address *out_address);

// A key or a password. To be cleared after use (explicit_bzero).
struct zepi_shared_secret {
    uint8_t bytes[1024];
    size_t size; // 0: there is none
};

// Reads all of a plain file of the effective user or of root; its group may read it at the most,
// other users may not.
const char *zepi_shared_secret_read(const char *path, struct zepi_shared_secret *out_secret);

#endif
