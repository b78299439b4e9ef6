// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_COMMANDS_H
#define ZEPI_TOOL_COMMANDS_H

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

// Prints the first paragraph of a usage text, the synopsis, on stderr, after the message of
// getopt_long. Returns EXIT_USAGE.
int command_refuse(const char *usage);

#endif
