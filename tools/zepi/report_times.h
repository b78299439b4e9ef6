// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_REPORT_TIMES_H
#define ZEPI_TOOL_REPORT_TIMES_H

#include "host.h"

// Times of five operations through zepi's table on a driver, in nanoseconds: a short bench for
// `zepi report`. zepi-bench (tools/bench) compares and counts. Prints a table; returns an exit
// code.
int report_times(enum host_driver driver);

#endif
