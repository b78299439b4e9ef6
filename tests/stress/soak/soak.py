#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Soak and chaos: processes of tests/stress/soak/soak.c with one cache folder. Each runs whole programs whose
Level Zero calls, allocations and file operations fail now and then; meanwhile they are killed, their cache
is deleted, its files are damaged, and their files may not grow (as on a full disk). Every number has to
be right, no process may crash, hang or grow, and no file may be left over. Prints a table.

  soak.py [--minutes N] [--processes N] [--seed N] ZEPI SOAK

Exit codes: 0 fine, 1 something is wrong.
"""
import argparse
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

# In the order of soak.c's.
COUNTERS = ("programs", "builds", "launches", "copies", "executions", "events", "queues", "calls", "allocations",
            "files", "failed", "first_kib", "last_kib", "first_files", "last_files")
HANG_SECONDS = 120
# 2 KiB stay behind each build by ze_cpu's compiler, and nothing behind the rest.
GROWTH_KIB, GROWTH_KIB_A_MINUTE = 16 * 1024, 512
# The drivers of the slots, in turns.
DRIVERS = ({}, {"ZEPI_NEWER_FUNCTIONS": "off"}, {"ZE_CPU_INTEGRATED": "0"}, {"ZE_CPU_APPEND_LISTS": "0"})


class Slot:
    """One process at a time, with counters that outlive it. The first slot's process stays to the end."""

    def __init__(self, number, options, scratch, seconds):
        self.number, self.options, self.scratch = number, options, scratch
        self.end = time.monotonic() + seconds
        self.file = scratch / f"counters-{number}"
        self.file.write_bytes(bytes(8 * len(COUNTERS)))
        self.log = scratch / f"log-{number}"
        self.started = self.killed = 0
        self.start()

    def start(self):
        left = self.end - time.monotonic()
        seconds = left if self.number == 0 else min(left, self.options.random.uniform(2, 30))
        # Half of them keep little native code in memory, and read the folder all the time.
        environment = dict(os.environ, ZEPI_CACHE_DIR=str(self.scratch / "cache"), TMPDIR=str(self.scratch / "tmp"),
                           ZEPI_CACHE_BINARY_BYTES="64M" if self.number % 2 else "20000", ZEPI_CACHE_DISK_BYTES="2M",
                           **DRIVERS[self.number % len(DRIVERS)])
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([self.options.soak, f"{seconds:.1f}",
                                             str(self.options.random.randrange(1 << 30)), str(self.file)],
                                            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.started += 1
        self.is_killed = False
        self.programs, self.since = -1, time.monotonic()

    def read(self):
        return dict(zip(COUNTERS, struct.unpack(f"{len(COUNTERS)}Q", self.file.read_bytes())))

    def fail(self, what):
        sys.exit(f"soak: process {self.started} of slot {self.number} {what}\n{self.log.read_text()[-4000:]}")

    def look(self):
        """Checks on the process; starts the next one. False: the time is over."""
        code = self.process.poll()
        if code is None:
            programs = self.read()["programs"]
            if programs != self.programs:
                self.programs, self.since = programs, time.monotonic()
            elif time.monotonic() - self.since > HANG_SECONDS:
                self.process.kill()
                self.fail(f"has hung for {HANG_SECONDS} s")
            return True
        if code != 0 and not (self.is_killed and code == -signal.SIGKILL):
            self.fail(f"ended with {code}")
        if time.monotonic() > self.end - 2:
            return False
        self.start()
        return True

    def kill(self):
        if self.number != 0 and self.process.poll() is None:
            self.process.kill()
            self.is_killed = True
            self.killed += 1

    def limit_files(self, size_bytes):
        hard = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (size_bytes, hard))


class Chaos:
    def __init__(self, slots, cache, chance):
        self.slots, self.cache, self.chance = slots, cache, chance
        self.counts = dict.fromkeys(("deleted", "flipped", "cut", "full"), 0)

    def choose_file(self):
        try:
            files = list(self.cache.iterdir())
        except FileNotFoundError:
            files = []
        return self.chance.choice(files) if files else None

    def damage(self, how):
        file = self.choose_file()
        try:
            if file and how == "cut":
                os.truncate(file, self.chance.randrange(max(1, file.stat().st_size)))
            elif file:
                with open(file, "r+b") as stream:
                    place = self.chance.randrange(max(1, file.stat().st_size))
                    stream.seek(place)
                    byte = stream.read(1)
                    stream.seek(place)
                    stream.write(bytes([byte[0] ^ 1 << self.chance.randrange(8)]) if byte else b"")
            self.counts[how] += file is not None
        except FileNotFoundError:
            pass # a process was faster

    def step(self):
        action = self.chance.choices(("kill", "delete", "flipped", "cut", "full", "room"), (4, 1, 12, 6, 4, 8))[0]
        if action == "kill":
            self.chance.choice(self.slots).kill()
        elif action == "delete" and self.cache.exists():
            shutil.rmtree(self.cache, ignore_errors=True)
            self.counts["deleted"] += 1
        elif action in ("flipped", "cut"):
            self.damage(action)
        elif action in ("full", "room"):
            try:
                self.chance.choice(self.slots).limit_files(3000 if action == "full" else resource.RLIM_INFINITY)
                self.counts["full"] += action == "full"
            except ProcessLookupError:
                pass


def look_after(zepi, cache):
    """Cleans the folder at the end. Returns files that are not the cache's, and what `verify` says of bad ones."""
    def run(*words):
        return subprocess.run([zepi, "cache", *words, "--cpu", "--folder", str(cache)], capture_output=True, text=True)
    run("verify")
    run("trim", "1G")
    again = run("verify")
    strange = [name for name in os.listdir(cache) if ".zepi" not in name] if cache.exists() else []
    return strange, again.stdout + again.stderr if again.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("zepi")
    parser.add_argument("soak")
    options = parser.parse_args()
    options.random = random.Random(options.seed)
    print(f"soak: {options.minutes:g} minutes, seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="zepi-soak-") as folder:
        scratch = pathlib.Path(folder)
        (scratch / "tmp").mkdir()
        cache = scratch / "cache"
        slots = [Slot(number, options, scratch, 60 * options.minutes) for number in range(options.processes)]
        chaos = Chaos(slots, cache, random.Random(options.seed + 1))
        try:
            while any([slot.look() for slot in slots]):
                chaos.step()
                time.sleep(0.5)
        finally:
            for slot in slots:
                slot.process.kill()
                slot.process.wait()
        strange, bad = look_after(options.zepi, cache)
        counters = [slot.read() for slot in slots]
    total = {name: sum(counter[name] for counter in counters) for name in COUNTERS}
    first = counters[0]
    print(f"""
| | |
|---|---|
| minutes; processes at a time, started, killed by SIGKILL | {options.minutes:g}; {options.processes}, \
{sum(slot.started for slot in slots)}, {sum(slot.killed for slot in slots)} |
| programs, of them ended by a failure with its error text | {total['programs']}, {total['failed']} |
| builds, queues, events | {total['builds']}, {total['queues']}, {total['events']} |
| launches, copies, executions of graphs | {total['launches']}, {total['copies']}, {total['executions']} |
| failures met: Level Zero calls, allocations, file operations | {total['calls']}, {total['allocations']}, \
{total['files']} |
| cache folder deleted, bits flipped in files, files cut, files kept from growing | \
{', '.join(str(chaos.counts[name]) for name in ('deleted', 'flipped', 'cut', 'full'))} |
| wrong numbers, crashes, hangs, objects or memory left in the driver | 0 |
| memory of the process that lived throughout, MiB, after a tenth of the time, at the end | \
{first['first_kib'] / 1024:.1f}, {first['last_kib'] / 1024:.1f} |
| its open files | {first['first_files']}, {first['last_files']} |
| leftover files in the cache folder | {len(strange)} |
""")
    wrong = []
    if first["last_kib"] > first["first_kib"] + GROWTH_KIB + GROWTH_KIB_A_MINUTE * options.minutes or first["last_files"] > first["first_files"]:
        wrong.append("the process grows")
    if strange:
        wrong.append(f"left over: {strange}")
    if bad:
        wrong.append(f"bad files stay in the cache\n{bad}")
    for what in ("calls", "allocations", "files"):
        if total[what] == 0:
            wrong.append(f"no failure of {what} was met")
    for problem in wrong:
        print("soak:", problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
