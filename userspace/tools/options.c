// SPDX-License-Identifier: GPL-2.0
/* Options of subcommands, by table: see options.h. */
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "options.h"

static bool takes_argument(const struct option_spec *spec)
{
	return spec->type != OPT_FLAG && spec->type != OPT_CALL_FLAG &&
	       spec->type != OPT_JSON;
}

/* "-o, --output FILE", in a column, its text beside or below it. */
static void help_option(const struct option_spec *spec)
{
	char left[64];

	if (spec->type == OPT_TITLE) {
		printf("\n%s:\n", spec->help);
		return;
	}
	if (spec->letter)
		snprintf(left, sizeof(left), "-%c, --%s%s%s", spec->letter,
			 spec->name, takes_argument(spec) ? " " : "",
			 spec->arg ? spec->arg : "");
	else
		snprintf(left, sizeof(left), "    --%s%s%s", spec->name,
			 takes_argument(spec) ? " " : "",
			 spec->arg ? spec->arg : "");
	if (strlen(left) > 24)
		printf("  %s\n  %-24s  %s\n", left, "", spec->help);
	else
		printf("  %-24s  %s\n", left, spec->help);
}

static void print_help(const struct command_help *help,
		       const struct option_spec *specs)
{
	const char *line = help->synopsis, *end;
	const char *lead = "Usage:";

	for (; *line; line = *end ? end + 1 : end, lead = "      ") {
		end = strchrnul(line, '\n');
		printf("%s perfclock %s%s%.*s\n", lead, help->name,
		       end > line ? " " : "", (int)(end - line), line);
	}
	printf("\n%s\n", help->about);
	if (specs->type != OPT_TITLE)
		printf("\nOptions:\n");
	for (; specs->name; specs++)
		help_option(specs);
	printf("  %-24s  %s\n", "-h, --help", "this text");
	if (help->examples)
		printf("\nExamples:\n%s\n", help->examples);
	printf("\nThe manual: man perfclock-%s\n", help->name);
}

static bool number_bad(const struct option_spec *spec, const char *arg)
{
	tool_usage("--%s: '%s' is not a number in range", spec->name, arg);
	return true;
}

static bool set_json(const struct option_spec *spec, const char *arg)
{
	struct json_option *json = spec->value;

	json->on = true;
	json->path = arg;
	return false;
}

/* true: bad, and a message was given. */
static bool set_value(const struct option_spec *spec, const char *arg)
{
	uint64_t v;

	switch (spec->type) {
	case OPT_FLAG:
		*(bool *)spec->value = true;
		return false;
	case OPT_STRING:
		*(const char **)spec->value = arg;
		return false;
	case OPT_UINT:
		if (!parse_u64(arg, &v) || v > UINT32_MAX)
			return number_bad(spec, arg);
		*(unsigned int *)spec->value = v;
		return false;
	case OPT_U64:
		if (!parse_u64(arg, spec->value))
			return number_bad(spec, arg);
		return false;
	case OPT_SECONDS:
		if (!parse_scaled(arg, NSEC_PER_SEC, spec->value))
			return number_bad(spec, arg);
		return false;
	case OPT_MICROS:
		if (!parse_scaled(arg, 1000, spec->value))
			return number_bad(spec, arg);
		return false;
	case OPT_CALL:
	case OPT_CALL_FLAG:
		return spec->fn(arg, spec->value);
	case OPT_JSON:
		return set_json(spec, arg);
	case OPT_TITLE:
		break;
	}
	return false;
}

static const struct option_spec *find_long(const struct option_spec *specs,
					   const char *name, size_t len)
{
	for (; specs->name; specs++)
		if (specs->type != OPT_TITLE && strlen(specs->name) == len &&
		    !memcmp(specs->name, name, len))
			return specs;
	return NULL;
}

static const struct option_spec *find_short(const struct option_spec *specs,
					    char letter)
{
	for (; specs->name; specs++)
		if (specs->letter && specs->letter == letter)
			return specs;
	return NULL;
}

/* argv[*i] is "--name" or "--name=arg". */
static bool take_long(const struct option_spec *specs, char **argv, int *i)
{
	const char *name = argv[*i] + 2, *equal = strchr(name, '=');
	size_t len = equal ? (size_t)(equal - name) : strlen(name);
	const struct option_spec *spec = find_long(specs, name, len);
	const char *arg = equal ? equal + 1 : NULL;

	if (!spec) {
		tool_usage("no option '--%.*s'", (int)len, name);
		return true;
	}
	if (takes_argument(spec) && !arg) {
		arg = argv[*i + 1];
		if (!arg) {
			tool_usage("--%s wants an argument, %s", spec->name,
				   spec->arg);
			return true;
		}
		++*i;
	} else if (arg && !takes_argument(spec) && spec->type != OPT_JSON) {
		tool_usage("--%s takes no argument", spec->name);
		return true;
	}
	return set_value(spec, arg);
}

/* argv[*i] is "-x", "-xarg", or "-xyz". */
static bool take_short(const struct option_spec *specs, char **argv, int *i)
{
	const char *s;

	for (s = argv[*i] + 1; *s; s++) {
		const struct option_spec *spec = find_short(specs, *s);
		const char *arg = NULL;

		if (!spec) {
			tool_usage("no option '-%c'", *s);
			return true;
		}
		if (!takes_argument(spec)) {
			if (set_value(spec, NULL))
				return true;
			continue;
		}
		arg = s[1] ? s + 1 : argv[*i + 1];
		if (!arg) {
			tool_usage("-%c wants an argument, %s", *s, spec->arg);
			return true;
		}
		if (!s[1])
			++*i;
		return set_value(spec, arg);
	}
	return false;
}

bool options_parse(const struct command_help *help,
		   const struct option_spec *specs, int argc, char **argv,
		   struct options_rest *rest)
{
	int i, words = 0;
	bool bad = false;

	memset(rest, 0, sizeof(*rest));
	rest->argv = argv;
	for (i = 1; i < argc && !bad; i++) {
		char *arg = argv[i];

		if (!strcmp(arg, "--")) {
			rest->dashes = true;
			rest->nr_dashed = argc - i - 1;
			while (++i < argc)
				argv[words++] = argv[i];
			break;
		}
		if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
			print_help(help, specs);
			rest->status = TOOL_DONE;
			return true;
		}
		if (arg[0] != '-' || !arg[1])
			argv[words++] = arg;
		else if (arg[1] == '-')
			bad = take_long(specs, argv, &i);
		else
			bad = take_short(specs, argv, &i);
	}
	argv[words] = NULL;
	rest->argc = words;
	rest->status = bad ? TOOL_USAGE : TOOL_DONE;
	return bad;
}
