/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Three panels by gnuplot: what the setting is worth (with intervals), how long operations
 * take (by percentile), and how the rates went over time.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "output.h"

#define CURVES 8 /* of percentiles; more are not told apart */

extern char **environ;

static const double curve_percent[] = { 1, 10, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99 };

/* Colours that are told apart by most eyes (Okabe and Ito). */
static const char *const arm_colour[ARMS] = { "#0072b2", "#d55e00" };

/* A gnuplot string: in single quotes only the quote itself is special. */
static void put_string(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', out);
		if (*text >= ' ')
			fputc(*text, out);
	}
	fputc('\'', out);
}

/* Names go into data blocks in double quotes. */
static void put_name(FILE *out, const struct line *line)
{
	char name[96];

	report_line_name(line, name, sizeof(name));
	fprintf(out, "\"%s\"", name);
}

static bool has_bar(const struct report *report, const struct line *line)
{
	return report->mode == MODE_CURRENT ? line->arm[ARM_A].n > 0 : line->ratio.n > 0;
}

static size_t put_bars(const struct report *report, FILE *out)
{
	size_t i, n = 0;

	fputs("$bars << EOD\n", out);
	for (i = 0; i < report->lines; i++) {
		const struct line *line = &report->line[i];
		const struct spread *spread = &line->arm[ARM_A];
		double value = line->ratio.value, low = line->ratio.lo, high = line->ratio.hi;

		if (!has_bar(report, line))
			continue;
		if (report->mode == MODE_CURRENT) {
			value = spread->median;
			low = spread->min;
			high = spread->max;
		} else if (line->ratio.n < 2) {
			low = high = value;
		}
		fprintf(out, "%zu %g %g %g ", n++, value, low, high);
		put_name(out, line);
		fputc('\n', out);
	}
	fputs("EOD\n", out);
	return n;
}

static void plot_bars(const struct report *report, FILE *out)
{
	static const char *const title[] = {
		[MODE_ON_OFF] = "What the setting is worth, with 95 % intervals",
		[MODE_CURRENT] = "Medians, with minimum and maximum",
		[MODE_SAME] = "The same against itself, with 95 % intervals",
	};
	static const char *const axis[] = {
		[MODE_ON_OFF] = "cache on / cache off",
		[MODE_CURRENT] = "in the unit of each",
		[MODE_SAME] = "A / B",
	};
	size_t n = put_bars(report, out);

	fprintf(out, "set title '%s'\nset ylabel '%s'\n", title[report->mode], axis[report->mode]);
	fprintf(out,
		"set logscale y\nset style fill solid 0.6\nset boxwidth 0.6\nunset key\n"
		"set xrange [-0.7:%g]\nset xtics rotate by -30 noenhanced\nset grid ytics\n",
		(double)n - 0.3);
	if (n == 0) {
		fputs("set yrange [0.1:10]\nset label 1 'no measure has a result' at graph 0.4,0.5\n"
		      "plot 1 lc rgb 'black'\nunset label 1\n",
		      out);
	} else if (report->mode == MODE_CURRENT) {
		fprintf(out,
			"plot $bars using 1:2:xtic(5) with boxes lc rgb '%s', "
			"$bars using 1:2:3:4 with yerrorbars lc rgb 'black' pt 7 ps 0.4\n",
			arm_colour[ARM_A]);
	} else {
		/* A bar of a ratio stands on 1: above it the cache wins, below it loses. */
		fprintf(out,
			"plot $bars using 1:(1):(1):2:2:xtic(5) with candlesticks lc rgb '%s', "
			"$bars using 1:2:3:4 with yerrorbars lc rgb 'black' pt 7 ps 0.5, "
			"1 lc rgb 'black'\n",
			arm_colour[ARM_A]);
	}
	fputs("unset logscale\nset xrange [*:*]\nset xtics norotate\nset yrange [*:*]\n", out);
}

static bool has_curve(const struct sum *sum)
{
	return sum->part[IO_TOTAL] && sum->part[IO_TOTAL]->n >= 10 &&
	       !(sum->workload->traits & (WORKLOAD_ONCE | WORKLOAD_STREAM));
}

static void put_curve(const struct sum *sum, size_t index, FILE *out)
{
	const struct hist *hist = sum->part[IO_TOTAL];
	size_t i;

	fprintf(out, "$curve%zu << EOD\n", index);
	for (i = 0; i < sizeof(curve_percent) / sizeof(curve_percent[0]); i++) {
		/* A percentile that less than one operation stands for says nothing. */
		if ((100 - curve_percent[i]) / 100 * (double)hist->n < 1)
			break;
		fprintf(out, "%g %g\n", 100 / (100 - curve_percent[i]),
			(double)hist_percentile(hist, curve_percent[i]) / 1000);
	}
	fputs("EOD\n", out);
}

static void plot_curves(const struct report *report, FILE *out)
{
	const struct sum *shown[CURVES];
	size_t i, n = 0;

	for (i = 0; i < report->sums && n < CURVES; i++)
		if (has_curve(&report->sum[i]))
			shown[n++] = &report->sum[i];
	for (i = 0; i < n; i++)
		put_curve(shown[i], i, out);
	fputs("set title 'How long an operation takes'\nset xlabel 'percentile'\n"
	      "set ylabel 'microseconds'\nset logscale xy\nset key left top noenhanced\n"
	      "set xtics ('1' 1.0101, '50' 2, '90' 10, '99' 100, '99.9' 1000, '99.99' 10000)\n"
	      "set xrange [1:10000]\nset grid xtics ytics\nplot ",
	      out);
	if (n == 0)
		fputs("1 notitle", out);
	for (i = 0; i < n; i++) {
		char name[64], title[96];

		report_case_name(shown[i]->workload, shown[i]->param, name, sizeof(name));
		snprintf(title, sizeof(title), "%s %s", name,
			 report_arm_name(report, shown[i]->arm));
		fprintf(out,
			"%s$curve%zu using 1:2 with linespoints lw 2 lc rgb '%s' pt %zu title ",
			i ? ", " : "", i, arm_colour[shown[i]->arm], 4 + i);
		put_string(out, title);
	}
	fputs("\nunset logscale\nset xlabel\nset xtics auto\nset xrange [*:*]\n", out);
}

static void put_timeline(const struct report *report, enum arm arm, FILE *out)
{
	size_t i, k;

	fprintf(out, "$time%d << EOD\n", arm);
	for (i = 0; i < report->runs; i++) {
		const struct run *run = &report->run[i];

		if (run->arm != arm || run->intervals == 0)
			continue;
		for (k = 0; k < run->intervals; k++) {
			const struct interval *io = &run->interval[k].io;

			if (io->operations)
				fprintf(out, "%.3f %g\n", run->began + (double)io->at / NS_PER_S,
					(double)io->operations * NS_PER_S / (double)io->length);
		}
		fputc('\n', out);
	}
	/* gnuplot takes a block without a point for an error. */
	fprintf(out, "NaN NaN\nEOD\n");
}

static void plot_timeline(const struct report *report, FILE *out)
{
	enum arm arm, last = report->mode == MODE_CURRENT ? ARM_A : ARM_B;

	for (arm = ARM_A; arm <= last; arm++)
		put_timeline(report, arm, out);
	fputs("set title 'Operations a second over time, all workloads in turn'\n"
	      "set xlabel 'seconds'\nset ylabel 'operations / s'\nset logscale y\n"
	      "set key above right\nset format y '%g'\nplot ",
	      out);
	for (arm = ARM_A; arm <= last; arm++) {
		fprintf(out, "%s$time%d using 1:2 with linespoints lc rgb '%s' pt 7 ps 0.4 title ",
			arm ? ", " : "", arm, arm_colour[arm]);
		put_string(out, report_arm_name(report, arm));
	}
	fputc('\n', out);
}

static void put_script(const struct report *report, const char *path, bool svg, FILE *out)
{
	char title[512];
	size_t at;

	fprintf(out, "set encoding utf8\nset terminal %s size 1000,1350%s\nset output ",
		svg ? "svg dynamic background rgb 'white'" : "pngcairo", "");
	put_string(out, path);
	at = (size_t)snprintf(title, sizeof(title), "%s: %s",
			      report->drives ? report->drive[0].model[0] ? report->drive[0].model
									 : report->drive[0].name
					     : report->target,
			      belief_verdict_name(report->belief.verdict));
	if (report->belief.reasons && at < sizeof(title))
		snprintf(title + at, sizeof(title) - at, " (%s)",
			 belief_code_name(report->belief.reason[0].code));
	fputs("\nset multiplot layout 3,1 title ", out);
	put_string(out, title);
	fputs(" noenhanced\n", out);
	plot_bars(report, out);
	plot_curves(report, out);
	plot_timeline(report, out);
	fputs("unset multiplot\nset output\n", out);
}

static int start_gnuplot(pid_t *pid, FILE **in)
{
	char *argv[] = { (char[]){ "gnuplot" }, (char[]){ "-" }, NULL };
	posix_spawn_file_actions_t actions;
	int end[2], r;

	if (pipe2(end, O_CLOEXEC) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, end[0], STDIN_FILENO);
	r = -posix_spawnp(pid, "gnuplot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(end[0]);
	*in = r == 0 ? fdopen(end[1], "w") : NULL;
	if (!*in)
		close(end[1]);
	return r;
}

int output_plot(const struct report *report, const char *path)
{
	const char *ending = strrchr(path, '.');
	bool svg = ending && strcmp(ending, ".svg") == 0;
	int status, r;
	pid_t pid;
	FILE *in = NULL;

	if (!svg && (!ending || strcmp(ending, ".png") != 0))
		return -EINVAL;
	r = start_gnuplot(&pid, &in);
	if (r < 0)
		return r;
	if (in) {
		put_script(report, path, svg, in);
		fclose(in);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return in && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}
