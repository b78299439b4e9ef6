// SPDX-License-Identifier: MIT
#include "commands.h"
#include "exit_code.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *description;
} commands[] = {
    {"info", command_info, "drivers, devices, optional functions, options in force"},
    {"build", command_build, "SPIR-V and constants to native code, or the build log"},
    {"run", command_run, "build, set arguments, launch, print"},
    {"exec", command_exec, "run a program of the DPC++ runtime on zepi"},
    {"demo", command_demo, "three specialized kernels with checked results"},
    {"cache", command_cache,
     "the native code on disk: show, verify, trim, clear, warm, export, import"},
    {"report", command_report, "a text file about this machine, to attach to a bug report"},
    {"compare", command_compare, "times and memory of a program on zepi and on Intel's adapter"},
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))
#define LONGEST_NAME 9 // that is nearly one of these

static void print_usage(FILE *file)
{
    fputs("usage: zepi COMMAND [OPTION...]\n\n", file);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].description);
    fputs("\nzepi help COMMAND says more; zepi --version prints the version.\n"
          "Exit codes: 0 fine, 1 a build failed or a number is wrong, 2 usage, 3 no device.\n",
          file);
}

// The position of a command; COMMAND_COUNT: there is none of this name.
static size_t find_command(const char *name)
{
    size_t i = 0;
    while (i < COMMAND_COUNT && strcmp(commands[i].name, name) != 0)
        i++;
    return i;
}

// How many letters have to be put in, taken out or changed to make one word of the other.
static size_t count_edits(const char *from, const char *to)
{
    if (!*from || !*to)
        return strlen(*from ? from : to);
    if (*from == *to)
        return count_edits(from + 1, to + 1);
    const size_t more = count_edits(from, to + 1);
    const size_t less = count_edits(from + 1, to);
    const size_t other = count_edits(from + 1, to + 1);
    return 1 + (more < less ? (more < other ? more : other) : (less < other ? less : other));
}

static int refuse_command(const char *name)
{
    size_t nearest = COMMAND_COUNT;
    size_t least = 3; // edits, which are no hint
    for (size_t i = 0; i < COMMAND_COUNT && strlen(name) <= LONGEST_NAME; i++) {
        const size_t edits = count_edits(name, commands[i].name);
        nearest = edits < least ? i : nearest;
        least = edits < least ? edits : least;
    }
    // No command reads the options.
    for (char *const *word = command_arguments(); *word; word++) {
        if (strcmp(*word, "--json") == 0)
            json_ask();
    }
    fprintf(stderr, "zepi: there is no command '%s'", name);
    if (nearest < COMMAND_COUNT)
        fprintf(stderr, "; did you mean %s?\n", commands[nearest].name);
    else
        fputs("; zepi --help lists them\n", stderr);
    return EXIT_USAGE;
}

// Runs a command whose arguments begin behind argv[1], its name.
static int run(size_t command, int argc, char **argv)
{
    // getopt_long begins its messages with it.
    char title[32];
    snprintf(title, sizeof(title), "zepi %s", commands[command].name);
    argv[1] = title;
    return commands[command].run(argc - 1, argv + 1);
}

static int help(const char *name)
{
    char *arguments[] = {NULL, NULL, (char *)"--help", NULL};
    const size_t command = find_command(name);
    return command < COMMAND_COUNT ? run(command, 3, arguments) : refuse_command(name);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    command_begin(argc, argv);
    const char *name = argv[1];
    const bool is_help = strcmp(name, "help") == 0;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (is_help && argc == 2)) {
        print_usage(stdout);
        return EXIT_OK;
    }
    if (is_help)
        return help(argv[2]);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("zepi " ZEPI_PROJECT_VERSION);
        return EXIT_OK;
    }
    const size_t command = find_command(name);
    return command < COMMAND_COUNT ? run(command, argc, argv) : refuse_command(name);
}
