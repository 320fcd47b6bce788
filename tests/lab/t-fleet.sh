#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What drives wcache past one machine: Prometheus' node_exporter, log shippers, and ansible,
# whose example playbook runs here with the guest itself as its host (connection "local").
# drives: sata scsi nvme virtio
# programs: prometheus prometheus-node-exporter
set -u
. "$LAB/guest"

programs=$LAB/../../build/programs
promtool=$programs/prometheus/usr/bin/promtool
exporter=$programs/prometheus-node-exporter/usr/bin/prometheus-node-exporter
ip link set lo up
sata=$(drive sata)
scsi=$(drive scsi)
nvme=$(drive nvme)
virtio=$(drive virtio)
oracle_set "$scsi" off

# Metrics: well-formed, and what a scrape of the real exporter gives.
mkdir /run/metrics
wcache-get --prometheus >/run/metrics/wcache.prom
is 'metrics: status' "$?" 0
is 'metrics: promtool' "$("$promtool" check metrics </run/metrics/wcache.prom 2>&1; echo $?)" 0
"$exporter" --collector.disable-defaults --collector.textfile \
	--collector.textfile.directory=/run/metrics --web.listen-address=127.0.0.1:9100 \
	2>/run/exporter.log &
scrape() {
	curl -s http://127.0.0.1:9100/metrics
}
for _ in $(seq 60); do
	! scrape >/run/scraped || break
	sleep 0.5
done
is 'scraped: no error' "$(grep '^node_textfile_scrape_error' /run/scraped)" 'node_textfile_scrape_error 0'
for d in "$sata" "$scsi" "$nvme" "$virtio"; do
	is "scraped: $d" \
		"$(sed -n "s/^wcache_drive_write_cache_enabled{device=\"${d#/dev/}\"} //p" /run/scraped |
			sed 's/1/on/; s/0/off/')" "$(oracle "$d")"
done
is 'scraped: every drive has its info' "$(grep -c '^wcache_drive_info{' /run/scraped)" 4

# JSON Lines: each line by itself.
wcache-get --json-lines >/run/lines
is 'json lines: one a drive' "$(wc -l </run/lines)" 4
is 'json lines: each an answer' "$(while read -r line; do
	echo "$line" | jq -r '"\(.format_version) \(.device) \(.cache)"'
done </run/lines | sort | paste -sd ,)" "$(for d in "$sata" "$scsi" "$nvme" "$virtio"; do
	echo "1 ${d#/dev/} $(oracle "$d")"
done | sort | paste -sd ,)"

# Ansible
export HOME=/run ANSIBLE_NOCOLOR=1 ANSIBLE_LOCAL_TEMP=/run/ansible
printf '[default]\ncache = off\n' >/run/site.conf
play() { # OPTION...
	ansible-playbook -i guest, -c local -e ansible_become=false \
		-e ansible_python_interpreter=/usr/bin/python3 -e wcache_policy=/run/site.conf "$@" \
		"$LAB/../../tools/system/ansible.yml" >/run/play 2>&1
}
caches() {
	echo "$(oracle "$sata") $(oracle "$scsi") $(oracle "$nvme") $(oracle "$virtio")"
}
play
is 'ansible: status' "$?" 0
is 'ansible: the policy is there' "$(cat /etc/wcache.conf)" "$(cat /run/site.conf)"
is 'ansible: applied' "$(caches)" 'off off off off'
is 'ansible: three drives were not as it wants' "$(grep -c 'wants it off' /run/play)" 3
oracle_set "$nvme" on
play --check
is 'ansible, --check: status' "$?" 0
is 'ansible, --check: the drift' "$(sed -n 's/.*"msg": "\(.*\)"/\1/p' /run/play)" \
	"${nvme#/dev/} is on, /etc/wcache.conf:2 wants it off"
has 'ansible, --check: counted' "$(tail -n 3 /run/play)" 'changed=1'
is 'ansible, --check: nothing is changed' "$(caches)" 'off off on off'
[ "$failed" = 0 ] || cat /run/play
finish
