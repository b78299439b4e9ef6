// SPDX-License-Identifier: MIT
#include "device/file_contents.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
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

// Files that two threads read, each the next one that nobody has begun.
struct reading {
    const struct zepi_compiler_files *files;
    struct zepi_digest *digests; // one a file
    _Atomic size_t next;
    atomic_bool has_failed;
};

static void *read_files(void *argument)
{
    struct reading *reading = argument;
    uint8_t *chunk = zepi_seam_allocate(CHUNK_BYTES);
    size_t at;
    if (!chunk)
        atomic_store_explicit(&reading->has_failed, true, memory_order_relaxed);
    // Relaxed: the end of the thread publishes what it wrote.
    while (!atomic_load_explicit(&reading->has_failed, memory_order_relaxed) &&
           (at = atomic_fetch_add_explicit(&reading->next, 1, memory_order_relaxed)) <
               reading->files->count) {
        if (!digest_file(&reading->files->files[at], chunk, &reading->digests[at]))
            atomic_store_explicit(&reading->has_failed, true, memory_order_relaxed);
    }
    zepi_seam_free(chunk);
    return NULL;
}

static bool start_helper(struct reading *reading, pthread_t *out_helper)
{
    // Signals are the host's: its threads should get them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_started = pthread_create(out_helper, NULL, read_files, reading) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static bool digest_files(const struct zepi_compiler_files *files, struct zepi_digest *out_digest)
{
    pthread_t helper;
    struct zepi_digest digest = {0};
    struct reading reading = {.files = files,
                              .digests = zepi_allocate(files->count + 1, sizeof(digest))};
    if (!reading.digests)
        return false;
    const bool has_helper = start_helper(&reading, &helper);
    read_files(&reading);
    if (has_helper)
        pthread_join(helper, NULL);
    for (size_t i = 0; i < files->count; i++) {
        const char *name = files->files[i].name;
        const struct zepi_digest_part parts[] = {{&digest, sizeof(digest)},
                                                 {name, strlen(name) + 1},
                                                 {&reading.digests[i], sizeof(digest)}};
        digest = zepi_digest_of_parts(parts, 3);
    }
    zepi_free(reading.digests);
    *out_digest = digest;
    return !reading.has_failed;
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
        const struct zepi_build_record record = {.payload = out_digest,
                                                 .payload_size = sizeof(*out_digest)};
        if (is_good && is_worth_keeping)
            zepi_disk_store_ops.store(disk, &key, &record);
    }
    zepi_key_finish(&key);
    return is_good;
}
