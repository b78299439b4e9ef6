// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_LOG_H
#define DRM_SHIM_LOG_H

// A line on stderr and in the trace, which is counted: the driver asked for something that the
// stand-in does not do, or the commands are wrong.
void shim_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
