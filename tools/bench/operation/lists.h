// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_LISTS_H
#define ZEPI_TOOL_BENCH_LISTS_H

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

// Command buffers of launches with 3 arguments, in order, which adapters alone are measured with:
// X(name of the constant, name for the command line, title, how many times shorter loops are, and
// two values of ../row/row_ur_graph.c: how many launches there are, the action).
#define BENCH_GRAPHS_OF(X, COUNT, LESS, name, words)                                               \
    X(GRAPH_##COUNT, "graph-execute-" name, "graph of " words ": execution", 1, COUNT, EXECUTE)    \
    X(GRAPH_UPDATE_##COUNT, "graph-update-" name, "graph of " words ": update of one, execution",  \
      LESS, COUNT, UPDATE)                                                                         \
    X(GRAPH_FIRST_##COUNT, "graph-first-" name,                                                    \
      "graph of " words ": recorded, executed once, released", LESS, COUNT, FIRST)

#define BENCH_GRAPHS(X)                                                                            \
    BENCH_GRAPHS_OF(X, 1, 1, "1", "1 kernel")                                                      \
    BENCH_GRAPHS_OF(X, 10, 10, "10", "10 kernels")                                                 \
    BENCH_GRAPHS_OF(X, 100, 100, "100", "100 kernels")                                             \
    BENCH_GRAPHS_OF(X, 1000, 200, "1000", "1,000 kernels")

// What programs do in a step, to its end: memory of all sizes, work with the wait for it, events
// with times. Adapters alone are measured with these: X(name of the constant, name for the command
// line, title, how many times shorter loops are, and the members of struct cycle in
// ../row/row_ur_cycle.c).
#define BENCH_KIB ((size_t)1 << 10)
#define BENCH_MIB ((size_t)1 << 20)

#define BENCH_MEMORY_OF(X, KIND, name)                                                             \
    X(MEMORY_##KIND##_4K, "memory-" name "-4k", "allocate and free 4 KiB, " name, 1,               \
      .run = allocate, .kind = KIND, .bytes = 4 * BENCH_KIB)                                       \
    X(MEMORY_##KIND##_512K, "memory-" name "-512k", "allocate and free 512 KiB, " name, 1,         \
      .run = allocate, .kind = KIND, .bytes = 512 * BENCH_KIB)                                     \
    X(MEMORY_##KIND##_1M, "memory-" name "-1m", "allocate and free 1 MiB, " name, 1,               \
      .run = allocate, .kind = KIND, .bytes = BENCH_MIB)                                           \
    X(MEMORY_##KIND##_64M, "memory-" name "-64m", "allocate and free 64 MiB, " name, 20,           \
      .run = allocate, .kind = KIND, .bytes = 64 * BENCH_MIB)                                      \
    X(MEMORY_##KIND##_1G, "memory-" name "-1g", "allocate and free 1 GiB, " name, 40,              \
      .run = allocate, .kind = KIND, .bytes = 1024 * BENCH_MIB)                                    \
    X(MEMORY_##KIND##_RANDOM, "memory-" name "-random",                                            \
      "allocate and free 1 to 4 MiB, random, " name, 1, .run = allocate_random, .kind = KIND)      \
    X(MEMORY_##KIND##_BATCH, "memory-" name "-batch", "512 allocations of 1 KiB, freed, " name,    \
      100, .run = allocate_batch, .kind = KIND, .bytes = BENCH_KIB)

#define BENCH_FINISH_OF(X, QUEUE, name, words)                                                     \
    X(FINISH_LAUNCH_##QUEUE, "finish-1-" name, words ": launch, finish", 2,                        \
      .run = launch_and_finish, .queue = QUEUE, .commands = 1)                                     \
    X(FINISH_LAUNCHES_##QUEUE, "finish-10-" name, words ": 10 launches, finish", 10,               \
      .run = launch_and_finish, .queue = QUEUE, .commands = 10)                                    \
    X(FINISH_COPY_##QUEUE, "finish-bytes-" name, words ": copy of 512 bytes, finish", 2,           \
      .run = copy_and_finish, .queue = QUEUE, .bytes = 512)                                        \
    X(FINISH_GRAPH_##QUEUE, "finish-recorded-" name, words ": graph of 32 kernels, finish", 20,    \
      .run = execute_and_finish, .queue = QUEUE, .commands = 32)

#define BENCH_CYCLES(X)                                                                            \
    BENCH_MEMORY_OF(X, DEVICE, "device")                                                           \
    BENCH_MEMORY_OF(X, HOST, "host")                                                               \
    BENCH_MEMORY_OF(X, SHARED, "shared")                                                           \
    X(BUFFER_1M, "buffer-1m", "buffer of 1 MiB, written, read, released", 20, .run = use_buffer,   \
      .bytes = BENCH_MIB)                                                                          \
    BENCH_FINISH_OF(X, IN_ORDER, "in-order", "in order")                                           \
    BENCH_FINISH_OF(X, ANY_ORDER, "any-order", "out of order")                                     \
    X(FINISH_QUEUES, "finish-queues", "4 queues: launch in each, finish each", 8,                  \
      .run = launch_in_queues)                                                                     \
    X(TIMES_IN_ORDER, "times-in-order", "in order: 8 launches, wait, times of each", 20,           \
      .run = launch_with_times, .queue = PROFILING)                                                \
    X(TIMES_ANY_ORDER, "times-any-order", "out of order: 8 launches, wait, times of each", 20,     \
      .run = launch_with_times, .queue = PROFILING_ANY_ORDER)                                      \
    X(TIMES_COLD, "times-cold", "new queue, 8 launches, wait, times of each", 40,                  \
      .run = launch_with_times_cold)

#endif
