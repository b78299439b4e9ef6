// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_COMMANDS_H
#define ZEPI_TOOL_COMMANDS_H

#include "host.h"

#include <getopt.h>

// The subcommands. Each gets "zepi NAME" as argv[0] and returns an exit code (host.h).

int command_info(int argc, char **argv);
int command_build(int argc, char **argv);
int command_run(int argc, char **argv);
int command_demo(int argc, char **argv);
int command_cache(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_report(int argc, char **argv);
int command_exec(int argc, char **argv);

// What every program of this folder does before it reads its arguments, which are those of main():
// keeps them for a second start of the program, and looks for --json. At the end of the process an
// output that cannot be written makes the exit code EXIT_FAILED.
void command_begin(int argc, char **argv);

// The arguments of main() as they were, with a NULL behind them.
char *const *command_arguments(void);

// Prints the first paragraph of a usage text, the synopsis, on stderr, after the message of
// getopt_long. Returns EXIT_USAGE.
int command_refuse(const char *usage);

// Says on stderr that the command takes no such word. Returns EXIT_USAGE.
int command_refuse_word(const char *command, const char *word);

// ---- Options that commands have in common, for the tables of getopt_long ----

// clang-format off
#define COMMAND_DRIVER_OPTIONS                                                                     \
    {"cpu", optional_argument, NULL, HOST_DRIVER_CPU},                                             \
    {"gpu", no_argument, NULL, HOST_DRIVER_GPU},                                                   \
    {"intel-driver", optional_argument, NULL, HOST_DRIVER_INTEL},                                  \
    {"help", no_argument, NULL, 'h'}
#define COMMAND_JSON_OPTION {"json", no_argument, NULL, 'j'}
// clang-format on

struct command_options {
    const char *usage;
    bool is_for_program; // the driver is for a program that this one starts
    enum host_driver driver;
    bool is_json;
};

// Takes an option of these tables. --help ends the process, and so does, after a message, an option
// of no table or a driver that cannot be chosen. With --intel-driver this program starts once more,
// unless the driver is for another one.
void command_take(struct command_options *options, int option);

#endif
