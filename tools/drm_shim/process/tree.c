// SPDX-License-Identifier: MIT
#include "tree.h"

#include "device/product.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BDF "0000:03:00.0" // of the device on the PCI bus
#define BRIDGE "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
#define PCI BRIDGE "/0000:02:01.0/" BDF
#define FROM_CLASS "../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/" BDF

static pthread_once_t tree_once = PTHREAD_ONCE_INIT;
static char root[64]; // "" if the tree could not be made

static const struct {
    const char *path, *text;
} files[] = {
    {"/dev/dri/renderD128", ""},
    {PCI "/vendor", "0x8086\n"},
    {PCI "/subsystem_vendor", "0x8086\n"},
    {PCI "/subsystem_device", "0x1100\n"},
    {PCI "/class", "0x030000\n"},
    {BRIDGE "/max_link_speed", "16.0 GT/s PCIe\n"},
    {BRIDGE "/max_link_width", "8\n"},
    {PCI "/drm/card0/dev", "226:0\n"},
    {PCI "/drm/renderD128/dev", "226:128\n"},
};

static const struct {
    const char *path, *target;
} links[] = {
    {"/dev/dri/by-path/pci-" BDF "-render", "../renderD128"},
    {PCI "/drm/card0/device", "../.."},
    {"/sys/bus/pci/devices/" BDF, "../" FROM_CLASS},
    {"/sys/dev/char/226:128", FROM_CLASS "/drm/renderD128"},
    {"/sys/class/drm/card0", FROM_CLASS "/drm/card0"},
    {"/sys/class/drm/renderD128", FROM_CLASS "/drm/renderD128"},
};

static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static bool make_file(const char *path, const char *text)
{
    char full[PATH_MAX];
    snprintf(full, sizeof(full), "%s%s", root, path);
    make_parents(full);
    // By the kernel's call: open() is this library's.
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, full, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    const size_t length = strlen(text);
    const bool is_written = write(fd, text, length) == (ssize_t)length;
    close(fd);
    return is_written;
}

static bool make_link(const char *path, const char *target)
{
    char full[PATH_MAX];
    snprintf(full, sizeof(full), "%s%s", root, path);
    make_parents(full);
    return symlink(target, full) == 0 || errno == EEXIST;
}

// A folder that another user may have put there is not used.
static bool make_root(void)
{
    struct stat folder;
    snprintf(root, sizeof(root), "/tmp/drm_shim.%u.%s", (unsigned)getuid(), shim_product()->name);
    if (mkdir(root, 0700) != 0 && errno != EEXIST)
        return false;
    return syscall(SYS_newfstatat, AT_FDCWD, root, &folder, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(folder.st_mode) && folder.st_uid == getuid();
}

__attribute__((format(printf, 2, 3))) static bool make_text(const char *path, const char *format,
                                                            ...)
{
    char text[32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return make_file(path, text);
}

static bool make_product_files(const struct shim_product *product)
{
    bool is_made = (product->interface != SHIM_INTERFACE_I915 ||
                    make_text(PCI "/drm/card0/gt_max_freq_mhz", "%u\n", product->mhz)) &&
                   make_text(PCI "/device", "0x%04x\n", product->device_id) &&
                   make_text(PCI "/revision", "0x%02x\n", product->revision);
    for (unsigned tile = 0; is_made && tile < product->tiles; tile++) {
        static const char *const names[] = {"min_freq", "max_freq", "rp0_freq"};
        for (size_t i = 0; is_made && i < sizeof(names) / sizeof(names[0]); i++) {
            char path[PATH_MAX];
            snprintf(path, sizeof(path), PCI "/tile%u/gt%u/freq0/%s", tile, tile, names[i]);
            is_made = make_text(path, "%u\n", i == 0 ? 400u : product->mhz);
        }
    }
    return is_made;
}

static void make_tree(void)
{
    bool is_made = make_root() && make_product_files(shim_product());
    for (size_t i = 0; is_made && i < sizeof(files) / sizeof(files[0]); i++)
        is_made = make_file(files[i].path, files[i].text);
    for (size_t i = 0; is_made && i < sizeof(links) / sizeof(links[0]); i++)
        is_made = make_link(links[i].path, links[i].target);
    if (is_made)
        return;
    shim_error("the device's files in %s: %s", root, strerror(errno));
    root[0] = '\0';
}

static bool begins(const char *path, const char *with)
{
    const size_t length = strlen(with);
    return strncmp(path, with, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

const char *shim_tree_path(const char *path, char *buffer)
{
    static const char *const folders[] = {"/dev/dri", "/sys/dev/char/226:128", "/sys/class/drm",
                                          "/sys/bus/pci/devices", "/sys/devices/pci0000:00"};
    if (path == NULL || path[0] != '/' || (path[1] != 'd' && path[1] != 's'))
        return path;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (!begins(path, folders[i]))
            continue;
        if (!shim_product())
            return path;
        pthread_once(&tree_once, make_tree);
        snprintf(buffer, PATH_MAX, "%s%s", root, path);
        shim_log(SHIM_LOG_IOCTL, "path %s", path);
        return buffer;
    }
    return path;
}

void shim_tree_strip(char *path)
{
    const size_t length = strlen(root);
    if (length > 0 && strncmp(path, root, length) == 0 && path[length] == '/')
        memmove(path, path + length, strlen(path + length) + 1);
}

bool shim_tree_is_node(const char *path)
{
    return path != NULL && begins(path, "/dev/dri") &&
           (strstr(path, "-render") != NULL || strstr(path, "/renderD128") != NULL) &&
           shim_product() != NULL;
}
