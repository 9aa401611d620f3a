"""Encoders of one's own: a Hugging Face folder loaded, tuned, exported as int8, and run from a model's file."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Progress
from lapsus.annotators.byte_graphs import make_session
from lapsus.annotators.cases import Case
from lapsus.annotators.judge.features import texts_of
from lapsus.annotators.judge.people_answers import PeopleAnswers
from lapsus.annotators.optional_libraries import require
from lapsus.errors import InputError
from lapsus.notices import Notice

_PURPOSE: Final = "purpose-own-encoder"
EPOCHS: Final = 3
BATCH: Final = 16
RATE, HEAD_RATE = 3e-5, 1e-3
FILES: Final = ("config.json", "tokenizer.json")
Matrix: TypeAlias = NDArray[np.float32]
GRAPH, TOKENIZER = "encoder.onnx", "tokenizer.json"
LONGEST: Final = 128
"""Tokens read of a text; what follows is left out."""
_TOGETHER: Final = 16
_REMEMBERED: Final = 4_000
_DECIMALS: Final = 4
"""Vectors are rounded, so that it does not show which texts were computed together."""


class LoadedEncoder:
    """An encoder in PyTorch, with its tokenizer."""

    def __init__(self, source: str) -> None:
        self.torch = require("torch", "train", _PURPOSE)
        library = require("transformers", "train", _PURPOSE)
        library.logging.set_verbosity_error()
        folder = Path(source)
        if folder.is_dir():
            for name in FILES:
                if not (folder / name).is_file():
                    raise InputError("has-no", where=source, hint="give-folder-hugging-face", name=name)
        try:
            # Never pickle, never code of strangers: only safetensors, only what the library itself knows.
            here = folder.is_dir()
            self.model = library.AutoModel.from_pretrained(
                source, use_safetensors=True, local_files_only=here
            )
            tokens = library.AutoTokenizer.from_pretrained(source, local_files_only=here)
        except Exception as error:
            hint = Notice("give-folder-config-json")
            raise InputError("cannot-read-encoder", where=source, hint=hint, error=error) from error
        if not getattr(tokens, "is_fast", False):
            raise InputError("no-tokenizer-json", where=source, hint="save-fast-tokenizer")
        self.tokenizer = tokens.backend_tokenizer.to_str()
        self.name = folder.name
        self.width = int(self.model.config.hidden_size)
        self.model.eval()

    def vectors(self) -> OwnVectors:
        """The encoder as it stands, without PyTorch."""
        return OwnVectors(self.name, self._graph(), self.tokenizer.encode(), self.width)

    def pooled(self, ids: Any, mask: Any) -> Any:
        """Unit vectors: the mean of the last layer over the tokens."""
        last = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        wide = mask.unsqueeze(-1).to(last.dtype)
        mean = (last * wide).sum(1) / wide.sum(1).clamp(min=1)
        return self.torch.nn.functional.normalize(mean, dim=-1)

    def _graph(self) -> bytes:
        """The same as a graph of ONNX, its weights in whole numbers of eight bits."""
        torch, encoder = self.torch, self
        quantization = require("onnxruntime.quantization", "train", _PURPOSE)
        require("onnx", "train", _PURPOSE)

        class Pooled(torch.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.inner = encoder.model

            def forward(self, ids: Any, mask: Any) -> Any:
                return encoder.pooled(ids, mask)

        ids = torch.ones((2, 8), dtype=torch.long)
        free = {0: "texts", 1: "tokens"}
        with tempfile.TemporaryDirectory(prefix="lapsus-encoder-") as folder, _quiet():
            whole, small = Path(folder) / "whole.onnx", Path(folder) / "small.onnx"
            torch.onnx.export(
                Pooled().eval(), (ids, torch.ones_like(ids)), str(whole), dynamo=False, opset_version=17,
                input_names=["ids", "mask"], output_names=["vectors"], dynamic_axes={"ids": free, "mask": free},
            )  # fmt: skip
            quantization.quantize_dynamic(str(whole), str(small), weight_type=quantization.QuantType.QInt8)
            return small.read_bytes()

    def tune(
        self, cases: Sequence[Case], given: Mapping[str, PeopleAnswers], seed: int, progress: Progress
    ) -> None:
        """Train it through, so that the answers of people can be told from its vectors."""
        torch = self.torch
        torch.manual_seed(seed)
        texts = [texts_of(case.unit) for case in cases]
        shares = {id: _shares(one, len(cases)) for id, one in given.items()}
        head = torch.nn.Linear(3 * self.width, sum(one.shape[1] for one in shares.values()))
        slow = {"params": self.model.parameters(), "lr": RATE}
        optimiser = torch.optim.AdamW(
            [slow, {"params": head.parameters(), "lr": HEAD_RATE}], weight_decay=0.01
        )
        self.model.train()
        rng, done = np.random.default_rng(seed), 0
        for _ in range(EPOCHS):
            order = rng.permutation(len(cases))
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                logits = head(self._features([texts[row] for row in rows.tolist()]))
                loss = self._loss(logits, {id: one[rows] for id, one in shares.items()}, given)
                optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimiser.step()
                done += len(rows)
                progress(done, EPOCHS * len(cases))
        self.model.eval()

    def _features(self, texts: Sequence[tuple[str, str]]) -> Any:
        said, answered = (self._encoded([pair[side] for pair in texts]) for side in (0, 1))
        return self.torch.cat([said, answered, said * answered * self.width**0.5], dim=1)

    def _encoded(self, texts: Sequence[str]) -> Any:
        torch, library = self.torch, require("tokenizers", "train", _PURPOSE)
        tokens = library.Tokenizer.from_str(self.tokenizer)
        tokens.enable_truncation(LONGEST)
        tokens.enable_padding()
        found = tokens.encode_batch([text or " " for text in texts])
        ids = torch.tensor([one.ids for one in found])
        return self.pooled(ids, torch.tensor([one.attention_mask for one in found]))

    def _loss(self, logits: Any, shares: Mapping[str, Any], given: Mapping[str, PeopleAnswers]) -> Any:
        """Cross-entropy with the shares of votes, over the questions that somebody answered."""
        functional, start, total = self.torch.nn.functional, 0, 0.0
        for id, target in shares.items():
            mine = logits[:, start : start + target.shape[1]]
            start += target.shape[1]
            wanted = self.torch.tensor(target, dtype=mine.dtype)
            known = ~self.torch.isnan(wanted).any(dim=1)
            if not bool(known.any()):
                continue
            if given[id].kind.several:
                total = total + functional.binary_cross_entropy_with_logits(mine[known], wanted[known])
            else:
                total = total - (wanted[known] * functional.log_softmax(mine[known], dim=1)).sum(1).mean()
        return total if not isinstance(total, float) else (logits * 0).sum()


def _shares(given: PeopleAnswers, units: int) -> NDArray[np.float64]:
    """A row for each unit; NaN where nobody answered."""
    found = np.full((units, given.shares.shape[1]), np.nan)
    found[given.rows] = given.shares
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what others' libraries say about themselves while a graph is made."""
    log = logging.getLogger()
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


class OwnVectors:
    """Gives a unit vector for each text: the mean over its tokens of what the encoder's last layer holds."""

    def __init__(self, name: str, graph: bytes, tokenizer: bytes, width: int) -> None:
        self.name, self.width = name, width
        self.files = {GRAPH: graph, TOKENIZER: tokenizer}
        library = require("tokenizers", "encoder", "purpose-own-encoder")
        self._tokens = library.Tokenizer.from_str(tokenizer.decode())
        self._tokens.enable_truncation(LONGEST)
        self._tokens.no_padding()
        self._session = make_session(graph, by_turn=False)
        self._known: dict[str, Matrix] = {}

    def of(self, texts: Sequence[str]) -> Matrix:
        """A row for each text. One without any sign gets zeros."""
        new = [text for text in dict.fromkeys(texts) if text.strip() and text not in self._known]
        found = {text: self._known[text] for text in texts if text in self._known}
        encoded = sorted(
            zip(new, (one.ids for one in self._tokens.encode_batch(new)), strict=True),
            key=lambda one: len(one[1]),
        )
        for start in range(0, len(encoded), _TOGETHER):
            batch = encoded[start : start + _TOGETHER]
            rows = self._rows([ids for _, ids in batch])
            found.update(zip((text for text, _ in batch), rows, strict=True))
        self._known.update((text, found[text]) for text in new[-_REMEMBERED:])
        while len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        nothing = np.zeros(self.width, dtype=np.float32)
        return np.array([found.get(text, nothing) for text in texts], dtype=np.float32).reshape(
            -1, self.width
        )

    def forget(self) -> None:
        """Compute everything anew."""
        self._known.clear()

    def _rows(self, texts: Sequence[Sequence[int]]) -> Matrix:
        longest = max(map(len, texts))
        ids, mask = (np.zeros((len(texts), longest), dtype=np.int64) for _ in range(2))
        for place, one in enumerate(texts):
            ids[place, : len(one)], mask[place, : len(one)] = one, 1
        (rows,) = self._session.run(["vectors"], {"ids": ids, "mask": mask})
        return np.asarray(rows, dtype=np.float32).round(_DECIMALS)
