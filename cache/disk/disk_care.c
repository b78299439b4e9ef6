// SPDX-License-Identifier: MIT
#include "cache/disk/disk_care.h"

#include "cache/disk/atomic_file.h"
#include "cache/disk/disk_record.h"
#include "core/sys.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// Work on a folder that is open and trusted. Returns false if the folder cannot be listed.
typedef bool folder_work(int folder, void *user);

static enum zepi_cache_folder_state with_disk_folder(const struct zepi_disk *disk,
                                                     folder_work *work, void *user)
{
    int folder;
    enum zepi_cache_folder_state state =
        zepi_cache_folder_open(zepi_disk_path(disk), ZEPI_CACHE_FOLDER_EXISTING, &folder);
    if (state != ZEPI_CACHE_FOLDER_USABLE)
        return state;
    if (!work(folder, user))
        state = ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE;
    close(folder);
    return state;
}

struct visit {
    bool (*visit)(void *user, const struct zepi_disk_file *file);
    void *user;
};

static bool visit_files(int folder, void *user)
{
    const struct visit *visit = user;
    struct zepi_disk_list list;
    if (!zepi_disk_list_init(&list, folder))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        const struct zepi_disk_item *item = &list.items[i];
        const struct zepi_disk_file file = {.name = item->name,
                                            .kind = item->kind,
                                            .size_bytes = item->size_bytes,
                                            .last_use_ns = item->last_use_ns};
        if (!visit->visit(visit->user, &file))
            break;
    }
    zepi_disk_list_finish(&list);
    return true;
}

enum zepi_cache_folder_state
zepi_disk_for_each(struct zepi_disk *disk,
                   bool (*visit)(void *user, const struct zepi_disk_file *file), void *user)
{
    struct visit all = {visit, user};
    return with_disk_folder(disk, visit_files, &all);
}

static void tally_add(struct zepi_disk_tally *tally, uint64_t bytes)
{
    tally->files++;
    tally->bytes += bytes;
}

// Whether the bytes are a whole record; *out_name is then the name of its key's file.
static bool is_sound(const void *bytes, size_t size, struct zepi_disk_record_view *out_view,
                     char out_name[ZEPI_DISK_NAME_BYTES])
{
    if (!zepi_disk_record_decode(bytes, size, out_view))
        return false;
    zepi_disk_name_of(zepi_digest_of(out_view->key, out_view->key_size), out_name);
    return true;
}

// Returns which tally the file belongs to: it is good if it is sound and of the key that its name
// says.
static struct zepi_disk_tally *tally_for_record(int folder, const char *name,
                                                struct zepi_disk_report *report)
{
    char expected[ZEPI_DISK_NAME_BYTES];
    struct zepi_disk_record_view view;
    void *bytes;
    size_t size;
    int error = zepi_atomic_file_read(folder, name, ZEPI_DISK_MAX_FILE_BYTES,
                                      ZEPI_ATOMIC_FILE_NO_TOUCH, &bytes, &size);
    if (error != 0)
        return zepi_atomic_file_is_bad(error) ? &report->bad : &report->unreadable;
    const bool is_good = is_sound(bytes, size, &view, expected) && strcmp(expected, name) == 0;
    zepi_sys_free(bytes);
    return is_good ? &report->good : &report->bad;
}

struct sound_visit {
    bool (*visit)(void *user, const struct zepi_disk_sound_file *file);
    void *user;
};

// Returns whether to go on.
static bool visit_if_sound(const struct sound_visit *visit, int folder, const char *name)
{
    char expected[ZEPI_DISK_NAME_BYTES];
    struct zepi_disk_record_view view;
    void *bytes;
    size_t size;
    bool goes_on = true;
    if (zepi_atomic_file_read(folder, name, ZEPI_DISK_MAX_FILE_BYTES, ZEPI_ATOMIC_FILE_NO_TOUCH,
                              &bytes, &size) != 0)
        return true;
    if (is_sound(bytes, size, &view, expected) && strcmp(expected, name) == 0)
        goes_on = visit->visit(visit->user, &(struct zepi_disk_sound_file){
                                                name, bytes, size, view.key, view.key_size});
    zepi_sys_free(bytes);
    return goes_on;
}

static bool visit_sound_files(int folder, void *user)
{
    struct zepi_disk_list list;
    bool goes_on = true;
    if (!zepi_disk_list_init(&list, folder))
        return false;
    for (size_t i = 0; i < list.count && goes_on; i++) {
        if (list.items[i].kind == ZEPI_DISK_FILE_RESULT)
            goes_on = visit_if_sound(user, folder, list.items[i].name);
    }
    zepi_disk_list_finish(&list);
    return true;
}

enum zepi_cache_folder_state
zepi_disk_for_each_sound(struct zepi_disk *disk,
                         bool (*visit)(void *user, const struct zepi_disk_sound_file *file),
                         void *user)
{
    struct sound_visit all = {visit, user};
    return with_disk_folder(disk, visit_sound_files, &all);
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

struct verification {
    enum zepi_disk_verify_mode mode;
    void (*note)(void *user, const char *name, enum zepi_disk_flaw flaw); // NULL: nothing is told
    void *user;
    struct zepi_disk_report report;
};

static void note_flaw(const struct verification *verification, const char *name,
                      enum zepi_disk_flaw flaw)
{
    if (verification->note)
        verification->note(verification->user, name, flaw);
}

static void verify_record(struct verification *verification, int folder,
                          const struct zepi_disk_item *item)
{
    struct zepi_disk_report *report = &verification->report;
    struct zepi_disk_tally *tally = tally_for_record(folder, item->name, report);
    tally_add(tally, item->size_bytes);
    if (tally == &report->unreadable)
        note_flaw(verification, item->name, ZEPI_DISK_FLAW_UNREADABLE);
    if (tally != &report->bad)
        return;
    note_flaw(verification, item->name, ZEPI_DISK_FLAW_BAD);
    if (verification->mode == ZEPI_DISK_REMOVE_BAD)
        (void)zepi_sys_unlink(folder, item->name);
}

static bool verify_files(int folder, void *user)
{
    struct verification *verification = user;
    struct zepi_disk_report *report = &verification->report;
    struct zepi_disk_list list;
    if (!zepi_disk_list_init(&list, folder))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        const struct zepi_disk_item *item = &list.items[i];
        if (item->kind == ZEPI_DISK_FILE_OTHER_VERSION) {
            tally_add(&report->other_version, item->size_bytes);
            note_flaw(verification, item->name, ZEPI_DISK_FLAW_OTHER_VERSION);
        } else if (item->kind == ZEPI_DISK_FILE_TEMPORARY) {
            tally_add(&report->temporary, item->size_bytes);
        } else {
            verify_record(verification, folder, item);
        }
    }
    zepi_disk_list_finish(&list);
    return true;
}

enum zepi_cache_folder_state
zepi_disk_verify(struct zepi_disk *disk, enum zepi_disk_verify_mode mode,
                 void (*note)(void *user, const char *name, enum zepi_disk_flaw flaw), void *user,
                 struct zepi_disk_report *out_report)
{
    struct verification verification = {.mode = mode, .note = note, .user = user};
    enum zepi_cache_folder_state state = with_disk_folder(disk, verify_files, &verification);
    *out_report = verification.report;
    return state;
}

struct trimming {
    uint64_t bytes;
    struct zepi_disk_tally left;
    struct zepi_disk_tally removed;
};

static bool trim_files(int folder, void *user)
{
    struct trimming *trimming = user;
    return zepi_disk_trim_folder(folder, trimming->bytes, trimming->bytes, &trimming->left,
                                 &trimming->removed);
}

enum zepi_cache_folder_state zepi_disk_trim(struct zepi_disk *disk, uint64_t bytes,
                                            struct zepi_disk_tally *out_removed)
{
    struct trimming trimming = {.bytes = bytes};
    enum zepi_cache_folder_state state = with_disk_folder(disk, trim_files, &trimming);
    *out_removed = trimming.removed;
    return state;
}
