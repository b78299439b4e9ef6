// SPDX-License-Identifier: MIT
#include "grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void grid_put(struct grid *grid, int line, int column, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(grid->text[line][column], BENCH_TITLE_SIZE, format, list);
    va_end(list);
}

static void print_rule(const int *widths, int columns)
{
    for (int column = 0; column < columns; column++) {
        fputs(column == 0 ? "|:" : "|-", stdout);
        for (int i = 0; i < widths[column]; i++)
            putchar('-');
        putchar(column == 0 ? '-' : ':');
    }
    puts("|");
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
    for (int line = 0; line < grid->lines; line++) {
        for (int column = 0; column < grid->columns; column++)
            printf("| %*s ", column == 0 ? -widths[column] : widths[column],
                   grid->text[line][column]);
        puts("|");
        if (line == 0)
            print_rule(widths, grid->columns);
    }
    putchar('\n');
}
