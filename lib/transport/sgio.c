/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SCSI commands through SG_IO. The only file that knows libsgutils2, whose SONAME
 * changes with each release and whose first call sets up globals without a lock.
 */
#include <errno.h>
#include <pthread.h>
#include <scsi/sg_lib.h>
#include <scsi/sg_pt.h>
#include <string.h>

#include "sysfs.h"

static pthread_once_t sgutils_once = PTHREAD_ONCE_INIT;

static void sgutils_init(void)
{
	struct sg_pt_base *pt = construct_scsi_pt_obj_with_fd(-1, 0);

	if (pt)
		destruct_scsi_pt_obj(pt);
}

static int submit(struct sg_pt_base *pt, const struct wc_request *rq, struct wc_reply *reply)
{
	int ret;

	set_scsi_pt_cdb(pt, rq->scsi.cdb, rq->scsi.cdb_len);
	set_scsi_pt_sense(pt, reply->scsi.sense, sizeof(reply->scsi.sense));
	if (rq->direction == WC_IN)
		set_scsi_pt_data_in(pt, rq->data, rq->data_len);
	else if (rq->direction == WC_OUT)
		set_scsi_pt_data_out(pt, rq->data, rq->data_len);
	/* whole seconds: anything else becomes 60 s there */
	ret = do_scsi_pt(pt, -1, (rq->timeout_ms + 999) / 1000, 0);
	if (ret < 0)
		return ret;
	if (ret > 0)
		return ret == SCSI_PT_DO_TIMEOUT ? -ETIMEDOUT : -EINVAL;
	if (get_scsi_pt_os_err(pt))
		return -get_scsi_pt_os_err(pt);
	reply->scsi.status = get_scsi_pt_status_response(pt);
	reply->scsi.host = get_scsi_pt_transport_err(pt);
	reply->scsi.resid = get_scsi_pt_resid(pt);
	reply->scsi.sense_len = get_scsi_pt_sense_len(pt);
	return 0;
}

static int sgio_submit(struct wc_transport *t, const struct wc_request *rq, struct wc_reply *reply)
{
	struct wc_node *node = (struct wc_node *)t;
	struct sg_pt_base *pt;
	int fd, err;

	if (rq->set != WC_SCSI)
		return -ENOTTY;
	fd = wc_node_fd(node);
	if (fd < 0)
		return fd;
	pthread_once(&sgutils_once, sgutils_init);
	memset(reply, 0, sizeof(*reply));
	pt = construct_scsi_pt_obj_with_fd(fd, 0);
	if (!pt)
		return -ENOMEM;
	err = submit(pt, rq, reply);
	destruct_scsi_pt_obj(pt);
	return err == -ENXIO ? -ENODEV : err;
}

const struct wc_transport_ops wc_transport_sgio = {
	.name = "sgio",
	.submit = sgio_submit,
	.attr_get = wc_node_attr_get,
	.attr_set = wc_node_attr_set,
	.prop_get = wc_node_prop_get,
	.writeback = wc_node_writeback,
	.sync = wc_node_sync,
	.close = wc_node_close,
};
