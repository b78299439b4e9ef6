// SPDX-License-Identifier: MIT
#include "cache/disk.h"
#include "commands.h"
#include "host.h"

#include <cjson/cJSON.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: zepi cache show | verify | trim BYTES | clear [--folder DIR] [--keep] [--json]\n"
    "\n"
    "The machine code that is kept on disk.\n"
    "  show           where it is, and how much there is\n"
    "  verify         reads every file; bad ones are removed, with --keep only counted\n"
    "  trim BYTES     removes files, least recently used first, until BYTES are left (K, M, G)\n"
    "  clear          removes all files; the folder stays\n"
    "  --folder DIR   else ZEPI_CACHE_DIR, XDG_CACHE_HOME/zepi, HOME/.cache/zepi\n"
    "Exit code 1: the folder cannot be used, or verify found bad files.\n";

// What a subcommand works on, and what it found out, as a document.
struct care {
    struct zepi_disk *disk;
    cJSON *document;
    bool keeps_bad;
    const char *argument; // of trim
};

static void add_tally(cJSON *parent, const char *name, const struct zepi_disk_tally *tally)
{
    cJSON *object = cJSON_AddObjectToObject(parent, name);
    cJSON_AddNumberToObject(object, "files", (double)tally->files);
    cJSON_AddNumberToObject(object, "bytes", (double)tally->bytes);
}

// A folder that is not there yet is an empty one.
static bool can_go_on(const struct care *care, enum zepi_cache_folder_state state)
{
    cJSON_AddStringToObject(care->document, "folder_state", zepi_cache_folder_describe(state));
    if (state == ZEPI_CACHE_FOLDER_USABLE || state == ZEPI_CACHE_FOLDER_MISSING)
        return true;
    fprintf(stderr, "zepi cache: %s: %s; it is not used\n", zepi_disk_path(care->disk),
            zepi_cache_folder_describe(state));
    return false;
}

struct summary {
    struct zepi_disk_tally results;
    struct zepi_disk_tally other_version;
    struct zepi_disk_tally temporary;
    int64_t oldest_ns;
    int64_t newest_ns;
};

static bool sum_up(void *user, const struct zepi_disk_file *file)
{
    struct summary *summary = user;
    struct zepi_disk_tally *tally = file->kind == ZEPI_DISK_FILE_RESULT ? &summary->results
                                    : file->kind == ZEPI_DISK_FILE_OTHER_VERSION
                                        ? &summary->other_version
                                        : &summary->temporary;
    tally->files++;
    tally->bytes += file->size_bytes;
    if (file->last_use_ns < summary->oldest_ns)
        summary->oldest_ns = file->last_use_ns;
    if (file->last_use_ns > summary->newest_ns)
        summary->newest_ns = file->last_use_ns;
    return true;
}

static void add_time(cJSON *parent, const char *name, int64_t time_ns)
{
    char text[64];
    struct tm parts;
    const time_t seconds = (time_t)(time_ns / INT64_C(1000000000));
    if (gmtime_r(&seconds, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
        cJSON_AddStringToObject(parent, name, text);
}

static int show(const struct care *care)
{
    struct summary summary = {.oldest_ns = INT64_MAX, .newest_ns = INT64_MIN};
    const enum zepi_cache_folder_state state = zepi_disk_for_each(care->disk, sum_up, &summary);
    if (!can_go_on(care, state))
        return EXIT_FAILED;
    add_tally(care->document, "results", &summary.results);
    add_tally(care->document, "other_version", &summary.other_version);
    add_tally(care->document, "temporary", &summary.temporary);
    if (summary.newest_ns >= summary.oldest_ns) {
        add_time(care->document, "oldest_use", summary.oldest_ns);
        add_time(care->document, "newest_use", summary.newest_ns);
    }
    return EXIT_OK;
}

static int verify(const struct care *care)
{
    struct zepi_disk_report report;
    const enum zepi_cache_folder_state state = zepi_disk_verify(
        care->disk, care->keeps_bad ? ZEPI_DISK_KEEP_BAD : ZEPI_DISK_REMOVE_BAD, &report);
    if (!can_go_on(care, state))
        return EXIT_FAILED;
    add_tally(care->document, "good", &report.good);
    add_tally(care->document, care->keeps_bad ? "bad" : "bad_and_removed", &report.bad);
    add_tally(care->document, "other_version", &report.other_version);
    add_tally(care->document, "temporary", &report.temporary);
    add_tally(care->document, "unreadable", &report.unreadable);
    return report.bad.files > 0 ? EXIT_FAILED : EXIT_OK;
}

static bool read_bytes(const char *text, uint64_t *out_bytes)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    const uint64_t number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (errno != 0 || text[0] < '0' || text[0] > '9' || (*end && (!unit || end[1])) ||
        number > UINT64_MAX >> shift)
        return false;
    *out_bytes = number << shift;
    return true;
}

static int remove_down_to(const struct care *care, uint64_t bytes)
{
    struct zepi_disk_tally removed;
    const enum zepi_cache_folder_state state = zepi_disk_trim(care->disk, bytes, &removed);
    if (!can_go_on(care, state))
        return EXIT_FAILED;
    add_tally(care->document, "removed", &removed);
    return EXIT_OK;
}

static int trim(const struct care *care)
{
    uint64_t bytes;
    if (!care->argument || !read_bytes(care->argument, &bytes)) {
        fprintf(stderr, "zepi cache trim: expected a number of bytes, with K, M or G for multiples "
                        "of 1024\n");
        return EXIT_USAGE;
    }
    return remove_down_to(care, bytes);
}

static int clear(const struct care *care)
{
    return remove_down_to(care, 0);
}

static const struct {
    const char *name;
    int (*run)(const struct care *care);
    bool has_argument;
} subcommands[] = {{"show", show, false},
                   {"verify", verify, false},
                   {"trim", trim, true},
                   {"clear", clear, false}};

static void print(const cJSON *document)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, document)
    {
        if (cJSON_IsObject(item))
            printf("%s: %.0f files, %.0f bytes\n", item->string,
                   cJSON_GetObjectItem(item, "files")->valuedouble,
                   cJSON_GetObjectItem(item, "bytes")->valuedouble);
        else
            printf("%s: %s\n", item->string, item->valuestring);
    }
}

static int run(const char *folder, size_t index, struct care *care, bool is_json)
{
    care->disk = zepi_disk_create(folder, UINT64_MAX);
    care->document = cJSON_CreateObject();
    if (!care->disk || !care->document) {
        fputs("zepi cache: no memory\n", stderr);
        zepi_disk_destroy(care->disk);
        return EXIT_FAILED;
    }
    cJSON_AddStringToObject(care->document, "folder", zepi_disk_path(care->disk));
    const int code = subcommands[index].run(care);
    if (code != EXIT_USAGE && is_json) {
        char *text = cJSON_Print(care->document);
        if (text)
            puts(text);
        cJSON_free(text);
    } else if (code != EXIT_USAGE) {
        print(care->document);
    }
    cJSON_Delete(care->document);
    zepi_disk_destroy(care->disk);
    return code;
}

// Which subcommand it is, with its argument; false after saying what is wrong.
static bool read_subcommand(int count, char **words, size_t *out_index, const char **out_argument)
{
    const size_t known = sizeof(subcommands) / sizeof(subcommands[0]);
    size_t index = 0;
    while (count > 0 && index < known && strcmp(words[0], subcommands[index].name) != 0)
        index++;
    if (count == 0 || index == known) {
        command_refuse(usage);
        return false;
    }
    if (count > (subcommands[index].has_argument ? 2 : 1)) {
        fprintf(stderr, "zepi cache: '%s' is too much\n", words[count - 1]);
        return false;
    }
    *out_index = index;
    *out_argument = count > 1 ? words[1] : NULL;
    return true;
}

int command_cache(int argc, char **argv)
{
    static const struct option list[] = {{"folder", required_argument, NULL, 'f'},
                                         {"keep", no_argument, NULL, 'k'},
                                         {"json", no_argument, NULL, 'j'},
                                         {"help", no_argument, NULL, 'h'},
                                         {0}};
    struct care care = {0};
    char folder[PATH_MAX];
    const char *chosen = NULL;
    bool is_json = false;
    size_t index;
    int option;
    while ((option = getopt_long(argc, argv, "", list, NULL)) != -1) {
        if (option == 'f')
            chosen = optarg;
        else if (option == 'k')
            care.keeps_bad = true;
        else if (option == 'j')
            is_json = true;
        else {
            if (option != 'h')
                return command_refuse(usage);
            fputs(usage, stdout);
            return EXIT_OK;
        }
    }
    if (!read_subcommand(argc - optind, argv + optind, &index, &care.argument))
        return EXIT_USAGE;
    if (!zepi_cache_folder_choose(chosen ? chosen : getenv("ZEPI_CACHE_DIR"),
                                  getenv("XDG_CACHE_HOME"), getenv("HOME"), folder,
                                  sizeof(folder))) {
        fputs("zepi cache: there is no folder: set HOME or ZEPI_CACHE_DIR\n", stderr);
        return EXIT_FAILED;
    }
    return run(folder, index, &care, is_json);
}
