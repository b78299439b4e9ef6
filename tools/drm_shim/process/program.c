// SPDX-License-Identifier: MIT
#include "program.h"

#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char program[PATH_MAX]; // empty: not found

// The first object is the program.
static int note_headers(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(uintptr_t *)user = (uintptr_t)info->dlpi_phdr;
    return 1;
}

// The file that is mapped where the program's headers are.
__attribute__((constructor)) static void find_program(void)
{
    uintptr_t headers = 0, begin, end;
    char line[PATH_MAX + 128], path[PATH_MAX];
    dl_iterate_phdr(note_headers, &headers);
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%zx-%zx %*s %*s %*s %*s %4095[^\n]", &begin, &end, path) == 3 &&
            headers >= begin && headers < end && path[0] == '/') {
            memcpy(program, path, sizeof(program));
            break;
        }
    }
    if (maps)
        fclose(maps);
}

const char *shim_program_instead_of(const char *path)
{
    return program[0] && strcmp(path, "/proc/self/exe") == 0 ? program : NULL;
}
