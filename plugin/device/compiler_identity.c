// SPDX-License-Identifier: MIT
#include "device/compiler_identity.h"

#include "core/log.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

// Keys of records: with another tag than those of builds (program/native/key_tags.h).
#define KEY_VERSION 3
#define KEY_TAG 0x100

// Records on disk have the list of paths, as the dynamic loader opened them; zeros follow each, and
// the last place stays empty.
struct libraries {
    const struct zepi_compiler_identity *identity; // borrowed
    char list[16 + 1][512];
    uint32_t count;
    bool has_compiler;
};

// ---- The libraries that are loaded ----

// The number among the names that a compiler's libraries begin with, of which 1 is the compiler's
// own; 0: none of them.
static int find_name(const struct libraries *libraries, const char *path)
{
    static const char *const names[2][6] = {
        {"libigc.so", "libigdfcl.so", "libiga", "libopencl-clang.so", "libLLVM", "libclang"},
        {"libintelocl.so", "libcommon_clang.so", "libOclCpu", "libpocl", "libLLVM", "libclang"}};
    const char *const *beginnings = names[libraries->identity->is_on_cpu];
    int number = 6;
    while (number > 0 &&
           strncmp(basename(path), beginnings[number - 1], strlen(beginnings[number - 1])) != 0)
        number--;
    return number;
}

// The first page of a file has the sizes of all segments and, nearly always, the build id.
struct page {
    uint8_t bytes[4096];
    ssize_t size;
    struct stat file;
};

static bool read_page(const char *path, struct page *page)
{
    const int fd = zepi_sys_open(AT_FDCWD, path, O_RDONLY, 0);
    page->size = fd >= 0 ? zepi_sys_read(fd, page->bytes, sizeof(page->bytes)) : -1;
    const bool is_read = page->size > 0 && zepi_sys_stat(fd, &page->file) == 0;
    if (fd >= 0)
        close(fd);
    return is_read;
}

// Whether the file is the library that is loaded, and no other that took its place.
static bool is_loaded_file(const struct dl_phdr_info *info)
{
    struct page page;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_offset == 0)
            return read_page(info->dlpi_name, &page) &&
                   memcmp(page.bytes, (const void *)(info->dlpi_addr + segment->p_vaddr),
                          (size_t)page.size < segment->p_filesz ? (size_t)page.size
                                                                : segment->p_filesz) == 0;
    }
    return false;
}

// The dynamic loader's lock is held, so that nothing is unloaded meanwhile. Returns 1, which ends
// the visits, if the libraries cannot be told.
static int visit_loaded(struct dl_phdr_info *info, size_t size, void *user)
{
    struct libraries *loaded = user;
    const int name = find_name(loaded, info->dlpi_name);
    (void)size;
    if (name == 0 && strcmp(info->dlpi_name, loaded->identity->driver_path) != 0)
        return 0;
    if (loaded->count == 16 || strlen(info->dlpi_name) >= sizeof(loaded->list[0]) ||
        !is_loaded_file(info))
        return 1;
    loaded->has_compiler |= name == 1;
    strcpy(loaded->list[loaded->count++], info->dlpi_name);
    return 0;
}

// ---- The record on disk ----

// The key of a driver, and of the settings that decide which compiler it finds.
static bool make_key(struct zepi_key *key, const struct zepi_compiler_identity *identity)
{
    const char *const parts[] = {identity->driver_path, getenv("LD_LIBRARY_PATH"),
                                 getenv("ZE_CPU_OPENCL"), getenv("VIRTUAL_ENV")};
    zepi_key_init(key, KEY_VERSION);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        zepi_key_add_string(key, KEY_TAG, parts[i] ? parts[i] : "");
    return zepi_key_seal(key);
}

static bool load_record(struct zepi_disk *disk, const struct zepi_key *key,
                        struct libraries *libraries)
{
    struct zepi_build_record record = {0};
    if (zepi_disk_store_ops.load(disk, key, &record) &&
        record.payload_size < sizeof(libraries->list)) {
        memcpy(libraries->list, record.payload, record.payload_size);
        libraries->count = (uint32_t)(record.payload_size / sizeof(libraries->list[0]));
    }
    zepi_build_record_finish(&record);
    return libraries->count > 0;
}

// Whether no loaded library is in another place than that of its name in a record, and no loaded
// compiler is missing there.
static bool record_agrees(const struct libraries *record, const struct libraries *loaded)
{
    for (uint32_t i = 0; i < loaded->count; i++) {
        const char *path = loaded->list[i];
        uint32_t at = 0;
        while (at < record->count && strcmp(basename(path), basename(record->list[at])) != 0)
            at++;
        if (at < record->count ? strcmp(path, record->list[at]) != 0 : find_name(loaded, path) == 1)
            return false;
    }
    return true;
}

// ---- The identity ----

static void add(struct zepi_digest *sum, const char *name, const void *bytes, size_t size)
{
    const struct zepi_digest_part parts[] = {{name, strlen(name) + 1}, {bytes, size}};
    const struct zepi_digest digest = zepi_digest_of_parts(parts, 2);
    sum->low += digest.low;
    sum->high += digest.high;
}

// The sum of all parts, in any order. A library without a build id is that of its file; features of
// the CPU are as the system numbers them. False: a part cannot be read.
static bool set_digest_locked(struct zepi_compiler_identity *identity,
                              const struct libraries *libraries)
{
    static const char build_id[] = "\3\0\0\0GNU"; // type and name of its note
    struct page page;
    identity->digest = (struct zepi_digest){0};
    for (uint32_t i = 0; i < libraries->count; i++) {
        const char *name = basename(libraries->list[i]);
        if (!read_page(libraries->list[i], &page))
            return false;
        add(&identity->digest, name, page.bytes, (size_t)page.size);
        // A change of the contents sets the time of the file's last change.
        if (!memmem(page.bytes, (size_t)page.size, build_id, sizeof(build_id))) {
            add(&identity->digest, name, &page.file.st_ino, sizeof(page.file.st_ino));
            add(&identity->digest, name, &page.file.st_ctim, sizeof(page.file.st_ctim));
        }
        zepi_log(ZEPI_LOG_DEBUG, "native code depends on %s", libraries->list[i]);
    }
    for (char **variable = environ; variable && *variable; variable++) {
        if (strncmp(*variable, "IGC_", 4) == 0 || strncmp(*variable, "CL_CONFIG_", 10) == 0)
            add(&identity->digest, *variable, NULL, 0);
    }
    if (identity->is_on_cpu) {
        if (!read_page("/sys/devices/system/cpu/modalias", &page))
            return false;
        add(&identity->digest, "cpu", page.bytes, (size_t)page.size);
    }
    return true;
}

// A record counts before what is loaded: the host may have loaded more. Before a compile, it
// depends on the driver whether its compiler is loaded; after one, a driver whose compiler has a
// name that zepi does not know is alone.
static bool identify_locked(struct zepi_compiler_identity *identity, struct zepi_disk *disk,
                            enum zepi_compiler_phase phase)
{
    struct libraries loaded = {.identity = identity};
    struct libraries record = {.identity = identity};
    struct zepi_key key;
    if (!identity->driver_path[0] || dl_iterate_phdr(visit_loaded, &loaded) != 0 ||
        (phase == ZEPI_AFTER_COMPILE && loaded.count == 1))
        return false;
    const bool has_key = make_key(&key, identity) && disk;
    bool is_known = has_key && load_record(disk, &key, &record) &&
                    record_agrees(&record, &loaded) && set_digest_locked(identity, &record);
    if (!is_known && (loaded.has_compiler || phase == ZEPI_AFTER_COMPILE)) {
        const struct zepi_build_record made = {
            .payload = loaded.list, .payload_size = loaded.count * sizeof(loaded.list[0])};
        is_known = set_digest_locked(identity, &loaded);
        if (is_known && has_key)
            zepi_disk_store_ops.store(disk, &key, &made);
    }
    zepi_key_finish(&key);
    return is_known;
}

bool zepi_compiler_identity_get(struct zepi_compiler_identity *identity, struct zepi_disk *disk,
                                enum zepi_compiler_phase phase, struct zepi_digest *out_digest)
{
    zepi_mutex_lock(&identity->mutex);
    if (identity->known < phase)
        identity->known = identify_locked(identity, disk, phase) ? phase : ZEPI_NOT_IDENTIFIED;
    const bool is_known = identity->known != ZEPI_NOT_IDENTIFIED;
    *out_digest = identity->digest;
    zepi_mutex_unlock(&identity->mutex);
    return is_known;
}

void zepi_compiler_identity_note(struct zepi_compiler_identity *identity, struct zepi_digest digest)
{
    zepi_mutex_lock(&identity->mutex);
    identity->digest = digest;
    identity->known = ZEPI_AFTER_COMPILE;
    zepi_mutex_unlock(&identity->mutex);
}
