// SPDX-License-Identifier: MIT
//
// Runs a fuzz target over its corpus and over changes of it, without libFuzzer: the corpus as a
// plain test. Arguments: files and folders.
#include "test_env.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHANGES 2000

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

static unsigned inputs;

static void replay(const char *path)
{
    struct test_bytes file = test_env_read_file(path);
    uint8_t *changed = malloc(file.size_bytes + 1);
    LLVMFuzzerTestOneInput(file.data, file.size_bytes);
    for (int i = 0; i < CHANGES && file.size_bytes > 0; i++) {
        const size_t size = rand() % 8 ? file.size_bytes : (size_t)rand() % file.size_bytes;
        memcpy(changed, file.data, file.size_bytes);
        for (int at = rand() % 4; at >= 0; at--)
            changed[(size_t)rand() % file.size_bytes] = (uint8_t)rand();
        LLVMFuzzerTestOneInput(changed, size);
    }
    free(changed);
    free(file.data);
    inputs++;
}

static void replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char name[4096];
        struct stat info;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (stat(name, &info) == 0 && S_ISREG(info.st_mode) && !strstr(entry->d_name, ".bc"))
            replay(name);
    }
    if (folder)
        closedir(folder);
}

int main(int argc, char **argv)
{
    srand(1);
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode))
            replay_folder(argv[i]);
        else
            replay(argv[i]);
    }
    printf("%u inputs, %u changes of each\n", inputs, (unsigned)CHANGES);
    return inputs > 0 ? 0 : 1;
}
