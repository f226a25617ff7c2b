/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the round, for spin. Two CPUs write into a ring each; a reader
 * goes over the rings and delivers; a grace period machine proves watermarks.
 *
 *	Documentation/model/test_model	spin checks it, in both forms
 *
 * As it stands the reader delivers what is strictly below the watermark, and
 * no record is ever late. With -DROUND_START it delivers up to the clock that
 * it read at the round's start, and spin finds the record that is late.
 *
 * Abstractions: the clock is one counter that may tick at any time; a record
 * is a stamp and whether it is published; what the reader has delivered is
 * known by its greatest stamp. The proof in words is in watermark.rst; the
 * program itself is explored in selftests/unit/explore.c.
 */

#define CPUS	2
#define RECORDS	2		/* of each CPU */
#define ROUNDS	2
#ifndef GRACE_PERIODS
#define GRACE_PERIODS	1	/* 2: three times the states */
#endif
#define TICKS	3
#define IDX(cpu, i)	((cpu) * RECORDS + (i))

byte clock = 1;
byte stamp[CPUS * RECORDS];	/* 0: not taken yet */
byte published[CPUS];		/* data_head */
bool in_section[CPUS];		/* between stamp and publish: an RCU reader */
bool waited_for[CPUS];		/* by the grace period under way */
byte watermark;			/* 0: none */
byte greatest;			/* stamp delivered */

proctype writer(byte cpu)
{
	byte n;

	do
	:: n < RECORDS ->
		/*
		 * The section begins before the stamp is taken, and ends
		 * after the publishing; in between the grace period only
		 * waits for more. Reserving and writing are seen by nobody.
		 */
		d_step {
			in_section[cpu] = true;
			stamp[IDX(cpu, n)] = clock
		}
		d_step {
			n++;
			published[cpu] = n;
			in_section[cpu] = false;
			waited_for[cpu] = false
		}
	:: else -> break
	od
}

proctype ticker()
{
	do
	:: clock < TICKS -> clock++
	:: else -> break
	od
}

proctype grace_periods()
{
	byte t, n;

	do
	:: n < GRACE_PERIODS ->
		n++;
		/* First the clock, ... */
		t = clock;
		/* ... then a full grace period begins, ... */
		d_step {
			waited_for[0] = in_section[0];
			waited_for[1] = in_section[1];
		}
		/* ... and ends; t is proven. */
		(!waited_for[0] && !waited_for[1]);
		watermark = t
	:: break
	od
}

/*
 * Load the head of a ring, and take what is new. A record is late if it is
 * read with a stamp below what was delivered.
 */
inline read_ring(cpu)
{
	d_step {
		do
		:: taken[cpu] < published[cpu] ->
			assert(stamp[IDX(cpu, taken[cpu])] >= greatest);
			taken[cpu]++
		:: else -> break
		od
	}
}

/* Deliver, of all that was taken, what is below the limit. */
inline deliver()
{
	d_step {
		for (i : 0 .. CPUS * RECORDS - 1) {
			if
			:: i % RECORDS < taken[i / RECORDS] &&
			   stamp[i] < limit && stamp[i] > greatest ->
				greatest = stamp[i]
			:: else
			fi
		}
		i = 0;
		limit = 0
	}
}

proctype reader()
{
	byte round, limit, i, taken[CPUS];

	do
	:: round < ROUNDS ->
		round++;
#ifdef ROUND_START
		limit = clock + 1;	/* up to and including it */
#else
		limit = watermark;
#endif
		read_ring(0);
		read_ring(1);
		deliver()
	:: else -> break
	od;
	/* What is still unread must not be late either. */
	(published[0] == RECORDS && published[1] == RECORDS);
	read_ring(0);
	read_ring(1)
}

init {
	atomic {
		run writer(0);
		run writer(1);
		run ticker();
		run grace_periods();
		run reader()
	}
}
