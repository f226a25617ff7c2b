// SPDX-License-Identifier: GPL-2.0
/* Names of tasks: see comms.h. An open-addressed table by thread id. */
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms.h"
#include "common.h"

struct comms {
	struct comm *slots;	/* len 0: empty */
	unsigned int mask, used;
};

#define FIRST_SLOTS	1024

struct comms *comms_new(void)
{
	struct comms *c = tool_alloc(1, sizeof(*c));

	c->slots = tool_alloc(FIRST_SLOTS, sizeof(*c->slots));
	c->mask = FIRST_SLOTS - 1;
	comms_set(c, 0, "swapper", COMM_MAX);
	return c;
}

void comms_free(struct comms *c)
{
	if (!c)
		return;
	free(c->slots);
	free(c);
}

/* The slot of a tid, or the empty one where it belongs. */
static struct comm *find_slot(const struct comms *c, pid_t tid)
{
	unsigned int i = (uint32_t)tid * 2654435769u >> 7 & c->mask;

	while (c->slots[i].len && c->slots[i].tid != tid)
		i = (i + 1) & c->mask;
	return &c->slots[i];
}

static void grow(struct comms *c)
{
	struct comm *old = c->slots;
	unsigned int n = c->mask + 1, i;

	c->slots = tool_alloc(n * 2, sizeof(*old));
	c->mask = n * 2 - 1;
	for (i = 0; i < n; i++)
		if (old[i].len)
			*find_slot(c, old[i].tid) = old[i];
	free(old);
}

static struct comm *add(struct comms *c, pid_t tid)
{
	struct comm *slot = find_slot(c, tid);

	if (slot->len)
		return slot;
	if (++c->used * 2 > c->mask) {
		grow(c);
		slot = find_slot(c, tid);
	}
	slot->tid = tid;
	return slot;
}

void comms_set(struct comms *c, pid_t tid, const char *name, size_t max)
{
	size_t len = strnlen(name, max < COMM_MAX ? max : COMM_MAX - 1);
	struct comm *slot;
	size_t i;

	if (!len)
		return;
	slot = add(c, tid);
	for (i = 0; i < len; i++)	/* a line stays a line */
		slot->name[i] = (unsigned char)name[i] < ' ' ? '?' : name[i];
	slot->name[len] = '\0';
	memset(slot->column, ' ', COMM_MAX);
	memcpy(slot->column + COMM_MAX - len, slot->name, len);
	slot->len = len;
}

static bool read_comm(const char *path, char *name, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(name, size, f) != NULL;
	fclose(f);
	if (ok)
		name[strcspn(name, "\n")] = '\0';
	return ok && *name;
}

const struct comm *comms_find(struct comms *c, pid_t tid)
{
	struct comm *slot = find_slot(c, tid);
	char path[64], name[64];

	if (slot->len)
		return slot;
	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	if (!read_comm(path, name, sizeof(name)))
		snprintf(name, sizeof(name), ":%d", tid);
	comms_set(c, tid, name, sizeof(name));
	return find_slot(c, tid);
}

static void load_threads(struct comms *c, const char *pid)
{
	char path[300], name[64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((e = readdir(dir))) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/comm",
			 pid, e->d_name);
		if (!read_comm(path, name, sizeof(name)))
			continue;
		comms_set(c, atoi(e->d_name), name, sizeof(name));
		find_slot(c, atoi(e->d_name))->pid = atoi(pid);
	}
	closedir(dir);
}

void comms_load_all(struct comms *c)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (e->d_name[0] >= '0' && e->d_name[0] <= '9')
			load_threads(c, e->d_name);
	closedir(dir);
}

void comms_each(const struct comms *c,
		void (*fn)(const struct comm *comm, void *ctx), void *ctx)
{
	unsigned int i;

	for (i = 0; i <= c->mask; i++)
		if (c->slots[i].len)
			fn(&c->slots[i], ctx);
}

/* The bodies that the kernel writes after the header. */
struct comm_body {
	uint32_t pid, tid;
	char comm[];
};

struct fork_body {
	uint32_t pid, ppid, tid, ptid;
};

void comms_take_record(struct comms *c, const struct perfclock_event *ev)
{
	const void *body = ev->header + 1;
	size_t size = ev->header->size - sizeof(*ev->header);
	const struct comm_body *comm = body;
	const struct fork_body *task = body;
	struct comm parent;

	if (ev->type == PERF_RECORD_COMM && size > sizeof(*comm)) {
		comms_set(c, comm->tid, comm->comm, size - sizeof(*comm));
	} else if (ev->type == PERF_RECORD_FORK && size >= sizeof(*task)) {
		/* A copy: adding the child may move the table. */
		parent = *comms_find(c, task->ptid);
		if (task->tid != task->ptid)
			comms_set(c, task->tid, parent.name, COMM_MAX);
	}
}
