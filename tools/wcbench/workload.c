/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "workload.h"

const struct workload *const workloads[] = {
	&workload_seqw,		 &workload_seqr,
	&workload_seeks,	 &workload_randr,
	&workload_rndw,		 &workload_flush,
	&workload_wal_fdatasync, &workload_wal_dsync,
	&workload_wal_shared,	 &workload_wal_shared_dsync,
	&workload_mixed,	 &workload_depth_read,
	&workload_depth_write,	 &workload_cachesize,
};

const size_t workloads_count = sizeof(workloads) / sizeof(workloads[0]);

const struct workload *workload_find(const char *id)
{
	size_t i;

	for (i = 0; i < workloads_count; i++)
		if (strcmp(workloads[i]->id, id) == 0)
			return workloads[i];
	return NULL;
}
