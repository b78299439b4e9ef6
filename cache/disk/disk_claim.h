// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_DISK_DISK_CLAIM_H
#define ZEPI_CACHE_DISK_DISK_CLAIM_H

#include "cache/digest.h"

// Which keys this process builds while others that have the folder wait: of processes that start at
// once, one compiles. A claim is a lock on one byte of a file in the folder, which the digest of
// the key chooses; the kernel drops it at the end of its process. Any thread.

// Claims a key in the open folder; waits until another process gives its claim up, at most for
// `wait_ms`. Returns a descriptor, to be given back; or -1, and the caller builds as well: the time
// was over, the folder cannot lock, or the process that had the claim found no result.
int zepi_disk_claim_take(int folder, struct zepi_digest key, unsigned wait_ms);

// Gives up a claim; -1 is fine. Without a result, the processes that wait build at once.
enum zepi_disk_claim_end { ZEPI_DISK_CLAIM_STORED, ZEPI_DISK_CLAIM_ABANDONED };
void zepi_disk_claim_give(int claim, enum zepi_disk_claim_end end);

#endif
