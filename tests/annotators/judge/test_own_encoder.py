"""An encoder of one's own: a tiny one, taken as it is and trained through; judging needs no PyTorch."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import lapsus
from lapsus.annotators.byte_graphs import with_unsigned_weights
from lapsus.annotators.judge.encoder_training import OwnVectors
from lapsus.annotators.judge.judge import Judge
from lapsus.errors import InputError, UsageError
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.schemes import load_scheme

GOOD, BAD = ["soup", "bread", "noodles", "rice"], ["kernel", "tax", "pointer", "stack"]
OTHER = ["i", "like", "the", "and", "you", "today", "is", "my"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two thin layers that knows a few words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    # A tiny network is computed sooner by one thread than it is shared out.
    torch.set_num_threads(1)
    made = tmp_path_factory.mktemp("encoder") / "tiny-bert"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *GOOD, *BAD, *OTHER]
    tokens = Tokenizer(models.WordPiece({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))  # noqa: S106
    tokens.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokens.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers

        transformers.set_seed(7)
        config = transformers.BertConfig(
            vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=48, max_position_embeddings=130,
        )  # fmt: skip
        transformers.BertModel(config).save_pretrained(made)
        fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokens, pad_token="[PAD]")  # noqa: S106
        fast.save_pretrained(made)
    return made


def entries(documents: int = 30) -> list[Entry]:
    """Chats in which a turn is broken when it is not about food."""
    rng, scheme = np.random.default_rng(3), load_scheme("breakdown")
    found = []
    for number in range(documents):
        turns, said = [], []
        for turn in range(4):
            is_bad = bool(rng.integers(2))
            word = str(rng.choice(BAD if is_bad else GOOD))
            around = [str(other) for other in rng.choice(OTHER, 3)]
            turns.append(Segment(f"{turn}", "system", " ".join([around[0], word, *around[1:]])))
            said.append(
                Judgment(
                    f"d{number}", f"{turn}", "ada", "breakdown", scheme.version, {"breakdown": "OX"[is_bad]}
                )
            )
        found.append(Entry(f"d{number}", Document(f"d{number}", tuple(turns), "xx"), tuple(said)))
    return found


def without_pytorch(model: Path, fresh: list[Entry], file: Path) -> str:
    """What a model says where there is neither PyTorch nor transformers."""
    lapsus.convert(fresh, file)
    program = (
        "import sys; sys.modules.update(torch=None, transformers=None, onnx=None)\n"
        "import lapsus\n"
        f"found = lapsus.detect({str(file)!r}, model={str(model)!r})\n"
        "print(''.join(one.answers['breakdown'] for entry in found for one in entry.judgments))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("tune", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_a_judge_on_an_encoder_of_ones_own(folder: Path, tmp_path: Path, tune: bool) -> None:
    judge = lapsus.train(
        "judge",
        entries(30 if tune else 15),
        scheme="breakdown",
        out=tmp_path / "own.lapsus",
        encoder=str(folder),
        tune=tune,
    )
    assert isinstance(judge, Judge)
    assert judge.parameters()["encoder"] == "tiny-bert"
    (report,) = judge.reports_
    assert report.documents == (12 if tune else 15)
    assert (report.agreement.judge_beyond.value or 0) > 0.5
    fresh = entries(34)[30:]
    said = "".join(str(one.answers["breakdown"]) for entry in fresh for one in entry.judgments)
    if tune:
        judged = without_pytorch(tmp_path / "own.lapsus", fresh, tmp_path / "fresh.jsonl")
    else:
        again = lapsus.detect(fresh, model=tmp_path / "own.lapsus")
        judged = "".join(str(one.answers["breakdown"]) for entry in again for one in entry.judgments)
    assert sum(a == b for a, b in zip(judged, said, strict=True)) >= 12
    vectors = judge._vectors
    assert isinstance(vectors, OwnVectors)
    alone, together = vectors.of(["my soup"]), vectors.of(["my soup", "the kernel is my tax today", " "])
    assert np.allclose(alone[0], together[0], atol=1e-3)
    assert np.linalg.norm(alone[0]) == pytest.approx(1, abs=1e-2)
    assert not together[2].any()
    graph, tokenizer = vectors.files.values()
    unsigned = OwnVectors("own", with_unsigned_weights(graph), tokenizer, vectors.width)
    assert b":unsigned" in unsigned.files["encoder.onnx"]
    assert np.allclose(unsigned.of(["my soup"]), alone, atol=1e-3)


@pytest.mark.filterwarnings("ignore")
def test_what_is_no_encoder_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to tune"):
        lapsus.train("judge", entries(6), scheme="breakdown", tune=True)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no config\.json"):
        lapsus.train("judge", entries(6), scheme="breakdown", encoder=str(tmp_path / "empty"))
    broken = tmp_path / "broken"
    broken.mkdir()
    for name in ("config.json", "tokenizer.json"):
        (broken / name).write_bytes((folder / name).read_bytes())
    (broken / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(InputError, match="cannot be read as an encoder"):
        lapsus.train("judge", entries(6), scheme="breakdown", encoder=str(broken))
