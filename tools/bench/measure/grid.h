// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_GRID_H
#define ZEPI_TOOL_BENCH_GRID_H

#include "../operation/bench.h"

// A table of text, in Markdown.

#define GRID_MAX_LINES 256
#define GRID_MAX_COLUMNS (BENCH_ROW_COUNT + 2)

struct grid {
    int lines; // the first one is the head
    int columns;
    char text[GRID_MAX_LINES][GRID_MAX_COLUMNS][BENCH_TITLE_SIZE];
};

__attribute__((format(printf, 4, 5))) void grid_put(struct grid *grid, int line, int column,
                                                    const char *format, ...);
// The first column begins at the left, the others end at the right. Columns beyond 100 characters
// go to further tables, which begin with the first column. An empty line follows each.
void grid_print(const struct grid *grid);

#endif
