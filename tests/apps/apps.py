#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs applications on zepi and beside it, and judges them by the lists of what has to be right.

  apps.py [APPLICATION...] [--backend NAME]... [--case PATTERN]... [--quick] [--jobs N]
          [--timeout SECONDS] [--fresh] [--json FILE] [--write-docs]

An application is a folder here: requirements.txt (the wheels of build/apps/NAME, which tools/setup --apps
makes; without this file build/venv has them), cases.py (app_cases.py says how it speaks), and expected.

  --quick       each fifth case
  --fresh       begin with empty caches
  --case        cases whose names match, in place of all; --timeout: of one case, 1800 seconds
  --write-docs  what docs/applications.md says about these applications (with all cases on all backends)

Each backend of an application runs twice: the second process, of the cases that are right, has to compile
nothing. Caches, also those of
SYCL and of the drivers, are in build/apps/cache and stay for later runs.

An application with a file `warm` also shows that nothing compiles after `zepi cache warm`: its modules are
built into an empty cache first, and then some of its cases run (class Warm).

Wrong is: a case that is not right and that `expected` does not except for this backend; a case that Intel's
adapter v2 has right and zepi does not, whatever `expected` says (on ze_cpu as a CPU or as a GPU will do);
and a start on zepi that compiles though it is a second one, or after warming.
Exit codes: 0 fine, 1 something is wrong, 77 no application is installed.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time

from app_cases import AFTER_ERROR

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCS = ROOT / "docs" / "applications.md"
BEGIN, END = "<!-- tests/apps/apps.py --write-docs writes from here -->", "<!-- to here -->"

# Arguments of `zepi exec`, none for a backend without zepi; and a title.
BACKENDS = {
    "zepi-cpu": (["--cpu"], "zepi, ze_cpu"),
    "zepi-gpu": (["--cpu=gpu"], "zepi, ze_cpu as a GPU"),
    "zepi-intel": (["--intel-driver"], "zepi, Intel's driver"),
    "v2-intel": (["--intel-driver", "--adapter"], "Intel's v2 adapter, Intel's driver"),
    "opencl": (None, "OpenCL's CPU runtime"),
}
# Variables of the caller that would change what runs.
SETTINGS = ("CL_CONFIG_", "OCL_ICD_", "ONEAPI_", "SYCL_", "UR_", "ZEPI_", "ZE_", "ZET_", "NEO_", "DRM_SHIM_",
            "LD_LIBRARY_PATH", "LD_PRELOAD")

print_lock = threading.Lock()


def say(text):
    with print_lock:
        print(text, flush=True)


class Expected:
    """The file `expected` of an application. A line each:

    backends NAME...                 those that the application runs on
    on NAME: REASON                  why it does not run on another one
    NAME[,NAME] CASES: REASON        cases (patterns with *, separated by commas) that need not be right there;
                                     with "not run: " before the reason they are left out
    second NAME[,NAME] N: REASON     at most N programs are compiled by the second start
    """

    def __init__(self, path):
        self.backends, self.absent, self.exceptions, self.second = list(BACKENDS), {}, [], {}
        for number, line in enumerate(path.read_text().splitlines(), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            head, _, reason = line.partition(": ")
            words = head.split()
            if words[0] == "backends":
                self.backends = line.split()[1:]
            elif len(words) == 2 and words[0] == "on" and reason:
                self.absent[words[1]] = reason
            elif len(words) == 3 and words[0] == "second" and reason:
                self.second.update({name: (int(words[2]), reason) for name in words[1].split(",")})
            elif len(words) == 2 and reason:
                self.exceptions.append((words[0].split(","), words[1].split(","), reason))
            else:
                sys.exit(f"{path}:{number}: not understood: {line}")

    def reason(self, backend, case):
        """Why the case need not be right there; None if it must."""
        for backends, patterns, reason in self.exceptions:
            if backend in backends and any(fnmatch.fnmatch(case, pattern) for pattern in patterns):
                return reason
        return None


class App:
    def __init__(self, folder):
        self.name = folder.name
        self.folder = folder
        self.expected = Expected(folder / "expected")
        own = (folder / "requirements.txt").exists()
        self.environment = ROOT / "build" / ("apps/" + self.name if own else "venv")
        self.python = self.environment / "bin" / "python3"
        self.cases = []

    def is_installed(self):
        wanted = self.folder / "requirements.txt"
        if not wanted.exists():
            return self.python.exists()
        there = self.environment / "requirements.txt"
        return there.exists() and there.read_bytes() == wanted.read_bytes()

    def find(self, *patterns):
        """The first file of the environment that one of the patterns names."""
        for pattern in patterns:
            for found in sorted(self.environment.glob(pattern)):
                return found
        return None


class Run:
    """One application on one backend: all cases in one process, and in a further one after each that dies."""

    def __init__(self, app, backend, arguments, part):
        self.app, self.backend, self.arguments = app, backend, arguments
        self.cache = ROOT / "build" / "apps" / "cache" / app.name / backend
        self.log = ROOT / "build" / "logs" / "apps" / f"{app.name}-{backend}-{part}.log"
        self.stats = self.log.with_suffix(".stats.jsonl")
        self.outcomes = {}  # case: (outcome, text)
        self.seconds = 0.0
        self.missing = None
        self.start_of_case = {}

    def command(self):
        switches, _ = BACKENDS[self.backend]
        cases = [str(self.app.python), str(self.app.folder / "cases.py")]
        if switches is None:
            return cases
        command = [self.arguments.zepi, "exec", *switches]
        if switches[-1] == "--adapter":
            adapter = self.app.find("lib/libur_adapter_level_zero_v2.so*",
                                    "lib/python3*/site-packages/**/libur_adapter_level_zero_v2.so*")
            if not adapter:
                self.missing = "its runtime has no adapter v2"
            command.append(str(adapter))
        else:
            command.append(f"--stats={self.stats}")
        return [*command, "--", *cases]

    def variables(self):
        result = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
        scratch = self.cache.parent / "scratch"
        for folder in (self.cache, scratch):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        result.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(HERE), PYTHONFAULTHANDLER="1",
                      APPS_BACKEND=self.backend, APPS_SCRATCH=str(scratch), XDG_CACHE_HOME=str(self.cache),
                      ZEPI_CACHE_DIR=str(self.cache / "zepi"), NEO_CACHE_PERSISTENT="1",
                      NEO_CACHE_DIR=str(self.cache / "neo"))
        (self.cache / "neo").mkdir(exist_ok=True)
        if self.backend.startswith("zepi"):
            result.update(ONEAPI_DEVICE_SELECTOR="level_zero:*")
        else:
            result.update(SYCL_CACHE_PERSISTENT="1", SYCL_CACHE_DIR=str(self.cache / "sycl"))
        if self.backend == "opencl":
            library = self.app.environment / "lib"
            opencl = self.app.find("lib/libintelocl.so") or ROOT / "build" / "venv" / "lib" / "libintelocl.so"
            result.update(ONEAPI_DEVICE_SELECTOR="opencl:cpu", OCL_ICD_FILENAMES=str(opencl),
                          LD_LIBRARY_PATH=f"{library}:{opencl.parent}")
        return result

    def run(self, cases):
        start = time.monotonic()
        command, variables = self.command(), self.variables()
        if "--intel-driver" in command and not (ROOT / "build/intel-driver/root/usr").exists():
            self.missing = "Intel's driver is not there: tools/setup --intel-driver"
        if self.missing:
            return self
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.stats.unlink(missing_ok=True)
        left = list(cases)
        self.log.unlink(missing_ok=True)
        # Appended without a buffer: the processes write to it, too.
        with self.log.open("ab", 0) as log:
            while left:
                left = self.run_process(command + left, variables, left, log)
        self.seconds = time.monotonic() - start
        return self

    def run_process(self, command, variables, left, log):
        """One process. Returns the cases that are left for a further one."""
        log.write(f"== {' '.join(command)}\n".encode())
        end_of_log = os.fstat(log.fileno()).st_size
        process = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=log, cwd=self.cache, start_new_session=True)
        running, is_over_time = None, False
        selector = selectors.DefaultSelector()
        selector.register(process.stdout, selectors.EVENT_READ)
        deadline = time.monotonic() + self.arguments.timeout
        buffer = b""
        while True:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                is_over_time = True
                os.killpg(process.pid, signal.SIGKILL)
                break
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                log.write(line + b"\n")
                match = re.match(r"(\S+) (begin|ok|wrong|error)\b ?(.*)", line.decode(errors="replace"))
                if not match or match[1] not in self.app.cases:
                    continue
                deadline = time.monotonic() + self.arguments.timeout
                if match[2] == "begin":
                    running = match[1]
                    continue
                running = None
                self.outcomes[match[1]] = (match[2], match[3])
                say(f"apps: {self.app.name}, {self.backend}: {' '.join(match.groups())[:160]}")
        try:
            status = process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            status, is_over_time = process.wait(), True

        left = [case for case in left if case not in self.outcomes]
        if status == AFTER_ERROR and not running:
            # The line of the driver or the stand-in says more than the error that the program sees.
            failed, cause = list(self.outcomes)[-1], self.last_words(end_of_log, True)
            self.outcomes[failed] = (self.outcomes[failed][0], self.outcomes[failed][1] + cause)
            return left
        if is_over_time:
            how = f"no end within {self.arguments.timeout} seconds"
        elif status < 0 or status > 128:
            number = -status if status < 0 else status - 128
            how = f"died of {signal.Signals(number).name if number < 65 else number}"
        else:
            how = f"ended with {status}"
        if running or left:
            # A process that ends before its first case will not do better with the next one.
            lost = [running] if running else left
            text = f"{how}{self.last_words(end_of_log)}"
            for case in lost:
                self.outcomes[case] = ("crash", text)
            say(f"apps: {self.app.name}, {self.backend}: {running or 'all that is left'} crash {text[:160]}")
        elif status != 0 or is_over_time:
            self.outcomes["exit"] = ("crash", f"{how}{self.last_words(end_of_log)}")
        else:
            self.outcomes.setdefault("exit", ("ok", ""))
        return [case for case in left if case not in self.outcomes]

    def last_words(self, start, of_drivers=False):
        """What the process says before it dies: the last line of zepi or a driver, else (unless of_drivers) its
        last line that is neither a case's nor a stack's."""
        with self.log.open("rb") as log:
            log.seek(start)
            lines = log.read().decode(errors="replace").splitlines()
        said = [line for line in lines if re.match(r"(zepi|ze_cpu|drm_shim): ", line)]
        if not of_drivers:
            said = said or [line for line in lines if line.strip() and not re.match(
                r"\S+ (begin|ok|wrong|error)\b|  File|Current thread|Thread 0x|Extension modules|  <", line)]
        return ": " + " ".join(said[-1].split())[:200] if said else ""

    def programs(self):
        """Counts of all processes' reports, {} if there are none."""
        total = {}
        if self.stats.exists():
            for line in self.stats.read_text().splitlines():
                for name, value in json.loads(line).get("programs", {}).items():
                    if isinstance(value, int):
                        total[name] = total.get(name, 0) + value
        return total


def run_twice(app, backend, arguments):
    cases = [case for case in app.cases if not (app.expected.reason(backend, case) or "").startswith("not run: ")]
    result = {"backend": backend, "is_run": True}
    cache = ROOT / "build" / "apps" / "cache" / app.name / backend
    if arguments.fresh:
        shutil.rmtree(cache, ignore_errors=True)
    # The time of a first start is that of the run that found the folder empty, and stays beside the cache.
    first_file, is_first = cache / "first.json", not (cache / "first.json").exists()
    first = Run(app, backend, arguments, 1).run(cases)
    if first.missing:
        return {"backend": backend, "is_run": False, "reason": first.missing}
    if is_first and not arguments.is_partial:
        first_file.write_text(json.dumps({"seconds": first.seconds, "programs": first.programs()}))
    second = Run(app, backend, arguments, 2).run(
        [case for case in cases if first.outcomes[case][0] == "ok"])
    kept = json.loads(first_file.read_text()) if first_file.exists() else {}
    result.update(outcomes=first.outcomes, first_seconds=kept.get("seconds"), first_programs=kept.get("programs"),
                  seconds=first.seconds, second_seconds=second.seconds, second_programs=second.programs(),
                  second_outcomes=second.outcomes)
    say(f"apps: {app.name}, {backend}: {cell(app, backend, result)}")
    return result


class Warm:
    """The file `warm` of an application. A line each:

    on BACKEND           with zepi, on ze_cpu
    cases NAME...        those that run
    FILE PATTERN         modules of this file of the environment (a pattern, too) with such kernels are built
    generates N: REASON  programs that the cases make while they run, which the first start compiles
    """

    def __init__(self, app):
        self.app, self.backend, self.cases, self.modules, self.generated = app, None, [], [], 0
        for line in (app.folder / "warm").read_text().splitlines():
            words = line.split()
            if not words or line.startswith("#"):
                continue
            if words[0] == "on":
                self.backend = words[1]
            elif words[0] == "cases":
                self.cases = words[1:]
            elif words[0] == "generates":
                self.generated = int(words[1].rstrip(":"))
            else:
                self.modules.append((words[0], words[1]))

    def run(self, arguments):
        """What was built, and what two starts compile then."""
        cases = [case for case in self.cases if case in self.app.cases]
        if not cases or arguments.backend and self.backend not in arguments.backend:
            return None
        runs = [Run(self.app, self.backend, arguments, f"warm-{part}") for part in (1, 2)]
        cache = runs[0].cache.parent / "warm"
        shutil.rmtree(cache, ignore_errors=True)
        for run in runs:
            run.cache = cache
        variables = runs[0].variables()
        start, built, problems = time.monotonic(), 0, []
        for file, pattern in self.modules:
            name = self.app.find(file)
            command = [arguments.zepi, "cache", "warm", str(name), "--cpu", "--json", "--kernels", pattern]
            output = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            try:
                built += json.loads(output.stdout)["built"]
            except (ValueError, KeyError):
                problems.append(f"{' '.join(command)}: {' '.join(output.stdout.split())[:300]}")
        result = {"on": self.backend, "cases": cases, "built": built, "seconds": time.monotonic() - start,
                  "compiled": [run.run(cases).programs().get("compiled") for run in runs]}
        for run in runs:
            problems += [f"{case} {' '.join(outcome)}" for case, outcome in run.outcomes.items() if outcome[0] != "ok"]
        if result["compiled"][0] != self.generated or result["compiled"][1] != 0:
            problems.append(f"two starts compile {result['compiled']} programs, expected are {self.generated} and 0")
        result["problems"] = problems
        say(f"apps: {self.app.name}, after cache warm: {built} modules built, then compiled: {result['compiled']}")
        return result


def warm_table(warmed):
    lines = ["| application | cases | modules built by `cache warm` | seconds | compiled then | and by the next start |",
             "|---|---|---|---|---|---|"]
    for name, result in warmed.items():
        lines.append(f"| {name}, {result['on']} | {', '.join(result['cases'])} | {result['built']} |"
                     f" {result['seconds']:.0f} | {result['compiled'][0]} | {result['compiled'][1]} |")
    return lines


def is_right_beside_v2(results, backend, case):
    """Whether zepi is right where v2 is; None if this backend is not asked. As a CPU or as a GPU will do."""
    on_cpu = [result["outcomes"].get(case, ("not run",))[0] == "ok" for name, result in results.items()
              if name in ("zepi-cpu", "zepi-gpu") and result["is_run"]]
    if backend in ("zepi-cpu", "zepi-gpu"):
        return any(on_cpu)
    return False if backend == "zepi-intel" else None


def judge(app, results):
    """Sentences of what is wrong, and of exceptions that are no longer needed."""
    wrong, better = [], []
    right_on_v2 = {case for case, outcome in results.get("v2-intel", {}).get("outcomes", {}).items()
                   if outcome[0] == "ok"}
    for backend, result in results.items():
        if not result["is_run"]:
            if backend not in app.expected.absent:
                wrong.append(f"{app.name} does not run on {backend}: {result['reason']}")
            continue
        for case, (outcome, text) in result["outcomes"].items():
            reason = app.expected.reason(backend, case)
            if outcome == "ok":
                if reason and result["second_outcomes"].get(case, ("ok",))[0] == "ok":
                    better.append(f"{app.name}, {backend}: {case} is right ({reason})")
                elif not reason and result["second_outcomes"].get(case, ("ok",))[0] != "ok":
                    wrong.append(f"{app.name}, {backend}: {case} {' '.join(result['second_outcomes'][case])}"
                                 ", in the second process alone")
                continue
            if not reason:
                wrong.append(f"{app.name}, {backend}: {case} {outcome} {text}")
            elif case in right_on_v2 and is_right_beside_v2(results, backend, case) is False:
                wrong.append(f"{app.name}, {backend}: {case} {outcome} {text}; it is right on Intel's adapter v2")
        compiled = result["second_programs"].get("compiled", 0)
        allowed, _ = app.expected.second.get(backend, (0, ""))
        if compiled > allowed:
            wrong.append(f"{app.name}, {backend}: the second start compiles {compiled} programs, allowed are {allowed}")
    return wrong, better


def cell(app, backend, result):
    if not result["is_run"]:
        return result["reason"]
    right = sum(outcome == "ok" for case, (outcome, _) in result["outcomes"].items() if case != "exit")
    first = f"{result['first_seconds']:.0f}" if result["first_seconds"] else "?"
    return f"{right} of {len(app.cases)}; {first} s, {result['second_seconds']:.0f} s"


def table(apps, results):
    names = list(BACKENDS)
    lines = ["| application | " + " | ".join(BACKENDS[name][1] for name in names) + " |",
             "|---" * (len(names) + 1) + "|"]
    for app in apps:
        cells = [cell(app, name, results[app.name][name]) if name in results[app.name] else "not run"
                 for name in names]
        lines.append(f"| {app.name} | " + " | ".join(cells) + " |")
    return lines


def reasons(apps, results):
    """What is not right, by reason."""
    lines = []
    for app in apps:
        found = {}
        for backend, result in results[app.name].items():
            if not result["is_run"]:
                continue
            for case in [*app.cases, "exit"]:
                outcome = result["outcomes"].get(case, ("not run", ""))
                reason = app.expected.reason(backend, case)
                if outcome[0] != "ok" and reason:
                    found.setdefault(reason, {}).setdefault(backend, []).append(case)
        for reason, backends in found.items():
            alike = {}
            for backend in sorted(backends, key=list(BACKENDS).index):
                alike.setdefault(tuple(backends[backend]), []).append(backend)
            for cases, names in alike.items():
                lines.append(f"- **{app.name}** on {', '.join(names)}: {', '.join(cases)}: {reason}")
    return lines


def write_docs(apps, results, warmed):
    """Replaces what the documents say about these applications; the others' lines stay."""
    text = DOCS.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    names = [app.name for app in apps]
    lines = [""]
    # The name of the application is what the expression finds in a line of a part.
    for part, heading, name in ((table(apps, results), 2, r"\| ([\w.+-]+) \| "), (reasons(apps, results), 0, r"- \*\*(\S+)\*\*"),
                                (warm_table(warmed), 2, r"\| ([\w.+-]+), ")):
        others = [line for line in text[begin:end].splitlines()
                  if re.match(name, line) and re.match(name, line)[1] not in [*names, "application"]]
        lines += [*part[:heading], *sorted(others + part[heading:], key=lambda line: re.match(name, line)[1]), ""]
    DOCS.write_text(text[:begin] + "\n".join(lines) + text[end:])
    say(f"apps: {DOCS.relative_to(ROOT)} is written")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("apps", nargs="*")
    parser.add_argument("--zepi", default=str(ROOT / "build" / "release" / "bin" / "zepi"))
    parser.add_argument("--backend", action="append", choices=list(BACKENDS))
    parser.add_argument("--case", action="append")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=1800)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--write-docs", action="store_true")
    arguments = parser.parse_args()
    arguments.is_partial = arguments.quick or bool(arguments.case)
    if arguments.write_docs and (arguments.is_partial or arguments.backend):
        parser.error("--write-docs is for all cases of an application on all backends")

    apps = [App(path.parent) for path in sorted(HERE.glob("*/cases.py"))
            if not arguments.apps or path.parent.name in arguments.apps]
    skipped = [app.name for app in apps if not app.is_installed()]
    apps = [app for app in apps if app.is_installed()]
    for name in skipped:
        say(f"apps: {name} is skipped: not installed, or other versions: tools/setup --apps")
    if not apps:
        return 77
    for app in apps:
        text = subprocess.run([str(app.python), str(app.folder / "cases.py"), "--list"], check=True, text=True,
                              env=dict(os.environ, PYTHONPATH=str(HERE), PYTHONDONTWRITEBYTECODE="1"),
                              stdout=subprocess.PIPE).stdout
        # Libraries may write lines of their own.
        app.cases = [name for name in re.findall(r"^([\w.+-]+)$", text, re.MULTILINE)
                     if not arguments.case or any(fnmatch.fnmatch(name, pattern) for pattern in arguments.case)]
        if arguments.quick:
            app.cases = app.cases[::5]

    start = time.monotonic()
    results = {app.name: {} for app in apps}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = {}
        for app in apps:
            for backend in BACKENDS:
                if arguments.backend and backend not in arguments.backend:
                    continue
                if backend in app.expected.backends:
                    results[app.name][backend] = None  # keeps the order
                    futures[pool.submit(run_twice, app, backend, arguments)] = (app.name, backend)
                elif backend in app.expected.absent:
                    results[app.name][backend] = {"is_run": False, "reason": app.expected.absent[backend]}
        for future in concurrent.futures.as_completed(futures):
            name, backend = futures[future]
            results[name][backend] = future.result()
    warmed = {app.name: Warm(app).run(arguments) for app in apps if (app.folder / "warm").exists()}
    warmed = {name: result for name, result in warmed.items() if result}

    print()
    print("\n".join([*table(apps, results), "", *reasons(apps, results), "", *warm_table(warmed)]))
    wrong = [f"{name}, after cache warm: {problem}" for name, result in warmed.items() for problem in result["problems"]]
    better = []
    for app in apps:
        more_wrong, more_better = judge(app, results[app.name])
        wrong += more_wrong
        better += more_better
    for sentence in better:
        print(f"apps: no exception is needed: {sentence}")
    for sentence in wrong:
        print(f"WRONG: {sentence}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"results": results, "warm": warmed, "wrong": wrong}, indent=1) + "\n")
    if arguments.write_docs:
        write_docs(apps, results, warmed)
    passed = sum(outcome[0] == "ok" for one in results.values() for result in one.values()
                 for outcome in result.get("outcomes", {}).values())
    print(f"apps: {passed} cases right, {len(wrong)} wrong, {len(skipped)} applications skipped"
          f" ({time.monotonic() - start:.0f} s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
