#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Warms the cache with libraries of dpnp's wheel, and expects that an unmodified program of dpnp then
compiles nothing from SPIR-V; nor does it from an export of that cache. ze_cpu counts its calls.

  warm_cache.py ZEPI PYTHON

Exit codes: 0 fine, 1 something is wrong, 77 dpnp is not there.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SCRIPT = """
import dpnp
a = dpnp.arange(1000, dtype="float32")
b = dpnp.tril(dpnp.reshape(a, (10, 100)))
print(int(dpnp.asnumpy(b).sum()))
"""
# Of the library's several thousand modules, those with kernels that the script launches.
KERNELS = ("*linear_sequence_step_kernel*", "*tri_kernelIf*")
RESULT = str(sum(100 * row + column for row in range(10) for column in range(row + 1)))


def run(folder, *command):
    environment = dict(os.environ, ZEPI_CACHE_DIR=folder, ZE_CPU_COUNT="1")
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)
    if process.returncode != 0:
        sys.exit(f"warm_cache: {command}: exit code {process.returncode}\n{process.stdout}{process.stderr}")
    return process


def compiles(zepi, python, folder):
    process = run(folder, zepi, "exec", "--cpu", "--", python, "-c", SCRIPT)
    if process.stdout.split() != [RESULT]:
        sys.exit(f"warm_cache: printed {process.stdout!r}, expected {RESULT}")
    return int(re.search(r"count: compile:spirv (\d+)", process.stderr)[1])


def main():
    zepi, python = sys.argv[1:]
    found = subprocess.run([python, "-c", "import importlib.util as u; print(u.find_spec('dpnp').origin)"],
                           capture_output=True, text=True)
    libraries = list(pathlib.Path(found.stdout.strip()).parent.glob("tensor/_tensor_impl*.so"))
    if found.returncode != 0 or not libraries:
        print(f"skipped: {python} has no dpnp, or one of another shape: tools/setup installs it")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        cold, warm, moved = (os.path.join(scratch, name) for name in ("cold", "warm", "moved"))
        for pattern in KERNELS:
            run(warm, zepi, "cache", "warm", "--cpu", "--kernels", pattern, *map(str, libraries))
        export = os.path.join(scratch, "exported")
        run(warm, zepi, "cache", "export", export)
        run(moved, zepi, "cache", "import", "--cpu", export)
        counts = [compiles(zepi, python, folder) for folder in (cold, warm, moved)]
    print(f"compiled from SPIR-V: {counts[0]}, with a warm cache {counts[1]}, with that one moved {counts[2]}")
    return 0 if counts[0] > 0 and counts[1:] == [0, 0] else 1


if __name__ == "__main__":
    sys.exit(main())
