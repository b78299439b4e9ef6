// SPDX-License-Identifier: MIT
#include "intel_driver.h"
#include "command_line.h"
#include "exit_code.h"
#include "paths.h"

#include "tools/drm_shim/products.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARIES "usr/lib/x86_64-linux-gnu"
#define LIBRARY_BEFORE_VERSION "libze_intel_gpu.so."

// Variables that this driver and the shim need; a variable that is set keeps its value.
static const struct {
    const char *name;
    const char *value;
} settings[] = {
    {"NEOReadDebugKeys", "1"},
    // A command runs in the thread that submits it, not in one that polls.
    {"EnableDirectSubmission", "0"},
    // Addresses of the GPU are addresses of the process, so that the CPU can run kernels.
    {"OverrideGpuAddressSpace", "47"},
    {"AllocateSharedAllocationsWithCpuAndGpuStorage", "0"},
    // The C library of the fetched packages loads no library that asks for an executable stack
    // (Open3D's) unless the stack is executable from the start.
    {"GLIBC_TUNABLES", "glibc.rtld.execstack=2"},
};

// Where things are. No folder: the system's own driver is used.
struct place {
    char shim[PATH_MAX];
    char folder[PATH_MAX]; // of libraries
};

static void list_products(FILE *to)
{
    const struct shim_product *product;
    for (size_t i = 0; (product = shim_product_at(i)); i++) {
        fprintf(to, "%-8s %-4s %-26s %u tile%s", product->name,
                shim_interface_name(product->interface), product->title, product->tiles,
                product->tiles == 1 ? "" : "s");
        if (product->memory.vram_gib > 0)
            fprintf(to, ", %u GiB\n", product->tiles * product->memory.vram_gib);
        else
            fputs(", the system's memory\n", to);
    }
}

bool intel_driver_choose_products(const char *names)
{
    const struct shim_product *products[SHIM_DEVICES_MAXIMUM];
    if (!names)
        return true;
    if (strcmp(names, "list") == 0) {
        list_products(stdout);
        exit(EXIT_OK);
    }
    if (shim_products_parse(names, products) > 0) {
        setenv("DRM_SHIM_PRODUCT", names, 1);
        return true;
    }
    fprintf(stderr,
            "zepi: --intel-driver=%s: there is no such product; up to %u with commas are devices "
            "of one driver; there are:\n",
            names, SHIM_DEVICES_MAXIMUM);
    list_products(stderr);
    return false;
}

bool intel_driver_is_here(void)
{
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "ioctl");
    const char *slash = symbol && dladdr(symbol, &info) != 0 && info.dli_fname
                            ? strrchr(info.dli_fname, '/')
                            : NULL;
    return slash && strncmp(slash, "/libdrm_shim", strlen("/libdrm_shim")) == 0;
}

// The driver's file in a folder of libraries, by its real name; false: no driver.
static bool find_file(const char *folder, char file[PATH_MAX])
{
    char link[PATH_MAX];
    const int written = snprintf(link, sizeof(link), "%s/libze_intel_gpu.so.1", folder);
    return written < (int)sizeof(link) && realpath(link, file);
}

// The driver's version, from its file's name.
static bool read_version(const char *folder, unsigned version[3])
{
    char file[PATH_MAX];
    if (!find_file(folder, file))
        return false;
    const char *name = strstr(file, LIBRARY_BEFORE_VERSION);
    return name && sscanf(name + strlen(LIBRARY_BEFORE_VERSION), "%u.%u.%u", &version[0],
                          &version[1], &version[2]) == 3;
}

static bool is_at_least(const unsigned version[3], const unsigned other[3])
{
    for (int i = 0; i < 3; i++) {
        if (version[i] != other[i])
            return version[i] > other[i];
    }
    return true;
}

// The folder of libraries, "" if the system's own are as new; false: no such driver anywhere.
static bool choose_folder(char folder[PATH_MAX], char root[PATH_MAX])
{
    // The oldest driver that the shim serves, if there is no folder to compare with.
    unsigned wanted[3] = {1, 15, 0};
    unsigned system[3];
    char link[PATH_MAX];
    // A build tree has a link to the folder of tools/setup.
    const bool is_there = path_find_library("ZEPI_INTEL_DRIVER", "intel-driver", link);
    if (!is_there || !realpath(link, root))
        memcpy(root, link, sizeof(link));
    const bool has_folder = is_there &&
                            snprintf(folder, PATH_MAX, "%s/%s", root, LIBRARIES) < PATH_MAX &&
                            read_version(folder, wanted);
    if (!read_version("/" LIBRARIES, system) || !is_at_least(system, wanted))
        return has_folder;
    folder[0] = '\0';
    return true;
}

void intel_driver_file(char *path)
{
    char folder[PATH_MAX], root[PATH_MAX];
    if (!choose_folder(folder, root) || !find_file(folder[0] ? folder : "/" LIBRARIES, path))
        path[0] = '\0';
}

static int find_place(struct place *place)
{
    char root[PATH_MAX];
    if (!choose_folder(place->folder, root)) {
        fprintf(stderr,
                "zepi: Intel's driver is not in %s: run tools/setup --intel-driver, or let "
                "ZEPI_INTEL_DRIVER say where it is\n",
                root);
        return EXIT_NO_DEVICE;
    }
    if (!path_find_library("ZEPI_DRM_SHIM", "libdrm_shim.so", place->shim)) {
        fprintf(stderr,
                "zepi: %s: %s; ZEPI_DRM_SHIM says where libdrm_shim.so is (it is built where "
                "tools/setup --intel-driver was run before)\n",
                place->shim, strerror(errno));
        return EXIT_NO_DEVICE;
    }
    return EXIT_OK;
}

static void set_environment(const struct place *place)
{
    char path[PATH_MAX];
    const char *preload = getenv("LD_PRELOAD");
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        setenv(settings[i].name, settings[i].value, 0);
    // Valgrind has less room for addresses.
    if (preload && strstr(preload, "vgpreload"))
        setenv("DRM_SHIM_ARENA_GIB", "8", 0);
    if (path_find_library("ZEPI_ZE_CPU", "libze_cpu.so.1", path))
        setenv("DRM_SHIM_ZE_CPU", path, 0);
    // The loader lists drivers of the system's folders alone; by its name this one is found in
    // ours.
    if (place->folder[0])
        setenv("ZE_ENABLE_ALT_DRIVERS", "libze_intel_gpu.so.1", 1);
    else
        unsetenv("ZE_ENABLE_ALT_DRIVERS");
    unsetenv("ZE_ENABLE_NULL_DRIVER");
    // Programs that this one starts come up in the same way: the command, which may be this program
    // or lie beside it, starts them.
    char *slash = path_of_program(path) ? strrchr(path, '/') : NULL;
    if (slash && slash - path < PATH_MAX - 8) {
        snprintf(slash + 1, 8, "zepi");
        setenv("DRM_SHIM_LAUNCHER", path, 1);
    }
}

static int fail(const char *name, int error)
{
    fprintf(stderr, "zepi: %s: %s\n", name, strerror(error));
    return error == ENOENT ? 127 : 126;
}

// ---- Starting ----

// Through the dynamic loader of the folder. The program's own name for itself stays: Python finds
// its environment by it.
static int exec_with_loader(const struct place *place, struct command_line *command,
                            const char *path)
{
    char loader[PATH_MAX + 32];
    char folders[2 * PATH_MAX];
    const char *more = getenv("LD_LIBRARY_PATH");
    snprintf(loader, sizeof(loader), "%s/ld-linux-x86-64.so.2", place->folder);
    snprintf(folders, sizeof(folders), "%s%s%s", place->folder, more && more[0] ? ":" : "",
             more ? more : "");
    char *name = *command->first++;
    command_line_put(command, path);
    command_line_put(command, name);
    command_line_put(command, "--argv0");
    command_line_put(command, place->shim);
    command_line_put(command, "--preload");
    command_line_put(command, folders);
    command_line_put(command, "--library-path");
    command_line_put(command, loader);
    execv(loader, command->first);
    return fail(loader, errno);
}

static int exec_directly(const struct place *place, struct command_line *command, const char *path)
{
    char preload[2 * PATH_MAX];
    const char *more = getenv("LD_PRELOAD");
    snprintf(preload, sizeof(preload), "%s%s%s", place->shim, more && more[0] ? ":" : "",
             more ? more : "");
    setenv("LD_PRELOAD", preload, 1);
    unsetenv("DRM_SHIM_LAUNCHER");
    execv(path, command->first);
    return fail(path, errno);
}

// `own` replaces the first argument, unless it is NULL.
static int start(char *const arguments[], char *own)
{
    struct place place;
    struct command_line command;
    struct program program;
    int code = find_place(&place);
    if (code != EXIT_OK)
        return code;
    if (!command_line_init(&command, arguments))
        return fail(arguments[0], ENOMEM);
    if (own)
        command.first[0] = own;
    const int error = command_line_resolve(&command, &program);
    if (error != 0) {
        code = fail(command.first[0], error);
    } else {
        set_environment(&place);
        // A program without a dynamic loader cannot have the shim, and loads no drivers.
        code = program.loader[0] && place.folder[0]
                   ? exec_with_loader(&place, &command, program.path)
                   : exec_directly(&place, &command, program.path);
    }
    command_line_finish(&command);
    return code;
}

int intel_driver_exec(char *const command[])
{
    return start(command, NULL);
}

int intel_driver_enter(char *const arguments[])
{
    char program[PATH_MAX];
    return path_of_program(program) ? start(arguments, program)
                                    : fail("the program's own file", errno);
}
