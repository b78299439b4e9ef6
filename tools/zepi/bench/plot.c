// SPDX-License-Identifier: MIT
#include "report.h"

#include <math.h>
#include <string.h>

// Bars from 1 (plain Level Zero) to the ratio, on a logarithmic axis; a group an operation, a bar a
// row. Builds have a panel of their own: they are decades away from the rest.

enum {
    WIDTH = 1120,
    LABEL_WIDTH = 350, // the operations' titles
    RIGHT = 90,        // room for the value behind the longest bar
    BAR = 13,
    BAR_STEP = 16,
    GROUP_GAP = 12,
    AXIS_HEIGHT = 46,
    HEAD_HEIGHT = 66,
    PANEL_GAP = 34,
};

// Told apart by the colour-blind, too.
static const char *const colours[BENCH_ROW_COUNT] = {"#9a9a9a", "#5c5c5c", "#0072b2", "#e69f00",
                                                     "#cc79a7", "#009e73", "#d55e00"};

struct panel {
    const char *title;
    int first; // operations
    int last;
    double low; // decades
    double high;
};

static void put_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '>')
            fputs("&gt;", file);
        else
            fputc(*text, file);
    }
}

static int bars_of(const struct bench *bench, int operation)
{
    int count = 0;
    for (int place = 0; place < BENCH_ROW_COUNT; place++)
        count += bench_ratio(bench, place, operation).value > 0;
    return count;
}

static int panel_height(const struct bench *bench, const struct panel *panel)
{
    int height = 0;
    for (int i = panel->first; i <= panel->last; i++) {
        const int bars = bars_of(bench, i);
        height += bars > 0 ? bars * BAR_STEP + GROUP_GAP : 0;
    }
    return height > 0 ? height + AXIS_HEIGHT : 0;
}

// Whole decades around all bars.
static void find_range(const struct bench *bench, struct panel *panel)
{
    panel->low = 0;
    panel->high = 1;
    for (int i = panel->first; i <= panel->last; i++) {
        for (int place = 0; place < BENCH_ROW_COUNT; place++) {
            const double ratio = bench_ratio(bench, place, i).value;
            if (ratio <= 0)
                continue;
            panel->low = fmin(panel->low, floor(log10(ratio)));
            panel->high = fmax(panel->high, ceil(log10(ratio)));
        }
    }
}

static double x_of(const struct panel *panel, double ratio)
{
    // Room for a value on the left, too.
    const double left = LABEL_WIDTH + (panel->low < 0 ? RIGHT : 0);
    return left + (log10(ratio) - panel->low) / (panel->high - panel->low) * (WIDTH - RIGHT - left);
}

static void draw_axis(FILE *file, const struct panel *panel, double top, double bottom)
{
    for (int decade = (int)panel->low; decade <= (int)panel->high; decade++) {
        const double x = x_of(panel, pow(10, decade));
        fprintf(file,
                "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s'/>\n"
                "<text x='%.1f' y='%.1f' text-anchor='middle' fill='#444'>%g</text>\n",
                x, top, x, bottom, decade == 0 ? "#222" : "#d8d8d8", x, bottom + 15,
                pow(10, decade));
        for (int i = 2; i < 10 && decade < (int)panel->high; i++) {
            const double minor = x_of(panel, i * pow(10, decade));
            fprintf(file, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#f0f0f0'/>\n",
                    minor, top, minor, bottom);
        }
    }
}

static void draw_bar(FILE *file, const struct panel *panel, int place, double y, double ratio)
{
    const double one = x_of(panel, 1);
    const double x = x_of(panel, ratio);
    const double width = fmax(fabs(x - one), 2);
    fprintf(file,
            "<rect x='%.1f' y='%.1f' width='%.1f' height='%d' fill='%s'/>\n"
            "<text x='%.1f' y='%.1f' text-anchor='%s' stroke='white' stroke-width='3' "
            "paint-order='stroke'>%.3g</text>\n",
            ratio < 1 ? one - width : one, y, width, BAR, colours[place],
            ratio < 1 ? one - width - 5 : one + width + 5, y + BAR - 2.5,
            ratio < 1 ? "end" : "start", ratio);
}

// Returns where the next panel begins.
static double draw_panel(FILE *file, const struct bench *bench, struct panel *panel, double top)
{
    const int height = panel_height(bench, panel);
    double y = top + GROUP_GAP / 2.0;
    if (height == 0)
        return top;
    find_range(bench, panel);
    draw_axis(file, panel, top, top + height - AXIS_HEIGHT);
    for (int i = panel->first; i <= panel->last; i++) {
        char title[BENCH_TITLE_SIZE];
        const int bars = bars_of(bench, i);
        if (bars == 0)
            continue;
        bench_title(i, title);
        fprintf(file, "<text x='%d' y='%.1f' text-anchor='end'>", LABEL_WIDTH - 12,
                y + bars * BAR_STEP / 2.0 + 3);
        put_text(file, title);
        fputs("</text>\n", file);
        for (int place = 0; place < BENCH_ROW_COUNT; place++) {
            const struct bench_ratio ratio = bench_ratio(bench, place, i);
            if (ratio.value <= 0)
                continue;
            draw_bar(file, panel, place, y, ratio.value);
            y += BAR_STEP;
        }
        y += GROUP_GAP;
    }
    fprintf(file, "<text x='%d' y='%.1f' text-anchor='end' fill='#444'>%s</text>\n",
            LABEL_WIDTH - 12, top + height - AXIS_HEIGHT + 15, panel->title);
    return top + height + PANEL_GAP;
}

static void draw_legend(FILE *file, const struct bench *bench)
{
    double x = 20;
    for (int place = 0; place < BENCH_ROW_COUNT; place++) {
        const char *name = bench->rows[place].name;
        if (!name)
            continue;
        fprintf(file,
                "<rect x='%.1f' y='38' width='%d' height='%d' fill='%s'/>\n<text x='%.1f' y='%d'>",
                x, BAR, BAR, colours[place], x + BAR + 5, 38 + BAR - 2);
        put_text(file, name);
        fputs("</text>\n", file);
        x += BAR + 30 + 7.2 * (double)strlen(name);
    }
}

// Whether all bars of the panel are times; a panel has one unit.
static const char *unit_of(const struct bench *bench, int first, int last)
{
    for (int i = first; i <= last; i++) {
        if (bars_of(bench, i) > 0 && bench_ratio(bench, BENCH_ROW_ZEPI, i).is_time)
            return "time, log scale";
    }
    return "instructions, log scale";
}

bool bench_report_plot(const struct bench *bench, FILE *file)
{
    struct panel panels[] = {{.first = 0, .last = BENCH_KERNEL},
                             {.first = BENCH_PROGRAM, .last = BENCH_COLD}};
    double height = HEAD_HEIGHT;
    for (int i = 0; i < 2; i++) {
        const int own = panel_height(bench, &panels[i]);
        panels[i].title = unit_of(bench, panels[i].first, panels[i].last);
        height += own > 0 ? own + PANEL_GAP : 0;
    }
    fprintf(file,
            "<?xml version='1.0' encoding='UTF-8'?>\n"
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%.0f' "
            "viewBox='0 0 %d %.0f' font-family='sans-serif' font-size='12' fill='#222'>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n"
            "<text x='20' y='24' font-size='15'>Cost in times that of plain Level Zero (1: the "
            "cheaper of its two ways)</text>\n",
            WIDTH, height, WIDTH, height);
    draw_legend(file, bench);
    double top = HEAD_HEIGHT;
    for (int i = 0; i < 2; i++)
        top = draw_panel(file, bench, &panels[i], top);
    fputs("</svg>\n", file);
    return !ferror(file) && fflush(file) == 0;
}
