"""Rules on what a user should not see: errors, raw data, instructions, tokens, templates that were not filled in."""

import json

import regex

from lapsus.annotators.features.reply_signs.reply import Reply, Seen, letters_only, pattern

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
    subject = pattern("wants.code").search(reply.talk) or (
        reply.letters > 60 and any(pattern("errors").search(one.text[:400]) for one in reply.sources[-3:])
    )
    if subject and ("```" in bare or found.start() > 0 or reply.letters > _SHORT / 2):
        return None
    return Seen(found.group().strip())


def raw_data(reply: Reply) -> Seen | None:
    """Data as programs exchange them, a call of a tool, or a page's source."""
    text = reply.turn.text.strip()
    if "```" in text or pattern("wants.code").search(reply.talk):
        return None
    if text[:1] and text[:1] in "{[" and text[-1:] in "}]" and len(_KEY.findall(text)) > (not _parses(text)):
        return Seen(text[:80])
    match = pattern("calls").search(reply.prose)
    return Seen(match.group().strip()) if match else None


def special_token(reply: Reply) -> Seen | None:
    """Tokens by which a model's input is put together."""
    found = reply.says(pattern("tokens-exact"))
    return None if found is None or found.quote in reply.talk else found


def placeholder(reply: Reply) -> Seen | None:
    """A place in a template that was not filled in."""
    wanted = any(pattern(f"wants.{sort}").search(reply.talk) for sort in ("template", "code", "dialogue"))
    found = None if wanted and reply.letters > _NOTE else reply.says(pattern("placeholders-exact"))
    return None if found is None or found.quote.casefold() in reply.talk.casefold() else found


def prompt_leak(reply: Reply) -> Seen | None:
    """Instructions to the system: as such, or in the words of those that it was given."""
    for one in reply.prompts:
        if (found := _shared(reply.turn.text, one.text)) is not None:
            return Seen(found, (one.id,))
    if pattern("wants.prompt").search(reply.talk):
        return None
    return reply.says(pattern("prompt-heads"))


def speaks_for_user(reply: Reply) -> Seen | None:
    """Goes on with what the user would say."""
    return None if pattern("wants.dialogue").search(reply.talk) else reply.says(pattern("roles"))


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
