// SPDX-License-Identifier: GPL-2.0
/*
 * soak SECONDS [SEED]: sessions of every kind, one after another, under all
 * the load that this machine gives: every tracepoint of sched, irq, timer and
 * raw_syscalls, system call loops on all CPUs, random clock, provider, way to
 * wait, reader threads, ring size, memory bound, consumer stalls, and a random
 * moment to end. TAP: what must hold after each session and at the end.
 *
 *	order	no record is late; what the callback sees never goes back
 *	balance	read = delivered + held + dropped, and all of it was seen:
 *		nothing is dropped, nothing is malformed
 *	lost	as many as the LOST records of the kernel say
 *	memory, files	the last sessions need no more than the first ones
 */
#include <dirent.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/resource.h>

#include "../live/live.h"

static const char *const systems[] = { "sched", "irq", "timer",
				       "raw_syscalls" };
static char events[256][128];
static int nr_events;

static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

static const char *events_dir(void)
{
	static const char *const dirs[] = {
		"/sys/kernel/tracing/events",
		"/sys/kernel/debug/tracing/events",
	};

	return access(dirs[0], R_OK) ? dirs[1] : dirs[0];
}

static void list_events(void)
{
	char path[256];
	struct dirent *e;
	size_t i;
	DIR *d;

	for (i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", events_dir(), systems[i]);
		d = opendir(path);
		while (d && (e = readdir(d)) && nr_events < 256) {
			snprintf(path, sizeof(path), "%s/%s/%.60s/id",
				 events_dir(), systems[i], e->d_name);
			if (e->d_name[0] != '.' && !access(path, R_OK))
				snprintf(events[nr_events++], 128, "%s:%.60s",
					 systems[i], e->d_name);
		}
		if (d)
			closedir(d);
	}
}

/* What one session was, and what came of it. */
struct run {
	char what[160];
	uint64_t seen, samples, backwards, lost, last;
	uint32_t stall_one_in, stall_ms;
	struct perfclock_session_stats st;
};

static struct {
	uint64_t sessions, refused, events, lost, late, stalls, unproven;
	uint64_t backwards, unbalanced, miscounted, failed, inversions;
	uint64_t malformed, broken;
	uint64_t lag_max;
} sum;

/*
 * What goes on now, for a watcher: a session that does not come to its end is
 * to be named, not only waited for.
 */
static struct {
	pthread_mutex_t lock;
	char what[160];
	const char *doing;
	uint64_t since, seen;
} now_on = { .lock = PTHREAD_MUTEX_INITIALIZER, .doing = "nothing" };

#define WATCH_NS	60000000000ull

static void doing(const char *doing, const char *what)
{
	pthread_mutex_lock(&now_on.lock);
	now_on.doing = doing;
	now_on.since = live_now();
	if (what)
		snprintf(now_on.what, sizeof(now_on.what), "%s", what);
	pthread_mutex_unlock(&now_on.lock);
}

/* A line for each minute that one thing takes. */
static void *watch(void *ctx)
{
	uint64_t told = live_now();

	for (;;) {
		sleep(10);
		pthread_mutex_lock(&now_on.lock);
		if (told < now_on.since)
			told = now_on.since;
		if (live_now() - told >= WATCH_NS) {
			told = live_now();
			printf("# slow: %s for %llu s, %llu records seen: %s\n",
			       now_on.doing,
			       (unsigned long long)(told - now_on.since) /
				       1000000000,
			       (unsigned long long)__atomic_load_n(
				       &now_on.seen, __ATOMIC_RELAXED),
			       now_on.what);
		}
		pthread_mutex_unlock(&now_on.lock);
	}
	return ctx;
}

static int note(const struct perfclock_event *ev, void *ctx)
{
	struct run *r = ctx;

	r->seen++;
	__atomic_store_n(&now_on.seen, r->seen, __ATOMIC_RELAXED);
	r->lost += ev->lost;
	if (ev->type == PERF_RECORD_SAMPLE) {
		r->samples++;
		r->backwards += ev->stamp < r->last;
		r->last = ev->stamp;
	}
	if (r->stall_one_in && !rnd(r->stall_one_in))
		usleep(r->stall_ms * 1000);
	return 0;
}

/* Not every clock goes with every provider; but what else would be an error. */
static void note_refusal(const struct run *r, const char *error, long err)
{
	sum.refused++;
	if (err == -ENODEV || err == -EOPNOTSUPP || err == -EACCES ||
	    err == -EPERM || err == -ENOSYS || err == -ENOMEM)
		return;
	/* Tracepoints may be hit in an NMI, where boottime can't be read. */
	if (err == -EINVAL && strstr(r->what, "clock boottime"))
		return;
	printf("# refused: %ld %s: %s\n", err, r->what, error);
	sum.broken++;
}

static struct perfclock_session *make(struct run *r)
{
	static const char *const providers[] = { "module", "membarrier",
						 "cpu-visit", NULL };
	static const uint64_t intervals[] = { 0, 100000, 10000000 };
	static char error[512];
	struct perfclock_session_opts o = {
		.sz = sizeof(o),
		.clock = rnd(PERFCLOCK_CLOCKS),
		.provider = providers[rnd(4)],
		.wait = rnd(3),
		.interval_ns = intervals[rnd(3)],
		.readers = rnd(4) ? 0 : 1 + rnd(2),
		.mmap_pages = rnd(2) ? 0 : 1u << rnd(11),
		.memory_max = rnd(2) ? 0 : (size_t)4 << 20 << rnd(5),
		.error = error, .error_size = sizeof(error),
	};
	struct perfclock_session *s;
	int err;

	r->stall_one_in = rnd(2) ? 0 : 10000 + rnd(1000000);
	r->stall_ms = 1 + rnd(300);
	snprintf(r->what, sizeof(r->what),
		 "clock %s provider %s wait %d interval %llu readers %u pages %u memory %zu stall 1/%u %u ms",
		 perfclock_clock_name(o.clock),
		 o.provider ? o.provider : "auto", o.wait,
		 (unsigned long long)o.interval_ns, o.readers, o.mmap_pages,
		 o.memory_max, r->stall_one_in, r->stall_ms);
	err = perfclock_session_new(&s, &o);
	if (err)
		note_refusal(r, error, err);
	return s;
}

/* All tracepoints, or a few of them; the densest always. */
static int add_events(struct perfclock_session *s)
{
	int i, err, few = rnd(2);

	for (i = 0; i < nr_events; i++) {
		if (few && rnd(4) && strncmp(events[i], "raw_sys", 7))
			continue;
		err = perfclock_session_add(s, events[i], NULL);
		if (err < 0)
			return err;
	}
	return rnd(2) ? perfclock_session_track_tasks(s) : 0;
}

static bool balanced(const struct run *r)
{
	return r->st.read == r->st.delivered + r->st.held + r->st.dropped;
}

static void live(struct perfclock_session *s, struct run *r, uint64_t end)
{
	r->st.sz = sizeof(r->st);
	while (live_now() < end) {
		long n = perfclock_session_poll(s, 20, note, r);

		if (n < 0 && n != -EINTR) {
			printf("# poll: %s: %s\n", r->what,
			       perfclock_session_error(s));
			sum.failed++;
			break;
		}
		perfclock_session_get_stats(s, &r->st);
		sum.unbalanced += !balanced(r);
	}
	/* Stalls are for when more comes; here they only take minutes. */
	r->stall_one_in = 0;
	doing("finish", NULL);
	if (perfclock_session_finish(s, note, r) < 0)
		sum.failed++;
	perfclock_session_get_stats(s, &r->st);
}

static void judge(const struct run *r)
{
	bool bad = r->st.late || r->backwards || !balanced(r) || r->st.held ||
		   r->seen != r->st.delivered || r->lost != r->st.lost ||
		   r->st.dropped || r->st.truncated;

	sum.sessions++;
	sum.events += r->seen;
	sum.lost += r->lost;
	sum.late += r->st.late;
	sum.backwards += r->backwards;
	sum.stalls += r->st.stalls;
	sum.unproven += !r->st.proven;
	sum.inversions += r->st.inversions;
	sum.malformed += r->st.truncated;
	sum.unbalanced += !balanced(r) || r->st.held || r->st.dropped ||
			  r->seen != r->st.delivered;
	sum.miscounted += r->lost != r->st.lost;
	if (r->st.lag_max_ns > sum.lag_max)
		sum.lag_max = r->st.lag_max_ns;
	if (!bad)
		return;
	printf("# bad: %s: seen %llu read %llu delivered %llu held %llu dropped %llu malformed %llu late %llu backwards %llu lost %llu/%llu\n",
	       r->what, (unsigned long long)r->seen,
	       (unsigned long long)r->st.read,
	       (unsigned long long)r->st.delivered,
	       (unsigned long long)r->st.held,
	       (unsigned long long)r->st.dropped,
	       (unsigned long long)r->st.truncated,
	       (unsigned long long)r->st.late,
	       (unsigned long long)r->backwards, (unsigned long long)r->lost,
	       (unsigned long long)r->st.lost);
}

static void one_session(uint64_t end)
{
	struct run r = { .seen = 0 };
	struct perfclock_session *s = make(&r);
	uint64_t until = live_now() + (uint64_t)(200 + rnd(4000)) * 1000000;
	int err;

	doing("start", r.what);
	if (!s)
		return;
	err = add_events(s);
	if (!err)
		err = perfclock_session_start(s);
	if (err) {
		note_refusal(&r, perfclock_session_error(s), err);
		perfclock_session_free(s);
		return;
	}
	doing("poll", NULL);
	live(s, &r, until < end ? until : end);
	doing("free", NULL);
	perfclock_session_free(s);
	judge(&r);
}

static long open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	long n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* Resident bytes now, not the peak. */
static long resident(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (f && fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

static int nr_tests;

static bool check(bool good, const char *name)
{
	printf("%sok %d %s\n", good ? "" : "not ", ++nr_tests, name);
	return good;
}

/* A sign of life, and what there was to see if the machine dies. */
static void tell(uint64_t seconds)
{
	printf("# %llu s: sessions %llu (%llu refused) events %llu lost %llu late %llu resident %ld KiB\n",
	       (unsigned long long)seconds, (unsigned long long)sum.sessions,
	       (unsigned long long)sum.refused,
	       (unsigned long long)sum.events, (unsigned long long)sum.lost,
	       (unsigned long long)sum.late, resident() >> 10);
}

static bool verdict(long files, long files_end, long memory, long memory_end)
{
	bool good = true;

	printf("# sessions %llu (%llu refused by reason) events %llu lost %llu late %llu inversions %llu stalls %llu lag at most %llu ms\n",
	       (unsigned long long)sum.sessions,
	       (unsigned long long)sum.refused,
	       (unsigned long long)sum.events, (unsigned long long)sum.lost,
	       (unsigned long long)sum.late, (unsigned long long)sum.inversions,
	       (unsigned long long)sum.stalls,
	       (unsigned long long)sum.lag_max / 1000000);
	printf("# files %ld, then %ld; resident %ld KiB, then %ld KiB\n", files,
	       files_end, memory >> 10, memory_end >> 10);
	printf("1..9\n");
	good &= check(sum.sessions && sum.events > 100000, "there was load");
	good &= check(!sum.broken, "none was refused that could be had");
	good &= check(!sum.failed, "every session ran to its end");
	good &= check(!sum.late && !sum.backwards, "no record was late");
	good &= check(!sum.unbalanced, "read = delivered + held + dropped");
	good &= check(!sum.miscounted, "lost is what the kernel said it lost");
	good &= check(!sum.malformed, "no record was malformed");
	good &= check(files_end == files, "no file was left open");
	/* Allocators keep some; a leak of a session would be far more. */
	good &= check(memory_end < memory + (32 << 20), "memory does not grow");
	return good;
}

int main(int argc, char **argv)
{
	long files, memory = 0, seconds = argc > 1 ? atol(argv[1]) : 60;
	struct load load;
	uint64_t begin, end, told;
	pthread_t watcher;
	int n = sysconf(_SC_NPROCESSORS_ONLN);

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	list_events();
	if (geteuid() || !nr_events) {
		printf("1..0 # SKIP %s\n", geteuid() ? "needs root" :
		       "no tracefs: mount -t tracefs tracefs /sys/kernel/tracing");
		return 0;
	}
	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : live_now();
	printf("# seed %llu, %d kinds of events, %d CPUs\n",
	       (unsigned long long)seed, nr_events, n);
	load_start(&load, n);
	files = open_files();
	begin = told = live_now();
	if (pthread_create(&watcher, NULL, watch, NULL))
		return 1;
	end = begin + (uint64_t)seconds * 1000000000;
	while (live_now() < end) {
		one_session(end);
		/* What the first tenth needs is what it may need. */
		if ((!memory || live_now() < begin + (end - begin) / 10) &&
		    resident() > memory)
			memory = resident();
		if (live_now() - told >= WATCH_NS) {
			told = live_now();
			tell((told - begin) / 1000000000);
		}
	}
	load_stop(&load);
	return !verdict(files, open_files(), memory, resident());
}
