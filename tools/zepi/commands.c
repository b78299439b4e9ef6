// SPDX-License-Identifier: MIT
#include "commands.h"

#include "host.h"
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_output(int status, void *unused)
{
    (void)unused;
    const int error = fflush(stdout) == 0 ? 0 : errno;
    if (error == 0 && !ferror(stdout))
        return;
    fprintf(stderr, "zepi: standard output: %s\n",
            error != 0 ? strerror(error) : "a part of it could not be written");
    _exit(status == EXIT_OK ? EXIT_FAILED : status);
}

void command_begin(int argc, char **argv)
{
    // The last handler to be called: --json prints at the end, too.
    on_exit(check_output, NULL);
    host_keep_arguments(argc, argv);
    json_begin(argc, argv);
}

int command_refuse(const char *usage)
{
    const char *end = strstr(usage, "\n\n");
    fprintf(stderr, "%.*s\n(--help says more)\n",
            (int)(end ? (size_t)(end - usage) : strlen(usage)), usage);
    return EXIT_USAGE;
}
