#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Intel's profiler (intel-pti) watches SYCL graphs on zepi. It has to report the kernels and copies of each
execution, by their names, one after the other where the graph has them so.

  profiler_graph.py ZEPI PYTHON ROOT PROGRAM PRELOAD

PROGRAM is runtime.sycl_graph, and PRELOAD the library that starts the profiler in it. ROOT is where
tools/setup --intel-driver unpacks packages: the profiler needs a newer Level Zero loader than Debian 12's,
which then comes from there, with the functions that execute graphs.
Exit codes: 0 fine, 1 something is wrong, 77 the profiler or a loader is not there.
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

COPY = "zeCommandListAppendMemoryCopy(S2S)"
# Stories of sycl_graph.cpp, with what their executions have.
STORIES = {
    "nodes_with_edges_are_executed_in_their_order": {"negate": 3, "add_3": 3, "add_10": 3},
    "queues_are_recorded": {"add_2": 24, COPY: 24},
}


def complaints(story, output):
    """What is wrong with the lines of one story."""
    records = [line.split() for line in output.splitlines() if line.startswith("record ")]
    counts = collections.Counter(record[1] for record in records)
    for name, count in STORIES[story].items():
        if counts[name] != count:
            yield f"{story}: {name} is reported {counts[name]} times, expected {count}"
    for _, name, append, start, end in (record for record in records if len(record) == 5):
        if not 0 < int(append) or not 0 < int(start) < int(end):
            yield f"{story}: {name} has the times {append}, {start} and {end}"


def main(zepi, python, root, program, preload):
    library = pathlib.Path(python).parent.parent / "lib"
    profiler = library / "libpti_view.so.1"
    newer = pathlib.Path(root, "usr/lib/x86_64-linux-gnu")
    if not profiler.exists() or not newer.exists():
        print("skipped: there is no intel-pti (tools/setup --tests) or no loader that it can use "
              "(tools/setup --intel-driver)")
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, ZEPI_CACHE_DIR=folder, LD_LIBRARY_PATH=str(library),
                           TEST_PROFILER=str(profiler))
        for story in STORIES:
            process = subprocess.run(
                [zepi, "exec", "--cpu", "--", f"{newer}/ld-linux-x86-64.so.2", "--library-path", f"{newer}:{library}",
                 "--preload", preload, program, story],
                text=True, capture_output=True, timeout=240, env=environment)
            if process.returncode != 0:
                wrong.append(f"{story}: exit code {process.returncode}\n{process.stderr}")
            wrong.extend(complaints(story, process.stdout))
            print(process.stdout, process.stderr)
    for complaint in wrong:
        print("wrong:", complaint)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
