// SPDX-License-Identifier: MIT
#include "cache_use.h"

#include "cache/disk/disk_care.h"
#include "image_file.h"
#include "kernels.h"
#include "program/native/key_tags.h"

#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct field {
    const uint8_t *bytes;
    size_t size;
};

// The last field of this tag in a key (cache/key.h); without bytes if there is none.
static struct field find_field(const uint8_t *key, size_t size, uint16_t tag)
{
    struct field found = {0};
    for (size_t at = sizeof(uint32_t); at < size && size - at >= 6;) {
        uint16_t its_tag;
        uint32_t length;
        memcpy(&its_tag, key + at, sizeof(its_tag));
        memcpy(&length, key + at + sizeof(its_tag), sizeof(length));
        at += 6;
        if (le32toh(length) > size - at)
            break;
        if (le16toh(its_tag) == tag)
            found = (struct field){key + at, le32toh(length)};
        at += le32toh(length);
    }
    return found;
}

static bool is_equal(const struct field *a, const struct field *b)
{
    return a->bytes && b->bytes && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool is_version(const uint8_t *key, size_t size)
{
    uint32_t version;
    if (size < sizeof(version))
        return false;
    memcpy(&version, key, sizeof(version));
    return le32toh(version) == ZEPI_KEY_VERSION;
}

const char *cache_use_refusal(const struct cache_use *use, const uint8_t *key, size_t key_size)
{
    static const struct {
        enum zepi_key_tag tag;
        const char *refusal;
    } compared[] = {{ZEPI_KEY_VENDOR, "for a device of another vendor"},
                    {ZEPI_KEY_DEVICE, "for another device"},
                    {ZEPI_KEY_IP_VERSION, "for another version of the device"},
                    {ZEPI_KEY_DRIVER, "of a driver at another path"},
                    {ZEPI_KEY_DRIVER_VERSION, "of another version of the driver"}};
    const struct field build = find_field(key, key_size, ZEPI_KEY_BUILD);
    const struct field own_build = find_field(use->key, use->key_size, ZEPI_KEY_BUILD);
    if (!build.bytes)
        return NULL; // not native code
    if (!is_version(key, key_size) || !is_version(build.bytes, build.size))
        return "of another version of zepi";
    for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++) {
        const struct field field = find_field(build.bytes, build.size, compared[i].tag);
        const struct field own = find_field(own_build.bytes, own_build.size, compared[i].tag);
        if (!is_equal(&field, &own))
            return compared[i].refusal;
    }
    const struct field compiler = find_field(key, key_size, ZEPI_KEY_COMPILER);
    const struct field own_compiler = find_field(use->key, use->key_size, ZEPI_KEY_COMPILER);
    return is_equal(&compiler, &own_compiler)
               ? NULL
               : "made by another compiler, with other settings of it, or for another CPU";
}

static bool take_key(void *user, const struct zepi_disk_sound_file *file)
{
    struct cache_use *use = user;
    if (!find_field(file->key, file->key_size, ZEPI_KEY_BUILD).bytes)
        return true;
    use->key = malloc(file->key_size);
    if (!use->key)
        return false;
    memcpy(use->key, file->key, file->key_size);
    use->key_size = file->key_size;
    return false;
}

static int build_small(struct cache_use *use, enum host_driver driver)
{
    const struct kernel_image kernel = kernel_image("single_value");
    const struct file_bytes file = {(unsigned char *)kernel.bytes, kernel.size_bytes};
    struct host_device host = {0};
    zepi_module_t input = NULL;
    zepi_module_t executable = NULL;
    int code = host_load(driver);
    if (code == EXIT_OK)
        code = host_open(&host, 0);
    if (code != EXIT_OK)
        return code;
    use->device = host.info;
    code = image_create_module(&host, &file, kernel.name, 0, NULL, &input);
    if (code == EXIT_OK && zepi.module_build(input, NULL, &executable) != ZEPI_SUCCESS)
        code = host_fail("a small kernel is not built");
    host_release(executable);
    host_release(input);
    host_close(&host);
    return code;
}

int cache_use_init(struct cache_use *use, enum host_driver driver)
{
    char folder[] = "/tmp/zepi-XXXXXX";
    *use = (struct cache_use){0};
    if (!mkdtemp(folder)) {
        perror("zepi cache: a temporary folder");
        return EXIT_FAILED;
    }
    use->disk = zepi_disk_create(folder, UINT64_MAX);
    // The plugin reads it when it is loaded.
    setenv("ZEPI_CACHE_DIR", folder, 1);
    unsetenv("ZEPI_CACHE");
    unsetenv("ZEPI_CACHE_DISK");
    int code = use->disk ? build_small(use, driver) : EXIT_FAILED;
    if (code == EXIT_OK)
        zepi_disk_for_each_sound(use->disk, take_key, use);
    if (code == EXIT_OK && !use->key) {
        fputs("zepi cache: this device's compiler is not known: nothing is kept for it\n", stderr);
        code = EXIT_FAILED;
    }
    return code;
}

void cache_use_finish(struct cache_use *use)
{
    struct zepi_disk_tally removed;
    if (use->disk) {
        zepi_disk_trim(use->disk, 0, &removed);
        rmdir(zepi_disk_path(use->disk));
    }
    zepi_disk_destroy(use->disk);
    free(use->key);
}
