// SPDX-License-Identifier: MIT
#include "cache/disk/disk.h"
#include "cache/disk/atomic_file.h"
#include "cache/disk/disk_list.h"
#include "cache/disk/disk_record.h"
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STORES_PER_SCAN = 64 };

#define LOCK_FILE ".zepi-lock"
#define LONGEST_PAUSE_NS 32000000

struct read_only {
    const char *path; // in read_only_paths
    atomic_flag is_told;
};

struct zepi_disk {
    char *path;            // owned
    char *read_only_paths; // owned; NULL: none
    struct read_only read_only[ZEPI_DISK_READ_ONLY_MAX];
    unsigned read_only_count;
    zepi_disk_note_fn *note;
    atomic_int store_error; // an errno, of the last store; 0: it went well
    _Atomic uint64_t limit_bytes;
    // The estimated size of the folder: that of the last scan and of the files that this process
    // stored since. Two threads that update it at once may leave it a little wrong until the next
    // scan.
    _Atomic uint64_t known_bytes;
    _Atomic uint64_t stores;
};

static char *copy_absolute(const char *path)
{
    char folder[PATH_MAX] = "";
    // If the working directory is not known, the path stays relative.
    if (path[0] && path[0] != '/' && !getcwd(folder, sizeof(folder)))
        folder[0] = '\0';
    const size_t size = strlen(folder) + strlen(path) + 2;
    char *copy = zepi_sys_allocate(size);
    if (copy)
        snprintf(copy, size, "%s%s%s", folder, folder[0] ? "/" : "", path);
    return copy;
}

struct zepi_disk *zepi_disk_create(const char *path, uint64_t limit_bytes)
{
    struct zepi_disk *disk = zepi_sys_allocate(sizeof(*disk));
    if (!disk)
        return NULL;
    *disk = (struct zepi_disk){.path = copy_absolute(path), .limit_bytes = limit_bytes};
    if (!disk->path) {
        zepi_sys_free(disk);
        return NULL;
    }
    return disk;
}

void zepi_disk_destroy(struct zepi_disk *disk)
{
    if (!disk)
        return;
    zepi_sys_free(disk->read_only_paths);
    zepi_sys_free(disk->path);
    zepi_sys_free(disk);
}

bool zepi_disk_add_read_only(struct zepi_disk *disk, const char *paths, zepi_disk_note_fn *note)
{
    disk->note = note;
    disk->read_only_paths = copy_absolute(paths);
    if (!disk->read_only_paths)
        return false;
    for (char *rest = disk->read_only_paths, *path;
         disk->read_only_count < ZEPI_DISK_READ_ONLY_MAX && (path = strsep(&rest, ":"));) {
        if (path[0])
            disk->read_only[disk->read_only_count++].path = path;
    }
    return true;
}

const char *zepi_disk_path(const struct zepi_disk *disk)
{
    return disk->path;
}

uint64_t zepi_disk_limit_bytes(const struct zepi_disk *disk)
{
    return atomic_load_explicit(&disk->limit_bytes, memory_order_relaxed);
}

void zepi_disk_set_limit_bytes(struct zepi_disk *disk, uint64_t limit_bytes)
{
    atomic_store_explicit(&disk->limit_bytes, limit_bytes, memory_order_relaxed);
}

enum zepi_cache_folder_state zepi_disk_state(const struct zepi_disk *disk)
{
    int folder;
    enum zepi_cache_folder_state state =
        zepi_cache_folder_open(disk->path, ZEPI_CACHE_FOLDER_EXISTING, &folder);
    if (folder >= 0)
        close(folder);
    return state;
}

// The whole key decides. The name that two keys share is not worth a thought with 128 bits, but a
// file may have been given another's name.
static bool record_is_of_key(const struct zepi_disk_record_view *view, const struct zepi_key *key)
{
    return view->key_size == key->size && memcmp(view->key, key->bytes, key->size) == 0;
}

// Closes the folder. A file of the own folder is touched, and goes if it is bad.
static bool load_from(int folder, enum zepi_atomic_file_touch touch, const struct zepi_key *key,
                      struct zepi_build_record *out_record)
{
    char name[ZEPI_DISK_NAME_BYTES];
    struct zepi_disk_record_view view;
    void *bytes = NULL;
    size_t size = 0;
    zepi_disk_name_of(zepi_key_digest(key), name);
    int error = zepi_atomic_file_read(folder, name, ZEPI_DISK_MAX_FILE_BYTES, touch, &bytes, &size);
    bool is_good =
        error == 0 && zepi_disk_record_decode(bytes, size, &view) && record_is_of_key(&view, key);
    if (!is_good && touch == ZEPI_ATOMIC_FILE_TOUCH &&
        (error == 0 || zepi_atomic_file_is_bad(error)))
        (void)zepi_sys_unlink(folder, name);
    close(folder);
    if (!is_good) {
        zepi_sys_free(bytes);
        return false;
    }
    *out_record = view.record;
    out_record->storage = bytes;
    return true;
}

// A descriptor of the folder, or -1.
static int open_read_only(struct zepi_disk *disk, struct read_only *which)
{
    char place[PATH_MAX];
    char line[PATH_MAX + 64];
    int folder;
    const enum zepi_cache_folder_state state =
        zepi_cache_folder_open_read_only(which->path, &folder, place);
    if (state != ZEPI_CACHE_FOLDER_USABLE && !atomic_flag_test_and_set(&which->is_told)) {
        snprintf(line, sizeof(line), "%s is %s", place,
                 state == ZEPI_CACHE_FOLDER_MISSING ? "missing"
                                                    : zepi_cache_folder_describe(state));
        disk->note(which->path, line);
    }
    return folder;
}

static bool disk_load(void *self, const struct zepi_key *key, struct zepi_build_record *out_record)
{
    struct zepi_disk *disk = self;
    int folder;
    (void)zepi_cache_folder_open(disk->path, ZEPI_CACHE_FOLDER_EXISTING, &folder);
    bool is_loaded = folder >= 0 && load_from(folder, ZEPI_ATOMIC_FILE_TOUCH, key, out_record);
    for (unsigned i = 0; !is_loaded && i < disk->read_only_count; i++) {
        folder = open_read_only(disk, &disk->read_only[i]);
        is_loaded = folder >= 0 && load_from(folder, ZEPI_ATOMIC_FILE_NO_TOUCH, key, out_record);
    }
    return is_loaded;
}

const char *zepi_disk_trouble(const struct zepi_disk *disk)
{
    const int error = atomic_load_explicit(&disk->store_error, memory_order_relaxed);
    const enum zepi_cache_folder_state state = zepi_disk_state(disk);
    if (!disk->path[0])
        return NULL;
    if (state == ZEPI_CACHE_FOLDER_USABLE || state == ZEPI_CACHE_FOLDER_MISSING)
        return error != 0 ? strerror(error) : NULL;
    return zepi_cache_folder_describe(state);
}

// After a store: keeps the folder within its limit, and knows nothing better to do about an error
// than to try again at the next scan.
static void disk_account_for_store(struct zepi_disk *disk, int folder, uint64_t size_bytes,
                                   uint64_t limit_bytes)
{
    struct zepi_disk_tally left;
    struct zepi_disk_tally removed;
    uint64_t stores = atomic_fetch_add_explicit(&disk->stores, 1, memory_order_relaxed);
    uint64_t bytes =
        atomic_fetch_add_explicit(&disk->known_bytes, size_bytes, memory_order_relaxed) +
        size_bytes;
    if (bytes <= limit_bytes && stores % STORES_PER_SCAN != 0)
        return;
    if (zepi_disk_trim_folder(folder, limit_bytes, limit_bytes - limit_bytes / 8, &left, &removed))
        atomic_store_explicit(&disk->known_bytes, left.bytes, memory_order_relaxed);
}

static void disk_store(void *self, const struct zepi_key *key,
                       const struct zepi_build_record *record)
{
    struct zepi_disk *disk = self;
    char name[ZEPI_DISK_NAME_BYTES];
    struct zepi_disk_record_file file;
    uint64_t limit_bytes = zepi_disk_limit_bytes(disk);
    int folder;
    if (limit_bytes == 0 || !record->payload)
        return;
    zepi_disk_record_encode(key, record, &file);
    if (file.size_bytes > limit_bytes || file.size_bytes > ZEPI_DISK_MAX_FILE_BYTES)
        return;
    errno = 0;
    (void)zepi_cache_folder_open(disk->path, ZEPI_CACHE_FOLDER_CREATE, &folder);
    int error = errno;
    if (folder >= 0) {
        zepi_disk_name_of(zepi_key_digest(key), name);
        error = zepi_atomic_file_write(folder, name, file.parts, ZEPI_DISK_RECORD_PARTS);
        if (error == 0)
            disk_account_for_store(disk, folder, file.size_bytes, limit_bytes);
        close(folder);
    }
    atomic_store_explicit(&disk->store_error, error, memory_order_relaxed);
}

static void disk_remove(void *self, const struct zepi_key *key)
{
    const struct zepi_disk *disk = self;
    char name[ZEPI_DISK_NAME_BYTES];
    int folder;
    if (zepi_cache_folder_open(disk->path, ZEPI_CACHE_FOLDER_EXISTING, &folder) !=
        ZEPI_CACHE_FOLDER_USABLE)
        return;
    zepi_disk_name_of(zepi_key_digest(key), name);
    (void)zepi_sys_unlink(folder, name);
    close(folder);
}

const struct zepi_build_store_ops zepi_disk_store_ops = {
    .load = disk_load,
    .store = disk_store,
    .remove = disk_remove,
};

// ---- Claims ----

static int64_t last_abandoned_ns(int file)
{
    struct stat info;
    return zepi_sys_stat(file, &info) == 0
               ? (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec
               : 0;
}

// Whether the byte is locked now, and is to stay so.
static bool lock_byte(int file, off_t byte, unsigned wait_ms)
{
    const uint64_t end_ns = zepi_clock_ns() + wait_ms * UINT64_C(1000000);
    const int64_t abandoned_ns = last_abandoned_ns(file);
    struct timespec pause = {.tv_nsec = 1000000};
    int result = zepi_sys_try_lock_byte(file, byte);
    const bool has_waited = result != 0;
    while (result != 0 && errno == EAGAIN && zepi_clock_ns() < end_ns) {
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < LONGEST_PAUSE_NS)
            pause.tv_nsec *= 2;
        result = zepi_sys_try_lock_byte(file, byte);
    }
    return result == 0 && !(has_waited && last_abandoned_ns(file) != abandoned_ns);
}

int zepi_disk_claim(struct zepi_disk *disk, const struct zepi_key *key, unsigned wait_ms)
{
    int folder;
    if (zepi_disk_limit_bytes(disk) == 0 ||
        zepi_cache_folder_open(disk->path, ZEPI_CACHE_FOLDER_CREATE, &folder) !=
            ZEPI_CACHE_FOLDER_USABLE)
        return -1;
    // A description of its own: closing it drops the lock.
    const int file = zepi_sys_open(folder, LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    close(folder);
    if (file < 0 || lock_byte(file, (off_t)(zepi_key_digest(key).low >> 2), wait_ms))
        return file;
    close(file);
    return -1;
}

void zepi_disk_unclaim(int claim, enum zepi_disk_claim_end end)
{
    if (claim < 0)
        return;
    if (end == ZEPI_DISK_CLAIM_ABANDONED)
        (void)zepi_sys_touch(claim);
    close(claim);
}
