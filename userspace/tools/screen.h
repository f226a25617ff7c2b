/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A terminal that is drawn over in place: the alternate screen, no echo, keys
 * one by one. What the terminal was before comes back at the end, after a
 * stop and at a crash of the program's own making too.
 */
#ifndef TOOLS_SCREEN_H
#define TOOLS_SCREEN_H

#include <stdbool.h>

#include "text.h"

enum {
	KEY_NONE = 0,
	KEY_UP = 256, KEY_DOWN
};

/* Are stdin and stdout a terminal that can do it? */
bool screen_usable(void);
void screen_begin(void);
void screen_end(void);
/* Rows and columns now. */
void screen_size(unsigned int *rows, unsigned int *columns);
/*
 * Show text from the top left; the rest becomes blank. Lines must fit; what is
 * below the last row is cut. One write, so that nothing flickers.
 */
void screen_draw(const struct text *t);
/* A key that was hit, KEY_*, or KEY_NONE; never waits. */
int screen_key(void);

#endif /* TOOLS_SCREEN_H */
