/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two tables: a row for each run, and a row for each interval of each run, with the figures
 * of the drives that iostat -x shows.
 */
#include <errno.h>
#include <string.h>

#include "clock.h"
#include "output.h"

static void put_number(FILE *out, double value)
{
	if (value < 0)
		fputc(',', out);
	else
		fprintf(out, ",%.6g", value);
}

static void put_percentile(FILE *out, const struct hist *hist, double percent)
{
	put_number(out, hist && hist->n ? (double)hist_percentile(hist, percent) / 1000 : -1);
}

static void put_run(FILE *out, const struct report *report, const struct run *run)
{
	double seconds = (double)run->window / NS_PER_S, operations = (double)run->operations;
	size_t m;

	fprintf(out, "%u,%u,%s,%u,%s,%s,%s,%.3f,%.6f,%llu,%llu,%llu", run->order, run->pair,
		run->workload->id, run->workload->param ? run->param : 0,
		report_arm_name(report, run->arm), wcache_cache_to_string(run->drive),
		wcache_kernel_to_string(run->kernel), run->began, seconds,
		(unsigned long long)run->operations, (unsigned long long)run->bytes_read,
		(unsigned long long)run->bytes_written);
	for (m = 0; m < WORKLOAD_MEASURES; m++) {
		const struct measure *measure = &run->workload->measure[m];

		if (!measure->name) {
			fputs(",,", out);
			continue;
		}
		fprintf(out, ",%s %s", measure->name, measure->unit);
		put_number(out, run->value[m]);
	}
	put_percentile(out, run->part[IO_TOTAL], 50);
	put_percentile(out, run->part[IO_TOTAL], 99);
	put_percentile(out, run->part[IO_TOTAL], 99.9);
	put_percentile(out, run->part[IO_TOTAL], 100);
	put_percentile(out, run->part[IO_SYNC], 50);
	put_percentile(out, run->part[IO_SYNC], 99);
	put_percentile(out, run->part[IO_SYNC], 99.9);
	put_percentile(out, run->part[IO_SYNC], 100);
	put_number(out, run->device.flushes_counted ? (double)run->device.flushes : -1);
	put_number(out, (double)diskstat_data_writes(&run->device));
	put_number(out, report_flushes(&run->device, run->operations));
	put_number(out, operations > 0 ? (run->cpu_user + run->cpu_system) * 1e6 / operations : -1);
	put_number(out, run->flush_before);
	put_number(out, run->flush_after);
	fprintf(out, ",%s\n", run->error ? strerror(-run->error) : "");
}

static void put_interval(FILE *out, const struct report *report, const struct run *run,
			 const struct run_interval *interval)
{
	double seconds = (double)interval->io.length / NS_PER_S;
	struct iostat io = diskstat_iostat(&interval->device, seconds, report->drives);

	fprintf(out, "%.3f,%u,%s,%u,%s", run->began + (double)interval->io.at / NS_PER_S,
		run->order, run->workload->id, run->workload->param ? run->param : 0,
		report_arm_name(report, run->arm));
	put_number(out, (double)interval->io.operations / seconds);
	put_number(out, (double)interval->io.bytes / seconds / 1e6);
	put_number(out, (double)interval->io.p50 / 1000);
	put_number(out, (double)interval->io.p99 / 1000);
	put_number(out, (double)interval->io.max / 1000);
	put_number(out, io.r);
	put_number(out, io.rkb);
	put_number(out, io.r_await);
	put_number(out, io.w);
	put_number(out, io.wkb);
	put_number(out, io.wrqm);
	put_number(out, io.w_await);
	put_number(out, io.wareq_kb);
	put_number(out, interval->device.flushes_counted ? io.f : -1);
	put_number(out, interval->device.flushes_counted ? io.f_await : -1);
	put_number(out, io.aqu);
	put_number(out, io.util);
	fputc('\n', out);
}

static FILE *create(const char *prefix, const char *name)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s-%s.csv", prefix, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "we");
}

static int finish(FILE *out)
{
	int r = ferror(out) ? -EIO : 0;

	if (fclose(out) != 0)
		r = -errno;
	return r;
}

int output_csv(const struct report *report, const char *prefix)
{
	size_t i, k;
	FILE *out;
	int r;

	out = create(prefix, "runs");
	if (!out)
		return -errno;
	fputs("order,pair,workload,param,arm,cache,kernel,t_start,seconds,operations,read_bytes,"
	      "write_bytes,measure1,value1,measure2,value2,measure3,value3,p50_us,p99_us,p999_us,"
	      "max_us,sync_p50_us,sync_p99_us,sync_p999_us,sync_max_us,flushes,data_writes,"
	      "flush_per_op,cpu_us_per_op,flush_before_s,flush_after_s,error\n",
	      out);
	for (i = 0; i < report->runs; i++)
		put_run(out, report, &report->run[i]);
	r = finish(out);
	if (r < 0)
		return r;
	out = create(prefix, "seconds");
	if (!out)
		return -errno;
	fputs("t,order,workload,param,arm,ops_s,mb_s,p50_us,p99_us,max_us,r_s,rkb_s,r_await_ms,w_s,"
	      "wkb_s,wrqm_s,w_await_ms,wareq_kb,f_s,f_await_ms,aqu_sz,util\n",
	      out);
	for (i = 0; i < report->runs; i++)
		for (k = 0; k < report->run[i].intervals; k++)
			put_interval(out, report, &report->run[i], &report->run[i].interval[k]);
	return finish(out);
}
