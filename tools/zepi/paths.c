// SPDX-License-Identifier: MIT
#include "paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

bool path_of_program(char *path)
{
    // The kernel's word, which needs no /proc. A dynamic loader that was told to load the program
    // may leave its own file there.
    const char *name = (const char *)getauxval(AT_EXECFN);
    const char *slash = name ? strrchr(name, '/') : NULL;
    if (!name || (slash && strncmp(slash, "/ld-linux", strlen("/ld-linux")) == 0))
        name = program_invocation_name;
    return realpath(name, path);
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
    static const char *const folders[] = {ZEPI_LIBRARY_FOLDER, "lib", ("lib/" ZEPI_ARCHITECTURE)};
    bool is_there = false;
    for (int i = 0; i < 3 && !is_there; i++)
        is_there = snprintf(path, PATH_MAX, "%s/../%s/%s", program, folders[i], name) < PATH_MAX &&
                   access(path, R_OK) == 0;
    return is_there;
}

void path_ask_for_adapter(const char *path)
{
    const char *name = strrchr(path, '/');
    setenv("UR_LOADER_USE_LEVEL_ZERO_V2", strstr(name ? name : path, "_v2") ? "1" : "0", 1);
}
