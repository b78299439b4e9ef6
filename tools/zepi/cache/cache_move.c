// SPDX-License-Identifier: MIT
#include "cache_move.h"

#include "../file_bytes.h"
#include "cache/disk/disk_record.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'Z', 'E', 'P', 'I', 'e', 'x', 'p', '1'};

static bool is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

struct export
{
    FILE *file;
    struct zepi_disk_tally written;
    int error; // an errno
};

static bool write_one(void *user, const struct zepi_disk_file *file)
{
    struct export *export = user;
    if (!file->bytes)
        return true;
    const uint64_t size = htole64(file->size_bytes);
    if (fwrite(&size, sizeof(size), 1, export->file) != 1 ||
        fwrite(file->bytes, 1, file->size_bytes, export->file) != file->size_bytes) {
        export->error = errno;
        return false;
    }
    export->written.files++;
    export->written.bytes += file->size_bytes;
    return true;
}

bool cache_export(struct zepi_disk *disk, const char *path, enum zepi_cache_folder_state *out_state,
                  struct zepi_disk_tally *out_written)
{
    struct export export = {.file = is_stream(path) ? stdout : fopen(path, "wb")};
    *out_state = zepi_disk_state(disk);
    if (!export.file) {
        fprintf(stderr, "zepi cache export: %s: %s\n", path, strerror(errno));
        return false;
    }
    // A device or a pipe is not removed, even if the export fails.
    struct stat status;
    const bool is_own =
        !is_stream(path) && fstat(fileno(export.file), &status) == 0 && S_ISREG(status.st_mode);
    if (fwrite(magic, sizeof(magic), 1, export.file) == 1)
        *out_state = zepi_disk_for_each(disk, ZEPI_DISK_READ, write_one, &export);
    // A full disk is noticed here at the latest.
    if ((is_stream(path) ? fflush(export.file) : fclose(export.file)) != 0 && export.error == 0)
        export.error = errno;
    if (export.error != 0) {
        fprintf(stderr, "zepi cache export: %s: %s\n", path, strerror(export.error));
        if (is_own)
            unlink(path);
    }
    *out_written = export.written;
    return export.error == 0;
}

// *error: the errno of the last file that could not be written.
static void import_one(struct zepi_disk *disk, const unsigned char *bytes, size_t size_bytes,
                       struct cache_imported *imported, int *error)
{
    bool is_sound;
    const bool is_stored = zepi_disk_import(disk, bytes, size_bytes, &is_sound);
    if (is_sound && !is_stored)
        *error = errno;
    struct zepi_disk_tally *tally = !is_sound   ? &imported->bad
                                    : is_stored ? &imported->good
                                                : &imported->not_written;
    tally->files++;
    tally->bytes += size_bytes;
}

static void say_not_written(struct zepi_disk *disk, const struct cache_imported *imported,
                            int error)
{
    const enum zepi_cache_folder_state state = zepi_disk_state(disk);
    fprintf(stderr, "zepi cache import: %s: %.0f of %.0f files could not be written there: %s\n",
            zepi_disk_path(disk), (double)imported->not_written.files,
            (double)imported->not_written.files + (double)imported->good.files,
            state == ZEPI_CACHE_FOLDER_USABLE ? strerror(error)
                                              : zepi_cache_folder_describe(state));
}

bool cache_import(struct zepi_disk *disk, const char *path, cache_note *note, void *user,
                  struct cache_imported *out_imported)
{
    struct file_bytes file;
    struct zepi_disk_record_view view;
    int error = 0;
    *out_imported = (struct cache_imported){0};
    if (!file_read(path, &file))
        return false;
    if (file.size_bytes < sizeof(magic) || memcmp(file.bytes, magic, sizeof(magic)) != 0) {
        fprintf(stderr, "zepi cache import: %s is no exported cache\n", path);
        free(file.bytes);
        return false;
    }
    for (size_t at = sizeof(magic); at < file.size_bytes;) {
        uint64_t size = 0;
        const size_t left = file.size_bytes - at;
        if (left >= sizeof(size))
            memcpy(&size, file.bytes + at, sizeof(size));
        size = le64toh(size);
        // The rest is one piece without an end.
        if (size == 0 || left < sizeof(size) || size > left - sizeof(size)) {
            out_imported->bad.files++;
            out_imported->bad.bytes += left;
            break;
        }
        at += sizeof(size);
        import_one(disk, file.bytes + at, size, out_imported, &error);
        if (note && zepi_disk_record_decode(file.bytes + at, size, &view))
            note(user, view.key, view.key_size);
        at += size;
    }
    free(file.bytes);
    if (out_imported->not_written.files > 0)
        say_not_written(disk, out_imported, error);
    return out_imported->not_written.files == 0;
}

struct copy {
    struct zepi_disk *to;
    bool is_whole;
};

static bool copy_one(void *user, const struct zepi_disk_file *file)
{
    struct copy *copy = user;
    bool is_sound;
    if (file->bytes)
        copy->is_whole = zepi_disk_import(copy->to, file->bytes, file->size_bytes, &is_sound);
    return copy->is_whole;
}

bool cache_copy(struct zepi_disk *from, struct zepi_disk *to)
{
    struct copy copy = {to, true};
    zepi_disk_for_each(from, ZEPI_DISK_READ, copy_one, &copy);
    return copy.is_whole;
}
