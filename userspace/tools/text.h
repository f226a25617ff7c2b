/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text that grows in memory: lines are put together here and written out in
 * large pieces. The numbers' printers are written by hand, as they are most of
 * what a trace spends its time on.
 */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
	char *buf;
	size_t used, room;
};

void text_free(struct text *t);
void text_grow(struct text *t, size_t n);

/* After this n more bytes fit; even for none there is a buffer. */
static inline void text_need(struct text *t, size_t n)
{
	if (__builtin_expect(t->room - t->used <= n, 0))
		text_grow(t, n);
}

static inline void text_bytes(struct text *t, const char *s, size_t n)
{
	text_need(t, n);
	memcpy(t->buf + t->used, s, n);
	t->used += n;
}

/*
 * The same for short constant pieces: s has room for 16 bytes to be read,
 * whatever n. A fixed move is cheaper than a call.
 */
static inline void text_short(struct text *t, const char *s, size_t n)
{
	if (__builtin_expect(n > 16, 0)) {
		text_bytes(t, s, n);
		return;
	}
	text_need(t, 16);
	memcpy(t->buf + t->used, s, 16);
	t->used += n;
}

static inline void text_string(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}

static inline void text_char(struct text *t, char c)
{
	text_need(t, 1);
	t->buf[t->used++] = c;
}

void text_fill(struct text *t, char c, size_t n);

/* Write v, without NUL, to where at least 20 bytes fit; its length. */
unsigned int put_decimal(char *to, uint64_t v);
void put_two_digits(char *to, unsigned int v);	/* v < 100 */
unsigned int put_hex(char *to, uint64_t v);
unsigned int put_hex_upper(char *to, uint64_t v);

void text_u64(struct text *t, uint64_t v);
void text_s64(struct text *t, int64_t v);
void text_hex(struct text *t, uint64_t v);
/* Blanks (or zeros) in front up to width. */
void text_padded(struct text *t, uint64_t v, unsigned int width, char pad);

/* A string in a column: blanks in front (right) or behind. */
void text_column(struct text *t, const char *s, size_t len,
		 unsigned int width, bool left);

void text_printf(struct text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* TOOLS_TEXT_H */
