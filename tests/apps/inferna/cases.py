# SPDX-License-Identifier: MIT
"""llama.cpp (inferna-sycl): a random model's logits with all layers on the device, against its CPU backend."""
import os
import pathlib

import numpy

import model
from app_cases import SCRATCH, Wrong, case, check, main, need_libraries

need_libraries()
# With SYCL's own cache on disk the runtime 2025.3 reads beyond the kernel names of llama.cpp's modules.
os.environ.pop("SYCL_CACHE_PERSISTENT", None)

TOKENS = [int(token) for token in numpy.random.default_rng(5).integers(0, model.VOCABULARY, 24)]


def load():
    from inferna.llama import llama_cpp as llama
    llama.ggml_backend_load_all()
    return llama


def logits(kind, layers, rounded_as=None, **settings):
    """A prompt of 8 tokens at once, then 4 tokens one by one: the last logits of each step."""
    llama = load()
    path = pathlib.Path(SCRATCH) / f"{kind}{'_of_' + rounded_as if rounded_as else ''}.gguf"
    if not path.exists():
        model.write(str(path), kind, rounded_as)
    parameters = llama.LlamaModelParams()
    parameters.n_gpu_layers = layers
    loaded = llama.LlamaModel(str(path), parameters, verbose=False)
    parameters = llama.LlamaContextParams()
    parameters.n_ctx = model.CONTEXT
    parameters.n_threads = parameters.n_threads_batch = 2
    parameters.op_offload = parameters.offload_kqv = layers > 0
    for name, value in settings.items():
        setattr(parameters, name, value)
    context = llama.LlamaContext(loaded, parameters, verbose=False)
    steps, count = [], 8
    for first, tokens in [(0, TOKENS[:count]), *((count + i, [TOKENS[count + i]]) for i in range(4))]:
        if context.decode(llama.llama_batch_get_one(tokens, first)) not in (None, 0):
            raise Wrong(f"decode fails at token {first}")
        steps.append(numpy.array(context.get_logits_ith(-1)))
    return numpy.array(steps)


def compare_quantised(kind):
    """Both backends round activations, each in its way. So each is compared with the same weights in f32."""
    exact = logits("f32", 0, rounded_as=kind)
    error, allowed = (numpy.sqrt(numpy.mean((logits(kind, layers) - exact) ** 2)) for layers in (99, 0))
    if not error <= 3 * allowed:
        raise Wrong(f"rms error {error:.1e}, that of the CPU backend is {allowed:.1e}")


@case
def devices():
    found = load().ggml_backend_dev_info()
    if not any("SYCL" in str(device) for device in found):
        raise Wrong(f"no SYCL device among {found}")


@case
def f32():
    check(logits("f32", 99), logits("f32", 0), 1e-3)


@case
def q8_0():
    compare_quantised("q8_0")


@case
def q4_0():
    compare_quantised("q4_0")


main()
