"""Rules on how a reply behaves: refusing, insulting, in another language, saying it again, leaving what was asked."""

from collections import Counter
from functools import lru_cache

import regex

from lapsus.annotators.features.cues import look
from lapsus.annotators.features.reply_signs.reply import (
    Reply,
    Seen,
    function_words,
    letters_only,
    pattern,
    prose,
    shortened,
    words,
)

_SHORT, _BRIEF, _WISH = 420, 180, 40
_ABUSE = 260
_SCRIPTS = {
    "kana": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "han": regex.compile(r"\p{Han}"),
    "hangul": regex.compile(r"\p{Hangul}"),
    "latin": regex.compile(r"\p{Latin}"),
    "cyrillic": regex.compile(r"\p{Cyrillic}"),
    "arabic": regex.compile(r"\p{Arabic}"),
    "greek": regex.compile(r"\p{Greek}"),
    "thai": regex.compile(r"\p{Thai}"),
    "devanagari": regex.compile(r"\p{Devanagari}"),
    "hebrew": regex.compile(r"\p{Hebrew}"),
}
_ASCII, _ASCII_LETTERS = regex.compile(r"[\x00-\x7f]+"), regex.compile(r"[A-Za-z]+")
_QUOTES = regex.compile(r"[\"“「『].*?[\"”」』]", regex.S)
_SENTENCE = regex.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_SAME, _LEAST, _REVISED = 0.93, 12, 200


def refuses(reply: Reply) -> Seen | None:
    """Declines in words that fit any request."""
    found = reply.once("refusal", lambda: _refusal(reply))
    return found if found is not None and reply.letters <= _BRIEF and not _specific(reply) else None


def declines(reply: Reply) -> Seen | None:
    """Declines, and says what and why."""
    found = reply.once("refusal", lambda: _refusal(reply))
    return found if found is not None and refuses(reply) is None else None


def _refusal(reply: Reply) -> Seen | None:
    if reply.letters > _SHORT:
        return None
    match = pattern("refuses").search(reply.prose.replace("’", "'")[:300])
    return Seen(match.group().strip()) if match else None


def _specific(reply: Reply) -> bool:
    """Whether a reply takes up what was asked."""
    said, asked = (look(text, reply.unit.language).keywords for text in (reply.text, reply.talk))
    return len(said & asked) > 1


def abuses(reply: Reply) -> Seen | None:
    """Insults the user or sends them away."""
    if reply.letters > _ABUSE:
        return None
    text = _QUOTES.sub(" ", reply.prose).replace("’", "'")
    match = pattern("abuses").search(text)
    if match is None or match.group().casefold() in reply.talk.casefold() or reply.wants("abuse"):
        return None
    return Seen(match.group())


def other_language(reply: Reply) -> Seen | None:
    """In another language than the user's, who did not ask for it."""
    if reply.letters < 15 or not reply.users or reply.prose.strip()[:1] in "{[":
        return None
    said = language_of(reply.prose)
    if said is None:
        return None
    asked = language_of(prose(reply.asked)) or language_of(prose(reply.talk))
    usual = {"en": "english", "ja": "japanese"}.get((reply.unit.language or "")[:2])
    if said == (asked or usual) or asked == usual is None or reply.wants("language"):
        return None
    before = {language_of(prose(shortened(one.text))) for one in reply.own[:3]}
    return None if said in before or "latin" in (said, asked) else Seen(reply.prose.strip()[:80])


@lru_cache(maxsize=1 << 10)
def language_of(text: str) -> str | None:
    """The language of a text by its script and its small words; None where it cannot be told.

    A few words in Latin letters of which no more can be told are `latin`.
    """
    other = _ASCII.sub("", text)
    counts = Counter({name: len(script.findall(other)) for name, script in _SCRIPTS.items()} if other else {})
    counts["latin"] += sum(map(len, _ASCII_LETTERS.findall(text)))
    total = counts.total()
    if total < 8:
        return None
    if counts["kana"] >= max(2, 0.05 * total):
        return "japanese"
    script, many = counts.most_common(1)[0]
    if many < 0.7 * total:
        return None
    if script == "han":
        return "chinese" if len(pattern("chinese").findall(text)) > 1 or total > 30 else None
    return _latin(text) if script == "latin" else script


def _latin(text: str) -> str | None:
    found = Counter(words(text))
    scores = Counter(
        {name: sum(found[word] for word in small & found.keys()) for name, small in function_words().items()}
    )
    best, most = scores.most_common(1)[0]
    if most < 3 or most < 0.12 * found.total():
        return None
    # The languages of a family share many small words; English shares few with others.
    others = scores["english"] if best != "english" else scores.most_common(2)[1][1]
    return best if most >= 2 * others else None


def same_again(reply: Reply) -> Seen | None:
    """What the system said before, to something else that was asked."""
    said = letters_only(reply.text)
    alike = [one for one in reply.own if _repeats(said, letters_only(shortened(one.text)))]
    if not alike or pattern("closing").search(" ".join(reply.text.split())):
        return None
    if pattern("thanks").search(reply.asked) and not _asks(reply):
        return None  # Thanks may be met with the same words every time.
    changed, again = (bool(pattern(name).search(reply.asked)) for name in ("wants.again", "wants.repeat"))
    found = [one for one in alike if _repeats(said, letters_only(shortened(one.text)), changed, again)]
    asked = letters_only(reply.asked)
    if not found or any(letters_only(user.text) == asked for user in reply.users[1:]):
        return None
    return Seen(found[0].text, tuple(one.id for one in reversed(found)))


def _repeats(said: str, earlier: str, changed: bool = False, again: bool = False) -> bool:
    """Whether a text says what another says.

    Where a change was asked for, only word by word; where it was asked for again, only a short one.
    """
    if (
        len(said) < _least(said)
        or len(earlier) < _least(earlier)
        or not 0.75 < len(earlier) / len(said) < 1.34
    ):
        return False
    if said == earlier:
        return not (again and len(said) > _REVISED)
    return not changed and (earlier in said or said in earlier or _alike(said, earlier) >= _SAME)


def asks_again(reply: Reply) -> Seen | None:
    """Asks once more for what it asked for before and the user has just said not to have, and knows no other way."""
    match = pattern("lacks").search(reply.asked.replace("’", "'"))
    if match is None or not reply.own or pattern("otherwise").search(reply.prose):
        return None
    lacked = frozenset(words(match["lacked"]))
    before = [one for one in reply.own[:2] if _demands(one.text, lacked)]
    if not before or not _demands(reply.text, lacked):
        return None
    return Seen(match.group(), (before[0].id, reply.users[0].id))


def _demands(text: str, wanted: frozenset[str]) -> bool:
    """Whether a text asks for something."""
    found = pattern("demands").finditer(prose(shortened(text)).replace("’", "'"))
    return any(wanted <= set(words(match["wanted"])) for match in found)


def _least(text: str) -> int:
    """Letters that a repeated text must have; thanks may come twice."""
    return _LEAST if text.isascii() else _LEAST // 2


def _alike(first: str, second: str) -> float:
    """The share of runs of six letters that two texts have in common."""
    one, other = _runs(first), _runs(second)
    return len(one & other) / len(one | other) if one | other else 0.0


@lru_cache(maxsize=64)
def _runs(text: str) -> frozenset[str]:
    return frozenset(text[place : place + 6] for place in range(len(text) - 5))


def request_left(reply: Reply) -> Seen | None:
    """A question or a request is met with words that fit anything: thanks, a nod, a farewell."""
    if not reply.users or reply.letters > 90 or not _asks(reply):
        return None
    said, asked = (look(text, reply.unit.language) for text in (reply.prose, reply.asked))
    answers = asked.asks == "yes-no" and "request" not in asked.does and {"agree", "deny"} & said.does
    # A wish may be granted in a word, and a greeting returned.
    granted = len(letters_only(reply.asked)) < _WISH and pattern("acknowledges").search(reply.prose.strip())
    if (
        answers
        or granted
        or said.keywords & asked.keywords
        or said.does & asked.does & {"greeting", "farewell"}
    ):
        return None
    text = " ".join(reply.prose.split()).replace("’", "'")
    return Seen(reply.asked, (reply.users[0].id,)) if pattern("closing").search(text) else None


def too_little(reply: Reply) -> Seen | None:
    """A request of some length gets a few words that take up none of its own."""
    if not reply.users or reply.letters > 70 or "```" in reply.text or not _asks(reply):
        return None
    said, asked = (look(text, reply.unit.language).keywords for text in (reply.text, reply.asked))
    if len(asked) < 4 or said & asked or any(sign.isdigit() for sign in reply.text):
        return None
    seen = look(reply.text, reply.unit.language)
    return None if seen.asks else Seen(reply.asked, (reply.users[0].id,))


def _asks(reply: Reply) -> bool:
    """Whether the user's last message wants something back."""
    last = [piece for piece in _SENTENCE.findall(reply.asked) if piece.strip()]
    pieces = [*last[:2], *last[-3:]]
    seen = [look(piece.strip(), reply.unit.language) for piece in pieces]
    return any(one.asks or "request" in one.does or "お願い" in one.plain for one in seen)
