// SPDX-License-Identifier: GPL-2.0
/* A recording, replayed through a live session: see replay.h. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "faults.h"
#include "replay.h"

#define RING_BYTES	((size_t)512 << 10)	/* any record fits: 64 KiB */
#define KNOWN_SLOTS	(1u << 16)

typedef unsigned long long ull;

/* A simulated ring: what the kernel would show, and what is not shown yet. */
struct replay_ring {
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t head;
	bool adopted;
};

/* An event id seen in a ring. */
struct known {
	uint64_t id;
	uint32_t stream;
	bool used;
};

struct replay {
	struct live *live;
	struct perfclock_perfdata *data;
	struct perfclock_perfdata_record pending;
	bool has_pending, ended;
	struct faults faults;
	struct live_tracepoint *events;	/* one for each attribute */
	unsigned int nr_attrs;
	bool by_identifier;		/* events are told apart */
	struct replay_ring *rings;
	unsigned int nr_rings;
	struct known *known;
	unsigned int nr_known;
	int readable;			/* a descriptor that polls as such */
	size_t page_size;
	uint64_t passes, skipped;
};

int replay_options(struct live_options *o)
{
	if (o->nr_events || o->nr_pids || o->nr_cpus || o->cgroup ||
	    o->command || o->all_cpus)
		return tool_usage("--replay takes what the file holds: no -e, "
				  "-a, -C, -p, --cgroup or command");
	if (o->provider && strncmp(o->provider, "backoff=", 8))
		return tool_usage("--replay: a file has no clock; only the "
				  "provider backoff=NS can be replayed");
	if (!o->provider)
		o->provider = REPLAY_PROVIDER;
	o->clock = PERFCLOCK_MONOTONIC;
	o->clock_given = true;
	o->interval_ns = 0;
	return TOOL_DONE;
}

static struct known *find_known(struct replay *r, uint64_t id, uint32_t stream)
{
	uint32_t i = (uint32_t)(id * 31 + stream) * 0x9e3779b1u >> 16;

	while (r->known[i].used &&
	       (r->known[i].id != id || r->known[i].stream != stream))
		i = (i + 1) % KNOWN_SLOTS;
	return &r->known[i];
}

/* Records of the kernel with a known shape; the rest has no place in a ring. */
static bool belongs(const struct perfclock_perfdata_record *rec)
{
	return rec->type < PERFCLOCK_PERFDATA_HEADER_ATTR &&
	       rec->stream != UINT32_MAX && rec->size % 8 == 0 &&
	       !(rec->flags & PERFCLOCK_PERFDATA_DAMAGED);
}

static const char *event_name(const struct perfclock_perfdata_attr *a)
{
	static const char *const software[] = {
		"cpu-clock", "task-clock", "page-faults", "context-switches",
		"cpu-migrations", "minor-faults", "major-faults",
		"alignment-faults", "emulation-faults", "dummy", "bpf-output",
	};
	static const char *const hardware[] = {
		"cycles", "instructions", "cache-references", "cache-misses",
		"branches", "branch-misses", "bus-cycles",
	};

	if (a->type == PERF_TYPE_SOFTWARE && a->config < ARRAY_SIZE(software))
		return software[a->config];
	if (a->type == PERF_TYPE_HARDWARE && a->config < ARRAY_SIZE(hardware))
		return hardware[a->config];
	return NULL;
}

static int make_events(struct replay *r, const struct faults *f)
{
	struct perfclock_perfdata_attr first = { .sz = sizeof(first) };
	struct perfclock_perfdata_attr a = { .sz = sizeof(a) };
	bool all_identifier = true, mixed = false;
	const char *name;
	unsigned int i;

	r->events = tool_alloc(r->nr_attrs, sizeof(*r->events));
	for (i = 0; i < r->nr_attrs; i++) {
		perfclock_perfdata_get_attr(r->data, i, &a);
		if (!i)
			first = a;
		mixed |= a.sample_type != first.sample_type ||
			 a.read_format != first.read_format ||
			 a.sample_id_all != first.sample_id_all;
		all_identifier &= !!(a.sample_type & PERF_SAMPLE_IDENTIFIER);
		name = event_name(&a);
		r->events[i].name = name ? tool_strdup(name) :
			tool_printf("%u:0x%llx", a.type, (ull)a.config);
	}
	r->by_identifier = r->nr_attrs > 1 && all_identifier;
	if (!r->nr_attrs || !(first.sample_type & PERF_SAMPLE_TIME)) {
		tool_error("%s: no timestamps recorded: cannot order", f->file);
		return TOOL_FAILED;
	}
	if (mixed && !all_identifier) {
		tool_error("%s: its events differ and bear no IDENTIFIER: a "
			   "session can't tell them apart", f->file);
		return TOOL_FAILED;
	}
	return TOOL_DONE;
}

static int adopt(struct replay *r, uint32_t stream, int attr, uint64_t id)
{
	struct perfclock_perfdata_stream s = { .sz = sizeof(s) };
	struct perfclock_perfdata_attr a = { .sz = sizeof(a) };
	struct replay_ring *ring = &r->rings[stream];
	struct perf_event_attr pa = { .size = sizeof(pa) };
	struct perfclock_adopt_opts o = { .sz = sizeof(o) };
	int err;

	perfclock_perfdata_get_stream(r->data, stream, &s);
	perfclock_perfdata_get_attr(r->data, attr, &a);
	pa.type = a.type;
	pa.config = a.config;
	pa.sample_type = a.sample_type;
	pa.read_format = a.read_format;
	pa.sample_id_all = a.sample_id_all;
	/* Whatever clock it was: the session must not compare it with now. */
	pa.use_clockid = 1;
	pa.clockid = CLOCK_MONOTONIC;
	o.base = ring->page;
	o.size = r->page_size + RING_BYTES;
	o.fd = r->readable;
	o.cpu = s.kind == PERFCLOCK_STREAM_CPU ? s.key : -1;
	o.attr = &pa;
	o.user = &r->events[attr];
	o.id = id;
	err = perfclock_session_adopt(r->live->session, &o);
	if (err >= 0)
		return TOOL_DONE;
	tool_error("%s", perfclock_session_error(r->live->session));
	return TOOL_FAILED;
}

static int make_ring(struct replay *r, uint32_t stream)
{
	struct replay_ring *ring;
	unsigned int was = r->nr_rings;
	void *base;

	if (stream >= was) {
		r->nr_rings = stream + 1;
		r->rings = tool_realloc(r->rings, r->nr_rings,
					sizeof(*r->rings));
		memset(r->rings + was, 0,
		       (r->nr_rings - was) * sizeof(*r->rings));
	}
	ring = &r->rings[stream];
	if (ring->page)
		return TOOL_DONE;
	base = mmap(NULL, r->page_size + RING_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		tool_error("memory for ring %u: %s", stream, strerror(errno));
		return TOOL_FAILED;
	}
	ring->page = base;
	ring->data = (uint8_t *)base + r->page_size;
	ring->page->data_offset = r->page_size;
	ring->page->data_size = RING_BYTES;
	return TOOL_DONE;
}

/* The event of a record goes into its ring's list, once. */
static int learn(struct replay *r, const struct perfclock_perfdata_record *rec)
{
	struct known *k;
	int attr = rec->attr >= 0 ? rec->attr : 0;
	int status = make_ring(r, rec->stream);

	if (status)
		return status;
	if (!r->by_identifier) {
		if (r->rings[rec->stream].adopted)
			return TOOL_DONE;
		r->rings[rec->stream].adopted = true;
		return adopt(r, rec->stream, 0, 0);
	}
	if (!rec->id || rec->attr < 0)
		return TOOL_DONE;
	k = find_known(r, rec->id, rec->stream);
	if (k->used)
		return TOOL_DONE;
	if (++r->nr_known > KNOWN_SLOTS / 2) {
		tool_error("%s: more than %u events on rings", r->faults.file,
			   KNOWN_SLOTS / 2);
		return TOOL_FAILED;
	}
	*k = (struct known){ rec->id, rec->stream, true };
	r->rings[rec->stream].adopted = true;
	return adopt(r, rec->stream, attr, rec->id);
}

/* The rings must be there before the session starts: a reading for them. */
static int scan(struct replay *r, const char *path)
{
	struct perfclock_perfdata_info info = { .sz = sizeof(info) };
	struct perfclock_perfdata_record rec;
	int got = 0, status;

	status = faults_open(&r->faults, &r->data, path);
	if (status)
		return status;
	perfclock_perfdata_get_info(r->data, &info);
	if (info.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)) {
		tool_error("%s: of the other byte order: a session can't read "
			   "it (check and sort can)", r->faults.file);
		return TOOL_FAILED;
	}
	while (!status && (got = perfclock_perfdata_next(r->data, &rec)) > 0) {
		perfclock_perfdata_get_info(r->data, &info);
		if (!belongs(&rec))
			continue;
		if (!r->events) {
			r->nr_attrs = info.nr_attrs;
			status = make_events(r, &r->faults);
		}
		if (!status && rec.attr < (int)r->nr_attrs)
			status = learn(r, &rec);
	}
	if (got < 0) {
		tool_error("%s: %s", r->faults.file, strerror(-got));
		return TOOL_FAILED;
	}
	faults_finish(&r->faults);
	if (!status && !r->nr_rings) {
		tool_error("%s: no records to replay", r->faults.file);
		return TOOL_FAILED;
	}
	return status;
}

int replay_open(struct replay **rp, struct live *l, const char *path)
{
	struct replay *r = tool_alloc(1, sizeof(*r));
	int status, err;

	*rp = r;
	r->live = l;
	r->page_size = sysconf(_SC_PAGESIZE);
	r->known = tool_alloc(KNOWN_SLOTS, sizeof(*r->known));
	r->readable = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	faults_init(&r->faults, path);
	if (!strcmp(path, "-")) {
		tool_error("--replay reads its file twice: no standard input");
		return TOOL_FAILED;
	}
	status = scan(r, path);
	if (status)
		return status;
	/* Again from the start; its faults have been told. */
	perfclock_perfdata_close(r->data);
	r->data = NULL;
	err = perfclock_perfdata_open(&r->data, path, NULL);
	if (err) {
		tool_error("%s: %s", path, strerror(-err));
		return TOOL_FAILED;
	}
	return TOOL_DONE;
}

/* false: no room before the session has read. */
static bool put(struct replay *r, const struct perfclock_perfdata_record *rec)
{
	struct replay_ring *ring = &r->rings[rec->stream];
	uint64_t tail = __atomic_load_n(&ring->page->data_tail,
					__ATOMIC_ACQUIRE);
	size_t at = ring->head % RING_BYTES, first = RING_BYTES - at;

	if (RING_BYTES - (ring->head - tail) < rec->size)
		return false;
	if (first > rec->size)
		first = rec->size;
	memcpy(ring->data + at, rec->data, first);
	memcpy(ring->data, (const uint8_t *)rec->data + first,
	       rec->size - first);
	ring->head += rec->size;
	return true;
}

static void publish(struct replay *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_rings; i++)
		if (r->rings[i].page)
			__atomic_store_n(&r->rings[i].page->data_head,
					 r->rings[i].head, __ATOMIC_RELEASE);
}

int replay_feed(struct replay *r)
{
	int got = 1;

	while (!r->ended) {
		if (!r->has_pending) {
			got = perfclock_perfdata_next(r->data, &r->pending);
			if (got <= 0)
				break;
		}
		r->has_pending = false;
		if (r->pending.type == PERFCLOCK_PERFDATA_FINISHED_ROUND) {
			r->passes++;
			publish(r);
			return 0;
		}
		if (!belongs(&r->pending) ||
		    !r->rings[r->pending.stream].adopted) {
			r->skipped++;
			continue;
		}
		r->has_pending = !put(r, &r->pending);
		if (r->has_pending) {
			publish(r);
			return 0;
		}
	}
	publish(r);
	if (!r->ended)
		perfclock_session_stop(r->live->session);
	r->ended = true;
	return got < 0 ? got : 0;
}

void replay_report(const struct replay *r, const struct live *l)
{
	struct live_summary s;

	live_summary((struct live *)l, &s);
	tool_note("replayed %s: %llu records in %llu passes from %u rings, "
		  "%llu lost, %llu late (at worst %llu ns), %llu skipped; "
		  "order guessed by %s", r->faults.file, (ull)s.stats.read,
		  (ull)r->passes, r->nr_rings, (ull)s.stats.lost,
		  (ull)s.stats.late, (ull)s.stats.max_late_ns,
		  (ull)r->skipped, l->options->provider);
}

void replay_json(const struct replay *r, const struct live *l, struct json *j)
{
	struct live_summary s;

	live_summary((struct live *)l, &s);
	json_string(j, "replayed", r->faults.file);
	json_u64(j, "events", s.stats.samples);
	json_u64(j, "read", s.stats.read);
	json_u64(j, "lost", s.stats.lost);
	json_u64(j, "late", s.stats.late);
	json_u64(j, "max_late_ns", s.stats.max_late_ns);
	json_string(j, "provider", "backoff");
	json_bool(j, "proven", false);
	json_u64(j, "passes", r->passes);
	json_u64(j, "rounds", s.stats.rounds);
	json_u64(j, "rings", r->nr_rings);
	json_u64(j, "held_max", s.stats.held_max);
	json_u64(j, "skipped", r->skipped);
	faults_json(&r->faults, j);
}

int replay_status(struct replay *r, int status)
{
	return status ? status : faults_status(&r->faults, 1);
}

void replay_close(struct replay *r)
{
	unsigned int i;

	if (!r)
		return;
	for (i = 0; i < r->nr_rings; i++)
		if (r->rings[i].page)
			munmap(r->rings[i].page, r->page_size + RING_BYTES);
	for (i = 0; r->events && i < r->nr_attrs; i++)
		free(r->events[i].name);
	perfclock_perfdata_close(r->data);
	faults_free(&r->faults);
	if (r->readable >= 0)
		close(r->readable);
	free(r->events);
	free(r->rings);
	free(r->known);
	free(r);
}
