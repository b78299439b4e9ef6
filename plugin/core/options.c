// SPDX-License-Identifier: MIT
#include "core/options.h"

#include "core/sys.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)
#define MOST_SHARED_SECONDS 3600
#define OPTION_COUNT 23

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct zepi_options options;
// The list that zepi_options_list returns, with the values as text.
static zepi_option_t list[OPTION_COUNT];
static char values[OPTION_COUNT][32];
static uint32_t list_count;

// A program with more rights than the user that starts it (set-user-id) reads none: the user chose
// them.
static const char *read_variable(const char *name, const char *description)
{
    const char *text = secure_getenv(name);
    const bool is_set = text && text[0] != '\0';
    assert(list_count < OPTION_COUNT);
    list[list_count] = (zepi_option_t){.name = name, .description = description, .is_set = is_set};
    return is_set ? text : NULL;
}

static void note_variable_value(const char *value)
{
    snprintf(values[list_count], sizeof(values[0]), "%s", value);
    list[list_count].value = values[list_count];
    list_count++;
}

static void refuse_variable(const char *name, const char *text, const char *expected)
{
    list[list_count].is_set = false;
    fprintf(stderr, "zepi: %s=%s: expected %s\n", name, text, expected);
}

// One of `count` words; the first is the default. Returns its index.
static unsigned read_word(const char *name, const char *description, unsigned count,
                          const char *const *words, unsigned otherwise)
{
    const char *text = read_variable(name, description);
    unsigned index = 0;
    while (text && index < count && strcmp(text, words[index]) != 0)
        index++;
    if (!text || index == count) {
        if (text) {
            char expected[128] = "";
            for (unsigned i = 0; i < count; i++)
                snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%s%s",
                         i == 0           ? ""
                         : i + 1 == count ? " or "
                                          : ", ",
                         words[i]);
            refuse_variable(name, text, expected);
        }
        index = otherwise;
    }
    note_variable_value(words[index]);
    return index;
}

enum state { OFF, ON };

static bool read_switch(const char *name, const char *description, enum state otherwise)
{
    static const char *const words[] = {[OFF] = "off", [ON] = "on", "0", "1"};
    const unsigned index = read_word(name, description, 4, words, otherwise);
    return index % 2 == 1;
}

// A number with an optional K, M or G, or "unlimited".
static uint64_t read_number(const char *name, const char *description, uint64_t otherwise)
{
    static const char units[] = "KMG";
    const char *text = read_variable(name, description);
    uint64_t number = otherwise;
    if (text && strcmp(text, "unlimited") == 0) {
        number = UINT64_MAX;
    } else if (text) {
        char *end;
        errno = 0;
        const uint64_t mantissa = strtoull(text, &end, 10);
        const char *unit = *end ? strchr(units, *end) : NULL;
        const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
        if (errno != 0 || text[0] < '0' || text[0] > '9' || (*end && (!unit || end[1])) ||
            __builtin_mul_overflow(mantissa, UINT64_C(1) << shift, &number)) {
            refuse_variable(name, text,
                            "a number, with K, M or G for multiples of 1024, or unlimited");
            number = otherwise;
        }
    }
    char value[32];
    if (number == UINT64_MAX)
        snprintf(value, sizeof(value), "unlimited");
    else
        snprintf(value, sizeof(value), "%" PRIu64, number);
    note_variable_value(value);
    return number;
}

static void read_text(const char *name, const char *description, char *out_text, size_t size)
{
    const char *text = read_variable(name, description);
    if (text && strlen(text) >= size) {
        refuse_variable(name, text, "a shorter text");
        text = NULL;
    }
    snprintf(out_text, size, "%s", text ? text : "");
    list[list_count++].value = out_text;
}

// Programs look for parts of it: docs/dpcpp.md has the table.
static void read_platform_name(void)
{
    read_text("ZEPI_PLATFORM_NAME", "name of the platform in Unified Runtime",
              options.platform_name, sizeof(options.platform_name));
    if (!options.platform_name[0])
        snprintf(options.platform_name, sizeof(options.platform_name),
                 "Intel(R) oneAPI Unified Runtime over Level-Zero (zepi)");
}

static void read_shared(void)
{
    read_text("ZEPI_CACHE_SHARED",
              "server that keeps native code for many machines: "
              "redis://HOST[:PORT][/DATABASE] or redis+unix:///PATH[?db=DATABASE]",
              options.shared, sizeof(options.shared));
    read_text("ZEPI_CACHE_SHARED_KEY_FILE",
              "file with the key of its records, of 32 bytes or more; needed over TCP",
              options.shared_key_file, sizeof(options.shared_key_file));
    read_text("ZEPI_CACHE_SHARED_PASSWORD_FILE", "file with its password",
              options.shared_password_file, sizeof(options.shared_password_file));
    options.shared_seconds = read_number(
        "ZEPI_CACHE_SHARED_SECONDS", "how long one process builds while others wait for it", 60);
    if (options.shared_seconds == 0 || options.shared_seconds > MOST_SHARED_SECONDS) {
        list_count--;
        refuse_variable("ZEPI_CACHE_SHARED_SECONDS", list[list_count].value,
                        "a number from 1 to 3600");
        options.shared_seconds = 60;
        note_variable_value("60");
    }
}

static void read_folder(void)
{
    read_variable("ZEPI_CACHE_DIR", "folder of the disk cache; else XDG_CACHE_HOME/zepi, else "
                                    "HOME/.cache/zepi");
    if (!zepi_sys_choose_cache_folder(secure_getenv("ZEPI_CACHE_DIR"),
                                      secure_getenv("XDG_CACHE_HOME"), secure_getenv("HOME"),
                                      options.cache_folder, sizeof(options.cache_folder)))
        options.cache_folder[0] = '\0';
    list[list_count++].value = options.cache_folder;
}

static void read_read_only_folders(void)
{
    static const char name[] = "ZEPI_CACHE_READ_ONLY_DIRS";
    char *text = options.read_only_folders;
    read_text(name,
              "folders of caches that are read after the own one: absolute, with colons between",
              text, sizeof(options.read_only_folders));
    unsigned count = 1;
    bool is_absolute = text[0] == '/' || text[0] == '\0';
    for (const char *at = text; (at = strchr(at, ':')); count++)
        is_absolute = *++at == '/' && is_absolute;
    if (!is_absolute || count > 8) {
        list_count--;
        refuse_variable(name, text, "at most eight absolute paths, with colons between");
        text[0] = '\0';
        list_count++;
    }
}

static void tell_of_gone_variables(void)
{
    const bool is_idle_set = secure_getenv("ZEPI_COMPILER_IDLE_SECONDS");
    if (is_idle_set || secure_getenv("ZEPI_COMPILER_BYTES"))
        fprintf(stderr, "zepi: %s has no effect any more: a compiler process ends with its build\n",
                is_idle_set ? "ZEPI_COMPILER_IDLE_SECONDS" : "ZEPI_COMPILER_BYTES");
}

// A relative name is made absolute: the folder may be another one at the end. Programs with more
// rights than their user write nothing.
static void read_stats(void)
{
    char folder[2048];
    const char *path =
        read_variable("ZEPI_STATS", "a report at the end of the process: off, stderr or a file, "
                                    "which gets a line of JSON if it ends in .jsonl; on: none");
    const char *ending = path ? strrchr(path, '.') : NULL;
    if (ending && strcmp(ending, ".json") == 0)
        refuse_variable("ZEPI_STATS", path,
                        "a name that ends in .jsonl, since each process writes a line");
    if (!path || strcmp(path, "off") == 0 || (ending && strcmp(ending, ".json") == 0))
        path = "";
    const bool is_relative =
        path[0] && path[0] != '/' && strcmp(path, "stderr") != 0 && strcmp(path, "on") != 0;
    if (is_relative && getcwd(folder, sizeof(folder)))
        snprintf(options.stats, sizeof(options.stats), "%s/%s", folder, path);
    else
        snprintf(options.stats, sizeof(options.stats), "%s", path);
    list[list_count++].value = options.stats[0] ? options.stats : "off";
}

static void read_environment(void)
{
    static const char *const levels[] = {"off", "error", "info", "debug"};
    static const char *const methods[] = {"auto", "program", "dynamic"};
    static const char *const places[] = {"library", "process"};
    static const char *const layouts[] = {"auto", "2025.3", "2026.0", "2026.1", "2026.2"};
    const unsigned level = read_word("ZEPI_LOG",
                                     "lines on stderr: off, error, info or debug; if it is not "
                                     "set, errors alone about the driver and the cache on disk",
                                     4, levels, 1);
    options.log_level = level == 0                     ? ZEPI_LOG_OFF
                        : !list[list_count - 1].is_set ? ZEPI_LOG_NOTICE
                                                       : (enum zepi_log_level)(level + 1);
    options.cache_is_on =
        read_switch("ZEPI_CACHE", "keep builds and kernels, in memory and on disk: on or off", ON);
    options.disk_is_on = read_switch("ZEPI_CACHE_DISK", "keep native code on disk: on or off", ON);
    read_folder();
    read_read_only_folders();
    options.memory_bytes = read_number("ZEPI_CACHE_MEMORY_BYTES",
                                       "modules, kernels and lookups kept, a context", 256 * MIB);
    options.memory_entries = read_number("ZEPI_CACHE_MEMORY_ENTRIES",
                                         "modules, kernels and lookups kept, a context", 16384);
    options.binary_bytes = read_number("ZEPI_CACHE_BINARY_BYTES",
                                       "native code kept in memory, of the process", 64 * MIB);
    options.disk_bytes =
        read_number("ZEPI_CACHE_DISK_BYTES", "native code kept on disk", 1024 * MIB);
    read_shared();
    options.newer_functions =
        read_switch("ZEPI_NEWER_FUNCTIONS",
                    "use functions of Level Zero after 1.4 where they are: on or off", ON);
    options.link_method = (zepi_link_method_t)read_word(
        "ZEPI_LINK", "how modules are linked: auto, program or dynamic", 3, methods, 0);
    options.has_compiler_processes =
        read_word("ZEPI_COMPILER",
                  "where device code is compiled: library, in this process, or process, in one of "
                  "its own, which may crash",
                  2, places, 0) == 1;
    options.compiler_seconds = read_number(
        "ZEPI_COMPILER_SECONDS", "how long a build in a process of its own may take", 600);
    tell_of_gone_variables();
    options.usm_pool =
        read_switch("ZEPI_USM_POOL",
                    "cut small allocations of USM from larger ones and reuse them: on or off", ON);
    options.large_allocations = read_switch("ZEPI_LARGE_ALLOCATIONS",
                                            "allocate beyond the limit of devices that address "
                                            "memory in 4 GB, and compile for it: on or off",
                                            OFF);
    options.ur_layout = layouts[read_word(
        "ZEPI_UR_LAYOUT",
        "layout of Unified Runtime's tables: auto, that of the loader that asks, or a release of "
        "DPC++",
        5, layouts, 0)];
    if (strcmp(options.ur_layout, layouts[0]) == 0)
        options.ur_layout = "";
    read_platform_name();
    read_text(
        "ZEPI_QUIRKS",
        "for tests: workarounds for drivers that are in force (NAME, all) or not (-NAME, none)",
        options.quirks, sizeof(options.quirks));
    read_stats();
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
    *out_count = list_count;
    return list;
}
