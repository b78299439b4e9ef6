// SPDX-License-Identifier: MIT
#include "paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool path_of_program(char *path)
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    // A program that a dynamic loader was told to load has the loader's file, and its own as name.
    const char *slash = strrchr(path, '/');
    return !slash || strncmp(slash, "/ld-linux", strlen("/ld-linux")) != 0 ||
           realpath(program_invocation_name, path);
}

bool path_find_library(const char *variable, const char *name, char *path)
{
    char program[PATH_MAX];
    const char *set = getenv(variable);
    if (set && set[0])
        return snprintf(path, PATH_MAX, "%s", set) < PATH_MAX && access(path, R_OK) == 0;
    snprintf(path, PATH_MAX, "../lib/%s", name);
    char *slash = path_of_program(program) ? strrchr(program, '/') : NULL;
    if (!slash)
        return false;
    *slash = '\0';
    // Where it is installed, in the build folder, and where a Debian package has them.
    static const char *const folders[] = {ZEPI_LIBRARY_FOLDER, "lib", "lib/" ZEPI_ARCHITECTURE};
    bool is_there = false;
    for (int i = 0; i < 3 && !is_there; i++)
        is_there = snprintf(path, PATH_MAX, "%s/../%s/%s", program, folders[i], name) < PATH_MAX &&
                   access(path, R_OK) == 0;
    return is_there;
}
