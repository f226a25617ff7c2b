// SPDX-License-Identifier: GPL-2.0
/* The compiled print formats say just what libtraceevent says. */
#include <dirent.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"
#include "format.h"
#include "tap.h"

/* The leak checker asks: what libtraceevent loses is not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent\n";
}

static struct tep_handle *new_tep(void)
{
	struct tep_handle *tep = tep_alloc();

	ASSERT(tep != NULL);
	tep_set_long_size(tep, sizeof(long));
	tep_set_page_size(tep, 4096);
	tep_set_loglevel(TEP_LOG_NONE);
	return tep;
}

static struct tep_event *parse(struct tep_handle *tep, const char *text,
			       const char *system)
{
	int nr = tep_get_events_count(tep);

	if (tep_parse_event(tep, text, strlen(text), system) ||
	    tep_get_events_count(tep) == nr)
		return NULL;
	return tep_get_event(tep, nr);
}

#define HEAD "name: thing\nID: 7\nformat:\n"				\
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"	\
	"\tfield:long l;\toffset:8;\tsize:8;\tsigned:1;\n"		\
	"\tfield:int i;\toffset:16;\tsize:4;\tsigned:1;\n"		\
	"\tfield:u16 h;\toffset:20;\tsize:2;\tsigned:0;\n"		\
	"\tfield:u8 b;\toffset:22;\tsize:1;\tsigned:0;\n"		\
	"\tfield:s8 c;\toffset:23;\tsize:1;\tsigned:1;\n"		\
	"\tfield:char name[8];\toffset:24;\tsize:8;\tsigned:0;\n"	\
	"\tfield:__data_loc char[] str;\toffset:32;\tsize:4;\tsigned:0;\n" \
	"\tfield:unsigned long a[3];\toffset:40;\tsize:24;\tsigned:0;\n"

struct record {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	int64_t l;
	int32_t i;
	uint16_t h;
	uint8_t b;
	int8_t c;
	char name[8];
	uint32_t str;
	uint32_t pad;
	uint64_t a[3];
	char tail[16];
};

static const struct record sample = {
	.type = 7, .pid = 1, .l = -5, .i = -6, .h = 65535, .b = 3, .c = -1,
	.name = "abcdefgh", .str = 64 | 6 << 16,
	.a = { 1, UINT64_MAX, 0xabcdef }, .tail = "hello",
};

/* Print by both ways; true: the same, and compiled. */
static void expect_same(const char *print, const char *wanted)
{
	struct tep_handle *tep = new_tep();
	char *format = tool_printf(HEAD "\nprint fmt: %s\n", print);
	struct tep_event *event = parse(tep, format, "test");
	struct text fast = { 0 }, slow = { 0 };
	struct event_format *f;

	ASSERT(event != NULL);
	f = event_format_new(event);
	if (!event_format_compiled(f))
		tap_fail(__FILE__, __LINE__, "not compiled: %s", print);
	event_format_print(f, &fast, &sample, sizeof(sample));
	event_format_print_reference(f, &slow, &sample, sizeof(sample));
	text_char(&fast, '\0');
	text_char(&slow, '\0');
	EXPECT_STREQ(fast.buf, slow.buf);
	if (wanted)
		EXPECT_STREQ(fast.buf, wanted);
	text_free(&fast);
	text_free(&slow);
	event_format_free(f);
	free(format);
	tep_free(tep);
}

static void numbers_of_all_widths_and_signs(void)
{
	expect_same("\"%ld %lu %lx\", REC->l, REC->l, REC->l",
		    "-5 18446744073709551611 fffffffffffffffb");
	expect_same("\"%d %u %x %X\", REC->i, REC->i, REC->i, REC->i",
		    "-6 4294967290 fffffffa FFFFFFFA");
	expect_same("\"%hd %hu %hhd %hhu\", REC->h, REC->h, REC->c, REC->c",
		    "-1 65535 -1 255");
	expect_same("\"%ld %d\", REC->i, REC->c", NULL);
	expect_same("\"[%5d|%-5d|%05d|%08lx]\", REC->i, REC->b, REC->i, REC->a[2]",
		    "[   -6|3    |-0006|00abcdef]");
	expect_same("\"%p 100%%\", REC->a[2]", "0xabcdef 100%");
}

static void expressions_and_casts(void)
{
	expect_same("\"%u\", (unsigned int)REC->l & 0xff", NULL);
	expect_same("\"%d %d\", (REC->b + 4) << 2, REC->h >> 3", "28 8191");
	expect_same("\"%d\", REC->b ? REC->h : REC->i", "65535");
	expect_same("\"%d %d\", !REC->b, REC->b == 3 && REC->h > 2", NULL);
	expect_same("\"%d\", (u8)REC->i", NULL);
	expect_same("\"%d %d %d %d\", REC->b - 1, REC->b * 5, REC->h / 4, REC->h % 7",
		    "2 15 16383 1");
	expect_same("\"%d %d %d\", REC->h & 12, REC->b | 4, ~REC->b", "12 7 -4");
	expect_same("\"%d %d %d %d\", REC->b < 3, REC->b <= 3, REC->b > 3, REC->b >= 3",
		    "0 1 0 1");
	expect_same("\"%d %d %d %d\", REC->b < 4, REC->b <= 2, REC->b > 2, REC->b >= 4",
		    "1 0 1 0");
	expect_same("\"%d %d %d %d\", REC->b == 3, REC->b != 3, REC->b == 4, REC->b != 4",
		    "1 0 0 1");
	expect_same("\"%d %d %d\", REC->b && 0, REC->b || 0, 0 || 0", "0 1 0");
	expect_same("\"%d %d %d\", REC->i < 0, REC->l < 0, REC->c < 0", NULL);
	expect_same("\"%d %ld %d %d\", REC->i / 2, REC->l / 2, REC->c / 2, REC->i % 4", NULL);
	expect_same("\"%d %ld %d\", REC->i >> 1, REC->l >> 1, REC->c >> 1", NULL);
	expect_same("\"%d %ld\", REC->i * 2, REC->l - 1", NULL);
	expect_same("\"%d %d\", REC->l < 1, REC->i > 1", NULL);
}

static void strings_of_all_kinds(void)
{
	expect_same("\"%s|%-10s|%10s|\", REC->name, REC->name, REC->name",
		    "abcdefgh|abcdefgh  |  abcdefgh|");
	expect_same("\"<%s>\", __get_str(str)", "<hello>");
	expect_same("\"%s\", REC->b ? \"yes\" : \"no\"", "yes");
	expect_same("\"a\\tb\\n%s\", REC->name", NULL);
}

static void symbols_and_flags(void)
{
	expect_same("\"%s\", __print_symbolic(REC->b, { 1, \"one\" }, { 3, \"three\" })",
		    "three");
	expect_same("\"%s\", __print_symbolic(REC->h, { 1, \"one\" })", "0xffff");
	expect_same("\"%s\", __print_flags(REC->b, \"|\", { 1, \"A\" }, { 2, \"B\" })",
		    "A|B");
	expect_same("\"%s\", __print_flags(REC->h, \"|\", { 1, \"A\" }, { 2, \"B\" })",
		    "A|B|0xfffc");
	expect_same("\"%s\", REC->b & 4 ? __print_flags(REC->b, \"|\", { 1, \"A\" }) : \"R\"",
		    "R");
}

static void what_is_not_compiled_goes_to_the_reference(void)
{
	struct tep_handle *tep = new_tep();
	struct tep_event *event = parse(tep, HEAD
		"\nprint fmt: \"%pS %d\", (void *)REC->l, REC->i\n", "test");
	struct event_format *f;
	struct text t = { 0 };

	ASSERT(event != NULL);
	f = event_format_new(event);
	EXPECT(!event_format_compiled(f));
	event_format_print(f, &t, &sample, sizeof(sample));
	text_char(&t, '\0');
	EXPECT(strstr(t.buf, "-6") != NULL);
	text_free(&t);
	event_format_free(f);
	tep_free(tep);
}

/* Room for a record that ends where a page begins that cannot be read. */
static char *page_before_none(size_t page)
{
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT(map != MAP_FAILED);
	ASSERT(!mprotect(map + page, page, PROT_NONE));
	return map;
}

/* All lengths of the sample; what is not long enough says so. */
static void print_cut_off(const char *print, bool compiled, size_t enough)
{
	struct tep_handle *tep = new_tep();
	char *format = tool_printf(HEAD "\nprint fmt: %s\n", print);
	struct tep_event *event = parse(tep, format, "test");
	size_t size, page = sysconf(_SC_PAGESIZE);
	char *map = page_before_none(page), *data;
	struct event_format *f;
	struct text t = { 0 };

	ASSERT(event != NULL);
	f = event_format_new(event);
	EXPECT_EQ(event_format_compiled(f), compiled);
	for (size = 0; size <= sizeof(sample); size++) {
		data = map + page - size;
		memcpy(data, &sample, size);
		t.used = 0;
		event_format_print(f, &t, data, size);
		text_char(&t, '\0');
		EXPECT_EQ(!strcmp(t.buf, "[cut off]"), size < enough);
		/* The string lies behind the fields. */
		if (compiled && size >= enough)
			EXPECT_STREQ(t.buf, size < 64 + 6 ? "abcdef <>" :
							    "abcdef <hello>");
	}
	munmap(map, 2 * page);
	text_free(&t);
	event_format_free(f);
	free(format);
	tep_free(tep);
}

static void a_short_record_is_not_read_beyond_its_end(void)
{
	print_cut_off("\"%lx <%s>\", REC->a[2], __get_str(str)", true, 64);
	print_cut_off("\"%pS %lx\", (void *)REC->l, REC->a[2]", false, 64);
}

/* A xorshift: the same bytes in every run. */
static uint64_t random_bits(void)
{
	static uint64_t x = 0x9e3779b97f4a7c15ULL;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Random fields; dynamic ones point at a short string at the end. */
static void fill_record(struct tep_event *event, unsigned char *data, int size)
{
	struct tep_format_field *field;
	uint16_t type = event->id;
	int i;

	for (i = 0; i < size; i++)
		data[i] = random_bits() >> 24 & (random_bits() & 1 ? 0xff : 7);
	memcpy(data, &type, 2);
	memcpy(data + size - 8, "string", 7);
	for (field = event->format.fields; field; field = field->next) {
		uint32_t where = size - 8 - field->offset - 4;

		if (!(field->flags & TEP_FIELD_IS_DYNAMIC) || field->size != 4)
			continue;
		if (!(field->flags & TEP_FIELD_IS_RELATIVE))
			where = size - 8;
		where |= 7 << 16;
		memcpy(data + field->offset, &where, 4);
	}
}

/* 0: not an event; 1: by the reference; 2: compiled, and all the same. */
static int check_event(struct tep_handle *tep, const char *system,
		       const char *text)
{
	struct tep_event *event = parse(tep, text, system);
	struct text fast = { 0 }, slow = { 0 };
	unsigned char data[4096];
	struct event_format *f;
	int i, compiled;

	if (!event)
		return 0;
	f = event_format_new(event);
	compiled = event_format_compiled(f);
	for (i = 0; compiled && i < 20; i++) {
		fill_record(event, data, sizeof(data));
		fast.used = slow.used = 0;
		event_format_print(f, &fast, data, sizeof(data));
		event_format_print_reference(f, &slow, data, sizeof(data));
		text_char(&fast, '\0');
		text_char(&slow, '\0');
		if (strcmp(fast.buf, slow.buf)) {
			tap_fail(__FILE__, __LINE__, "%s:%s:\n#  %s\n#  %s",
				 system, event->name, fast.buf, slow.buf);
			break;
		}
	}
	text_free(&fast);
	text_free(&slow);
	event_format_free(f);
	return 1 + compiled;
}

static void every_event_of_this_kernel_prints_the_same(void)
{
	static const char *const top = "/sys/kernel/tracing/events";
	struct tep_handle *tep = new_tep();
	DIR *systems = opendir(top), *events;
	int count[3] = { 0 }, before = tap_failed;
	struct dirent *s, *e;

	if (!systems)
		SKIP("%s cannot be read", top);
	while ((s = readdir(systems)) && tap_failed - before < 10) {
		char *dir = tool_printf("%s/%s", top, s->d_name);

		events = s->d_name[0] == '.' ? NULL : opendir(dir);
		while (events && (e = readdir(events))) {
			char *path = tool_printf("%s/%s/format", dir, e->d_name);
			char *text = read_whole_file(path, NULL);

			if (text && strcmp(s->d_name, "ftrace"))
				count[check_event(tep, s->d_name, text)]++;
			free(text);
			free(path);
		}
		if (events)
			closedir(events);
		free(dir);
	}
	closedir(systems);
	tep_free(tep);
	printf("# %d events compiled, %d by libtraceevent\n", count[2], count[1]);
	if (!count[1] && !count[2])
		SKIP("no event below %s can be read", top);
	EXPECT_OP(count[2], >, count[1]);
}

static const struct tap_test tests[] = {
	{ "numbers_of_all_widths_and_signs", numbers_of_all_widths_and_signs },
	{ "expressions_and_casts", expressions_and_casts },
	{ "strings_of_all_kinds", strings_of_all_kinds },
	{ "symbols_and_flags", symbols_and_flags },
	{ "what_is_not_compiled_goes_to_the_reference",
	  what_is_not_compiled_goes_to_the_reference },
	{ "a_short_record_is_not_read_beyond_its_end",
	  a_short_record_is_not_read_beyond_its_end },
	{ "every_event_of_this_kernel_prints_the_same",
	  every_event_of_this_kernel_prints_the_same },
};

TAP_MAIN(tests)
