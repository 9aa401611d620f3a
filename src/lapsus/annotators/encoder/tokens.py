"""Texts as the word pieces, and passages as the tokens, that a reader was trained with: one layout a language.

WordPiece and byte-pair encoding are read from their JSON, as far as our encoders use them, so that a plain install
needs no library for it. A piece of text that looks like a special token is plain text: strangers write whatever they
like.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, islice, pairwise
from typing import Any, ClassVar, Final, NamedTuple

import msgspec
import regex

from lapsus.annotators.encoder.reader import Passage

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

    def ids(self, text: str, most: int | None = None) -> list[int]:
        """The numbers of a text's pieces, in order; of the first pieces only, where that is enough."""
        words = self._words(text)
        # Joining takes time that grows with the square of a word; no word is that long, and texts of strangers may be.
        parts = (word[at : at + _TOGETHER] for word in words for at in range(0, len(word), _TOGETHER))
        return list(islice(chain.from_iterable(map(self._cut, parts)), most))

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
    plain = text.translate(_CLEAN)
    if not plain.isascii():
        plain = unicodedata.normalize("NFD", _IDEOGRAPH.sub(r" \1 ", plain)).translate(_WITHOUT_ACCENTS)
    return iter(_WORDS.findall(plain.lower()))


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


class _Changes(dict[int, str | None]):
    """What becomes of each sign, found out when it first comes up, as `str.translate` asks for it."""

    def __init__(self, change: Callable[[str], str | None]) -> None:
        super().__init__()
        self._change = change

    def __missing__(self, code: int) -> str | None:
        changed = self[code] = self._change(chr(code))
        return changed


_CLEAN: Final = _Changes(lambda sign: None if _is_control(sign) else " " if sign.isspace() else sign)
_WITHOUT_ACCENTS: Final = _Changes(lambda sign: None if unicodedata.category(sign) == "Mn" else sign)


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


_REMEMBERED = 1 << 10


class Tokens:
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
        """The tokens, and for each whether it is of the turn itself. What is too long loses its beginning."""
        target = self._ids(True, passage.target)[: self.OF_TARGET]
        talk = [id for turn in passage.context[-self.TURNS :] for id in self._ids(*turn)]
        before = talk[-(self.TOKENS - 3 - len(target)) :]
        ids = [self._begin, *before, self._end, *target, self._end]
        return ids, [0] * (len(before) + 2) + [1] * (len(target) + 1)

    def _encode(self, by_system: bool, text: str) -> list[int]:
        raise NotImplementedError


class EnglishTokens(Tokens):
    """Each turn begins with "S:" or "U:", who said it."""

    TURNS, TOKENS = 5, 128
    OF_TARGET = TOKENS // 2

    def _encode(self, by_system: bool, text: str) -> list[int]:
        said = f"{'S' if by_system else 'U'}: {text}"
        return self._tokenizer.ids(said)


class JapaneseTokens(Tokens):
    """Each turn begins with a token that says who said it, [U] or [S]."""

    TURNS, TOKENS = 6, 160
    OF_A_TURN: ClassVar[int] = 60
    OF_TARGET = OF_A_TURN + 1

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._speakers = [self._tokenizer.id_of(name) for name in ("[U]", "[S]")]

    def _encode(self, by_system: bool, text: str) -> list[int]:
        return [
            self._speakers[by_system],
            *self._tokenizer.ids(unicodedata.normalize("NFKC", text), self.OF_A_TURN),
        ]


TOKENIZERS: Final[dict[str, type[Tokens]]] = {"en": EnglishTokens, "ja": JapaneseTokens}


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
