// SPDX-License-Identifier: MIT
#include "core/options.h"

#include "core/sys.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct zepi_options options;

struct row {
    const char *name, *description;
    const char *otherwise; // the value if it is not set, or not understood
    // Writes the member. False: the text is not understood.
    bool (*read)(const struct row *row, const char *text);
    void *member;
    size_t size;              // of the member, if it is a text; one that is empty is `otherwise`
    const char *const *words; // the values, up to NULL; without them `expected` describes values
    const char *expected;
};

// ---- Values ----

// The place of the text among the words; -1: it is none of them.
static int find_word(const struct row *row, const char *text)
{
    for (int i = 0; row->words[i]; i++) {
        if (strcmp(text, row->words[i]) == 0)
            return i;
    }
    return -1;
}

// Every second word switches it on.
static bool read_switch(const struct row *row, const char *text)
{
    const int word = find_word(row, text);
    *(bool *)row->member = word % 2 == 1;
    return word >= 0;
}

// The member is of an enumeration whose values are the places of the words.
static bool read_word(const struct row *row, const char *text)
{
    const int word = find_word(row, text);
    *(int *)row->member = word;
    return word >= 0;
}
static_assert(sizeof(options.log_level) == sizeof(int) &&
                  sizeof(options.link_method) == sizeof(int),
              "enumerations are written as numbers");

static bool read_number(const struct row *row, const char *text)
{
    static const char units[] = "KMG";
    uint64_t *number = row->member;
    *number = UINT64_MAX;
    if (strcmp(text, "unlimited") == 0)
        return true;
    char *end;
    errno = 0;
    const uint64_t mantissa = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    return errno == 0 && text[0] >= '0' && text[0] <= '9' && (!*end || (unit && !end[1])) &&
           !__builtin_mul_overflow(mantissa, UINT64_C(1) << shift, number);
}

static bool read_shared_seconds(const struct row *row, const char *text)
{
    return read_number(row, text) && options.shared_seconds >= 1 && options.shared_seconds <= 3600;
}

static bool read_text(const struct row *row, const char *text)
{
    return (size_t)snprintf(row->member, row->size, "%s", text) < row->size;
}

static bool read_layout(const struct row *row, const char *text)
{
    const int word = find_word(row, text);
    return word >= 0 && read_text(row, word > 0 ? text : "");
}

static bool read_folder(const struct row *row, const char *text)
{
    if (!zepi_sys_choose_cache_folder(text, secure_getenv("XDG_CACHE_HOME"), secure_getenv("HOME"),
                                      row->member, row->size))
        options.cache_folder[0] = '\0';
    return true;
}

static bool read_read_only_folders(const struct row *row, const char *text)
{
    unsigned count = 1;
    bool is_absolute = text[0] == '/' || text[0] == '\0';
    for (const char *at = text; (at = strchr(at, ':')); count++)
        is_absolute = *++at == '/' && is_absolute;
    return is_absolute && count <= 8 && read_text(row, text);
}

// A relative name is made absolute: the folder may be another one at the end. Programs with more
// rights than their user write nothing.
static bool read_stats(const struct row *row, const char *text)
{
    char folder[2048];
    const char *ending = strrchr(text, '.');
    if (ending && strcmp(ending, ".json") == 0)
        return false;
    if (strcmp(text, "off") == 0)
        return read_text(row, "");
    if (text[0] == '/' || strcmp(text, "stderr") == 0 || strcmp(text, "on") == 0 ||
        !getcwd(folder, sizeof(folder)))
        return read_text(row, text);
    return (size_t)snprintf(row->member, row->size, "%s/%s", folder, text) < row->size;
}

// ---- The table ----

static const char *const levels[] = {"off", "notice", "error", "info", "debug", NULL};
static const char *const switches[] = {"off", "on", "0", "1", NULL};
static const char *const methods[] = {"auto", "program", "dynamic", NULL};
static const char *const places[] = {"library", "process", NULL};
static const char *const layouts[] = {"auto", "2025.3", "2026.0", "2026.1", "2026.2", NULL};
static const char number[] = "a number, with K, M or G for multiples of 1024, or unlimited";

#define WORD(member, list) read_word, &options.member, .words = list
#define SWITCH(member) read_switch, &options.member, .words = switches
#define NUMBER(member) read_number, &options.member, .expected = number
#define TEXT(member) read_text, options.member, sizeof(options.member), .expected = "a shorter text"

static const struct row rows[] = {
    {"ZEPI_LOG",
     "lines on stderr: off, notice (about the driver and the cache on disk alone), error, info or "
     "debug",
     "notice", WORD(log_level, levels)},
    {"ZEPI_CACHE", "keep builds and kernels, in memory and on disk: on or off", "on",
     SWITCH(cache_is_on)},
    {"ZEPI_CACHE_DISK", "keep native code on disk: on or off", "on", SWITCH(disk_is_on)},
    {"ZEPI_CACHE_DIR", "folder of the disk cache; else XDG_CACHE_HOME/zepi, else HOME/.cache/zepi",
     "", read_folder, options.cache_folder, sizeof(options.cache_folder), .expected = "a path"},
    {"ZEPI_CACHE_READ_ONLY_DIRS",
     "folders of caches that are read after the own one: absolute, with colons between", "",
     read_read_only_folders, options.read_only_folders, sizeof(options.read_only_folders),
     .expected = "at most eight absolute paths, with colons between"},
    {"ZEPI_CACHE_MEMORY_BYTES", "modules, kernels and lookups kept, a context", "256M",
     NUMBER(memory_bytes)},
    {"ZEPI_CACHE_MEMORY_ENTRIES", "modules, kernels and lookups kept, a context", "16384",
     NUMBER(memory_entries)},
    {"ZEPI_CACHE_BINARY_BYTES", "native code kept in memory, of the process", "64M",
     NUMBER(binary_bytes)},
    {"ZEPI_CACHE_DISK_BYTES", "native code kept on disk", "1G", NUMBER(disk_bytes)},
    {"ZEPI_CACHE_SHARED",
     "server that keeps native code for many machines: redis://HOST[:PORT][/DATABASE] or "
     "redis+unix:///PATH[?db=DATABASE]",
     "", TEXT(shared)},
    {"ZEPI_CACHE_SHARED_KEY_FILE",
     "file with the key of its records, of 32 bytes or more; needed over TCP", "",
     TEXT(shared_key_file)},
    {"ZEPI_CACHE_SHARED_PASSWORD_FILE", "file with its password", "", TEXT(shared_password_file)},
    {"ZEPI_CACHE_SHARED_SECONDS", "how long one process builds while others wait for it", "60",
     read_shared_seconds, &options.shared_seconds, .expected = "a number from 1 to 3600"},
    {"ZEPI_NEWER_FUNCTIONS", "use functions of Level Zero after 1.4 where they are: on or off",
     "on", SWITCH(newer_functions)},
    {"ZEPI_LINK", "how modules are linked: auto, program or dynamic", "auto",
     WORD(link_method, methods)},
    {"ZEPI_COMPILER",
     "where device code is compiled: library, in this process, or process, in one of its own, "
     "which may crash",
     "library", read_switch, &options.has_compiler_processes, .words = places},
    {"ZEPI_COMPILER_SECONDS", "how long a build in a process of its own may take", "600",
     NUMBER(compiler_seconds)},
    {"ZEPI_USM_POOL", "cut small allocations of USM from larger ones and reuse them: on or off",
     "on", SWITCH(usm_pool)},
    {"ZEPI_LARGE_ALLOCATIONS",
     "allocate beyond the limit of devices that address memory in 4 GB, and compile for it: on or "
     "off",
     "off", SWITCH(large_allocations)},
    {"ZEPI_UR_LAYOUT",
     "layout of Unified Runtime's tables: auto, that of the loader that asks, or a release of "
     "DPC++",
     "auto", read_layout, options.ur_layout, sizeof(options.ur_layout), .words = layouts},
    // Programs look for parts of it: docs/dpcpp.md has the table.
    {"ZEPI_PLATFORM_NAME", "name of the platform in Unified Runtime",
     "Intel(R) oneAPI Unified Runtime over Level-Zero (zepi)", TEXT(platform_name)},
    {"ZEPI_QUIRKS",
     "for tests: workarounds for drivers that are in force (NAME, all) or not (-NAME, none)", "",
     TEXT(quirks)},
    {"ZEPI_STATS",
     "a report at the end of the process: off, stderr or a file, which gets a line of JSON if it "
     "ends in .jsonl; on: none",
     "off", read_stats, options.stats, sizeof(options.stats),
     .expected = "a name that ends in .jsonl, since each process writes a line"},
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

// ---- Reading ----

static pthread_once_t once = PTHREAD_ONCE_INIT;
// The list that zepi_options_list returns, and the values that are not texts.
static zepi_option_t list[ROW_COUNT];
static char values[ROW_COUNT][32];

static void refuse(const struct row *row, const char *text)
{
    char expected[128] = "";
    for (int i = 0; row->words && row->words[i]; i++) {
        const char *between = i == 0 ? "" : row->words[i + 1] ? ", " : " or ";
        const size_t length = strlen(expected);
        snprintf(expected + length, sizeof(expected) - length, "%s%s", between, row->words[i]);
    }
    fprintf(stderr, "zepi: %s=%s: expected %s\n", row->name, text,
            row->words ? expected : row->expected);
}

static void tell_of_gone_variables(void)
{
    static const char *const gone[] = {"ZEPI_COMPILER_IDLE_SECONDS", "ZEPI_COMPILER_BYTES"};
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        if (!secure_getenv(gone[i]))
            continue;
        fprintf(stderr, "zepi: %s has no effect any more: a compiler process ends with its build\n",
                gone[i]);
        return;
    }
}

static void read_environment(void)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct row *row = &rows[i];
        // A program with more rights than the user that starts it (set-user-id) reads none: the
        // user chose them.
        const char *text = secure_getenv(row->name);
        bool is_set = text && text[0];
        if (is_set && !row->read(row, text)) {
            refuse(row, text);
            is_set = false;
        }
        if (!is_set) {
            text = row->otherwise;
            row->read(row, text);
        }
        list[i] = (zepi_option_t){.name = row->name,
                                  .description = row->description,
                                  .value = values[i],
                                  .is_set = is_set};
        if (row->size > 0)
            list[i].value = *(const char *)row->member ? row->member : row->otherwise;
        else
            snprintf(values[i], sizeof(values[i]), "%s", text);
    }
    tell_of_gone_variables();
    const char *sysman = getenv("ZES_ENABLE_SYSMAN"); // as drivers read it
    options.has_sysman_devices = sysman && strcmp(sysman, "1") == 0;
}

const struct zepi_options *zepi_options(void)
{
    pthread_once(&once, read_environment);
    return &options;
}

const zepi_option_t *zepi_options_list(uint32_t *out_count)
{
    zepi_options();
    *out_count = ROW_COUNT;
    return list;
}
