"""Networks of the layout that training starts from, small and with random weights: for trainings in brief."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel, PreTrainedTokenizerFast

from lapsus.annotators.encoder.chat_reader import TOKENIZER
from lapsus.annotators.model_files import SHIPPED, read_model

LARGE = Path(__file__).parents[2] / "distributions" / "lapsus-large" / "src" / "lapsus_large" / TOKENIZER


def random_start(name: str, target: Path) -> None:
    """The folder of the student's network or of the teacher's, with the tokens of the reader that is shipped."""
    torch.manual_seed(0)
    target.mkdir(parents=True, exist_ok=True)
    if name == "teacher":
        sizes = {
            "hidden_size": 48,
            "intermediate_size": 64,
            "num_hidden_layers": 3,
            "num_attention_heads": 12,
        }
        MPNetModel(MPNetConfig(**sizes)).save_pretrained(target)
        content, marks = LARGE.read_bytes(), ("<s>", "</s>", "<pad>")
    else:
        config = BertConfig(
            hidden_size=384, intermediate_size=1536, num_hidden_layers=6, num_attention_heads=12
        )
        BertModel(config).save_pretrained(target)
        content = read_model(SHIPPED / "breakdown-en.lapsus")[1].files[TOKENIZER]
        marks = ("[CLS]", "[SEP]", "[PAD]")
    (target / TOKENIZER).write_bytes(content)
    begin, end, pad = marks
    fast = PreTrainedTokenizerFast(
        tokenizer_file=str(target / TOKENIZER), cls_token=begin, sep_token=end, pad_token=pad
    )
    fast.save_pretrained(target)
    (target / TOKENIZER).write_bytes(content)
