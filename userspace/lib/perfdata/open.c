// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The handle of a recording: opening, faults, what is known about it. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "opts.h"
#include "perfdata/internal.h"

void pd_fault(struct perfclock_perfdata *p, enum perfclock_fault_level level,
	      uint64_t offset, const char *kind, const char *fmt, ...)
{
	struct perfclock_fault f = { offset, level, kind, NULL };
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	f.text = text;
	if (level == PERFCLOCK_FAULT_NOTE)
		p->info.notes++;
	else
		p->info.damages++;
	if (level == PERFCLOCK_FAULT_FATAL) {
		p->failed = true;
		p->info.ended_early = true;
		if (p->opts.error && p->opts.error_size)
			snprintf(p->opts.error, p->opts.error_size,
				 "byte %llu: %s", (unsigned long long)offset,
				 text);
	}
	if (p->opts.fault)
		p->opts.fault(&f, p->opts.ctx);
}

/* Why open failed, where no fault has told. */
static void explain(const struct perfclock_perfdata_opts *o, int err)
{
	if (!o->error || !o->error_size)
		return;
	if (err == -EISDIR)
		snprintf(o->error, o->error_size, "a directory: give one of "
			 "the data files in it");
	else
		snprintf(o->error, o->error_size, "%s", strerror(-err));
}

static int open_fd(struct perfclock_perfdata **pp, int fd, bool own,
		   const struct perfclock_perfdata_opts *o)
{
	struct perfclock_perfdata *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->opts = *o;
	p->own_fd = own;
	p->data_end = UINT64_MAX;
	p->info.identifiable = true;
	p->streams = calloc(PD_MAX_STREAMS, sizeof(*p->streams));
	p->stream_slots = calloc(2 * PD_MAX_STREAMS, sizeof(*p->stream_slots));
	err = p->streams && p->stream_slots ? 0 : -ENOMEM;
	if (!err)
		err = pd_input_init(&p->in, fd);
	if (!err)
		err = pd_read_header(p);
	if (err) {
		if (!p->failed)
			explain(o, err);
		p->own_fd = false;	/* the caller closes */
		perfclock_perfdata_close(p);
		return err;
	}
	p->opts.error = NULL;	/* was lent for the opening only */
	*pp = p;
	return 0;
}

int perfclock_perfdata_open_fd(struct perfclock_perfdata **pp, int fd,
			       const struct perfclock_perfdata_opts *opts)
{
	struct perfclock_perfdata_opts o;
	int err = opts_copy(&o, sizeof(o), opts);

	if (!pp)
		return -EINVAL;
	*pp = NULL;
	if (err || fd < 0)
		return err ? err : -EINVAL;
	return open_fd(pp, fd, false, &o);
}

int perfclock_perfdata_open(struct perfclock_perfdata **pp, const char *path,
			    const struct perfclock_perfdata_opts *opts)
{
	struct perfclock_perfdata_opts o;
	int err = opts_copy(&o, sizeof(o), opts);
	int fd;

	if (!pp)
		return -EINVAL;
	*pp = NULL;
	if (err || !path)
		return err ? err : -EINVAL;
	if (!strcmp(path, "-"))
		return open_fd(pp, STDIN_FILENO, false, &o);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		explain(&o, err);
		return err;
	}
	err = open_fd(pp, fd, true, &o);
	if (err)
		close(fd);
	return err;
}

void perfclock_perfdata_close(struct perfclock_perfdata *p)
{
	unsigned int i;

	if (!p)
		return;
	for (i = 0; i < sizeof(p->strings) / sizeof(p->strings[0]); i++)
		free(p->strings[i]);
	pd_inner_free(&p->inner);
	free(p->stream_slots);
	free(p->streams);
	free(p->ids);
	free(p->attr);
	if (p->own_fd)
		close(p->in.fd);
	pd_input_free(&p->in);
	free(p);
}

int perfclock_perfdata_get_info(const struct perfclock_perfdata *p,
				struct perfclock_perfdata_info *info)
{
	struct perfclock_perfdata_info i = p->info;

	i.position = p->in.pos;
	return opts_return(info, &i, sizeof(i));
}

const char *perfclock_perfdata_feature_string(
		const struct perfclock_perfdata *p, unsigned int feature)
{
	if (feature >= sizeof(p->strings) / sizeof(p->strings[0]))
		return NULL;
	return p->strings[feature];
}

int perfclock_perfdata_get_attr(const struct perfclock_perfdata *p,
				unsigned int i,
				struct perfclock_perfdata_attr *attr)
{
	struct perfclock_perfdata_attr a;
	const struct pd_attr *from;

	if (i >= p->nr_attrs)
		return -EINVAL;
	from = &p->attr[i];
	a = (struct perfclock_perfdata_attr){
		.sz = sizeof(a),
		.type = from->type,
		.config = from->config,
		.sample_type = from->layout.format.sample_type,
		.read_format = from->layout.format.read_format,
		.sample_id_all = from->layout.format.sample_id_all,
		.use_clockid = from->use_clockid,
		.clockid = from->clockid,
		.nr_ids = from->nr_ids,
	};
	return opts_return(attr, &a, sizeof(a));
}

int perfclock_perfdata_get_stream(const struct perfclock_perfdata *p,
				  unsigned int i,
				  struct perfclock_perfdata_stream *stream)
{
	struct perfclock_perfdata_stream s;

	if (i >= p->nr_streams)
		return -EINVAL;
	s = (struct perfclock_perfdata_stream){
		.sz = sizeof(s),
		.kind = p->streams[i].kind,
		.key = p->streams[i].key,
	};
	return opts_return(stream, &s, sizeof(s));
}
