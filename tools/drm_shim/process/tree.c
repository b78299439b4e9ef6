// SPDX-License-Identifier: MIT
#include "tree.h"

#include "device/node.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Paths and texts of a device: '@' is its PCI bus, '#' its number, '%' that of its render node.
#define BDF "0000:0@:00.0"
#define BRIDGE "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
#define PCI BRIDGE "/0000:02:01.0/" BDF
#define FROM_CLASS "../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/" BDF
#define FIRST_BUS 3
#define TEXT_BYTES 256

static pthread_once_t tree_once = PTHREAD_ONCE_INIT;
static char root[128]; // "" if the tree could not be made

static const struct {
    const char *path, *text;
} files[] = {
    {"/dev/dri/renderD%", ""},
    {PCI "/vendor", "0x8086\n"},
    {PCI "/subsystem_vendor", "0x8086\n"},
    {PCI "/subsystem_device", "0x1100\n"},
    {PCI "/class", "0x030000\n"},
    {BRIDGE "/max_link_speed", "16.0 GT/s PCIe\n"},
    {BRIDGE "/max_link_width", "8\n"},
    {PCI "/drm/card#/dev", "226:#\n"},
    {PCI "/drm/renderD%/dev", "226:%\n"},
};

static const struct {
    const char *path, *target;
} links[] = {
    {"/dev/dri/by-path/pci-" BDF "-render", "../renderD%"},
    {PCI "/drm/card#/device", "../.."},
    {"/sys/bus/pci/devices/" BDF, "../" FROM_CLASS},
    {"/sys/dev/char/226:%", FROM_CLASS "/drm/renderD%"},
    {"/sys/class/drm/card#", FROM_CLASS "/drm/card#"},
    {"/sys/class/drm/renderD%", FROM_CLASS "/drm/renderD%"},
};

static void fill_in(const struct shim_node *node, const char *text, char out[TEXT_BYTES])
{
    size_t length = 0;
    for (; *text && length < TEXT_BYTES - 8; text++) {
        const int number = *text == '@'   ? FIRST_BUS + (int)node->number
                           : *text == '#' ? (int)node->number
                           : *text == '%' ? SHIM_NODE_MINOR + (int)node->number
                                          : -1;
        if (number < 0)
            out[length++] = *text;
        else
            length += (size_t)snprintf(out + length, 8, "%d", number);
    }
    out[length] = '\0';
}

// The file's place in the folder; its parents are made.
static void make_place(const struct shim_node *node, const char *path, char out[PATH_MAX])
{
    char own[TEXT_BYTES];
    fill_in(node, path, own);
    snprintf(out, PATH_MAX, "%s%s", root, own);
    for (char *slash = strchr(out + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(out, 0700);
        *slash = '/';
    }
}

static bool make_file(const struct shim_node *node, const char *path, const char *text)
{
    char full[PATH_MAX], own[TEXT_BYTES];
    make_place(node, path, full);
    fill_in(node, text, own);
    // By the kernel's call: open() is this library's.
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, full, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    const size_t length = strlen(own);
    const bool is_written = write(fd, own, length) == (ssize_t)length;
    close(fd);
    return is_written;
}

static bool make_link(const struct shim_node *node, const char *path, const char *target)
{
    char full[PATH_MAX], own[TEXT_BYTES];
    make_place(node, path, full);
    fill_in(node, target, own);
    return symlink(own, full) == 0 || errno == EEXIST;
}

__attribute__((format(printf, 3, 4))) static bool
make_number(const struct shim_node *node, const char *path, const char *format, ...)
{
    char text[32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return make_file(node, path, text);
}

static bool make_product_files(const struct shim_node *node)
{
    const struct shim_product *product = node->product;
    bool is_made = (product->interface != SHIM_INTERFACE_I915 ||
                    make_number(node, PCI "/drm/card#/gt_max_freq_mhz", "%u\n", product->mhz)) &&
                   make_number(node, PCI "/device", "0x%04x\n", product->device_id) &&
                   make_number(node, PCI "/revision", "0x%02x\n", product->revision);
    for (unsigned tile = 0; is_made && tile < product->tiles; tile++) {
        static const char *const names[] = {"min_freq", "max_freq", "rp0_freq"};
        for (size_t i = 0; is_made && i < sizeof(names) / sizeof(names[0]); i++) {
            char path[PATH_MAX];
            snprintf(path, sizeof(path), PCI "/tile%u/gt%u/freq0/%s", tile, tile, names[i]);
            is_made = make_number(node, path, "%u\n", i == 0 ? 400u : product->mhz);
        }
    }
    return is_made;
}

static bool make_node_files(const struct shim_node *node)
{
    bool is_made = make_product_files(node);
    for (size_t i = 0; is_made && i < sizeof(files) / sizeof(files[0]); i++)
        is_made = make_file(node, files[i].path, files[i].text);
    for (size_t i = 0; is_made && i < sizeof(links) / sizeof(links[0]); i++)
        is_made = make_link(node, links[i].path, links[i].target);
    return is_made;
}

// A folder for these products; one that another user may have put there is not used.
static bool make_root(void)
{
    struct stat folder;
    int length = snprintf(root, sizeof(root), "/tmp/drm_shim.%u", (unsigned)getuid());
    const struct shim_node *node;
    for (size_t i = 0; (node = shim_node_at(i)) != NULL; i++)
        length +=
            snprintf(root + length, sizeof(root) - (size_t)length, ".%s", node->product->name);
    if (mkdir(root, 0700) != 0 && errno != EEXIST)
        return false;
    return syscall(SYS_newfstatat, AT_FDCWD, root, &folder, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(folder.st_mode) && folder.st_uid == getuid();
}

static void make_tree(void)
{
    const struct shim_node *node;
    bool is_made = make_root();
    for (size_t i = 0; is_made && (node = shim_node_at(i)) != NULL; i++)
        is_made = make_node_files(node);
    if (is_made)
        return;
    shim_error("the devices' files in %s: %s", root, strerror(errno));
    root[0] = '\0';
}

static bool begins(const char *path, const char *with)
{
    const size_t length = strlen(with);
    return strncmp(path, with, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

static bool is_in_tree(const char *path)
{
    static const char *const folders[] = {"/dev/dri", "/sys/class/drm", "/sys/bus/pci/devices",
                                          "/sys/devices/pci0000:00"};
    unsigned major, minor;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        if (begins(path, folders[i]))
            return true;
    return sscanf(path, "/sys/dev/char/%u:%u", &major, &minor) == 2 && major == SHIM_NODE_MAJOR &&
           minor - SHIM_NODE_MINOR < SHIM_DEVICES_MAXIMUM;
}

const char *shim_tree_path(const char *path, char *buffer)
{
    if (path == NULL || path[0] != '/' || (path[1] != 'd' && path[1] != 's') || !is_in_tree(path) ||
        shim_node_at(0) == NULL)
        return path;
    pthread_once(&tree_once, make_tree);
    snprintf(buffer, PATH_MAX, "%s%s", root, path);
    return buffer;
}

void shim_tree_strip(char *path)
{
    const size_t length = strlen(root);
    if (length > 0 && strncmp(path, root, length) == 0 && path[length] == '/')
        memmove(path, path + length, strlen(path + length) + 1);
}

int shim_tree_node(const char *path)
{
    const struct shim_node *node;
    if (path == NULL || !begins(path, "/dev/dri"))
        return -1;
    for (size_t i = 0; (node = shim_node_at(i)) != NULL; i++) {
        char by_number[TEXT_BYTES], by_path[TEXT_BYTES];
        fill_in(node, "/renderD%", by_number);
        fill_in(node, BDF "-render", by_path);
        if (strstr(path, by_number) != NULL || strstr(path, by_path) != NULL)
            return (int)i;
    }
    return -1;
}
