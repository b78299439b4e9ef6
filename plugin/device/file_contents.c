// SPDX-License-Identifier: MIT
#include "device/file_contents.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)256 << 10)
// A file that was touched this recently may be touched again without its times telling.
#define SETTLED_NS INT64_C(2000000000)

// Keys of what the disk remembers: with other tags than those of builds (module/code_key.h).
#define KEY_VERSION 1
#define KEY_TAG 0x100

static bool digest_file(const struct zepi_compiler_file *file, uint8_t *chunk,
                        struct zepi_digest *out_digest)
{
    struct zepi_digest digest = {0};
    ssize_t count = -1;
    const int fd = zepi_seam_open(AT_FDCWD, file->path, O_RDONLY, 0);
    // Read, not mapped: a file that is cut short meanwhile would end the process.
    while (fd >= 0 && (count = zepi_seam_read(fd, chunk, CHUNK_BYTES)) > 0) {
        const struct zepi_digest_part parts[] = {{&digest, sizeof(digest)}, {chunk, (size_t)count}};
        digest = zepi_digest_of_parts(parts, 2);
    }
    if (fd >= 0)
        close(fd);
    *out_digest = digest;
    return count == 0;
}

static bool digest_files(const struct zepi_compiler_files *files, struct zepi_digest *out_digest)
{
    struct zepi_digest digest = {0};
    uint8_t *chunk = zepi_seam_allocate(CHUNK_BYTES);
    bool is_good = chunk != NULL;
    for (size_t i = 0; i < files->count && is_good; i++) {
        const struct zepi_compiler_file *file = &files->files[i];
        struct zepi_digest contents;
        is_good = digest_file(file, chunk, &contents);
        const struct zepi_digest_part parts[] = {{&digest, sizeof(digest)},
                                                 {file->name, strlen(file->name) + 1},
                                                 {&contents, sizeof(contents)}};
        digest = zepi_digest_of_parts(parts, 3);
    }
    zepi_free(chunk);
    *out_digest = digest;
    return is_good;
}

static bool make_key(struct zepi_key *key, const struct zepi_compiler_files *files)
{
    zepi_key_init(key, KEY_VERSION);
    for (size_t i = 0; i < files->count; i++) {
        const struct zepi_compiler_file *file = &files->files[i];
        zepi_key_add_string(key, KEY_TAG, file->name);
        zepi_key_add_u64(key, KEY_TAG, file->device);
        zepi_key_add_u64(key, KEY_TAG, file->inode);
        zepi_key_add_u64(key, KEY_TAG, file->size_bytes);
        zepi_key_add_u64(key, KEY_TAG, (uint64_t)file->modified_ns);
        zepi_key_add_u64(key, KEY_TAG, (uint64_t)file->changed_ns);
    }
    if (zepi_key_seal(key))
        return true;
    zepi_key_finish(key);
    return false;
}

static bool is_settled(const struct zepi_compiler_files *files)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t now_ns = (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    for (size_t i = 0; i < files->count; i++) {
        if (files->files[i].changed_ns > now_ns - SETTLED_NS)
            return false;
    }
    return true;
}

static bool recall(struct zepi_disk *disk, const struct zepi_key *key,
                   struct zepi_digest *out_digest)
{
    struct zepi_build_record record = {0};
    const bool is_there =
        zepi_disk_store_ops.load(disk, key, &record) && record.payload_size == sizeof(*out_digest);
    if (is_there)
        memcpy(out_digest, record.payload, sizeof(*out_digest));
    zepi_build_record_finish(&record);
    return is_there;
}

bool zepi_file_contents_get(const struct zepi_compiler_files *files, struct zepi_disk *disk,
                            struct zepi_digest *out_digest)
{
    struct zepi_key key;
    if (!make_key(&key, files))
        return false;
    bool is_good = recall(disk, &key, out_digest);
    if (!is_good) {
        // Asked before reading: what is written meanwhile is younger than this.
        const bool is_worth_keeping = is_settled(files);
        is_good = digest_files(files, out_digest);
        const struct zepi_build_record record = {.status = ZEPI_BUILD_SUCCEEDED,
                                                 .payload = out_digest,
                                                 .payload_size = sizeof(*out_digest)};
        if (is_good && is_worth_keeping)
            zepi_disk_store_ops.store(disk, &key, &record);
    }
    zepi_key_finish(&key);
    return is_good;
}
