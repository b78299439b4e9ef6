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

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGUMENTS 24
// A part may take half of the remaining time, but this much at least: together less than two
// minutes, even if all of them hang.
#define ALL_SECONDS 110
#define PART_SECONDS 15
#define KERNEL_LOG_BYTES ((size_t)1 << 20)
#define KERNEL_LOG_LINES 80
#define READ_ALL_MESSAGES 3 // of klogctl

static const char usage[] =
    "usage: zepi report [--cpu | --gpu | --intel-driver[=PRODUCT]] [-o FILE] [--json]\n"
    "\n"
    "Writes a text file to attach to a bug report: zepi info, zepi demo, the nearest product of\n"
    "the tests, times of five operations, the versions of driver, loader and runtime, the\n"
    "environment's variables about them, and the kernel's messages about the GPU, if they may be\n"
    "read. It takes less than two minutes, and says which numbers are wrong. Nothing is sent\n"
    "anywhere.\n"
    "\n"
    "  -o FILE         where it goes; zepi-report.txt if left out\n"
    "  --cpu, --gpu    on ze_cpu, or on a GPU alone\n"
    "  --intel-driver  on Intel's newest driver, without a GPU\n"
    "  --json          print the file's name and what is wrong as JSON\n"
    "\n"
    "Exit code 1: a number is wrong or a part failed; 3: there is no driver. There is a report "
    "then,\ntoo.\n";

// ---- The text ----

static const char *const driver_flags[] = {"", "--cpu", "--gpu", "--intel-driver"};

struct report {
    FILE *text; // all parts, a temporary file
    uint64_t end_ns;
    char summary[4096]; // problems, a line each
    int wrong_count;
    enum host_driver driver;
    bool is_json;
};

__attribute__((format(printf, 2, 3))) static void find_wrong(struct report *report,
                                                             const char *format, ...)
{
    char line[256];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    report->wrong_count++;
    const size_t length = strlen(report->summary);
    snprintf(report->summary + length, sizeof(report->summary) - length, "  %s\n", line);
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

// Runs this program with arguments, and puts its output into the text. Returns its exit code,
// or EXIT_FAILED.
static int run_self(struct report *report, const char *const words[])
{
    const unsigned seconds = part_seconds(report);
    char self[PATH_MAX];
    struct part part = {.arguments = {self}, .output = fileno(report->text)};
    for (int i = 0, count = 1; words[i] && count < MAX_ARGUMENTS - 1; i++) {
        if (words[i][0])
            part.arguments[count++] = words[i];
    }
    const int code =
        path_of_program(self) ? probe_in_process(become, &part, seconds) : PROBE_NOT_STARTED;
    if (code == PROBE_NOT_STARTED)
        find_wrong(report, "zepi %s: %s", words[0], strerror(errno));
    else if (code == -SIGALRM)
        find_wrong(report, "zepi %s did not end within %u seconds", words[0], seconds);
    else if (code < 0)
        find_wrong(report, "zepi %s crashed: %s", words[0], strsignal(-code));
    else if (code != EXIT_OK)
        find_wrong(report, "zepi %s ended with exit code %d", words[0], code);
    fseek(report->text, 0, SEEK_END);
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

// ---- Parts that are read ----

static void print_file_line(FILE *text, const char *title, const char *path, const char *start)
{
    char line[512];
    FILE *file = fopen(path, "re");
    bool is_found = false;
    while (file && !is_found && fgets(line, sizeof(line), file))
        is_found = strncmp(line, start, strlen(start)) == 0;
    if (is_found) {
        const char *value = line + strlen(start);
        value += strspn(value, " \t:=");
        fprintf(text, "%s: %.*s\n", title, (int)strcspn(value, "\n"), value);
    }
    if (file)
        fclose(file);
}

static void print_machine(struct report *report)
{
    struct utsname system;
    begin_part(report, "machine");
    fprintf(report->text, "zepi: %s\n", ZEPI_PROJECT_VERSION);
    if (uname(&system) == 0)
        fprintf(report->text, "kernel: %s %s %s %s\n", system.sysname, system.release,
                system.version, system.machine);
    print_file_line(report->text, "system", "/etc/os-release", "PRETTY_NAME");
    print_file_line(report->text, "processor", "/proc/cpuinfo", "model name");
    print_file_line(report->text, "memory", "/proc/meminfo", "MemTotal");
    fprintf(report->text, "C library: glibc %s\n", gnu_get_libc_version());
}

// Returns whether there is such a file.
static bool print_paths(FILE *text, const char *pattern, bool is_real)
{
    glob_t found;
    char real[PATH_MAX];
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        const bool leads = is_real && realpath(path, real);
        fprintf(text, "%s%s%s\n", path, leads ? " -> " : "", leads ? real : "");
    }
    globfree(&found);
    return true;
}

// Where programs find the DPC++ runtime: Python environments, oneAPI, the library path.
static void print_runtimes(struct report *report)
{
    static const char *const variables[] = {"VIRTUAL_ENV", "CONDA_PREFIX", "CMPLR_ROOT"};
    static const char *const files[] = {"libsycl.so.?", "libur_loader.so.0",
                                        "libur_adapter_level_zero*.so.0"};
    static const char *const packages[] = {"intel_sycl_rt", "intel_opencl_rt", "dpctl", "dpnp"};
    char pattern[PATH_MAX + 64];
    char self[PATH_MAX];
    bool is_found = false;
    begin_part(report, "runtime of DPC++ (VIRTUAL_ENV, CONDA_PREFIX, CMPLR_ROOT, and beside zepi)");
    for (size_t i = 0; i < 4; i++) {
        const char *prefix = i < 3 ? getenv(variables[i]) : NULL;
        if (i == 3 && path_of_program(self) && strrchr(self, '/')) {
            snprintf(strrchr(self, '/'), 4, "/..");
            prefix = self;
        }
        for (size_t j = 0; prefix && j < sizeof(files) / sizeof(files[0]); j++) {
            snprintf(pattern, sizeof(pattern), "%s/lib/%s", prefix, files[j]);
            is_found |= print_paths(report->text, pattern, true);
        }
        for (size_t j = 0; prefix && j < sizeof(packages) / sizeof(packages[0]); j++) {
            snprintf(pattern, sizeof(pattern), "%s/lib/python3*/site-packages/%s-*.dist-info",
                     prefix, packages[j]);
            is_found |= print_paths(report->text, pattern, false);
        }
    }
    if (!is_found)
        fputs("none found: if a program fails, run this in the program's Python environment\n",
              report->text);
}

static void print_environment(struct report *report)
{
    static const char *const starts[] = {"ZE_",       "ZES_",      "ZEPI_", "ZET_",
                                         "ZEL_",      "UR_",       "SYCL_", "ONEAPI_",
                                         "NEOReadDe", "DRM_SHIM_", "LD_"};
    begin_part(report, "environment");
    for (char **variable = environ; *variable; variable++) {
        for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
            if (strncmp(*variable, starts[i], strlen(starts[i])) == 0)
                fprintf(report->text, "%s\n", *variable);
        }
    }
}

static void print_gpus(struct report *report)
{
    static const char *const files[] = {"vendor", "device", "uevent"};
    glob_t found;
    char path[PATH_MAX];
    char line[256];
    begin_part(report, "GPUs of the kernel");
    if (glob("/sys/class/drm/renderD*", 0, NULL, &found) != 0) {
        fputs("none: there is no /sys/class/drm/renderD*\n", report->text);
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        snprintf(path, sizeof(path), "/dev/dri/%s", name);
        fprintf(report->text, "%s: %s\n", path,
                access(path, R_OK | W_OK) == 0 ? "may be used" : strerror(errno));
        for (size_t j = 0; j < sizeof(files) / sizeof(files[0]); j++) {
            snprintf(path, sizeof(path), "%s/device/%s", found.gl_pathv[i], files[j]);
            FILE *file = fopen(path, "re");
            while (file && fgets(line, sizeof(line), file))
                fprintf(report->text, "  %s: %s", files[j], line);
            if (file)
                fclose(file);
        }
    }
    globfree(&found);
}

static bool is_about_gpu(const char *line, size_t length)
{
    static const char *const words[] = {"drm", "i915", "xe 0", "[xe]", "GuC", "HuC", "VT-d"};
    bool is_found = false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !is_found; i++)
        is_found = memmem(line, length, words[i], strlen(words[i])) != NULL;
    return is_found;
}

// The last messages about the GPU.
static void print_kernel_messages(struct report *report)
{
    const char *last[KERNEL_LOG_LINES];
    size_t count = 0;
    begin_part(report, "messages of the kernel about the GPU");
    char *log = malloc(KERNEL_LOG_BYTES + 1);
    const int length = log ? klogctl(READ_ALL_MESSAGES, log, KERNEL_LOG_BYTES) : -1;
    if (length < 0) {
        fprintf(report->text, "not readable: %s; as root: dmesg | grep -E 'drm|i915|xe'\n",
                strerror(errno));
        free(log);
        return;
    }
    log[length] = '\0';
    for (const char *line = log; *line;
         line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
        if (is_about_gpu(line, strcspn(line, "\n")))
            last[count++ % KERNEL_LOG_LINES] = line;
    }
    const size_t shown = count < KERNEL_LOG_LINES ? count : KERNEL_LOG_LINES;
    for (size_t i = count - shown; i < count; i++) {
        const char *line = last[i % KERNEL_LOG_LINES];
        fprintf(report->text, "%.*s\n", (int)strcspn(line, "\n"), line);
    }
    if (count == 0)
        fputs("none\n", report->text);
    free(log);
}

// ---- Libraries of a process that has brought the drivers up ----

static int print_libraries(enum host_driver driver)
{
    static const char *const names[] = {"/libze_", "/libzepi", "/libig", "/libintelocl", "/libdrm"};
    char line[PATH_MAX + 128];
    char before[PATH_MAX] = "";
    uint32_t count = 0;
    const int code = host_load(driver);
    if (code != EXIT_OK)
        return code;
    zepi.platform_get(0, NULL, &count);
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof(line), maps)) {
        char *path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        for (size_t i = 0; path && i < sizeof(names) / sizeof(names[0]); i++) {
            if (strstr(path, names[i]) && strcmp(before, path) != 0) {
                snprintf(before, sizeof(before), "%s", path);
                puts(path);
            }
        }
    }
    if (maps)
        fclose(maps);
    return EXIT_OK;
}

// ---- The whole ----

static int fill(struct report *report)
{
    const char *flag = driver_flags[report->driver];
    const char *const libraries[] = {"report", "--libraries", flag, NULL};
    const char *const info[] = {"info", flag, NULL};
    const char *const demo[] = {"demo", flag, NULL};
    const char *const device[] = {"report", "--device", flag, NULL};
    print_machine(report);
    print_gpus(report);
    begin_part(report, "driver and loader: libraries of zepi info");
    run_self(report, libraries);
    print_runtimes(report);
    print_environment(report);
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
    print_kernel_messages(report);
    return code == EXIT_NO_DEVICE ? code : report->wrong_count > 0 ? EXIT_FAILED : EXIT_OK;
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
            "attach it.\n\nDriver: %s.\n%s%s",
            date,
            report->driver == HOST_DRIVER_GPU     ? "a GPU's"
            : report->driver == HOST_DRIVER_INTEL ? "Intel's, without a GPU"
                                                  : "ze_cpu, which executes on the CPU (no GPU "
                                                    "came up, or --cpu)",
            report->wrong_count > 0 ? "Wrong:\n" : "Every number is right.\n", report->summary);
    rewind(report->text);
    while ((count = fread(bytes, 1, sizeof(bytes), report->text)) > 0)
        fwrite(bytes, 1, count, file);
    const bool is_written = !ferror(report->text) && !ferror(file);
    return fclose(file) == 0 && is_written;
}

static void print_json(const struct report *report, const char *path)
{
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "file", path);
    cJSON *wrong = cJSON_AddArrayToObject(document, "wrong");
    for (const char *line = report->summary; *line; line += line[0] == '\n') {
        char one[256];
        const int length = (int)strcspn(line, "\n");
        snprintf(one, sizeof(one), "%.*s", length, line + strspn(line, " "));
        one[strcspn(one, "\n")] = '\0';
        cJSON_AddItemToArray(wrong, cJSON_CreateString(one));
        line += length;
    }
    json_print(document);
}

static void print_text(const struct report *report, const char *path)
{
    const bool has_homepage = ZEPI_PROJECT_HOMEPAGE[0] != '\0';
    printf("%s%s%s is written: attach it to a bug report%s%s.\n",
           report->wrong_count > 0 ? "Wrong:\n" : "Every number is right.\n", report->summary, path,
           has_homepage ? ", home page " : "", ZEPI_PROJECT_HOMEPAGE);
}

static int make(struct report *report, const char *path)
{
    FILE *file = fopen(path, "we");
    report->text = file ? tmpfile() : NULL;
    if (!report->text) {
        fprintf(stderr, "zepi report: %s: %s\n", path, strerror(errno));
        if (file)
            fclose(file);
        return EXIT_FAILED;
    }
    int code = fill(report);
    if (!write_file(report, file)) {
        fprintf(stderr, "zepi report: %s: %s\n", path, strerror(errno));
        code = EXIT_FAILED;
    } else if (report->is_json) {
        print_json(report, path);
    } else {
        print_text(report, path);
    }
    fclose(report->text);
    return code;
}

int command_report(int argc, char **argv)
{
    static const struct option list[] = {COMMAND_DRIVER_OPTIONS,
                                         COMMAND_JSON_OPTION,
                                         {"libraries", no_argument, NULL, 'L'},
                                         {"device", no_argument, NULL, 'T'},
                                         {0}};
    static struct report report;
    struct command_options options = {.usage = usage, .is_for_program = true};
    const char *path = "zepi-report.txt";
    int (*part)(enum host_driver driver) = NULL; // of the report, in this process
    int option;
    while ((option = getopt_long(argc, argv, "o:", list, NULL)) != -1) {
        if (option == 'o')
            path = optarg;
        else if (option == 'L' || option == 'T')
            part = option == 'L' ? print_libraries : report_device;
        else
            command_take(&options, option);
        // These two come before the driver.
        options.is_for_program = !part;
    }
    if (optind < argc)
        return command_refuse(usage);
    if (part)
        return part(options.driver);
    report.is_json = options.is_json;
    report.end_ns = host_now_ns() + (uint64_t)ALL_SECONDS * 1000000000u;
    // A GPU if there is one, and then in every part.
    report.driver =
        options.driver == HOST_DRIVER_AUTO && host_has_gpu() ? HOST_DRIVER_GPU : options.driver;
    return make(&report, path);
}
