// SPDX-License-Identifier: MIT
#include "commands.h"

#include "intel_driver.h"
#include "json.h"
#include "scalar.h"

#include <errno.h>
#include <stdarg.h>
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
    json_begin();
}

char *const *command_arguments(void)
{
    return arguments;
}

void command_progress(const char *format, ...)
{
    va_list list;
    if (!isatty(STDERR_FILENO))
        return;
    // Other messages begin where it does.
    fputs("\r\033[K", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\r', stderr);
}

void command_progress_end(void)
{
    command_progress("%s", "");
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

// ---- The list of getopt_long ----

enum { MAX_OPTIONS = 24, OWN = 1000 };

struct list {
    struct option options[MAX_OPTIONS + 1];
    size_t count;
    char letters[8];
};

static void add_own(struct list *list, const struct command_option *own, int value)
{
    const int argument = own->flag           ? no_argument
                         : own->default_text ? optional_argument
                                             : required_argument;
    if (own->name[1] == '\0')
        snprintf(list->letters + strlen(list->letters), 3, "%s:", own->name);
    else
        list->options[list->count++] = (struct option){own->name, argument, NULL, value};
}

static void make_list(const struct command_options *options, struct list *list)
{
    static const struct option common[] = {
        {"cpu", optional_argument, NULL, HOST_DRIVER_CPU},
        {"gpu", no_argument, NULL, HOST_DRIVER_GPU},
        {"intel-driver", optional_argument, NULL, HOST_DRIVER_INTEL},
        {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},
    };
    const size_t count = sizeof(common) / sizeof(common[0]) - options->has_no_json;
    // '+': options behind the name of a program are the program's.
    snprintf(list->letters, sizeof(list->letters), "%sh",
             options->words == COMMAND_PROGRAM ? "+" : "");
    for (; list->count < count; list->count++)
        list->options[list->count] = common[list->count];
    for (int i = 0; options->own && options->own[i].name; i++)
        add_own(list, &options->own[i], OWN + i);
}

// The command's own option; NULL: getopt_long has refused the word.
static const struct command_option *find_own(const struct command_options *options, int value)
{
    if (value >= OWN)
        return &options->own[value - OWN];
    for (const struct command_option *own = options->own; own && own->name; own++) {
        if (own->name[0] == value && own->name[1] == '\0')
            return own;
    }
    return NULL;
}

static int take_own(const char *command, const struct command_option *own)
{
    if (own->take)
        return own->take(own->user, optarg);
    if (own->flag)
        *own->flag = true;
    else if (own->text)
        *own->text = optarg ? optarg : own->default_text;
    else if (!scalar_parse(ZEPI_SCALAR_UINT32, optarg, own->number) || *own->number < 1 ||
             *own->number > own->most) {
        fprintf(stderr, "%s: --%s %s: expected 1 to %u\n", command, own->name, optarg, own->most);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

static int take(struct command_options *options, const char *command, int value)
{
    if (value == HOST_DRIVER_CPU || value == HOST_DRIVER_GPU || value == HOST_DRIVER_INTEL)
        return choose_driver(options, (enum host_driver)value, optarg) ? EXIT_OK : EXIT_USAGE;
    if (value == 'h') {
        fputs(options->usage, stdout);
        exit(EXIT_OK);
    }
    const struct command_option *own = find_own(options, value);
    return own ? take_own(command, own) : command_refuse(options->usage);
}

int command_enter_driver(enum host_driver driver)
{
    return driver == HOST_DRIVER_INTEL && !intel_driver_is_here() ? intel_driver_enter(arguments)
                                                                  : EXIT_OK;
}

int command_parse(int argc, char **argv, struct command_options *options)
{
    struct list list = {0};
    int code = EXIT_OK;
    int value;
    make_list(options, &list);
    while ((value = getopt_long(argc, argv, list.letters, list.options, NULL)) != -1) {
        if (value == 'j')
            json_ask();
        else if (code == EXIT_OK)
            code = take(options, argv[0], value);
        // The first error is the only one that is told. --json may follow.
        opterr = code == EXIT_OK;
    }
    if (code == EXIT_OK && options->words == COMMAND_NO_WORDS && optind < argc) {
        command_refuse_word(argv[0], argv[optind]);
        code = command_refuse(options->usage);
    }
    if (code == EXIT_OK && options->words == COMMAND_PROGRAM && optind == argc) {
        fprintf(stderr, "%s: there is no command\n", argv[0]);
        code = command_refuse(options->usage);
    }
    return code == EXIT_OK && !options->is_for_program ? command_enter_driver(options->driver)
                                                       : code;
}
