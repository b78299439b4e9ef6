// SPDX-License-Identifier: MIT
#include "program/build/build_options.h"

#include "core/alloc.h"
#include "core/interface.h"
#include "core/options.h"
#include "device/device.h"

#include <stdio.h>
#include <string.h>

#define DEBUG_FLAG "-g"
#define LARGE_FLAG "-ze-opt-greater-than-4GB-buffer-required"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

size_t zepi_build_options_normalize(const char *text, char *out)
{
    size_t length = 0;
    char quote = '\0';
    for (; *text; text++) {
        if (quote == '\0' && is_space(*text)) {
            if (length > 0 && out[length - 1] != ' ')
                out[length++] = ' ';
            continue;
        }
        if (quote != '\0' && *text == '\\' && text[1] != '\0')
            out[length++] = *text++;
        else if (quote == '\0' && (*text == '"' || *text == '\''))
            quote = *text;
        else if (*text == quote)
            quote = '\0';
        out[length++] = *text;
    }
    if (quote != '\0')
        return SIZE_MAX;
    if (length > 0 && out[length - 1] == ' ')
        length--;
    out[length] = '\0';
    return length;
}

// Whether flags and choices are allowed.
static zepi_result_t check_build_desc(const zepi_build_desc_t *desc)
{
    const zepi_build_flags_t known = ZEPI_BUILD_DEBUG | ZEPI_BUILD_LOG_FAILURES;
    if (desc->flags & ~known)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "build flags 0x%x: only 0x%x are known",
                         desc->flags, known);
    if (desc->native_policy != ZEPI_NATIVE_REBUILD && desc->native_policy != ZEPI_NATIVE_EMULATE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "native policy %d is neither rebuild (0) nor emulate (1)",
                         (int)desc->native_policy);
    if ((unsigned)desc->link_method > ZEPI_LINK_DYNAMIC)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "link method %d is none of auto (0), program (1), dynamic (2)",
                         (int)desc->link_method);
    return ZEPI_SUCCESS;
}

static size_t append_flag(char *text, size_t length, const char *flag)
{
    return length + (size_t)sprintf(text + length, "%s%s", length > 0 ? " " : "", flag);
}

static zepi_result_t make_options_text(struct zepi_build_options *options, const char *text,
                                       bool is_debug)
{
    const size_t room = strlen(text) + sizeof(" " DEBUG_FLAG);
    char *own = options->inline_text;
    if (room > sizeof(options->inline_text)) {
        own = options->owned_text = zepi_allocate(room, 1);
        if (!own)
            return zepi_fail_no_memory();
    }
    size_t length = zepi_build_options_normalize(text, own);
    if (length == SIZE_MAX) {
        zepi_build_options_finish(options);
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "a quote in the build options is not closed: %s",
                         text);
    }
    if (is_debug)
        length = append_flag(own, length, DEBUG_FLAG);
    options->text = own;
    options->length = length;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_build_options_init(struct zepi_build_options *options,
                                      const zepi_build_desc_t *outside)
{
    static const zepi_build_desc_t none;
    zepi_build_desc_t copy;
    const zepi_build_desc_t *desc = outside ? outside : &none;
    options->owned_text = NULL;
    if (outside && outside->size != sizeof(copy)) {
        const zepi_result_t result = zepi_read_desc(
            &copy, sizeof(copy), offsetof(zepi_build_desc_t, flags), outside, "build description");
        if (result != ZEPI_SUCCESS)
            return result;
        desc = &copy;
    }
    const zepi_result_t result = check_build_desc(desc);
    if (result != ZEPI_SUCCESS)
        return result;
    options->native_policy = desc->native_policy;
    options->link_method =
        desc->link_method != ZEPI_LINK_AUTO ? desc->link_method : zepi_options()->link_method;
    options->is_link_method_forced = desc->link_method != ZEPI_LINK_AUTO;
    options->log = desc->log;
    options->log_data = desc->log_data;
    options->logs_successes = !(desc->flags & ZEPI_BUILD_LOG_FAILURES);
    options->variables = ZEPI_VARIABLES_SHARED;
    options->devices = desc->devices;
    options->device_count = desc->device_count;
    return make_options_text(options, desc->options ? desc->options : "",
                             desc->flags & ZEPI_BUILD_DEBUG);
}

char *zepi_build_options_for(const struct zepi_build_options *options,
                             const struct zepi_device *device)
{
    char *text = zepi_allocate(options->length + sizeof(" " LARGE_FLAG), 1);
    if (!text)
        return NULL;
    memcpy(text, options->text, options->length);
    if (device->has_large_allocations)
        append_flag(text, options->length, LARGE_FLAG);
    return text;
}

void zepi_build_options_finish(struct zepi_build_options *options)
{
    if (options->owned_text)
        zepi_free(options->owned_text);
    options->owned_text = NULL;
}
