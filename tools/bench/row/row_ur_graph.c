// SPDX-License-Identifier: MIT
#include "row_ur.h"

enum action { EXECUTE, UPDATE, FIRST };

// A graph that is kept between loops, in struct ur_row.
static struct ur_row_graph *kept_graph(struct ur_row *ur, unsigned launches, bool is_updatable)
{
    unsigned place = 0;
    for (unsigned size = 1; size < launches; size *= 10)
        place++;
    return &ur->graphs[2 * place + (is_updatable ? 1 : 0)];
}

bool ur_row_graph_record(const struct ur_row *ur, unsigned launches, bool is_in_order,
                         bool is_updatable, struct ur_row_graph *graph)
{
    const ur_dditable_t *table = &ur->table;
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = is_updatable,
                                               .isInOrder = is_in_order};
    ur_exp_kernel_arg_properties_t arguments[3];
    const size_t global = 1024;
    const size_t group = 64;
    ur_row_three_arguments(ur, arguments);
    bool is_good = table->CommandBufferExp.pfnCreateExp(ur->context, ur->device, &desc,
                                                        &graph->handle) == UR_RESULT_SUCCESS;
    for (unsigned i = 0; i < launches && is_good; i++)
        is_good = table->CommandBufferExp.pfnAppendKernelLaunchWithArgsExp(
                      graph->handle, ur->kernels[BENCH_THREE], 1, NULL, &global, &group, 3,
                      arguments, 0, NULL, 0, NULL, 0, NULL, NULL, NULL,
                      is_updatable && i == launches / 2 ? &graph->update.hCommand : NULL) ==
                  UR_RESULT_SUCCESS;
    return is_good && table->CommandBufferExp.pfnFinalizeExp(graph->handle) == UR_RESULT_SUCCESS;
}

static bool execute(const struct ur_row *ur, const struct ur_row_graph *graph)
{
    return ur->table.EnqueueExp.pfnCommandBufferExp(ur->queues[IN_ORDER], graph->handle, 0, NULL,
                                                    NULL) == UR_RESULT_SUCCESS;
}

// Of one pointer, in turns one of two.
static void describe_update(const struct ur_row *ur, struct ur_row_graph *graph)
{
    for (unsigned turn = 0; turn < 2; turn++)
        graph->pointers[turn] = &ur->memory[bench_memory(&bench_arguments[0], turn)];
    graph->pointer = (ur_exp_command_buffer_update_pointer_arg_desc_t){
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_POINTER_ARG_DESC, .argIndex = 0};
    graph->update.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_KERNEL_LAUNCH_DESC;
    graph->update.newWorkDim = 1;
    graph->update.numNewPointerArgs = 1;
    graph->update.pNewPointerArgList = &graph->pointer;
}

static bool update(const struct ur_row *ur, struct ur_row_graph *graph, unsigned turn)
{
    graph->pointer.pNewPointerArg = graph->pointers[turn & 1];
    return ur->table.CommandBufferExp.pfnUpdateKernelLaunchExp(graph->handle, 1, &graph->update) ==
           UR_RESULT_SUCCESS;
}

static bool run_kept(struct ur_row *ur, unsigned i, unsigned launches, bool is_updated)
{
    struct ur_row_graph *graph = kept_graph(ur, launches, is_updated);
    if (!graph->handle) {
        if (!ur_row_graph_record(ur, launches, true, is_updated, graph))
            return false;
        describe_update(ur, graph);
    }
    return (!is_updated || update(ur, graph, i)) && execute(ur, graph);
}

static bool run_first(const struct ur_row *ur, unsigned launches)
{
    struct ur_row_graph graph = {0};
    const bool is_good = ur_row_graph_record(ur, launches, true, false, &graph) &&
                         execute(ur, &graph) &&
                         ur->table.Queue.pfnFinish(ur->queues[IN_ORDER]) == UR_RESULT_SUCCESS;
    ur_row_graph_release(ur, &graph);
    return is_good;
}

bool ur_row_run_graph(void *state, enum bench_operation operation, unsigned i)
{
    static const struct {
        unsigned launches;
        enum action action;
    } graphs[] = {
#define GRAPH(constant, name, title, less, launches, action)                                       \
    [BENCH_##constant - BENCH_FIRST_GRAPH] = {launches, action},
        BENCH_GRAPHS(GRAPH)
#undef GRAPH
    };
    const unsigned launches = graphs[operation - BENCH_FIRST_GRAPH].launches;
    const enum action action = graphs[operation - BENCH_FIRST_GRAPH].action;
    return action == FIRST ? run_first(state, launches)
                           : run_kept(state, i, launches, action == UPDATE);
}

void ur_row_graph_release(const struct ur_row *ur, struct ur_row_graph *graph)
{
    if (graph->handle)
        ur->table.CommandBufferExp.pfnReleaseExp(graph->handle);
    graph->handle = NULL;
}
