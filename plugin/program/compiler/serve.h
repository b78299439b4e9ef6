// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_COMPILER_SERVE_H
#define ZEPI_PROGRAM_COMPILER_SERVE_H

// All of the program zepi-compiler: builds device code once, for the process that has started it.
// It comes up on the same drivers, since it has the same environment. Takes the arguments of
// main(), and returns an exit code if zepi of this version did not start it.
int zepi_compiler_serve(int argument_count, char **arguments);

#endif
