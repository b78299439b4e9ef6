#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures a dpnp program on zepi and on OpenCL's CPU runtime, in turns: some hundred small
operations in a warm process, and a process from its start to its first result, with and without
machine code from the process before. Both compute with the same OpenCL runtime in the end.

  real_work.py --zepi build/release/bin/zepi --python build/venv/bin/python3 [--rounds N]
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

OPERATIONS = """
import time
import dpnp
def operations():
    a = dpnp.arange(1024, dtype="float32")
    for i in range(50):
        b = a * 2 + 1
        c = dpnp.sqrt(b) - a
        d = dpnp.where(c > 0, c, b)
        e = d.sum()
        f = dpnp.concatenate((a, b))[::2]
    f.sycl_queue.wait()
    return float(e)
result = operations()
times = []
for _ in range(5):
    start = time.perf_counter()
    operations()
    times.append(time.perf_counter() - start)
print(result, min(times))
"""
FIRST_RESULT = """
import dpnp
a = dpnp.arange(1000, dtype="float32")
print(float((a * 2 + 1).sum()))
"""


def environments(python, cache):
    library = pathlib.Path(python).parent.parent / "lib"
    plain = {name: value for name, value in os.environ.items()
             if name not in ("UR_ADAPTERS_FORCE_LOAD", "ZE_ENABLE_ALT_DRIVERS")}
    return {"zepi": dict(plain, ZEPI_CACHE_DIR=cache),
            "opencl:cpu": dict(plain, LD_LIBRARY_PATH=str(library),
                               OCL_ICD_FILENAMES=str(library / "libintelocl.so"),
                               ONEAPI_DEVICE_SELECTOR="opencl:cpu")}


def run(arguments, backend, environment, script):
    command = [arguments.python, "-c", script]
    if backend == "zepi":
        command = [arguments.zepi, "exec", "--cpu", "--", *command]
    start = time.perf_counter()
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(f"real_work: {backend}: exit code {process.returncode}\n{process.stderr}")
    return process.stdout.split(), seconds


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--zepi", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    arguments.zepi = os.path.abspath(arguments.zepi)
    arguments.python = os.path.abspath(arguments.python)
    best = {}

    def note(what, backend, seconds):
        best[what, backend] = min(seconds, best.get((what, backend), seconds))

    results = set()
    with tempfile.TemporaryDirectory() as cache:
        for number in range(arguments.rounds):
            for backend, environment in environments(arguments.python, cache).items():
                if backend == "zepi":
                    with tempfile.TemporaryDirectory() as empty:
                        note("cold process", backend, run(
                            arguments, backend, dict(environment, ZEPI_CACHE_DIR=empty),
                            FIRST_RESULT)[1])
                    if number == 0:
                        run(arguments, backend, environment, FIRST_RESULT)
                else:
                    note("cold process", backend,
                         run(arguments, backend, environment, FIRST_RESULT)[1])
                note("next process", backend,
                     run(arguments, backend, environment, FIRST_RESULT)[1])
                (result, seconds), _ = run(arguments, backend, environment, OPERATIONS)
                note("400 operations", backend, float(seconds))
                results.add(result)
    print(f"{'seconds, best of ' + str(arguments.rounds):28}{'zepi':>8}{'opencl:cpu':>12}{'ratio':>8}")
    for what, sentence in (("400 operations", "400 small operations"),
                           ("cold process", "start to first result"),
                           ("next process", "the same, next process")):
        ours, theirs = best[what, "zepi"], best[what, "opencl:cpu"]
        print(f"{sentence:28}{ours:8.3f}{theirs:12.3f}{ours / theirs:8.2f}")
    if len(results) != 1:
        print(f"WRONG: the results differ: {results}")
    return 0 if len(results) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
