// SPDX-License-Identifier: MIT
#include "cache/disk/disk_list.h"
#include "cache/disk/atomic_file.h"
#include "cache/disk/disk_record.h"
#include "core/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX ".zepi"

void zepi_disk_name_of(struct zepi_digest digest, char out_name[ZEPI_DISK_NAME_BYTES])
{
    char hex[ZEPI_DIGEST_HEX_LENGTH + 1];
    zepi_digest_to_hex(digest, hex);
    snprintf(out_name, ZEPI_DISK_NAME_BYTES, "%s" SUFFIX "%d", hex, ZEPI_DISK_FORMAT_VERSION);
}

// Whether a name is one of ours, and of which kind.
static bool disk_name_parse(const char *name, enum zepi_disk_file_kind *out_kind)
{
    static const char temporary[] = ZEPI_ATOMIC_FILE_TEMPORARY_PREFIX;
    if (strlen(name) >= ZEPI_DISK_NAME_BYTES)
        return false;
    if (strncmp(name, temporary, sizeof(temporary) - 1) == 0) {
        *out_kind = ZEPI_DISK_FILE_TEMPORARY;
        return true;
    }
    if (strspn(name, "0123456789abcdef") != ZEPI_DIGEST_HEX_LENGTH)
        return false;
    const char *suffix = name + ZEPI_DIGEST_HEX_LENGTH;
    if (strncmp(suffix, SUFFIX, sizeof(SUFFIX) - 1) != 0)
        return false;
    const char *version = suffix + sizeof(SUFFIX) - 1;
    size_t digits = strspn(version, "0123456789");
    if (digits == 0 || version[digits] != '\0')
        return false;
    char ours[16];
    snprintf(ours, sizeof(ours), "%d", ZEPI_DISK_FORMAT_VERSION);
    *out_kind = strcmp(version, ours) == 0 ? ZEPI_DISK_FILE_RESULT : ZEPI_DISK_FILE_OTHER_VERSION;
    return true;
}

static bool disk_list_add(struct zepi_disk_list *list, const struct zepi_disk_file *file)
{
    struct zepi_disk_file *files =
        zepi_grow(list->files, list->count, &list->capacity, sizeof(*files));
    if (!files)
        return false;
    list->files = files;
    list->files[list->count++] = *file;
    list->bytes += file->size_bytes;
    return true;
}

// Returns false if the file vanished or is a folder.
static bool disk_file_read_times(int folder, struct zepi_disk_file *file)
{
    struct stat info;
    if (zepi_sys_stat_at(folder, file->name, &info) != 0 || S_ISDIR(info.st_mode))
        return false;
    file->size_bytes = (uint64_t)info.st_size;
    file->last_use_ns =
        (int64_t)info.st_mtim.tv_sec * INT64_C(1000000000) + (int64_t)info.st_mtim.tv_nsec;
    return true;
}

bool zepi_disk_list_init(struct zepi_disk_list *out_list, int folder)
{
    struct zepi_disk_list list = {0};
    const struct dirent *at;
    bool is_complete = true;
    DIR *listing = zepi_sys_list(folder);
    if (!listing)
        return false;
    while (is_complete && (at = readdir(listing))) {
        struct zepi_disk_file file = {0};
        if (!disk_name_parse(at->d_name, &file.kind))
            continue;
        memcpy(file.name, at->d_name, strlen(at->d_name) + 1);
        if (disk_file_read_times(folder, &file))
            is_complete = disk_list_add(&list, &file);
    }
    closedir(listing);
    if (is_complete)
        *out_list = list;
    else
        zepi_disk_list_finish(&list);
    return is_complete;
}

void zepi_disk_list_finish(struct zepi_disk_list *list)
{
    zepi_sys_free(list->files);
    *list = (struct zepi_disk_list){0};
}

static int compare_last_use(const void *a, const void *b)
{
    int64_t use_a = ((const struct zepi_disk_file *)a)->last_use_ns;
    int64_t use_b = ((const struct zepi_disk_file *)b)->last_use_ns;
    return (use_a > use_b) - (use_a < use_b);
}

static bool file_was_used_since(int folder, const struct zepi_disk_file *file)
{
    struct zepi_disk_file now = *file;
    return disk_file_read_times(folder, &now) && now.last_use_ns != file->last_use_ns;
}

bool zepi_disk_trim_folder(int folder, uint64_t limit_bytes, uint64_t target_bytes,
                           struct zepi_disk_tally *out_left, struct zepi_disk_tally *out_removed)
{
    struct zepi_disk_list list;
    if (!zepi_disk_list_init(&list, folder))
        return false;
    struct zepi_disk_tally removed = {0};
    for (size_t i = 0; i < list.count; i++) {
        struct zepi_disk_file *file = &list.files[i];
        if (file->kind != ZEPI_DISK_FILE_TEMPORARY || !zepi_atomic_file_sweep(folder, file->name))
            continue;
        removed.files++;
        removed.bytes += file->size_bytes;
    }
    if (list.count > 1)
        qsort(list.files, list.count, sizeof(*list.files), compare_last_use);
    // Everything goes at a limit of 0: empty files, too.
    bool is_exceeded = limit_bytes == 0 || list.bytes - removed.bytes > limit_bytes;
    for (size_t i = 0; is_exceeded && i < list.count; i++) {
        const struct zepi_disk_file *file = &list.files[i];
        if (target_bytes > 0 && list.bytes - removed.bytes <= target_bytes)
            break;
        if (file->kind == ZEPI_DISK_FILE_TEMPORARY || file_was_used_since(folder, file) ||
            zepi_sys_unlink(folder, file->name) != 0)
            continue;
        removed.files++;
        removed.bytes += file->size_bytes;
    }
    *out_left = (struct zepi_disk_tally){list.count - removed.files, list.bytes - removed.bytes};
    *out_removed = removed;
    zepi_disk_list_finish(&list);
    return true;
}
