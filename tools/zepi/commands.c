// SPDX-License-Identifier: MIT
#include "commands.h"

#include "intel_driver.h"
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **arguments; // owned, as long as the process lives

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
    // getopt_long changes their order.
    arguments = calloc((size_t)argc + 1, sizeof(*arguments));
    if (!arguments)
        exit(host_fail("arguments"));
    memcpy(arguments, argv, (size_t)argc * sizeof(*arguments));
    json_begin(argc, argv);
}

char *const *command_arguments(void)
{
    return arguments;
}

int command_refuse(const char *usage)
{
    const char *end = strstr(usage, "\n\n");
    fprintf(stderr, "%.*s\n(--help says more)\n",
            (int)(end ? (size_t)(end - usage) : strlen(usage)), usage);
    return EXIT_USAGE;
}

int command_refuse_word(const char *command, const char *word)
{
    fprintf(stderr, "%s: '%s' is too much\n", command, word);
    return EXIT_USAGE;
}

static bool choose_driver(struct command_options *options, enum host_driver choice,
                          const char *word)
{
    if (options->driver != HOST_DRIVER_AUTO && options->driver != choice) {
        fputs("zepi: --cpu, --gpu and --intel-driver exclude each other\n", stderr);
        return false;
    }
    options->driver = choice;
    if (choice == HOST_DRIVER_INTEL)
        return intel_driver_choose_products(word);
    if (word && strcmp(word, "gpu") != 0) {
        fprintf(stderr, "zepi: --cpu=%s: expected --cpu or --cpu=gpu\n", word);
        return false;
    }
    if (word)
        setenv("ZE_CPU_TYPE", word, 1);
    return true;
}

void command_take(struct command_options *options, int option)
{
    switch (option) {
    case HOST_DRIVER_CPU:
    case HOST_DRIVER_GPU:
    case HOST_DRIVER_INTEL:
        if (!choose_driver(options, (enum host_driver)option, optarg))
            exit(EXIT_USAGE);
        if (option == HOST_DRIVER_INTEL && !options->is_for_program && !intel_driver_is_here())
            exit(intel_driver_enter(arguments));
        break;
    case 'j':
        options->is_json = true;
        break;
    case 'h':
        fputs(options->usage, stdout);
        exit(EXIT_OK);
    default:
        exit(command_refuse(options->usage));
    }
}
