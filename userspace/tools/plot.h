/* SPDX-License-Identifier: GPL-2.0 */
/* The picture of "perfclock compare": lateness and lag of each policy. */
#ifndef TOOLS_PLOT_H
#define TOOLS_PLOT_H

struct compare_result;

/*
 * Before the run: can it be drawn at all? Returns TOOL_DONE, or TOOL_FAILED
 * with a message (no gnuplot, file cannot be written).
 */
int plot_check(const char *path);
/* Draw an SVG file. 0, or -errno with a message. */
int plot_policies(const char *path, const char *title,
		  const struct compare_result *const *results,
		  unsigned int nr);

#endif /* TOOLS_PLOT_H */
