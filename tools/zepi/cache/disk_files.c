// SPDX-License-Identifier: MIT
#include "disk_files.h"

#include "cache/disk/atomic_file.h"
#include "cache/disk/disk_record.h"
#include "core/sys.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// Whether the bytes are a whole record; *out_name is then the name of its key's file.
static bool is_sound(const void *bytes, size_t size, struct zepi_disk_record_view *out_view,
                     char out_name[ZEPI_DISK_NAME_BYTES])
{
    if (!zepi_disk_record_decode(bytes, size, out_view))
        return false;
    zepi_disk_name_of(zepi_digest_of(out_view->key, out_view->key_size), out_name);
    return true;
}

// A file is good if it is sound and of the key that its name says. Returns its bytes, which the
// caller frees by zepi_sys_free; NULL: it is not good.
static void *disk_file_read(int folder, struct zepi_disk_file *file)
{
    char expected[ZEPI_DISK_NAME_BYTES];
    struct zepi_disk_record_view view;
    void *bytes = NULL;
    size_t size;
    const int error = zepi_atomic_file_read(folder, file->name, ZEPI_DISK_MAX_FILE_BYTES,
                                            ZEPI_ATOMIC_FILE_NO_TOUCH, &bytes, &size);
    if (error == 0 && is_sound(bytes, size, &view, expected) && strcmp(expected, file->name) == 0) {
        file->size_bytes = size;
        file->bytes = bytes;
        file->key = view.key;
        file->key_size = view.key_size;
        return bytes;
    }
    file->kind = error == 0 || zepi_atomic_file_is_bad(error) ? ZEPI_DISK_FILE_BAD
                                                              : ZEPI_DISK_FILE_UNREADABLE;
    zepi_sys_free(bytes);
    return NULL;
}

enum zepi_cache_folder_state
zepi_disk_for_each(struct zepi_disk *disk, enum zepi_disk_visit mode,
                   bool (*visit)(void *user, const struct zepi_disk_file *file), void *user)
{
    struct zepi_disk_list list = {0};
    bool goes_on = true;
    int folder;
    enum zepi_cache_folder_state state =
        zepi_cache_folder_open(zepi_disk_path(disk), ZEPI_CACHE_FOLDER_EXISTING, &folder);
    if (state != ZEPI_CACHE_FOLDER_USABLE)
        return state;
    if (!zepi_disk_list_init(&list, folder))
        state = ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE;
    for (size_t i = 0; i < list.count && goes_on; i++) {
        struct zepi_disk_file *file = &list.files[i];
        void *bytes = NULL;
        if (mode != ZEPI_DISK_LIST && file->kind == ZEPI_DISK_FILE_RESULT)
            bytes = disk_file_read(folder, file);
        goes_on = visit(user, file);
        zepi_sys_free(bytes);
        if (mode == ZEPI_DISK_REMOVE_BAD && file->kind == ZEPI_DISK_FILE_BAD)
            (void)zepi_sys_unlink(folder, file->name);
    }
    zepi_disk_list_finish(&list);
    close(folder);
    return state;
}

bool zepi_disk_report_add(void *report, const struct zepi_disk_file *file)
{
    struct zepi_disk_tally *tally = &((struct zepi_disk_report *)report)->of[file->kind];
    tally->files++;
    tally->bytes += file->size_bytes;
    return true;
}

enum zepi_cache_folder_state zepi_disk_count(struct zepi_disk *disk, enum zepi_disk_visit mode,
                                             struct zepi_disk_report *out_report)
{
    *out_report = (struct zepi_disk_report){0};
    return zepi_disk_for_each(disk, mode, zepi_disk_report_add, out_report);
}

bool zepi_disk_import(struct zepi_disk *disk, const void *bytes, size_t size_bytes,
                      bool *out_is_sound)
{
    char name[ZEPI_DISK_NAME_BYTES];
    struct zepi_disk_record_view view;
    const struct zepi_digest_part part = {bytes, size_bytes};
    int folder;
    *out_is_sound = is_sound(bytes, size_bytes, &view, name);
    if (!*out_is_sound || zepi_cache_folder_open(zepi_disk_path(disk), ZEPI_CACHE_FOLDER_CREATE,
                                                 &folder) != ZEPI_CACHE_FOLDER_USABLE)
        return false;
    const int error = zepi_atomic_file_write(folder, name, &part, 1);
    close(folder);
    errno = error;
    return error == 0;
}

enum zepi_cache_folder_state zepi_disk_trim(struct zepi_disk *disk, uint64_t bytes,
                                            struct zepi_disk_tally *out_removed)
{
    struct zepi_disk_tally left;
    int folder;
    *out_removed = (struct zepi_disk_tally){0};
    enum zepi_cache_folder_state state =
        zepi_cache_folder_open(zepi_disk_path(disk), ZEPI_CACHE_FOLDER_EXISTING, &folder);
    if (state != ZEPI_CACHE_FOLDER_USABLE)
        return state;
    if (!zepi_disk_trim_folder(folder, bytes, bytes, &left, out_removed))
        state = ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE;
    close(folder);
    return state;
}
