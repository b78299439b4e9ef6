// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_TEXT_H
#define ZEPI_PROGRAM_BUILD_TEXT_H

#include "cache/build_cache.h"
#include "core/status.h"

// A build has two texts: the log, as the driver's compiler wrote it, and for a failure the sentence
// that becomes the thread's last error. In a build result they lie one behind the other, with a
// zero between, so that both are kept wherever the result is kept.

struct zepi_text {
    char *bytes; // owned, terminated; NULL: empty
    size_t size_bytes;
};

void zepi_text_finish(struct zepi_text *text);
// Appends a line's worth; lack of memory leaves the text as it was.
void zepi_text_append(struct zepi_text *text, const char *bytes, size_t size_bytes);

// Without the sentence. Borrowed from the result.
const char *zepi_build_log(const struct zepi_build_result *result, size_t *out_size_bytes);

// Makes a failed result's code and sentence the thread's last error, and returns the code.
zepi_result_t zepi_build_fail(const struct zepi_build_result *result);
// The error of a lookup that has no result.
zepi_result_t zepi_lookup_fail(enum zepi_build_lookup lookup);

// Ends a build callback: puts log and, for a failure, code and sentence into the output. Finishes
// the log.
enum zepi_build_status zepi_build_output_end(struct zepi_build_output *output, zepi_result_t result,
                                             struct zepi_text *log);

// The status of a build callback for a failure with this code.
enum zepi_build_status zepi_build_status_of(zepi_result_t result);

// Has the end of the process wait for a build, until zepi_process_let_go() (core/unload.h).
zepi_result_t zepi_build_hold(void);

#endif
