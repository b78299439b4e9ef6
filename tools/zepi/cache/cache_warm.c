// SPDX-License-Identifier: MIT
#include "cache_warm.h"

#include "../commands.h"
#include "../image/image_file.h"
#include "cache/digest.h"
#include "spirv/spirv.h"
#include "spirv_scan.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_REASONS 5
#define PROGRESS_INTERVAL_US 100000

struct entry {
    struct zepi_digest digest;
    struct spirv_module module;
};

struct list {
    struct entry *entries; // owned
    size_t count;
    size_t capacity;
    size_t importing;         // modules that are linked with others first: not in the list
    struct file_bytes *files; // owned; the modules lie in them
};

// Shared by all processes.
struct progress {
    _Atomic size_t next;
    _Atomic size_t built;
    _Atomic size_t failed;
    _Atomic size_t found; // of those built: their code was in the folder, or in the shared store
};

// Whether the module has kernels that are wanted; *out_imports: it needs another module, too.
static bool is_wanted(const struct cache_warm *warm, const struct spirv_module *module,
                      bool *out_imports)
{
    char message[256];
    struct zepi_spirv spirv;
    *out_imports = false;
    if (zepi_spirv_init(&spirv, module->bytes, module->size_bytes, message, sizeof(message)) !=
        ZEPI_SPIRV_OK)
        return false;
    bool found = false;
    for (uint32_t i = 0; i < spirv.kernel_count && !found; i++)
        found = !warm->kernels || fnmatch(warm->kernels, spirv.kernels[i].name, 0) == 0;
    for (uint32_t i = 0; i < spirv.symbol_count; i++)
        *out_imports = *out_imports || spirv.symbols[i].linkage == ZEPI_SPIRV_IMPORT;
    zepi_spirv_finish(&spirv);
    return found;
}

static bool list_add(struct list *list, const struct cache_warm *warm,
                     const struct spirv_module *module)
{
    bool imports;
    if (!is_wanted(warm, module, &imports))
        return true;
    if (imports) {
        list->importing++;
        return true;
    }
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity > 0 ? 2 * list->capacity : 256;
        struct entry *entries = realloc(list->entries, capacity * sizeof(*entries));
        if (!entries) {
            fputs("zepi cache warm: no memory\n", stderr);
            return false;
        }
        list->entries = entries;
        list->capacity = capacity;
    }
    list->entries[list->count++] =
        (struct entry){zepi_digest_of(module->bytes, module->size_bytes), *module};
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct zepi_digest *left = &((const struct entry *)a)->digest;
    const struct zepi_digest *right = &((const struct entry *)b)->digest;
    return left->high != right->high ? (left->high < right->high ? -1 : 1)
           : left->low != right->low ? (left->low < right->low ? -1 : 1)
                                     : 0;
}

// The largest first: one that comes last would keep one processor busy after the others.
static int compare_sizes(const void *a, const void *b)
{
    const size_t left = ((const struct entry *)a)->module.size_bytes;
    const size_t right = ((const struct entry *)b)->module.size_bytes;
    return left < right ? 1 : left > right ? -1 : compare(a, b);
}

// Device images of templates are in many libraries: each is built once.
static void list_remove_copies(struct list *list)
{
    size_t kept = 0;
    if (list->count > 0)
        qsort(list->entries, list->count, sizeof(*list->entries), compare);
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || compare(&list->entries[kept - 1], &list->entries[i]) != 0)
            list->entries[kept++] = list->entries[i];
    }
    list->count = kept;
    if (kept > 0)
        qsort(list->entries, kept, sizeof(*list->entries), compare_sizes);
}

static bool list_fill(struct list *list, const struct cache_warm *warm)
{
    list->files = calloc((size_t)warm->file_count, sizeof(*list->files));
    if (!list->files)
        return false;
    for (int i = 0; i < warm->file_count; i++) {
        struct file_bytes *file = &list->files[i];
        struct spirv_module module;
        size_t offset = 0;
        if (!file_read(warm->files[i], file))
            return false;
        while (spirv_scan_next(file->bytes, file->size_bytes, &offset, &module)) {
            if (!list_add(list, warm, &module))
                return false;
        }
    }
    list_remove_copies(list);
    return true;
}

static void list_finish(struct list *list, int file_count)
{
    for (int i = 0; list->files && i < file_count; i++)
        free(list->files[i].bytes);
    free(list->files);
    free(list->entries);
}

static bool build(const struct host_device *host, const struct cache_warm *warm,
                  const struct spirv_module *module)
{
    const struct file_bytes file = {(unsigned char *)module->bytes, module->size_bytes};
    const zepi_build_desc_t desc = {.size = sizeof(desc), .options = warm->options};
    zepi_module_t input = NULL;
    zepi_module_t executable = NULL;
    const bool is_built =
        image_create_module(host, &file, ZEPI_MODULE_EXECUTABLE, 0, NULL, &input) == ZEPI_SUCCESS &&
        zepi.module_build(input, &desc, &executable) == ZEPI_SUCCESS;
    host_release(executable);
    host_release(input);
    return is_built;
}

// A process builds the next module that no other has begun, until there is none.
static int work(const struct cache_warm *warm, const struct list *list, struct progress *progress)
{
    struct host_device host;
    const int code = host_open(&host, warm->driver);
    if (code != EXIT_OK)
        return code;
    for (;;) {
        const size_t index = atomic_fetch_add(&progress->next, 1);
        if (index >= list->count)
            break;
        if (build(&host, warm, &list->entries[index].module))
            atomic_fetch_add(&progress->built, 1);
        else if (atomic_fetch_add(&progress->failed, 1) < MAX_REASONS)
            host_fail("a module is not built");
    }
    zepi_cache_counters_t counters = {.size = sizeof(counters)};
    if (zepi.cache_get_counters(NULL, ZEPI_CACHE_BINARIES, &counters) == ZEPI_SUCCESS)
        atomic_fetch_add(&progress->found, (size_t)counters.store_hits);
    host_close(&host);
    return EXIT_OK;
}

static void show_progress(const struct progress *progress, size_t count, uint64_t start_ns)
{
    command_progress("%zu of %zu modules, %.0f s",
                     atomic_load(&progress->built) + atomic_load(&progress->failed), count,
                     (double)(host_now_ns() - start_ns) / 1e9);
}

static bool start_one(const struct cache_warm *warm, const struct list *list,
                      struct progress *progress)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        _exit(work(warm, list, progress));
    }
    return child > 0;
}

static size_t start(const struct cache_warm *warm, const struct list *list,
                    struct progress *progress)
{
    size_t wanted = warm->processes;
    size_t started = 0;
    if (wanted > CACHE_WARM_MAX_PROCESSES)
        wanted = CACHE_WARM_MAX_PROCESSES;
    if (wanted > list->count)
        wanted = list->count;
    while (started < wanted && start_one(warm, list, progress))
        started++;
    return started;
}

// Waits for the processes. One that dies takes one module with it; another one takes its place.
static int wait_for(size_t processes, const struct cache_warm *warm, const struct list *list,
                    struct progress *progress, uint64_t start_ns)
{
    int code = EXIT_OK;
    size_t places = list->count; // so that it ends if they die before they take a module
    while (processes > 0) {
        int status;
        const pid_t child = waitpid(-1, &status, WNOHANG);
        if (child == 0) {
            show_progress(progress, list->count, start_ns);
            usleep(PROGRESS_INTERVAL_US);
            continue;
        }
        if (child < 0)
            break;
        processes--;
        if (WIFSIGNALED(status)) {
            fprintf(stderr, "zepi cache warm: a process ended with signal %d at a module\n",
                    WTERMSIG(status));
            atomic_fetch_add(&progress->failed, 1);
            code = EXIT_FAILED;
            if (atomic_load(&progress->next) < list->count && places-- > 0 &&
                start_one(warm, list, progress))
                processes++;
        } else if (WEXITSTATUS(status) != EXIT_OK) {
            code = WEXITSTATUS(status);
        }
    }
    command_progress_end();
    return code;
}

int cache_warm(const struct cache_warm *warm, cJSON *document)
{
    struct list list = {0};
    struct progress *progress =
        mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int code = EXIT_FAILED;
    if (progress == MAP_FAILED)
        return EXIT_FAILED;
    // The libraries read it when they are loaded.
    setenv("ZEPI_CACHE_DIR", warm->folder, 1);
    if (list_fill(&list, warm)) {
        const uint64_t start_ns = host_now_ns();
        const size_t processes = start(warm, &list, progress);
        code = processes == 0 && list.count > 0
                   ? EXIT_FAILED
                   : wait_for(processes, warm, &list, progress, start_ns);
        const size_t built = atomic_load(&progress->built);
        cJSON_AddNumberToObject(document, "modules", (double)list.count);
        cJSON_AddNumberToObject(document, "built", (double)built);
        cJSON_AddNumberToObject(document, "found", (double)atomic_load(&progress->found));
        cJSON_AddNumberToObject(document, "not_built", (double)(list.count - built));
        cJSON_AddNumberToObject(document, "linked_with_others", (double)list.importing);
        cJSON_AddNumberToObject(document, "processes", (double)processes);
        cJSON_AddNumberToObject(document, "seconds", (double)(host_now_ns() - start_ns) / 1e9);
        if (list.count == 0)
            fprintf(stderr, "zepi cache warm: there is no SPIR-V module%s%s%s%s\n",
                    warm->kernels ? " with a kernel " : "", warm->kernels ? warm->kernels : "",
                    list.importing > 0 ? " that needs no other one" : "",
                    warm->file_count == 1 ? " in the file" : " in the files");
        if (code == EXIT_OK && (built < list.count || list.count == 0))
            code = EXIT_FAILED;
    }
    list_finish(&list, warm->file_count);
    munmap(progress, sizeof(*progress));
    return code;
}
