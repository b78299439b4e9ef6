// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_REPORT_DEVICE_H
#define ZEPI_TOOL_REPORT_DEVICE_H

#include "../host.h"

// The part of `zepi report` about one device of a driver: the nearest of the products that zepi is
// tested as, and a table of times of five operations of tools/bench through zepi's table, in
// nanoseconds. Returns an exit code.
int report_device(enum host_driver driver);

#endif
