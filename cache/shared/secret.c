// SPDX-License-Identifier: MIT
#include "cache/shared/secret.h"

#include "core/sys.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool can_be_trusted(const struct stat *info)
{
    return S_ISREG(info->st_mode) && (info->st_uid == geteuid() || info->st_uid == 0) &&
           (info->st_mode & (S_IWGRP | S_IRWXO)) == 0;
}

const char *zepi_shared_secret_read(const char *path, struct zepi_shared_secret *out_secret)
{
    struct stat info;
    ssize_t size = 0;
    out_secret->size = 0;
    // Not blocking: a pipe without a writer is no file.
    const int file = zepi_sys_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    if (file < 0)
        return "it cannot be opened";
    const char *wrong = NULL;
    if (zepi_sys_stat(file, &info) != 0 || !can_be_trusted(&info))
        wrong = "expected a file of yours or root's that the group cannot write, and others cannot "
                "read";
    while (!wrong && out_secret->size < sizeof(out_secret->bytes)) {
        size = zepi_sys_read(file, out_secret->bytes + out_secret->size,
                             sizeof(out_secret->bytes) - out_secret->size);
        if (size <= 0)
            break;
        out_secret->size += (size_t)size;
    }
    close(file);
    if (!wrong && size < 0)
        wrong = "it cannot be read";
    if (!wrong && (out_secret->size == 0 || out_secret->size == sizeof(out_secret->bytes)))
        wrong = "expected from 1 to 1023 bytes";
    if (wrong)
        zepi_shared_secret_finish(out_secret);
    return wrong;
}

void zepi_shared_secret_cut_line(struct zepi_shared_secret *secret)
{
    const uint8_t *end = memchr(secret->bytes, '\n', secret->size);
    if (end)
        secret->size = (size_t)(end - secret->bytes);
}

void zepi_shared_secret_finish(struct zepi_shared_secret *secret)
{
    explicit_bzero(secret, sizeof(*secret));
}
