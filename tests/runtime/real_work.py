#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures a dpnp program on zepi and on OpenCL's CPU runtime, in turns: some hundred small
operations in a warm process, and a process from its start to its first result, with and without
native code from the process before. Both compute with the same OpenCL runtime in the end. Times of
the processor are user and system time together, of all threads: other work disturbs them less.

  real_work.py --zepi build/release/bin/zepi --python build/venv/bin/python3 [--rounds N] [--json]
"""
import argparse
import json
import os
import pathlib
import resource
import shlex
import statistics
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
for _ in range(9):
    start, start_cpu = time.perf_counter(), time.process_time()
    operations()
    print(result, time.perf_counter() - start, time.process_time() - start_cpu)
"""
FIRST_RESULT = """
import dpnp
a = dpnp.arange(1000, dtype="float32")
print(float((a * 2 + 1).sum()))
"""
OURS, THEIRS = "zepi", "opencl:cpu"
ROWS = {"400 operations": "400 small operations",
        "cold": "start to first result",
        "next": "the same, next process",
        "runtime's cache": "  with SYCL_CACHE_PERSISTENT=1"}
SETTINGS = ("CL_CONFIG_", "OCL_ICD_", "ONEAPI_", "SYCL_", "UR_", "ZEPI_", "ZE_")


class Measurement:
    def __init__(self, arguments, folder):
        self.zepi = os.path.abspath(arguments.zepi)
        self.python = os.path.abspath(arguments.python)
        self.folder = folder
        self.count = 0
        self.seconds = {}  # (row, backend): [(wall, processor), ...]
        self.results = {}  # row: the output of the programs

    def new_folder(self):
        self.count += 1
        folder = os.path.join(self.folder, str(self.count))
        os.mkdir(folder, mode=0o700)
        return folder

    def environment(self, backend, cache, runtime_cache=None):
        """The environment of a user without settings."""
        result = {name: value for name, value in os.environ.items()
                  if not name.startswith(SETTINGS)}
        if backend == OURS:
            result["ZEPI_CACHE_DIR"] = cache
        else:
            library = pathlib.Path(self.python).parent.parent / "lib"
            result.update(LD_LIBRARY_PATH=str(library),
                          OCL_ICD_FILENAMES=str(library / "libintelocl.so"),
                          ONEAPI_DEVICE_SELECTOR=THEIRS)
        if runtime_cache:
            result.update(SYCL_CACHE_PERSISTENT="1", SYCL_CACHE_DIR=runtime_cache)
        return result

    def run(self, backend, environment, script):
        """What the script printed, and the seconds that its process took."""
        command = [self.python, "-c", script]
        if backend == OURS:
            command = [self.zepi, "exec", "--cpu", "--", *command]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        process = subprocess.run(command, env=environment, capture_output=True, text=True,
                                 timeout=600)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode != 0:
            sys.exit(f"real_work: {backend}: exit code {process.returncode}\n{process.stderr}")
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return process.stdout, (wall, processor)

    def note(self, row, backend, result, seconds):
        self.results.setdefault(row, set()).add(result)
        self.seconds.setdefault((row, backend), []).append(seconds)

    def first_result(self, row, backend, environment):
        result, seconds = self.run(backend, environment, FIRST_RESULT)
        self.note(row, backend, result.strip(), seconds)

    def operations(self, backend, environment):
        for line in self.run(backend, environment, OPERATIONS)[0].splitlines():
            result, *seconds = line.split()
            self.note("400 operations", backend, result, tuple(map(float, seconds)))

    def measure(self, rounds):
        backends = (OURS, THEIRS)
        caches = {backend: (self.new_folder(), self.new_folder()) for backend in backends}
        for backend, (cache, runtime_cache) in caches.items():
            self.run(backend, self.environment(backend, cache), FIRST_RESULT)
            self.run(backend, self.environment(backend, cache, runtime_cache), FIRST_RESULT)
        for number in range(rounds):
            if sys.stderr.isatty():
                print(f"\rround {number + 1} of {rounds} ", end="", file=sys.stderr, flush=True)
            for backend, (cache, runtime_cache) in caches.items():
                self.first_result("cold", backend, self.environment(backend, self.new_folder()))
                self.first_result("next", backend, self.environment(backend, cache))
                self.first_result("runtime's cache", backend,
                                  self.environment(backend, cache, runtime_cache))
                self.operations(backend, self.environment(backend, cache))
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)

    def rows(self):
        for row, sentence in ROWS.items():
            figures = {"what": sentence.strip()}
            for backend in (OURS, THEIRS):
                wall, processor = zip(*self.seconds[row, backend])
                figures[backend] = {"best": min(wall), "median": statistics.median(wall),
                                    "processor": min(processor)}
            figures["ratio"] = {kind: figures[OURS][kind] / figures[THEIRS][kind]
                                for kind in ("best", "median", "processor")}
            yield sentence, figures


def print_table(measurement, rounds):
    print(f"{'seconds, ' + str(rounds) + ' rounds in turns':32}{'':10}{OURS:>8}{THEIRS:>12}{'ratio':>8}")
    for sentence, figures in measurement.rows():
        for kind in ("best", "median", "processor"):
            print(f"{sentence if kind == 'best' else '':32}{kind:10}{figures[OURS][kind]:8.3f}"
                  f"{figures[THEIRS][kind]:12.3f}{figures['ratio'][kind]:8.2f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--zepi", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds: at least one")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        measurement = Measurement(arguments, folder)
        measurement.measure(arguments.rounds)
    if arguments.json:
        print(json.dumps({"command": shlex.join(sys.argv), "load_before": load,
                          "rows": [figures for _, figures in measurement.rows()]}, indent=2))
    else:
        print(f"{shlex.join(sys.argv)}\nload average before: {load:.2f}")
        print_table(measurement, arguments.rounds)
    wrong = {row: results for row, results in measurement.results.items() if len(results) != 1}
    if wrong:
        print(f"WRONG: the results differ: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
