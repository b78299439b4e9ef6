// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_TRANSFERS_H
#define ZEPI_TOOL_BENCH_TRANSFERS_H

// Copies and fills of 64 bytes in each kind of queue, which adapters alone are measured with:
// X(name of the constant, name for the command line, title, and four values of
// ../row/row_ur_transfer.c: queue, memory, command, and the host's wait or event).
#define BENCH_TRANSFERS_OF(X, QUEUE, name, words)                                                  \
    X(COPY_##QUEUE, name, words "copy", QUEUE, DEVICE, COPY, PLAIN)                                \
    X(COPY_EVENT_##QUEUE, name "-event", words "copy with event", QUEUE, DEVICE, COPY, EVENT)      \
    X(COPY_WAIT_##QUEUE, name "-wait", words "copy, blocking", QUEUE, DEVICE, COPY, WAIT)          \
    X(READ_##QUEUE, name "-read", words "copy to host memory", QUEUE, HOST, COPY, PLAIN)           \
    X(READ_EVENT_##QUEUE, name "-read-event", words "copy to host memory with event", QUEUE, HOST, \
      COPY, EVENT)                                                                                 \
    X(READ_WAIT_##QUEUE, name "-read-wait", words "copy to host memory, blocking", QUEUE, HOST,    \
      COPY, WAIT)                                                                                  \
    X(FILL_##QUEUE, name "-fill", words "fill", QUEUE, DEVICE, FILL, PLAIN)                        \
    X(FILL_EVENT_##QUEUE, name "-fill-event", words "fill with event", QUEUE, DEVICE, FILL, EVENT)

#define BENCH_TRANSFERS(X)                                                                         \
    BENCH_TRANSFERS_OF(X, IN_ORDER, "transfer-in-order", "in order: ")                             \
    BENCH_TRANSFERS_OF(X, ANY_ORDER, "transfer-any-order", "out of order: ")                       \
    BENCH_TRANSFERS_OF(X, PROFILING, "transfer-profiling", "with profiling: ")

#endif
