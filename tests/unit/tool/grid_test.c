// SPDX-License-Identifier: MIT
#include "tools/bench/measure/grid.h"

#include "test_env.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define MAX_WIDTH 100 // in characters

static struct grid grid;

static void fill(int columns, const char *text)
{
    memset(&grid, 0, sizeof(grid));
    grid.lines = 2;
    grid.columns = columns;
    for (int i = 0; i < columns; i++) {
        grid_put(&grid, 0, i, "head %d", i);
        grid_put(&grid, 1, i, "%s", i == 0 ? "title" : text);
    }
}

// Prints the grid to a file. Returns its number of tables; `widest` is its longest line.
static int print_to_file(size_t *widest, char *text, size_t size)
{
    const char *path = test_env_scratch_path("grid");
    cr_assert(freopen(path, "w", stdout));
    grid_print(&grid);
    fflush(stdout);
    FILE *file = fopen(path, "r");
    cr_assert(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
    int tables = 0;
    *widest = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        const size_t width = strcspn(line, "\n");
        *widest = width > *widest ? width : *widest;
        tables += width == 0;
    }
    return tables;
}

Test(grid, one_table_where_it_fits)
{
    char text[4096];
    size_t widest = 0;
    fill(3, "12");
    cr_expect_eq(print_to_file(&widest, text, sizeof(text)), 1);
    cr_expect_str_eq(text, "| head 0 | head 1 | head 2 |\n"
                           "|:-------|-------:|-------:|\n"
                           "| title  |     12 |     12 |\n\n");
}

Test(grid, columns_that_have_no_room_follow_in_a_second_table)
{
    char text[8192];
    size_t widest = 0;
    fill(GRID_MAX_COLUMNS, "a text of thirty characters...");
    cr_expect_gt(print_to_file(&widest, text, sizeof(text)), 1);
    cr_expect_leq(widest, MAX_WIDTH);
    for (int i = 1; i < GRID_MAX_COLUMNS; i++) {
        char head[16];
        snprintf(head, sizeof(head), " head %d |", i);
        cr_expect(strstr(text, head), "column %d", i);
    }
}

Test(grid, a_table_of_the_whole_width_is_one)
{
    char text[4096];
    size_t widest = 0;
    fill(3, "12");
    grid_put(&grid, 1, 1, "%082d", 0); // 10 + 85 + 9 columns
    cr_expect_eq(print_to_file(&widest, text, sizeof(text)), 2);
    grid_put(&grid, 1, 1, "%078d", 0); // 10 + 81 + 9
    cr_expect_eq(print_to_file(&widest, text, sizeof(text)), 1);
    cr_expect_eq(widest, MAX_WIDTH);
}
