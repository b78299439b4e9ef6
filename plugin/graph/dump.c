// SPDX-License-Identifier: MIT
#include "graph/dump.h"

#include "copy/image_copy.h"
#include "core/alloc.h"
#include "launch/kernel.h"
#include "memory/image.h"

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

// Images and samplers stand as values, of the driver's handle. Native code does not tell what its
// arguments are, and the launch does not hold every object. NULL: it is neither.
static const char *name_pixel_object(const struct zepi_graph *graph,
                                     const struct zepi_graph_launch *launch, uint32_t index)
{
    const struct zepi_device_kernel *device_kernel =
        zepi_graph_device_kernel(graph, launch->kernel);
    const void *object = launch->memory[index].object;
    const uint8_t kind = index < device_kernel->argument_count
                             ? device_kernel->arguments[index].kind
                             : ZEPI_SPIRV_ARGUMENT_VALUE;
    if (kind == ZEPI_SPIRV_ARGUMENT_IMAGE || zepi_object_is(object, &zepi_image_type))
        return "image";
    return kind == ZEPI_SPIRV_ARGUMENT_SAMPLER || zepi_object_is(object, &zepi_sampler_type)
               ? "sampler"
               : NULL;
}

// Up to 8 bytes, as a number. An object has a name, and the host's handle if that is known.
static void dump_value(FILE *file, const zepi_argument_t *argument, const char *name,
                       const void *object)
{
    uint64_t value = 0;
    const bool has_number = argument->value && argument->size_bytes <= sizeof(value);
    if (has_number)
        memcpy(&value, argument->value, argument->size_bytes);
    if (name && object)
        fprintf(file, "%s %p", name, object);
    else if (name)
        fprintf(file, "%s 0x%llx", name, (unsigned long long)value);
    else if (has_number)
        fprintf(file, "%zu bytes, 0x%llx", argument->size_bytes, (unsigned long long)value);
    else
        fprintf(file, "%zu bytes", argument->size_bytes);
}

static void dump_argument(FILE *file, const struct zepi_graph *graph,
                          const struct zepi_graph_launch *launch, uint32_t index)
{
    const zepi_argument_t *argument = &launch->arguments[index];
    fprintf(file, "\\nargument %u: ", index);
    switch (argument->kind) {
    case ZEPI_ARGUMENT_POINTER:
        fprintf(file, "%p", argument->value);
        break;
    case ZEPI_ARGUMENT_BUFFER:
        fprintf(file, "buffer %p", argument->value);
        break;
    case ZEPI_ARGUMENT_LOCAL:
        fprintf(file, "%zu bytes of local memory", argument->size_bytes);
        break;
    default:
        dump_value(file, argument, name_pixel_object(graph, launch, index),
                   launch->memory[index].object);
        break;
    }
}

static void dump_launch(FILE *file, const struct zepi_graph *graph,
                        const struct zepi_graph_launch *launch)
{
    const zepi_launch_desc_t *desc = &launch->desc;
    const size_t none[3] = {0};
    fprintf(file, "launch ");
    dump_text(file, launch->kernel->name);
    dump_sizes(file, "global size", desc->global_size, desc->work_dim);
    if (memcmp(desc->group_size, none, sizeof(none)) != 0)
        dump_sizes(file, "group size", desc->group_size, desc->work_dim);
    if (memcmp(desc->global_offset, none, sizeof(none)) != 0)
        dump_sizes(file, "global offset", desc->global_offset, desc->work_dim);
    for (uint32_t i = 0; i < desc->argument_count; i++)
        dump_argument(file, graph, launch, i);
}

static void dump_command(FILE *file, const struct zepi_graph_command *command)
{
    switch (command->kind) {
    case ZEPI_GRAPH_COPY:
        fprintf(file, "copy of %zu bytes\\nto %p\\nfrom %p", command->size_bytes,
                (void *)command->to, (const void *)command->from);
        break;
    case ZEPI_GRAPH_COPY_RECT:
        fprintf(file, "copy of %u x %u x %u bytes\\nto %p\\nfrom %p",
                command->to_layout.region.width, command->to_layout.region.height,
                command->to_layout.region.depth, (void *)command->to, (const void *)command->from);
        break;
    case ZEPI_GRAPH_COPY_IMAGE:
        fprintf(file, "copy of an image\\nto %p\\nfrom %p",
                command->image_copy->to ? (void *)command->image_copy->to
                                        : command->image_copy->to_memory,
                command->image_copy->from ? (const void *)command->image_copy->from
                                          : command->image_copy->from_memory);
        break;
    case ZEPI_GRAPH_FILL:
        fprintf(file, "fill of %zu bytes\\nat %p\\nwith a pattern of %zu", command->size_bytes,
                (void *)command->to, command->pattern_size_bytes);
        break;
    case ZEPI_GRAPH_PREFETCH:
    case ZEPI_GRAPH_ADVISE:
        fprintf(file, "%s %zu bytes\\nat %p",
                command->kind == ZEPI_GRAPH_PREFETCH ? "prefetch of" : "advice about",
                command->size_bytes, (const void *)command->from);
        break;
    case ZEPI_GRAPH_LAUNCH:
        dump_launch(file, command->graph, command->launch);
        break;
    case ZEPI_GRAPH_NATIVE:
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
        zepi_mutex_lock(&graph->turn);
        zepi_mutex_lock(&graph->mutex);
        dump_commands(file, &graph->commands);
        zepi_mutex_unlock(&graph->mutex);
        zepi_mutex_unlock(&graph->turn);
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
