// SPDX-License-Identifier: MIT
#include "test_env.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[512];
static pid_t scratch_owner;

static _Noreturn void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("test environment: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void test_env_skip(const char *reason)
{
    if (test_skip)
        test_skip(reason);
    printf("skipped: %s\n", reason);
    exit(TEST_SKIPPED);
}

void test_expect(bool is_right, const char *wrong, const char *file, int line)
{
    if (is_right)
        return;
    fprintf(stderr, "%s:%d: %s\n", file, line, wrong);
    exit(1);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    remove(path);
    return 0;
}

// A destructor rather than atexit(), so that it runs after the exit handlers of the drivers, which
// may still write.
__attribute__((destructor)) static void remove_scratch(void)
{
    if (scratch_owner == getpid())
        nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_env_scratch(void)
{
    if (scratch_owner == getpid())
        return scratch;
    // Inside the build folder: files of a killed test are removed with it.
    if (mkdir(TEST_SCRATCH_ROOT, 0777) != 0 && errno != EEXIST)
        give_up("cannot make %s: %s", TEST_SCRATCH_ROOT, strerror(errno));
    snprintf(scratch, sizeof(scratch), "%s/XXXXXX", TEST_SCRATCH_ROOT);
    if (!mkdtemp(scratch))
        give_up("cannot make %s: %s", scratch, strerror(errno));
    scratch_owner = getpid();
    return scratch;
}

const char *test_env_scratch_path(const char *name)
{
    // One block a call, never freed before the process ends; the list keeps leak checkers content.
    static struct path {
        struct path *next;
        char text[];
    } * paths;
    size_t size = strlen(test_env_scratch()) + 1 + strlen(name) + 1;
    struct path *path = malloc(sizeof(*path) + size);
    if (!path)
        give_up("out of memory");
    snprintf(path->text, size, "%s/%s", scratch, name);
    path->next = paths;
    paths = path;
    return path->text;
}

// Only one driver comes up, and zepi's cache is private, with any environment.
static void use_driver(const char *library)
{
    unsetenv("ZE_ENABLE_NULL_DRIVER");
    unsetenv("ZE_ENABLE_VALIDATION_LAYER");
    unsetenv("ZE_ENABLE_PARAMETER_VALIDATION");
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    unsetenv("ZE_AFFINITY_MASK");
    setenv("ZE_CPU_CODE_FOLDER", TEST_CODE_FOLDER, 0);
    if (library)
        setenv("ZE_ENABLE_ALT_DRIVERS", library, 1);
    else
        unsetenv("ZE_ENABLE_ALT_DRIVERS");
    setenv("ZEPI_CACHE_DIR", test_env_scratch_path("cache"), 1);
}

bool test_env_is_on_intel_driver(void)
{
    const char *asked = getenv("TEST_DRIVER");
    return asked && strcmp(asked, "intel") == 0;
}

void test_env_use_ze_cpu(void)
{
    const bool is_intel = test_env_is_on_intel_driver();
    if (!is_intel)
        setenv("ZE_CPU_STRICT", "1", 0);
    if (!is_intel)
        setenv("ZE_CPU_REORDER", "1", 0);
    use_driver(is_intel ? "libze_intel_gpu.so.1" : TEST_ZE_CPU);
}

void test_env_use_null_driver(void)
{
    if (access(TEST_NULL_DRIVER, R_OK) != 0)
        test_env_skip("there is no null driver (tools/setup --tests builds it)");
    use_driver(TEST_NULL_DRIVER);
    setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
    setenv("ZE_ENABLE_VALIDATION_LAYER", "1", 1);
    setenv("ZE_ENABLE_PARAMETER_VALIDATION", "1", 1);
}

void test_env_add_null_driver(void)
{
    char drivers[4096];
    if (access(TEST_NULL_DRIVER, R_OK) != 0)
        test_env_skip("there is no null driver (tools/setup --tests builds it)");
    snprintf(drivers, sizeof(drivers), "%s,%s", getenv("ZE_ENABLE_ALT_DRIVERS"), TEST_NULL_DRIVER);
    setenv("ZE_ENABLE_ALT_DRIVERS", drivers, 1);
}

void test_env_use_intel_capture(const char *family)
{
    use_driver("libze_intel_gpu.so.1");
    setenv("NEOReadDebugKeys", "1", 1);
    setenv("SetCommandStreamReceiver", "1", 1);
    setenv("ProductFamilyOverride", family, 1);
    if (chdir(test_env_scratch()) != 0)
        give_up("cannot enter %s: %s", scratch, strerror(errno));
}

void test_env_use_no_driver(void)
{
    use_driver("libze_there_is_no_such_driver.so");
}

int test_env_count_descriptors(void)
{
    int count = 0;
    for (int i = 0; i < 1024; i++)
        count += fcntl(i, F_GETFD) != -1;
    return count;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
size_t __sanitizer_get_current_allocated_bytes(void);

size_t test_env_allocated_bytes(void)
{
    return __sanitizer_get_current_allocated_bytes();
}
#else
size_t test_env_allocated_bytes(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#endif

uint64_t test_env_number_behind(const char *text, const char *words)
{
    const char *found = strstr(text, words);
    if (!found)
        fprintf(stderr, "%s\nlacks %s\n", text, words);
    TEST_EXPECT(found != NULL, "the report lacks something");
    return strtoull(found + strlen(words), NULL, 10);
}

struct test_bytes test_env_read_file(const char *path)
{
    struct test_bytes bytes = {0};
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &info) != 0)
        give_up("cannot read %s: %s", path, strerror(errno));
    bytes.size_bytes = (size_t)info.st_size;
    if (bytes.size_bytes > 0) {
        // With a zero behind, which strndup looks at under a sanitizer.
        bytes.data = calloc(bytes.size_bytes + 1, 1);
        if (!bytes.data || fread(bytes.data, 1, bytes.size_bytes, file) != bytes.size_bytes)
            give_up("cannot read %s: %zu bytes", path, bytes.size_bytes);
    }
    fclose(file);
    return bytes;
}

const char *test_env_spirv_path(const char *name)
{
    static _Thread_local char path[512];
    snprintf(path, sizeof(path), "%s/%s.spv", TEST_DATA, name);
    return path;
}

struct test_bytes test_env_read_spirv(const char *name)
{
    return test_env_read_file(test_env_spirv_path(name));
}
