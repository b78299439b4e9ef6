# SPDX-License-Identifier: MIT
"""oneMKL behind dpnp: linear algebra, transforms, random numbers and vector functions, against numpy."""
import numpy

from app_cases import case, check, main

RANDOM = numpy.random.default_rng(28)


def normal(*shape):
    return RANDOM.normal(size=shape).astype("f4")


def symmetric(size):
    matrix = normal(size, size)
    return matrix @ matrix.T + size * numpy.eye(size, dtype="f4")


def compare(function, *arrays, tolerance=1e-3):
    """The same function of dpnp and of numpy."""
    import dpnp
    results = function(dpnp, *(dpnp.asarray(array) for array in arrays))
    expected = function(numpy, *arrays)
    if not isinstance(expected, tuple):
        results, expected = (results,), (expected,)
    for result, right in zip(results, expected):
        check(dpnp.asnumpy(result), right, tolerance)


@case
def gemm():
    compare(lambda np, a, b: np.matmul(a, b), normal(64, 96), normal(96, 48))


@case
def gemm_double():
    compare(lambda np, a, b: a @ b, *(RANDOM.normal(size=(50, 50)) for _ in range(2)), tolerance=1e-10)


@case
def gemm_batch():
    compare(lambda np, a, b: np.matmul(a, b), normal(5, 16, 24), normal(5, 24, 8))


@case
def gemv():
    compare(lambda np, a, x: np.dot(a, x), normal(64, 96), normal(96))


@case
def dot():
    compare(lambda np, x, y: np.dot(x, y), normal(1000), normal(1000))


@case
def syrk():
    compare(lambda np, a: np.matmul(a, a.T), normal(40, 60))


@case
def cholesky():
    compare(lambda np, a: np.linalg.cholesky(a), symmetric(48))


@case
def solve():
    compare(lambda np, a, b: np.linalg.solve(a, b), symmetric(48), normal(48, 4))


@case
def inverse():
    compare(lambda np, a: np.linalg.inv(a), symmetric(32))


@case
def determinant():
    compare(lambda np, a: np.linalg.det(a), normal(8, 8))


@case
def qr():
    compare(lambda np, a: tuple(np.abs(part) for part in np.linalg.qr(a)), normal(32, 24))


@case
def svd():
    compare(lambda np, a: np.linalg.svd(a)[1], normal(24, 16))


@case
def eigh():
    compare(lambda np, a: np.linalg.eigh(a)[0], symmetric(24))


@case
def eigenvalues():
    compare(lambda np, a: np.sort(np.abs(np.linalg.eigvals(a))), normal(12, 12))


@case
def lstsq():
    compare(lambda np, a, b: np.linalg.lstsq(a, b, rcond=None)[0], normal(40, 8), normal(40))


@case
def fft():
    compare(lambda np, a: np.fft.fft(a), normal(8, 64))


@case
def fft_odd_length():
    compare(lambda np, a: np.fft.ifft(a), (normal(4, 45) + 1j * normal(4, 45)).astype("c8"))


@case
def rfft():
    compare(lambda np, a: np.fft.irfft(np.fft.rfft(a)), normal(8, 128))


@case
def fft_2d():
    compare(lambda np, a: np.fft.fft2(a), normal(32, 24))


def moments(draw, mean, deviation):
    """One draw has the moments of its distribution, and the same seed gives the same numbers."""
    import dpnp
    draws = []
    for _ in range(2):
        dpnp.random.seed(28)
        draws.append(dpnp.asnumpy(draw(dpnp.random, 20000)))
    check(draws[0], draws[1], 0)
    check([draws[0].mean(), draws[0].std()], [mean, deviation], 0.03)


@case
def random_uniform():
    moments(lambda random, size: random.uniform(-1, 3, size), 1, 4 / 12 ** 0.5)


@case
def random_normal():
    moments(lambda random, size: random.normal(2, 0.5, size), 2, 0.5)


@case
def random_poisson():
    moments(lambda random, size: random.poisson(6, size), 6, 6 ** 0.5)


@case
def vector_functions():
    compare(lambda np, a: (np.sin(a), np.exp(a), np.cbrt(a), np.log1p(np.abs(a)), np.hypot(a, a + 1)), normal(2000))


main()
