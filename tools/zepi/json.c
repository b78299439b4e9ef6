// SPDX-License-Identifier: MIT
#include "json.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Of the messages for "error"; stderr has all.
enum { TEXT_BYTES = 16384 };

static cJSON *printed; // owned
static char text[TEXT_BYTES];
static size_t text_size;
static bool is_asked_for;

static ssize_t write_message(void *unused, const char *bytes, size_t size)
{
    const size_t room = TEXT_BYTES - 1 - text_size;
    const size_t kept = size < room ? size : room;
    (void)unused;
    memcpy(text + text_size, bytes, kept);
    text_size += kept;
    return write(STDERR_FILENO, bytes, size);
}

// Moves the members of one object to the end of another.
static void move_members(cJSON *from, cJSON *to)
{
    while (from && from->child) {
        cJSON *member = cJSON_DetachItemViaPointer(from, from->child);
        cJSON_AddItemToObject(to, member->string, member);
    }
}

static void print_at_end(int status, void *unused)
{
    (void)unused;
    if (!is_asked_for || (!printed && status == 0))
        return; // standard output may be a file's
    cJSON *whole = cJSON_CreateObject();
    cJSON_AddStringToObject(whole, "zepi", ZEPI_PROJECT_VERSION);
    if (status != 0) {
        cJSON *error = cJSON_AddObjectToObject(whole, "error");
        while (text_size > 0 && text[text_size - 1] == '\n')
            text_size--;
        text[text_size] = '\0';
        cJSON_AddNumberToObject(error, "code", status);
        cJSON_AddStringToObject(error, "text", text);
    }
    move_members(printed, whole);
    char *line = cJSON_Print(whole);
    if (line)
        puts(line);
    cJSON_free(line);
    cJSON_Delete(whole);
    cJSON_Delete(printed);
    printed = NULL;
}

void json_begin(void)
{
    FILE *messages = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_message});
    if (messages) {
        setvbuf(messages, NULL, _IONBF, 0);
        stderr = messages;
    }
    on_exit(print_at_end, NULL);
}

void json_ask(void)
{
    is_asked_for = true;
}

bool json_is_asked_for(void)
{
    return is_asked_for;
}

void json_print(cJSON *document)
{
    cJSON_Delete(printed);
    printed = document;
}

cJSON *json_add_object(cJSON *array)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(array, object);
    return object;
}

const char *json_text(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    return item && item->valuestring ? item->valuestring : "";
}

cJSON *json_value(const char *value)
{
    cJSON *parsed = cJSON_ParseWithOpts(value, NULL, 1);
    const bool is_plain = cJSON_IsNumber(parsed) || cJSON_IsBool(parsed);
    cJSON_Delete(parsed);
    // Not the parsed one, which is a double.
    return is_plain ? cJSON_CreateRaw(value) : cJSON_CreateString(value);
}

const char *json_label(const char *name, char label[64])
{
    snprintf(label, 64, "%s", strncmp(name, "is_", 3) == 0 ? name + 3 : name);
    for (char *underscore = label; (underscore = strchr(underscore, '_'));)
        *underscore = ' ';
    return label;
}
