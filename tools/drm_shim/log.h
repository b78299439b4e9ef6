// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_LOG_H
#define DRM_SHIM_LOG_H

enum shim_log_level {
    SHIM_LOG_ERROR = 0,
    SHIM_LOG_IOCTL = 1,
    SHIM_LOG_COMMAND = 2,
};

// A line on stderr, if DRM_SHIM_LOG asks for the level. Takes no lock.
void shim_log(enum shim_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// True if the level is logged; for calls in hot places.
int shim_log_has(enum shim_log_level level);

// Always printed, and counted: the driver asked for something that the stand-in does not do, or the
// commands are wrong. Also written to the trace.
void shim_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
