// SPDX-License-Identifier: MIT
#include "device/compiler_identity.h"

#include "core/alloc.h"
#include "core/log.h"
#include "core/mutex.h"
#include "device/cpu_features.h"

#include <stdlib.h>
#include <unistd.h>

// Keys of records: with another tag than those of builds (program/build/build_key.h).
#define KEY_VERSION 2
#define KEY_TAG 0x100

struct zepi_compiler_identity {
    const char *driver_path; // borrowed
    enum zepi_compiler_kind kind;
    struct zepi_mutex mutex; // guards the fields below; held while files are looked at: others wait
    bool is_known;           // digest and libraries are valid
    bool is_seen;            // and compared with the libraries of a compile
    bool is_noted;           // in the log, that the compiler cannot be identified
    struct zepi_digest digest;
    struct zepi_compiler_libraries libraries;
};

struct zepi_compiler_identity *zepi_compiler_identity_create(const char *driver_path,
                                                             enum zepi_compiler_kind kind)
{
    struct zepi_compiler_identity *identity = zepi_allocate(1, sizeof(*identity));
    if (!identity)
        return NULL;
    identity->driver_path = driver_path;
    identity->kind = kind;
    return identity;
}

void zepi_compiler_identity_destroy(struct zepi_compiler_identity *identity)
{
    zepi_free(identity);
}

// ---- The digest ----

// Settings that compilers read. The sum does not depend on their order.
static struct zepi_digest digest_environment(void)
{
    struct zepi_digest sum = {0};
    for (char **variable = environ; variable && *variable; variable++) {
        if (strncmp(*variable, "IGC_", 4) != 0 && strncmp(*variable, "CL_CONFIG_", 10) != 0)
            continue;
        const struct zepi_digest digest = zepi_digest_of(*variable, strlen(*variable));
        sum.low += digest.low;
        sum.high += digest.high;
    }
    return sum;
}

static void set_digest_locked(struct zepi_compiler_identity *identity)
{
    uint32_t cpu[ZEPI_CPU_FEATURE_WORDS] = {0};
    if (identity->kind == ZEPI_COMPILER_OF_CPU)
        zepi_cpu_features(cpu);
    const struct zepi_digest libraries = zepi_compiler_libraries_digest(&identity->libraries);
    const struct zepi_digest environment = digest_environment();
    const struct zepi_digest_part parts[] = {
        {&libraries, sizeof(libraries)}, {cpu, sizeof(cpu)}, {&environment, sizeof(environment)}};
    identity->digest = zepi_digest_of_parts(parts, 3);
    for (uint32_t i = 0; i < identity->libraries.count; i++)
        zepi_log(ZEPI_LOG_DEBUG, "native code depends on %s", identity->libraries.list[i].path);
}

// ---- The record ----

// Of a driver, and of the settings that decide which compiler it finds.
static bool identity_make_key(struct zepi_key *key, const struct zepi_compiler_identity *identity)
{
    static const char *const settings[] = {"LD_LIBRARY_PATH", "ZE_CPU_OPENCL"};
    zepi_key_init(key, KEY_VERSION);
    zepi_key_add_string(key, KEY_TAG, identity->driver_path);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const char *value = getenv(settings[i]);
        zepi_key_add_string(key, KEY_TAG, value ? value : "");
    }
    if (zepi_key_seal(key))
        return true;
    zepi_key_finish(key);
    return false;
}

static bool load_record_locked(struct zepi_compiler_identity *identity, struct zepi_disk *disk)
{
    struct zepi_compiler_libraries *libraries = &identity->libraries;
    const size_t one = sizeof(libraries->list[0]);
    struct zepi_build_record record = {0};
    struct zepi_key key;
    if (!disk || !identity_make_key(&key, identity))
        return false;
    bool is_good = zepi_disk_store_ops.load(disk, &key, &record) &&
                   record.payload_size % one == 0 && record.payload_size > one &&
                   record.payload_size <= sizeof(libraries->list);
    zepi_key_finish(&key);
    libraries->count = is_good ? (uint32_t)(record.payload_size / one) : 0;
    if (is_good)
        memcpy(libraries->list, record.payload, record.payload_size);
    for (uint32_t i = 0; i < libraries->count; i++)
        is_good = is_good && !libraries->list[i].path[ZEPI_LIBRARY_PATH_BYTES - 1];
    zepi_build_record_finish(&record);
    return is_good;
}

static void store_record_locked(const struct zepi_compiler_identity *identity,
                                struct zepi_disk *disk)
{
    const struct zepi_compiler_libraries *libraries = &identity->libraries;
    const struct zepi_build_record record = {
        .payload = libraries->list, .payload_size = libraries->count * sizeof(libraries->list[0])};
    struct zepi_key key;
    if (!disk || !identity_make_key(&key, identity))
        return;
    zepi_disk_store_ops.store(disk, &key, &record);
    zepi_key_finish(&key);
}

// ---- The identity ----

static void set_libraries_locked(struct zepi_compiler_identity *identity, struct zepi_disk *disk,
                                 const struct zepi_compiler_libraries *loaded)
{
    identity->libraries = *loaded;
    identity->is_known = true;
    set_digest_locked(identity);
    store_record_locked(identity, disk);
}

// Without a record to trust it depends on the driver: most have their compiler loaded already.
static void identity_find_locked(struct zepi_compiler_identity *identity, struct zepi_disk *disk)
{
    struct zepi_compiler_libraries loaded;
    if (identity->is_known ||
        !zepi_compiler_libraries_list(&loaded, identity->driver_path, identity->kind))
        return;
    identity->is_known = load_record_locked(identity, disk) &&
                         zepi_compiler_libraries_are_unchanged(&identity->libraries) &&
                         zepi_compiler_libraries_agree(&identity->libraries, &loaded);
    if (identity->is_known)
        set_digest_locked(identity);
    else if (loaded.has_compiler)
        set_libraries_locked(identity, disk, &loaded);
}

// A driver whose compiler has a name that zepi does not know is alone in the list.
static void identity_make_locked(struct zepi_compiler_identity *identity, struct zepi_disk *disk)
{
    struct zepi_compiler_libraries loaded;
    // Another process may have written a record meanwhile.
    identity_find_locked(identity, disk);
    identity->is_seen =
        zepi_compiler_libraries_list(&loaded, identity->driver_path, identity->kind) &&
        loaded.count > 1;
    if (identity->is_seen &&
        !(identity->is_known && zepi_compiler_libraries_agree(&identity->libraries, &loaded)))
        set_libraries_locked(identity, disk, &loaded);
    identity->is_known = identity->is_seen;
    if (!identity->is_known && !identity->is_noted)
        zepi_log(ZEPI_LOG_INFO,
                 "driver %s: its compiler cannot be identified, so its code is not stored on disk",
                 identity->driver_path);
    identity->is_noted = identity->is_noted || !identity->is_known;
}

bool zepi_compiler_identity_find(struct zepi_compiler_identity *identity, struct zepi_disk *disk,
                                 struct zepi_digest *out_digest)
{
    zepi_mutex_lock(&identity->mutex);
    identity_find_locked(identity, disk);
    const bool is_known = identity->is_known;
    *out_digest = identity->digest;
    zepi_mutex_unlock(&identity->mutex);
    return is_known;
}

void zepi_compiler_identity_note(struct zepi_compiler_identity *identity, struct zepi_digest digest)
{
    zepi_mutex_lock(&identity->mutex);
    identity->digest = digest;
    identity->is_known = true;
    identity->is_seen = true;
    zepi_mutex_unlock(&identity->mutex);
}

bool zepi_compiler_identity_make(struct zepi_compiler_identity *identity, struct zepi_disk *disk,
                                 struct zepi_digest *out_digest)
{
    zepi_mutex_lock(&identity->mutex);
    if (!identity->is_seen)
        identity_make_locked(identity, disk);
    const bool is_known = identity->is_known;
    *out_digest = identity->digest;
    zepi_mutex_unlock(&identity->mutex);
    return is_known;
}
