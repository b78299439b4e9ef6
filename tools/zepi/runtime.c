// SPDX-License-Identifier: MIT
#include "runtime.h"
#include "command_line.h"
#include "probe.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY "libsycl.so."
#define LISTS "LD_TRACE_LOADED_OBJECTS"
// Of the releases that the adapter serves.
#define LIBRARIES "libsycl.so.9:libsycl.so.8"
#define OLDEST_YEAR 2025
#define OLDEST_MINOR 3

// ---- Output of other programs ----

static void end_program(FILE *output, pid_t process)
{
    char rest[4096];
    while (fread(rest, 1, sizeof(rest), output) > 0)
        ;
    fclose(output);
    waitpid(process, NULL, 0);
}

// ---- Where the library is ----

// Reads "NAME => PATH (ADDRESS)", "NAME => not found" or "PATH (ADDRESS)", as a dynamic loader
// lists a library. Returns whether it is libsycl: `name` of it, and `path` or "".
static bool read_listed(char *line, char name[PATH_MAX], char path[PATH_MAX])
{
    char *first = line + strspn(line, " \t");
    char *arrow = strstr(first, " => ");
    char *place = arrow ? arrow + strlen(" => ") : first;
    char *address = strstr(place, " (0x");
    if (arrow)
        *arrow = '\0';
    if (address)
        *address = '\0';
    const char *slash = strrchr(first, '/');
    const char *base = slash ? slash + 1 : first;
    if (strncmp(base, LIBRARY, strlen(LIBRARY)) != 0)
        return false;
    snprintf(name, PATH_MAX, "%s", base);
    snprintf(path, PATH_MAX, "%s", address && place[0] == '/' ? place : "");
    return true;
}

// The libsycl that the program's dynamic loader finds for a file, the program itself or a library,
// with `preload` loaded before or NULL. False: it loads none.
static bool list_libsycl(const struct program *program, const char *file, const char *preload,
                         char name[PATH_MAX], char path[PATH_MAX])
{
    const char *const plain[] = {program->loader, file, NULL};
    const char *const more[] = {program->loader, "--preload", preload, file, NULL};
    char line[2 * PATH_MAX];
    pid_t process;
    bool is_listed = false;
    // The loader of the GNU C library then lists and starts nothing, as for ldd.
    setenv(LISTS, "1", 1);
    FILE *output = probe_start(preload ? more : plain, "/dev/null", &process);
    unsetenv(LISTS);
    if (!output)
        return false;
    while (!is_listed && fgets(line, sizeof(line), output))
        is_listed = read_listed(line, name, path);
    end_program(output, process);
    return is_listed;
}

// The newest libsycl of a folder.
static bool find_in_folder(const char *folder, char path[PATH_MAX])
{
    char pattern[PATH_MAX + 32];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/" LIBRARY "[0-9]", folder);
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    const char *last = found.gl_pathv[found.gl_pathc - 1];
    const bool is_found = realpath(last, path) || snprintf(path, PATH_MAX, "%s", last) < PATH_MAX;
    globfree(&found);
    return is_found;
}

// ---- Python's packages ----

#define BEHIND_BYTES 32

// Looks for a text in the wanted sections of a file of ELF, in at most `most` bytes of each.
// `behind` gets what follows it.
static bool find_in_sections(const char *path, bool (*is_wanted)(const Elf64_Shdr *section),
                             size_t most, const char *text, char behind[BEHIND_BYTES])
{
    Elf64_Ehdr head;
    Elf64_Shdr section;
    bool is_found = false;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (pread(file, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        head.e_shnum = 0;
    for (unsigned i = 0; i < head.e_shnum && !is_found; i++) {
        const off_t offset = (off_t)(head.e_shoff + (Elf64_Off)i * sizeof(section));
        if (pread(file, &section, sizeof(section), offset) != (ssize_t)sizeof(section))
            break;
        const size_t size = section.sh_size < most ? section.sh_size : most;
        char *bytes = is_wanted(&section) ? malloc(size) : NULL;
        const ssize_t got = bytes ? pread(file, bytes, size, (off_t)section.sh_offset) : 0;
        const char *found = got > 0 ? memmem(bytes, (size_t)got, text, strlen(text)) : NULL;
        is_found = found;
        if (is_found) {
            const char *rest = found + strlen(text);
            snprintf(behind, BEHIND_BYTES, "%.*s", (int)(bytes + got - rest), rest);
        }
        free(bytes);
    }
    close(file);
    return is_found;
}

// The names that a library links with: a table of strings in memory.
static bool is_names(const Elf64_Shdr *section)
{
    return section->sh_type == SHT_STRTAB && (section->sh_flags & SHF_ALLOC);
}

static bool links_with_libsycl(const char *path)
{
    char behind[BEHIND_BYTES];
    return find_in_sections(path, is_names, SIZE_MAX, LIBRARY, behind);
}

// The libsycl that the first package with a library that links with one gets. The dynamic loader
// knows whether LD_LIBRARY_PATH comes before the package's own folders, and the name that it needs.
static bool find_for_packages(const struct program *program, const char *folder,
                              char path[PATH_MAX])
{
    char pattern[PATH_MAX + 16];
    char name[PATH_MAX];
    glob_t found;
    bool is_found = false;
    snprintf(pattern, sizeof(pattern), "%s/*/*.so", folder);
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !is_found; i++) {
        const char *library = found.gl_pathv[i];
        char listed[PATH_MAX];
        is_found = links_with_libsycl(library) &&
                   list_libsycl(program, library, NULL, name, listed) && listed[0] &&
                   realpath(listed, path);
    }
    globfree(&found);
    return is_found;
}

// Packages that load it by themselves bring it to lib of their environment, two folders above:
// `near`, "" if it is not there.
static bool find_by_packages(const struct program *program, char path[PATH_MAX],
                             char near[PATH_MAX])
{
    const char *const arguments[] = {program->path, "-c", "import sys; print(*sys.path, sep='\\n')",
                                     NULL};
    char line[PATH_MAX];
    char folder[PATH_MAX + 8];
    pid_t process;
    bool is_found = false;
    near[0] = '\0';
    FILE *output = probe_start(arguments, "/dev/null", &process);
    if (!output)
        return false;
    while (!is_found && fgets(line, sizeof(line), output)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '/')
            continue;
        snprintf(folder, sizeof(folder), "%s/../..", line);
        is_found = find_for_packages(program, line, path);
        if (!near[0] && !find_in_folder(folder, near))
            near[0] = '\0';
    }
    end_program(output, process);
    return is_found;
}

static bool find_by_library_path(char path[PATH_MAX])
{
    char folder[PATH_MAX];
    const char *rest = getenv("LD_LIBRARY_PATH");
    while (rest && *rest) {
        const size_t length = strcspn(rest, ":;");
        snprintf(folder, sizeof(folder), "%.*s", (int)length, rest);
        if (length > 0 && find_in_folder(folder, path))
            return true;
        rest += length + (rest[length] != '\0');
    }
    return false;
}

static bool find_for_python(const struct program *program, char path[PATH_MAX])
{
    char name[PATH_MAX];
    char near[PATH_MAX];
    char folder[PATH_MAX + 16];
    // Not where a link to it leads: an environment has a link to another one's Python.
    const int length = (int)(strrchr(program->path, '/') - program->path);
    snprintf(folder, sizeof(folder), "%.*s/../lib", length, program->path);
    if (find_by_packages(program, path, near) || find_by_library_path(path) ||
        find_in_folder(folder, path))
        return true;
    if (near[0])
        memcpy(path, near, PATH_MAX);
    return near[0] || (list_libsycl(program, program->path, LIBRARIES, name, path) && path[0]);
}

// ---- Which release it is of ----

// The linker's comments: strings that stay out of memory.
static bool is_comments(const Elf64_Shdr *section)
{
    return section->sh_type == SHT_PROGBITS && !(section->sh_flags & SHF_ALLOC) &&
           (section->sh_flags & SHF_STRINGS);
}

// Intel's compiler leaves its release in compiled files: "... Compiler 2026.2.0 (...)".
static void read_release(const char *path, char release[32])
{
    release[0] = '\0';
    if (find_in_sections(path, is_comments, 4096, "DPC++/C++ Compiler ", release))
        release[strspn(release, "0123456789.")] = '\0';
}

// ---- Both ----

static bool is_python(const struct program *program)
{
    const char *slash = strrchr(program->path, '/');
    return slash && strncmp(slash + 1, "python", strlen("python")) == 0;
}

// The runtime is for the GNU C library alone.
static bool has_gnu_loader(const struct program *program)
{
    const char *slash = strrchr(program->loader, '/');
    return slash && strncmp(slash + 1, "ld-linux", strlen("ld-linux")) == 0;
}

static enum runtime_state find_for_program(const struct program *program, struct runtime *runtime)
{
    char name[PATH_MAX];
    snprintf(runtime->program, PATH_MAX, "%s", program->path);
    if (!has_gnu_loader(program))
        return RUNTIME_UNKNOWN;
    if (list_libsycl(program, program->path, NULL, name, runtime->library)) {
        if (runtime->library[0])
            return RUNTIME_FOUND;
        memcpy(runtime->library, name, sizeof(name));
        return RUNTIME_MISSING;
    }
    runtime->library[0] = '\0';
    if (!is_python(program))
        return RUNTIME_UNKNOWN;
    if (find_for_python(program, runtime->library))
        return RUNTIME_FOUND;
    // A script may only start other programs.
    return program->is_interpreter ? RUNTIME_UNKNOWN : RUNTIME_MISSING;
}

enum runtime_state runtime_find(char *const command[], struct runtime *out_runtime)
{
    struct command_line line;
    struct program program;
    enum runtime_state state = RUNTIME_UNKNOWN;
    *out_runtime = (struct runtime){0};
    if (!command_line_init(&line, command))
        return state;
    if (command_line_resolve(&line, &program) == 0)
        state = find_for_program(&program, out_runtime);
    command_line_finish(&line);
    if (state == RUNTIME_FOUND)
        read_release(out_runtime->library, out_runtime->release);
    return state;
}

bool runtime_is_too_old(const struct runtime *runtime)
{
    unsigned year, minor;
    return sscanf(runtime->release, "%u.%u", &year, &minor) == 2 &&
           (year < OLDEST_YEAR || (year == OLDEST_YEAR && minor < OLDEST_MINOR));
}
