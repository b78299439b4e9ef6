// SPDX-License-Identifier: MIT
// A process without a driver says why on stderr, once, unless ZEPI_LOG=off. No platform is no
// error.
#include "test_env.h"
#include "test_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// The lines of a process that asks for platforms twice.
static const char *lines_of(const char *drivers, const char *opencl, const char *log)
{
    static char text[4096];
    FILE *lines = tmpfile();
    int status;
    TEST_EXPECT(lines, "tmpfile");
    const pid_t process = fork();
    if (process == 0) {
        uint32_t count = 1;
        dup2(fileno(lines), STDERR_FILENO);
        if (drivers)
            setenv("ZE_ENABLE_ALT_DRIVERS", drivers, 1);
        setenv("ZE_CPU_OPENCL", opencl, 1);
        if (log)
            setenv("ZEPI_LOG", log, 1);
        else
            unsetenv("ZEPI_LOG");
        test_plugin_load();
        TEST_OK(zepi.platform_get(0, NULL, &count));
        TEST_OK(zepi.platform_get(0, NULL, &count));
        _exit(count != 0);
    }
    TEST_EXPECT(process > 0 && waitpid(process, &status, 0) == process && status == 0,
                "a process without a driver has platforms, or fails");
    rewind(lines);
    text[fread(text, 1, sizeof(text) - 1, lines)] = '\0';
    fclose(lines);
    return text;
}

static void expect_one_line(const char *lines, const char *words)
{
    const char *end = strchr(lines, '\n');
    const bool is_one = strncmp(lines, "zepi: error: ", 13) == 0 && end && !end[1];
    if (!is_one || !strstr(lines, words))
        fprintf(stderr, "expected one line with '%s':\n%s", words, lines);
    TEST_EXPECT(is_one && strstr(lines, words), "another text");
}

int main(void)
{
    if (test_env_is_on_intel_driver())
        test_env_skip("is about ze_cpu's reasons");
    test_env_use_ze_cpu();
    expect_one_line(lines_of(NULL, "/nowhere/libintelocl.so", NULL),
                    "/nowhere/libintelocl.so: cannot open shared object file");
    expect_one_line(lines_of(NULL, "/nowhere/libintelocl.so", NULL), "in a virtual environment");
    // A library that is no OpenCL runtime.
    expect_one_line(lines_of(NULL, "libm.so.6", NULL), "libm.so.6 has no CPU device");
    expect_one_line(lines_of("/nowhere/libze_cpu.so.1", "", NULL),
                    "/nowhere/libze_cpu.so.1: cannot open shared object file");
    TEST_EXPECT(lines_of(NULL, "/nowhere", "off")[0] == '\0', "lines in spite of ZEPI_LOG=off");
    expect_one_line(lines_of(NULL, "/nowhere", "error"), "no Level Zero driver comes up");
    return 0;
}
