// SPDX-License-Identifier: MIT
//
// Programs that this process starts come up on the same driver: where DRM_SHIM_LAUNCHER names zepi,
// exec and spawn functions start "zepi exec --intel-driver -- PROGRAM ARGUMENT...". Programs that
// the C library starts by itself, in system() and popen(), and those of the execl functions, run
// without.
//
// A child of vfork() may call these: no allocation, no lock.
#include "program.h"
#include "public.h"

#include <alloca.h>
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// NULL: programs start as they are. Asked for each time, so that a program can decide by itself.
static const char *launcher(void)
{
    const char *path = getenv("DRM_SHIM_LAUNCHER");
    return path && path[0] == '/' ? path : NULL;
}

static struct {
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                 const posix_spawnattr_t *, char *const[], char *const[]);
    int (*spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                  const posix_spawnattr_t *, char *const[], char *const[]);
} real;

static void find(void *function, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof(symbol));
}

__attribute__((constructor)) static void find_functions(void)
{
    find(&real.execve, "execve");
    find(&real.execvpe, "execvpe");
    find(&real.spawn, "posix_spawn");
    find(&real.spawnp, "posix_spawnp");
}

// A file that cannot be executed is left to the real function, which says why.
static int is_launched(const char *path)
{
    struct stat about;
    return launcher() && path && strcmp(path, launcher()) != 0 && access(path, X_OK) == 0 &&
           stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

#define FRONT 4

static size_t count_of(char *const arguments[])
{
    size_t count = 0;
    while (arguments[count])
        count++;
    return count;
}

// `line` has room for FRONT + count_of(arguments) + 2 pointers.
static void fill(char **line, const char *program, char *const arguments[])
{
    const size_t count = count_of(arguments);
    const char *const front[FRONT] = {launcher(), "exec", "--intel-driver", "--"};
    memcpy(line, front, sizeof(front));
    // The launcher's own /proc/self/exe would be another program.
    const char *own = shim_program_instead_of(program);
    line[FRONT] = (char *)(own ? own : program);
    for (size_t i = 1; i <= count; i++)
        line[FRONT + i] = arguments[i];
    line[FRONT + (count ? count : 1)] = NULL;
}

#define LINE(program, arguments)                                                                   \
    char **line = alloca((FRONT + count_of(arguments) + 2) * sizeof(*line));                       \
    fill(line, program, arguments)

SHIM_PUBLIC int execve(const char *path, char *const arguments[], char *const environment[])
{
    if (!is_launched(path))
        return real.execve(path, arguments, environment);
    LINE(path, arguments);
    return real.execve(launcher(), line, environment);
}

SHIM_PUBLIC int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

// A name without a slash is searched for by the launcher; that it is not there is its exit code
// 127.
SHIM_PUBLIC int execvpe(const char *name, char *const arguments[], char *const environment[])
{
    if (!launcher() || !name[0] || strcmp(name, launcher()) == 0)
        return real.execvpe(name, arguments, environment);
    LINE(name, arguments);
    return real.execve(launcher(), line, environment);
}

SHIM_PUBLIC int execvp(const char *name, char *const arguments[])
{
    return execvpe(name, arguments, environ);
}

SHIM_PUBLIC int posix_spawn(pid_t *out_process, const char *path,
                            const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const arguments[],
                            char *const environment[])
{
    if (!is_launched(path))
        return real.spawn(out_process, path, actions, attributes, arguments, environment);
    LINE(path, arguments);
    return real.spawn(out_process, launcher(), actions, attributes, line, environment);
}

SHIM_PUBLIC int posix_spawnp(pid_t *out_process, const char *name,
                             const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const arguments[],
                             char *const environment[])
{
    if (!launcher() || !name[0] || strcmp(name, launcher()) == 0)
        return real.spawnp(out_process, name, actions, attributes, arguments, environment);
    LINE(name, arguments);
    return real.spawn(out_process, launcher(), actions, attributes, line, environment);
}
