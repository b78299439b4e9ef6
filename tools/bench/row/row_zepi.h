// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_ROW_ZEPI_H
#define ZEPI_TOOL_BENCH_ROW_ZEPI_H

#include "../operation/bench.h"
#include "tools/zepi/host.h"

// The operations through the plugin's table.

struct zepi_row {
    struct host_device host; // with an in-order queue
    zepi_queue_t second;     // of the second thread
    zepi_queue_t out_of_order;
    zepi_module_t executable; // of kernels/bench.cl
    zepi_kernel_t kernels[BENCH_KERNEL_COUNT];
    void *memory[BENCH_MEMORIES];
    zepi_buffer_t buffer;
    zepi_event_t last; // of the last launch that waits for the one before, or NULL
};

// Loads the plugin and makes the objects of the operations. Returns an exit code after a message.
int zepi_row_open(struct zepi_row *row, enum host_driver driver);
void zepi_row_close(struct zepi_row *row); // a zeroed struct is fine

// The operations with these objects.
struct bench_row zepi_row_of(struct zepi_row *row);

#endif
