// SPDX-License-Identifier: MIT
#include "module/build_options.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/options.h"

#define DEBUG_FLAG "-g"

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

static zepi_result_t check(const zepi_build_desc_t *desc)
{
    if (desc->flags & ~ZEPI_BUILD_DEBUG)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "build flags 0x%x: only 0x%x is known",
                         desc->flags, ZEPI_BUILD_DEBUG);
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

static zepi_result_t set_text(struct zepi_build_options *options, const char *text, bool is_debug)
{
    const size_t room = strlen(text) + 1 + sizeof(DEBUG_FLAG) + 1;
    options->text = options->inline_text;
    if (room > sizeof(options->inline_text)) {
        options->text = zepi_allocate(room, 1);
        if (!options->text)
            return zepi_fail_no_memory();
    }
    size_t length = zepi_build_options_normalize(text, options->text);
    if (length == SIZE_MAX) {
        zepi_build_options_finish(options);
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "a quote in the build options is not closed: %s",
                         text);
    }
    if (is_debug) {
        if (length > 0)
            options->text[length++] = ' ';
        memcpy(options->text + length, DEBUG_FLAG, sizeof(DEBUG_FLAG));
        length += sizeof(DEBUG_FLAG) - 1;
    }
    options->length = length;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_build_options_init(struct zepi_build_options *options,
                                      const zepi_build_desc_t *outside)
{
    zepi_build_desc_t desc = {0};
    zepi_result_t result = ZEPI_SUCCESS;
    options->text = NULL;
    if (outside)
        result = zepi_read_desc(&desc, sizeof(desc), offsetof(zepi_build_desc_t, flags), outside,
                                "build description");
    if (result == ZEPI_SUCCESS)
        result = check(&desc);
    if (result != ZEPI_SUCCESS)
        return result;
    options->native_policy = desc.native_policy;
    options->link_method =
        desc.link_method != ZEPI_LINK_AUTO ? desc.link_method : zepi_options()->link_method;
    options->is_link_method_forced = desc.link_method != ZEPI_LINK_AUTO;
    options->log = desc.log;
    options->log_data = desc.log_data;
    return set_text(options, desc.options ? desc.options : "", desc.flags & ZEPI_BUILD_DEBUG);
}

void zepi_build_options_finish(struct zepi_build_options *options)
{
    if (options->text != options->inline_text)
        zepi_free(options->text);
    options->text = NULL;
}
