// SPDX-License-Identifier: MIT
#include "spirv_fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct zepi_spirv spirv;
char message[512];

void spirv_tear_down(void)
{
    zepi_spirv_finish(&spirv);
}

bool spirv_is_empty(void)
{
    return spirv.version == 0 && !spirv.constants && spirv.constant_count == 0 && !spirv.kernels &&
           spirv.kernel_count == 0 && !spirv.symbols && spirv.symbol_count == 0 &&
           !spirv.arguments && !spirv.names;
}

enum zepi_spirv_status spirv_walk(const void *bytes, size_t size_bytes)
{
    zepi_spirv_finish(&spirv);
    void *copy = malloc(size_bytes);
    if (size_bytes > 0)
        memcpy(copy, bytes, size_bytes);
    memset(&spirv, 0xff, sizeof(spirv));
    enum zepi_spirv_status status =
        zepi_spirv_init(&spirv, copy, size_bytes, message, sizeof(message));
    free(copy);
    if (status != ZEPI_SPIRV_OK) {
        cr_assert(message[0] != '\0', "refused without a message");
        cr_assert(spirv_is_empty());
    }
    return status;
}

void spirv_take(const uint32_t *words, size_t count)
{
    cr_assert_eq(spirv_walk(words, count * sizeof(*words)), ZEPI_SPIRV_OK, "%s", message);
}

void spirv_take_file(const char *name)
{
    struct test_bytes file = test_env_read_spirv(name);
    cr_assert_eq(spirv_walk(file.data, file.size_bytes), ZEPI_SPIRV_OK, "%s: %s", name, message);
    free(file.data);
}

void spirv_refuse(const uint32_t *words, size_t count, const char *expected, int line)
{
    cr_assert_eq(spirv_walk(words, count * sizeof(*words)), ZEPI_SPIRV_INVALID,
                 "line %d: taken, expected: %s", line, expected);
    cr_assert_str_eq(message, expected, "line %d:\n  says:     %s\n  expected: %s", line, message,
                     expected);
}

void spirv_each_file(void (*visit)(const char *name, struct test_bytes file))
{
    char folder_path[4096];
    strncpy(folder_path, test_env_spirv_path("negate"), sizeof(folder_path) - 1);
    *strrchr(folder_path, '/') = '\0';
    DIR *folder = opendir(folder_path);
    cr_assert(folder, "no folder %s", folder_path);
    unsigned count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char *suffix = strstr(entry->d_name, ".spv");
        if (!suffix || suffix[4] != '\0')
            continue;
        *suffix = '\0';
        struct test_bytes file = test_env_read_spirv(entry->d_name);
        visit(entry->d_name, file);
        free(file.data);
        count++;
    }
    closedir(folder);
    cr_assert(count > 5, "only %u modules in %s", count, folder_path);
}

const struct zepi_spirv_symbol *spirv_find_symbol(const char *name)
{
    for (uint32_t i = 0; i < spirv.symbol_count; i++) {
        if (strcmp(spirv.symbols[i].name, name) == 0)
            return &spirv.symbols[i];
    }
    return NULL;
}
