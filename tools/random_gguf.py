"""Write a language model of random weights: words of a GGUF file's tokenizer, and one small layer that learned nothing.

    python tools/random_gguf.py SmolLM2-135M-Instruct.Q4_1.gguf random.gguf

It says anything that the form of an answer allows, in no time: what a server makes of a JSON schema is tried with it.
Needs the package gguf.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

WIDTH, HIDDEN, HEADS, CONTEXT = 64, 128, 2, 131_072
"""The context is long enough for every prompt in every language."""
WORDS = 2048
"""The first of the tokenizer's: each one costs time wherever an answer has a form."""


def main() -> None:
    """Copy what belongs to the tokenizer, and draw the rest."""
    gguf: Any = importlib.import_module("gguf")
    source, target = sys.argv[1:]
    known = gguf.GGUFReader(source).fields
    writer = gguf.GGUFWriter(target, "llama")
    writer.add_block_count(1)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    words = set(known["tokenizer.ggml.tokens"].contents()[:WORDS])
    for name, field in known.items():
        if name.startswith("tokenizer."):
            value, inner = field.contents(), field.types[1] if len(field.types) > 1 else None
            if name == "tokenizer.ggml.merges":
                value = [pair for pair in value if pair.replace(" ", "") in words]
            elif isinstance(value, list):
                value = value[:WORDS]
            writer.add_key_value(name, value, field.types[0], sub_type=inner)
    writer.add_vocab_size(WORDS)
    for name, weights in _weights().items():
        writer.add_tensor(name, weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _weights() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    square, wide, narrow = (WIDTH, WIDTH), (HIDDEN, WIDTH), (WIDTH, HIDDEN)
    shapes = {f"attn_{part}": square for part in ("q", "k", "v", "output")}
    shapes |= {"ffn_gate": wide, "ffn_up": wide, "ffn_down": narrow}
    drawn = {f"blk.0.{name}.weight": rng.normal(0, 0.2, shape) for name, shape in shapes.items()}
    drawn["token_embd.weight"] = rng.normal(0, 0.2, (WORDS, WIDTH))
    norms = ("blk.0.attn_norm.weight", "blk.0.ffn_norm.weight", "output_norm.weight")
    return {name: weights.astype(np.float16) for name, weights in drawn.items()} | {
        name: np.ones(WIDTH, dtype=np.float32) for name in norms
    }


if __name__ == "__main__":
    main()
