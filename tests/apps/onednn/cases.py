# SPDX-License-Identifier: MIT
"""oneDNN through its C interface: primitives on the first GPU engine, or without one on the CPU's, against numpy."""
import ctypes
import math
import pathlib
import sys

import numpy

from app_cases import BACKEND, Wrong, case, check, main, need_libraries

need_libraries()

GPU, CPU, F32, S32, S8, INFERENCE = 2, 1, 3, 4, 5, 96
SRC, SRC_1, DST, WEIGHTS, BIAS = 1, 2, 17, 33, 41
CONVOLUTION_DIRECT, RELU, POOLING_MAX, BINARY_ADD, REDUCTION_SUM, SOFTMAX = 1, 0x20, 0x1FF, 0x1FFF0, 0x2FFF4, 0x30000
QUERY_IMPLEMENTATION = 8
TYPES = {"float32": F32, "int32": S32, "int8": S8}
ALLOCATE = ctypes.c_void_p(-1)
RANDOM = numpy.random.default_rng(28)


def normal(*shape):
    return RANDOM.normal(size=shape).astype("f4")


class Argument(ctypes.Structure):
    _fields_ = [("index", ctypes.c_int), ("memory", ctypes.c_void_p)]


class Device:
    def __init__(self):
        self.library = ctypes.CDLL(str(pathlib.Path(sys.prefix) / "lib" / "libdnnl.so.3"))
        self.library.dnnl_engine_get_count.restype = ctypes.c_size_t
        self.kind = GPU if self.library.dnnl_engine_get_count(GPU) > 0 else CPU
        self.engine = self.make("engine_create", self.kind, ctypes.c_size_t(0))
        self.stream = self.make("stream_create", self.engine, 1)

    def call(self, name, *arguments):
        status = getattr(self.library, "dnnl_" + name)(*arguments)
        if status != 0:
            raise RuntimeError(f"dnnl_{name} answers {status}")

    def make(self, name, *arguments):
        handle = ctypes.c_void_p()
        self.call(name, ctypes.byref(handle), *arguments)
        return handle

    def describe(self, array):
        """Dense rows, whatever the array's strides are."""
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        strides = (ctypes.c_int64 * array.ndim)(*(math.prod(array.shape[i + 1:]) for i in range(array.ndim)))
        return self.make("memory_desc_create_with_strides", array.ndim, shape, TYPES[str(array.dtype)], strides)

    def memory(self, array):
        memory = self.make("memory_create", self.describe(array), self.engine, ALLOCATE)
        self.transfer(memory, array, is_read=False)
        return memory

    def transfer(self, memory, array, is_read):
        place = ctypes.c_void_p()
        self.call("memory_map_data", memory, ctypes.byref(place))
        pair = (array.ctypes.data, place) if is_read else (place, array.ctypes.data)
        ctypes.memmove(*pair, array.nbytes)
        self.call("memory_unmap_data", memory, place)

    def run(self, name, create, arguments, result):
        """`create` takes the engine's position in the call of dnnl_NAME_primitive_desc_create."""
        described = {index: self.describe(array) for index, array in arguments.items()}
        primitive = self.make(f"{name}_primitive_desc_create", self.engine,
                              *create(described, self.describe(result)), None)
        self.implementation = ctypes.c_char_p()
        self.call("primitive_desc_query", primitive, QUERY_IMPLEMENTATION, 0, ctypes.byref(self.implementation))
        self.implementation = (self.implementation.value or b"").decode()
        primitive = self.make("primitive_create", primitive)
        memories = {index: self.memory(array) for index, array in arguments.items()}
        memories[DST] = self.memory(result)
        list_of_arguments = (Argument * len(memories))(*(Argument(i, m.value) for i, m in memories.items()))
        self.call("primitive_execute", primitive, self.stream, len(memories), list_of_arguments)
        self.call("stream_wait", self.stream)
        self.transfer(memories[DST], result, is_read=True)
        return result


device = None


def run(*arguments):
    global device
    device = device or Device()
    return device.run(*arguments)


@case
def engine():
    """A device that is a CPU is no GPU for oneDNN, which then chooses no machine code of GPUs."""
    global device
    device = device or Device()
    wanted = CPU if BACKEND in ("zepi-cpu", "opencl") else GPU
    if device.kind != wanted:
        raise Wrong(f"engine of kind {device.kind}, expected {wanted}")


def dims(*values):
    return (ctypes.c_int64 * len(values))(*values)


@case
def matmul():
    a, b, bias = normal(48, 64), normal(64, 32), normal(1, 32)
    result = run("matmul", lambda d, out: (d[SRC], d[WEIGHTS], d[BIAS], out), {SRC: a, WEIGHTS: b, BIAS: bias},
                 numpy.zeros((48, 32), "f4"))
    check(result, a @ b + bias, 1e-4)


@case
def matmul_int8():
    a, b = (RANDOM.integers(-20, 20, shape, dtype="i1") for shape in ((16, 32), (32, 24)))
    result = run("matmul", lambda d, out: (d[SRC], d[WEIGHTS], None, out), {SRC: a, WEIGHTS: b},
                 numpy.zeros((16, 24), "i4"))
    check(result, a.astype("i4") @ b.astype("i4"))


@case
def matmul_batch():
    a, b = normal(3, 16, 24), normal(3, 24, 8)
    result = run("matmul", lambda d, out: (d[SRC], d[WEIGHTS], None, out), {SRC: a, WEIGHTS: b},
                 numpy.zeros((3, 16, 8), "f4"))
    check(result, a @ b, 1e-4)


@case
def convolution():
    source, weights, bias = normal(2, 3, 12, 12), normal(8, 3, 3, 3), normal(8)
    padded = numpy.pad(source, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    expected = numpy.einsum("nchwij,ocij->nohw", windows, weights) + bias.reshape(1, 8, 1, 1)
    result = run("convolution_forward",
                 lambda d, out: (INFERENCE, CONVOLUTION_DIRECT, d[SRC], d[WEIGHTS], d[BIAS], out,
                                 dims(1, 1), dims(0, 0), dims(1, 1), dims(1, 1)),
                 {SRC: source, WEIGHTS: weights, BIAS: bias}, numpy.zeros((2, 8, 12, 12), "f4"))
    check(result, expected, 1e-4)


@case
def softmax():
    a = normal(32, 100)
    result = run("softmax_forward", lambda d, out: (INFERENCE, SOFTMAX, d[SRC], out, 1), {SRC: a}, numpy.zeros_like(a))
    powers = numpy.exp(a - a.max(1, keepdims=True))
    check(result, powers / powers.sum(1, keepdims=True), 1e-4)


@case
def relu():
    a = normal(4, 5, 6, 7)
    result = run("eltwise_forward",
                 lambda d, out: (INFERENCE, RELU, d[SRC], out, ctypes.c_float(0), ctypes.c_float(0)), {SRC: a},
                 numpy.zeros_like(a))
    check(result, numpy.maximum(a, 0))


@case
def add():
    a, b = normal(40, 50), normal(1, 50)
    result = run("binary", lambda d, out: (BINARY_ADD, d[SRC], d[SRC_1], out), {SRC: a, SRC_1: b}, numpy.zeros_like(a))
    check(result, a + b)


@case
def reduction():
    a = normal(20, 300)
    result = run("reduction", lambda d, out: (REDUCTION_SUM, d[SRC], out, ctypes.c_float(0), ctypes.c_float(0)),
                 {SRC: a}, numpy.zeros((20, 1), "f4"))
    check(result, a.sum(1, keepdims=True), 1e-4)


@case
def pooling():
    a = normal(2, 4, 12, 12)
    result = run("pooling_forward",
                 lambda d, out: (INFERENCE, POOLING_MAX, d[SRC], out, dims(2, 2), dims(2, 2), dims(0, 0), dims(0, 0),
                                 dims(0, 0)), {SRC: a}, numpy.zeros((2, 4, 6, 6), "f4"))
    check(result, a.reshape(2, 4, 6, 2, 6, 2).max((3, 5)))


main()
