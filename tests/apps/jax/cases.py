# SPDX-License-Identifier: MIT
"""JAX (jax-oneapi-plugin): operations of XLA and oneMKL, and a training step, against JAX's own CPU backend or numpy."""
import os
import pathlib
import sys

# The plugin names a library of an older release, of which it calls nothing.
umf = pathlib.Path(sys.prefix) / "lib" / "libumf.so.0"
if not umf.is_symlink():
    umf.symlink_to("libumf.so.1")
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
os.environ["JAX_PLATFORMS"] = "oneapi,cpu"
# oneDNN 3.12 waits for itself when it tells of a function that the Level Zero loader lacks, as that of Debian 12 does.
os.environ["ONEDNN_VERBOSE"] = "none"

import numpy

from app_cases import Wrong, case, check, main

RANDOM = numpy.random.default_rng(28)


def normal(*shape):
    return RANDOM.normal(size=shape).astype("f4")


def compare(function, *arguments, tolerance=1e-4):
    """The function on the device and on JAX's CPU backend."""
    import jax
    if jax.devices()[0].platform == "cpu":
        raise RuntimeError("JAX's default device is the CPU's")
    results = []
    for device in (jax.devices()[0], jax.devices("cpu")[0]):
        placed = jax.device_put(arguments, device)
        results.append(jax.tree.map(numpy.asarray, jax.jit(function)(*placed)))
    for result, expected in zip(*map(jax.tree.leaves, results)):
        check(result, expected, tolerance)
    return results[0]


def symmetric(size):
    matrix = normal(size, size)
    return matrix @ matrix.T + size * numpy.eye(size, dtype="f4")


@case
def elementwise():
    import jax.numpy as jnp
    compare(lambda a, b: jnp.tanh(a) * jnp.exp(-b * b) + jnp.sqrt(jnp.abs(a)), normal(100, 100), normal(100))


@case
def integers():
    import jax.numpy as jnp
    a = RANDOM.integers(1, 1000, (64, 64), dtype="i4")
    compare(lambda a: (a // 7, a % 7, a ^ 21845, jnp.bitwise_count(a), a << 3), a)


@case
def half_precision():
    import jax.numpy as jnp
    compare(lambda a: (a.astype(jnp.float16) * 2).astype(jnp.float32) + a.astype(jnp.bfloat16).astype(jnp.float32),
            normal(64, 64), tolerance=1e-2)


@case
def reduce():
    compare(lambda a: (a.sum(0), a.max(1), a.mean(), a.argmin(1), (a > 0).all(0)), normal(200, 300))


@case
def small_sum():
    """A group of one sub-group, of which the first item alone writes."""
    compare(lambda a: a.sum(), normal(64, 2))


@case
def cumulative():
    import jax.numpy as jnp
    compare(lambda a: (jnp.cumsum(a, 1), jnp.cumprod(a * 0.1 + 1, 0)), normal(32, 64), tolerance=1e-3)


@case
def softmax():
    import jax
    compare(lambda a: (jax.nn.softmax(a), jax.nn.logsumexp(a, 0)), normal(64, 128))


@case
def gather():
    compare(lambda a, i: a[i] + a.T[i], normal(100, 100), RANDOM.integers(0, 100, 50))


@case
def scatter():
    compare(lambda a, i: a.at[i].add(1.5).at[3].set(0.0), normal(100, 8), RANDOM.integers(0, 100, 300), tolerance=1e-4)


@case
def sort():
    import jax.numpy as jnp
    compare(lambda a: (jnp.sort(a), jnp.argsort(a, 0)), normal(4, 60))


@case
def top_k():
    import jax
    compare(lambda a: jax.lax.top_k(a, 5), normal(4, 60))


@case
def matmul():
    compare(lambda a, b: a @ b, normal(64, 96), normal(96, 48), tolerance=1e-3)


@case
def einsum():
    import jax.numpy as jnp
    compare(lambda a, b: jnp.einsum("bij,bjk->bik", a, b), normal(4, 16, 24), normal(4, 24, 8), tolerance=1e-3)


@case
def convolution():
    import jax
    compare(lambda a, k: jax.lax.conv(a, k, (1, 1), "SAME"), normal(2, 3, 16, 16), normal(4, 3, 3, 3), tolerance=1e-3)


@case
def fft():
    import jax.numpy as jnp
    compare(lambda a: (jnp.fft.fft(a), jnp.fft.irfft(jnp.fft.rfft(a))), normal(8, 64), tolerance=1e-3)


@case
def random():
    import jax
    compare(lambda key: (jax.random.uniform(key, (1000,)), jax.random.normal(key, (1000,)),
                         jax.random.permutation(key, 100)), jax.random.key_data(jax.random.key(7)), tolerance=1e-3)


@case
def loop():
    import jax
    compare(lambda a: jax.lax.fori_loop(0, 20, lambda i, x: x * 0.9 + i, a), normal(64))


@case
def scan():
    import jax
    import jax.numpy as jnp
    compare(lambda a: jax.lax.scan(lambda state, x: (jnp.sin(state + x), state), jnp.zeros(8), a), normal(20, 8))


@case
def cholesky():
    import jax.numpy as jnp
    compare(jnp.linalg.cholesky, symmetric(32), tolerance=1e-3)


@case
def triangular_solve():
    import jax.scipy.linalg as linalg
    lower = numpy.linalg.cholesky(symmetric(8)).astype("f4")
    compare(lambda a, b: linalg.solve_triangular(a, b, lower=True), lower, normal(8, 2), tolerance=1e-3)


@case
def solve():
    import jax.numpy as jnp
    compare(jnp.linalg.solve, symmetric(32), normal(32, 4), tolerance=1e-3)


@case
def qr():
    import jax.numpy as jnp
    matrix = normal(32, 24)
    q, r = compare(lambda a: tuple(jnp.abs(part) for part in jnp.linalg.qr(a)), matrix, tolerance=1e-3)


@case
def eigh():
    import jax.numpy as jnp
    compare(jnp.linalg.eigvalsh, symmetric(24), tolerance=1e-3)


@case
def svd():
    import jax.numpy as jnp
    compare(lambda a: jnp.linalg.svd(a, compute_uv=False), normal(24, 16), tolerance=1e-3)


def train(product):
    """Ten steps of gradient descent of a network of two layers, in one program."""
    import jax
    import jax.numpy as jnp

    def loss(weights, x, y):
        hidden = jnp.tanh(product(x, weights[0]) + weights[1])
        return jnp.mean((product(hidden, weights[2]) + weights[3] - y) ** 2)

    def steps(weights, x, y):
        def step(weights, _):
            value, gradient = jax.value_and_grad(loss)(weights, x, y)
            return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value
        return jax.lax.scan(step, weights, None, 10)

    weights = [normal(8, 32) * 0.3, numpy.zeros(32, "f4"), normal(32, 2) * 0.3, numpy.zeros(2, "f4")]
    _, losses = compare(steps, weights, normal(1024, 8), normal(1024, 2), tolerance=1e-3)
    if not losses[-1] < losses[0]:
        raise Wrong(f"the loss goes from {losses[0]} to {losses[-1]}")


@case
def training():
    """With products that XLA computes, not oneDNN."""
    train(lambda a, b: (a[:, :, None] * b).sum(1))


@case
def training_matmul():
    train(lambda a, b: a @ b)


main()
