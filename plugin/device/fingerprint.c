// SPDX-License-Identifier: MIT
#include "device/fingerprint.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/ze.h"
#include "device/compiler_files.h"
#include "device/cpu_features.h"
#include "device/file_contents.h"
#include "device/platform.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

struct zepi_fingerprint {
    pthread_mutex_t mutex; // guards what is below; held while files are read: others wait for them
    bool is_known;
    bool is_noted; // in the log, that it is not
    struct zepi_digest digest;
};

struct zepi_fingerprint *zepi_fingerprint_create(void)
{
    struct zepi_fingerprint *fingerprint = zepi_allocate(1, sizeof(*fingerprint));
    if (fingerprint)
        pthread_mutex_init(&fingerprint->mutex, NULL);
    return fingerprint;
}

void zepi_fingerprint_destroy(struct zepi_fingerprint *fingerprint)
{
    if (!fingerprint)
        return;
    pthread_mutex_destroy(&fingerprint->mutex);
    zepi_free(fingerprint);
}

// ---- Where the driver is ----

static void *ask_driver(const struct zepi_platform *platform, const char *name)
{
    void *function = NULL;
    return zepi_ze.zeDriverGetExtensionFunctionAddress(platform->ze, name, &function) ==
                   ZE_RESULT_SUCCESS
               ? function
               : NULL;
}

// An address inside the driver's library.
static const void *driver_address(const struct zepi_platform *platform)
{
    static const char *const names[] = {"zexDriverImportExternalPointer", "zeCpuGetRuntimeAddress",
                                        "zeCommandListAppendLaunchKernelWithArguments"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const void *function = ask_driver(platform, names[i]);
        if (function)
            return function;
    }
    return NULL;
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_level_zero_driver(const char *name)
{
    return begins_with(name, "libze_") && !begins_with(name, "libze_loader") &&
           !begins_with(name, "libze_tracing") && !begins_with(name, "libze_validation");
}

// A driver that answers none of the names goes by its file's name. NULL: two of them are loaded.
static const struct zepi_loaded_library *
find_driver_by_name(const struct zepi_library_search *search)
{
    const struct zepi_loaded_library *driver = NULL;
    for (size_t i = 0; i < search->loaded_count; i++) {
        if (!is_level_zero_driver(zepi_library_base_name(search->loaded[i].name)))
            continue;
        if (driver)
            return NULL;
        driver = &search->loaded[i];
    }
    return driver;
}

// The file of a loaded library; NULL: there is none, or it is another one by now.
static const char *path_of(const struct zepi_loaded_library *loaded)
{
    return loaded && !loaded->is_replaced ? loaded->path : NULL;
}

static const char *driver_path(const struct zepi_library_search *search,
                               const struct zepi_platform *platform)
{
    const void *address = driver_address(platform);
    return path_of(address ? zepi_library_at_address(search, address)
                           : find_driver_by_name(search));
}

// Of the OpenCL runtime that ze_cpu compiles with.
static const char *runtime_path(const struct zepi_library_search *search,
                                const struct zepi_platform *platform)
{
    const void *(*get_address)(void) = NULL;
    void *function = ask_driver(platform, "zeCpuGetRuntimeAddress");
    memcpy(&get_address, &function, sizeof(function));
    return get_address ? path_of(zepi_library_at_address(search, get_address())) : NULL;
}

// ---- The whole ----

static bool find_files(const struct zepi_platform *platform, struct zepi_compiler_files *out_files)
{
    const struct zepi_library_places places = {0};
    struct zepi_library_search search;
    if (!zepi_library_search_init(&search, &places))
        return false;
    const struct zepi_compiler_roots roots = {
        .driver = driver_path(&search, platform),
        .runtime = platform->is_ze_cpu ? runtime_path(&search, platform) : NULL};
    const bool is_found = roots.driver && (roots.runtime || !platform->is_ze_cpu) &&
                          zepi_compiler_files_init(out_files, &search, &roots);
    zepi_library_search_finish(&search);
    return is_found;
}

// As a last resort the loader is asked. What it loads stays: the driver will want it.
static bool load_compiler(void)
{
    bool is_loaded = false;
    for (const char *const *name = zepi_compiler_names; *name && !is_loaded; name++)
        is_loaded = dlopen(*name, RTLD_LAZY | RTLD_LOCAL) != NULL;
    return is_loaded;
}

// Settings that compilers read. The sum does not depend on their order.
static struct zepi_digest digest_environment(void)
{
    struct zepi_digest sum = {0};
    for (char **variable = environ; variable && *variable; variable++) {
        if (!begins_with(*variable, "IGC_") && !begins_with(*variable, "CL_CONFIG_"))
            continue;
        const struct zepi_digest digest = zepi_digest_of(*variable, strlen(*variable));
        sum.low += digest.low;
        sum.high += digest.high;
    }
    return sum;
}

static bool compute(const struct zepi_platform *platform, struct zepi_disk *disk,
                    struct zepi_digest *out_digest)
{
    struct zepi_compiler_files files;
    struct zepi_digest contents;
    uint32_t cpu[ZEPI_CPU_FEATURE_WORDS] = {0};
    if (!find_files(platform, &files))
        return false;
    if (!files.has_compiler && load_compiler()) {
        zepi_compiler_files_finish(&files);
        if (!find_files(platform, &files))
            return false;
    }
    for (size_t i = 0; i < files.count; i++)
        zepi_log(ZEPI_LOG_DEBUG, "the code depends on %s", files.files[i].path);
    const bool is_good = files.is_exact && zepi_file_contents_get(&files, disk, &contents);
    zepi_compiler_files_finish(&files);
    if (!is_good)
        return false;
    if (platform->is_ze_cpu)
        zepi_cpu_features(cpu);
    const struct zepi_digest environment = digest_environment();
    const struct zepi_digest_part parts[] = {
        {&contents, sizeof(contents)}, {cpu, sizeof(cpu)}, {&environment, sizeof(environment)}};
    *out_digest = zepi_digest_of_parts(parts, 3);
    return true;
}

bool zepi_fingerprint_get(struct zepi_platform *platform, struct zepi_disk *disk,
                          struct zepi_digest *out_digest)
{
    struct zepi_fingerprint *fingerprint = platform->fingerprint;
    pthread_mutex_lock(&fingerprint->mutex);
    if (!fingerprint->is_known)
        fingerprint->is_known = compute(platform, disk, &fingerprint->digest);
    const bool is_known = fingerprint->is_known;
    const bool is_news = !is_known && !fingerprint->is_noted;
    fingerprint->is_noted = fingerprint->is_noted || is_news;
    *out_digest = fingerprint->digest;
    pthread_mutex_unlock(&fingerprint->mutex);
    if (is_news)
        zepi_log(ZEPI_LOG_INFO,
                 "driver %p: its compiler cannot be identified, so its code is not stored on disk",
                 (void *)platform->ze);
    return is_known;
}
