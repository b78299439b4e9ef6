// SPDX-License-Identifier: MIT
//
// zepi report: facts about a machine for a report of an error, in one text file. Each part is a
// process of its own with a time limit, so that a driver that crashes or hangs is in the report,
// too.
#include "../commands.h"
#include "../json.h"
#include "../paths.h"
#include "../probe.h"
#include "report_device.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGUMENTS 8
// A part may take half of the remaining time, but this much at least: together less than two
// minutes, even if all of them hang.
#define ALL_SECONDS 110
#define PART_SECONDS 15

static const char usage[] =
    "usage: zepi report " COMMAND_DRIVERS " [-o FILE] [--json]\n"
    "\n"
    "Writes a text file to attach to a bug report: zepi info, zepi demo, the nearest product of\n"
    "the tests, times of five operations, the versions of driver, loader and runtime, the\n"
    "environment's variables about them, and the kernel's messages about the GPU, if they may be\n"
    "read. It takes less than two minutes, and says which numbers are wrong. Nothing is sent\n"
    "anywhere.\n"
    "\n"
    "  -o FILE         where it goes; zepi-report.txt if left out\n"
    "  --json          print the file's name and what is wrong as JSON\n" COMMAND_DRIVER_HELP "\n"
    "Exit code 1: a number is wrong or a part failed; 3: there is no driver. There is a report "
    "then,\ntoo.\n";

// ---- The text ----

static const char *const driver_flags[] = {"", "--cpu", "--gpu", "--intel-driver"};

struct report {
    char program[PATH_MAX];
    FILE *text; // all parts, a temporary file
    uint64_t end_ns;
    cJSON *wrong; // sentences
    enum host_driver driver;
};

__attribute__((format(printf, 2, 3))) static void find_wrong(struct report *report,
                                                             const char *format, ...)
{
    char line[256];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    cJSON_AddItemToArray(report->wrong, cJSON_CreateString(line));
}

static void print_wrong(const struct report *report, FILE *file)
{
    const cJSON *line;
    fputs(report->wrong->child ? "Wrong:\n" : "Every number is right.\n", file);
    cJSON_ArrayForEach(line, report->wrong) fprintf(file, "  %s\n", line->valuestring);
}

static void begin_part(struct report *report, const char *title)
{
    fprintf(report->text, "\n==== %s\n", title);
    fprintf(stderr, "zepi report: %s\n", title);
}

// ---- Parts that are commands ----

struct part {
    const char *arguments[MAX_ARGUMENTS];
    int output;
};

static int become(void *user)
{
    const struct part *part = user;
    const int null = open("/dev/null", O_RDONLY);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    dup2(part->output, STDOUT_FILENO);
    dup2(part->output, STDERR_FILENO);
    execv(part->arguments[0], (char *const *)part->arguments);
    return 127;
}

static unsigned part_seconds(const struct report *report)
{
    const uint64_t now_ns = host_now_ns();
    const uint64_t left = now_ns < report->end_ns ? (report->end_ns - now_ns) / 1000000000u : 0;
    return left / 2 > PART_SECONDS ? (unsigned)(left / 2) : PART_SECONDS;
}

// Runs a program, and puts its output into the text. Returns what probe_in_process returns.
static int run_part(struct report *report, struct part *part, unsigned seconds)
{
    part->output = fileno(report->text);
    const int code = probe_in_process(become, part, seconds);
    fseek(report->text, 0, SEEK_END);
    return code;
}

// Runs this program with arguments. Returns its exit code, or EXIT_FAILED.
static int run_self(struct report *report, const char *const words[])
{
    const unsigned seconds = part_seconds(report);
    struct part part = {.arguments = {report->program}};
    for (int i = 0, count = 1; words[i] && count < MAX_ARGUMENTS - 1; i++) {
        if (words[i][0])
            part.arguments[count++] = words[i];
    }
    const int code = run_part(report, &part, seconds);
    if (code == PROBE_NOT_STARTED)
        find_wrong(report, "zepi %s: %s", words[0], strerror(errno));
    else if (code == -SIGALRM)
        find_wrong(report, "zepi %s did not end within %u seconds", words[0], seconds);
    else if (code < 0)
        find_wrong(report, "zepi %s crashed: %s", words[0], strsignal(-code));
    else if (code != EXIT_OK)
        find_wrong(report, "zepi %s ended with exit code %d", words[0], code);
    return code < 0 ? EXIT_FAILED : code;
}

// Lines of the text from a place on that a demo calls wrong.
static void find_wrong_numbers(struct report *report, long start)
{
    char line[256];
    fseek(report->text, start, SEEK_SET);
    while (fgets(line, sizeof(line), report->text)) {
        const char *end = strstr(line, "WRONG\n");
        if (end)
            find_wrong(report, "%.*sWRONG", (int)(end - line), line);
    }
    fseek(report->text, 0, SEEK_END);
}

// ---- Parts that the shell reads ----

static const struct facts {
    const char *title;
    const char *script; // $0 is this program
} machine = {"machine", "echo 'zepi: " ZEPI_PROJECT_VERSION "'\n"
                        "echo \"kernel: $(uname -srvm)\"\n"
                        "sed -n 's/^PRETTY_NAME=/system: /p' /etc/os-release\n"
                        "sed -n '/^model name/ { s/.*: /processor: /p; q }' /proc/cpuinfo\n"
                        "sed -n 's/^MemTotal: */memory: /p' /proc/meminfo\n"
                        "echo \"C library: $(getconf GNU_LIBC_VERSION)\"\n"};

static const struct facts gpus = {
    "GPUs of the kernel",
    "for gpu in /sys/class/drm/renderD*; do\n"
    "    [ -e $gpu ] || { echo 'none: there is no /sys/class/drm/renderD*'; break; }\n"
    "    node=/dev/dri/${gpu##*/}\n"
    "    if [ -r $node ] && [ -w $node ]; then echo $node: may be used\n"
    "    else echo $node: may not be used; ls -l $node; fi\n"
    "    for file in vendor device uevent; do sed \"s/^/  $file: /\" $gpu/device/$file; done\n"
    "done\n"};

// Where programs find the DPC++ runtime: Python environments, oneAPI, the library path.
static const struct facts runtimes = {
    "runtime of DPC++ (VIRTUAL_ENV, CONDA_PREFIX, CMPLR_ROOT, and beside zepi)",
    "found=\n"
    "for prefix in \"$VIRTUAL_ENV\" \"$CONDA_PREFIX\" \"$CMPLR_ROOT\" \"${0%/*}/..\"; do\n"
    "    [ -z \"$prefix\" ] || for file in \"$prefix\"/lib/libsycl.so.? \\\n"
    "        \"$prefix\"/lib/libur_loader.so.0 \"$prefix\"/lib/libur_adapter_level_zero*.so.0 \\\n"
    "        \"$prefix\"/lib/python3*/site-packages/intel_sycl_rt-*.dist-info \\\n"
    "        \"$prefix\"/lib/python3*/site-packages/intel_opencl_rt-*.dist-info \\\n"
    "        \"$prefix\"/lib/python3*/site-packages/dpctl-*.dist-info \\\n"
    "        \"$prefix\"/lib/python3*/site-packages/dpnp-*.dist-info; do\n"
    "        [ ! -e \"$file\" ] || { found=yes; echo \"$file -> $(readlink -f \"$file\")\"; }\n"
    "    done\n"
    "done\n"
    "[ $found ] || echo 'none found: if a program fails, run this in the program'\\''s Python "
    "environment'\n"};

static const struct facts environment = {
    "environment", "env | grep -E "
                   "'^(ZE|ZES|ZEPI|ZET|ZEL|UR|SYCL|ONEAPI|NEOReadDebugKeys|DRM_SHIM|LD)(_|=)'\n"};

static const struct facts kernel_messages = {
    "messages of the kernel about the GPU",
    "if log=$(dmesg 2>&1); then\n"
    "    echo \"$log\" | grep -E 'drm|i915|xe 0|\\[xe\\]|GuC|HuC|VT-d' | tail -n 80 | grep . ||\n"
    "        echo none\n"
    "else\n"
    "    echo \"not readable: $log; as root: dmesg | grep -E 'drm|i915|xe'\"\n"
    "fi\n"};

static void print_facts(struct report *report, const struct facts *facts)
{
    struct part part = {.arguments = {"/bin/sh", "-c", facts->script, report->program}};
    begin_part(report, facts->title);
    if (run_part(report, &part, PART_SECONDS) < 0)
        fputs("not read: the shell does not end well\n", report->text);
}

// ---- Libraries of a process that has brought the drivers up ----

static int print_libraries(enum host_driver driver)
{
    char command[256];
    uint32_t count = 0;
    const int code = host_load(driver);
    if (code != EXIT_OK)
        return code;
    zepi.platform_get(0, NULL, &count);
    snprintf(command, sizeof(command),
             "grep -oE '/.*/lib(ze_|zepi|ig|intelocl|drm).*' /proc/%d/maps | sort -u",
             (int)getpid());
    return system(command) == 0 ? EXIT_OK : EXIT_FAILED;
}

// ---- The whole ----

static int fill(struct report *report)
{
    const char *flag = driver_flags[report->driver];
    const char *const libraries[] = {"report", "--libraries", flag, NULL};
    const char *const info[] = {"info", flag, NULL};
    const char *const demo[] = {"demo", flag, NULL};
    const char *const device[] = {"report", "--device", flag, NULL};
    print_facts(report, &machine);
    print_facts(report, &gpus);
    begin_part(report, "driver and loader: libraries of zepi info");
    run_self(report, libraries);
    print_facts(report, &runtimes);
    print_facts(report, &environment);
    begin_part(report, "zepi info");
    const int code = run_self(report, info);
    if (code != EXIT_NO_DEVICE) {
        begin_part(report, "zepi demo");
        const long start = ftell(report->text);
        run_self(report, demo);
        find_wrong_numbers(report, start);
        begin_part(report, "device: nearest product of the tests, times of operations");
        run_self(report, device);
    }
    print_facts(report, &kernel_messages);
    return code == EXIT_NO_DEVICE ? code : report->wrong->child ? EXIT_FAILED : EXIT_OK;
}

static bool write_file(const struct report *report, FILE *file)
{
    char bytes[4096];
    char date[64] = "";
    size_t count;
    const time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &parts);
    fprintf(file,
            "zepi report of %s. It has paths and variables of this machine: read it before you "
            "attach it.\n\nDriver: %s.\n",
            date,
            report->driver == HOST_DRIVER_GPU     ? "a GPU's"
            : report->driver == HOST_DRIVER_INTEL ? "Intel's, without a GPU"
                                                  : "ze_cpu, which executes on the CPU (no GPU "
                                                    "came up, or --cpu)");
    print_wrong(report, file);
    rewind(report->text);
    while ((count = fread(bytes, 1, sizeof(bytes), report->text)) > 0)
        fwrite(bytes, 1, count, file);
    const bool is_written = !ferror(report->text) && !ferror(file);
    return fclose(file) == 0 && is_written;
}

static void print(struct report *report, const char *path)
{
    cJSON *document = cJSON_CreateObject();
    if (!json_is_asked_for()) {
        print_wrong(report, stdout);
        printf("%s is written: attach it to a bug report%s%s.\n", path,
               ZEPI_PROJECT_HOMEPAGE[0] ? ", home page " : "", ZEPI_PROJECT_HOMEPAGE);
    }
    cJSON_AddStringToObject(document, "file", path);
    cJSON_AddItemToObject(document, "wrong", report->wrong);
    report->wrong = NULL;
    json_print(document);
}

static int make(struct report *report, const char *path)
{
    FILE *file = path_of_program(report->program) ? fopen(path, "we") : NULL;
    report->text = file ? tmpfile() : NULL;
    if (!report->text) {
        fprintf(stderr, "zepi report: %s: %s\n", path, strerror(errno));
        if (file)
            fclose(file);
        return EXIT_FAILED;
    }
    report->wrong = cJSON_CreateArray();
    int code = fill(report);
    if (!write_file(report, file)) {
        fprintf(stderr, "zepi report: %s: %s\n", path, strerror(errno));
        code = EXIT_FAILED;
    } else {
        print(report, path);
    }
    fclose(report->text);
    cJSON_Delete(report->wrong);
    return code;
}

int command_report(int argc, char **argv)
{
    static struct report report;
    bool is_libraries = false, is_device = false; // parts of the report, in this process
    const char *path = "zepi-report.txt";
    const struct command_option own[] = {{.name = "o", .text = &path},
                                         {.name = "libraries", .flag = &is_libraries},
                                         {.name = "device", .flag = &is_device},
                                         {0}};
    struct command_options options = {.usage = usage, .own = own, .is_for_program = true};
    int code = command_parse(argc, argv, &options);
    if (code == EXIT_OK && (is_libraries || is_device))
        code = command_enter_driver(options.driver);
    if (code != EXIT_OK)
        return code;
    if (is_libraries || is_device)
        return (is_libraries ? print_libraries : report_device)(options.driver);
    report.end_ns = host_now_ns() + (uint64_t)ALL_SECONDS * 1000000000u;
    // A GPU if there is one, and then in every part.
    report.driver =
        options.driver == HOST_DRIVER_AUTO && host_has_gpu() ? HOST_DRIVER_GPU : options.driver;
    return make(&report, path);
}
