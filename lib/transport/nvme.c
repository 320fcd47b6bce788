/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NVMe commands through the driver's ioctls (linux/nvme_ioctl.h). */
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "sysfs.h"

static int nvme_submit(struct wc_transport *t, const struct wc_request *rq, struct wc_reply *reply)
{
	const bool admin = rq->set == WC_NVME_ADMIN;
	struct nvme_passthru_cmd cmd = {
		.opcode = rq->nvme.opcode,
		.nsid = rq->nvme.nsid,
		.addr = (uintptr_t)rq->data,
		.data_len = rq->direction == WC_NONE ? 0 : rq->data_len,
		.cdw10 = rq->nvme.cdw10,
		.cdw11 = rq->nvme.cdw11,
		.cdw12 = rq->nvme.cdw12,
		.cdw13 = rq->nvme.cdw13,
		.cdw14 = rq->nvme.cdw14,
		.cdw15 = rq->nvme.cdw15,
		.timeout_ms = rq->timeout_ms,
	};
	int fd, ret;

	if (rq->set != WC_NVME_ADMIN && rq->set != WC_NVME_IO)
		return -ENOTTY;
	fd = wc_node_fd((struct wc_node *)t);
	if (fd < 0)
		return fd;
	memset(reply, 0, sizeof(*reply));
	ret = ioctl(fd, admin ? NVME_IOCTL_ADMIN_CMD : NVME_IOCTL_IO_CMD, &cmd);
	/* EINTR is a command that was cancelled after its time (drivers/nvme/host/ioctl.c). */
	if (ret < 0 && errno == EINTR)
		return -ETIMEDOUT;
	if (ret < 0)
		return errno == ENXIO ? -ENODEV : -errno;
	/* A positive value is the status of the command itself. */
	reply->nvme.status = ret;
	reply->nvme.result = cmd.result;
	return 0;
}

const struct wc_transport_ops wc_transport_nvme = {
	.name = "nvme",
	.submit = nvme_submit,
	.attr_get = wc_node_attr_get,
	.attr_set = wc_node_attr_set,
	.prop_get = wc_node_prop_get,
	.writeback = wc_node_writeback,
	.sync = wc_node_sync,
	.close = wc_node_close,
};
