// SPDX-License-Identifier: MIT
#include "command_line.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SCRIPTS 4

// Two for each script, and room for callers.
enum { FRONT = 2 * MAX_SCRIPTS + 16 };

bool command_line_init(struct command_line *command, char *const arguments[])
{
    size_t count = 0;
    while (arguments[count])
        count++;
    command->room = calloc(FRONT + count + 1, sizeof(char *));
    if (!command->room)
        return false;
    command->first = command->room + FRONT;
    memcpy(command->first, arguments, count * sizeof(char *));
    return true;
}

void command_line_finish(struct command_line *command)
{
    free(command->room);
}

void command_line_put(struct command_line *command, const char *argument)
{
    char *copy = strdup(argument);
    *--command->first = copy ? copy : (char *)"";
}

// Finds a command as execvp does.
static bool find_command(const char *name, char path[PATH_MAX])
{
    struct stat about;
    const char *from = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(path, PATH_MAX, "%s", name);
        return access(path, X_OK) == 0;
    }
    for (from = from ? from : "/usr/bin:/bin"; from; from = strchr(from, ':')) {
        from += *from == ':';
        const int length = (int)strcspn(from, ":");
        if (snprintf(path, PATH_MAX, "%.*s%s%s", length, from, length > 0 ? "/" : "./", name) <
                PATH_MAX &&
            stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0)
            return true;
    }
    errno = ENOENT;
    return false;
}

enum file_kind { KIND_UNREADABLE, KIND_SCRIPT, KIND_PROGRAM };

// The kind of a file. `text` gets the first line of a script without its "#!", or the dynamic
// loader that a program names.
static enum file_kind read_file_kind(const char *path, char text[PATH_MAX])
{
    Elf64_Ehdr head = {0};
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return KIND_UNREADABLE;
    const ssize_t length = pread(file, text, PATH_MAX - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    if (strncmp(text, "#!", 2) == 0) {
        text[strcspn(text, "\n")] = '\0';
        memmove(text, text + 2, strlen(text + 2) + 1);
        close(file);
        return KIND_SCRIPT;
    }
    text[0] = '\0';
    if (pread(file, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
        head.e_machine == EM_X86_64) {
        for (unsigned i = 0; i < head.e_phnum && !text[0]; i++) {
            Elf64_Phdr part;
            const off_t offset = (off_t)(head.e_phoff + (Elf64_Off)i * sizeof(part));
            if (pread(file, &part, sizeof(part), offset) == (ssize_t)sizeof(part) &&
                part.p_type == PT_INTERP && part.p_filesz > 0 && part.p_filesz < PATH_MAX &&
                pread(file, text, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz)
                text[part.p_filesz] = '\0';
        }
    }
    close(file);
    return KIND_PROGRAM;
}

// Splits a script's first line: an interpreter, and the rest as one argument, as the kernel does.
// "/usr/bin/env NAME" is NAME.
static void put_interpreter(struct command_line *command, char *line)
{
    char *interpreter = line + strspn(line, " \t");
    char *argument = interpreter + strcspn(interpreter, " \t");
    if (*argument)
        *argument++ = '\0';
    argument += strspn(argument, " \t");
    argument[strcspn(argument, "\r")] = '\0';
    for (char *end = argument + strlen(argument); end > argument && strchr(" \t", end[-1]); end--)
        end[-1] = '\0';
    const char *slash = strrchr(interpreter, '/');
    const bool is_env = slash && strcmp(slash, "/env") == 0 && argument[0] != '-' && argument[0] &&
                        !strpbrk(argument, " \t=");
    if (argument[0])
        command_line_put(command, argument);
    if (!is_env)
        command_line_put(command, interpreter);
}

int command_line_resolve(struct command_line *command, struct program *out_program)
{
    char *path = out_program->path;
    for (int i = 0; i <= MAX_SCRIPTS; i++) {
        if (!find_command(command->first[0], path))
            return errno;
        const enum file_kind kind = read_file_kind(path, out_program->loader);
        out_program->is_interpreter = i > 0;
        if (kind == KIND_UNREADABLE)
            return errno;
        if (kind == KIND_PROGRAM)
            return 0;
        command->first++;
        command_line_put(command, path);
        put_interpreter(command, out_program->loader);
    }
    return ELOOP;
}
