// SPDX-License-Identifier: GPL-2.0
/* A terminal that is drawn over in place: see screen.h. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "common.h"
#include "screen.h"

static struct termios before;
static bool active;

static void put(const char *s, size_t n)
{
	ssize_t done;

	for (; n; s += done, n -= done) {
		done = write(STDOUT_FILENO, s, n);
		if (done <= 0)
			return;
	}
}

bool screen_usable(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term &&
	       *term && strcmp(term, "dumb");
}

void screen_begin(void)
{
	static const char on[] = "\033[?1049h\033[?25l";
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &before))
		return;
	raw = before;
	raw.c_lflag &= ~(ICANON | ECHO);	/* Ctrl-C still is a signal */
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	put(on, sizeof(on) - 1);
	active = true;
	atexit(screen_end);
}

void screen_end(void)
{
	static const char off[] = "\033[?25h\033[?1049l";

	if (!active)
		return;
	active = false;
	put(off, sizeof(off) - 1);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

void screen_size(unsigned int *rows, unsigned int *columns)
{
	struct winsize w;

	*rows = 24;
	*columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w))
		return;
	if (w.ws_row)
		*rows = w.ws_row;
	if (w.ws_col)
		*columns = w.ws_col;
}

void screen_draw(const struct text *t)
{
	const char *s = t->buf, *end = s + t->used;
	struct text out = { 0 };
	unsigned int rows, columns, row;

	screen_size(&rows, &columns);
	text_string(&out, "\033[H");
	for (row = 0; row < rows && s < end; row++) {
		const char *newline = memchr(s, '\n', end - s);

		if (!newline)
			newline = end;
		if (row)
			text_string(&out, "\r\n");
		text_bytes(&out, s, newline - s);
		text_string(&out, "\033[K");
		s = newline + 1;
	}
	text_string(&out, "\033[J");
	put(out.buf, out.used);
	text_free(&out);
}

/* One byte, if there is one; -1. */
static int next_byte(int wait_ms)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char c;

	if (poll(&p, 1, wait_ms) <= 0 || read(STDIN_FILENO, &c, 1) != 1)
		return -1;
	return c;
}

int screen_key(void)
{
	int c = next_byte(0);

	if (c < 0)
		return KEY_NONE;
	if (c != '\033')
		return c;
	c = next_byte(5);
	if (c != '[' && c != 'O')
		return c < 0 ? '\033' : KEY_NONE;
	c = next_byte(5);
	return c == 'A' ? KEY_UP : c == 'B' ? KEY_DOWN : KEY_NONE;
}
