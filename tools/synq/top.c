// SPDX-License-Identifier: GPL-2.0
/*
 * The command top: who is let in and who is not, now, by listener and class.
 *
 * On a terminal it draws, once an interval and at each key; what it draws is computed in
 * rates.c.  Elsewhere, or if a number of samples is wanted, it prints tables.
 */
#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "counters.h"
#include "print.h"
#include "rates.h"

#define INTERVAL_MAX	3600	/* seconds */
#define COUNT_MAX	1000000
#define TOP_LINES	3	/* above the rows */

static const struct {
	int key;
	enum rate_column column;
} sort_keys[] = {
	{ 'l', RATE_UNSORTED },	 { 'o', RATE_OFFERED },
	{ 'a', RATE_ADMITTED },	 { 'r', RATE_REFUSED },
	{ 'h', RATE_HELD },	 { 'i', RATE_INSIDE },
	{ 'd', RATE_DEPTH },	 { 'w', RATE_WAIT99 },
};

#define SORT_KEYS	(sizeof(sort_keys) / sizeof(*sort_keys))

static const char help_line[] =
	"q quit p pause v view z idle +- time  sort: l o a r h i d w  arrows: scroll";

/**
 * struct top - what is shown, and how
 * @nl: the conversation
 * @interval: between samples, in seconds
 * @count: how many to print; 0: draw
 * @before: the sample before the last one
 * @now: the last one
 * @before_ms: when that was
 * @now_ms: when this was
 * @rates: what happened between them
 * @sort: the column by which rows are sorted
 * @view: which columns are shown
 * @scroll: rows that are above the screen
 * @paused: no further samples
 * @idle: rows without anything are shown, too
 */
struct top {
	struct nl nl;
	__u32 interval;
	__u32 count;
	struct stats before;
	struct stats now;
	__u64 before_ms;
	__u64 now_ms;
	struct rates rates;
	enum rate_column sort;
	unsigned int view;
	unsigned int scroll;
	bool paused;
	bool idle;
};

static atomic_bool ended;

static void on_signal(int number)
{
	ended = true;
}

static __u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

static int parse(struct words *words, struct top *top)
{
	const char *word, *value;
	int error = DONE;

	while (!error && (word = words_next(words))) {
		if (strcmp(word, "-d") && strcmp(word, "-n"))
			return refuse(NULL, word, "not a top option (-d, -n)");
		value = words_next(words);
		if (word[1] == 'd' ? top->interval : top->count)
			return refuse(NULL, word, "given twice");
		if (!value)
			return refuse(NULL, word, "its value is missing (%s)",
				      word[1] == 'd' ? "TIME" : "N");
		if (word[1] == 'd')
			error = value_seconds(NULL, value, "-d", INTERVAL_MAX,
					      &top->interval);
		else
			error = value_range(NULL, value, "-n", 1, COUNT_MAX,
					    &top->count);
	}
	return error;
}

/* The last sample becomes the one before. */
static int sample(struct top *top)
{
	struct stats oldest = top->before;

	top->before = top->now;
	top->before_ms = top->now_ms;
	top->now = oldest;
	top->now_ms = now_ms();
	return stats_fetch(&top->nl, &top->now);
}

static void compute(struct top *top)
{
	free(top->rates.rate);
	rates_between(&top->before, &top->now, top->now_ms - top->before_ms,
		      &top->rates);
	rates_sort(&top->rates, top->sort);
}

static bool is_shown(const struct top *top, const struct rate *rate)
{
	return top->idle || !rate_is_idle(rate);
}

static void state_text(const struct stats *now, char *text, size_t room)
{
	char trial[40] = "";

	if (now->confirm_left)
		snprintf(trial, sizeof(trial), "  on trial for %us",
			 now->confirm_left);
	snprintf(text, room, "%u listener%s, %u socket%s%s%s%s", now->listeners,
		 now->listeners == 1 ? "" : "s", now->sockets,
		 now->sockets == 1 ? "" : "s", now->bypass ? "  OFF" : "",
		 now->observe ? "  enforce off" : "", trial);
}

static void total_text(const struct rate *total, char *text, size_t room)
{
	char cell[6][CELL_TEXT];

	snprintf(text, room,
		 "offered %s/s  admitted %s/s  refused %s/s  held %s  inside %s  queued %s",
		 rate_text_of(total, RATE_OFFERED, cell[0]),
		 rate_text_of(total, RATE_ADMITTED, cell[1]),
		 rate_text_of(total, RATE_REFUSED, cell[2]),
		 rate_text_of(total, RATE_HELD, cell[3]),
		 rate_text_of(total, RATE_INSIDE, cell[4]),
		 rate_text_of(total, RATE_DEPTH, cell[5]));
}

/* --- tables --- */

static void print_table(struct top *top)
{
	struct columns *columns = columns_new(2);
	char text[200], cell[CELL_TEXT];
	unsigned int i, j;

	state_text(&top->now, text, sizeof(text));
	printf("synq top: %s\n", text);
	total_text(&top->rates.total, text, sizeof(text));
	printf("%s\n\n", text);
	for (j = 0; j < RATE_COLUMNS; j++)
		columns_cell(columns, "%s", rate_headings[j].text);
	columns_row(columns);
	for (i = 0; i < top->rates.rates; i++) {
		const struct rate *rate = &top->rates.rate[i];

		if (!is_shown(top, rate))
			continue;
		for (j = 0; j < RATE_COLUMNS; j++)
			columns_cell(columns, "%s", rate_text_of(rate, j, cell));
	}
	columns_print(columns);
	fflush(stdout);
}

static int print(struct top *top)
{
	__u32 i;
	int error;

	error = sample(top);
	for (i = 0; i < top->count && !error && !ended; i++) {
		if (i)
			putchar('\n');
		sleep(top->interval);
		error = ended ? DONE : sample(top);
		if (error || ended)
			break;
		compute(top);
		print_table(top);
	}
	return error;
}

/* --- the screen --- */

static unsigned int class_width(const struct rates *rates)
{
	unsigned int width = rate_headings[RATE_CLASS].width;
	unsigned int i;

	for (i = 0; i < rates->rates; i++) {
		if (strlen(rates->rate[i].class) > width)
			width = strlen(rates->rate[i].class);
	}
	return width;
}

/* The columns of the first view at 80 columns leave a name 12 characters. */
#define NAME_ROOM	12

static unsigned int name_room(const struct top *top)
{
	unsigned int width = class_width(&top->rates);

	return width > NAME_ROOM && COLS < 84 ? NAME_ROOM : width;
}

static void draw_row(const struct rate *rate, const enum rate_column *column,
		     unsigned int columns, int width, enum rate_column sort)
{
	char text[CELL_TEXT];
	unsigned int i;

	for (i = 0; i < columns; i++) {
		const struct rate_heading *heading = &rate_headings[column[i]];
		const char *cell = rate ? rate_text_of(rate, column[i], text) :
					  heading->text;

		if (!rate && column[i] == sort)
			attron(A_BOLD | A_UNDERLINE);
		if (column[i] == RATE_CLASS)
			printw("%-*.*s", width, width, cell);
		else
			printw("%*s", heading->width, cell);
		if (!rate && column[i] == sort)
			attroff(A_BOLD | A_UNDERLINE);
		if (i + 1 < columns)
			addch(' ');
	}
}

static void draw_head(const struct top *top)
{
	char text[200];
	char clock[16];
	time_t now = time(NULL);

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	state_text(&top->now, text, sizeof(text));
	mvprintw(0, 0, "synq top  %s  every %us  %s", clock, top->interval,
		 text);
	if (top->paused) {
		attron(A_REVERSE);
		printw("  paused");
		attroff(A_REVERSE);
	}
	total_text(&top->rates.total, text, sizeof(text));
	mvaddnstr(1, 0, text, COLS);
}

static void draw(struct top *top)
{
	enum rate_column column[RATE_COLUMNS];
	int width = name_room(top);
	unsigned int columns = rates_columns(COLS, width, top->view, column);
	unsigned int i, shown = 0;
	int line = TOP_LINES;

	erase();
	draw_head(top);
	move(TOP_LINES - 1, 0);
	attron(A_REVERSE);
	draw_row(NULL, column, columns, width, top->sort);
	attroff(A_REVERSE);
	for (i = 0; i < top->rates.rates; i++) {
		const struct rate *rate = &top->rates.rate[i];

		if (!is_shown(top, rate) || shown++ < top->scroll)
			continue;
		if (line >= LINES - 1)
			break;
		move(line++, 0);
		draw_row(rate, column, columns, width, top->sort);
	}
	if (!shown && !top->rates.rates)
		mvaddnstr(line, 0, "no listener is configured", COLS);
	else if (!shown)
		mvaddnstr(line, 0, "nothing happens (z: show all)", COLS);
	attron(A_REVERSE);
	mvaddnstr(LINES - 1, 0, help_line, COLS);
	attroff(A_REVERSE);
	refresh();
}

static unsigned int rows_shown(const struct top *top)
{
	unsigned int shown = 0;
	unsigned int i;

	for (i = 0; i < top->rates.rates; i++)
		shown += is_shown(top, &top->rates.rate[i]);
	return shown;
}

static void scroll_by(struct top *top, int rows)
{
	int last = (int)rows_shown(top) - (LINES - TOP_LINES - 1);
	int to = (int)top->scroll + rows;

	if (to > last)
		to = last;
	top->scroll = to > 0 ? to : 0;
}

/* Returns whether to go on. */
static bool press(struct top *top, int key)
{
	unsigned int i;

	for (i = 0; i < SORT_KEYS; i++) {
		if (sort_keys[i].key != key)
			continue;
		top->sort = sort_keys[i].column;
		rates_sort(&top->rates, top->sort);
	}
	switch (key) {
	case 'q':
		return false;
	case 'p':
	case ' ':
		top->paused = !top->paused;
		break;
	case 'v':
		top->view++;
		break;
	case 'z':
		top->idle = !top->idle;
		break;
	case '+':
		top->interval += top->interval < INTERVAL_MAX;
		break;
	case '-':
		top->interval -= top->interval > 1;
		break;
	case KEY_UP:
		scroll_by(top, -1);
		break;
	case KEY_DOWN:
		scroll_by(top, 1);
		break;
	case KEY_PPAGE:
		scroll_by(top, -(LINES - TOP_LINES - 1));
		break;
	case KEY_NPAGE:
		scroll_by(top, LINES - TOP_LINES - 1);
		break;
	}
	return true;
}

/* A resized window does not interrupt what is asked. */
static int sample_undisturbed(struct top *top)
{
	sigset_t winch, old;
	int error;

	sigemptyset(&winch);
	sigaddset(&winch, SIGWINCH);
	sigprocmask(SIG_BLOCK, &winch, &old);
	error = sample(top);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return error;
}

static int loop(struct top *top)
{
	__u64 next, now;
	int error;

	error = sample_undisturbed(top);
	/* Of a single sample there are no rates, but there is a state. */
	rates_between(&top->now, &top->now, 1, &top->rates);
	next = now_ms() + 1000;		/* the first ones soon */
	while (!error && !ended) {
		draw(top);
		now = now_ms();
		timeout(top->paused ? 500 : next > now ? (int)(next - now) : 0);
		if (!press(top, getch()))
			break;
		if (top->paused || now_ms() < next)
			continue;
		error = sample_undisturbed(top);
		compute(top);
		scroll_by(top, 0);
		next = now_ms() + 1000ull * top->interval;
	}
	return ended ? DONE : error;
}

/* What is said on stderr meanwhile would be drawn over: it comes when the screen is left. */
static void say(FILE *said, int old)
{
	char line[512];

	fflush(stderr);
	dup2(old, STDERR_FILENO);
	rewind(said);
	while (!ended && fgets(line, sizeof(line), said))
		fputs(line, stderr);
}

static int show(struct top *top)
{
	FILE *said = tmpfile();
	int old = dup(STDERR_FILENO);
	SCREEN *screen;
	int error;

	if (!said || old < 0)
		return fail(REFUSED, "cannot draw: %s", strerror(errno));
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		fclose(said);
		close(old);
		top->count = COUNT_MAX;
		return print(top);
	}
	dup2(fileno(said), STDERR_FILENO);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(25);
	error = loop(top);
	endwin();
	delscreen(screen);
	say(said, old);
	fclose(said);
	close(old);
	return error;
}

/**
 * command_top() - show what happens now, until q is pressed
 * @words: [-d TIME] [-n N]
 * @flags: none
 *
 * Return: exit status.
 */
int command_top(struct words *words, unsigned int flags)
{
	const struct sigaction end = { .sa_handler = on_signal };
	struct top top = { .sort = RATE_UNSORTED };
	int error;

	error = parse(words, &top);
	if (!error)
		error = nl_open(&top.nl);
	if (!top.interval)
		top.interval = 1;
	if (!isatty(STDOUT_FILENO) && !top.count)
		top.count = 1;
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	if (!error)
		error = top.count ? print(&top) : show(&top);
	nl_close(&top.nl);
	stats_clear(&top.before);
	stats_clear(&top.now);
	free(top.rates.rate);
	return error;
}
