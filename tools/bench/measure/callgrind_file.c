// SPDX-License-Identifier: MIT
#include "callgrind_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OBJECTS 512

// Whose code an object file is.
enum owner {
    OWNER_OTHER,
    OWNER_DRIVER,
    OWNER_SHIM,
    OWNER_CPU_DRIVER,
    OWNER_LOADER,
    OWNER_PROGRAM,
    OWNER_PLUGIN
};

struct reader {
    enum owner objects[MAX_OBJECTS]; // by callgrind's numbers
    enum owner caller;               // of the lines that follow
    enum owner callee;               // of the next call
    bool is_call;                    // the next line's cost is a call's
    double all;
    double program;        // in this program itself
    double loader;         // in the loader itself
    double driver;         // calls into the driver
    double plugin;         // calls of this program into it
    double outside;        // calls of it into the loader or a driver
    double shim;           // calls into the shim
    double shim_in_driver; // of these, the driver's own
};

static enum owner owner_of(const char *path)
{
    static const struct {
        const char *name; // how the file's name begins
        enum owner owner;
    } known[] = {{"libze_intel_gpu", OWNER_DRIVER}, {"libigdfcl", OWNER_DRIVER},
                 {"libigc", OWNER_DRIVER},          {"libigdgmm", OWNER_DRIVER},
                 {"libdrm_shim", OWNER_SHIM},       {"libze_cpu", OWNER_CPU_DRIVER},
                 {"libze_loader", OWNER_LOADER},    {"zepi", OWNER_PROGRAM},
                 {"libzepi", OWNER_PLUGIN},         {"libur_adapter_zepi", OWNER_PLUGIN}};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strncmp(name, known[i].name, strlen(known[i].name)) == 0)
            return known[i].owner;
    }
    return OWNER_OTHER;
}

// "(7) /path" the first time, then "(7)".
static enum owner read_object(struct reader *reader, const char *text)
{
    char *end;
    const unsigned long number = text[0] == '(' ? strtoul(text + 1, &end, 10) : MAX_OBJECTS;
    if (number >= MAX_OBJECTS)
        return owner_of(text);
    if (end[0] == ')' && end[1] == ' ')
        reader->objects[number] = owner_of(end + 2);
    return reader->objects[number];
}

static bool is_outside(enum owner owner)
{
    return owner != OWNER_OTHER && owner != OWNER_PROGRAM && owner != OWNER_PLUGIN;
}

static bool is_driver(enum owner owner)
{
    return owner == OWNER_DRIVER || owner == OWNER_CPU_DRIVER;
}

static void add_call(struct reader *reader, double cost)
{
    if (reader->callee == OWNER_SHIM && reader->caller != OWNER_SHIM) {
        reader->shim += cost;
        reader->shim_in_driver += reader->caller == OWNER_DRIVER ? cost : 0;
    }
    if (is_driver(reader->callee) && !is_driver(reader->caller) && reader->caller != OWNER_SHIM)
        reader->driver += cost;
    if (reader->caller == OWNER_PROGRAM && reader->callee == OWNER_PLUGIN)
        reader->plugin += cost;
    if (reader->caller == OWNER_PLUGIN && is_outside(reader->callee))
        reader->outside += cost;
}

// Of a line with a place, then the instructions.
static double cost_of(const char *line)
{
    const char *space = strchr(line, ' ');
    return space ? strtod(space, NULL) : 0;
}

static void read_line(struct reader *reader, const char *line)
{
    if (strncmp(line, "ob=", 3) == 0) {
        reader->caller = read_object(reader, line + 3);
        reader->callee = reader->caller;
    } else if (strncmp(line, "cob=", 4) == 0) {
        reader->callee = read_object(reader, line + 4);
    } else if (strncmp(line, "calls=", 6) == 0) {
        reader->is_call = true;
    } else if (strncmp(line, "summary: ", 9) == 0) {
        reader->all = strtod(line + 9, NULL);
    } else if (reader->is_call) {
        add_call(reader, cost_of(line));
        reader->is_call = false;
        reader->callee = reader->caller;
    } else if (line[0] != '\0' && strchr("0123456789+-*", line[0])) {
        reader->program += reader->caller == OWNER_PROGRAM ? cost_of(line) : 0;
        reader->loader += reader->caller == OWNER_LOADER ? cost_of(line) : 0;
    }
}

bool callgrind_file_read(const char *path, struct callgrind_file *out_file)
{
    struct reader reader = {0};
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    while (getline(&line, &room, file) > 0)
        read_line(&reader, line);
    free(line);
    fclose(file);
    out_file->all = reader.all - reader.program - reader.shim;
    out_file->loader = reader.loader;
    out_file->driver = reader.driver - reader.shim_in_driver;
    out_file->own = reader.plugin - reader.outside;
    return reader.all > 0;
}
