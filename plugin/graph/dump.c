// SPDX-License-Identifier: MIT
#include "graph/dump.h"

#include "copy/copy.h"
#include "core/alloc.h"
#include "launch/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Inside quotes.
static void dump_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc(*text, file);
    }
}

static void dump_sizes(FILE *file, const char *name, const size_t sizes[3], uint32_t count)
{
    fprintf(file, "\\n%s", name);
    for (uint32_t i = 0; i < count; i++)
        fprintf(file, "%s%zu", i > 0 ? " x " : " ", sizes[i]);
}

// Up to 8 bytes, as a number.
static void dump_bytes(FILE *file, const struct zepi_arg *arg)
{
    fprintf(file, "%u bytes", arg->size_bytes);
    if (!zepi_arg_is_large(arg))
        fprintf(file, ", 0x%llx", (unsigned long long)arg->payload);
}

static void dump_argument(FILE *file, const struct zepi_launch *launch, uint32_t index)
{
    const struct zepi_arg *arg = &launch->args[index];
    const uint32_t use = arg->use;
    const void *object = use > 0 ? launch->uses[use - 1].object : NULL;
    fprintf(file, "\\nargument %u: ", index);
    switch ((enum zepi_arg_kind)arg->kind) {
    case ZEPI_ARG_BYTES:
        dump_bytes(file, arg);
        break;
    case ZEPI_ARG_ADDRESS:
        fprintf(file, object ? "buffer %p" : "%p",
                object ? object : (const void *)(uintptr_t)arg->payload);
        break;
    case ZEPI_ARG_SLM:
        fprintf(file, "%u bytes of local memory", arg->size_bytes);
        break;
    case ZEPI_ARG_IMAGE:
        fprintf(file, "image %p", object);
        break;
    case ZEPI_ARG_SAMPLER:
        fprintf(file, "sampler %p", object);
        break;
    }
}

static void dump_launch(FILE *file, const struct zepi_launch *launch)
{
    const size_t none[3] = {0};
    const uint32_t work_dim = launch->work_dim;
    fprintf(file, "launch ");
    dump_text(file, zepi_launch_device_kernel(launch)->name);
    dump_sizes(file, "global size", launch->global_size, work_dim);
    if (!zepi_sizes_are_equal(work_dim, launch->group_size, none))
        dump_sizes(file, "group size", launch->group_size, work_dim);
    if (!zepi_sizes_are_equal(work_dim, launch->global_offset, none))
        dump_sizes(file, "global offset", launch->global_offset, work_dim);
    for (uint32_t i = 0; i < launch->arg_count; i++)
        dump_argument(file, launch, i);
}

static void dump_command(FILE *file, const struct zepi_graph_command *command)
{
    const struct zepi_transfer *transfer = command->transfer ? &command->transfer->transfer : NULL;
    switch (command->kind) {
    case ZEPI_COMMAND_COPY:
        fprintf(file, "copy of %zu bytes\\nto %p\\nfrom %p", transfer->size_bytes, transfer->to,
                transfer->from);
        break;
    case ZEPI_COMMAND_COPY_RECT:
        fprintf(file, "copy of %u x %u x %u bytes\\nto %p\\nfrom %p",
                transfer->to_layout.region.width, transfer->to_layout.region.height,
                transfer->to_layout.region.depth, transfer->to, transfer->from);
        break;
    case ZEPI_COMMAND_COPY_IMAGE:
        fprintf(file, "copy of an image\\nto %p\\nfrom %p",
                transfer->to ? transfer->to : (void *)transfer->to_image,
                transfer->from ? transfer->from : (const void *)transfer->from_image);
        break;
    case ZEPI_COMMAND_FILL:
        fprintf(file, "fill of %zu bytes\\nat %p\\nwith a pattern of %zu", transfer->size_bytes,
                transfer->to, transfer->pattern_size_bytes);
        break;
    case ZEPI_COMMAND_PREFETCH:
    case ZEPI_COMMAND_ADVISE:
        fprintf(file, "%s %zu bytes\\nat %p",
                command->kind == ZEPI_COMMAND_PREFETCH ? "prefetch of" : "advice about",
                transfer->size_bytes, transfer->from);
        break;
    case ZEPI_COMMAND_LAUNCH:
        dump_launch(file, &command->launch->launch);
        break;
    case ZEPI_COMMAND_NATIVE:
        fprintf(file, "native command");
        break;
    default:
        fprintf(file, "marker");
        break;
    }
}

static void dump_commands(FILE *file, const struct zepi_graph_commands *commands)
{
    for (size_t i = 0; i < commands->count; i++) {
        const struct zepi_graph_command *command = commands->list[i];
        fprintf(file, "    c%zu [label=\"%zu: ", i, i);
        dump_command(file, command);
        fprintf(file, "\"];\n");
        for (uint32_t j = 0; j < command->wait_count; j++)
            fprintf(file, "    c%u -> c%zu;\n", command->waits[j], i);
        if (commands->is_in_order && command->wait_count == 0 && i > 0)
            fprintf(file, "    c%zu -> c%zu;\n", i - 1, i);
    }
}

// Owned text, which goes with free().
static char *dump_to_memory(struct zepi_graph *graph, size_t *out_size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, out_size);
    if (!file)
        return NULL;
    fprintf(file, "digraph zepi {\n    node [shape=box];\n");
    if (graph) {
        zepi_mutex_lock(&graph->mutex);
        dump_commands(file, &graph->commands);
        zepi_mutex_unlock(&graph->mutex);
    }
    fprintf(file, "}\n");
    const bool is_whole = !ferror(file);
    if (fclose(file) == 0 && is_whole)
        return text;
    free(text);
    return NULL;
}

zepi_result_t zepi_graph_dump(struct zepi_graph *graph, const char *path)
{
    size_t size;
    char *text = dump_to_memory(graph, &size);
    if (!text)
        return zepi_fail_no_memory();
    FILE *file = fopen(path, "we");
    bool is_written = file && fwrite(text, 1, size, file) == size;
    int reason = errno;
    if (file && fclose(file) != 0 && is_written) {
        is_written = false;
        reason = errno;
    }
    free(text);
    return is_written ? ZEPI_SUCCESS
                      : zepi_fail(ZEPI_ERROR_UNKNOWN, "the graph is not written to '%s': %s", path,
                                  strerror(reason));
}
