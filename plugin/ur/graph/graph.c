// SPDX-License-Identifier: MIT
// Graphs that are captured from queues.
#include "core/alloc.h"
#include "graph/capture/capture.h"
#include "graph/dump.h"
#include "ur/command.h"

// ---- Handles ----

struct zepi_ur_graph_callback {
    struct zepi_ur_graph_callback *next;
    ur_exp_graph_destruction_callback_t function;
    void *data;
};

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

static void ur_graph_destroy(void *object)
{
    struct zepi_ur_graph *graph = object;
    zepi_release(graph->graph);
    zepi_release(graph->context);
    while (graph->callbacks) {
        struct zepi_ur_graph_callback *callback = graph->callbacks;
        graph->callbacks = callback->next;
        callback->function(callback->data);
        zepi_free(callback);
    }
}

ZEPI_DEFINE_TYPE(ur_graph, ur_graph_destroy);

static void ur_executable_destroy(void *object)
{
    struct zepi_ur_executable *executable = object;
    zepi_release(executable->source);
}

ZEPI_DEFINE_TYPE(ur_executable, ur_executable_destroy);

ZEPI_UR_DEFINE_HANDLE(graph, ur_exp_graph_handle_t, zepi_ur_graph, UR_RESULT_ERROR_INVALID_GRAPH)
ZEPI_UR_DEFINE_HANDLE(executable, ur_exp_executable_graph_handle_t, zepi_ur_executable,
                      UR_RESULT_ERROR_INVALID_GRAPH)

// NULL without memory (noted).
static struct zepi_ur_graph *create_ur_graph(struct zepi_context *context)
{
    static atomic_uint_fast64_t last_id;
    struct zepi_ur_graph *graph = zepi_object_create(&zepi_ur_graph_type);
    if (!graph)
        return NULL;
    graph->context = zepi_retain(context);
    // Relaxed: each graph has another one.
    graph->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    return graph;
}

// The graph of the core, borrowed; NULL: there is none yet.
static struct zepi_graph *get_core_graph(struct zepi_ur_graph *graph)
{
    zepi_mutex_lock(&graph->mutex);
    struct zepi_graph *core = graph->graph;
    zepi_mutex_unlock(&graph->mutex);
    return core;
}

static enum zepi_graph_state get_state(struct zepi_ur_graph *graph)
{
    const struct zepi_graph *core = get_core_graph(graph);
    return core ? zepi_graph_get_state(core) : ZEPI_GRAPH_OPEN;
}

// ---- Capturing ----

// The first capture that begins makes the graph of the core, for its queue's device.
static zepi_result_t begin_capture_locked(struct zepi_queue *queue, struct zepi_ur_graph *graph)
{
    if (graph->graph)
        return zepi_capture_begin(queue, graph->graph, graph);
    struct zepi_graph *core = zepi_graph_create(queue->context, queue->device);
    if (!core)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    const zepi_result_t result = zepi_capture_begin(queue, core, graph);
    if (result == ZEPI_SUCCESS)
        graph->graph = core;
    else
        zepi_release(core);
    return result;
}

static ur_result_t begin_capture(struct zepi_queue *queue, struct zepi_ur_graph *graph)
{
    const ur_result_t checked = zepi_ur_check_same_context(
        queue->context, graph->context, UR_RESULT_ERROR_INVALID_CONTEXT, "the graph");
    if (checked != UR_RESULT_SUCCESS)
        return checked;
    zepi_mutex_lock(&graph->mutex);
    const zepi_result_t result = begin_capture_locked(queue, graph);
    zepi_mutex_unlock(&graph->mutex);
    return zepi_ur_result_with(result, ZEPI_ERROR_INVALID_VALUE, UR_RESULT_ERROR_INVALID_ARGUMENT);
}

ur_result_t zepi_urQueueBeginGraphCaptureExp(ur_queue_handle_t hQueue)
{
    ur_result_t result = zepi_ur_check_queue(hQueue);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_graph *graph = create_ur_graph(zepi_ur_queue(hQueue)->context);
    if (!graph)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    graph->is_implicit = true;
    result = begin_capture(zepi_ur_queue(hQueue), graph);
    // The capture has a reference.
    zepi_release(graph);
    return result;
}

ur_result_t zepi_urQueueBeginCaptureIntoGraphExp(ur_queue_handle_t hQueue,
                                                 ur_exp_graph_handle_t hGraph)
{
    ur_result_t result;
    if ((result = zepi_ur_check_queue(hQueue)) || (result = zepi_ur_check_graph(hGraph)))
        return result;
    return begin_capture(zepi_ur_queue(hQueue), zepi_ur_graph(hGraph));
}

ur_result_t zepi_urQueueEndGraphCaptureExp(ur_queue_handle_t hQueue, ur_exp_graph_handle_t *phGraph)
{
    void *owner;
    ur_result_t result;
    if ((result = zepi_ur_check_queue(hQueue)) ||
        (result = zepi_ur_check_pointer(phGraph, "phGraph")))
        return result;
    result = zepi_ur_result(zepi_capture_end(zepi_ur_queue(hQueue), &owner));
    struct zepi_ur_graph *graph = owner;
    if (result == UR_RESULT_SUCCESS)
        *phGraph = (ur_exp_graph_handle_t)graph;
    // The host's reference, of a graph that it had no handle of.
    if (result == UR_RESULT_SUCCESS && graph->is_implicit)
        graph->is_implicit = false;
    else
        zepi_release(graph);
    return result;
}

ur_result_t zepi_urQueueIsGraphCaptureEnabledExp(ur_queue_handle_t hQueue, bool *pResult)
{
    ur_result_t result;
    if ((result = zepi_ur_check_queue(hQueue)) ||
        (result = zepi_ur_check_pointer(pResult, "pResult")))
        return result;
    *pResult = zepi_capture_takes(zepi_ur_queue(hQueue), (zepi_wait_list_t){NULL, 0});
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urQueueGetGraphExp(ur_queue_handle_t hQueue, ur_exp_graph_handle_t *phGraph)
{
    ur_result_t result;
    if ((result = zepi_ur_check_queue(hQueue)) ||
        (result = zepi_ur_check_pointer(phGraph, "phGraph")))
        return result;
    void *graph = zepi_capture_get_owner(zepi_ur_queue(hQueue));
    *phGraph = graph;
    zepi_release(graph);
    return graph ? UR_RESULT_SUCCESS
                 : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                                  "the queue is not in capture mode");
}

// ---- Graphs ----

ur_result_t zepi_urGraphCreateExp(ur_context_handle_t hContext, ur_exp_graph_handle_t *phGraph)
{
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, phGraph, "phGraph");
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_graph *graph = create_ur_graph(zepi_ur_context(hContext));
    if (!graph)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    *phGraph = (ur_exp_graph_handle_t)graph;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urGraphDestroyExp(ur_exp_graph_handle_t hGraph)
{
    struct zepi_ur_graph *graph = zepi_ur_graph(hGraph);
    const ur_result_t result = zepi_ur_check_graph(hGraph);
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_mutex_lock(&graph->mutex);
    const uint32_t count = graph->executable_count;
    zepi_mutex_unlock(&graph->mutex);
    if (count > 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                              "the graph has %u executable graphs, which are destroyed first",
                              count);
    // The capture has the only reference to a graph that the host gets as it ends.
    void *hosts = graph->is_implicit ? NULL : graph;
    zepi_retain(graph);
    if (get_state(graph) == ZEPI_GRAPH_CAPTURING)
        zepi_capture_end_of(graph);
    zepi_release(hosts);
    zepi_release(graph);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urGraphIsEmptyExp(ur_exp_graph_handle_t hGraph, bool *pResult)
{
    ur_result_t result;
    if ((result = zepi_ur_check_graph(hGraph)) ||
        (result = zepi_ur_check_pointer(pResult, "pResult")))
        return result;
    struct zepi_graph *core = get_core_graph(zepi_ur_graph(hGraph));
    if (get_state(zepi_ur_graph(hGraph)) == ZEPI_GRAPH_CAPTURE_FAILED)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_GRAPH, "the capture of the graph failed");
    *pResult = !core || zepi_graph_count(core) == 0;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urGraphGetIdExp(ur_exp_graph_handle_t hGraph, uint64_t *pGraphId)
{
    ur_result_t result = zepi_ur_check_graph(hGraph);
    result = result ? result : zepi_ur_check_pointer(pGraphId, "pGraphId");
    if (result == UR_RESULT_SUCCESS)
        *pGraphId = zepi_ur_graph(hGraph)->id;
    return result;
}

ur_result_t zepi_urGraphSetDestructionCallbackExp(ur_exp_graph_handle_t hGraph,
                                                  ur_exp_graph_destruction_callback_t pfnCallback,
                                                  void *pUserData)
{
    ur_result_t result;
    if ((result = zepi_ur_check_graph(hGraph)) ||
        (!pfnCallback && (result = zepi_ur_refuse_null("pfnCallback"))))
        return result;
    struct zepi_ur_graph *graph = zepi_ur_graph(hGraph);
    struct zepi_ur_graph_callback *callback = zepi_allocate(1, sizeof(*callback));
    if (!callback)
        return zepi_ur_fail(zepi_fail_no_memory());
    callback->function = pfnCallback;
    callback->data = pUserData;
    zepi_mutex_lock(&graph->mutex);
    callback->next = graph->callbacks;
    graph->callbacks = callback;
    zepi_mutex_unlock(&graph->mutex);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urGraphDumpContentsExp(ur_exp_graph_handle_t hGraph, const char *filePath)
{
    ur_result_t result;
    if ((result = zepi_ur_check_graph(hGraph)) ||
        (result = zepi_ur_check_pointer(filePath, "filePath")))
        return result;
    return zepi_ur_result(zepi_graph_dump(get_core_graph(zepi_ur_graph(hGraph)), filePath));
}

static ur_result_t refuse_native(ur_result_t checked, const void *out_native, const char *name)
{
    const ur_result_t result = checked ? checked : zepi_ur_check_pointer(out_native, name);
    return result ? result
                  : zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                                   "zepi captures by itself: Level Zero does not know the graph");
}

ur_result_t zepi_urGraphGetNativeHandleExp(ur_exp_graph_handle_t hGraph,
                                           ur_native_handle_t *phNativeGraph)
{
    return refuse_native(zepi_ur_check_graph(hGraph), phNativeGraph, "phNativeGraph");
}

// ---- Executable graphs ----

static ur_result_t check_captured(struct zepi_ur_graph *graph)
{
    switch (get_state(graph)) {
    case ZEPI_GRAPH_CAPTURED:
    case ZEPI_GRAPH_FINALIZED:
        return UR_RESULT_SUCCESS;
    case ZEPI_GRAPH_CAPTURE_FAILED:
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_GRAPH, "the capture of the graph failed");
    default:
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ARGUMENT,
                              "the graph has nothing that was captured, or is being captured");
    }
}

ur_result_t zepi_urGraphInstantiateGraphExp(ur_exp_graph_handle_t hGraph,
                                            ur_exp_executable_graph_handle_t *phExecGraph)
{
    struct zepi_ur_graph *graph = zepi_ur_graph(hGraph);
    ur_result_t result;
    if ((result = zepi_ur_check_graph(hGraph)) ||
        (result = zepi_ur_check_pointer(phExecGraph, "phExecGraph")) ||
        (result = check_captured(graph)))
        return result;
    // The first executable graph has the commands recorded.
    const zepi_result_t finalized = zepi_graph_finalize(graph->graph);
    if (finalized != ZEPI_SUCCESS && finalized != ZEPI_ERROR_WRONG_STATE)
        return zepi_ur_fail(finalized);
    struct zepi_ur_executable *executable = zepi_object_create(&zepi_ur_executable_type);
    if (!executable)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    executable->source = zepi_retain(graph);
    zepi_mutex_lock(&graph->mutex);
    graph->executable_count++;
    zepi_mutex_unlock(&graph->mutex);
    *phExecGraph = (ur_exp_executable_graph_handle_t)executable;
    return UR_RESULT_SUCCESS;
}

// Executions may be under way: their objects go with the graph of the core, which waits for them.
ur_result_t zepi_urGraphExecutableGraphDestroyExp(ur_exp_executable_graph_handle_t hExecutableGraph)
{
    const ur_result_t result = zepi_ur_check_executable(hExecutableGraph);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_graph *graph = zepi_ur_executable(hExecutableGraph)->source;
    zepi_mutex_lock(&graph->mutex);
    graph->executable_count--;
    zepi_mutex_unlock(&graph->mutex);
    zepi_release(hExecutableGraph);
    return UR_RESULT_SUCCESS;
}

ur_result_t
zepi_urGraphExecutableGraphGetNativeHandleExp(ur_exp_executable_graph_handle_t hExecutableGraph,
                                              ur_native_handle_t *phNativeExecutableGraph)
{
    return refuse_native(zepi_ur_check_executable(hExecutableGraph), phNativeExecutableGraph,
                         "phNativeExecutableGraph");
}

ur_result_t zepi_urEnqueueGraphExp(ur_queue_handle_t hQueue,
                                   ur_exp_executable_graph_handle_t hGraph,
                                   ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) || (result = zepi_ur_check_executable(hGraph)))
        return result;
    struct zepi_graph *core = zepi_ur_executable(hGraph)->source->graph;
    if (command.queue->context != core->context || command.queue->device != core->device)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_QUEUE,
                              "the queue is of another context or device than the graph");
    return zepi_ur_command_end(
        &command,
        zepi_capture_execute(core, command.queue, command.wait, zepi_ur_command_event(&command)),
        UR_COMMAND_ENQUEUE_GRAPH_EXP);
}
