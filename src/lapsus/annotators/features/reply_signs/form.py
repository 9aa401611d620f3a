"""Rules on a reply as such: nothing in it, cut off, going round in circles, letters that got lost.

And on what a user should not see: errors, raw data, instructions, tokens, templates that were not filled in.
"""

import json

import regex

from lapsus.annotators.features.reply_signs.reply import Reply, Seen, letters_only, pattern, visible

_STOPPED = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "incomplete", "MAX_TOKENS"}
)
_SIGN = regex.compile(r"[\p{L}\p{N}\p{Extended_Pictographic}]")
_MARKUP = regex.compile(r"</?(?:br|p|div|span|b|i)\s*/?>|&nbsp;|&#160;", regex.I)
_LOST = regex.compile(r"\ufffd|[\x80-\x9f]|\p{Co}")
_LATIN = regex.compile(
    r"[\u00a0-\u00ff\u0152-\u0178\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122\x80-\x9f]{2,}"
)
_SHIFTED = regex.compile(r"[\p{Han}\uff61-\uff9f]{0,12}[縺繧繝譁隧蜈髢莠蜿][\p{Han}\uff61-\uff9f]{1,12}")
_ESCAPED = regex.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]{2,6};")
_ESCAPED_TOO = regex.compile(r"&(?:amp|quot|nbsp|lt|gt|apos);|\\[nt](?![a-zA-Z])|\\n(?=[A-Z])|\\\"")
_QUESTIONS = regex.compile(r"\?{6,}|(?:\?{2,}[^?]{0,3}){4,}")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_NO_WORD = regex.compile(r"[#@]\w+$|[^\p{L}]$")
_TABLE = regex.compile(r"^[\s|:=+*_.\-–—\d]*$")
_PAIRS = (("(", ")"), ("（", "）"), ("「", "」"), ("『", "』"), ("[", "]"), ("“", "”"))
_CHAT = 120
"""Characters of a turn of a chat, where some never write a full stop."""
_SENTENCES = 3
"""How often a whole sentence comes in a row until it is a loop."""
_TAIL, _PERIOD, _ROUNDS = 420, 100, 4


def empty(reply: Reply) -> Seen | None:
    """No letter, digit or picture in it, tags and spaces of HTML left out."""
    text = reply.turn.text
    return None if _SIGN.search(visible(_MARKUP.sub("", text[:_CHAT]) + text[_CHAT:])) else Seen(text.strip())


def stopped(reply: Reply) -> Seen | None:
    """Whoever made the log says that the reply ran into the limit of its length."""
    told = reply.turn.metadata.get("finish_reason") or reply.turn.metadata.get("stop_reason")
    return Seen(_end(reply.turn.text)) if str(told) in _STOPPED else None


def breaks_off(reply: Reply) -> Seen | None:
    """Ends where no sentence can end: on a comma, an article, a particle, in an open bracket or block of code."""
    text = reply.text.rstrip()
    if text.count("```") % 2:
        return Seen(_end(text))
    last = _last_line(text)
    if not last or len(text) < (12 if _KANA.search(text) else 30):
        return None
    bare = last.rstrip("*_ ")
    if pattern("endings.closed").search(bare) and not bare.endswith((";", "*", "_", "$")):
        return None
    opened = any(bare.count(a) > bare.count(b) for a, b in _PAIRS)
    no_item = not pattern("endings.item").search(last) or len(last) > 40
    if (opened and no_item) or (pattern("endings.open").search(bare) and _has_sentences(text)):
        return Seen(_end(text))
    return None


def no_end(reply: Reply) -> Seen | None:
    """The last sentence has no end, though it is one, or those before it have one."""
    text = reply.text.rstrip()
    last = _last_line(text)
    bare = last.rstrip("*_ ")
    if not last or _TABLE.search(last) or last.startswith(("|", "#", "http", "<")) or "$" in last[-40:]:
        return None
    if pattern("endings.closed").search(bare) or _NO_WORD.search(bare):
        return None
    usual = any(not pattern("endings.closed").search(one.text.rstrip()[-4:]) for one in reply.own[:4])
    return Seen(_end(text)) if _unended(text, last, usual) else None


def _unended(text: str, last: str, usual: bool) -> bool:
    if pattern("endings.item").search(last):
        # Items of a list may go without, unless the others have one or the item holds sentences.
        others = [line for line in text.splitlines()[:-1] if pattern("endings.item").search(line)]
        ended = sum(bool(pattern("endings.closed").search(line.rstrip("*_ "))) for line in others)
        holds = pattern("endings.sentence" if not _KANA.search(last) else "endings.particle").search(
            last[4:-1]
        )
        return bool(holds) or (bool(others) and ended == len(others))
    if "\n" not in text and not _has_sentences(text):
        # A single sentence; a name or a few words of an answer are none.
        return bool(pattern("endings.clause").search(last)) and not usual
    if usual and len(text) < _CHAT:
        return False
    enough = 6 if _KANA.search(last) else 12
    return (
        _has_sentences(text)
        and len(letters_only(last)) > enough
        and (bool(pattern("endings.sentence").search(last[:-1])) or not _verse(text))
    )


def _verse(text: str) -> bool:
    """Whether most lines go without an end, as in poems and lists without marks."""
    lines = [line for line in text.splitlines() if line.strip()]
    open_ones = sum(not pattern("endings.closed").search(line.rstrip("*_ ")) for line in lines[:-1])
    return open_ones > 1 and open_ones >= 0.5 * (len(lines) - 1)


def loops(reply: Reply) -> Seen | None:
    """The same words over and over, at the end or in lines that follow each other."""
    tail = " ".join(reply.prose.split())[-_TAIL:]
    for period in range(2, min(_PERIOD, len(tail) // _ROUNDS) + 1):
        span = max(_ROUNDS * period, 40)
        if len(tail) >= span and tail[-span + period :] == tail[-span:-period]:
            unit = tail[-period:]
            if len({sign for sign in unit if sign.isalpha()}) > 1:
                return Seen(unit.strip())
    run, last = 1, ""
    for piece in regex.split(r"\n+|(?<=[.!?。！？])\s*", reply.prose):
        piece = piece.strip()
        run = run + 1 if piece and piece == last else 1
        last = piece or last
        if run >= _SENTENCES and len(letters_only(piece)) >= (6 if run >= _ROUNDS else 12):
            return Seen(piece)
    return None


_FOREIGN = regex.compile(r"[\x80-\u2fff\uf8ff\ufb01\ufb02]{2,}")
_PAGES = ("cp437", "cp850", "mac_roman", "cp1251", "cp1250")
"""Code pages of terminals and other countries in which text is misread now and then. _FOREIGN has all their signs."""
_MISREAD = ((_LATIN, ("cp1252", "latin-1")), (_SHIFTED, ("cp932",)), (_FOREIGN, _PAGES))
_PERCENT = regex.compile(r"(?:%[0-9A-Fa-f]{2}){6,}")


def broken_encoding(reply: Reply) -> Seen | None:
    """Letters that were read in a wrong encoding, escaped twice or lost."""
    text, plain = reply.text, reply.prose
    if match := _LOST.search(text):
        return Seen(_around(text, match.start()))
    for run, encodings in _MISREAD:
        for match in run.finditer("" if text.isascii() else text):
            if any(_misread(match.group(), encoding) for encoding in encodings):
                return Seen(_around(text, match.start()))
    if match := _PERCENT.search(plain):
        return Seen(_around(plain, match.start()))
    escaped = list(_ESCAPED.finditer(plain))
    several = len(_ESCAPED_TOO.findall(plain)) > 1
    if (escaped or several) and (len(escaped) > 8 or not reply.wants("code")):
        return Seen(_around(plain, escaped[0].start() if escaped else 0))
    return Seen(match.group()) if (match := _QUESTIONS.search(plain)) else None


def _misread(run: str, encoding: str) -> bool:
    """Whether signs are bytes of UTF-8 that were read in another encoding."""
    for cut in (0, 1, 2):
        for skip in (0, 1, 2):
            part = run[skip : len(run) - cut]
            try:
                if len(part) > 1 and len(part.encode(encoding).decode()) < len(part):
                    return True
            except UnicodeError:
                continue
    return False


def _has_sentences(text: str) -> bool:
    return bool(pattern("endings.sentence").search(text[:-1]))


def _last_line(text: str) -> str:
    return text.rstrip().rsplit("\n", 1)[-1].strip()


def _end(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"…{text[-60:]}"


def _around(text: str, place: int) -> str:
    return " ".join(text[max(0, place - 20) : place + 40].split())


_SHORT = 500
"""Letters up to which a reply is about one thing."""
_NOTE = 150
"""Letters from which a reply may be the letter or the form that was asked for."""
_QUOTED = 120
"""Letters of the instructions that may stand in a reply by chance, or by a policy's own words."""
_KEY = regex.compile(r"[\"'][\w .-]+[\"']\s*:")
_NOTHING = frozenset(
    {"none", "null", "nan", "undefined", "nil", "n/a", "[]", "{}", "true", "false", "error", "エラー"}
)


def error_text(reply: Reply) -> Seen | None:
    """An error message, a stack trace or a page of one."""
    bare = reply.turn.text.strip()
    if bare.casefold() in _NOTHING:
        return Seen(bare)
    if reply.letters > _SHORT:
        return None
    text = reply.prose.strip()
    found = pattern("errors").search(text) or pattern("page").search(text)
    if found is None:
        return None
    # Where programs are talked about, errors are a subject; and tools report errors that a reply passes on.
    subject = reply.wants("code") or (
        reply.letters > 60 and any(pattern("errors").search(one.text[:400]) for one in reply.sources[-3:])
    )
    if subject and ("```" in bare or found.start() > 0 or reply.letters > _SHORT / 2):
        return None
    return Seen(found.group().strip())


def raw_data(reply: Reply) -> Seen | None:
    """Data as programs exchange them, a call of a tool, or a page's source."""
    text = reply.turn.text.strip()
    if "```" in text:
        return None
    found = reply.says("calls")
    if text[:1] and text[:1] in "{[" and text[-1:] in "}]" and len(_KEY.findall(text)) > (not _parses(text)):
        found = Seen(text[:80])
    return None if found is None or reply.wants("code") else found


def special_token(reply: Reply) -> Seen | None:
    """Tokens by which a model's input is put together."""
    found = reply.says("tokens-exact")
    return None if found is None or found.quote in reply.talk else found


def placeholder(reply: Reply) -> Seen | None:
    """A place in a template that was not filled in."""
    found = reply.says("placeholders-exact")
    if found is None or found.quote.casefold() in reply.talk.casefold():
        return None
    wanted = reply.letters > _NOTE and any(map(reply.wants, ("template", "code", "dialogue")))
    return None if wanted else found


def prompt_leak(reply: Reply) -> Seen | None:
    """Instructions to the system: as such, or in the words of those that it was given."""
    for one in reply.prompts:
        if (found := _shared(reply.turn.text, one.text)) is not None:
            return Seen(found, (one.id,))
    heads = reply.says("prompt-heads")
    return None if heads is None or reply.wants("prompt") else heads


def speaks_for_user(reply: Reply) -> Seen | None:
    """Goes on with what the user would say."""
    found = reply.says("roles")
    return None if found is None or reply.wants("dialogue") else found


def _parses(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _shared(text: str, prompt: str) -> str | None:
    """A long piece of the prompt that stands in the text as it is."""
    said, told = letters_only(text), letters_only(prompt)
    window = _QUOTED * 3 // 4
    for place in range(0, len(said) - window + 1, _QUOTED - window):
        if said[place : place + window] in told:
            return " ".join(text.split())[:80]
    return None
