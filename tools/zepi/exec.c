// SPDX-License-Identifier: MIT
#include "exec.h"
#include "commands.h"
#include "file_bytes.h"
#include "intel_driver.h"
#include "paths.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "usage: zepi exec " COMMAND_DRIVERS " [--adapter FILE] [--stats[=FILE]]\n"
    "                 [--verbose] [--] COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs a program of the DPC++ runtime on zepi. UR_ADAPTERS_SEARCH_PATH gets the folder where "
    "zepi\n"
    "stands in for Intel's adapters for Level Zero; other backends (OpenCL, CUDA) stay. Where "
    "there\n"
    "is no GPU, or with --cpu, ZE_ENABLE_ALT_DRIVERS gets the driver that executes on the CPU.\n"
    "\n" COMMAND_DRIVER_HELP
    "                  DRM_SHIM_FAULT=SITE:N:ERROR: the N-th call fails (gem_create, vm_create,\n"
    "                  vm_bind, exec, execbuffer, gem_wait), kernel:N:hang, reset:N:EIO\n"
    "  --adapter FILE  this adapter of Unified Runtime, and no other backend\n"
    "  --stats[=FILE]  what each process built and from where, launched, copied and allocated\n"
    "                  (ZEPI_STATS): on stderr at the end, or appended to FILE, in one line "
    "if\n"
    "                  it ends in .json. Says if no process used zepi\n"
    "  --verbose       name the program's DPC++ runtime on stderr, and the variables that are set\n"
    "\n"
    "Exit code: that of the command; 126 or 127 if it cannot be run; 3: no driver or GPU, no "
    "adapter,\n"
    "a runtime that is too old, or none for a program that links with it or for python\n"
    "(\"-- env python ...\" runs it all the same).\n";

static bool is_verbose;

static void set(const char *name, const char *value)
{
    setenv(name, value, 1);
    if (is_verbose)
        fprintf(stderr, "zepi: %s=%s\n", name, value);
}

static void unset(const char *name)
{
    if (is_verbose && getenv(name))
        fprintf(stderr, "zepi: %s is unset\n", name);
    unsetenv(name);
}

// Says which runtime the program loads, or that it needs one that is missing.
static int check_runtime(char *const program[], struct runtime *runtime)
{
    const enum runtime_state state = runtime_find(program, runtime);
    if (state == RUNTIME_MISSING && runtime->library[0]) {
        fprintf(stderr,
                "zepi: %s needs %s, which is not found: LD_LIBRARY_PATH has to name the folder of "
                "the DPC++ runtime\n",
                runtime->program, runtime->library);
        return EXIT_NO_DEVICE;
    }
    if (state == RUNTIME_MISSING) {
        fprintf(stderr,
                "zepi: %s has no DPC++ runtime (libsycl.so): pip install dpctl brings one; a "
                "program that finds one elsewhere starts with: zepi exec -- env python ...\n",
                runtime->program);
        return EXIT_NO_DEVICE;
    }
    if (state == RUNTIME_FOUND && runtime_is_too_old(runtime)) {
        fprintf(stderr,
                "zepi: %s loads DPC++ %s (%s), which crashes beside an adapter that it does not "
                "know; zepi serves 2025.3 and later: pip install 'intel-sycl-rt>=2025.3'\n",
                runtime->program, runtime->release, runtime->library);
        return EXIT_NO_DEVICE;
    }
    if (!is_verbose)
        return EXIT_OK;
    if (state == RUNTIME_UNKNOWN)
        fprintf(stderr, "zepi: runtime: unknown: %s does not link with libsycl.so\n",
                runtime->program[0] ? runtime->program : program[0]);
    else
        fprintf(stderr, "zepi: runtime: DPC++ %s, %s\n",
                runtime->release[0] ? runtime->release : "of an unknown release", runtime->library);
    return EXIT_OK;
}

static int force_adapter(const char *path)
{
    if (access(path, R_OK) != 0) {
        fprintf(stderr, "zepi: %s: %s\n", path, strerror(errno));
        return EXIT_NO_DEVICE;
    }
    set("UR_ADAPTERS_FORCE_LOAD", path);
    return EXIT_OK;
}

// Puts the folder beside the adapter, in which it has the names of Intel's, before others. An
// adapter without such a folder, that of another project, is the only one.
static int add_adapters(void)
{
    char adapter[PATH_MAX], file[2 * PATH_MAX];
    const char *before = getenv("UR_ADAPTERS_SEARCH_PATH");
    if (!path_find_library("ZEPI_UR_ADAPTER", "libur_adapter_zepi.so", adapter)) {
        fprintf(stderr,
                "zepi: %s: %s; ZEPI_UR_ADAPTER says where libur_adapter_zepi.so is (it is built "
                "where Unified Runtime's headers are)\n",
                adapter, strerror(errno));
        return EXIT_NO_DEVICE;
    }
    const char *slash = strrchr(adapter, '/');
    snprintf(file, sizeof(file), "%.*szepi/adapters/libur_adapter_level_zero.so.0",
             slash ? (int)(slash + 1 - adapter) : 0, adapter);
    if (access(file, R_OK) != 0)
        return force_adapter(adapter);
    *strrchr(file, '/') = '\0';
    char *folders = NULL;
    if (asprintf(&folders, "%s%s%s", file, before && before[0] ? "," : "", before ? before : "") <
        0) {
        fprintf(stderr, "zepi: %s\n", strerror(ENOMEM));
        return EXIT_NO_DEVICE;
    }
    unset("UR_ADAPTERS_FORCE_LOAD");
    set("UR_ADAPTERS_SEARCH_PATH", folders);
    free(folders);
    return EXIT_OK;
}

// Children of a program on Intel's driver keep the program's adapters.
static bool is_child(enum host_driver driver)
{
    return driver == HOST_DRIVER_INTEL && getenv("DRM_SHIM_LAUNCHER");
}

int exec_prepare(enum host_driver driver, char *const program[], struct runtime *out_runtime)
{
    const char *before = getenv("ZE_ENABLE_ALT_DRIVERS");
    int code = host_prepare(driver);
    *out_runtime = (struct runtime){0};
    if (code == EXIT_OK && driver == HOST_DRIVER_GPU && !host_has_gpu()) {
        fputs("zepi: --gpu: there is no GPU of a driver other than ze_cpu (zepi info --gpu has the "
              "reason)\n",
              stderr);
        return EXIT_NO_DEVICE;
    }
    if (code == EXIT_OK && !is_child(driver))
        code = check_runtime(program, out_runtime);
    if (code != EXIT_OK)
        return code;
    if (is_verbose)
        fprintf(stderr, "zepi: driver: %s\n", host_driver_description());
    const char *drivers = driver == HOST_DRIVER_INTEL ? NULL : getenv("ZE_ENABLE_ALT_DRIVERS");
    if (drivers && drivers != before)
        set("ZE_ENABLE_ALT_DRIVERS", drivers);
    if (!drivers || !strstr(drivers, "libze_cpu"))
        return EXIT_OK;
    if (is_verbose)
        fprintf(stderr, "zepi: ZE_CPU_TYPE=%s\n", getenv("ZE_CPU_TYPE"));
    // Else loaders leave adapters for Level Zero out where ONEAPI_DEVICE_SELECTOR asks for a CPU.
    if (!getenv("UR_LOADER_PRELOAD_FILTER"))
        set("UR_LOADER_PRELOAD_FILTER", "0");
    return EXIT_OK;
}

int exec_set_adapter(enum host_driver driver, const char *adapter)
{
    if (adapter)
        return force_adapter(adapter);
    return is_child(driver) &&
                   (getenv("UR_ADAPTERS_FORCE_LOAD") || getenv("UR_ADAPTERS_SEARCH_PATH"))
               ? EXIT_OK
               : add_adapters();
}

int exec_start(enum host_driver driver, char *const program[])
{
    if (driver == HOST_DRIVER_INTEL)
        return intel_driver_exec(program);
    execvp(program[0], program);
    const int error = errno;
    fprintf(stderr, "zepi: %s: %s\n", program[0], strerror(error));
    return error == ENOENT ? 127 : 126;
}

// ---- Children ----

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
#define FORWARDED_COUNT (sizeof(forwarded) / sizeof(forwarded[0]))

static volatile pid_t child; // 0: none runs
static volatile sig_atomic_t received;

// A terminal sends its signals to the program itself.
static void forward(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    received = number;
    if (info->si_code <= 0 && child > 0)
        kill(child, number);
}

int exec_received_signal(void)
{
    return received;
}

int exec_run_child(int (*become)(void *user), void *user, struct rusage *out_usage)
{
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t signals;
    sigset_t before;
    int status = -1;
    sigemptyset(&signals);
    for (size_t i = 0; i < FORWARDED_COUNT; i++)
        sigaddset(&signals, forwarded[i]);
    // No signal comes while the child is not known.
    sigprocmask(SIG_BLOCK, &signals, &before);
    fflush(NULL);
    const pid_t started = received ? -1 : fork();
    if (started == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(become(user));
    }
    child = started;
    for (size_t i = 0; i < FORWARDED_COUNT && started > 0; i++)
        sigaction(forwarded[i], &action, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    while (started > 0 && wait4(started, &status, 0, out_usage) < 0 && errno == EINTR)
        continue;
    child = 0;
    return status;
}

// ---- Statistics ----

struct start {
    enum host_driver driver;
    char *const *program;
};

static int start(void *user)
{
    const struct start *start = user;
    return exec_start(start->driver, start->program);
}

// The end that the program had.
static int end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

// Runs the program as a child with ZEPI_STATS, and says if no process has written a report. `file`
// gets the reports; "stderr": they are printed at the end. Returns the program's exit code.
static int exec_with_stats(enum host_driver driver, char *const program[], const char *file)
{
    char own[] = "/tmp/zepi-stats-XXXXXX";
    struct stat before = {0};
    struct stat after = {0};
    struct rusage usage_of_child;
    struct start from = {driver, program};
    const bool is_own = strcmp(file, "stderr") == 0;
    const int descriptor = is_own ? mkstemp(own) : -1;
    if (descriptor >= 0)
        close(descriptor);
    const char *path = descriptor >= 0 ? own : file;
    stat(path, &before);
    setenv("ZEPI_STATS", path, 1);
    const int status = exec_run_child(start, &from, &usage_of_child);
    if (status < 0) {
        perror("zepi exec");
        return EXIT_FAILED;
    }
    // A device and a FIFO have no size.
    const bool is_known = stat(path, &after) != 0 || S_ISREG(after.st_mode);
    const bool has_run = !WIFEXITED(status) || WEXITSTATUS(status) < 126;
    if (descriptor >= 0)
        file_show(own);
    if (is_known && after.st_size == before.st_size && has_run)
        fprintf(stderr,
                "zepi: %s: no process used zepi, or the one that did ended by a signal or "
                "_exit: there is no report\n",
                program[0]);
    if (descriptor >= 0)
        unlink(own);
    return end_as(status);
}

int command_exec(int argc, char **argv)
{
    const char *adapter = NULL;
    const char *stats = NULL; // not asked for
    const struct command_option own[] = {
        {.name = "adapter", .text = &adapter},
        {.name = "stats", .text = &stats, .default_text = "stderr"},
        {.name = "verbose", .flag = &is_verbose},
        {0}};
    struct command_options options = {.usage = usage,
                                      .own = own,
                                      .words = COMMAND_PROGRAM,
                                      .is_for_program = true,
                                      .has_no_json = true};
    struct runtime runtime;
    int code = command_parse(argc, argv, &options);
    if (code == EXIT_OK)
        code = exec_prepare(options.driver, &argv[optind], &runtime);
    if (code == EXIT_OK)
        code = exec_set_adapter(options.driver, adapter);
    if (code != EXIT_OK)
        return code;
    if (stats)
        return exec_with_stats(options.driver, &argv[optind], stats);
    return exec_start(options.driver, &argv[optind]);
}
