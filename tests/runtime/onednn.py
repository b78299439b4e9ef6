#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""oneDNN on ze_cpu: it finds a GPU by the platform's name alone, and picks no machine code there.

  onednn.py ZEPI FOLDER

FOLDER is an environment of Python with the package onednn. Exit codes: 0 right, 1 wrong, 77 there is none.
"""
import ctypes
import os
import re
import subprocess
import sys

GPU, FLOAT, ROWS, ALLOCATE = 2, 3, 3, ctypes.c_void_p(-1)
SOURCE, WEIGHTS, DESTINATION = 1, 33, 17


class Argument(ctypes.Structure):
    _fields_ = [("number", ctypes.c_int), ("memory", ctypes.c_void_p)]


def multiply(library):
    """A product of matrices on the first GPU. Returns what oneDNN answers, 0 if all is well."""
    engine, stream, shape, description, primitive = (ctypes.c_void_p() for _ in range(5))
    memories = [ctypes.c_void_p() for _ in range(3)]
    steps = [
        lambda: library.dnnl_engine_create(ctypes.byref(engine), GPU, ctypes.c_size_t(0)),
        lambda: library.dnnl_stream_create(ctypes.byref(stream), engine, 1),
        lambda: library.dnnl_memory_desc_create_with_tag(
            ctypes.byref(shape), 2, (ctypes.c_int64 * 12)(64, 64), FLOAT, ROWS),
        lambda: library.dnnl_matmul_primitive_desc_create(
            ctypes.byref(description), engine, shape, shape, None, shape, None),
        lambda: library.dnnl_primitive_create(ctypes.byref(primitive), description),
        *(lambda memory=memory: library.dnnl_memory_create(ctypes.byref(memory), shape, engine, ALLOCATE)
          for memory in memories),
        lambda: library.dnnl_primitive_execute(primitive, stream, 3, (Argument * 3)(
            (SOURCE, memories[0]), (WEIGHTS, memories[1]), (DESTINATION, memories[2]))),
        lambda: library.dnnl_stream_wait(stream),
    ]
    return next((status for status in (step() for step in steps) if status != 0), 0)


def work(folder):
    library = ctypes.CDLL(f"{folder}/lib/libdnnl.so.3")
    library.dnnl_engine_get_count.restype = ctypes.c_size_t
    count = library.dnnl_engine_get_count(GPU)
    print(f"GPUs: {count}; product: {multiply(library) if count else 'none'}", flush=True)


def run(zepi, folder, kind, **variables):
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{folder}/lib", ZE_CPU_COUNT="1", ZEPI_CACHE_DISK="off", **variables)
    for name in ("ZE_CPU_TYPE", "ONEAPI_DEVICE_SELECTOR"):
        environment.pop(name, None)
    command = [zepi, "exec", kind, "--", f"{folder}/bin/python3", os.path.abspath(__file__), folder]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=280).stdout


def main():
    if len(sys.argv) == 2:
        return work(sys.argv[1])
    zepi, folder = sys.argv[1:]
    if not os.path.exists(f"{folder}/lib/libdnnl.so.3"):
        print(f"skipped: {folder} has no oneDNN: tools/setup --apps installs it")
        return 77
    wrong = 0
    for name, wanted, output in (
            ("as a CPU", "GPUs: 0", run(zepi, folder, "--cpu")),
            ("as a GPU", "GPUs: 1", run(zepi, folder, "--cpu=gpu")),
            ("by another name", "GPUs: 0", run(zepi, folder, "--cpu=gpu", ZEPI_PLATFORM_NAME="zepi over Level-Zero"))):
        native = re.findall(r"count: compile:native (\d+)", output)
        is_right = wanted in output and native == ["0"]
        wrong += not is_right
        print(f"{name}: {'right' if is_right else 'WRONG:'}")
        if not is_right:
            print(output)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
