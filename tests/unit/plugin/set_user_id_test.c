// SPDX-License-Identifier: MIT
// A program with more rights than the user that starts it reads no options, and has no cache on
// disk and no shared store.
#include "core/options.h"
#include "test_env.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, CHILD_HAS_NO_OTHER_RIGHTS = 2 };

static int check_options(void)
{
    if (getauxval(AT_SECURE) == 0)
        return CHILD_HAS_NO_OTHER_RIGHTS;
    const struct zepi_options *options = zepi_options();
    TEST_EXPECT(options->log_level == ZEPI_LOG_NOTICE, "ZEPI_LOG is read");
    TEST_EXPECT(options->cache_folder[0] == '\0', "there is a folder for the cache");
    TEST_EXPECT(options->read_only_folders[0] == '\0', "there are folders of other caches");
    TEST_EXPECT(options->quirks[0] == '\0', "ZEPI_QUIRKS is read");
    TEST_EXPECT(options->shared[0] == '\0', "there is a shared store");
    TEST_EXPECT(strcmp(options->platform_name, "other") != 0, "the platform has another name");
    return 0;
}

// The program itself, as a file of another user's that runs with that user's rights.
static const char *copy_program(void)
{
    const struct test_bytes self = test_env_read_file("/proc/self/exe");
    const char *path = test_env_scratch_path("program");
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
    TEST_EXPECT(file >= 0 && write(file, self.data, self.size_bytes) == (ssize_t)self.size_bytes &&
                    fchown(file, NOBODY, NOBODY) == 0 && fchmod(file, 04755) == 0 &&
                    close(file) == 0,
                "the program is not copied");
    free(self.data);
    return path;
}

int main(int argc, char **argv)
{
    int status = -1;
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return check_options();
    if (geteuid() != 0)
        test_env_skip("only root makes files of other users");
    const char *path = copy_program();
    setenv("ZEPI_LOG", "info", 1);
    setenv("ZEPI_CACHE_DIR", test_env_scratch(), 1);
    setenv("ZEPI_CACHE_READ_ONLY_DIRS", test_env_scratch(), 1);
    setenv("ZEPI_QUIRKS", "none", 1);
    setenv("ZEPI_CACHE_SHARED", "unix:///run/redis", 1);
    setenv("ZEPI_PLATFORM_NAME", "other", 1);
    const pid_t child = fork();
    if (child == 0) {
        execl(path, path, "child", (char *)NULL);
        _exit(1);
    }
    TEST_EXPECT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status),
                "the copy does not run");
    if (WEXITSTATUS(status) == CHILD_HAS_NO_OTHER_RIGHTS)
        test_env_skip("this file system gives no rights to programs");
    return WEXITSTATUS(status);
}
