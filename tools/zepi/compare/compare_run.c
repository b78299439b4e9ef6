// SPDX-License-Identifier: MIT
#include "compare.h"

#include "../exec.h"
#include "../file_bytes.h"
#include "../paths.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATS_LINE_BYTES 65536

// ---- The process ----

struct places {
    const struct compare *compare;
    const struct compare_way *way;
    char caches[PATH_MAX];
    char output[PATH_MAX];
    char stats[PATH_MAX];
};

static void make_places(const struct compare *compare, unsigned round,
                        const struct compare_way *way, struct places *places)
{
    places->compare = compare;
    places->way = way;
    snprintf(places->caches, PATH_MAX, "%s/%u-%d", compare->folder, round,
             (int)(way - compare->ways));
    snprintf(places->output, PATH_MAX, "%s/output", compare->folder);
    snprintf(places->stats, PATH_MAX, "%s/stats.jsonl", compare->folder);
    unlink(places->stats);
}

static void set_cache(const char *variable, const char *parent, const char *name)
{
    char folder[2 * PATH_MAX];
    mkdir(parent, 0700);
    snprintf(folder, sizeof(folder), "%s/%s", parent, name);
    mkdir(folder, 0700);
    setenv(variable, folder, 1);
}

static int become(void *user)
{
    const struct places *places = user;
    const struct compare *compare = places->compare;
    const struct compare_way *way = places->way;
    const int null = open("/dev/null", O_RDONLY);
    const int output = open(places->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (null < 0 || output < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0) {
        perror(places->output);
        return EXIT_FAILED;
    }
    dup2(output, STDERR_FILENO);
    close(null);
    close(output);
    // The stand-in for the kernel's driver has a folder in zepi's.
    set_cache("ZEPI_CACHE_DIR", places->caches, "zepi");
    set_cache("SYCL_CACHE_DIR", places->caches, "sycl");
    set_cache("NEO_CACHE_DIR", places->caches, "driver");
    unsetenv("DRM_SHIM_RECORDS");
    unsetenv("ZEPI_CACHE_SHARED");
    if (way->adapter)
        path_ask_for_adapter(way->adapter);
    else
        setenv("ZEPI_STATS", places->stats, 1);
    const int code = exec_set_adapter(compare->driver, way->adapter);
    return code == EXIT_OK ? exec_start(compare->driver, compare->program) : code;
}

// ---- What it did ----

static void add_value(struct compare_way *way, enum compare_start start, enum compare_value value,
                      double number)
{
    way->values[start][value][way->counts[start][value]++] = number;
}

// Sums the reports of the program's processes, a line of JSON each.
static void add_builds(struct compare_way *way, enum compare_start start, const char *path)
{
    static const char *const cached[] = {"known", "memory", "disk", "shared"};
    char *line = malloc(STATS_LINE_BYTES);
    FILE *file = line ? fopen(path, "r") : NULL;
    double sums[2] = {0};
    while (file && fgets(line, STATS_LINE_BYTES, file)) {
        cJSON *report = cJSON_Parse(line);
        const cJSON *programs = cJSON_GetObjectItem(report, "programs");
        const cJSON *number = cJSON_GetObjectItem(programs, "compiled");
        sums[0] += number ? number->valuedouble : 0;
        for (size_t i = 0; i < sizeof(cached) / sizeof(cached[0]); i++) {
            number = cJSON_GetObjectItem(programs, cached[i]);
            sums[1] += number ? number->valuedouble : 0;
        }
        cJSON_Delete(report);
    }
    if (file) {
        fclose(file);
        add_value(way, start, COMPARE_COMPILED, sums[0]);
        add_value(way, start, COMPARE_CACHED, sums[1]);
    }
    free(line);
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int compare_run(struct compare *compare, unsigned round, struct compare_way *way,
                enum compare_start start)
{
    struct places places;
    struct rusage usage;
    make_places(compare, round, way, &places);
    const uint64_t start_ns = host_now_ns();
    const int status = exec_run_child(become, &places, &usage);
    const uint64_t end_ns = host_now_ns();
    if (exec_received_signal())
        return 128 + exec_received_signal();
    if (status < 0) {
        perror("zepi compare");
        return EXIT_FAILED;
    }
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code != 0) {
        file_show(places.output);
        fprintf(stderr, "zepi compare: round %u, %s start, %s: %s %s %d\n", round + 1,
                compare_start_names[start], way->name, compare->program[0],
                WIFSIGNALED(status) ? "was ended by signal" : "ended with",
                WIFSIGNALED(status) ? WTERMSIG(status) : code);
        return code;
    }
    add_value(way, start, COMPARE_WALL_S, (double)(end_ns - start_ns) / 1e9);
    add_value(way, start, COMPARE_PROCESSOR_S, seconds(usage.ru_utime) + seconds(usage.ru_stime));
    add_value(way, start, COMPARE_PEAK_BYTES, (double)usage.ru_maxrss * 1024);
    if (!way->adapter)
        add_builds(way, start, places.stats);
    return EXIT_OK;
}
