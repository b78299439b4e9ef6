#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the test suite of dpctl or dpnp through several adapters of Unified Runtime on one driver, side
by side, and prints where they differ.

  --on intel    Intel's newest driver without a GPU (kernels are executed on the CPU): zepi beside
                Intel's adapter v2. Wrong is: a crash, a hang, a test that fails or is skipped with
                zepi and passes with v2.
  --on system   the same on the system's driver and a GPU.
  --on ze_cpu   ze_cpu under the loader of that driver's packages: Intel's adapters v1 and v2 beside
                zepi. Wrong is the same of them: that is how ze_cpu differs from a driver.

dpnp calls oneMKL, which brings machine code without SPIR-V: refused.txt lists the tests that need it.
They are left out: after one of them the device is lost. All others have to pass on zepi.

  suite.py [--suite dpctl|dpnp] --on intel|system|ze_cpu --zepi build/release/bin/zepi --python build/venv/bin/python3
           --driver build/intel-driver/root [--part N] [--timeout SECONDS] [--logs FOLDER]

Exit codes: 0 fine, 1 something is wrong, 77 Intel's driver or the wheels are not there.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "runtime/suite"))
import suite  # noqa: E402

EXCEPTIONS = HERE / "exceptions.txt"
REFUSED = HERE / "refused.txt"
ADAPTERS = {"v1": "libur_adapter_level_zero.so.0", "v2": "libur_adapter_level_zero_v2.so.0"}


def read_exceptions(side):
    """{test: reason} of lines "SIDE TEST REASON"; the side "all" counts for each."""
    found = {}
    for line in EXCEPTIONS.read_text().splitlines():
        fields = line.split(None, 2)
        if len(fields) == 3 and fields[0] in (side, "all"):
            found[fields[1]] = fields[2]
    return found


def read_refused(arguments):
    """{test: message} of lines with names of tests below "[MESSAGE]"."""
    found = {}
    message = ""
    for line in REFUSED.read_text().splitlines():
        if line.startswith("["):
            message = line.strip("[]")
        elif line and not line.startswith("#"):
            found[line] = message
    return found if arguments.suite == "dpnp" else {}


def left_out(arguments):
    return {**(read_exceptions("all") if arguments.suite == "dpctl" else {}),
            **read_refused(arguments)}


def start(side, arguments):
    library = arguments.python.parent.parent / "lib"
    adapter = library / ADAPTERS[side] if side in ADAPTERS else None
    command = [str(arguments.python), "-X", "faulthandler", "-m", "pytest", "-v", "--no-header",
               "-p", "no:cacheprovider", "-p", "part", "--pyargs", f"{arguments.suite}.tests"]
    environment = dict(
        os.environ, COLUMNS="2000", PYTHONPATH=str(suite.HERE), PYTHONDONTWRITEBYTECODE="1",
        SUITE_PART=str(arguments.part), SUITE_LEAVE_OUT="\n".join(left_out(arguments)),
        UR_LOADER_USE_LEVEL_ZERO_V2="0" if side == "v1" else "1",
        ZEPI_CACHE_DIR=str(arguments.logs / f"cache-{arguments.on}"))
    for name in ("ONEAPI_DEVICE_SELECTOR", "UR_ADAPTERS_FORCE_LOAD", "ZE_ENABLE_ALT_DRIVERS"):
        environment.pop(name, None)
    if arguments.on != "ze_cpu":
        other = ["--adapter", str(adapter)] if adapter else []
        command = [str(arguments.zepi), "exec", "--gpu" if arguments.on == "system" else "--intel-driver", *other, "--", *command]
    else:
        lib = arguments.driver / "usr/lib/x86_64-linux-gnu"
        built = arguments.zepi.parent.parent / "lib"
        environment["ZE_ENABLE_ALT_DRIVERS"] = str(built / "libze_cpu.so.1")
        environment["ZE_CPU_TYPE"] = "gpu"
        environment["UR_ADAPTERS_FORCE_LOAD"] = str(adapter or built / "libur_adapter_zepi.so")
        command = [str(lib / "ld-linux-x86-64.so.2"), "--library-path", str(lib), "--argv0",
                   command[0], *command]
    return suite.Run(side, command, environment,
                     arguments.logs / f"{arguments.suite}-{arguments.on}-{side}.log",
                     arguments.timeout)


def compare(judged, reference):
    """What is wrong with a side, beside one that is taken to be right."""
    wrong = []
    excepted = read_exceptions(judged.name)
    here, ended = judged.read()
    there, ended_there = reference.read()
    if ended:
        how = "hung" if judged.is_timed_out else f"ended with {judged.process.returncode}"
        wrong.append(f"{judged.name} {how} at {ended} (log: {judged.log})")
    for name, (outcome, reason) in sorted(there.items()):
        got = here.get(name, ("did not run", ""))
        if outcome not in ("PASSED", "XFAIL") or got[0] in ("PASSED", "XFAIL"):
            continue
        sentence = f"{judged.name}: {name}: {got[0]} {got[1]}, passes with {reference.name}"
        if name in excepted:
            print(f"known: {sentence}: {excepted[name]}")
        elif not ended or got[0] != "did not run":
            wrong.append(sentence)
    passed = suite.count(here, "PASSED", "XFAIL")
    if passed == 0:
        wrong.append(f"{judged.name}: no test passes (log: {judged.log})")
    return wrong


def failing(judged):
    """What fails in a suite in which all has to pass."""
    results, _ = judged.read()
    return [f"{judged.name}: {name}: {outcome}" for name, (outcome, _) in sorted(results.items())
            if outcome in ("FAILED", "ERROR")]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--suite", choices=("dpctl", "dpnp"), default="dpctl")
    parser.add_argument("--on", choices=("intel", "system", "ze_cpu"), required=True)
    parser.add_argument("--zepi", type=pathlib.Path, required=True)
    parser.add_argument("--python", type=pathlib.Path, required=True)
    parser.add_argument("--driver", type=pathlib.Path, required=True)
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=1200)
    parser.add_argument("--logs", type=pathlib.Path, default=pathlib.Path("build/logs/intel"))
    arguments = parser.parse_args()
    for name in ("zepi", "python", "driver", "logs"):
        # Not resolved: Python's path says which environment it is.
        setattr(arguments, name, pathlib.Path(os.path.abspath(getattr(arguments, name))))
    arguments.logs.mkdir(parents=True, exist_ok=True)
    needed = [] if arguments.on == "system" else [
        arguments.driver / "usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1", arguments.zepi.parent.parent / "lib/libdrm_shim.so"]
    for path in [*needed, *(arguments.python.parent.parent / "lib" / name for name in ADAPTERS.values())]:
        if not path.exists():
            print(f"skipped: {path} is not there: run tools/setup --intel-driver, then build")
            return 77
    if subprocess.run([str(arguments.python), "-c", f"import {arguments.suite}, pytest"],
                      capture_output=True).returncode != 0:
        print(f"skipped: {arguments.python} has no {arguments.suite} or no pytest: tools/setup "
              "installs them")
        return 77

    for name, reason in left_out(arguments).items():
        print(f"left out: {name}: {reason}")
    sides = ("zepi", "v2") if arguments.on != "ze_cpu" else ("zepi", "v1", "v2")
    runs = {side: start(side, arguments) for side in sides}
    while not all([run.is_over() for run in runs.values()]):
        time.sleep(0.2)
    print(f"{'':12}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>9}")
    for run in runs.values():
        results, _ = run.read()
        print(f"{run.name:12}{suite.count(results, 'PASSED', 'XFAIL'):8}"
              f"{suite.count(results, 'FAILED', 'ERROR', 'XPASS'):8}"
              f"{suite.count(results, 'SKIPPED'):8}{run.seconds:9.0f}")
    if arguments.on != "ze_cpu":
        wrong = compare(runs["zepi"], runs["v2"])
        if arguments.suite == "dpnp":
            wrong += failing(runs["zepi"])
    else:
        wrong = compare(runs["v1"], runs["zepi"]) + compare(runs["v2"], runs["zepi"])
    for sentence in wrong:
        print(f"WRONG: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
