#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every machine of the corpus: do its paths lead to the devices that are known to be right?

usage: stack-corpus.py STACK-LEAVES CORPUS, as files and under umockdev's preload.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

# Where the right answer is another: a loop device is followed to its file, and those of this
# machine lie in /tmp, a tmpfs, so on no drive.
OTHERWISE = {
    'util-linux-simple-lvm': {f'/dev/{name}': []
                              for name in ('dm-0', 'loop0', 'loop1', 'loop2', 'loop3')},
}

# Links that the kernel makes (block/genhd.c device_add_disk()) and the record leaves out: those of
# the hidden disks below an NVMe multipath head. They have no node in /dev, and are asked for by
# name.
COMPLETED = {
    'nvme-cli-tree-pcie': ('nvme1c1n1', 'nvme1c2n1'),
}


def complete(name, root):
    for disk in COMPLETED.get(name, ()):
        at = os.readlink(f'{root}/sys/block/{disk}')
        os.symlink('../' + at, f'{root}/sys/class/block/{disk}')


def ask(program, root, targets, preload):
    env = dict(os.environ)
    if preload:
        env.update(UMOCKDEV_DIR=root, LD_PRELOAD='libumockdev-preload.so.0')
    answer = subprocess.run([program, '' if preload else root, *targets], env=env, check=True,
                            capture_output=True, text=True).stdout
    return {target: sorted(names.split())
            for target, names in (line.split('\t') for line in answer.splitlines())}


def main():
    program, corpus = sys.argv[1:]
    corpus = os.path.join(os.environ.get('WCACHE_CORPUS', corpus), 'stacks')
    machines = sorted(glob.glob(corpus + '/*.expected.json'))
    if not machines:
        print(f'no corpus at {corpus}: left out')
        return 77
    ways = [False]
    if 'address' not in os.environ.get('WCACHE_SANITIZE', '') and shutil.which('umockdev-run'):
        ways.append(True)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in machines:
            name = os.path.basename(path)[:-len('.expected.json')]
            with open(path, encoding='utf-8') as f:
                expected = json.load(f)
            want = {k: sorted(v) for part in ('devices', 'mounts', 'swaps')
                    for k, v in expected.get(part, {}).items()}
            if not want:
                continue
            want.update(OTHERWISE.get(name, {}))
            for disk in COMPLETED.get(name, ()):
                want[disk] = want.pop(f'/dev/{disk}')
            subprocess.run(['tar', '-xpf', f'{corpus}/{name}.tar.xz', '-C', folder], check=True)
            complete(name, f'{folder}/{name}')
            for preload in ways:
                got = ask(program, f'{folder}/{name}', want, preload)
                for target, devices in want.items():
                    if got.get(target) == devices:
                        passed += 1
                    else:
                        failed += 1
                        print(f'{name} {target}: {got.get(target)}, expected {devices}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


sys.exit(main())
