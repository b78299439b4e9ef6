#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs one dpnp script in two processes, and expects that the second one compiles nothing from
SPIR-V: programs of Unified Runtime go through the cache on disk. ze_cpu counts its calls.

  second_process.py ZEPI PYTHON

Exit codes: 0 fine, 1 something is wrong, 77 dpnp is not there.
"""
import os
import re
import subprocess
import sys
import tempfile

SCRIPT = """
import dpnp
a = dpnp.arange(1000, dtype="float32")
print(float((a * 2 + 1).sum()), float(dpnp.sort(a)[3]))
"""


def run(zepi, python, folder):
    environment = dict(os.environ, ZEPI_CACHE_DIR=folder, ZE_CPU_COUNT="1")
    process = subprocess.run([zepi, "exec", "--cpu", "--", python, "-c", SCRIPT], text=True,
                             env=environment, capture_output=True, timeout=300)
    counts = dict(re.findall(r"count: (compile:\w+) (\d+)", process.stderr))
    if process.returncode != 0 or process.stdout.split() != ["1000000.0", "3.0"]:
        sys.exit(f"second_process: exit code {process.returncode}, printed {process.stdout!r}, "
                 f"expected 1000000.0 and 3.0\n{process.stderr}")
    return int(counts["compile:spirv"]), int(counts["compile:native"])


def main():
    zepi, python = sys.argv[1:]
    if subprocess.run([python, "-c", "import dpnp"], capture_output=True).returncode != 0:
        print(f"{python} has no dpnp: tools/setup installs it")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        first = run(zepi, python, folder)
        second = run(zepi, python, folder)
    print(f"compiled from SPIR-V and loaded from native code: {first}, then {second}")
    return 0 if first[0] > 0 and second[0] == 0 and second[1] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
