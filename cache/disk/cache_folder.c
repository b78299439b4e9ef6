// SPDX-License-Identifier: MIT
#include "cache/disk/cache_folder.h"
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Makes every folder on the way that is missing. Those that are there, or cannot be made, show when
// the last one is opened.
static void make_with_parents(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        (void)zepi_sys_mkdir(part, 0700);
    }
}

static int open_last_folder(const char *path)
{
    return zepi_sys_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

static enum zepi_cache_folder_state state_of_folder(int fd)
{
    struct stat info;
    if (zepi_sys_stat(fd, &info) != 0)
        return ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE;
    if (info.st_uid != geteuid())
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
        make_with_parents(trimmed);
        fd = open_last_folder(trimmed);
    }
    if (fd < 0)
        return errno == ENOENT                      ? ZEPI_CACHE_FOLDER_MISSING
               : errno == ENOTDIR || errno == ELOOP ? ZEPI_CACHE_FOLDER_NOT_A_FOLDER
                                                    : ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE;
    enum zepi_cache_folder_state state = state_of_folder(fd);
    if (state == ZEPI_CACHE_FOLDER_USABLE)
        *out_fd = fd;
    else
        close(fd);
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
