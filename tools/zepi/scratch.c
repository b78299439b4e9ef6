// SPDX-License-Identifier: MIT
#include "scratch.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool scratch_make(const char *name, char *folder)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, PATH_MAX, "%s/zepi-%s-XXXXXX", parent && parent[0] ? parent : "/tmp", name);
    if (mkdtemp(folder))
        return true;
    fprintf(stderr, "zepi %s: %s: %s\n", name, folder, strerror(errno));
    return false;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

void scratch_remove(const char *folder)
{
    if (nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
        perror(folder);
}
