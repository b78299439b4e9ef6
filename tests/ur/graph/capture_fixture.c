// SPDX-License-Identifier: MIT
#include "capture_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

void cap_fill(ur_queue_handle_t queue, float *memory, float value, ur_event_handle_t wait,
              ur_event_handle_t *out_event)
{
    UR_OK(urEnqueueUSMFill(queue, memory, sizeof(value), &value, ITEMS * sizeof(float),
                           wait != NULL, wait ? &wait : NULL, out_event));
}

void cap_copy(ur_queue_handle_t queue, float *to, const float *from, ur_event_handle_t wait,
              ur_event_handle_t *out_event)
{
    UR_OK(urEnqueueUSMMemcpy(queue, false, to, from, ITEMS * sizeof(float), wait != NULL,
                             wait ? &wait : NULL, out_event));
}

void cap_add(ur_queue_handle_t queue, float *sum, float *a, float *b, ur_event_handle_t wait,
             ur_event_handle_t *out_event)
{
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, b),
                                                        UR_POINTER(2, sum)};
    UR_OK(ur_launch(queue, cb_add, ITEMS, 3, arguments, wait != NULL, wait ? &wait : NULL,
                    out_event));
}

void cap_mark(ur_queue_handle_t queue, ur_event_handle_t wait, ur_event_handle_t *out_event)
{
    UR_OK(urEnqueueEventsWait(queue, wait != NULL, wait ? &wait : NULL, out_event));
}

bool cap_is_on(ur_queue_handle_t queue)
{
    bool is_on;
    UR_OK(urQueueIsGraphCaptureEnabledExp(queue, &is_on));
    return is_on;
}

graph_t cap_begin(ur_queue_handle_t queue)
{
    graph_t graph;
    UR_OK(urGraphCreateExp(gear.context, &graph));
    UR_OK(urQueueBeginCaptureIntoGraphExp(queue, graph));
    cr_assert(cap_is_on(queue));
    return graph;
}

void cap_end(ur_queue_handle_t queue, graph_t graph)
{
    graph_t ended = NULL;
    UR_OK(urQueueEndGraphCaptureExp(queue, &ended));
    cr_assert_eq(ended, graph);
    cr_assert_not(cap_is_on(queue));
}

executable_t cap_instantiate(graph_t graph)
{
    executable_t executable;
    UR_OK(urGraphInstantiateGraphExp(graph, &executable));
    return executable;
}

void cap_run(ur_queue_handle_t queue, executable_t executable)
{
    UR_OK(urEnqueueGraphExp(queue, executable, 0, NULL, NULL));
    UR_OK(urQueueFinish(queue));
}

void cap_destroy(graph_t graph, executable_t executable)
{
    if (executable)
        UR_OK(urGraphExecutableGraphDestroyExp(executable));
    UR_OK(urGraphDestroyExp(graph));
}

char *cap_dump(graph_t graph)
{
    const char *path = test_env_scratch_path("graph.dot");
    UR_OK(urGraphDumpContentsExp(graph, path));
    struct test_bytes bytes = test_env_read_file(path);
    char *text = strndup((const char *)bytes.data, bytes.size_bytes);
    free(bytes.data);
    return text;
}

void cap_expect_dump(graph_t graph, const char *words)
{
    char *text = cap_dump(graph);
    cr_assert(strstr(text, words), "'%s' is not in %s", words, text);
    free(text);
}
