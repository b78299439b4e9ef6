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

// Every program of this folder calls this before it reads the arguments of main(). The arguments
// are kept for a second start of the program, and messages on stderr for --json. At the end of the
// process an output that cannot be written makes the exit code EXIT_FAILED.
void command_begin(int argc, char **argv);

// The arguments of main() as they were, with a NULL behind them.
char *const *command_arguments(void);

// ---- Options ----

// An option of one command. It sets a flag, or gives its argument to a text, a number or a
// function.
struct command_option {
    const char *name; // one letter: -o
    bool *flag;
    const char **text;
    const char *default_text; // for an option whose argument may be left out
    uint32_t *number;         // from 1
    uint32_t most;            // to this
    // Returns an exit code after a message.
    int (*take)(void *user, const char *argument);
    void *user;
};

// What stands behind the options.
enum command_words { COMMAND_NO_WORDS, COMMAND_WORDS, COMMAND_PROGRAM };

struct command_options {
    const char *usage;
    const struct command_option *own; // ends with one without a name; NULL: there are none
    enum command_words words;
    bool is_for_program; // the driver is for a program that this one starts
    bool has_no_json;
    enum host_driver driver;
};

// Reads the options, those of all commands too: of a driver, --json and --help, which ends the
// process. argv[optind] is then the first word. With --intel-driver this program starts once more,
// unless the driver is for another one. Returns an exit code after a message.
int command_parse(int argc, char **argv, struct command_options *options);

// For a program that was parsed as one that starts another, and uses the driver itself: starts this
// program once more if it has to. Returns an exit code after a message.
int command_enter_driver(enum host_driver driver);

// Prints the first paragraph of a usage text, the synopsis, on stderr, after a message. Returns
// EXIT_USAGE.
int command_refuse(const char *usage);

// Says on stderr that the command takes no such word. Returns EXIT_USAGE.
int command_refuse_word(const char *command, const char *word);

// One line on stderr that is written over, if that is a terminal.
__attribute__((format(printf, 1, 2))) void command_progress(const char *format, ...);
void command_progress_end(void);

#define COMMAND_DRIVERS "[--cpu[=gpu] | --gpu | --intel-driver[=PRODUCT]]"
#define COMMAND_DRIVER_HELP                                                                        \
    "  --cpu           ze_cpu, which executes on the CPU, even if there is a GPU\n"                \
    "  --cpu=gpu       the same, with a device that says it is a GPU\n"                            \
    "  --gpu           a GPU or nothing\n"                                                         \
    "  --intel-driver  Intel's newest driver, which needs no GPU (tools/setup --intel-driver\n"    \
    "                  fetches it). =PRODUCT: another GPU than the Arc B580; =PRODUCT,PRODUCT:\n"  \
    "                  several; =list prints them\n"

#endif
