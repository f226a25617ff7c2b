/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations that fail on demand, and that are counted. The linker puts the
 * wrappers below in the place of malloc and its kin (UNIT_WRAP in unit.mk).
 */
#ifndef SELFTESTS_UNIT_ALLOC_FAULTS_H
#define SELFTESTS_UNIT_ALLOC_FAULTS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tap.h"

static long allocations, fail_at;	/* fail_at 0: none fails */
static long live_blocks;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_posix_memalign(void **p, size_t align, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void __real_free(void *p);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
char *__wrap_strdup(const char *str);
char *__wrap_strndup(const char *str, size_t n);
void __wrap_free(void *p);

static bool fails(void)
{
	return ++allocations == fail_at;
}

static void *counted(void *p)
{
	live_blocks += p != NULL;
	return p;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	void *q;

	if (fails())
		return NULL;
	q = __real_realloc(p, n);
	live_blocks += !p && q;
	return q;
}

int __wrap_posix_memalign(void **p, size_t align, size_t n)
{
	int err = fails() ? ENOMEM : __real_posix_memalign(p, align, n);

	live_blocks += !err;
	return err;
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	return fails() ? NULL : counted(__real_aligned_alloc(align, n));
}

char *__wrap_strdup(const char *str)
{
	return fails() ? NULL : counted(__real_strdup(str));
}

char *__wrap_strndup(const char *str, size_t n)
{
	return fails() ? NULL : counted(__real_strndup(str, n));
}

void __wrap_free(void *p)
{
	live_blocks -= p != NULL;
	__real_free(p);
}

/*
 * Run use() with the 1st, the 2nd, ... allocation failing, until it needs no
 * more of them. use() returns 0 or the library's error.
 */
static void fail_each(int (*use)(void))
{
	long n, before = live_blocks, survived = 0;
	int err;

	for (n = 1; n < 100000; n++) {
		allocations = 0;
		fail_at = n;
		err = use();
		fail_at = 0;
		EXPECT_EQ(live_blocks, before);
		if (allocations < n)
			break;
		survived += !err;
		if (err)
			EXPECT_EQ(err, -ENOMEM);
		if (tap_failed) {
			printf("# with allocation %ld failing\n", n);
			return;
		}
	}
	printf("# %ld allocations failed in turn, %ld of them without harm\n",
	       n - 1, survived);
	EXPECT_EQ(err, 0);
	EXPECT_OP(n, >, 1);
	EXPECT_OP(n, <, 100000);
}

#endif /* SELFTESTS_UNIT_ALLOC_FAULTS_H */
