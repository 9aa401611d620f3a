"""Texts to numbers of word pieces, as an encoder was trained with: WordPiece and byte-pair encoding from their JSON.

Only what our encoders use is known here, so that a plain install needs no library for it. A piece of text that looks
like a special token is plain text: strangers write whatever they like.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
import regex

_LONGEST_WORD = 100
_TOGETHER = 500
"""Characters taken apart at a time."""
_KEPT = 1 << 14
_IDEOGRAPH = regex.compile(
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ebef\U0002f800-\U0002fa1f])"
)
_WORDS = regex.compile(r"[!-/:-@\[-`{-~\p{P}]|[^\s!-/:-@\[-`{-~\p{P}]+")


class Piece(NamedTuple):
    """A piece of a text: its number, and which signs of the text it stands for."""

    id: int
    start: int
    end: int


class Subwords:
    """Takes a text apart. What is in the JSON but not known here is an error (ValueError)."""

    def __init__(self, content: bytes) -> None:
        try:
            plan = msgspec.json.decode(content)
            model = plan["model"]
            self._ids: dict[str, int] = {str(piece): int(id) for piece, id in model["vocab"].items()}
            self._unknown = self._ids[model["unk_token"]]
            self._words, cut = _kinds(plan, model["type"])
            self._cut = lru_cache(maxsize=_KEPT)(cut(self._ids, self._unknown, model))
            self._inside = str(model.get("continuing_subword_prefix") or "")
        except (msgspec.DecodeError, KeyError, TypeError, AttributeError, regex.error) as error:
            raise ValueError(f"the tokenizer cannot be read: {error!r}") from error

    def id_of(self, token: str) -> int:
        """The number of one token."""
        try:
            return self._ids[token]
        except KeyError:
            raise ValueError(f"the tokenizer knows no {token!r}") from None

    def ids(self, text: str) -> list[int]:
        """The numbers of a text's pieces, in order."""
        words = self._words(text)
        # Joining takes time that grows with the square of a word; no word is that long, and texts of strangers may be.
        parts = (word[at : at + _TOGETHER] for word in words for at in range(0, len(word), _TOGETHER))
        return [id for part in parts for id in self._cut(part)]

    def pieces(self, text: str) -> list[Piece]:
        """The same pieces with their places in the text. Only word pieces have them."""
        if self._words is not _bert_words:
            raise ValueError("only word pieces can be found again in a text")
        plain, places = _bert_signs(text)
        found: list[Piece] = []
        for word in _WORDS.finditer(plain):
            for start in range(word.start(), word.end(), _TOGETHER):
                part = plain[start : min(start + _TOGETHER, word.end())]
                for id in self._cut(part):
                    end = start + (len(part) if id == self._unknown else self._lengths[id])
                    found.append(Piece(id, places[start], places[end - 1] + 1))
                    start = end
        return found

    @cached_property
    def _lengths(self) -> dict[int, int]:
        """How many signs each piece stands for."""
        return {id: len(piece.removeprefix(self._inside)) for piece, id in self._ids.items()}


def _kinds(plan: Any, kind: str) -> tuple[Callable[[str], Iterator[str]], Any]:
    before = plan.get("pre_tokenizer") or {}
    if kind == "WordPiece" and before.get("type") == "BertPreTokenizer":
        return _bert_words, _word_pieces
    if kind == "BPE" and plan.get("normalizer") is None:
        (split,) = before["pretokenizers"]
        pattern = regex.compile(f"({split['pattern']['Regex']})")
        return lambda text: (part for part in pattern.split(text) if part), _byte_pairs
    raise ValueError(f"the tokenizer cannot be read: {kind} of this form is not known")


def _bert_words(text: str) -> Iterator[str]:
    """Words and signs in small letters without accents, as BERT's tokenizer finds them."""
    clean = "".join(" " if sign.isspace() else sign for sign in text if not _is_control(sign))
    apart = _IDEOGRAPH.sub(r" \1 ", clean)
    plain = "".join(s for s in unicodedata.normalize("NFD", apart) if unicodedata.category(s) != "Mn")
    return (match.group() for match in _WORDS.finditer(plain.lower()))


def _bert_signs(text: str) -> tuple[str, Sequence[int]]:
    """The text in which `_bert_words` finds words, and for each of its signs where it stood before."""
    if text.isascii() and text.isprintable():
        return text.lower(), range(len(text))
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        if _is_control(sign):
            continue
        apart = unicodedata.normalize("NFD", " " if sign.isspace() else _IDEOGRAPH.sub(r" \1 ", sign))
        for part in apart:
            if unicodedata.category(part) != "Mn":
                signs.append(part)
                places.append(place)
    # As one string, since the last sigma of a word has a small letter of its own. No length changes.
    return "".join(signs).lower(), places


def _is_control(sign: str) -> bool:
    if sign in "\t\n\r":
        return False
    return sign in "\x00\ufffd" or unicodedata.category(sign)[0] == "C"


def _word_pieces(ids: dict[str, int], unknown: int, model: Any) -> Callable[[str], tuple[int, ...]]:
    """The longest known piece first; a word with a part that is in no piece is unknown as a whole."""
    inside = str(model["continuing_subword_prefix"])

    def cut(word: str) -> tuple[int, ...]:
        found: list[int] = []
        start = 0
        while start < len(word) <= _LONGEST_WORD:
            prefix = inside if start else ""
            for end in range(len(word), start, -1):
                if (id := ids.get(prefix + word[start:end])) is not None:
                    found.append(id)
                    start = end
                    break
            else:
                return (unknown,)
        return tuple(found) or (unknown,)

    return cut


def _byte_pairs(ids: dict[str, int], unknown: int, model: Any) -> Callable[[str], tuple[int, ...]]:
    """Single characters, of which the pair that was learned first is joined again and again."""
    rank = {tuple(pair): place for place, pair in enumerate(model["merges"])}

    def cut(word: str) -> tuple[int, ...]:
        # A sign in no piece stands for itself and is never joined.
        parts = list(word)
        while len(parts) > 1:
            ranks = [rank.get(pair, len(rank)) for pair in pairwise(parts)]
            best = min(ranks)
            if best == len(rank):
                break
            joined: list[str] = []
            place = 0
            while place < len(parts):
                step = 2 if place < len(ranks) and ranks[place] == best else 1
                joined.append("".join(parts[place : place + step]))
                place += step
            parts = joined
        return tuple(ids.get(part, unknown) for part in parts)

    return cut
