// SPDX-License-Identifier: MIT
#include "base/unload.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(void (*)(void)) functions[ZEPI_UNLOAD_STAGES];

void zepi_at_unload(enum zepi_unload_stage stage, void (*function)(void))
{
    atomic_store_explicit(&functions[stage], function, memory_order_release);
}

__attribute__((destructor)) static void unload(void)
{
    for (int stage = 0; stage < ZEPI_UNLOAD_STAGES; stage++) {
        void (*function)(void) =
            atomic_exchange_explicit(&functions[stage], NULL, memory_order_acq_rel);
        if (function)
            function();
    }
}
