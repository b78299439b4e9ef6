// SPDX-License-Identifier: MIT
#include "argument.h"

#include "image_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(const char *text, const char *expected)
{
    fprintf(stderr, "zepi: --arg %s: expected %s\n", text, expected);
    return EXIT_USAGE;
}

static bool parse_count(const char *text, uint64_t *out_count)
{
    return scalar_parse(ZEPI_SCALAR_UINT64, text, out_count) && *out_count > 0;
}

enum fill { FILL_ZEROS, FILL_VALUE, FILL_RAMP, FILL_FILE };
static const char *const fill_words[] = {
    [FILL_ZEROS] = "", [FILL_VALUE] = "fill=", [FILL_RAMP] = "ramp=", [FILL_FILE] = "file="};

static int fill_from_file(struct argument *argument, const char *path)
{
    struct file_bytes file;
    if (!file_read(path, &file))
        return EXIT_FAILED;
    const bool fits = file.size_bytes == argument->size_bytes;
    if (fits)
        memcpy(argument->memory, file.bytes, file.size_bytes);
    else
        fprintf(stderr, "zepi: --arg %s: %s has %zu bytes, expected %zu\n", argument->text, path,
                file.size_bytes, argument->size_bytes);
    free(file.bytes);
    return fits ? EXIT_OK : EXIT_FAILED;
}

static int fill(struct argument *argument, enum fill fill, const char *text)
{
    const size_t size = scalar_size(argument->type);
    memset(argument->memory, 0, argument->size_bytes);
    if (fill == FILL_RAMP)
        return scalar_ramp(argument->type, text, argument->count, argument->memory)
                   ? EXIT_OK
                   : refuse(argument->text, "ramp=START:STEP, every value one of the type");
    if (fill == FILL_FILE)
        return fill_from_file(argument, text);
    if (fill == FILL_ZEROS)
        return EXIT_OK;
    if (!scalar_parse(argument->type, text, argument->value))
        return refuse(argument->text, "fill=VALUE of the buffer's type");
    for (uint64_t i = 0; i < argument->count; i++)
        memcpy((uint8_t *)argument->memory + i * size, argument->value, size);
    return EXIT_OK;
}

// The way in which a piece fills the buffer; FILL_ZEROS: it is none.
static enum fill fill_of(const char *piece)
{
    enum fill fill = FILL_FILE;
    while (fill > FILL_ZEROS && strncmp(piece, fill_words[fill], 5) != 0)
        fill--;
    return fill;
}

static int parse_buffer(struct argument *argument, char *copy, enum fill *out_fill,
                        const char **out_text)
{
    char *rest = copy + strlen("buffer:");
    char *head = strsep(&rest, ",");
    char *colon = strchr(head, ':');
    if (!colon)
        return refuse(argument->text, "buffer:TYPE:COUNT");
    *colon = '\0';
    argument->type = scalar_type(head);
    if (argument->type == 0)
        return refuse(argument->text, scalar_type_names);
    if (!parse_count(colon + 1, &argument->count) ||
        __builtin_mul_overflow(argument->count, scalar_size(argument->type), &argument->size_bytes))
        return refuse(argument->text, "a count of elements above 0");
    while (rest) {
        char *piece = strsep(&rest, ",");
        const enum fill fill = fill_of(piece);
        if (fill != FILL_ZEROS && *out_fill != FILL_ZEROS)
            return refuse(argument->text, "one of fill=, ramp= and file=");
        if (fill != FILL_ZEROS) {
            *out_fill = fill;
            *out_text = piece + 5;
        } else if (strcmp(piece, "out") == 0 || strncmp(piece, "out=", 4) == 0) {
            argument->is_output = true;
            // Of the command line's own string, which stays.
            argument->output = piece[3] ? argument->text + (piece - copy) + 4 : NULL;
        } else {
            return refuse(argument->text, "fill=, ramp=, file= or out after the count");
        }
    }
    if (argument->output && (!argument->output[0] || strchr(argument->output, ',')))
        return refuse(argument->text, "out=FILE as the last piece");
    return EXIT_OK;
}

static int init_buffer(struct argument *argument, const struct host_device *host)
{
    char *copy = strdup(argument->text);
    enum fill way = FILL_ZEROS;
    const char *text = NULL;
    if (!copy)
        return EXIT_FAILED;
    argument->kind = ZEPI_ARGUMENT_POINTER;
    int code = parse_buffer(argument, copy, &way, &text);
    if (code == EXIT_OK &&
        zepi.usm_allocate(host->context, host->info.has_shared_usm ? host->device : NULL,
                          host->info.has_shared_usm ? ZEPI_USM_SHARED : ZEPI_USM_HOST,
                          argument->size_bytes, 0, &argument->memory) != ZEPI_SUCCESS)
        code = host_fail(argument->text);
    if (code == EXIT_OK)
        code = fill(argument, way, text);
    free(copy);
    return code;
}

int argument_init(struct argument *argument, const struct host_device *host, const char *text)
{
    *argument = (struct argument){.text = text};
    const char *colon = strchr(text, ':');
    char type[8];
    if (!colon)
        return refuse(text, "TYPE:VALUE, local:BYTES or buffer:TYPE:COUNT");
    if (strncmp(text, "buffer:", 7) == 0)
        return init_buffer(argument, host);
    if (strncmp(text, "local:", 6) == 0) {
        uint64_t size_bytes;
        if (!parse_count(colon + 1, &size_bytes))
            return refuse(text, "a number of bytes above 0");
        argument->kind = ZEPI_ARGUMENT_LOCAL;
        argument->size_bytes = size_bytes;
        return EXIT_OK;
    }
    snprintf(type, sizeof(type), "%.*s", (int)(colon - text), text);
    argument->kind = ZEPI_ARGUMENT_VALUE;
    argument->type = scalar_type(type);
    if (argument->type == 0)
        return refuse(text, scalar_type_names);
    argument->size_bytes = scalar_size(argument->type);
    return scalar_parse(argument->type, colon + 1, argument->value)
               ? EXIT_OK
               : refuse(text, "a value of the type");
}

void argument_finish(struct argument *argument, const struct host_device *host)
{
    if (argument->memory)
        zepi.usm_free(host->context, argument->memory);
}

zepi_argument_t argument_for_launch(const struct argument *argument)
{
    const void *value = argument->kind == ZEPI_ARGUMENT_VALUE     ? argument->value
                        : argument->kind == ZEPI_ARGUMENT_POINTER ? argument->memory
                                                                  : NULL;
    return (zepi_argument_t){.kind = argument->kind,
                             .size_bytes =
                                 argument->kind == ZEPI_ARGUMENT_POINTER ? 0 : argument->size_bytes,
                             .value = value};
}

int argument_write(const struct argument *argument)
{
    return file_write(argument->output, argument->memory, argument->size_bytes) ? EXIT_OK
                                                                                : EXIT_FAILED;
}
