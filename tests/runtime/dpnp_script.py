#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program of dpnp on zepi, in the environment of one release of the DPC++ runtime, with checked
numbers. It prints which versions it ran with.

  dpnp_script.py ZEPI PYTHON

Exit codes: 0 every number is right and no library brings machine code, 1 else, 77 PYTHON has no dpnp.
"""
import importlib.metadata
import os
import re
import subprocess
import sys


def checks(dpnp):
    def values(array, digits=3):
        """On the host. 0.19 has no tolist()."""
        return dpnp.asnumpy(array).astype("f8").round(digits).tolist()

    numbers = dpnp.arange(100_000, dtype="float32")
    table = dpnp.reshape(dpnp.arange(12, dtype="int32"), (3, 4))
    signal = dpnp.cos(2 * dpnp.pi * 5 * dpnp.arange(64, dtype="float32") / 64)
    spectrum = dpnp.abs(dpnp.fft.fft(signal))
    matrix = dpnp.array([[3.0, 1.0], [1.0, 2.0]], dtype="float32")
    dpnp.random.seed(7)
    uniform = dpnp.random.uniform(0, 1, 10_000)
    yield "sum", int(numbers.astype("int64").sum()), 4999950000
    yield "arithmetic", float((numbers * 2 + 1)[99_999]), 199999.0
    yield "broadcast", values((table + dpnp.array([10, 20, 30, 40], dtype="int32"))[2]), [18, 29, 40, 51]
    yield "transposed sum", values(table.T.sum(axis=1)), [12, 15, 18, 21]
    yield "sort", int(dpnp.sort(numbers[::-3])[1]), 3
    yield "where", int(dpnp.where(numbers % 2 == 0, 1, 0).sum()), 50_000
    yield "cumulative sum", int(dpnp.cumsum(table.reshape(12))[11]), 66
    yield "unique", values(dpnp.unique(dpnp.array([3, 1, 3, 2, 1]))), [1, 2, 3]
    yield "product", values(dpnp.matmul(table, table.T)), [[14, 38, 62], [38, 126, 214], [62, 214, 366]]
    yield "solve", values(dpnp.linalg.solve(matrix, dpnp.array([9.0, 8.0], dtype="float32"))), [2.0, 3.0]
    yield "eigenvalues", values(dpnp.linalg.eigvalsh(matrix)), [1.382, 3.618]
    yield "spectrum", (int(dpnp.argmax(spectrum[:32])), round(float(spectrum[5]), 3)), (5, 32.0)
    yield "random", 0.45 < float(uniform.mean()) < 0.55, True
    yield "copy to host", int(dpnp.asnumpy(numbers)[::1000].sum()), 4950000


def work():
    import dpnp

    device = dpnp.arange(1).sycl_device
    versions = (f"{name} {importlib.metadata.version(name)}" for name in ("dpnp", "dpctl", "intel-sycl-rt"))
    print(f"{', '.join(versions)} on {device.name} ({device.backend.name})")
    if device.backend.name != "level_zero":
        print("WRONG: this is not zepi's device")
        return 1
    wrong = 0
    for name, found, expected in checks(dpnp):
        is_right = found == expected
        wrong += not is_right
        print(f"{name}: {'right' if is_right else f'WRONG, {found} in place of {expected}'}")
    return 1 if wrong else 0


# Where oneMKL has nothing but machine code it raises an error.
AS_A_GPU = """
import dpnp
for work in (lambda: dpnp.matmul(dpnp.ones((64, 64), dtype="f4"), dpnp.ones((64, 64), dtype="f4")),
             lambda: dpnp.linalg.solve(dpnp.eye(3), dpnp.ones(3)), lambda: dpnp.fft.fft(dpnp.ones(64))):
    try:
        work()
    except RuntimeError as error:
        print(f"as a GPU: {error}")
"""


def run(zepi, kind, *command):
    """Exit code 0: the command is right, and no library brought machine code. Without a cache on disk, zepi makes all
    of its modules from SPIR-V."""
    environment = dict(os.environ, ZE_CPU_COUNT="1", ZEPI_CACHE_DISK="off")
    environment.pop("ZE_CPU_TYPE", None)
    result = subprocess.run([zepi, "exec", kind, "--", *command], env=environment, stderr=subprocess.PIPE, text=True,
                            timeout=140)
    counts = dict(re.findall(r"count: compile:(\w+) (\d+)", result.stderr))
    has_none = counts.get("native") == "0" and counts.get("spirv", "0") != "0"
    print(f"machine code with {kind}: {'right, there is none' if has_none else f'WRONG, {counts}'}")
    if result.returncode != 0 or not has_none:
        print(result.stderr)
    return result.returncode or int(not has_none)


def main():
    if len(sys.argv) == 1:
        return work()
    zepi, python = sys.argv[1:]
    if subprocess.run([python, "-c", "import importlib.metadata as m; m.version('dpnp')"],
                      capture_output=True).returncode != 0:
        print(f"skipped: {python} has no dpnp: tools/setup --tests installs it")
        return 77
    # oneMKL under dpnp has machine code of its own for Intel GPUs, which no CPU executes.
    return run(zepi, "--cpu", python, os.path.abspath(__file__)) or run(zepi, "--cpu=gpu", python, "-c", AS_A_GPU)


if __name__ == "__main__":
    sys.exit(main())
