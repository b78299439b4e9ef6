# SPDX-License-Identifier: MIT
"""What the cases.py of each application have in common: a list of cases, and one line for each.

A case is a function that computes on the device and returns pairs (result, expected[, tolerance]), or
raises. Wrong values are `wrong`, exceptions are `error`. The runner (apps.py) reads standard output:

  CASE begin             it is under way: a process that dies here costs this case alone
  CASE ok SECONDS
  CASE wrong TEXT
  CASE error TEXT       the process ends then, since the device may be lost: the runner starts another one

APPS_BACKEND has the name of the backend, APPS_SCRATCH a folder for files that later runs find again.
"""
import os
import sys
import time
import traceback

BACKEND = os.environ.get("APPS_BACKEND", "")
AFTER_ERROR = 70  # exit status
SCRATCH = os.environ.get("APPS_SCRATCH", ".")

cases = {}


def case(function):
    """Decorator: the function is the case of its name."""
    cases[function.__name__] = function
    return function


class Wrong(Exception):
    """A result that differs."""


def check(result, expected, tolerance=1e-4):
    """Raises Wrong unless the arrays are equal within the tolerance, relative to the largest element."""
    import numpy
    result, expected = numpy.asarray(result), numpy.asarray(expected)
    if result.shape != expected.shape:
        raise Wrong(f"shape {result.shape}, expected {expected.shape}")
    if result.size == 0:
        return
    if result.dtype.kind in "biu" and expected.dtype.kind in "biu":
        differing = numpy.count_nonzero(result != expected)
        if differing > tolerance * result.size if tolerance >= 1 else differing:
            raise Wrong(f"{differing} of {result.size} differ")
        return
    if not numpy.all(numpy.isfinite(result) == numpy.isfinite(expected)):
        raise Wrong(f"{numpy.count_nonzero(~numpy.isfinite(result))} of {result.size} are NaN or infinite")
    finite = numpy.isfinite(expected)
    if not finite.any():
        return
    scale = max(float(numpy.max(numpy.abs(expected[finite]))), 1e-30)
    error = float(numpy.max(numpy.abs(result[finite].astype("c16") - expected[finite].astype("c16")))) / scale
    if not error <= tolerance:
        raise Wrong(f"error {error:.1e}, allowed {tolerance:.0e}")


def need_libraries():
    """Starts the process anew with the environment's libraries in LD_LIBRARY_PATH, for programs that look nowhere
    else."""
    folder = os.path.join(sys.prefix, "lib")
    before = os.environ.get("LD_LIBRARY_PATH", "")
    if folder not in before.split(":"):
        os.environ["LD_LIBRARY_PATH"] = f"{before}:{folder}" if before else folder
        os.execv(sys.executable, [sys.executable, *sys.argv])


def one_line(text, limit=300):
    return " ".join(str(text).split())[:limit]


def run(name):
    print(name, "begin", flush=True)
    start = time.monotonic()
    try:
        cases[name]()
        print(name, "ok", f"{time.monotonic() - start:.2f}", flush=True)
    except Wrong as error:
        print(name, "wrong", one_line(error), flush=True)
    except Exception as error:
        if os.environ.get("APPS_TRACEBACK"):
            traceback.print_exc()
        print(name, "error", one_line(f"{type(error).__name__}: {error}"), flush=True)
        os._exit(AFTER_ERROR)


def main():
    if sys.argv[1:] == ["--list"]:
        print("", *cases, sep="\n")
        return
    for name in sys.argv[1:] or cases:
        run(name)
