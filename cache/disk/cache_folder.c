// SPDX-License-Identifier: MIT
#include "cache/disk/cache_folder.h"
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Makes every folder on the way that is missing. Those that are there, or cannot be made, show when
// the last one is opened. Returns the error of the last that cannot be made, or 0.
static int make_with_parents(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    int error = 0;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (zepi_sys_mkdir(part, 0700) != 0 && errno != EEXIST)
            error = errno;
    }
    return error;
}

static int open_last_folder(const char *path)
{
    return zepi_sys_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

static enum zepi_cache_folder_state state_of_error(int error)
{
    return error == ENOENT                      ? ZEPI_CACHE_FOLDER_MISSING
           : error == ENOTDIR || error == ELOOP ? ZEPI_CACHE_FOLDER_NOT_A_FOLDER
                                                : ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE;
}

enum owners { USER, USER_OR_ROOT };

static enum zepi_cache_folder_state state_of_folder(int fd, enum owners owners)
{
    struct stat info;
    if (fd < 0)
        return state_of_error(errno);
    if (zepi_sys_stat(fd, &info) != 0)
        return ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE;
    if (info.st_uid != geteuid() && (owners == USER || info.st_uid != 0))
        return ZEPI_CACHE_FOLDER_FOREIGN;
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return ZEPI_CACHE_FOLDER_WRITABLE;
    return ZEPI_CACHE_FOLDER_USABLE;
}

enum zepi_cache_folder_state zepi_cache_folder_open(const char *path,
                                                    enum zepi_cache_folder_mode mode, int *out_fd)
{
    char trimmed[PATH_MAX];
    size_t length = strlen(path);
    *out_fd = -1;
    if (length == 0 || length >= sizeof(trimmed))
        return ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE;
    memcpy(trimmed, path, length + 1);
    // With a slash at the end, a link would be followed.
    while (length > 1 && trimmed[length - 1] == '/')
        trimmed[--length] = '\0';

    int fd = open_last_folder(trimmed);
    if (fd < 0 && errno == ENOENT && mode == ZEPI_CACHE_FOLDER_CREATE) {
        const int error = make_with_parents(trimmed);
        fd = open_last_folder(trimmed);
        errno = fd < 0 && error != 0 ? error : errno;
    }
    enum zepi_cache_folder_state state = state_of_folder(fd, USER);
    if (state == ZEPI_CACHE_FOLDER_USABLE)
        *out_fd = fd;
    else if (fd >= 0)
        close(fd);
    return state;
}

enum zepi_cache_folder_state zepi_cache_folder_open_read_only(const char *path, int *out_fd,
                                                              char out_place[PATH_MAX])
{
    char resolved[PATH_MAX];
    *out_fd = -1;
    snprintf(out_place, PATH_MAX, "%s", path);
    if (!realpath(path, resolved))
        return state_of_error(errno);
    int fd = zepi_sys_open(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
    enum zepi_cache_folder_state state = state_of_folder(fd, USER_OR_ROOT);
    const char *end = resolved;
    // The walk opens each folder in the one before, so that no other user can replace a checked
    // one.
    while (state == ZEPI_CACHE_FOLDER_USABLE && end[0] && end[1]) {
        char name[NAME_MAX + 1];
        const size_t length = strcspn(end + 1, "/");
        snprintf(name, sizeof(name), "%.*s", (int)length, end + 1);
        const int next = zepi_sys_open(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
        state = state_of_folder(next, USER_OR_ROOT);
        close(fd);
        fd = next;
        end += 1 + length;
    }
    if (state == ZEPI_CACHE_FOLDER_USABLE)
        *out_fd = fd;
    else if (fd >= 0)
        close(fd);
    snprintf(out_place, PATH_MAX, "%.*s", end > resolved ? (int)(end - resolved) : 1, resolved);
    return state;
}

const char *zepi_cache_folder_describe(enum zepi_cache_folder_state state)
{
    static const char *const texts[] = {
        [ZEPI_CACHE_FOLDER_USABLE] = "usable",
        [ZEPI_CACHE_FOLDER_MISSING] = "not there yet",
        [ZEPI_CACHE_FOLDER_NOT_A_FOLDER] = "no folder, or a symbolic link",
        [ZEPI_CACHE_FOLDER_FOREIGN] = "owned by another user",
        [ZEPI_CACHE_FOLDER_WRITABLE] = "writable by group or others",
        [ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE] = "not accessible"};
    return texts[state];
}
