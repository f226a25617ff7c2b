// SPDX-License-Identifier: GPL-2.0
/*
 * trace_facts FILE [LINES]: what the lines of "perfclock trace" say for
 * themselves, found without any code of perfclock: how many there are, how
 * many of each CPU, how many carry a stamp below one already seen. Then LINES
 * lines from the middle as a sample, taken so that CPUs alternate in them if
 * they do anywhere near.
 *
 * A line reads: comm tid [cpu] seconds.nanoseconds: event: fields
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS	256
#define LINE	4096
#define SAMPLE	40

/* False if the line is none of a record. A comm may hold brackets itself. */
static int parse(const char *line, int *cpu, uint64_t *stamp)
{
	const char *p = line;
	uint64_t s, ns;
	int digits;

	while ((p = strchr(p, '['))) {
		p++;
		if (sscanf(p, "%d] %" SCNu64 ".%" SCNu64 "%n:", cpu, &s, &ns,
			   &digits) == 3 && p[digits] == ':' &&
		    *cpu >= 0 && *cpu < CPUS) {
			*stamp = s * 1000000000ULL + ns;
			return 1;
		}
	}
	return 0;
}

/* Several CPUs within the next lines: a good place for the sample. */
static void print_sample(FILE *f, int lines)
{
	static char ring[SAMPLE][LINE];
	int seen[SAMPLE], n = 0, i, kinds, cpu;
	uint64_t stamp;
	long tries = 200000;

	while (tries-- && fgets(ring[n % lines], LINE, f)) {
		if (!parse(ring[n % lines], &cpu, &stamp))
			continue;
		seen[n % lines] = cpu;
		n++;
		if (n < lines)
			continue;
		for (kinds = 0, i = 1; i < lines; i++)
			kinds += seen[(n + i) % lines] !=
				 seen[(n + i - 1) % lines];
		if (kinds >= 3)
			break;
	}
	for (i = n > lines ? n - lines : 0; i < n; i++)
		fputs(ring[i % lines], stdout);
}

int main(int argc, char **argv)
{
	int lines = argc > 2 ? atoi(argv[2]) : 12;
	uint64_t events = 0, late = 0, greatest = 0, stamp;
	uint64_t per_cpu[CPUS] = { 0 };
	char line[LINE];
	long middle;
	int cpu, i;
	FILE *f;

	if (lines < 2 || lines > SAMPLE)
		lines = 12;
	f = argc > 1 ? fopen(argv[1], "r") : NULL;
	if (!f) {
		perror(argc > 1 ? argv[1] : "usage: trace_facts FILE [LINES]");
		return 1;
	}
	while (fgets(line, sizeof(line), f)) {
		if (!parse(line, &cpu, &stamp))
			continue;
		events++;
		per_cpu[cpu]++;
		if (stamp < greatest)
			late++;
		else
			greatest = stamp;
	}
	middle = ftell(f) / 2;
	fseek(f, middle, SEEK_SET);
	if (!fgets(line, sizeof(line), f))	/* the rest of a line */
		rewind(f);
	print_sample(f, lines);
	printf("facts: events=%" PRIu64 " late=%" PRIu64 " cpus=", events, late);
	for (i = 0; i < CPUS; i++)
		if (per_cpu[i])
			printf("%d:%" PRIu64 ",", i, per_cpu[i]);
	printf("\n");
	return 0;
}
