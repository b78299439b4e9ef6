// SPDX-License-Identifier: MIT
#include "module_build.h"

#include <stdlib.h>
#include <string.h>

// Below OpenCL 2.0 the runtime lacks atomic loads and stores through generic pointers. From then on
// it expects groups of different sizes, which Level Zero does not have.
static const char always[] = "-cl-std=CL3.0 -cl-uniform-work-group-size ";

struct flag {
    const char *name;   // whole, or a beginning that ends in '*'
    const char *option; // NULL: has no meaning here and is dropped; "=": passed on
    bool has_value;     // the next word belongs to it
};

static const struct flag flags_known[] = {
    {"-ze-opt-disable", "-cl-opt-disable", false},
    {"-ze-opt-level", NULL, true},
    {"-ze-opt-level=0", "-cl-opt-disable", false},
    {"-O0", "-cl-opt-disable", false},
    {"-O1", NULL, false},
    {"-O2", NULL, false},
    {"-O3", NULL, false},
    {"-g", NULL, false},
    {"-w", "=", false},
    {"-Werror", "=", false},
    {"-igc_opts", NULL, true},
    {"-library-compilation", NULL, false},
    {"-vc-codegen", NULL, false},
    {"-doubleGRF", NULL, false},
    {"-Xfinalizer", NULL, true},
    {"-ftranslate-legacy-memory-intrinsics", NULL, false},
    {"-cl-fp32-correctly-rounded-divide-sqrt", "=", false},
    {"-cl-intel-greater-than-4GB-buffer-required", NULL, false},
    {"-cl-intel-*", NULL, false},
    {"-cl-std=*", NULL, false},
    {"-cl-uniform-work-group-size", NULL, false},
    {"-cl-*", "=", false},
    {"-ze-*", NULL, false},
};

static bool matches(const char *name, const char *word, size_t length)
{
    size_t name_length = strlen(name);
    if (name[name_length - 1] == '*')
        return length >= name_length - 1 && strncmp(name, word, name_length - 1) == 0;
    return length == name_length && strncmp(name, word, length) == 0;
}

static const struct flag *find_flag(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(flags_known) / sizeof(flags_known[0]); i++)
        if (matches(flags_known[i].name, word, length))
            return &flags_known[i];
    return NULL;
}

// The next word; quotes keep white space together. Returns its length.
static size_t next_word(const char **text)
{
    const char *start = *text + strspn(*text, " \t\r\n");
    const char *end = start;
    char quote = '\0';
    for (; *end != '\0'; end++) {
        if (quote != '\0') {
            if (*end == quote)
                quote = '\0';
        } else if (*end == '\'' || *end == '"')
            quote = *end;
        else if (strchr(" \t\r\n", *end) != NULL)
            break;
    }
    *text = start;
    return (size_t)(end - start);
}

static char *append(char *options, const char *word, size_t length)
{
    memcpy(options, word, length);
    options[length] = ' ';
    return options + length + 1;
}

char *cpu_build_options(const char *flags, struct cpu_log *log)
{
    if (flags == NULL)
        flags = "";
    // No translation is longer than eight times its flag.
    char *options = malloc(strlen(always) + strlen(flags) * 8 + 2);
    if (options == NULL)
        return NULL;
    memcpy(options, always, strlen(always));
    char *end = options + strlen(always);
    for (size_t length; (length = next_word(&flags)) > 0; flags += length) {
        const struct flag *flag = find_flag(flags, length);
        if (flag == NULL) {
            cpu_log_add(log, "error: unknown option: %.*s\n", (int)length, flags);
            free(options);
            return NULL;
        }
        if (flag->option != NULL && strcmp(flag->option, "=") == 0)
            end = append(end, flags, length);
        else if (flag->option != NULL)
            end = append(end, flag->option, strlen(flag->option));
        if (flag->has_value) {
            flags += length;
            length = next_word(&flags);
        }
    }
    *end = '\0';
    return options;
}
