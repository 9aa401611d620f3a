"""Who speaks in a chat, by the names that chat programs, trainers and help desks give them."""

import difflib
import re
import shlex
from collections.abc import Mapping

from lapsus.errors import InvalidError
from lapsus.model import Role
from lapsus.notices import Notice

ROLES: dict[str, Role] = {
    **dict.fromkeys(
        ("assistant", "gpt", "chatgpt", "bot", "chatbot", "model", "ai", "agent", "llm"), "system"
    ),
    **dict.fromkeys(("aimessage", "aimessagechunk", "helpdesk", "アシスタント", "ボット"), "system"),
    **dict.fromkeys(("チャットボット", "システム", "エージェント", "オペレーター", "オペレータ"), "system"),
    **dict.fromkeys(("user", "human", "customer", "humanmessage", "humanmessagechunk"), "user"),
    **dict.fromkeys(("client", "visitor", "ユーザー", "ユーザ", "お客様", "顧客", "利用者"), "user"),
    **dict.fromkeys(("system", "developer", "prompt", "instructions", "systemmessage"), "prompt"),
    **dict.fromkeys(("tool", "function", "function_call", "observation", "ipython"), "tool"),
    **dict.fromkeys(("toolmessage", "functionmessage"), "tool"),
    **dict.fromkeys(("passage", "document", "context", "knowledge"), "passage"),
}
"""Who speaks, by any of the usual names in lower case. What chat programs call `system` are instructions."""
_USUAL_NAMES = ("assistant", "bot", "agent", "user", "customer", "tool")
_NEAR = 0.7
"""How alike a name and a known one must be, for the known one to be named."""
_NO_WORD, _LONGEST_NAME = re.compile(r"[\W_\d]+"), 30


def role_of(name: str, names: Mapping[str, Role] = ROLES) -> Role:
    """Who speaks, by any of the usual names."""
    if (role := known_role(name, names)) is None:
        near = difflib.get_close_matches(name.strip().lower(), names, cutoff=_NEAR) or _USUAL_NAMES
        hint = Notice("known-system-user-name", names=", ".join(near), role=shell_word(name))
        raise InvalidError("unknown-role", hint=hint, role=name)
    return role


def known_role(name: str, names: Mapping[str, Role] = ROLES) -> Role | None:
    """The same, None where it is not known; `End user` and `AUTOMATED_AGENT` are known by one of their words."""
    plain = name.strip().lower()
    if plain in names or len(plain) > _LONGEST_NAME:
        return names.get(plain)
    sides = {names[word] for word in _NO_WORD.split(plain) if word in names}
    return sides.pop() if len(sides) == 1 and sides <= {"system", "user"} else None


def shell_word(words: str) -> str:
    """As a shell takes it: in quotes, but for what can stand bare, letters of any script among it."""
    return shlex.quote(words) if re.search(r"[^\w@%+=:,./-]", words) else words
