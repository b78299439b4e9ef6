// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_GRAPHS_H
#define ZEPI_TOOL_BENCH_GRAPHS_H

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

#endif
