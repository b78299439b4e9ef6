// SPDX-License-Identifier: MIT
#include "cache/disk/disk_record.h"
#include "cache_move.h"
#include "fuzz.h"
#include "test_env.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { AT_CHECKSUM = 48, MAGIC_BYTES = 8 };

// Gives whole records right checksums, so that their contents are read.
static void seal_records(uint8_t *bytes, size_t size_bytes)
{
    size_t at = MAGIC_BYTES;
    while (at < size_bytes && size_bytes - at > sizeof(uint64_t)) {
        uint64_t size;
        memcpy(&size, bytes + at, sizeof(size));
        size = le64toh(size);
        at += sizeof(size);
        if (size > size_bytes - at)
            break;
        fuzz_seal(bytes + at, size, AT_CHECKSUM, ZEPI_DISK_HEAD_BYTES);
        at += size;
    }
}

// A file in memory, which is quick. Its path is borrowed until the next call.
static const char *write_file(const uint8_t *bytes, size_t size_bytes)
{
    static int file = -1;
    static char path[64];
    if (file < 0)
        file = memfd_create("stream", MFD_CLOEXEC);
    fuzz_require(file >= 0 && ftruncate(file, 0) == 0 &&
                 pwrite(file, bytes, size_bytes, 0) == (ssize_t)size_bytes);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    return path;
}

// A cache from another machine. The folder has the records that `zepi cache import` takes, and an
// export of the folder has the same ones.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    static struct zepi_disk *disk;
    struct cache_imported imported;
    struct zepi_disk_tally exported, removed;
    struct zepi_disk_report report;
    enum zepi_cache_folder_state state;
    if (!disk)
        disk = zepi_disk_create(test_env_scratch_path("imported"), UINT64_MAX);
    uint8_t *copy = malloc(size_bytes + 1);
    memcpy(copy, bytes, size_bytes);
    if (size_bytes >= MAGIC_BYTES)
        memcpy(copy, "ZEPIexp1", MAGIC_BYTES);
    seal_records(copy, size_bytes);
    const char *path = write_file(copy, size_bytes);
    free(copy);
    if (!cache_import(disk, path, NULL, NULL, &imported)) {
        fuzz_require(size_bytes < MAGIC_BYTES);
        return 0;
    }
    (void)zepi_disk_count(disk, ZEPI_DISK_READ, &report);
    fuzz_require(report.of[ZEPI_DISK_FILE_BAD].files == 0 &&
                 report.of[ZEPI_DISK_FILE_RESULT].files <= imported.good.files &&
                 (report.of[ZEPI_DISK_FILE_RESULT].files > 0) == (imported.good.files > 0));
    fuzz_require(cache_export(disk, "/dev/null", &state, &exported) &&
                 exported.files == report.of[ZEPI_DISK_FILE_RESULT].files);
    (void)zepi_disk_trim(disk, 0, &removed);
    return 0;
}
