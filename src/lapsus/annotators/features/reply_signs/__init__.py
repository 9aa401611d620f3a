"""Signs that can be checked: what is plainly wrong with a reply, seen by rule, in every language."""

from collections.abc import Callable

from lapsus.annotators.features.reply_signs.form import (
    breaks_off,
    broken_encoding,
    empty,
    error_text,
    loops,
    no_end,
    placeholder,
    prompt_leak,
    raw_data,
    speaks_for_user,
    special_token,
    stopped,
)
from lapsus.annotators.features.reply_signs.manner import (
    abuses,
    asks_again,
    declines,
    other_language,
    refuses,
    request_left,
    same_again,
    too_little,
)
from lapsus.annotators.features.reply_signs.reply import Reply, Seen
from lapsus.annotators.features.reply_signs.sources import against_source, differs_from_source

RULES: dict[str, Callable[[Reply], Seen | None]] = {
    rule.__name__.replace("_", "-"): rule
    for rule in (
        empty, stopped, breaks_off, no_end, loops, broken_encoding, error_text, raw_data, special_token,
        placeholder, prompt_leak, speaks_for_user, refuses, declines, abuses, other_language, same_again,
        asks_again, request_left, too_little, against_source, differs_from_source,
    )
}  # fmt: skip
"""Every rule by its name."""

__all__ = ["RULES", "Reply", "Seen"]
