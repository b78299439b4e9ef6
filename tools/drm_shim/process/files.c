// SPDX-License-Identifier: MIT
// Stands in front of the C library's functions for files: the device's paths lead to the tree, and
// its render node is the arena.
#include "device/device.h"
#include "memory/arena.h"
#include "program.h"
#include "public.h"
#include "tree.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// Declares `real`, the C library's function; it is looked up once.
#define REAL(result, name, ...)                                                                    \
    static result (*real)(__VA_ARGS__);                                                            \
    if (real == NULL)                                                                              \
    *(void **)(&real) = dlsym(RTLD_NEXT, name)

#define IOCTL_TYPE_DRM 'd'

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    REAL(int, "openat", int, const char *, int, ...);
    const int node = shim_tree_node(path);
    if (node >= 0)
        return shim_arena_open((uint32_t)node);
    char buffer[PATH_MAX];
    return real(folder, shim_tree_path(path, buffer), flags, mode);
}

static bool has_mode(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

// `folder` and `path` are among the parameters, or `folder` is AT_FDCWD.
#define OPEN(name, folder, ...)                                                                    \
    SHIM_PUBLIC int name(__VA_ARGS__, int flags, ...)                                              \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        const mode_t mode = has_mode(flags) ? va_arg(arguments, mode_t) : 0;                       \
        va_end(arguments);                                                                         \
        return open_at(folder, path, flags, mode);                                                 \
    }
OPEN(openat, folder, int folder, const char *path)
OPEN(openat64, folder, int folder, const char *path)
OPEN(open, AT_FDCWD, const char *path)
OPEN(open64, AT_FDCWD, const char *path)

// open() with _FORTIFY_SOURCE.
SHIM_PUBLIC int __open_2(const char *path, int flags);
SHIM_PUBLIC int __open_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

SHIM_PUBLIC int __open64_2(const char *path, int flags);
SHIM_PUBLIC int __open64_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

SHIM_PUBLIC FILE *fopen(const char *path, const char *mode)
{
    REAL(FILE *, "fopen", const char *, const char *);
    char buffer[PATH_MAX];
    return real(shim_tree_path(path, buffer), mode);
}

SHIM_PUBLIC FILE *fopen64(const char *path, const char *mode)
{
    REAL(FILE *, "fopen64", const char *, const char *);
    char buffer[PATH_MAX];
    return real(shim_tree_path(path, buffer), mode);
}

SHIM_PUBLIC DIR *opendir(const char *path)
{
    REAL(DIR *, "opendir", const char *);
    char buffer[PATH_MAX];
    return real(shim_tree_path(path, buffer));
}

SHIM_PUBLIC int access(const char *path, int mode)
{
    REAL(int, "access", const char *, int);
    char buffer[PATH_MAX];
    return real(shim_tree_path(path, buffer), mode);
}

SHIM_PUBLIC ssize_t readlink(const char *path, char *to, size_t size)
{
    REAL(ssize_t, "readlink", const char *, char *, size_t);
    char buffer[PATH_MAX];
    const char *program = shim_program_instead_of(path);
    if (program) {
        const size_t length = strnlen(program, size);
        memcpy(to, program, length);
        return (ssize_t)length;
    }
    return real(shim_tree_path(path, buffer), to, size);
}

SHIM_PUBLIC char *realpath(const char *path, char *to)
{
    REAL(char *, "realpath", const char *, char *);
    char buffer[PATH_MAX];
    const char *program = shim_program_instead_of(path);
    char *result = real(program ? program : shim_tree_path(path, buffer), to);
    if (result != NULL)
        shim_tree_strip(result);
    return result;
}

// -1: it is none.
static void describe_node(int node, struct stat *file)
{
    if (node < 0)
        return;
    file->st_mode = S_IFCHR | 0660;
    file->st_rdev = makedev(SHIM_NODE_MAJOR, SHIM_NODE_MINOR + (unsigned)node);
}

SHIM_PUBLIC int stat(const char *restrict path, struct stat *restrict file)
{
    REAL(int, "stat", const char *, struct stat *);
    char buffer[PATH_MAX];
    const int result = real(shim_tree_path(path, buffer), file);
    if (result == 0)
        describe_node(shim_tree_node(path), file);
    return result;
}

SHIM_PUBLIC int lstat(const char *restrict path, struct stat *restrict file)
{
    REAL(int, "lstat", const char *, struct stat *);
    char buffer[PATH_MAX];
    return real(shim_tree_path(path, buffer), file);
}

SHIM_PUBLIC int fstat(int fd, struct stat *file)
{
    REAL(int, "fstat", int, struct stat *);
    const int result = real(fd, file);
    if (result == 0)
        describe_node(shim_arena_node(fd), file);
    return result;
}

// One layout of both structures on this platform.
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "stat64 is stat");

SHIM_PUBLIC int stat64(const char *restrict path, struct stat64 *restrict file)
{
    return stat(path, (struct stat *)file);
}

SHIM_PUBLIC int lstat64(const char *restrict path, struct stat64 *restrict file)
{
    return lstat(path, (struct stat *)file);
}

SHIM_PUBLIC int fstat64(int fd, struct stat64 *file)
{
    return fstat(fd, (struct stat *)file);
}

SHIM_PUBLIC int ioctl(int fd, unsigned long request, ...)
{
    REAL(int, "ioctl", int, unsigned long, ...);
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    // Callers that keep requests in an int sign-extend them.
    const int node = _IOC_TYPE(request) == IOCTL_TYPE_DRM ? shim_arena_node(fd) : -1;
    if (node >= 0)
        return shim_device_ioctl(shim_node_at((size_t)node), request & 0xffffffffu, argument);
    return real(fd, request, argument);
}
