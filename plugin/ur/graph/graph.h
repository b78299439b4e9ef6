// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_GRAPH_GRAPH_H
#define ZEPI_UR_GRAPH_GRAPH_H

#include "graph/capture/capture.h"
#include "ur/handles.h"

struct zepi_ur_graph_callback;

// A graph that is captured, which is of a context until a capture says of which device. Its
// executable graphs are handles of one graph of the core: executions of all follow each other.
struct zepi_ur_graph {
    struct zepi_object object;
    struct zepi_context *context; // retained
    uint64_t id;
    struct zepi_mutex mutex;   // guards the members below; a capture alone is begun under it
    struct zepi_graph *graph;  // retained; NULL: no capture has begun
    bool is_implicit;          // the host gets it as the capture ends
    uint32_t executable_count; // of handles
    struct zepi_ur_graph_callback *callbacks; // owned
};

struct zepi_ur_executable {
    struct zepi_object object;
    struct zepi_ur_graph *source; // retained
};

extern const struct zepi_type zepi_ur_graph_type;
extern const struct zepi_type zepi_ur_executable_type;

#endif
