/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TAP for user space test programs: one function per test, a table of them,
 * and main() through TAP_MAIN. A test function fails at its first ASSERT,
 * may go on after an EXPECT, and skips with SKIP(reason).
 */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tap_test {
	const char *name;
	void (*fn)(void);
};

static jmp_buf tap_env;
static int tap_failed;
static char tap_skip[256];

static inline void __attribute__((format(printf, 3, 4), unused))
tap_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	tap_failed++;
	printf("# %s:%d: ", file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

#define EXPECT(cond) do {						\
	if (!(cond))							\
		tap_fail(__FILE__, __LINE__, "not true: %s", #cond);	\
} while (0)

#define EXPECT_OP(a, op, b) do {					\
	long long _a = (long long)(a), _b = (long long)(b);		\
	if (!(_a op _b))						\
		tap_fail(__FILE__, __LINE__, "%s %s %s: %lld, %lld",	\
			 #a, #op, #b, _a, _b);				\
} while (0)
#define EXPECT_EQ(a, b) EXPECT_OP(a, ==, b)

#define EXPECT_STREQ(a, b) do {						\
	const char *_a = (a), *_b = (b);				\
	if (!_a || !_b || strcmp(_a, _b))				\
		tap_fail(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"",	\
			 #a, _a ? _a : "(null)", _b ? _b : "(null)");	\
} while (0)

/* As EXPECT, and the test ends there. */
#define ASSERT(cond) do {						\
	if (!(cond)) {							\
		tap_fail(__FILE__, __LINE__, "not true: %s", #cond);	\
		longjmp(tap_env, 1);					\
	}								\
} while (0)
#define ASSERT_OP(a, op, b) do {					\
	int _n = tap_failed;						\
	EXPECT_OP(a, op, b);						\
	if (tap_failed != _n)						\
		longjmp(tap_env, 1);					\
} while (0)
#define ASSERT_EQ(a, b) ASSERT_OP(a, ==, b)

#define SKIP(...) do {							\
	snprintf(tap_skip, sizeof(tap_skip), __VA_ARGS__);		\
	longjmp(tap_env, 1);						\
} while (0)

/* argv[1], if given: run only the tests whose name contains it. */
static inline int __attribute__((unused))
tap_main(const struct tap_test *tests, int n, int argc, char **argv)
{
	int i;
	volatile int bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%d\n", n);
	for (i = 0; i < n; i++) {
		tap_failed = 0;
		tap_skip[0] = '\0';
		if (argc > 1 && !strstr(tests[i].name, argv[1]))
			snprintf(tap_skip, sizeof(tap_skip), "not asked for");
		else if (!setjmp(tap_env))
			tests[i].fn();
		if (tap_failed)
			bad++;
		printf("%sok %d %s%s%s\n", tap_failed ? "not " : "", i + 1,
		       tests[i].name,
		       tap_skip[0] && !tap_failed ? " # SKIP " : "",
		       tap_failed ? "" : tap_skip);
	}
	return bad ? 1 : 0;
}

#define TAP_MAIN(tests)							\
int main(int argc, char **argv)						\
{									\
	return tap_main(tests, sizeof(tests) / sizeof((tests)[0]),	\
			argc, argv);					\
}

#endif /* SELFTESTS_TAP_H */
