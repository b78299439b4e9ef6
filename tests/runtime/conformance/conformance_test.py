#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/conformance on a toy suite: conformance_test.py TOOLS-CONFORMANCE ZEPI"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = ("passes", "fails", "fails_on_zepi", "fails_behind_others", "skips", "crashes", "hangs")
# Speaks as googletest does: --gtest_list_tests, --gtest_filter. Each start adds a line to the file starts.
TOY = """#!/bin/sh
# Runs as a program of Unified Runtime: libur_loader
echo "$*" >>starts
case "$*" in *--gtest_list_tests*)
    printf 'Toy.\\n'
    printf '  %s\\n' $(cat tests)
    printf 'Each/Toy.\\n'
    for i in 0 1 2 3 4; do printf '  number/%s  # GetParam() = %s\\n' $i $i; done
    exit ;;
esac
for argument; do
    case $argument in --gtest_filter=*) names=$(echo "${argument#*=}" | tr : ' ') ;; esac
done
behind=no
for name in $names; do
    echo "[ RUN      ] $name"
    end='[       OK ]'
    case $name in
    Toy.fails) echo 'toy.cpp:1: Failure: a failure of the toy'; end='[  FAILED  ]' ;;
    Toy.fails_on_zepi) [ -z "$ZE_ENABLE_ALT_DRIVERS" ] || end='[  FAILED  ]' ;;
    Toy.fails_behind_others) [ $behind = no ] || end='[  FAILED  ]' ;;
    Toy.skips) end='[  SKIPPED ]' ;;
    Toy.crashes) kill -SEGV $$ ;;
    Toy.hangs) sleep 50 ;;
    esac
    echo "$end $name (0 ms)"
    behind=yes
done
"""


class Conformance(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.suite, self.output = pathlib.Path(self.folder.name, "suite"), pathlib.Path(self.folder.name, "output")
        self.suite.mkdir()
        (self.suite / "tests").write_text(" ".join(TESTS))
        (self.suite / "toy").write_text(TOY)
        (self.suite / "toy").chmod(0o755)

    def run_suite(self, *more):
        """The exit code and {configuration: {key: outcome}}."""
        run = subprocess.run(
            [TOOL, self.suite, "--on", "zepi-cpu", "--on", "opencl", "--timeout", "4", "--zepi", ZEPI,
             "--output", self.output, *more], capture_output=True, text=True, timeout=100)
        print(run.stdout, run.stderr)
        return run.returncode, {name: self.results(name) for name in ("zepi-cpu", "opencl")}

    def results(self, name):
        lines = (self.output / name / "results.jsonl").read_text().splitlines()
        return {result["key"]: result["outcome"] for result in map(json.loads, lines)}

    def starts(self):
        return [line for line in (self.suite / "starts").read_text().splitlines() if "gtest_filter" in line]

    def test_crashes_and_hangs_cost_themselves_alone(self):
        code, results = self.run_suite("--whole")
        expected = {f"Toy.{name}#0": outcome for name, outcome in zip(
            TESTS, ("pass", "fail", "pass", "order", "skip", "crash", "hang"))}
        expected.update({f"Each/Toy.number#{number}": "pass" for number in range(5)})
        self.assertEqual(results["opencl"], expected)
        self.assertEqual(results["zepi-cpu"], {**expected, "Toy.fails_on_zepi#0": "fail"})
        self.assertEqual(code, 1)
        report = (self.output / "report.md").read_text()
        self.assertIn("| zepi-cpu | 12 | 6 | 2 | 1 | 1 | 1 | 1 |", report)
        self.assertIn("- **zepi** toy Toy.fails_on_zepi#0: zepi-cpu fail, opencl pass", report)
        self.assertNotIn("Toy.crashes", report.split("Differences:")[1])
        texts = (self.output / "zepi-cpu" / "failures.txt").read_text()
        self.assertIn("== toy Toy.fails: fail\ntoy.cpp:1: Failure: a failure of the toy", texts)
        self.assertIn("== toy Toy.hangs: hang\nno end within 4.0 seconds", texts)
        self.assertIn("== toy Toy.crashes: crash\nexit code -11", texts)

    def test_a_second_run_goes_on(self):
        (self.suite / "tests").write_text(" ".join(TESTS[:-1]))
        self.run_suite()
        before = self.starts()
        _, results = self.run_suite()
        self.assertEqual(self.starts(), before)
        self.assertEqual(sum("number" in key for key in results["opencl"]), 2)
        # The last result of a run that was ended may be half written.
        file = self.output / "opencl" / "results.jsonl"
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(lines[:-1]) + lines[-1][:20])
        self.run_suite()
        name = json.loads(lines[-1])["name"]
        self.assertTrue(all(start.endswith(f"--gtest_filter={name}") for start in self.starts()[len(before):]))
        self.assertGreater(len(self.starts()), len(before))

    def test_an_ended_run_leaves_what_it_has(self):
        run = subprocess.Popen([TOOL, self.suite, "--on", "opencl", "--timeout", "50", "--output", self.output],
                               stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 50
        while not (self.output / "opencl" / "results.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        run.terminate()
        self.assertIn("the same command goes on", run.communicate(timeout=50)[0])
        self.assertEqual(run.returncode, 130)
        self.assertNotIn("Toy.hangs#0", self.results("opencl"))


if __name__ == "__main__":
    TOOL, ZEPI = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
    unittest.main(argv=sys.argv[:1])
