/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known of controllers, one row each. The first row that fits is taken, so
 * the narrower ones come first.
 *
 * Commands stand as their vendors write them: X, Y, N are for the reader to fill in,
 * as the tool's own list numbers them. A command is verified where it was seen in
 * use or in the tool's output; the rest is told as not verified.
 */
#include <stdlib.h>

#include "raid.h"

#define KERNEL "Linux drivers/scsi"
#define COMMON "common knowledge"

#define FC_DRIVERS "zfcp,lpfc,qla2xxx,qedf,bnx2fc,fnic,bfa,csiostor,mptfc,fcoe"
#define ISCSI_DRIVERS                                                                       \
	"iscsi_tcp,iser,iscsi_iser,ib_srp,qedi,bnx2i,be2iscsi,qla4xxx,cxgb3i,cxgb4i,iscsi," \
	"nvme-tcp,nvme-rdma,nvme-fc,nvme-loop"
#define NETWORK_DRIVERS FC_DRIVERS "," ISCSI_DRIVERS

#define HIDES_MEMBERS \
	"the write caches of the disks behind the volume, and the controller's own cache"
#define WCE_CONTROLLER "the controller's cache, not that of the disks behind it"
#define CONTROLLER_RULES \
	.hides = HIDES_MEMBERS, .wce = WCE_CONTROLLER, .flush = "with the controller"

#define ALL_VOLUMES \
	.tell = WC_TELL_ALWAYS, .is = WCACHE_CONTROLLER_VOLUME, .is_not = WCACHE_CONTROLLER_VOLUME
#define VOLUMES_OR(other) .is = WCACHE_CONTROLLER_VOLUME, .is_not = WCACHE_CONTROLLER_##other

#define HYPERVISOR(names, ids, strings, what, from, sure)                                       \
	{                                                                                       \
		.drivers = names, .pci = ids, .inquiry = strings, .tell = WC_TELL_ALWAYS,       \
		.is = WCACHE_CONTROLLER_HOST, .is_not = WCACHE_CONTROLLER_HOST, .family = what, \
		.hides = "the medium and every cache of the host that lends the disk",          \
		.wce = "what the host presents, not a drive's cache",                           \
		.flush = "with the host, which may or may not pass it on",                      \
		.flush_reaches = WCACHE_UNKNOWN, .tool = "the hypervisor's settings",           \
		.source = from, .verified = sure                                                \
	}

#define NETWORK(names, ids, strings, what, of, from, sure)                                       \
	{                                                                                        \
		.drivers = names, .pci = ids, .inquiry = strings, .tell = WC_TELL_ALWAYS,        \
		.is = of, .is_not = of, .family = what,                                          \
		.hides = "the medium and every cache on the other side",                         \
		.wce = "what the other side presents, not a drive's cache",                      \
		.flush = "with the other side, which may or may not pass it on",                 \
		.flush_reaches = WCACHE_UNKNOWN, .tool = "the management of the storage system", \
		.source = from, .verified = sure                                                 \
	}

const struct wc_raid_row wc_raid_rows[] = {
	/* hypervisors: before the hardware whose drivers they borrow */
	HYPERVISOR("hv_storvsc,storvsc_host,storvsc_host_t", NULL, NULL, "Hyper-V",
		   KERNEL "/storvsc_drv.c", true),
	HYPERVISOR("vmw_pvscsi", NULL, NULL, "VMware", KERNEL "/vmw_pvscsi.c", true),
	HYPERVISOR("virtio_scsi", NULL, NULL, "virtio-scsi", KERNEL "/virtio_scsi.c", true),
	HYPERVISOR("virtio_blk", NULL, NULL, "virtio", "Linux drivers/block/virtio_blk.c", true),
	HYPERVISOR("scsifront,vbd", NULL, NULL, "Xen", KERNEL "/xen-scsifront.c", true),
	HYPERVISOR("mptspi,mptsas,mpt3sas,BusLogic,ahci,ata_piix", NULL,
		   "VMware*|VMware*,ATA|VMware Virtual*", "VMware", COMMON, false),
	HYPERVISOR("ahci,ata_piix,sym53c8xx,mptsas,uas,usb-storage", NULL, "QEMU|*,ATA|QEMU*",
		   "QEMU", "QEMU hw/scsi/scsi-disk.c, hw/ide/core.c", true),
	HYPERVISOR("ahci,ata_piix,mptspi,mptsas", NULL, "VBOX|*,ATA|VBOX*", "VirtualBox", COMMON,
		   false),
	HYPERVISOR("ata_piix", NULL, "Msft|*,ATA|Virtual HD*", "Hyper-V", COMMON, false),
	HYPERVISOR("nvme", "1b36:0010*", NULL, "QEMU", "QEMU docs/specs/pci-ids", true),
	HYPERVISOR("nvme", "1d0f:8061*", NULL, "Amazon EBS", "Linux drivers/nvme/host/pci.c", true),
	HYPERVISOR("nvme", "15ad:*", NULL, "VMware", COMMON, false),

	/* RAID that looks like one plain disk */
	{
		.drivers = "ahci",
		.pci = "1b4b:*",
		.inquiry = "ATA|DELLBOSS VD*",
		ALL_VOLUMES,
		.family = "Dell BOSS-S1/S2",
		.hides = "the write caches of the two M.2 disks of the mirror",
		.wce = "the virtual disk's setting: it takes the change, the disks behind it do not",
		.flush = "with the controller",
		.tool = "mvcli",
		.show = "mvcli info -o vd",
		.source = "kernel log of a Dell BOSS",
		.verified = true,
	},
	{
		.drivers = "ahci",
		.pci = "1b4b:*",
		.inquiry = "ATA|MARVELL Raid*",
		ALL_VOLUMES,
		.family = "Marvell 88SE92xx RAID",
		.hides = "the write caches of the disks of the mirror",
		.wce = "the virtual disk's setting: it takes the change, the disks behind it do not",
		.flush = "with the controller",
		.tool = "mvcli",
		.show = "mvcli info -o vd",
		.source = COMMON,
	},
	{
		.drivers = "nvme",
		.pci = "1b4b:2241*",
		ALL_VOLUMES,
		.family = "Dell BOSS-N1",
		.hides = "the write caches of the two NVMe disks of the mirror",
		.wce = "the virtual disk's setting, not that of the disks behind it",
		.flush = "with the controller",
		.tool = "mnv_cli",
		.source = COMMON,
	},

	/* LSI, Avago, Broadcom and those who sell their cards */
	{
		.drivers = "megaraid_sas",
		.pci = "*:*:1028:*",
		.tell = WC_TELL_CHANNEL,
		.first_channel = 2,
		.last_channel = 3,
		.volumes = "DELL|PERC*",
		VOLUMES_OR(PHYSICAL),
		.family = "Dell PERC (MegaRAID)",
		.hides = HIDES_MEMBERS,
		.wce = WCE_CONTROLLER,
		.flush =
			"with the controller; the driver answers it unsent where the firmware takes no flushes",
		.tool = "perccli64",
		.show = "perccli64 /cX/vY show all",
		.show_verified = true,
		.set = "perccli64 /cX/vY set pdcache=off",
		.set_verified = true,
		.source = KERNEL "/megaraid/megaraid_sas_base.c; smartmontools os_linux.cpp",
		.verified = true,
	},
	{
		.drivers = "megaraid_sas",
		.tell = WC_TELL_CHANNEL,
		.first_channel = 2,
		.last_channel = 3,
		.volumes =
			"DELL|PERC*,LSI|MR*,AVAGO|MR*,BROADCOM|MR*,*|MegaRAID*,*|PERC *,Lenovo|RAID*",
		VOLUMES_OR(PHYSICAL),
		.family = "MegaRAID",
		.hides = HIDES_MEMBERS,
		.wce = WCE_CONTROLLER,
		.flush =
			"with the controller; the driver answers it unsent where the firmware takes no flushes",
		.tool = "storcli64",
		.show = "storcli64 /cX/vY show all",
		.show_verified = true,
		.set = "storcli64 /cX/vY set pdcache=off",
		.set_verified = true,
		.source = KERNEL "/megaraid/megaraid_sas_base.c; smartmontools os_linux.cpp",
		.verified = true,
	},
	{
		.drivers = "megaraid,megaraid_mbox,megaraid_legacy",
		.volumes = "MegaRAID|LD*",
		ALL_VOLUMES,
		.family = "MegaRAID (parallel SCSI)",
		CONTROLLER_RULES,
		.tool = "megarc",
		.source = KERNEL "/megaraid/megaraid_mbox.c",
		.verified = true,
	},
	{
		.drivers = "mpi3mr",
		.pci = "*:*:1028:*",
		.tell = WC_TELL_INQUIRY,
		.volumes = "DELL|PERC*",
		VOLUMES_OR(PHYSICAL),
		.family = "Dell PERC 12",
		.hides = HIDES_MEMBERS "; the disks themselves cannot be seen",
		.wce = WCE_CONTROLLER,
		.flush = "with the controller",
		.tool = "perccli2",
		.show = "perccli2 /c0/v1 show all",
		.source = "smartmontools issue 313; " KERNEL "/mpi3mr",
		.verified = true,
	},
	{
		.drivers = "mpi3mr",
		.tell = WC_TELL_INQUIRY,
		.volumes = "DELL|PERC*,BROADCOM|MR*,AVAGO|MR*,LSI|MR*",
		VOLUMES_OR(PHYSICAL),
		.family = "Broadcom MegaRAID 96xx",
		.hides = HIDES_MEMBERS "; the disks themselves cannot be seen",
		.wce = WCE_CONTROLLER,
		.flush = "with the controller",
		.tool = "storcli2",
		.set = "storcli2 /cX/vY set pdcache=off",
		.source = "smartmontools issue 313; " KERNEL "/mpi3mr",
		.verified = true,
	},
	{
		.drivers = "mptsas",
		.tell = WC_TELL_CHANNEL,
		.first_channel = 1,
		.last_channel = 1,
		.volumes = "LSILOGIC|Logical Volume*,Dell|VIRTUAL DISK*",
		VOLUMES_OR(PLAIN),
		.family = "LSI Fusion-MPT SAS, Integrated RAID",
		.hides = "the write caches of the disks behind the volume",
		.wce = "the volume's setting, not that of the disks behind it",
		.flush = "with the controller",
		.tool = "lsiutil",
		.source = "kernel bug 216964; Linux drivers/message/fusion/mptsas.c",
		.verified = true,
	},
	{
		.drivers = "mptspi",
		.tell = WC_TELL_INQUIRY,
		.volumes = "LSILOGIC|*Volume*,LSILOGIC|1030 IM*",
		VOLUMES_OR(PLAIN),
		.family = "LSI Fusion-MPT SCSI, Integrated RAID",
		.hides = "the write caches of the disks behind the volume",
		.wce = "the volume's setting, not that of the disks behind it",
		.flush = "with the controller",
		.tool = "lsiutil",
		.source = COMMON,
	},
	{
		.drivers = "mpt2sas,mpt3sas",
		.tell = WC_TELL_CHANNEL,
		.first_channel = 1,
		.last_channel = 1,
		.volumes = "LSI|Logical Volume*,DELL|Virtual Disk*,Dell|Virtual Disk*",
		VOLUMES_OR(PLAIN),
		.family = "LSI SAS2/SAS3, Integrated RAID",
		.hides = "the write caches of the disks behind the volume",
		.wce = "the volume's setting; firmware is known to refuse every change of it",
		.flush = "with the controller",
		.tool = "sas2ircu",
		.show = "sas2ircu 0 DISPLAY",
		.source = KERNEL "/mpt3sas/mpt3sas_base.h; blktests pull request 40",
		.verified = true,
	},

	/* HP, HPE, Microchip, Adaptec */
	{
		.drivers = "hpsa",
		.tell = WC_TELL_LEVEL,
		.volumes = "HP|LOGICAL VOLUME*,HPE|LOGICAL VOLUME*,COMPAQ|LOGICAL VOLUME*",
		VOLUMES_OR(PHYSICAL),
		.family = "HP Smart Array",
		.hides = HIDES_MEMBERS,
		.wce = WCE_CONTROLLER "; firmware is known to refuse every change of it",
		.flush = "with the controller",
		.tool = "ssacli",
		.show = "ssacli ctrl all show detail",
		.show_verified = true,
		.set = "ssacli ctrl slot=0 modify drivewritecache=disable",
		.set_verified = true,
		.source = KERNEL
		"/hpsa.c; smartmontools; kernel bug 208215; blktests pull request 40",
		.verified = true,
	},
	{
		.drivers = "cciss",
		ALL_VOLUMES,
		.family = "HP Smart Array (cciss)",
		.hides = HIDES_MEMBERS,
		.wce = "nothing: the driver offers no such setting",
		.flush = "nowhere: the driver sends none",
		.flush_reaches = WCACHE_NO,
		.tool = "hpacucli",
		.source = COMMON,
	},
	{
		.drivers = "smartpqi",
		.pci = "*:*:103c:*,*:*:1590:*",
		.tell = WC_TELL_LEVEL,
		.volumes = "HP|LOGICAL VOLUME*,HPE|LOGICAL VOLUME*",
		VOLUMES_OR(PHYSICAL),
		.family = "HPE Smart Array Gen10",
		CONTROLLER_RULES,
		.tool = "ssacli",
		.show = "ssacli ctrl all show detail",
		.show_verified = true,
		.set = "ssacli ctrl slot=0 modify drivewritecache=disable",
		.set_verified = true,
		.source = KERNEL "/smartpqi; smartmontools",
		.verified = true,
	},
	{
		.drivers = "smartpqi",
		.tell = WC_TELL_LEVEL,
		.volumes = "HPE|LOGICAL VOLUME*,MSCC|LOGICAL VOLUME*,Adaptec|LOGICAL VOLUME*",
		VOLUMES_OR(PHYSICAL),
		.family = "Microchip SmartRAID",
		CONTROLLER_RULES,
		.tool = "arcconf",
		.show = "arcconf GETCONFIG 1 AD",
		.show_verified = true,
		.set = "arcconf SETCACHE 1 DRIVESWRITECACHEPOLICY configured disable",
		.source = KERNEL "/smartpqi; output of arcconf",
		.verified = true,
	},
	{
		.drivers = "aacraid",
		.tell = WC_TELL_CHANNEL,
		.first_channel = 0,
		.last_channel = 0,
		.volumes = "Adaptec|*,ServeRA|*,DELL|*,ICP|*",
		VOLUMES_OR(PHYSICAL),
		.family = "Adaptec RAID",
		.hides = HIDES_MEMBERS,
		.wce = "nothing: with the driver's default of cache=2 it is always reported as off",
		.flush = "nowhere: with the driver's default of cache=2 it is not passed on",
		.flush_reaches = WCACHE_NO,
		.tool = "arcconf",
		.show = "arcconf GETCONFIG 1 PD",
		.show_verified = true,
		.set = "arcconf SETCACHE 1 DEVICE <ch> <id> WT",
		.source = KERNEL "/aacraid; kernel bug 208605; output of arcconf",
		.verified = true,
	},

	/* the others */
	{
		.drivers = "arcmsr",
		.tell = WC_TELL_INQUIRY,
		.volumes = "Areca|*",
		VOLUMES_OR(PHYSICAL),
		.family = "Areca RAID",
		CONTROLLER_RULES,
		.tool = "cli64",
		.show = "cli64 vsf info vol=1",
		.source = KERNEL "/arcmsr; kernel logs",
		.verified = true,
	},
	{
		.drivers = "3w-9xxx,3w-sas,3w-xxxx",
		.volumes = "AMCC|*DISK*,LSI|*DISK*,3ware|Logical Disk*",
		ALL_VOLUMES,
		.family = "3ware RAID",
		.hides = HIDES_MEMBERS,
		.wce = "the unit's cache policy, which the card applies to its own cache and the disks",
		.flush = "with the controller",
		.tool = "tw_cli",
		.show = "tw_cli /c0 show all",
		.show_verified = true,
		.set = "tw_cli /c0/u0 set wrcache=off",
		.source = KERNEL "/3w-9xxx.c; output of tw_cli",
		.verified = true,
	},
	{
		.drivers = "ips",
		.volumes = "IBM|SERVERAID*",
		ALL_VOLUMES,
		.family = "IBM ServeRAID",
		CONTROLLER_RULES,
		.tool = "ipssend",
		.show = "ipssend getconfig 1",
		.show_verified = true,
		.source = KERNEL "/ips.c; output of ipssend",
		.verified = true,
	},
	{
		.drivers = "ipr",
		.tell = WC_TELL_INQUIRY,
		.volumes = "IBM|IPR-*",
		VOLUMES_OR(PHYSICAL),
		.family = "IBM Power RAID",
		CONTROLLER_RULES,
		.tool = "iprconfig",
		.show = "iprconfig -c query-ioa-caching",
		.source = COMMON,
	},
	{
		.drivers = "myrb,myrs,DAC960",
		.tell = WC_TELL_LEVEL,
		.volumes = "MYLEX|*",
		VOLUMES_OR(PHYSICAL),
		.family = "Mylex RAID",
		CONTROLLER_RULES,
		.source = KERNEL "/myrb.c, myrs.c",
		.verified = true,
	},
	{
		.drivers = "mvumi",
		.tell = WC_TELL_INQUIRY,
		.volumes = "Marvell|*",
		VOLUMES_OR(PHYSICAL),
		.family = "Marvell RAID",
		CONTROLLER_RULES,
		.tool = "mvcli",
		.show = "/opt/marvell/bin/mvcli info -o vd",
		.show_verified = true,
		.set = "mvcli set -o hd -i N -w off",
		.source = KERNEL "/mvumi.c; output of mvcli",
		.verified = true,
	},
	{
		.drivers = "hptiop",
		.volumes = "HPT|DISK*",
		ALL_VOLUMES,
		.family = "HighPoint RocketRAID",
		CONTROLLER_RULES,
		.tool = "hptraidconf",
		.show = "hptraidconf query devices",
		.set = "hptraidconf set 1/1 wc=n",
		.source = COMMON,
	},
	{
		.drivers = "stex",
		.volumes = "Promise*|*",
		ALL_VOLUMES,
		.family = "Promise SuperTrak",
		CONTROLLER_RULES,
		.tool = "promiseutil",
		.source = COMMON,
	},
	{
		.drivers = "pmcraid,PMC MaxRAID",
		.tell = WC_TELL_NOTHING,
		.family = "PMC MaxRAID",
		CONTROLLER_RULES,
		.source = KERNEL "/pmcraid.c",
		.verified = true,
	},
	{
		.drivers = "esas2r",
		.tell = WC_TELL_INQUIRY,
		.volumes = "ATTO|*",
		VOLUMES_OR(PHYSICAL),
		.family = "ATTO ExpressSAS RAID",
		CONTROLLER_RULES,
		.tool = "atraidcli",
		.source = COMMON,
	},
	{
		.drivers = "sssraid,spraid,hiraid,leapraid",
		.tell = WC_TELL_NOTHING,
		.family = "3SNIC, Ramaxel or Huawei RAID",
		CONTROLLER_RULES,
		.tool = "hiraidadm",
		.source = COMMON,
	},

	/* storage on a network: its INQUIRY may carry any vendor's name */
	NETWORK(NETWORK_DRIVERS, NULL, "LIO-ORG|*", "LIO target", WCACHE_CONTROLLER_NETWORK,
		"kernel logs", true),
	NETWORK(NETWORK_DRIVERS, NULL,
		"IBM|2145*,IBM|2107*,PURE|FlashArray*,NETAPP|LUN*,DGC|*,EMC|SYMMETRIX*,"
		"HITACHI|OPEN-*,3PARdata|VV*",
		"storage array", WCACHE_CONTROLLER_ARRAY, "kernel logs", true),
	NETWORK(FC_DRIVERS, NULL, NULL, "Fibre Channel storage", WCACHE_CONTROLLER_ARRAY,
		KERNEL "/scsi_transport_fc.c", true),
	NETWORK(ISCSI_DRIVERS, NULL, NULL, "network disk", WCACHE_CONTROLLER_NETWORK,
		KERNEL "/iscsi_tcp.c", true),
	NETWORK("tcm_loop,tcm_loopback", NULL, "LIO-ORG|*", "LIO target", WCACHE_CONTROLLER_NETWORK,
		"Linux drivers/target/loopback", true),
};

const size_t wc_raid_n_rows = sizeof(wc_raid_rows) / sizeof(*wc_raid_rows);
