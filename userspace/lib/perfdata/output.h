/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Internal: a buffered writer, and files without a name. */
#ifndef PERFCLOCK_LIB_PERFDATA_OUTPUT_H
#define PERFCLOCK_LIB_PERFDATA_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * There are two buffers: one is filled while a thread writes the other. The
 * thread begins with the first full buffer, so that little output needs none.
 */
struct pd_output {
	int fd;
	int error;		/* -errno of the first write that failed */
	uint64_t pos;		/* bytes given so far */
	uint8_t *buf;		/* the one being filled */
	size_t used;
	struct pd_writer *writer;
};

/* 0, -ENOMEM. Writes go on from the descriptor's position. */
int pd_output_init(struct pd_output *o, int fd);
void pd_output_free(struct pd_output *o);
void pd_output_bytes(struct pd_output *o, const void *bytes, size_t n);
/* All bytes out, none under way. 0, or the error. */
int pd_output_flush(struct pd_output *o);

/* n bytes from a place, whole. 0, -EIO (there are fewer), -errno. */
int pd_pread_all(int fd, void *buf, size_t n, uint64_t at);
int pd_pwrite_all(int fd, const void *buf, size_t n, uint64_t at);

/* A file in a directory that vanishes with its descriptor. fd, -errno. */
int pd_temporary_file(const char *dir);

#endif /* PERFCLOCK_LIB_PERFDATA_OUTPUT_H */
