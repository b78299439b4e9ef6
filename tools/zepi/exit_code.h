// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_EXIT_CODE_H
#define ZEPI_TOOL_EXIT_CODE_H

// The exit codes of the program.
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1,    // a build failed, or a number is wrong
    EXIT_USAGE = 2,     // the command line
    EXIT_NO_DEVICE = 3, // no plugin, driver, device or runtime
};

#endif
