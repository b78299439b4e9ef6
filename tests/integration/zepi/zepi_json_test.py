#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--json of every command but exec: one object, for failures too; and text for people without JSON's keys, in at
most 100 columns. Arguments: the program, a folder of SPIR-V files (tests/data)."""
import json
import os
import re
import subprocess
import sys
import tempfile

zepi, data = sys.argv[1:3]
scratch = tempfile.TemporaryDirectory()
os.environ["ZEPI_CACHE_DIR"] = f"{scratch.name}/cache"
scaled = f"{data}/scaled_copy.spv"
failures = []


def run(*words):
    return subprocess.run([zepi, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def ask(code, *words):
    """The object of a command that ends with this code."""
    ended = run(*words)
    try:
        found = json.loads(ended.stdout)
    except ValueError:
        found = {}
    error = found.get("error")
    # A sanitizer's list of suppressions may follow on stderr.
    is_good = (ended.returncode == code and re.fullmatch(r"\d+\.\d+\.\d+", found.get("zepi", ""))
               and (error is None if code == 0 else error and error["text"] and error["code"] == code
                    and ended.stderr.startswith(error["text"])))
    if not is_good:
        failures.append(f"{words}: exit code {ended.returncode}, expected {code}: {ended.stdout[-600:]} {ended.stderr[-600:]}")
    return found


def expect(is_right, what):
    if not is_right:
        failures.append(what)


# What is right.
ask(0, "info", "--cpu", "--json")
constants = ask(0, "build", scaled, "--cpu", "--show", "--json")["constants"]
expect({one["id"]: one["default"] for one in constants} == {2: -4, 3: 1, 5: 65534, 7: 1, 11: 255, 13: True} or
       all(isinstance(one["default"], (int, float)) for one in constants), f"constants: {constants}")
buffers = ask(0, "run", scaled, "--cpu", "--json", "--kernel", "scaled_copy_float", "--global", "2", "--spec", "3=0.5",
              "--arg", "buffer:f32:2,ramp=1:1", "--arg", "buffer:f32:2,out").get("buffers")
expect(buffers and buffers[0]["values"] == [0.5, 1], f"buffers: {buffers}")
buffers = ask(0, "run", scaled, "--cpu", "--json", "--kernel", "scaled_copy_float", "--global", "1", "--spec", "3=inf",
              "--arg", "buffer:f32:1,fill=1", "--arg", "buffer:f32:1,out").get("buffers")
expect(buffers and buffers[0]["values"] == ["inf"], f"no number: {buffers}")
ask(0, "demo", "--cpu", "--json")
ask(0, "cache", "show", "--json")
ask(0, "cache", "verify", "--json")
ended = run("demo", "--help", "--json")
expect(ended.returncode == 0 and ended.stdout.startswith("usage"), "--help is text")

# What is wrong.
ask(2, "nothing", "--json")
for command in "info", "build", "run", "demo", "cache", "compare", "report":
    ask(2, command, "--json", "--no-such-option")
ask(1, "build", "/nowhere", "--cpu", "--json")
ask(1, "run", "/nowhere", "--cpu", "--kernel", "none", "--global", "1", "--json")
ask(1, "cache", "import", "/nowhere", "--json")
ask(2, "compare", "--rounds", "0", "--json", "--", "true")
os.environ["ZEPI_PLUGIN"] = "/nowhere"
for words in ["info"], ["demo"], ["build", scaled], ["run", scaled, "--kernel", "scaled_copy_int", "--global", "1"]:
    ask(3, *words, "--cpu", "--json")
del os.environ["ZEPI_PLUGIN"]
os.environ["ZE_CPU_EXECUTE"] = "0"
expect(ask(1, "demo", "--cpu", "--json").get("is_right") is False, "the table of wrong numbers is not there")
del os.environ["ZE_CPU_EXECUTE"]
# The program's own --json.
ended = run("compare", "--rounds", "0", "--", "true", "--json")
expect(ended.stdout == "", f"compare takes the option of its program: {ended.stdout}")

# Text.
for words in [[command, "--help"] for command in
              ("info", "build", "run", "exec", "demo", "cache", "compare", "report")] + [
        ["--help"], ["info", "--cpu"], ["build", scaled, "--cpu", "--show"], ["cache", "show"], ["cache", "verify"],
        ["demo", "--cpu"]]:
    text = run(*words).stdout
    expect(text, f"{words}: no text")
    for line in text.splitlines():
        # Paths are as long as they are.
        expect(len(line) <= 100 or "/" in line, f"{words}: {len(line)} columns: {line}")
        expect("--help" in words or not re.match(r" *[a-z]+(_[a-z]+)+:", line), f"{words}: a key of JSON: {line}")

for failure in failures:
    print(f"FAILED: {failure}")
sys.exit(1 if failures else print("zepi --json: everything is right"))
