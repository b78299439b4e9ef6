// SPDX-License-Identifier: MIT
#include "../commands.h"
#include "../json.h"
#include "../scalar.h"
#include "cache/disk/disk.h"
#include "cache_move.h"
#include "cache_use.h"
#include "cache_warm.h"
#include "core/sys.h"
#include "disk_files.h"
#include "key_refusal.h"

#include <cjson/cJSON.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: zepi cache show | verify | trim BYTES | clear | warm FILE... | export FILE | import "
    "FILE\n"
    "\n"
    "The native code that is kept on disk.\n"
    "  show           where it is, and how much there is; the shared store behind it, if there is "
    "one\n"
    "  verify         reads every file; bad ones are removed, with --keep only counted. Names "
    "those\n"
    "                 that the device here would not use, and why\n"
    "  trim BYTES     removes files, least recently used first, until BYTES are left (K, M, G)\n"
    "  clear          removes all files; the folder stays\n"
    "  warm FILE...   builds the SPIR-V modules in executables, libraries and .spv files\n"
    "    --options TEXT      of the build; else " CACHE_WARM_OPTIONS
    ", as the DPC++ runtime passes\n"
    "                        for programs that were compiled with -O2\n"
    "    --kernels PATTERN   only modules with a kernel of such a name (as of the shell: "
    "'*arange*')\n"
    "    --processes NUMBER  that build side by side, 256 at most; else one a processor\n"
    "  export FILE    writes all of it to one file (- is standard output)\n"
    "  import FILE    takes it from there, on a machine with the same devices. The file's code "
    "will\n"
    "                 be run: it has to come from a machine that is trusted\n"
    "  --folder DIR   else ZEPI_CACHE_DIR, XDG_CACHE_HOME/zepi, HOME/.cache/zepi\n"
    "  --json\n" COMMAND_DRIVER_HELP
    "Exit code 1: the folder or the shared store cannot be used, files could not be removed or\n"
    "written, verify or import found bad files, import found nothing for this device, or warm\n"
    "found no module, or could not build one.\n";

// The input of a subcommand, and its results as a document.
struct care {
    struct zepi_disk *disk;
    cJSON *document;
    bool keeps_bad;
    struct cache_warm warm;
    const char *argument; // of trim, export and import
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
    struct zepi_disk_report report;
    int64_t oldest_ns;
    int64_t newest_ns;
};

static bool sum_up(void *user, const struct zepi_disk_file *file)
{
    struct summary *summary = user;
    if (file->last_use_ns < summary->oldest_ns)
        summary->oldest_ns = file->last_use_ns;
    if (file->last_use_ns > summary->newest_ns)
        summary->newest_ns = file->last_use_ns;
    return zepi_disk_report_add(&summary->report, file);
}

static void add_time(cJSON *parent, const char *name, int64_t time_ns)
{
    char text[64];
    struct tm parts;
    const time_t seconds = (time_t)(time_ns / INT64_C(1000000000));
    if (gmtime_r(&seconds, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
        cJSON_AddStringToObject(parent, name, text);
}

// The store behind the disk, if there is one, as the plugin sees it.
static int add_shared(const struct care *care)
{
    zepi_cache_location_t location = {.size = sizeof(location)};
    const char *shared = getenv("ZEPI_CACHE_SHARED");
    if (!shared || !shared[0])
        return EXIT_OK;
    const int code = host_load_plugin();
    if (code != EXIT_OK)
        return code;
    if (zepi.cache_get_location(&location) != ZEPI_SUCCESS)
        return host_fail("cache_get_location");
    cJSON_AddStringToObject(care->document, "shared", location.shared);
    cJSON_AddStringToObject(care->document, "shared_state", location.shared_state);
    return strcmp(location.shared_state, "usable") == 0 ? EXIT_OK : EXIT_FAILED;
}

static int show(const struct care *care)
{
    struct summary summary = {.oldest_ns = INT64_MAX, .newest_ns = INT64_MIN};
    const enum zepi_cache_folder_state state =
        zepi_disk_for_each(care->disk, ZEPI_DISK_LIST, sum_up, &summary);
    if (!can_go_on(care, state))
        return EXIT_FAILED;
    const struct zepi_disk_tally *of = summary.report.of;
    add_tally(care->document, "results", &of[ZEPI_DISK_FILE_RESULT]);
    add_tally(care->document, "other_version", &of[ZEPI_DISK_FILE_OTHER_VERSION]);
    add_tally(care->document, "temporary", &of[ZEPI_DISK_FILE_TEMPORARY]);
    if (summary.newest_ns >= summary.oldest_ns) {
        add_time(care->document, "oldest_use", summary.oldest_ns);
        add_time(care->document, "newest_use", summary.newest_ns);
    }
    return add_shared(care);
}

static void add_unused_file(cJSON *list, const char *name, const char *reason)
{
    cJSON *item = json_add_object(list);
    cJSON_AddStringToObject(item, "file", name);
    cJSON_AddStringToObject(item, "reason", reason);
}

struct verification {
    struct zepi_disk_report report;
    const struct cache_use *use; // NULL: there is no device to compare with
    cJSON *unused;
};

// Counts a file, and names it if it is flawed or if the device would not use it.
static bool verify_file(void *user, const struct zepi_disk_file *file)
{
    static const char *const flaws[ZEPI_DISK_FILE_KINDS] = {
        [ZEPI_DISK_FILE_BAD] = "damaged",
        [ZEPI_DISK_FILE_OTHER_VERSION] = "of another version of the file format",
        [ZEPI_DISK_FILE_UNREADABLE] = "cannot be read now"};
    struct verification *verification = user;
    const char *reason = flaws[file->kind];
    if (file->bytes && verification->use)
        reason = key_refusal(verification->use->key, verification->use->key_size, file->key,
                             file->key_size);
    if (reason)
        add_unused_file(verification->unused, file->name, reason);
    return zepi_disk_report_add(&verification->report, file);
}

static int verify(const struct care *care)
{
    struct cache_use use;
    int code = cache_use_init(&use, care->warm.driver);
    struct verification verification = {.use = code == EXIT_OK ? &use : NULL,
                                        .unused = cJSON_CreateArray()};
    const struct zepi_disk_tally *of = verification.report.of;
    const enum zepi_cache_folder_state state =
        zepi_disk_for_each(care->disk, care->keeps_bad ? ZEPI_DISK_READ : ZEPI_DISK_REMOVE_BAD,
                           verify_file, &verification);
    if (can_go_on(care, state)) {
        add_tally(care->document, "good", &of[ZEPI_DISK_FILE_RESULT]);
        add_tally(care->document, care->keeps_bad ? "bad" : "bad_and_removed",
                  &of[ZEPI_DISK_FILE_BAD]);
        add_tally(care->document, "other_version", &of[ZEPI_DISK_FILE_OTHER_VERSION]);
        add_tally(care->document, "temporary", &of[ZEPI_DISK_FILE_TEMPORARY]);
        add_tally(care->document, "unreadable", &of[ZEPI_DISK_FILE_UNREADABLE]);
        if (code == EXIT_OK)
            cJSON_AddStringToObject(care->document, "compared_with", use.device.name);
        // Without a device there is nothing to compare with.
        if (code == EXIT_NO_DEVICE && care->warm.driver == HOST_DRIVER_AUTO)
            code = EXIT_OK;
    } else {
        code = EXIT_FAILED;
    }
    cJSON_AddItemToObject(care->document, "unused", verification.unused);
    cache_use_finish(&use);
    return of[ZEPI_DISK_FILE_BAD].files > 0 ? EXIT_FAILED : code;
}

#define EXPECTED_BYTES "a number of bytes, with K, M or G for multiples of 1024"

static bool read_bytes(const char *text, uint64_t *out_bytes)
{
    static const char units[] = "KMG";
    const size_t length = strcspn(text, units);
    const unsigned shift =
        text[length] ? 10 * (unsigned)(strchr(units, text[length]) - units + 1) : 0;
    uint64_t number;
    if ((shift > 0 && text[length + 1]) ||
        !scalar_parse_part(ZEPI_SCALAR_UINT64, text, length, &number) ||
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
    struct zepi_disk_report left;
    zepi_disk_count(care->disk, ZEPI_DISK_LIST, &left);
    const struct zepi_disk_tally *results = &left.of[ZEPI_DISK_FILE_RESULT];
    const struct zepi_disk_tally *others = &left.of[ZEPI_DISK_FILE_OTHER_VERSION];
    // Files that others use meanwhile may stay, but not for want of a right.
    if (results->bytes + others->bytes <= bytes || access(zepi_disk_path(care->disk), W_OK) == 0)
        return EXIT_OK;
    fprintf(stderr, "zepi cache: %s: %s: %" PRIu64 " files stay\n", zepi_disk_path(care->disk),
            strerror(errno), results->files + others->files);
    return EXIT_FAILED;
}

static int trim(const struct care *care)
{
    uint64_t bytes;
    if (!read_bytes(care->argument, &bytes)) {
        fputs("zepi cache trim: expected " EXPECTED_BYTES "\n", stderr);
        return EXIT_USAGE;
    }
    return remove_down_to(care, bytes);
}

static int clear(const struct care *care)
{
    return remove_down_to(care, 0);
}

static int warm(const struct care *care)
{
    struct zepi_disk_report before, after;
    zepi_disk_count(care->disk, ZEPI_DISK_LIST, &before);
    const int code = cache_warm(&care->warm, care->document);
    if (!can_go_on(care, zepi_disk_count(care->disk, ZEPI_DISK_LIST, &after)))
        return EXIT_FAILED;
    const struct zepi_disk_tally *had = &before.of[ZEPI_DISK_FILE_RESULT];
    const struct zepi_disk_tally *has = &after.of[ZEPI_DISK_FILE_RESULT];
    const struct zepi_disk_tally stored = {has->files - had->files, has->bytes - had->bytes};
    const double compiled = cJSON_GetNumberValue(cJSON_GetObjectItem(care->document, "built")) -
                            cJSON_GetNumberValue(cJSON_GetObjectItem(care->document, "found"));
    add_tally(care->document, "stored", &stored);
    if (compiled > (double)stored.files) {
        fprintf(stderr,
                "zepi cache warm: %.0f modules were compiled, and %s got %" PRIu64 " files\n",
                compiled, zepi_disk_path(care->disk), stored.files);
        return EXIT_FAILED;
    }
    return code;
}

static int export(const struct care *care)
{
    struct zepi_disk_tally written = {0};
    enum zepi_cache_folder_state state;
    const bool is_written = cache_export(care->disk, care->argument, &state, &written);
    if (!can_go_on(care, state))
        return EXIT_FAILED;
    add_tally(care->document, "exported", &written);
    return is_written ? EXIT_OK : EXIT_FAILED;
}

// The files come with this machine's record of its compiler: processes here then use them from the
// first build on.
static int import(const struct care *care)
{
    struct cache_imported imported = {0};
    struct cache_use use = {0};
    struct cache_refusals refusals = {.use = &use, .list = cJSON_CreateArray()};
    int code = cache_use_init(&use, care->warm.driver);
    const bool is_read =
        cache_import(care->disk, care->argument, code == EXIT_OK ? cache_note_refusal : NULL,
                     &refusals, &imported);
    add_tally(care->document, "imported", &imported.good);
    add_tally(care->document, "bad", &imported.bad);
    add_tally(care->document, "not_written", &imported.not_written);
    if (code == EXIT_OK)
        cJSON_AddStringToObject(care->document, "compared_with", use.device.name);
    cJSON_AddItemToObject(care->document, "unused", refusals.list);
    if (code == EXIT_OK && !cache_copy(use.disk, care->disk)) {
        if (is_read)
            fprintf(stderr, "zepi cache import: %s: what names the compiler could not be written\n",
                    zepi_disk_path(care->disk));
        code = EXIT_FAILED;
    }
    if (code == EXIT_OK && is_read && refusals.refused == refusals.codes) {
        fprintf(stderr, "zepi cache import: %s has no code that %s can use\n", care->argument,
                use.device.name);
        code = EXIT_FAILED;
    }
    cache_use_finish(&use);
    return is_read && imported.bad.files == 0 ? code : EXIT_FAILED;
}

static const struct {
    const char *name;
    int (*run)(const struct care *care);
    const char *expected; // its argument; NULL: it has none
    int most_arguments;
} subcommands[] = {
    {"show", show, NULL, 0},           {"verify", verify, NULL, 0},
    {"trim", trim, EXPECTED_BYTES, 1}, {"clear", clear, NULL, 0},
    {"warm", warm, "a FILE", INT_MAX}, {"export", export, "a FILE", 1},
    {"import", import, "a FILE", 1},
};

// A line a file, or a line a reason with the name of the device.
static void print_unused(const cJSON *list, const char *device)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *files = cJSON_GetObjectItem(item, "files");
        if (files)
            printf("unused: %.0f files: %s (the device here is %s)\n", files->valuedouble,
                   json_text(item, "reason"), device);
        else
            printf("unused: %s: %s\n", json_text(item, "file"), json_text(item, "reason"));
    }
}

static void print(const cJSON *document)
{
    const cJSON *item;
    char label[64];
    cJSON_ArrayForEach(item, document)
    {
        if (cJSON_IsArray(item))
            print_unused(item, json_text(document, "compared_with"));
        else if (cJSON_IsNumber(item))
            printf("%s: %.6g\n", json_label(item->string, label), item->valuedouble);
        else if (cJSON_IsObject(item))
            printf("%s: %.0f files, %.0f bytes\n", json_label(item->string, label),
                   cJSON_GetObjectItem(item, "files")->valuedouble,
                   cJSON_GetObjectItem(item, "bytes")->valuedouble);
        else
            printf("%s: %s\n", json_label(item->string, label), item->valuestring);
    }
}

static int run(const char *folder, size_t index, struct care *care)
{
    care->disk = zepi_disk_create(folder, UINT64_MAX);
    care->document = cJSON_CreateObject();
    if (!care->disk || !care->document) {
        fputs("zepi cache: no memory\n", stderr);
        zepi_disk_destroy(care->disk);
        return EXIT_FAILED;
    }
    cJSON_AddStringToObject(care->document, "folder", zepi_disk_path(care->disk));
    care->warm.folder = zepi_disk_path(care->disk);
    const int code = subcommands[index].run(care);
    const bool is_output_taken =
        subcommands[index].run == export && care->argument && strcmp(care->argument, "-") == 0;
    // The report would be missing, or would stand in the middle of the file.
    const bool is_printed = code != EXIT_USAGE && !is_output_taken;
    if (is_printed && !json_is_asked_for())
        print(care->document);
    if (is_printed)
        json_print(care->document);
    else
        cJSON_Delete(care->document);
    zepi_disk_destroy(care->disk);
    return code;
}

// Which subcommand it is, with its arguments; false after a message.
static bool read_subcommand(int count, char **words, size_t *out_index, struct care *care)
{
    const size_t known = sizeof(subcommands) / sizeof(subcommands[0]);
    size_t index = 0;
    while (count > 0 && index < known && strcmp(words[0], subcommands[index].name) != 0)
        index++;
    if (count == 0 || index == known) {
        command_refuse(usage);
        return false;
    }
    if (count == 1 && subcommands[index].expected) {
        fprintf(stderr, "zepi cache %s: expected %s\n", words[0], subcommands[index].expected);
        return false;
    }
    if (count - 1 > subcommands[index].most_arguments) {
        command_refuse_word("zepi cache", words[count - 1]);
        return false;
    }
    *out_index = index;
    care->argument = count > 1 ? words[1] : NULL;
    care->warm.files = (const char *const *)words + 1;
    care->warm.file_count = count - 1;
    return true;
}

int command_cache(int argc, char **argv)
{
    struct care care = {.warm = {.options = CACHE_WARM_OPTIONS,
                                 .processes = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)}};
    const struct command_option own[] = {
        {.name = "folder", .text = &care.warm.folder},
        {.name = "keep", .flag = &care.keeps_bad},
        {.name = "options", .text = &care.warm.options},
        {.name = "kernels", .text = &care.warm.kernels},
        {.name = "processes", .number = &care.warm.processes, .most = CACHE_WARM_MAX_PROCESSES},
        {0}};
    struct command_options options = {.usage = usage, .own = own, .words = COMMAND_WORDS};
    char folder[PATH_MAX];
    size_t index;
    int code = command_parse(argc, argv, &options);
    if (code == EXIT_OK && !read_subcommand(argc - optind, argv + optind, &index, &care))
        code = EXIT_USAGE;
    if (code != EXIT_OK)
        return code;
    if (!zepi_sys_choose_cache_folder(
            care.warm.folder ? care.warm.folder : getenv("ZEPI_CACHE_DIR"),
            getenv("XDG_CACHE_HOME"), getenv("HOME"), folder, sizeof(folder))) {
        fputs("zepi cache: there is no folder: set HOME or ZEPI_CACHE_DIR\n", stderr);
        return EXIT_FAILED;
    }
    care.warm.driver = options.driver;
    return run(folder, index, &care);
}
