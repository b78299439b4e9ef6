// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_SHARED_ADDRESS_H
#define ZEPI_CACHE_SHARED_ADDRESS_H

#include <stdbool.h>

// The address of a server, as a user writes it:
//
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

// Returns NULL, or the reason of a refusal: a static text, the end of a sentence.
const char *zepi_shared_address_parse(const char *text, struct zepi_shared_address *out_address);

#endif
