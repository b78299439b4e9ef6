// SPDX-License-Identifier: MIT
#include "cache_use.h"

#include "../json.h"
#include "../kernels.h"
#include "../scratch.h"
#include "disk_files.h"
#include "key_refusal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take_key(void *user, const struct zepi_disk_file *file)
{
    struct cache_use *use = user;
    if (!file->bytes || !key_is_of_code(file->key, file->key_size))
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
    const zepi_device_image_desc_t image = kernel_image("single_value");
    struct host_device host = {0};
    zepi_module_t input = NULL;
    zepi_module_t executable = NULL;
    int code = host_open(&host, driver);
    if (code != EXIT_OK)
        return code;
    use->device = host.info;
    if (zepi.module_create(host.context, ZEPI_MODULE_INPUT, 1, &image, &input) != ZEPI_SUCCESS ||
        zepi.module_build(input, NULL, &executable) != ZEPI_SUCCESS)
        code = host_fail("a small kernel is not built");
    host_release(executable);
    host_release(input);
    host_close(&host);
    return code;
}

int cache_use_init(struct cache_use *use, enum host_driver driver)
{
    char folder[PATH_MAX];
    *use = (struct cache_use){0};
    if (!scratch_make("cache", folder))
        return EXIT_FAILED;
    use->disk = zepi_disk_create(folder, UINT64_MAX);
    // The plugin reads it when it is loaded.
    setenv("ZEPI_CACHE_DIR", folder, 1);
    unsetenv("ZEPI_CACHE");
    unsetenv("ZEPI_CACHE_DISK");
    int code = use->disk ? build_small(use, driver) : EXIT_FAILED;
    if (code == EXIT_OK)
        zepi_disk_for_each(use->disk, ZEPI_DISK_READ, take_key, use);
    if (code == EXIT_OK && !use->key) {
        fputs("zepi cache: this device's compiler is not known: nothing is kept for it\n", stderr);
        code = EXIT_FAILED;
    }
    return code;
}

void cache_use_finish(struct cache_use *use)
{
    if (use->disk)
        scratch_remove(zepi_disk_path(use->disk));
    zepi_disk_destroy(use->disk);
    free(use->key);
}

void cache_note_refusal(void *user, const uint8_t *key, size_t key_size)
{
    struct cache_refusals *refusals = user;
    const struct cache_use *use = refusals->use;
    const char *refusal = key_refusal(use->key, use->key_size, key, key_size);
    cJSON *item;
    refusals->codes += key_is_of_code(key, key_size);
    if (!refusal)
        return;
    refusals->refused++;
    cJSON_ArrayForEach(item, refusals->list)
    {
        cJSON *files = cJSON_GetObjectItem(item, "files");
        if (strcmp(json_text(item, "reason"), refusal) == 0) {
            cJSON_SetNumberValue(files, files->valuedouble + 1);
            return;
        }
    }
    item = json_add_object(refusals->list);
    cJSON_AddNumberToObject(item, "files", 1);
    cJSON_AddStringToObject(item, "reason", refusal);
}
