// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_UNLOAD_H
#define ZEPI_CORE_UNLOAD_H

#include <stdbool.h>

// The memory that dlclose frees: that which the process shares, after every object was released.
// Nothing here calls a driver. The order is that of the enumerators, whatever the order of
// registration. The end of the process gives back nothing: other threads may still run in the
// plugin, and the system takes the memory anyway.
enum zepi_unload_stage {
    ZEPI_UNLOAD_UNITS,   // translation units that are still registered
    ZEPI_UNLOAD_ADAPTER, // platforms, root devices
    ZEPI_UNLOAD_CACHE,   // native code, blob images
    ZEPI_UNLOAD_OBJECTS, // the memory of objects
    ZEPI_UNLOAD_USM,     // the table of USM
    ZEPI_UNLOAD_REGIONS, // the regions that the table led to
    ZEPI_UNLOAD_THREADS,
    ZEPI_UNLOAD_STAGES,
};

// One function a stage. Thread-safe.
void zepi_at_unload(enum zepi_unload_stage stage, void (*function)(void));

// Whether the process ends: nothing is given back then. False for one that never asked for
// anything.
bool zepi_process_is_ending(void);

// exit() waits two seconds for holds, and ends the process without further handlers if there still
// are some: a compiler's destructors do not run under a build. False once it has begun: destructors
// of threads, which run first, may have taken what the compiler needs. A thread may have several.
// Thread-safe.
bool zepi_process_hold(void);
void zepi_process_let_go(void);
// Once the libraries are loaded, whose destructors are to run after the wait.
void zepi_process_watch_end(void);

#endif
