/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Internal: how opts structures that begin with 'sz' are taken in. */
#ifndef PERFCLOCK_LIB_OPTS_H
#define PERFCLOCK_LIB_OPTS_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

/*
 * Copy a caller's structure of *(size_t *)src bytes into the library's, whose
 * missing tail becomes zero. NULL: all zero. A tail that we don't know must be
 * zero, as then it asks for nothing. 0, -EINVAL (no sz) or -E2BIG.
 */
static inline int opts_copy(void *dst, size_t dst_size, const void *src)
{
	const unsigned char *tail;
	size_t sz, i;

	memset(dst, 0, dst_size);
	*(size_t *)dst = dst_size;
	if (!src)
		return 0;
	memcpy(&sz, src, sizeof(sz));
	if (sz < sizeof(sz))
		return -EINVAL;
	tail = (const unsigned char *)src + dst_size;
	for (i = dst_size; i < sz; i++)
		if (*tail++)
			return -E2BIG;
	memcpy(dst, src, sz < dst_size ? sz : dst_size);
	*(size_t *)dst = dst_size;
	return 0;
}

/*
 * Copy a library's result into a caller's structure, whose first member 'sz'
 * says how much of it there is; more than we know becomes zero.
 */
static inline int opts_return(void *dst, const void *src, size_t src_size)
{
	size_t sz;

	memcpy(&sz, dst, sizeof(sz));
	if (sz < sizeof(sz))
		return -EINVAL;
	if (sz > src_size)
		memset((char *)dst + src_size, 0, sz - src_size);
	memcpy(dst, src, sz < src_size ? sz : src_size);
	memcpy(dst, &sz, sizeof(sz));
	return 0;
}

#endif /* PERFCLOCK_LIB_OPTS_H */
