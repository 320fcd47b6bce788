#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""wcbench beside fio: the same job on the same file, in pairs of balanced order.

usage: fio.py WCBENCH [DIRECTORY]

Promised: rates within 3 % (or an interval that holds 1, where noise allows no closer look),
and no more CPU time an operation. PAIRS and SECONDS in the environment make it longer, ONLY picks jobs by name.
"""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

PAIRS = int(os.environ.get("PAIRS", "10"))
SECONDS = float(os.environ.get("SECONDS", "2"))
WARM_UP = 1
ONLY = os.environ.get("ONLY", "")
SIZE = 512 << 20
# Two-sided 95 % of Student's t, by degrees of freedom.
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306,
       9: 2.262, 10: 2.228, 11: 2.201, 14: 2.145, 19: 2.093, 29: 2.045}


def ratio(pairs):
    logs = [math.log(a / b) for a, b in pairs]
    n = len(logs)
    mean = sum(logs) / n
    deviation = math.sqrt(sum((x - mean) ** 2 for x in logs) / (n - 1))
    t = T95.get(n - 1) or T95[max(k for k in T95 if k < n - 1)]
    half = t * deviation / math.sqrt(n)
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def fio(path, job):
    args = ["fio", "--name=job", f"--filename={path}", "--ioengine=psync", "--direct=1",
            "--output-format=json", "--allow_file_create=0", "--refill_buffers=0"]
    if "before" in job:
        subprocess.run(["fio", "--name=before", f"--filename={path}"] + job["before"], check=True,
                       capture_output=True)
    out = json.loads(subprocess.run(args + job["fio"], check=True, capture_output=True).stdout)
    run = out["jobs"][0]
    part = run[job["part"]]
    cpu = (run["usr_cpu"] + run["sys_cpu"]) / 100 * run["job_runtime"] / 1000
    return part["bw_bytes"], cpu / (part["total_ios"] / part["runtime"] * run["job_runtime"])


def wcbench(program, path, job):
    args = [program, "--cache=current", "--destroy-data", "--pairs=1", "--quiet", "--json",
            "--preset=quick", f"--size={SIZE >> 20}M"]
    out = json.loads(subprocess.run(args + job["wcbench"] + [path], check=True,
                                    capture_output=True).stdout)
    run = out["runs"][0]
    return job["rate"](run), job["cpu"](run)


def cpu_per_operation(run):
    return (run["usr_cpu"] + run["sys_cpu"]) / 100 * run["runtime"] / 1000 / run["total_ios"]


TIMED = ["--time_based", f"--runtime={SECONDS}", f"--ramp_time={WARM_UP}"]
WRITTEN_ANEW = ["--rw=write", "--bs=1M", "--overwrite=1", "--end_fsync=1", f"--size={SIZE}"]
JOBS = [
    {
        "name": "8 KiB random write and fdatasync",
        "fio": ["--rw=randwrite", "--bs=8k", "--fdatasync=1", "--overwrite=1",
                "--norandommap", f"--size={SIZE}"] + TIMED,
        "part": "write",
        "wcbench": ["--workloads=rndw", f"--window={SECONDS}", "--time=600"],
        "rate": lambda run: run["write_bytes"] / run["runtime"] * 1000,
        "cpu": cpu_per_operation,
    },
    {
        "name": "1 MiB sequential read",
        # wcbench writes its file anew at each start, and the drive may be busy with that still.
        "before": WRITTEN_ANEW,
        "fio": ["--rw=read", "--bs=1M", f"--size={SIZE}"] + TIMED,
        "part": "read",
        "wcbench": ["--workloads=seqr", f"--window={SECONDS}", "--time=600"],
        "rate": lambda run: run["read_bytes"] / run["runtime"] * 1000,
        "cpu": cpu_per_operation,
    },
    {
        # One pass over the file; a window of minutes makes wcbench's share all of it.
        "name": "1 MiB sequential write",
        # It writes through the page cache first, and so must what it is compared with: the
        # drive, or its host, is still busy with that.
        "before": WRITTEN_ANEW,
        "fio": ["--rw=write", "--bs=1M", "--overwrite=1", f"--size={SIZE}"],
        "part": "write",
        "wcbench": ["--workloads=seqw", "--window=600", "--time=6000"],
        "rate": lambda run: run["values"]["accepted"] * 1e6,
        "cpu": None,
    },
]


def compare(program, path, job):
    rates, cpus = [], []
    for pair in range(PAIRS):
        first = [fio(path, job)] if pair % 2 else []
        ours = wcbench(program, path, job) if job["cpu"] else wcbench(
            program, path, {**job, "cpu": lambda run: 1})
        theirs = first[0] if first else fio(path, job)
        rates.append((ours[0], theirs[0]))
        cpus.append((ours[1], theirs[1]))
    value, low, high = ratio(rates)
    median = sorted(rates)[len(rates) // 2]
    good = low <= 1 <= high or abs(value - 1) <= 0.03
    print(f"{'ok  ' if good else 'FAIL'} {job['name']}: wcbench/fio {value:.3f} "
          f"[{low:.3f}, {high:.3f}] in {PAIRS} pairs, {median[0] / 1e6:.1f} and "
          f"{median[1] / 1e6:.1f} MB/s", flush=True)
    results = [good]
    if job["cpu"]:
        value, low, high = ratio(cpus)
        good = low <= 1
        print(f"{'ok  ' if good else 'FAIL'} {job['name']}: CPU an operation {value:.3f} "
              f"[{low:.3f}, {high:.3f}] of fio's", flush=True)
        results.append(good)
    return results


def main():
    program = os.path.abspath(sys.argv[1])
    directory = sys.argv[2] if len(sys.argv) > 2 else "/var/tmp"
    if not shutil.which("fio"):
        print("skipped: fio is not installed")
        return 77
    results = []
    with tempfile.TemporaryDirectory(dir=directory) as work:
        path = os.path.join(work, "file")
        subprocess.run(["fio", "--name=lay", f"--filename={path}", "--rw=write", "--bs=1M",
                        f"--size={SIZE}", "--end_fsync=1", "--fallocate=none",
                        "--output=/dev/null"], check=True)
        for job in JOBS:
            if ONLY and ONLY not in job["name"]:
                continue
            results += compare(program, path, job)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


sys.exit(main())
