// SPDX-License-Identifier: MIT
// The functions that this adapter refuses: CMakeLists.txt has the list, with these reasons.
#include "ur/check.h"

#include <ur_refused.h>

#define NO_CALLBACKS "Level Zero has no callbacks of events"
#define NO_KERNEL_CONSTANTS "constants are set on programs: Level Zero has them on modules"
#define NO_PIPES "Level Zero has no pipes"
#define NO_BINDLESS_IMAGES                                                                         \
    "kernels with bindless images run on no driver that zepi was tried on: the OpenCL CPU "        \
    "runtime "                                                                                     \
    "refuses the capability of their SPIR-V (6528, BindlessImagesINTEL)"
#define NO_SEMAPHORES                                                                              \
    "no driver that zepi was tried on takes a semaphore of another interface "                     \
    "(zeDeviceImportExternalSemaphoreExt returns UNSUPPORTED_FEATURE; quirk semaphores-refused)"
#define UNSHARED_EVENTS                                                                            \
    "no driver that zepi was tried on shares the state of an event as the header wants it "        \
    "(zexCounterBasedEventOpenIpcHandle): a signal of the opened event does not reach the other "  \
    "one, and an event that was never signalled has no status (quirk unshared-events)"
#define NO_COMMAND_EVENTS                                                                          \
    "a single command of a command buffer neither waits for events nor has one; executions do"

#define REFUSE(function, reason, parameters)                                                       \
    ur_result_t zepi_##function parameters                                                         \
    {                                                                                              \
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE, "%s: %s", #function, reason);   \
    }
ZEPI_UR_REFUSED(REFUSE)
