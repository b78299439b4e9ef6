// SPDX-License-Identifier: MIT
//
// Runs a fuzz target over its corpus and over changes of it, without libFuzzer: the corpus as a
// plain test. Arguments: files, and folders of files. The changes are the same in every run.
#include "fuzz.h"
#include "test_env.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHANGES = 2000 };

static unsigned input_count;
static uint64_t state = 0x9e3779b97f4a7c15;

static size_t random_below(size_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 8) % limit;
}

// In a block of just that size, so that the address sanitizer sees a step beyond it.
static void run(const uint8_t *bytes, size_t size_bytes)
{
    uint8_t *copy = malloc(size_bytes);
    if (size_bytes > 0)
        memcpy(copy, bytes, size_bytes);
    LLVMFuzzerTestOneInput(copy, size_bytes);
    free(copy);
}

// `bytes` has room for twice the size.
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size_bytes, size_t max_size_bytes)
{
    (void)max_size_bytes;
    for (size_t left = random_below(4) + 1; left > 0; left--) {
        uint8_t *byte = &bytes[random_below(size_bytes)];
        *byte = random_below(2) ? (uint8_t)random_below(256) : bytes[random_below(size_bytes)];
    }
    size_t from = random_below(size_bytes);
    size_t length = random_below(size_bytes - from) + 1;
    switch (random_below(8)) {
    case 0: // cut off
        return from;
    case 1: // a piece is lost
        memmove(bytes + from, bytes + from + length, size_bytes - from - length);
        return size_bytes - length;
    case 2: // a piece is there twice
        memmove(bytes + from + length, bytes + from, size_bytes - from);
        return size_bytes + length;
    default:
        return size_bytes;
    }
}

// Of targets that have none of their own.
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size_bytes,
                                                     size_t max_size_bytes, unsigned seed)
{
    (void)seed;
    return LLVMFuzzerMutate(bytes, size_bytes, max_size_bytes);
}

static void replay(const char *path)
{
    struct test_bytes file = test_env_read_file(path);
    uint8_t *changed = malloc(2 * file.size_bytes);
    run(file.data, file.size_bytes);
    for (unsigned i = 0; i < CHANGES && file.size_bytes > 0; i++) {
        memcpy(changed, file.data, file.size_bytes);
        const unsigned seed = (unsigned)random_below(UINT32_MAX);
        run(changed, LLVMFuzzerCustomMutator(changed, file.size_bytes, 2 * file.size_bytes, seed));
    }
    free(changed);
    free(file.data);
    input_count++;
}

// In the order of their names.
static void replay_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char name[4096];
        struct stat info;
        snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
        // The compiler's bitcode lies beside the SPIR-V made of it.
        if (stat(name, &info) == 0 && S_ISREG(info.st_mode) && !strstr(entries[i]->d_name, ".bc"))
            replay(name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode))
            replay_folder(argv[i]);
        else
            replay(argv[i]);
    }
    printf("%u inputs, %u changes of each\n", input_count, (unsigned)CHANGES);
    return input_count > 0 ? 0 : 1;
}
