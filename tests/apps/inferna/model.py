# SPDX-License-Identifier: MIT
"""A small random model of the Llama architecture as a file that llama.cpp reads."""
import gguf
import numpy

LAYERS, WIDTH, INNER, HEADS, HEADS_KV, VOCABULARY, CONTEXT = 2, 256, 512, 4, 2, 320, 128


def write(path, kind, rounded_as=None):
    """`kind`: f32, q8_0 or q4_0, the type of the matrices. `rounded_as`: of f32, with the values of that type."""
    kind = gguf.GGMLQuantizationType[kind.upper()]
    rounded_as = rounded_as and gguf.GGMLQuantizationType[rounded_as.upper()]
    random = numpy.random.default_rng(28)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS_KV)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("no_vocab")

    def matrix(name, rows, columns):
        values = random.normal(0, columns ** -0.5, (rows, columns)).astype("f4")
        if rounded_as:
            values = gguf.dequantize(gguf.quantize(values, rounded_as), rounded_as).astype("f4")
        writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)

    def vector(name):
        writer.add_tensor(name, random.normal(1, 0.1, WIDTH).astype("f4"))

    width_kv = WIDTH // HEADS * HEADS_KV
    matrix("token_embd.weight", VOCABULARY, WIDTH)
    matrix("output.weight", VOCABULARY, WIDTH)
    vector("output_norm.weight")
    for layer in range(LAYERS):
        part = f"blk.{layer}."
        vector(part + "attn_norm.weight")
        vector(part + "ffn_norm.weight")
        matrix(part + "attn_q.weight", WIDTH, WIDTH)
        matrix(part + "attn_k.weight", width_kv, WIDTH)
        matrix(part + "attn_v.weight", width_kv, WIDTH)
        matrix(part + "attn_output.weight", WIDTH, WIDTH)
        matrix(part + "ffn_gate.weight", INNER, WIDTH)
        matrix(part + "ffn_up.weight", INNER, WIDTH)
        matrix(part + "ffn_down.weight", WIDTH, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
