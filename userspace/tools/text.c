// SPDX-License-Identifier: GPL-2.0
/* Text that grows in memory: see text.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"
#include "text.h"

static const char two_digits[] =
	"00010203040506070809" "10111213141516171819"
	"20212223242526272829" "30313233343536373839"
	"40414243444546474849" "50515253545556575859"
	"60616263646566676869" "70717273747576777879"
	"80818283848586878889" "90919293949596979899";

void text_free(struct text *t)
{
	free(t->buf);
	memset(t, 0, sizeof(*t));
}

void text_grow(struct text *t, size_t n)
{
	t->room = (t->used + n) * 2 + 1024;
	t->buf = tool_realloc(t->buf, t->room, 1);
}

void text_fill(struct text *t, char c, size_t n)
{
	text_need(t, n);
	memset(t->buf + t->used, c, n);
	t->used += n;
}

void put_two_digits(char *to, unsigned int v)
{
	memcpy(to, two_digits + v * 2, 2);
}

unsigned int put_decimal(char *to, uint64_t v)
{
	char digits[20];
	unsigned int at = sizeof(digits), n;

	if (v < 10) {
		*to = '0' + v;
		return 1;
	}
	while (v >= 100) {
		at -= 2;
		memcpy(digits + at, two_digits + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		at -= 2;
		memcpy(digits + at, two_digits + v * 2, 2);
	} else {
		digits[--at] = '0' + v;
	}
	n = sizeof(digits) - at;
	memcpy(to, digits + at, n);
	return n;
}

/* Eight digits at once: a nibble per byte, then each made a character. */
static uint64_t eight_hex_digits(uint32_t v, unsigned int letter)
{
	const uint64_t ones = 0x0101010101010101ULL;
	uint64_t x = v, above_nine;

	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fULL;
	above_nine = (x + 6 * ones) >> 4 & ones;
	x += '0' * ones + above_nine * (letter - '0' - 10);
	return x;	/* the last digit in the lowest byte */
}

static unsigned int put_hex_digits(char *to, uint64_t v, unsigned int letter)
{
	unsigned int n = v ? (67 - __builtin_clzll(v)) / 4 : 1;
	unsigned char digits[16];
	uint64_t high, low;

	if (v < 10) {
		*to = '0' + v;
		return 1;
	}
	high = __builtin_bswap64(eight_hex_digits(v >> 32, letter));
	low = __builtin_bswap64(eight_hex_digits(v, letter));
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
		high = __builtin_bswap64(high);
		low = __builtin_bswap64(low);
	}
	memcpy(digits, &high, 8);
	memcpy(digits + 8, &low, 8);
	memcpy(to, digits + 16 - n, n);
	return n;
}

unsigned int put_hex(char *to, uint64_t v)
{
	return put_hex_digits(to, v, 'a');
}

unsigned int put_hex_upper(char *to, uint64_t v)
{
	return put_hex_digits(to, v, 'A');
}

void text_u64(struct text *t, uint64_t v)
{
	text_need(t, 20);
	t->used += put_decimal(t->buf + t->used, v);
}

void text_s64(struct text *t, int64_t v)
{
	text_need(t, 21);
	if (v < 0)
		t->buf[t->used++] = '-';
	t->used += put_decimal(t->buf + t->used,
			       v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void text_hex(struct text *t, uint64_t v)
{
	text_need(t, 20);
	t->used += put_hex(t->buf + t->used, v);
}

void text_padded(struct text *t, uint64_t v, unsigned int width, char pad)
{
	char digits[20];
	unsigned int n = put_decimal(digits, v);

	if (n < width)
		text_fill(t, pad, width - n);
	text_bytes(t, digits, n);
}

void text_column(struct text *t, const char *s, size_t len,
		 unsigned int width, bool left)
{
	if (!left && len < width)
		text_fill(t, ' ', width - len);
	text_bytes(t, s, len);
	if (left && len < width)
		text_fill(t, ' ', width - len);
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	for (;;) {
		size_t room = t->room - t->used;

		va_start(ap, fmt);
		n = vsnprintf(room ? t->buf + t->used : NULL, room, fmt, ap);
		va_end(ap);
		if (n < 0)
			return;
		if ((size_t)n < room)
			break;
		text_grow(t, n + 1);
	}
	t->used += n;
}
