// SPDX-License-Identifier: MIT
// The tables of one layout beside those of Intel's adapters of the same release: the same tables,
// of the same sizes, and every entry that theirs have.
//
//   ur.layout RELEASE INTELS-ADAPTER...
#include "test_env.h"

#include "ur/layout/layout.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 12, SKIPPED = 77, BYTES = 4096, MARK = 0x5a };

static const char *const names[] = {
#define NAME(table) #table,
    ZEPI_UR_TABLES(NAME)
#undef NAME
};

typedef int getter_fn(uint32_t version, void *table);

// The bytes that a getter writes; 0: there is none.
static size_t get(void *library, const char *table, void *out_table)
{
    char name[64];
    getter_fn *getter;
    size_t size = BYTES;
    snprintf(name, sizeof(name), "urGet%sProcAddrTable", table);
    void *symbol = dlsym(library, name);
    memset(out_table, MARK, BYTES);
    memcpy(&getter, &symbol, sizeof(symbol));
    if (!getter || getter(VERSION, out_table) != 0)
        return 0;
    while (size > 0 && ((const unsigned char *)out_table)[size - 1] == MARK)
        size--;
    // An address may end with the mark, but not with eight of them.
    return (size + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
}

static unsigned compare(void *ours, void *theirs, const char *path)
{
    static void *our_table[BYTES / sizeof(void *)];
    static void *their_table[BYTES / sizeof(void *)];
    unsigned wrong = 0;
    unsigned entries = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t our_size = get(ours, names[i], our_table);
        const size_t their_size = get(theirs, names[i], their_table);
        if (our_size != their_size) {
            printf("%s: %s has %zu bytes, zepi's %zu\n", path, names[i], their_size, our_size);
            wrong++;
        }
        for (size_t slot = 0; slot < their_size / sizeof(void *) && our_size == their_size;
             slot++) {
            entries += their_table[slot] != NULL;
            if (their_table[slot] && !our_table[slot]) {
                printf("%s: %s has entry %zu, zepi's has none\n", path, names[i], slot);
                wrong++;
            }
        }
    }
    printf("%s: %u entries\n", path, entries);
    return wrong + (entries == 0);
}

int main(int argc, char **argv)
{
    unsigned wrong = 0;
    unsigned compared = 0;
    test_env_use_ze_cpu();
    setenv("ZEPI_UR_LAYOUT", argv[1], 1);
    void *ours = dlopen(TEST_UR_ADAPTER, RTLD_NOW | RTLD_LOCAL);
    if (!ours) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        void *theirs = dlopen(argv[i], RTLD_LAZY | RTLD_LOCAL);
        if (!theirs) {
            printf("%s\n", dlerror());
            continue;
        }
        wrong += compare(ours, theirs, argv[i]);
        compared++;
    }
    if (compared == 0) {
        printf("skipped: Intel's adapters of %s are not there, or do not load\n", argv[1]);
        return SKIPPED;
    }
    return wrong > 0;
}
