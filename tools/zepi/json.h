// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_JSON_H
#define ZEPI_TOOL_JSON_H

#include <cjson/cJSON.h>

#include <stdbool.h>

// --json: a command prints one object on standard output when the process ends. It has "zepi", the
// version, and where the exit code is not 0, "error" with this code and the text of stderr.

// Before the first message.
void json_begin(void);

// --json is among the arguments.
void json_ask(void);
bool json_is_asked_for(void);

// The command's document, which is consumed; it is printed if --json was asked for. The last one
// counts.
void json_print(cJSON *document);

// A new object at the end of an array.
cJSON *json_add_object(cJSON *array);

// A member that is a string, or a number as it was written; "" if there is none.
const char *json_text(const cJSON *object, const char *name);

// A number or truth value of any size, exactly as the text has it; a string for "inf" and "nan".
cJSON *json_value(const char *text);

// The name of a member as text for people has it: "is_disk_on" is "disk on". In `label`.
const char *json_label(const char *name, char label[64]);

#endif
