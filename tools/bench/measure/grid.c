// SPDX-License-Identifier: MIT
#include "grid.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_WIDTH 100 // in characters
#define DASHES                                                                                     \
    "----------------------------------------------------------------------------------------"     \
    "----------------------------------------"
static_assert(sizeof(DASHES) > BENCH_TITLE_SIZE, "there is a dash for each character");

void grid_put(struct grid *grid, int line, int column, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(grid->text[line][column], BENCH_TITLE_SIZE, format, list);
    va_end(list);
}

static void print_rule(const int *widths, int first, int end)
{
    printf("|:%.*s-|", widths[0], DASHES);
    for (int column = first; column < end; column++)
        printf("-%.*s:|", widths[column], DASHES);
    putchar('\n');
}

// The first column and those from `first` to before `end`.
static void print_columns(const struct grid *grid, const int *widths, int first, int end)
{
    for (int line = 0; line < grid->lines; line++) {
        printf("| %-*s |", widths[0], grid->text[line][0]);
        for (int column = first; column < end; column++)
            printf(" %*s |", widths[column], grid->text[line][column]);
        putchar('\n');
        if (line == 0)
            print_rule(widths, first, end);
    }
    putchar('\n');
}

void grid_print(const struct grid *grid)
{
    int widths[GRID_MAX_COLUMNS] = {0};
    for (int line = 0; line < grid->lines; line++) {
        for (int column = 0; column < grid->columns; column++) {
            const int width = (int)strlen(grid->text[line][column]);
            widths[column] = width > widths[column] ? width : widths[column];
        }
    }
    int end = 1;
    do {
        const int first = end;
        int width = widths[0] + 4;
        while (end < grid->columns && (end == first || width + widths[end] + 3 <= MAX_WIDTH))
            width += widths[end++] + 3;
        print_columns(grid, widths, first, end);
    } while (end < grid->columns);
}
