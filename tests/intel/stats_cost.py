# SPDX-License-Identifier: MIT
"""What ZEPI_STATS adds to a launch on Intel's driver, in instructions.

Usage: stats_cost.py BENCH DRIVER
Fails above 2 % of what a launch costs with the driver's share; BENCH (zepi-bench) counts both times with
callgrind. DRIVER is the driver's folder."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LIMIT = 0.02


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def count(bench, stats):
    """The instructions of a launch of each row."""
    command = [bench, "--intel-driver", "--instructions", "--case", "launch-3", "--json"]
    environment = {name: value for name, value in os.environ.items() if name != "ZEPI_STATS"}
    if stats:
        environment["ZEPI_STATS"] = stats
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"bench fails:\n{run.stderr}")
    return {found["row"]: found["instructions"] for found in json.loads(run.stdout)["operations"]}


def main(bench, driver):
    if not os.path.exists(f"{driver}/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1"):
        skip("Intel's driver is not there: run tools/setup --intel-driver, then build")
    if not shutil.which("valgrind"):
        skip("there is no valgrind")
    with tempfile.TemporaryDirectory() as folder:
        stats = f"{folder}/stats"
        off, on = count(bench, None), count(bench, stats)
        if "launches" not in open(stats, encoding="utf-8").read():
            sys.exit("nothing was counted")
    failures = 0
    for row in off:
        launch, more = off[row], on[row] - off[row]
        print(f"{row}: {off[row]:.0f} instructions, with statistics {more:+.0f}, "
              f"{100 * more / launch:.2f} % of {launch:.0f}")
        failures += not 0 < more < LIMIT * launch
    sys.exit(f"{failures} rows cost too much, or count nothing" if failures else 0)


main(*sys.argv[1:])
