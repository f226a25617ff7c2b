// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring: reads complete where they are submitted. Were one handed to a
 * worker thread, its completion could be missing right after submission, and
 * a thread named iou-wrk-* would be there.
 */
#include "perf_clock_test.h"

#ifdef HAVE_LIBURING
#include <dirent.h>
#include <liburing.h>

FIXTURE(ring) {
	struct io_uring ring;
	int fd;
};

FIXTURE_SETUP(ring)
{
	int err = io_uring_queue_init(64, &self->ring, 0);

	if (err)
		SKIP(return, "io_uring: %s", strerror(-err));
	self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(ring)
{
	io_uring_queue_exit(&self->ring);
	close(self->fd);
}

/* Threads of this process that io_uring made to wait for something. */
static int workers(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	char path[300], name[64];
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f) &&
		    !strncmp(name, "iou-wrk", 7))
			n++;
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return n;
}

TEST_F(ring, reads_complete_inline)
{
	struct perf_clock_read records[32];
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	int round, i;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < 32; i++) {
			sqe = io_uring_get_sqe(&self->ring);
			ASSERT_NE(NULL, sqe);
			io_uring_prep_read(sqe, self->fd, &records[i],
					   sizeof(records[i]), -1);
		}
		/* Submits, and waits for nothing. */
		ASSERT_EQ(32, io_uring_submit(&self->ring));
		for (i = 0; i < 32; i++) {
			ASSERT_EQ(0, io_uring_peek_cqe(&self->ring, &cqe));
			ASSERT_EQ(16, cqe->res);
			io_uring_cqe_seen(&self->ring, cqe);
			ASSERT_GT(records[i].now, 0);
		}
	}
	EXPECT_EQ(0, workers());
}

/* The test above would see a worker, if there were one. */
TEST_F(ring, a_read_that_waits_does_make_a_worker)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);
	int pipes[2], tries;
	char c;

	ASSERT_EQ(0, pipe(pipes));
	io_uring_prep_read(sqe, pipes[0], &c, 1, -1);
	sqe->flags |= IOSQE_ASYNC;
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	for (tries = 0; !workers() && tries < 200; tries++)
		sleep_ms(10);
	if (!workers())
		SKIP(return, "this kernel runs workers outside the process");
	EXPECT_GT(workers(), 0);
	ASSERT_EQ(1, write(pipes[1], "x", 1));
}

TEST_F(ring, refusals_arrive_too)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);
	struct io_uring_cqe *cqe;
	char small[8];

	io_uring_prep_read(sqe, self->fd, small, sizeof(small), -1);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	ASSERT_EQ(0, io_uring_wait_cqe(&self->ring, &cqe));
	EXPECT_EQ(-EINVAL, cqe->res);
	io_uring_cqe_seen(&self->ring, cqe);
}

TEST_F(ring, poll_completes_at_each_move)
{
	struct __kernel_timespec limit = { .tv_sec = 5 };
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	int i;

	for (i = 0; i < 20; i++) {
		sqe = io_uring_get_sqe(&self->ring);
		io_uring_prep_poll_add(sqe, self->fd, POLLIN);
		ASSERT_EQ(1, io_uring_submit(&self->ring));
		ASSERT_EQ(0, io_uring_wait_cqe_timeout(&self->ring, &cqe,
						       &limit));
		EXPECT_EQ(POLLIN, cqe->res & POLLIN);
		io_uring_cqe_seen(&self->ring, cqe);
	}
	EXPECT_EQ(0, workers());
}

TEST_F(ring, one_multishot_poll_completes_many_times)
{
	struct __kernel_timespec limit = { .tv_sec = 5 };
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);
	struct io_uring_cqe *cqe;
	int i;

	io_uring_prep_poll_multishot(sqe, self->fd, POLLIN);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, io_uring_wait_cqe_timeout(&self->ring, &cqe,
						       &limit));
		if (cqe->res == -EINVAL)
			SKIP(return, "no multishot poll in this kernel");
		ASSERT_EQ(POLLIN, cqe->res & POLLIN);
		if (!(cqe->flags & IORING_CQE_F_MORE))
			SKIP(return, "no multishot poll in this kernel");
		io_uring_cqe_seen(&self->ring, cqe);
	}
}

#else

TEST(ring)
{
	SKIP(return, "built without liburing");
}

#endif

TEST_HARNESS_MAIN
