// SPDX-License-Identifier: MIT
#include "file_bytes.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool fail(const char *path, int error)
{
    fprintf(stderr, "zepi: %s: %s\n", path, strerror(error));
    return false;
}

static bool read_file(const char *path, FILE *file, struct file_bytes *out_file)
{
    size_t capacity = 65536;
    size_t size = 0;
    unsigned char *bytes = malloc(capacity + 1);
    if (!file) {
        free(bytes);
        return fail(path, errno);
    }
    while (bytes) {
        const size_t got = fread(bytes + size, 1, capacity - size, file);
        size += got;
        if (got == 0)
            break;
        if (size == capacity) {
            unsigned char *larger = realloc(bytes, 2 * capacity + 1);
            if (!larger)
                free(bytes);
            bytes = larger;
            capacity *= 2;
        }
    }
    const int error = !bytes ? ENOMEM : ferror(file) ? errno : 0;
    if (file != stdin)
        fclose(file);
    if (error) {
        free(bytes);
        return fail(path, error);
    }
    bytes[size] = '\0';
    *out_file = (struct file_bytes){bytes, size};
    return true;
}

bool file_read(const char *path, struct file_bytes *out_file)
{
    static struct file_bytes input; // standard input, which can be read once
    if (strcmp(path, "-") != 0)
        return read_file(path, fopen(path, "rb"), out_file);
    if (!input.bytes && !read_file(path, stdin, &input))
        return false;
    *out_file = (struct file_bytes){malloc(input.size_bytes + 1), input.size_bytes};
    if (!out_file->bytes)
        return fail(path, ENOMEM);
    memcpy(out_file->bytes, input.bytes, input.size_bytes + 1);
    return true;
}

bool file_check_output(const char *path)
{
    char folder[PATH_MAX];
    if (strcmp(path, "-") == 0 || access(path, W_OK) == 0)
        return true;
    const int error = errno;
    snprintf(folder, sizeof(folder), "%s", path);
    return (error == ENOENT && access(dirname(folder), W_OK | X_OK) == 0) || fail(path, error);
}

bool file_write(const char *path, const void *bytes, size_t size_bytes)
{
    const bool is_output = strcmp(path, "-") == 0;
    FILE *file = is_output ? stdout : fopen(path, "wb");
    if (!file)
        return fail(path, errno);
    const bool is_written = fwrite(bytes, 1, size_bytes, file) == size_bytes;
    const int error = errno;
    const bool is_closed = is_output ? fflush(file) == 0 : fclose(file) == 0;
    return (is_written && is_closed) || fail(path, error);
}

void file_show(const char *path)
{
    char text[4096];
    size_t length;
    FILE *file = fopen(path, "re");
    while (file && (length = fread(text, 1, sizeof(text), file)) > 0)
        fwrite(text, 1, length, stderr);
    if (file)
        fclose(file);
}
