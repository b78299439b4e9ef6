// SPDX-License-Identifier: MIT
#include "cache/disk/cache_folder.h"
#include "core/sys.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect_choice(const char *cache_dir, const char *xdg, const char *home,
                          const char *expected)
{
    char path[64];
    bool is_chosen = zepi_sys_choose_cache_folder(cache_dir, xdg, home, path, sizeof(path));
    cr_assert_eq(is_chosen, expected != NULL);
    cr_assert_str_eq(path, expected ? expected : "");
}

Test(cache_folder, is_chosen_by_the_most_specific_variable)
{
    expect_choice("/a/b", "/xdg", "/home/u", "/a/b");
    expect_choice(NULL, "/xdg", "/home/u", "/xdg/zepi");
    expect_choice(NULL, NULL, "/home/u", "/home/u/.cache/zepi");
    expect_choice(NULL, NULL, NULL, NULL);
}

Test(cache_folder, counts_an_empty_variable_as_unset)
{
    expect_choice("", "", "/home/u", "/home/u/.cache/zepi");
    expect_choice("", "/xdg", "", "/xdg/zepi");
    expect_choice("", "", "", NULL);
}

Test(cache_folder, ignores_relative_folders_of_others)
{
    expect_choice(NULL, "xdg", "/home/u", "/home/u/.cache/zepi");
    expect_choice(NULL, NULL, "u", NULL);
    expect_choice("mine", "/xdg", "/home/u", "mine");
}

Test(cache_folder, that_does_not_fit_is_none)
{
    char path[8];
    cr_assert_not(zepi_sys_choose_cache_folder("/1234567", NULL, NULL, path, sizeof(path)));
    cr_assert_str_eq(path, "");
    cr_assert(zepi_sys_choose_cache_folder("/123456", NULL, NULL, path, sizeof(path)));
}

static enum zepi_cache_folder_state open_and_close(const char *path,
                                                   enum zepi_cache_folder_mode mode)
{
    int fd;
    enum zepi_cache_folder_state state = zepi_cache_folder_open(path, mode, &fd);
    cr_assert_eq(fd >= 0, state == ZEPI_CACHE_FOLDER_USABLE);
    if (fd >= 0)
        close(fd);
    cr_assert_gt(strlen(zepi_cache_folder_describe(state)), 0);
    return state;
}

Test(cache_folder, is_made_with_its_parents_for_its_owner_alone)
{
    const char *path = test_env_scratch_path("parent/middle/cache");
    struct stat info;
    umask(0);
    cr_assert_eq(open_and_close(path, ZEPI_CACHE_FOLDER_EXISTING), ZEPI_CACHE_FOLDER_MISSING);
    cr_assert_eq(stat(test_env_scratch_path("parent"), &info), -1, "looking makes nothing");
    cr_assert_eq(open_and_close(path, ZEPI_CACHE_FOLDER_CREATE), ZEPI_CACHE_FOLDER_USABLE);
    static const char *const parts[] = {"parent", "parent/middle", "parent/middle/cache"};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(stat(test_env_scratch_path(parts[i]), &info), 0);
        cr_assert_eq(info.st_mode & 07777, 0700);
    }
    cr_assert_eq(open_and_close(path, ZEPI_CACHE_FOLDER_CREATE), ZEPI_CACHE_FOLDER_USABLE);
    cr_assert_eq(open_and_close(path, ZEPI_CACHE_FOLDER_EXISTING), ZEPI_CACHE_FOLDER_USABLE);
}

Test(cache_folder, that_others_may_write_is_refused)
{
    static const mode_t modes[] = {0720, 0702, 0777, 01777};
    const char *path = test_env_scratch_path("cache");
    cr_assert_eq(mkdir(path, 0700), 0);
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(chmod(path, modes[i]), 0);
        cr_assert_eq(open_and_close(path, ZEPI_CACHE_FOLDER_CREATE), ZEPI_CACHE_FOLDER_WRITABLE);
    }
    cr_assert_eq(chmod(path, 0755), 0);
    cr_assert_eq(open_and_close(path, ZEPI_CACHE_FOLDER_CREATE), ZEPI_CACHE_FOLDER_USABLE,
                 "others may read");
}

Test(cache_folder, of_another_user_is_refused)
{
    if (geteuid() != 0)
        cr_skip_test("only root can give a folder away");
    const char *path = test_env_scratch_path("cache");
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_assert_eq(chown(path, 12345, 12345), 0);
    cr_assert_eq(open_and_close(path, ZEPI_CACHE_FOLDER_CREATE), ZEPI_CACHE_FOLDER_FOREIGN);
}

Test(cache_folder, that_is_a_link_or_a_file_is_refused)
{
    const char *target = test_env_scratch_path("target");
    const char *link = test_env_scratch_path("link");
    char with_slash[PATH_MAX];
    cr_assert_eq(mkdir(target, 0700), 0);
    cr_assert_eq(symlink(target, link), 0);
    cr_assert_eq(open_and_close(link, ZEPI_CACHE_FOLDER_CREATE), ZEPI_CACHE_FOLDER_NOT_A_FOLDER);
    snprintf(with_slash, sizeof(with_slash), "%s//", link);
    cr_assert_eq(open_and_close(with_slash, ZEPI_CACHE_FOLDER_CREATE),
                 ZEPI_CACHE_FOLDER_NOT_A_FOLDER);
    const char *file = test_env_scratch_path("file");
    close(open(file, O_CREAT | O_WRONLY, 0600));
    cr_assert_eq(open_and_close(file, ZEPI_CACHE_FOLDER_CREATE), ZEPI_CACHE_FOLDER_NOT_A_FOLDER);
    cr_assert_eq(open_and_close(test_env_scratch_path("file/cache"), ZEPI_CACHE_FOLDER_CREATE),
                 ZEPI_CACHE_FOLDER_NOT_A_FOLDER);
}

Test(cache_folder, with_an_impossible_path_is_not_accessible)
{
    static char path[PATH_MAX + 10];
    memset(path, '/', sizeof(path) - 1);
    cr_assert_eq(open_and_close(path, ZEPI_CACHE_FOLDER_CREATE), ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE);
    cr_assert_eq(open_and_close("", ZEPI_CACHE_FOLDER_CREATE), ZEPI_CACHE_FOLDER_NOT_ACCESSIBLE);
}
