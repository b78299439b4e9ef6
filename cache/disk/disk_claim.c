// SPDX-License-Identifier: MIT
#include "cache/disk/disk_claim.h"
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define LOCK_FILE ".zepi-lock"
#define LONGEST_PAUSE_NS 32000000

static int64_t last_abandoned_ns(int file)
{
    struct stat info;
    return zepi_sys_stat(file, &info) == 0
               ? (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec
               : 0;
}

// Whether the byte is locked now, and is to stay so.
static bool lock_byte(int file, off_t byte, unsigned wait_ms)
{
    const uint64_t end_ns = zepi_clock_ns() + wait_ms * UINT64_C(1000000);
    const int64_t abandoned_ns = last_abandoned_ns(file);
    struct timespec pause = {.tv_nsec = 1000000};
    int result = zepi_sys_try_lock_byte(file, byte);
    const bool has_waited = result != 0;
    while (result != 0 && errno == EAGAIN && zepi_clock_ns() < end_ns) {
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < LONGEST_PAUSE_NS)
            pause.tv_nsec *= 2;
        result = zepi_sys_try_lock_byte(file, byte);
    }
    return result == 0 && !(has_waited && last_abandoned_ns(file) != abandoned_ns);
}

int zepi_disk_claim_take(int folder, struct zepi_digest key, unsigned wait_ms)
{
    // A description of its own: closing it drops the lock.
    const int file = zepi_sys_open(folder, LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (file < 0 || lock_byte(file, (off_t)(key.low >> 2), wait_ms))
        return file;
    close(file);
    return -1;
}

void zepi_disk_claim_give(int claim, enum zepi_disk_claim_end end)
{
    if (claim < 0)
        return;
    if (end == ZEPI_DISK_CLAIM_ABANDONED)
        (void)zepi_sys_touch(claim);
    close(claim);
}
