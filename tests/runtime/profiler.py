#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Intel's profiler (intel-pti) watches kernels, a copy and a fill of a program of dpctl on zepi. It has to
report each with its name and size, and with times inside those of the calls and the wait.

  profiler.py ZEPI PYTHON ROOT DATA --cpu | --intel-driver

DATA is the folder with spin.spv. ROOT is where tools/setup --intel-driver unpacks packages: the profiler
needs a newer Level Zero loader than Debian 12's, which then comes from there.
Exit codes: 0 fine, 1 something is wrong, 77 the profiler, dpctl or a loader is not there.
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

ROUNDS = (10**4, 10**5, 10**6)
BYTES = 4096
SLACK_NS = 2000000 # the profiler turns the device's clock into the host's


class Start(ctypes.Structure):
    """The start of every record."""
    _fields_ = [("kind", ctypes.c_uint32)]


IDS = [("pci", ctypes.c_char * 16), ("uuid", ctypes.c_uint8 * 16), ("id", ctypes.c_uint64),
       ("correlation", ctypes.c_uint32), ("thread", ctypes.c_uint32)]
TIMES = [("append", ctypes.c_uint64), ("start", ctypes.c_uint64), ("end", ctypes.c_uint64),
         ("submit", ctypes.c_uint64)]
HANDLES = [("queue", ctypes.c_void_p), ("context", ctypes.c_void_p), ("name", ctypes.c_char_p)]


class Kernel(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), *HANDLES, ("file", ctypes.c_char_p), ("line_number", ctypes.c_uint64),
                ("id", ctypes.c_uint64), ("correlation", ctypes.c_uint32), ("thread", ctypes.c_uint32),
                *IDS[:2], *TIMES]
    bytes = 0


class Copy(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("way", ctypes.c_uint32), ("source", ctypes.c_uint32),
                ("target", ctypes.c_uint32), *HANDLES, *IDS, *TIMES, ("bytes", ctypes.c_uint64)]


class Fill(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("memory", ctypes.c_uint32), *HANDLES, *IDS, *TIMES,
                ("bytes", ctypes.c_uint64)]


KINDS = {1: Kernel, 8: Copy, 9: Fill}


def watched(library, data):
    """Runs in a process of its own, with dpctl and the profiler. Prints lines for main()."""
    pti = ctypes.CDLL(library)
    pti.ptiViewGetTimestamp.restype = ctypes.c_uint64
    buffers = []

    def give_buffer(out_buffer, out_bytes):
        buffers.append(ctypes.create_string_buffer(1 << 20))
        out_buffer[0] = ctypes.addressof(buffers[-1])
        out_bytes[0] = 1 << 20

    def take_buffer(buffer, _, used):
        record = ctypes.c_void_p()
        while used and pti.ptiViewGetNextRecord(ctypes.c_void_p(buffer), ctypes.c_size_t(used),
                                                ctypes.byref(record)) == 0:
            kind = ctypes.cast(record, ctypes.POINTER(Start)).contents.kind
            it = ctypes.cast(record, ctypes.POINTER(KINDS[kind])).contents
            print("record", it.name.decode(), it.bytes, it.append, it.start, it.end)

    callbacks = (ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t))(give_buffer),
                 ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)(take_buffer))
    results = [pti.ptiViewSetCallbacks(*callbacks), *map(pti.ptiViewEnable, KINDS)]
    if any(results):
        sys.exit(f"the profiler answers {results}")

    import dpctl
    import dpctl.memory
    import dpctl.program
    queue = dpctl.SyclQueue(property="in_order")
    program = dpctl.program.create_program_from_spirv(queue, pathlib.Path(data, "spin.spv").read_bytes())
    kernel = program.get_sycl_kernel("spin")
    memory = dpctl.memory.MemoryUSMDevice(BYTES, queue=queue)
    back = bytearray(BYTES)
    begin = pti.ptiViewGetTimestamp()
    for rounds in ROUNDS:
        queue.submit(kernel, [ctypes.c_uint32(rounds), memory], [BYTES // 4])
    queue.memcpy(back, memory, BYTES)
    memory.memset(7)
    queue.wait()
    print("span", begin, pti.ptiViewGetTimestamp())
    print("values", *(int.from_bytes(back[4 * item:4 * item + 4], "little") for item in (0, 1, BYTES // 4 - 1)))
    for kind in KINDS:
        pti.ptiViewDisable(kind)
    pti.ptiFlushAllViews()
    sys.stdout.flush()


def spun(item):
    value = item + 1
    for _ in range(ROUNDS[-1]):
        value = (value * 1664525 + 1013904223) & 0xffffffff
    return value


def complaints(output):
    """What is wrong with the lines that watched() printed."""
    lines = [line.split() for line in output.splitlines()]
    values = [int(value) for line in lines if line[0] == "values" for value in line[1:]]
    if values != [spun(item) for item in (0, 1, BYTES // 4 - 1)]:
        yield f"the program's numbers are {values}"
    records = [(line[1], int(line[2])) for line in lines if line[0] == "record"]
    if records != [("spin", 0)] * len(ROUNDS) + [("zeCommandListAppendMemoryCopy(D2M)", BYTES),
                                                 ("zeCommandListAppendMemoryFill(M2D)", BYTES)]:
        yield f"the operations are {records}"
    spans = [tuple(map(int, line[1:])) for line in lines if line[0] == "span"]
    times = [tuple(map(int, line[3:])) for line in lines if line[0] == "record"]
    for append, start, end in times:
        if not spans[0][0] <= append <= start + SLACK_NS or not start <= end <= spans[0][1] + SLACK_NS:
            yield f"an operation of {append}, {start} to {end} does not lie in {spans[0]}"
    lengths = [end - start for _, start, end in times[:len(ROUNDS)]]
    if len(lengths) == len(ROUNDS) and lengths[-1] < 2 * lengths[-2]:
        yield f"the kernels with {ROUNDS} rounds took {lengths} ns"


def main():
    zepi, python, root, data, driver = sys.argv[1:]
    library = pathlib.Path(python).parent.parent / "lib"
    profiler = library / "libpti_view.so.1"
    if not profiler.exists() or subprocess.run([python, "-c", "import dpctl"], capture_output=True).returncode:
        print(f"skipped: {python} has no intel-pti or no dpctl: tools/setup --tests installs them")
        return 77
    command = [python, __file__, "--watched", str(profiler), data]
    if driver == "--cpu" and not hasattr(ctypes.CDLL("libze_loader.so.1"), "zesInit"):
        newer = pathlib.Path(root, "usr/lib/x86_64-linux-gnu")
        if not newer.exists():
            print("skipped: the Level Zero loader has no zesInit; tools/setup --intel-driver brings a newer one")
            return 77
        command = [f"{newer}/ld-linux-x86-64.so.2", "--library-path", f"{newer}:{library}", *command]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run([zepi, "exec", driver, "--", *command], text=True, capture_output=True, timeout=240,
                                 env=dict(os.environ, ZEPI_CACHE_DIR=folder, LD_LIBRARY_PATH=str(library)))
    print(process.stdout, process.stderr)
    if process.returncode == 3 and driver == "--intel-driver":
        print("skipped: Intel's driver is not there: tools/setup --intel-driver fetches it")
        return 77
    wrong = list(complaints(process.stdout)) if process.returncode == 0 else [f"exit code {process.returncode}"]
    for complaint in wrong:
        print("wrong:", complaint)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(watched(*sys.argv[2:]) if sys.argv[1] == "--watched" else main())
