// SPDX-License-Identifier: GPL-2.0
/*
 * trace_facts FILE [LINES]: what the lines of "perfclock trace" say for
 * themselves, found without any code of perfclock: how many there are, how
 * many of each CPU, how many carry a stamp below one already seen. Before that
 * about LINES lines from the middle as a sample.
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

/*
 * From the middle of the file: of each stretch of one CPU the first two lines
 * and how many more there are, until that made LINES lines; from there on
 * only stretches of CPUs that have not shown yet.
 */
static void print_sample(FILE *f, int lines, int cpus)
{
	char seen[CPUS] = { 0 };
	int cpu, last = -1, printed = 0, silent = 0;
	uint64_t stamp, run = 0;
	char line[LINE];

	while (fgets(line, sizeof(line), f)) {
		if (!parse(line, &cpu, &stamp))
			continue;
		if (cpu != last) {
			if (run > 2 && !silent)
				printf("%30s [%03d] and %" PRIu64 " more\n", "",
				       last, run - 2);
			if (printed >= lines && !cpus)
				break;
			silent = printed >= lines && seen[cpu];
			run = 0;
			last = cpu;
			cpus -= !seen[cpu];
			seen[cpu] = 1;
		}
		if (++run <= 2 && !silent) {
			fputs(line, stdout);
			printed++;
		}
	}
}

int main(int argc, char **argv)
{
	int lines = argc > 2 ? atoi(argv[2]) : 16;
	uint64_t events = 0, late = 0, greatest = 0, stamp;
	uint64_t per_cpu[CPUS] = { 0 };
	char line[LINE];
	long middle;
	int cpu, i, cpus = 0;
	FILE *f;

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
	for (i = 0; i < CPUS; i++)
		cpus += per_cpu[i] != 0;
	print_sample(f, lines, cpus);
	printf("facts: events=%" PRIu64 " late=%" PRIu64 " cpus=", events, late);
	for (i = 0; i < CPUS; i++)
		if (per_cpu[i])
			printf("%d:%" PRIu64 ",", i, per_cpu[i]);
	printf("\n");
	return 0;
}
