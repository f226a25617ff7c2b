/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Internal: numbers out of bytes of any alignment and either byte order. */
#ifndef PERFCLOCK_LIB_BYTES_H
#define PERFCLOCK_LIB_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HOST_BIG_ENDIAN		(__BYTE_ORDER == __BIG_ENDIAN)

static inline uint16_t get_u16(const void *p, bool big)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return big != HOST_BIG_ENDIAN ? __builtin_bswap16(v) : v;
}

static inline uint32_t get_u32(const void *p, bool big)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return big != HOST_BIG_ENDIAN ? __builtin_bswap32(v) : v;
}

static inline uint64_t get_u64(const void *p, bool big)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return big != HOST_BIG_ENDIAN ? __builtin_bswap64(v) : v;
}

static inline void put_u64(void *p, uint64_t v, bool big)
{
	if (big != HOST_BIG_ENDIAN)
		v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

#endif /* PERFCLOCK_LIB_BYTES_H */
