#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the test suite of dpctl or dpnp, as their wheels bring it, on zepi and on OpenCL's CPU runtime,
and prints where they differ.

Both use the same OpenCL runtime in the end: on zepi through the adapter and ze_cpu. Wrong is: a
crash, a hang, a test that fails here and not there, and fewer tests that pass here than there. A
test that passes there and is skipped here is listed with its reason.

references.json has what OpenCL's CPU runtime answered to versions of the wheels. With such an answer the
suite runs on OpenCL only if zepi's is not as good, or with --run-reference.

  suite.py SUITE --zepi build/release/bin/zepi --python build/venv/bin/python3
           [--opencl FILE] [--part N] [--files N] [--run-reference] [--timeout SECONDS] [--logs FOLDER]
           [PYTEST-ARGUMENT...]

FILE is the OpenCL runtime of the reference, the environment's own if it is left out.
Exit codes: 0 fine, 1 something is wrong, 77 the wheels are not there.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from part import short

HERE = pathlib.Path(__file__).resolve().parent
# Tests that are known to differ, or to break the reference, a line each: suite, test, reason.
EXCEPTIONS = HERE / "exceptions.txt"
# {"SUITE VERSION 1/PART of 1/FILES": {"passed": how many tests, "failed": [their names]}}
REFERENCES = HERE / "references.json"
# The type that the device on zepi reports. Tests of dpctl divide every CPU by counts of units, which Level
# Zero does not know; oneMKL under dpnp has code of its own for GPUs, which no CPU executes.
DEVICE_TYPES = {"dpctl": "gpu", "dpnp": "cpu"}
LINE = re.compile(r"^(\S+\.py::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b(?: \((.*)\))?\s*\[ *\d+%\]")
STARTED = re.compile(r"^(\S+\.py::.+?) ?$")


def read_exceptions(suite):
    found = {}
    for line in EXCEPTIONS.read_text().splitlines():
        fields = line.split(None, 2)
        if len(fields) == 3 and fields[0] == suite:
            found[fields[1]] = fields[2]
    return found


class Run:
    """One suite on one backend, in a process of its own."""

    def __init__(self, name, command, environment, log, timeout):
        self.name = name
        self.log = log
        self.start = time.monotonic()
        self.deadline = self.start + timeout
        self.seconds = 0.0
        self.is_timed_out = False
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log.open("w"),
            stderr=subprocess.STDOUT, cwd=log.parent, start_new_session=True)

    def is_over(self):
        if self.process.poll() is None and time.monotonic() > self.deadline:
            self.is_timed_out = True
            os.killpg(self.process.pid, 9)
            self.process.wait()
        if self.process.poll() is None:
            return False
        self.seconds = self.seconds or time.monotonic() - self.start
        return True

    def read(self):
        """{test: (outcome, reason)} and the test at which the process ended early, if it did."""
        results = {}
        last = None
        for line in self.log.read_text(errors="replace").splitlines():
            match = LINE.match(line)
            if match:
                results[short(match[1])] = (match[2], match[3] or "")
                last = None
            else:
                started = STARTED.match(line)
                last = short(started[1]) if started else last
        # pytest answers 0 (all passed) and 1 (some failed) when it came to its end.
        return results, None if self.process.returncode in (0, 1) else last or "the start"



def count(results, *outcomes):
    return sum(outcome in outcomes for outcome, _ in results.values())


def start(backend, arguments, excepted):
    # Tests that are known to hang or crash on one side are left out on both.
    command = [arguments.python, "-X", "faulthandler", "-m", "pytest", "-v", "--no-header",
               "-p", "no:cacheprovider", "-p", "part", "--pyargs", f"{arguments.suite}.tests",
               *arguments.pytest]
    environment = dict(os.environ, COLUMNS="2000", PYTHONPATH=str(HERE), PYTHONDONTWRITEBYTECODE="1",
                       SUITE_PART=str(arguments.part), SUITE_FILES=str(arguments.files),
                       SUITE_LEAVE_OUT="\n".join(excepted))
    for name in ("ONEAPI_DEVICE_SELECTOR", "UR_ADAPTERS_FORCE_LOAD", "ZE_ENABLE_ALT_DRIVERS"):
        environment.pop(name, None)
    if backend == "zepi":
        command = [arguments.zepi, "exec", "--cpu", "--", *command]
        environment["ZE_CPU_TYPE"] = DEVICE_TYPES[arguments.suite]
        environment["ZEPI_CACHE_DIR"] = str(arguments.logs / "cache")
    else:
        library = pathlib.Path(arguments.python).parent.parent / "lib"
        opencl = arguments.opencl or library / "libintelocl.so"
        environment["LD_LIBRARY_PATH"] = f"{library}:{opencl.parent}"
        environment["OCL_ICD_FILENAMES"] = str(opencl)
        environment["ONEAPI_DEVICE_SELECTOR"] = "opencl:cpu"
    return Run(backend, command, environment, arguments.logs / f"{arguments.suite}-{backend}.log",
               arguments.timeout)


def print_list(title, names, limit=40):
    print(f"{title}: {len(names)}")
    for name in names[:limit]:
        print(f"    {name}")
    if len(names) > limit:
        print(f"    and {len(names) - limit} more")


def wait(runs):
    while not all([run.is_over() for run in runs]):
        time.sleep(0.2)


def is_as_good(ours, known):
    """Whether zepi passes as many tests as the known answer, fails no other and comes to its end."""
    results, ended = ours.read()
    passed = count(results, "PASSED")
    failed = {name for name, (outcome, _) in results.items() if outcome in ("FAILED", "ERROR")}
    print(f"zepi: {passed} passed, {len(failed)} failed, {count(results, 'SKIPPED')} skipped in {ours.seconds:.0f} s; "
          f"known of OpenCL's CPU runtime: {known['passed']} passed, {len(known['failed'])} failed")
    return not ended and passed >= known["passed"] and failed <= set(known["failed"])


def compare(ours, reference):
    """Prints the difference. Returns what is wrong."""
    wrong = []
    here, ended_here = ours.read()
    there, ended_there = reference.read()
    print(f"{'':12}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>9}")
    for run, results in ((ours, here), (reference, there)):
        print(f"{run.name:12}{count(results, 'PASSED', 'XFAIL', 'XPASS'):8}"
              f"{count(results, 'FAILED', 'ERROR'):8}{count(results, 'SKIPPED'):8}"
              f"{run.seconds:9.0f}")
    for run, ended in ((ours, ended_here), (reference, ended_there)):
        if ended:
            how = "hung" if run.is_timed_out else f"ended with {run.process.returncode}"
            print(f"{run.name} {how} at {ended} (log: {run.log})")
            wrong.append(f"{run.name} {how}")

    failing = [name for name, (outcome, _) in here.items() if outcome in ("FAILED", "ERROR") and
               there.get(name, ("",))[0] not in ("FAILED", "ERROR")]
    print_list("failing on zepi alone", failing)
    if failing:
        wrong.append(f"{len(failing)} tests fail on zepi alone")
    print_list("failing on the reference alone",
               [name for name, (outcome, _) in there.items() if outcome in ("FAILED", "ERROR") and
                here.get(name, ("",))[0] not in ("FAILED", "ERROR")], 10)

    skipped = collections.defaultdict(list)
    for name, (outcome, reason) in here.items():
        if outcome == "SKIPPED" and there.get(name, ("",))[0] == "PASSED":
            skipped[reason].append(name)
    print(f"passing on the reference, skipped on zepi: {sum(map(len, skipped.values()))}")
    for reason, names in sorted(skipped.items()):
        print(f"  {reason or 'no reason given'}")
        # The variants of a test by their number; the log has their names.
        for name, variants in collections.Counter(name.split("[")[0] for name in names).items():
            print(f"    {name}" + (f" ({variants} variants)" if variants > 1 else ""))
    if not ended_there and count(here, "PASSED") < count(there, "PASSED"):
        wrong.append("fewer tests pass on zepi than on the reference")
    return wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("suite", choices=("dpctl", "dpnp"))
    parser.add_argument("--zepi", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--opencl", type=pathlib.Path)
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--run-reference", action="store_true")
    parser.add_argument("--timeout", type=int, default=1200)
    parser.add_argument("--logs", type=pathlib.Path, default=pathlib.Path("build/logs/runtime"))
    arguments, arguments.pytest = parser.parse_known_args()
    arguments.logs = arguments.logs.resolve()
    arguments.logs.mkdir(parents=True, exist_ok=True)
    arguments.zepi = os.path.abspath(arguments.zepi)
    arguments.python = os.path.abspath(arguments.python)  # not resolved: it says which environment
    version = subprocess.run(
        [arguments.python, "-c", f"import {arguments.suite} as suite, pytest; print(suite.__version__)"],
        capture_output=True, text=True)
    if version.returncode != 0:
        print(f"{arguments.python} has no {arguments.suite} or no pytest: tools/setup installs them")
        return 77

    excepted = read_exceptions(arguments.suite)
    for name, reason in excepted.items():
        print(f"left out: {name}: {reason}")
    known = None
    if not arguments.run_reference and not arguments.pytest:
        name = f"{arguments.suite} {version.stdout.strip()} 1/{arguments.part}"
        if arguments.files > 1:
            name += f" of 1/{arguments.files}"
        known = json.loads(REFERENCES.read_text()).get(name)
    ours = start("zepi", arguments, excepted)
    if known:
        wait([ours])
        if is_as_good(ours, known):
            return 0
    reference = start("opencl:cpu", arguments, excepted)
    wait([ours, reference])
    wrong = compare(ours, reference)
    for sentence in wrong:
        print(f"WRONG: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
