// SPDX-License-Identifier: GPL-2.0
/*
 * Random mutations of valid files, read by the parser of the command, with the
 * sanitizers watching.
 *
 *	fuzz SECONDS FILE...
 *
 * A refused file must give exactly one line on stderr; an accepted one none,
 * and its canonical form must be accepted and be its own canonical form.
 * Prints the seed; SEED=N repeats a run, its first failure at the latest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../print.h"

#define TEXT_MAX	8192

static const char * const words[] = {
	"class", "match", "listener", "service", "forward", "mark", "mask", "add", "set", "del",
	"show", "priority", "default", "reserve", "rate", "burst",
	"source-rate", "source-burst", "source-len", "excess",
	"drop", "pass", "cookie", "source", "source-file", "to", "port", "80-90",
	"85-95", "1-65535", "1-1024", "90-100",
	"2001:db8::/32", "192.0.2.0/24", "order", "strict", "none",
	"weight", "cap", "max-wait", "min-share", "enforce", "on", "off",
	"app-order", "synack-retries", "cookies", "app-cookies", "auto", "never",
	"inside", "off",
	"fifo", "weighted", "300ms", "2s", "3600s", "1000", "50%",
	"local", "0", "15", "16", "75%", "100%", "200/second", "30/hour", "0.5/s", "0x1", "0xf0",
	"0xffffffff", "4294967296", "::/0", "0.0.0.0/0", "::ffff:1.2.3.4",
	"1.2.3.4/33", "2001:db8::/129", "#", "\n", " ", "\t", "/", "gold", "%",
};

static __u64 state;

static unsigned int below(unsigned int n)
{
	__u64 x = state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (x ^ (x >> 31)) % n;
}

static size_t insert(char *text, size_t length, const char *what, size_t n)
{
	size_t at = below(length + 1);

	if (length + n > TEXT_MAX)
		return length;
	memmove(text + at + n, text + at, length - at);
	memcpy(text + at, what, n);
	return length + n;
}

static size_t mutate(char *text, size_t length)
{
	const char *word = words[below(sizeof(words) / sizeof(*words))];
	char copy[64];
	size_t at, n;

	at = below(length + 1);
	n = below(sizeof(copy));
	if (n > length - at)
		n = length - at;
	switch (below(6)) {
	case 0:
		if (at < length)
			text[at] = below(256);
		break;
	case 1:
		if (at < length)
			text[at] ^= 1 << below(8);
		break;
	case 2:
		memmove(text + at, text + at + n, length - at - n);
		return length - n;
	case 3:
		memcpy(copy, text + at, n);
		return insert(text, length, copy, n);
	default:
		length = insert(text, length, " ", 1);
		return insert(text, length, word, strlen(word));
	}
	return length;
}

/* Reads @text as a file; its stderr is left in @report. */
static int read_text(const char *text, size_t length, struct conf *conf,
		     char **report)
{
	FILE *saved = stderr;
	size_t room = 0;
	char name[32];
	int status;
	int fd;

	fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		abort();
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	stderr = open_memstream(report, &room);
	status = conf_read(conf, name, true);
	conf->file = NULL;
	fclose(stderr);
	stderr = saved;
	close(fd);
	return status;
}

static char *canonical(struct conf *conf, size_t *length)
{
	FILE *saved = stdout;
	char *text = NULL;

	stdout = open_memstream(&text, length);
	conf_print(conf);
	fclose(stdout);
	stdout = saved;
	return text;
}

static bool check_accepted(struct conf *conf)
{
	size_t length, length2;
	struct conf again;
	char *report, *text, *text2;
	bool good;

	text = canonical(conf, &length);
	good = read_text(text, length, &again, &report) == DONE;
	text2 = canonical(&again, &length2);
	good = good && !strcmp(text, text2);
	conf_clear(&again);
	free(report);
	free(text);
	free(text2);
	return good;
}

static bool check_text(const char *text, size_t length, bool *accepted)
{
	struct conf conf;
	char *report;
	char *end;
	int status;
	bool good;

	status = read_text(text, length, &conf, &report);
	*accepted = status == DONE;
	end = strchr(report, '\n');
	if (*accepted)
		good = !*report && check_accepted(&conf);
	else
		good = status == REFUSED && end && !end[1] &&
		       !strncmp(report, "synq: ", 6);
	conf_clear(&conf);
	free(report);
	return good;
}

static size_t load(const char *name, char *text)
{
	FILE *file = fopen(name, "r");
	size_t length;

	if (!file)
		abort();
	length = fread(text, 1, TEXT_MAX, file);
	fclose(file);
	return length;
}

int main(int argc, char **argv)
{
	static char text[TEXT_MAX + 1], original[64][TEXT_MAX];
	const char *seed = getenv("SEED");
	unsigned long runs = 0, good = 0;
	size_t lengths[64];
	time_t end;
	int i;

	if (argc < 3 || argc > 66)
		return EXIT_FAILURE;
	state = seed ? strtoull(seed, NULL, 0) : (__u64)time(NULL);
	printf("# SEED=%llu\n", state);
	for (i = 2; i < argc; i++)
		lengths[i - 2] = load(argv[i], original[i - 2]);

	end = time(NULL) + atoi(argv[1]);
	while (time(NULL) < end) {
		unsigned int which = below(argc - 2);
		size_t length = lengths[which];
		unsigned int n = 1 + below(4);
		bool accepted;

		memcpy(text, original[which], length);
		while (n--)
			length = mutate(text, length);
		if (!check_text(text, length, &accepted)) {
			printf("# failed on:\n");
			fwrite(text, 1, length, stdout);
			return EXIT_FAILURE;
		}
		runs++;
		good += accepted;
	}
	printf("# %lu files, %lu of them accepted\n", runs, good);
	return EXIT_SUCCESS;
}
