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

# Where the answers differ by design: a loop device is followed to its file, and the hidden
# paths of an NVMe multipath head that have no folder in /sys/class/block are no devices.
EXPLAINED = {
    'util-linux-simple-lvm': {'/dev/dm-0', '/dev/loop0', '/dev/loop1', '/dev/loop2',
                              '/dev/loop3'},
    'nvme-cli-tree-pcie': {'/dev/nvme1c1n1', '/dev/nvme1c2n1'},
}


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
    passed = failed = explained = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in machines:
            name = os.path.basename(path)[:-len('.expected.json')]
            with open(path, encoding='utf-8') as f:
                expected = json.load(f)
            want = {k: sorted(v) for part in ('devices', 'mounts', 'swaps')
                    for k, v in expected.get(part, {}).items()}
            if not want:
                continue
            subprocess.run(['tar', '-xpf', f'{corpus}/{name}.tar.xz', '-C', folder], check=True)
            for preload in ways:
                got = ask(program, f'{folder}/{name}', want, preload)
                for target, devices in want.items():
                    if target in EXPLAINED.get(name, ()):
                        explained += 1
                    elif got.get(target) == devices:
                        passed += 1
                    else:
                        failed += 1
                        print(f'{name} {target}: {got.get(target)}, expected {devices}')
    print(f'{explained} differ by design')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


sys.exit(main())
