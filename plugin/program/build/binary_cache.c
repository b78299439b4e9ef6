// SPDX-License-Identifier: MIT
#include "program/build/binary_cache.h"

#include "core/alloc.h"
#include "core/log.h"
#include "core/mutex.h"
#include "core/options.h"
#include "core/stats.h"
#include "core/unload.h"
#include "device/device.h"
#include "device/platform.h"
#include "program/native/key_tags.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define CLAIM_WAIT_MS 60000

// Guards the making of the variables below; once made, they stay until the plugin is unloaded.
static struct zepi_mutex mutex;
static _Atomic(struct zepi_build_cache *) cache;
static struct zepi_build_budget *budget;
static struct zepi_disk *disk;     // NULL: none
static struct zepi_shared *shared; // NULL: none
static void *shared_handle;        // of its library
static const struct zepi_shared_library *shared_library;
static char shared_refusal[ZEPI_SHARED_TEXT_BYTES]; // why there is none that was asked for

bool zepi_binary_set(struct zepi_build_output *output, const void *bytes, size_t size_bytes)
{
    output->payload = zepi_duplicate(bytes, size_bytes);
    output->destroy = zepi_free;
    output->stored = size_bytes > 0 ? output->payload : NULL;
    output->stored_size = size_bytes;
    output->cost_bytes = size_bytes;
    return output->payload;
}

// ---- The stores: the disk, then the shared store ----

// The key that native code has in stores, made in `space`: the key and the compiler's identity.
// Keys of anything else are the same there. NULL: the compiler is not identified, or without
// memory. To be finished in any case: `space`.
static const struct zepi_key *binary_make_store_key(const struct zepi_key *key,
                                                    enum zepi_compiler_phase phase,
                                                    struct zepi_key *space)
{
    struct zepi_compiler_identity *compiler = key->for_store;
    struct zepi_digest digest;
    zepi_key_init(space, ZEPI_KEY_VERSION);
    if (!compiler)
        return key;
    if (!zepi_compiler_identity_get(compiler, disk, phase, &digest)) {
        if (phase == ZEPI_AFTER_COMPILE)
            zepi_log(ZEPI_LOG_INFO,
                     "driver %s: its compiler cannot be identified, so its code is not stored",
                     compiler->driver_path);
        return NULL;
    }
    zepi_key_add_bytes(space, ZEPI_KEY_BUILD, key->bytes, key->size);
    zepi_key_add_digest(space, ZEPI_KEY_COMPILER, digest);
    return zepi_key_seal(space) ? space : NULL;
}

// From the disk, or from the shared store, whose record is on the disk from now on. Of processes
// that start at once, one builds; the others wait, and look at the disk again. The claim is of the
// key without the compiler, which may be known only after a build.
static bool binary_store_load(void *self, const struct zepi_key *key,
                              struct zepi_build_record *out_record)
{
    struct zepi_key space;
    const struct zepi_key *store_key = binary_make_store_key(key, ZEPI_BEFORE_COMPILE, &space);
    int claim = -1;
    (void)self;
    bool is_on_disk = store_key && disk && zepi_disk_store_ops.load(disk, store_key, out_record);
    if (!is_on_disk && disk) {
        claim = zepi_disk_claim(disk, key, CLAIM_WAIT_MS);
        zepi_key_finish(&space);
        store_key = binary_make_store_key(key, ZEPI_BEFORE_COMPILE, &space);
        is_on_disk = store_key && zepi_disk_store_ops.load(disk, store_key, out_record);
    }
    const bool is_shared = store_key && !is_on_disk && shared &&
                           shared_library->ops->load(shared, store_key, out_record);
    if (is_shared && disk)
        zepi_disk_store_ops.store(disk, store_key, out_record);
    if (is_on_disk || is_shared) {
        zepi_stats_count(is_on_disk ? ZEPI_STAT_BINARIES_DISK : ZEPI_STAT_BINARIES_SHARED);
        zepi_disk_unclaim(claim, ZEPI_DISK_CLAIM_STORED);
    } else {
        out_record->claim = claim;
    }
    zepi_key_finish(&space);
    return is_on_disk || is_shared;
}

static void note_disk(const char *path, const char *reason)
{
    zepi_stats_note_unused_disk(path, reason);
    zepi_log(ZEPI_LOG_NOTICE, "the cache on disk is not used: %s: %s", path, reason);
}

// After a build: says once why the disk has no part in this process.
static void note_unused_disk(bool is_identified)
{
    static atomic_flag is_noted = ATOMIC_FLAG_INIT;
    const char *reason = zepi_disk_trouble(disk);
    if (!reason && !is_identified)
        reason = "the driver's compiler cannot be identified";
    if (reason && !atomic_flag_test_and_set(&is_noted))
        note_disk(zepi_disk_path(disk), reason);
}

// A result that is stored was compiled just now, so that the compiler can be identified.
static void binary_store_store(void *self, const struct zepi_key *key,
                               const struct zepi_build_record *record)
{
    struct zepi_key space;
    const struct zepi_key *store_key = binary_make_store_key(
        key, record->payload ? ZEPI_AFTER_COMPILE : ZEPI_BEFORE_COMPILE, &space);
    (void)self;
    // The shared store first: other machines wait for it.
    if (store_key && shared)
        shared_library->ops->store(shared, store_key, record);
    if (store_key && disk)
        zepi_disk_store_ops.store(disk, store_key, record);
    zepi_disk_unclaim(record->claim, store_key && record->payload ? ZEPI_DISK_CLAIM_STORED
                                                                  : ZEPI_DISK_CLAIM_ABANDONED);
    if (disk)
        note_unused_disk(store_key || !record->payload);
    zepi_key_finish(&space);
}

static void binary_store_remove(void *self, const struct zepi_key *key)
{
    struct zepi_key space;
    const struct zepi_key *store_key = binary_make_store_key(key, ZEPI_BEFORE_COMPILE, &space);
    (void)self;
    if (store_key && disk)
        zepi_disk_store_ops.remove(disk, store_key);
    if (store_key && shared)
        shared_library->ops->remove(shared, store_key);
    zepi_key_finish(&space);
}

static const struct zepi_build_store_ops binary_store_ops = {
    .load = binary_store_load,
    .store = binary_store_store,
    .remove = binary_store_remove,
};

static void note_shared(const char *line)
{
    zepi_log(ZEPI_LOG_ERROR, "shared store %s: %s", zepi_options()->shared, line);
}

// The library lies beside this one: hiredis and libcrypto are loaded by processes alone that have
// such a store. Its symbol has zepi's version in its name, so that another version's is not used.
static const struct zepi_shared_library *open_shared_library(void)
{
    char path[PATH_MAX];
    if (!zepi_sys_find_beside("libzepi_shared_store.so", path) || access(path, F_OK) != 0) {
        snprintf(shared_refusal, sizeof(shared_refusal),
                 "this zepi is built without it: build zepi with libhiredis-dev and libssl-dev");
        return NULL;
    }
    shared_handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const void *found = shared_handle ? dlsym(shared_handle, ZEPI_SHARED_TABLE) : NULL;
    if (!found)
        snprintf(shared_refusal, sizeof(shared_refusal),
                 "its library cannot be used: %s; it needs hiredis and libcrypto 3 of the system "
                 "(apt-get install libhiredis-dev libssl3)",
                 dlerror());
    return found;
}

// Reports the reason on stderr if there is no store, as for any option.
static struct zepi_shared *create_shared(const struct zepi_options *options)
{
    const struct zepi_shared_config config = {
        .address = options->shared,
        .key_file = options->shared_key_file,
        .password_file = options->shared_password_file,
        .limits = {.connect_ms = 1000,
                   .operation_ms = 5000,
                   .claim_ms = (int)options->shared_seconds * 1000,
                   .backoff_ms = 60000},
        .note = note_shared};
    if (!options->shared[0])
        return NULL;
    shared_library = open_shared_library();
    struct zepi_shared *created =
        shared_library ? shared_library->create(&config, shared_refusal) : NULL;
    if (!created)
        fprintf(stderr, "zepi: ZEPI_CACHE_SHARED=%s: %s\n", options->shared, shared_refusal);
    return created;
}

// ---- The cache ----

static void binary_cache_unload(void)
{
    zepi_build_cache_destroy(atomic_load_explicit(&cache, memory_order_acquire));
    zepi_build_budget_destroy(budget);
    zepi_disk_destroy(disk);
    if (shared)
        shared_library->destroy(shared);
    if (shared_handle)
        dlclose(shared_handle);
    atomic_store_explicit(&cache, NULL, memory_order_release);
    budget = NULL;
    disk = NULL;
    shared = NULL;
    shared_handle = NULL;
}

static void create_stores_locked(const struct zepi_options *options)
{
    if (options->disk_is_on && (options->cache_folder[0] || options->read_only_folders[0]))
        disk = zepi_disk_create(options->cache_folder,
                                options->cache_folder[0] ? options->disk_bytes : 0);
    if (disk && options->read_only_folders[0])
        (void)zepi_disk_add_read_only(disk, options->read_only_folders, note_disk);
    shared = create_shared(options);
}

static struct zepi_build_cache *create_locked(void)
{
    const struct zepi_options *options = zepi_options();
    const struct zepi_build_limits limits = {
        .bytes = options->cache_is_on ? options->binary_bytes : 0,
        .entries = options->cache_is_on ? ZEPI_BUILD_UNLIMITED : 0};
    const struct zepi_build_store store = {.ops = &binary_store_ops,
                                           .make_payload = zepi_binary_set};
    budget = zepi_build_budget_create(limits);
    if (!budget)
        return NULL;
    if (options->cache_is_on)
        create_stores_locked(options);
    struct zepi_build_cache *made = zepi_build_cache_create(budget, disk || shared ? &store : NULL);
    if (made)
        zepi_at_unload(ZEPI_UNLOAD_CACHE, binary_cache_unload);
    else
        binary_cache_unload();
    return made;
}

struct zepi_build_cache *zepi_binary_cache(void)
{
    struct zepi_build_cache *made = atomic_load_explicit(&cache, memory_order_acquire);
    if (made)
        return made;
    zepi_mutex_lock(&mutex);
    made = atomic_load_explicit(&cache, memory_order_relaxed);
    if (!made) {
        made = create_locked();
        atomic_store_explicit(&cache, made, memory_order_release);
    }
    zepi_mutex_unlock(&mutex);
    if (!made)
        zepi_fail_no_memory();
    return made;
}

struct zepi_build_budget *zepi_binary_budget(void)
{
    return budget;
}

struct zepi_disk *zepi_binary_disk(void)
{
    return disk;
}

void zepi_binary_describe_shared(char out_state[ZEPI_SHARED_TEXT_BYTES])
{
    if (shared)
        shared_library->describe(shared, out_state);
    else
        snprintf(out_state, ZEPI_SHARED_TEXT_BYTES, "%s",
                 shared_refusal[0] ? shared_refusal : "switched off");
}

void zepi_key_add_device(struct zepi_key *key, const struct zepi_device *device)
{
    struct zepi_platform *platform = device->platform;
    zepi_key_add_u32(key, ZEPI_KEY_VENDOR, device->properties.vendorId);
    zepi_key_add_u32(key, ZEPI_KEY_DEVICE, device->properties.deviceId);
    zepi_key_add_u32(key, ZEPI_KEY_IP_VERSION, device->ip_version);
    zepi_key_add_u32(key, ZEPI_KEY_DRIVER_VERSION, platform->properties.driverVersion);
    // The path, not the UUID: some drivers make up a new UUID every few seconds.
    zepi_key_add_string(key, ZEPI_KEY_DRIVER, platform->library);
    key->for_store = &platform->compiler;
}
