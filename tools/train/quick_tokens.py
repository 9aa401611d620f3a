"""Turns as tokens, laid out as readers are shown them, by a faster program than they use."""

from __future__ import annotations

from unicodedata import normalize

from tokenizers import Tokenizer

from lapsus.annotators.encoder.tokens import EnglishTokens, JapaneseTokens, LargeTokens


class QuickTokens(EnglishTokens):
    """English turns as the reader lays them out, taken apart by a faster program."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._quick = _quick(content)

    def _encode(self, by_system: bool, text: str) -> list[int]:
        said = f"{'S' if by_system else 'U'}: {text}"
        return list(self._quick.encode(said, add_special_tokens=False).ids)


class QuickChatTokens(JapaneseTokens):
    """Japanese turns as the reader lays them out, taken apart by a faster program."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._quick = _quick(content)

    def pieces(self, text: str) -> list[int]:
        """A turn's own tokens, as many as are looked at."""
        return list(
            self._quick.encode(normalize("NFKC", text), add_special_tokens=False).ids[: self.OF_A_TURN]
        )

    def _encode(self, by_system: bool, text: str) -> list[int]:
        return [self._speakers[by_system], *self.pieces(text)]


class QuickLargeTokens(LargeTokens):
    """English turns as the large reader lays them out, taken apart by a faster program."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        quick = _quick(content)
        self._ids = lambda text: list(quick.encode(text, add_special_tokens=False).ids)


def _quick(content: bytes) -> Tokenizer:
    tokenizer = Tokenizer.from_str(content.decode("utf-8"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
