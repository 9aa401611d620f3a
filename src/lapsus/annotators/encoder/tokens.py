"""Passages as the tokens that a reader was trained with, one layout a language."""

from functools import lru_cache
from typing import ClassVar, Final, Protocol
from unicodedata import normalize

from lapsus.annotators.encoder.reader import Passage
from lapsus.annotators.features.subwords import Subwords

_REMEMBERED = 1 << 10


class Tokenizer(Protocol):
    """Lays passages out."""

    def encode(self, passage: Passage) -> tuple[list[int], list[int]]:
        """The tokens, and for each whether it is of the turn itself. What is too long loses its beginning."""
        ...


class _Tokens:
    """Turns as numbers: [CLS] the talk before [SEP] the turn [SEP]."""

    TURNS: ClassVar[int]
    """Turns of context that a reader sees."""
    TOKENS: ClassVar[int]
    """Tokens that it sees in all."""
    OF_TARGET: ClassVar[int]
    """Tokens of the turn itself."""

    def __init__(self, content: bytes) -> None:
        self._tokenizer = Subwords(content)
        # Words never reach across turns, and a turn is context of several: each is taken apart once.
        self._ids = lru_cache(maxsize=_REMEMBERED)(self._encode)
        self._begin, self._end = (self._tokenizer.id_of(token) for token in ("[CLS]", "[SEP]"))

    def encode(self, passage: Passage) -> tuple[list[int], list[int]]:
        target = self._ids(True, passage.target)[: self.OF_TARGET]
        talk = [id for turn in passage.context[-self.TURNS :] for id in self._ids(*turn)]
        before = talk[-(self.TOKENS - 3 - len(target)) :]
        ids = [self._begin, *before, self._end, *target, self._end]
        return ids, [0] * (len(before) + 2) + [1] * (len(target) + 1)

    def _encode(self, by_system: bool, text: str) -> list[int]:
        raise NotImplementedError


class EnglishTokens(_Tokens):
    """Each turn begins with "S:" or "U:", who said it."""

    TURNS, TOKENS = 5, 128
    OF_TARGET = TOKENS // 2

    def _encode(self, by_system: bool, text: str) -> list[int]:
        said = f"{'S' if by_system else 'U'}: {text}"
        return self._tokenizer.ids(said)


class JapaneseTokens(_Tokens):
    """Each turn begins with a token that says who said it, [U] or [S]."""

    TURNS, TOKENS = 6, 160
    OF_A_TURN: ClassVar[int] = 60
    OF_TARGET = OF_A_TURN + 1

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._speakers = [self._tokenizer.id_of(name) for name in ("[U]", "[S]")]

    def _encode(self, by_system: bool, text: str) -> list[int]:
        return [self._speakers[by_system], *self._tokenizer.ids(normalize("NFKC", text))[: self.OF_A_TURN]]


TOKENIZERS: Final[dict[str, type[EnglishTokens] | type[JapaneseTokens]]] = {
    "en": EnglishTokens,
    "ja": JapaneseTokens,
}


class LargeTokens:
    """Turns for the large English reader: <s> "user: …" </s> "system: …" </s> … </s> the turn </s>."""

    TURNS, TOKENS = 6, 192
    OF_TARGET, OF_A_TURN = 96, 64

    def __init__(self, content: bytes) -> None:
        self._tokenizer = Subwords(content)
        self._ids = lru_cache(maxsize=_REMEMBERED)(self._tokenizer.ids)
        self._begin, self._end = (self._tokenizer.id_of(token) for token in ("<s>", "</s>"))

    def encode(self, passage: Passage) -> tuple[list[int], list[int]]:
        """The tokens, and for each whether it is of the turn itself. The oldest turns that do not fit are left out."""
        target = self._ids(passage.target)[: self.OF_TARGET]
        before: list[int] = []
        for turn in reversed(passage.context[-self.TURNS :]):
            said = self._ids(f"{'system' if turn.by_system else 'user'}: {turn.text}")[-self.OF_A_TURN :]
            if len(before) + len(said) + 1 + len(target) + 3 > self.TOKENS:
                break
            before = [*said, self._end, *before]
        ids = [self._begin, *before, self._end, *target, self._end]
        return ids, [0] * (len(before) + 2) + [1] * (len(target) + 1)
