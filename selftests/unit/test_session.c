// SPDX-License-Identifier: GPL-2.0
/*
 * The round's rule, on simulated rings: what is delivered when, in which
 * order, and what is counted.
 */
#include <sys/personality.h>
#include <sys/utsname.h>

#include "sim_session.h"

static void delivers_strictly_below_the_watermark(void)
{
	set_up(1);
	sim_sample(&rings[0], 10, 1, 1);
	sim_sample(&rings[0], 20, 2, 1);
	sim_sample(&rings[0], 30, 3, 1);
	sim_publish(&rings[0]);
	sim_watermark = 20;
	EXPECT_EQ(poll_now(), 1);
	EXPECT_EQ(got[0].stamp, 10);
	EXPECT_EQ(stats().held, 2);
	sim_watermark = 21;
	EXPECT_EQ(poll_now(), 1);
	EXPECT_EQ(got[1].stamp, 20);
	EXPECT_EQ(perfclock_session_finish(s, collect, NULL), 1);
	EXPECT_EQ(got[2].stamp, 30);
	tear_down(1);
}

static void merges_rings_by_stamp_then_ring(void)
{
	static const uint64_t stamp[] = { 1, 2, 2, 3, 4, 5 };
	static const uint32_t ring[] = { 1, 0, 1, 0, 1, 0 };
	int i;

	set_up(2);
	sim_sample(&rings[0], 2, 0, 1);
	sim_sample(&rings[0], 3, 0, 1);
	sim_sample(&rings[0], 5, 0, 1);
	sim_sample(&rings[1], 1, 0, 1);
	sim_sample(&rings[1], 2, 0, 1);
	sim_sample(&rings[1], 4, 0, 1);
	sim_publish(&rings[0]);
	sim_publish(&rings[1]);
	sim_watermark = 100;
	ASSERT_EQ(poll_now(), 6);
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(got[i].stamp, stamp[i]);
		EXPECT_EQ(got[i].ring, ring[i]);
	}
	tear_down(2);
}

static void publish_late(void)
{
	sim_publish(&rings[0]);
}

/*
 * A record published after W was loaded and before its ring is looked at is
 * read, and nothing wrong comes of it: W was loaded first.
 */
static void watermark_is_loaded_before_any_head(void)
{
	set_up(1);
	sim_sample(&rings[0], 10, 1, 1);
	sim_on_watermark = publish_late;
	sim_watermark = 11;
	EXPECT_EQ(poll_now(), 1);
	tear_down(1);
}

static void held_records_take_no_ring_space(void)
{
	set_up(1);
	sim_sample(&rings[0], 10, 1, 1);
	sim_publish(&rings[0]);
	EXPECT_EQ(poll_now(), 0);
	EXPECT_EQ(stats().held, 1);
	EXPECT_EQ(rings[0].page->data_tail, rings[0].head);
	tear_down(1);
}

static void fields_arrive(void)
{
	set_up(1);
	sim_sample(&rings[0], 10, 4711, 3);
	sim_publish(&rings[0]);
	sim_watermark = 11;
	ASSERT_EQ(poll_now(), 1);
	EXPECT_EQ(got[0].type, PERF_RECORD_SAMPLE);
	EXPECT_EQ(got[0].pid, 100);
	EXPECT_EQ(got[0].tid, 101);
	EXPECT_EQ(got[0].cpu, 3);
	EXPECT_EQ(got[0].raw, 4711);
	tear_down(1);
}

static void lost_is_counted_and_keeps_its_place(void)
{
	struct perfclock_ring_stats rs = { .sz = sizeof(rs) };

	set_up(2);
	sim_sample(&rings[0], 10, 1, 1);
	/* Its own stamp would put it last. */
	sim_lost(&rings[0], 99, 5);
	sim_sample(&rings[0], 30, 2, 1);
	sim_sample(&rings[1], 20, 3, 1);
	sim_publish(&rings[0]);
	sim_publish(&rings[1]);
	sim_watermark = 31;
	ASSERT_EQ(poll_now(), 4);
	EXPECT_EQ(got[0].stamp, 10);
	EXPECT_EQ(got[1].type, PERF_RECORD_LOST);
	EXPECT_EQ(got[1].lost, 5);
	EXPECT_EQ(got[2].stamp, 20);
	EXPECT_EQ(got[3].stamp, 30);
	EXPECT_EQ(stats().lost, 5);
	EXPECT_EQ(stats().late, 0);
	EXPECT_EQ(perfclock_session_get_ring_stats(s, 0, &rs), 0);
	EXPECT_EQ(rs.lost, 5);
	EXPECT_EQ(perfclock_session_get_ring_stats(s, 1, &rs), 0);
	EXPECT_EQ(rs.lost, 0);
	tear_down(2);
}

static void fork_and_exit_go_by_the_trailer(void)
{
	set_up(1);
	sim_sample(&rings[0], 10, 1, 1);
	sim_task(&rings[0], PERF_RECORD_FORK, 1, 20);
	sim_task(&rings[0], PERF_RECORD_EXIT, 999, 30);
	sim_sample(&rings[0], 40, 1, 1);
	sim_publish(&rings[0]);
	sim_watermark = 35;
	ASSERT_EQ(poll_now(), 3);
	EXPECT_EQ(got[1].type, PERF_RECORD_FORK);
	EXPECT_EQ(got[1].stamp, 20);
	EXPECT_EQ(got[2].type, PERF_RECORD_EXIT);
	EXPECT_EQ(got[2].stamp, 30);
	tear_down(1);
}

static void inversions_inside_a_ring_are_repaired(void)
{
	set_up(1);
	sim_sample(&rings[0], 10, 1, 1);
	sim_sample(&rings[0], 30, 2, 1);
	sim_sample(&rings[0], 20, 3, 1);
	sim_publish(&rings[0]);
	sim_watermark = 31;
	ASSERT_EQ(poll_now(), 3);
	EXPECT_EQ(got[1].stamp, 20);
	EXPECT_EQ(got[2].stamp, 30);
	EXPECT_EQ(stats().inversions, 1);
	EXPECT_EQ(stats().late, 0);
	tear_down(1);
}

/*
 * A watermark that lies: one record is delivered, and then one is read that
 * belonged before it. Returns what the poll that reads it does.
 */
static long poll_a_late_record(struct perfclock_session_opts *o)
{
	set_up_opts(1, 1, o);
	sim_sample(&rings[0], 50, 1, 1);
	sim_publish(&rings[0]);
	sim_watermark = 60;
	EXPECT_EQ(poll_now(), 1);
	sim_sample(&rings[0], 20, 2, 1);
	sim_publish(&rings[0]);
	return poll_now();
}

static void late_records_are_delivered_flagged(void)
{
	struct perfclock_session_opts o = { .late = PERFCLOCK_LATE_DELIVER };

	EXPECT_EQ(poll_a_late_record(&o), 1);
	EXPECT_EQ(got[1].stamp, 20);
	EXPECT(got[1].flags & PERFCLOCK_RECORD_LATE);
	EXPECT_EQ(stats().late, 1);
	EXPECT_EQ(stats().max_late_ns, 30);
	tear_down(1);
}

static void late_records_are_dropped_on_request(void)
{
	struct perfclock_session_opts o = { .late = PERFCLOCK_LATE_DISCARD };

	EXPECT_EQ(poll_a_late_record(&o), 0);
	EXPECT_EQ(stats().dropped, 1);
	tear_down(1);
}

static void late_records_fail_on_request(void)
{
	struct perfclock_session_opts o = { .late = PERFCLOCK_LATE_FAIL };

	EXPECT_EQ(poll_a_late_record(&o), -EILSEQ);
	EXPECT_EQ(stats().dropped, 1);
	tear_down(1);
}

static void malformed_record_is_counted_and_the_ring_goes_on(void)
{
	set_up(1);
	sim_sample(&rings[0], 10, 1, 1);
	sim_header(&rings[0], PERF_RECORD_SAMPLE, 0);
	sim_publish(&rings[0]);
	sim_watermark = 100;
	EXPECT_EQ(poll_now(), 1);
	EXPECT_EQ(stats().truncated, 1);
	sim_sample(&rings[0], 20, 1, 1);
	sim_publish(&rings[0]);
	EXPECT_EQ(poll_now(), 1);
	EXPECT_EQ(rings[0].page->data_tail, rings[0].head);
	tear_down(1);
}

static void callback_can_stop_and_nothing_is_lost(void)
{
	int i;

	set_up(1);
	for (i = 1; i <= 5; i++)
		sim_sample(&rings[0], i, i, 1);
	sim_publish(&rings[0]);
	sim_watermark = 100;
	stop_after = 2;
	EXPECT_EQ(poll_now(), -ECANCELED);
	EXPECT_EQ(nr_got, 2);
	EXPECT_EQ(stats().held, 3);
	EXPECT_EQ(poll_now(), 3);
	for (i = 0; i < 5; i++)
		EXPECT_EQ(got[i].stamp, i + 1);
	tear_down(1);
}

static void stop_ends_polling_and_finish_still_delivers(void)
{
	set_up(1);
	sim_sample(&rings[0], 10, 1, 1);
	sim_publish(&rings[0]);
	perfclock_session_stop(s);
	EXPECT_EQ(perfclock_session_poll(s, 1000, collect, NULL), -ESHUTDOWN);
	EXPECT_EQ(perfclock_session_poll(s, 1000, collect, NULL), -ESHUTDOWN);
	EXPECT_EQ(perfclock_session_finish(s, collect, NULL), 1);
	EXPECT_EQ(stats().held, 0);
	tear_down(1);
}

static void lag_is_now_minus_the_watermark(void)
{
	set_up(1);
	sim_watermark = 1000;
	sim_now = 1000 + 320;
	EXPECT_EQ(poll_now(), 0);
	EXPECT_EQ(stats().lag_max_ns, 320);
	EXPECT_OP(stats().lag_p50_ns, >=, 300);
	EXPECT_OP(stats().lag_p50_ns, <=, 340);
	tear_down(1);
}

static void adopting_wants_a_stamp_and_the_same_clock(void)
{
	struct perfclock_adopt_opts ao = { .sz = sizeof(ao), .fd = -1 };

	set_up(1);
	perfclock_session_free(s);
	ASSERT_EQ(perfclock_session_new(&s, NULL), 0);
	ao.base = rings[0].page;
	ao.size = rings[0].bytes;
	EXPECT_EQ(perfclock_session_adopt(s, &ao), -EINVAL);
	ao.attr = &attr;
	attr.sample_type &= ~PERF_SAMPLE_TIME;
	EXPECT_EQ(perfclock_session_adopt(s, &ao), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "PERF_SAMPLE_TIME"));
	attr = sim_attr();
	attr.use_clockid = 1;
	EXPECT_EQ(perfclock_session_adopt(s, &ao), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "can be set"));
	attr = sim_attr();
	attr.inherit_stat = 1;
	EXPECT_EQ(perfclock_session_adopt(s, &ao), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "inherit_stat"));
	tear_down(1);
}

/* As many as there are numbers for; one more is refused, and it says so. */
static void there_is_a_most_of_rings(void)
{
	const size_t page = sysconf(_SC_PAGESIZE), bytes = 2 * page;
	struct perfclock_adopt_opts ao = {
		.sz = sizeof(ao), .fd = -1, .size = bytes, .attr = &attr,
	};
	struct perf_event_mmap_page *p;
	char *all;
	int i;

	ASSERT_EQ(perfclock_session_new(&s, NULL), 0);
	attr = sim_attr();
	all = aligned_alloc(page, (PERFCLOCK_ORDER_MAX_RINGS + 1) * bytes);
	ASSERT(all);
	for (i = 0; i <= PERFCLOCK_ORDER_MAX_RINGS; i++) {
		p = (void *)(all + i * bytes);
		memset(p, 0, page);
		p->data_offset = p->data_size = page;
		ao.base = p;
		ASSERT_EQ(perfclock_session_adopt(s, &ao),
			  i < PERFCLOCK_ORDER_MAX_RINGS ? i : -ENOSPC);
	}
	EXPECT(strstr(perfclock_session_error(s), "ring"));
	perfclock_session_free(s);
	free(all);
}

static void what_failed_leaves_no_handle(void)
{
	struct perfclock_session_opts o = {
		.sz = sizeof(o), .mmap_pages = 3,
	};

	s = (void *)&o;
	EXPECT_EQ(perfclock_session_new(&s, &o), -EINVAL);
	EXPECT(!s);
	EXPECT_EQ(perfclock_session_new(NULL, NULL), -EINVAL);
}

static void calls_at_the_wrong_time_say_so(void)
{
	struct perfclock_session_observer ob = { .sz = 1 };

	ASSERT_EQ(perfclock_session_new(&s, NULL), 0);
	EXPECT_EQ(perfclock_session_poll(s, 0, NULL, NULL), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "poll"));
	EXPECT_EQ(perfclock_session_finish(s, NULL, NULL), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "not started"));
	EXPECT_EQ(perfclock_session_observe(s, &ob), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "observer"));
	EXPECT_EQ(perfclock_session_add(s, NULL, NULL), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "no name"));
	perfclock_session_free(s);
}

static int add_attr(struct perf_event_attr *a)
{
	struct perfclock_event_opts eo = { .sz = sizeof(eo), .attr = a };

	a->size = sizeof(*a);
	a->type = PERF_TYPE_SOFTWARE;
	return perfclock_session_add(s, "mine", &eo);
}

static void session_for_conditions(bool unproven)
{
	struct perfclock_session_opts o = { .sz = sizeof(o) };

	sim_unproven = unproven;
	ASSERT_EQ(perfclock_session_new(&s, &o), 0);
	sim_unproven = false;
}

static void hardware_stamps_are_refused_or_flagged(void)
{
	struct perf_event_attr a = { .precise_ip = 2 };

	session_for_conditions(false);
	EXPECT_EQ(add_attr(&a), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "precise_ip"));
	perfclock_session_free(s);
	session_for_conditions(true);
	EXPECT_EQ(add_attr(&a), 0);
	EXPECT(!stats().proven);
	perfclock_session_free(s);
}

static void clocks_that_can_be_set_are_refused(void)
{
	struct perf_event_attr a = { .use_clockid = 1 };

	session_for_conditions(false);
	a.clockid = CLOCK_REALTIME;
	EXPECT_EQ(add_attr(&a), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "can be set"));
	a.clockid = CLOCK_TAI;
	EXPECT_EQ(add_attr(&a), -EINVAL);
	/* And one that merely isn't the session's. */
	a.clockid = CLOCK_MONOTONIC;
	EXPECT_EQ(add_attr(&a), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "session's clock"));
	perfclock_session_free(s);
}

static void backward_rings_are_refused(void)
{
	struct perf_event_attr a = { .write_backward = 1 };

	session_for_conditions(false);
	EXPECT_EQ(add_attr(&a), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "write_backward"));
	perfclock_session_free(s);
}

static void unproven_provider_is_told(void)
{
	session_for_conditions(true);
	EXPECT(!stats().proven);
	EXPECT(stats().unproven_reason[0]);
	perfclock_session_free(s);
}

/* Is a ring of BPF output, adopted, proven with this provider? */
static bool bpf_output_proven(const char *provider)
{
	struct perfclock_adopt_opts ao = { .sz = sizeof(ao), .fd = -1 };
	bool proven;

	sim_provider = provider;
	session_for_conditions(false);
	sim_provider = "simulated";
	sim_ring_init(&rings[0], 1);
	attr = sim_attr();
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	ao.attr = &attr;
	ao.base = rings[0].page;
	ao.size = rings[0].bytes;
	EXPECT_EQ(perfclock_session_adopt(s, &ao), 0);
	EXPECT_EQ(perfclock_session_start(s), 0);
	proven = stats().proven;
	if (!proven)
		EXPECT(strstr(stats().unproven_reason, provider));
	tear_down(1);
	attr = sim_attr();
	return proven;
}

/* What this machine's kernel calls itself: 2.6.x, or as it is. */
static void call_kernel(unsigned long persona)
{
	struct utsname u;

	ASSERT(personality(persona) >= 0);
	ASSERT_EQ(uname(&u), 0);
	ASSERT_EQ(!strncmp(u.release, "2.6.", 4), persona == UNAME26);
}

static void bpf_output_that_may_be_preempted_is_told(void)
{
	bool alone = sysconf(_SC_NPROCESSORS_ONLN) == 1;

	call_kernel(UNAME26);
	EXPECT(!bpf_output_proven("cpu-visit"));
	EXPECT_EQ(bpf_output_proven("membarrier"), !alone);
	EXPECT(bpf_output_proven("module"));
	call_kernel(0);
}

static void bpf_output_of_newer_kernels_is_proven(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	ASSERT_EQ(uname(&u), 0);
	sscanf(u.release, "%u.%u", &major, &minor);
	if (major < 6 || (major == 6 && minor < 6))
		SKIP("Linux %u.%u", major, minor);
	EXPECT(bpf_output_proven("cpu-visit"));
}

static void no_side_band_stamps_is_told(void)
{
	struct perfclock_adopt_opts ao = { .sz = sizeof(ao), .fd = -1 };

	session_for_conditions(false);
	sim_ring_init(&rings[0], 1);
	attr = sim_attr();
	attr.sample_id_all = 0;
	ao.base = rings[0].page;
	ao.size = rings[0].bytes;
	ao.attr = &attr;
	EXPECT_EQ(perfclock_session_adopt(s, &ao), 0);
	ASSERT_EQ(perfclock_session_start(s), 0);
	EXPECT(!stats().proven);
	EXPECT(strstr(stats().unproven_reason, "sample_id_all"));
	tear_down(1);
}

/* Synthesized records bear stamp 0; READ's says nothing: by position. */
static void records_without_a_word_keep_their_place(void)
{
	set_up(2);
	sim_sample(&rings[0], 10, 1, 1);
	sim_task(&rings[0], PERF_RECORD_FORK, 0, 0);
	sim_task(&rings[0], PERF_RECORD_READ, 5, 5);
	sim_task(&rings[0], PERF_RECORD_EXIT, 0, UINT64_MAX);
	sim_sample(&rings[0], 30, 2, 1);
	sim_sample(&rings[1], 20, 3, 1);
	sim_publish(&rings[0]);
	sim_publish(&rings[1]);
	sim_watermark = 25;
	ASSERT_EQ(poll_now(), 5);
	EXPECT_EQ(got[1].type, PERF_RECORD_FORK);
	EXPECT_EQ(got[2].type, PERF_RECORD_READ);
	EXPECT_EQ(got[3].type, PERF_RECORD_EXIT);
	EXPECT_EQ(got[4].stamp, 20);
	EXPECT_EQ(stats().late, 0);
	EXPECT_EQ(stats().inversions, 0);
	tear_down(2);
}

/* A session, and what adopts its ring 0. */
static struct perfclock_adopt_opts ring_of_records_with_ids(void)
{
	session_for_conditions(false);
	sim_ring_init(&rings[0], 1);
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
	return (struct perfclock_adopt_opts){
		.sz = sizeof(struct perfclock_adopt_opts), .fd = -1,
		.base = rings[0].page, .size = rings[0].bytes, .attr = &attr,
	};
}

static void several_events_in_an_adopted_ring_go_by_id(void)
{
	struct perfclock_adopt_opts ao = ring_of_records_with_ids();
	struct {
		struct perf_event_header h;
		uint64_t id, time;
	} rec = { .h = { PERF_RECORD_SAMPLE, 0, sizeof(rec) } };
	uint64_t i;

	for (i = 0; i < 3; i++) {
		ao.id = 100 + i;
		ASSERT_EQ(perfclock_session_adopt(s, &ao), i);
	}
	/* Without an id it could not be told apart, nor by one not in records. */
	ao.id = 0;
	EXPECT_EQ(perfclock_session_adopt(s, &ao), -EINVAL);
	attr.sample_type = PERF_SAMPLE_TIME;
	ao.id = 103;
	EXPECT_EQ(perfclock_session_adopt(s, &ao), -EINVAL);
	ASSERT_EQ(perfclock_session_start(s), 0);
	EXPECT_EQ(stats().rings, 1);
	for (i = 0; i < 4; i++) {
		rec.id = 103 - i;
		rec.time = 10 + i;
		sim_write(&rings[0], &rec, sizeof(rec));
	}
	sim_publish(&rings[0]);
	nr_got = 0;
	sim_watermark = 100;
	ASSERT_EQ(poll_now(), 4);
	/* An id of nobody: delivered, belongs to none, orders nothing. */
	EXPECT_EQ(got[0].index, -1);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(got[i].id, 103 - i);
	EXPECT_EQ(got[1].index, 2);
	EXPECT_EQ(got[2].index, 1);
	EXPECT_EQ(got[3].index, 0);
	tear_down(1);
}

static void a_first_event_without_an_id_shares_its_ring_with_none(void)
{
	struct perfclock_adopt_opts ao = ring_of_records_with_ids();

	ASSERT_EQ(perfclock_session_adopt(s, &ao), 0);
	ao.id = 101;
	EXPECT_EQ(perfclock_session_adopt(s, &ao), -EINVAL);
	tear_down(1);
}

static void provider_that_fails_for_a_while_loses_nothing(void)
{
	int i;

	set_up(1);
	sim_watermark = 11;
	sim_watermark_error = -EINVAL;
	for (i = 1; i < 500; i++) {
		sim_sample(&rings[0], i, i, 1);
		sim_publish(&rings[0]);
		EXPECT_OP(poll_now(), >=, 0);
	}
	/* The watermark stands still, the ring does not fill. */
	EXPECT_EQ(nr_got, 10);
	EXPECT_EQ(stats().held, 489);
	sim_watermark_error = 0;
	sim_watermark = 1000;
	EXPECT_EQ(poll_now(), 489);
	tear_down(1);
}

static void provider_that_is_broken_is_told(void)
{
	struct timespec ts = { 0, 50000000 };
	long n = 0;
	int i;

	set_up(1);
	sim_watermark_error = -ENODEV;
	for (i = 0; i < 100 && n >= 0; i++) {
		n = poll_now();
		nanosleep(&ts, NULL);
	}
	sim_watermark_error = 0;
	EXPECT_EQ(n, -ENODEV);
	EXPECT(strstr(perfclock_session_error(s), "provider"));
	tear_down(1);
}

static const struct tap_test tests[] = {
	{ "delivers_strictly_below_the_watermark",
	  delivers_strictly_below_the_watermark },
	{ "merges_rings_by_stamp_then_ring", merges_rings_by_stamp_then_ring },
	{ "watermark_is_loaded_before_any_head",
	  watermark_is_loaded_before_any_head },
	{ "held_records_take_no_ring_space", held_records_take_no_ring_space },
	{ "fields_arrive", fields_arrive },
	{ "lost_is_counted_and_keeps_its_place",
	  lost_is_counted_and_keeps_its_place },
	{ "fork_and_exit_go_by_the_trailer", fork_and_exit_go_by_the_trailer },
	{ "inversions_inside_a_ring_are_repaired",
	  inversions_inside_a_ring_are_repaired },
	{ "late_records_are_delivered_flagged",
	  late_records_are_delivered_flagged },
	{ "late_records_are_dropped_on_request",
	  late_records_are_dropped_on_request },
	{ "late_records_fail_on_request", late_records_fail_on_request },
	{ "malformed_record_is_counted_and_the_ring_goes_on",
	  malformed_record_is_counted_and_the_ring_goes_on },
	{ "callback_can_stop_and_nothing_is_lost",
	  callback_can_stop_and_nothing_is_lost },
	{ "stop_ends_polling_and_finish_still_delivers",
	  stop_ends_polling_and_finish_still_delivers },
	{ "lag_is_now_minus_the_watermark", lag_is_now_minus_the_watermark },
#define T(x) { #x, x }
	T(provider_that_fails_for_a_while_loses_nothing),
	T(provider_that_is_broken_is_told),
	T(hardware_stamps_are_refused_or_flagged),
	T(clocks_that_can_be_set_are_refused),
	T(backward_rings_are_refused),
	T(unproven_provider_is_told),
	T(no_side_band_stamps_is_told),
	T(records_without_a_word_keep_their_place),
	T(several_events_in_an_adopted_ring_go_by_id),
	T(a_first_event_without_an_id_shares_its_ring_with_none),
	{ "adopting_wants_a_stamp_and_the_same_clock",
	  adopting_wants_a_stamp_and_the_same_clock },
	T(there_is_a_most_of_rings),
	T(what_failed_leaves_no_handle),
	T(calls_at_the_wrong_time_say_so),
	T(bpf_output_that_may_be_preempted_is_told),
	T(bpf_output_of_newer_kernels_is_proven),
};

TAP_MAIN(tests)
