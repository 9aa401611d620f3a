"""Markdown as users saw it, as ranges over the raw text: nothing is taken out of it, so that offsets stay as they are.

A layout is a list of ranges, each inside the one before it or after it. Pages make elements of them and put the text
in between as text; what only marks a text up (`**`, the address of a link) stands in ranges called `hidden`. HTML in
a text is text. Addresses lead to the web or to mail, and pictures are shown as links: nothing is fetched.
"""

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

import regex
from markupsafe import Markup, escape

Range: TypeAlias = tuple[int, int, str, str]
"""Start and end in code points, what it is, and for a link its address."""
Line: TypeAlias = tuple[int, int]

LONGEST: Final = 100_000
"""Characters of a text that is laid out."""
_DEEPEST: Final = 8
_MOST_OPEN: Final = 50
_KEPT: Final = 4_000
"""Characters up to which a text's layout is remembered: one has as many ranges as the text has signs."""
_FENCE: Final = regex.compile(r" {0,3}(`{3,}|~{3,})[^`]*")
_HEADING: Final = regex.compile(r" {0,3}(#{1,6})[ \t]+")
_QUOTE: Final = regex.compile(r" {0,3}> ?")
_ITEM: Final = regex.compile(r"( {0,20})([-*+]|[0-9]{1,9}[.)])[ \t]+(?=\S)")
_LINK: Final = regex.compile(r'\]\(<?([^\s()<>]{1,2000})>?(?: {1,9}"[^"\n]{0,200}")?\)')
_ADDRESS: Final = regex.compile(
    r"https?://[^\s<>\"'`|\p{Han}\p{Hiragana}\p{Katakana}。、「」（）]{1,2000}", regex.I
)
_SAFE: Final = regex.compile(r"(https?://|mailto:)\S+", regex.I)
_SIGN: Final = regex.compile(r"`+|\*+|_+|~~|!?\[|\]|\\[!-/:-@\[-`{-~]|https?://", regex.I)
_EMPHASIS: Final = {("*", 1): "em", ("_", 1): "em", ("*", 2): "strong", ("_", 2): "strong", ("~", 2): "del"}
_ELEMENTS: Final = {"em": "em", "strong": "strong", "del": "del", "code": "code"}
_ROLES: Final = {
    "list": "list",
    "item": "listitem",
    "number": "listitem",
    "table": "table",
    "row": "row",
    "cell": "cell",
    "head": "columnheader",
}


def layout(text: str) -> tuple[Range, ...]:
    """What a text looks like; one that is too long is shown as it is."""
    if len(text) > LONGEST:
        return ()
    return _layout_kept(text) if len(text) <= _KEPT else _layout(text)


@lru_cache(maxsize=1024)
def _layout_kept(text: str) -> tuple[Range, ...]:
    return _layout(text)


def _layout(text: str) -> tuple[Range, ...]:
    reader, lines, start = _Reader(text), [], 0
    for line in text.split("\n"):
        lines.append((start, start + len(line)))
        start += len(line) + 1
    reader.blocks(lines, 0)
    ordered = sorted(enumerate(reader.found), key=lambda one: (one[1][0], -one[1][1], one[0]))
    return tuple(one for _, one in ordered)


def as_html(text: str, ranges: Sequence[Range]) -> Markup:
    """A text with its layout, for pages; all of the text is in it, escaped."""
    made: list[str] = []
    ends: list[tuple[int, str]] = []
    at = 0

    def close(until: int) -> None:
        nonlocal at
        while ends and ends[-1][0] <= until:
            end, tag = ends.pop()
            made.append(f"{escape(text[at:end])}</{tag}>")
            at = end

    for start, end, name, more in ranges:
        close(start)
        made.append(str(escape(text[at:start])))
        at = start
        tag, opening = _opening(name, more)
        made.append(opening)
        ends.append((end, tag))
    close(len(text))
    made.append(str(escape(text[at:])))
    return Markup("".join(made))  # noqa: S704  every piece is escaped above


def _opening(name: str, more: str) -> tuple[str, str]:
    if name == "link":
        address = escape(more)
        return "a", f'<a class="md-link" href="{address}" target="_blank" rel="noopener noreferrer nofollow">'
    tag = _ELEMENTS.get(name, "span")
    # A heading in somebody's text is none of the page.
    role = f' role="{_ROLES[name]}"' if name in _ROLES else ""
    return tag, f'<{tag} class="md-{name}"{role}>'


class _Open(NamedTuple):
    """The beginning of something that may find its end."""

    sign: str
    start: int
    end: int


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Range] = []

    def add(self, start: int, end: int, name: str, more: str = "") -> None:
        if start < end:
            self.found.append((start, end, name, more))

    def blocks(self, lines: Sequence[Line], depth: int) -> None:
        """Blocks, one under the other; what stands between two is hidden."""
        at, shown = 0, lines[0][0]
        while at < len(lines):
            start, end = lines[at]
            if not self.text[start:end].strip():
                at += 1
                continue
            self.add(shown, start, "hidden")
            at = self._block(lines, at, depth)
            shown = lines[at - 1][1]
        self.add(shown, lines[-1][1], "hidden")

    def _block(self, lines: Sequence[Line], at: int, depth: int) -> int:
        """One block; the line after it."""
        start, end = lines[at]
        if fence := _FENCE.fullmatch(self.text, start, end):
            return self._fenced(lines, at, fence.group(1))
        if heading := _HEADING.match(self.text, start, end):
            self.add(start, end, "heading")
            self.add(start, heading.end(), "hidden")
            self.inline(heading.end(), end)
            return at + 1
        if self._is_rule(start, end):
            self.add(start, end, "rule")
            self.add(start, end, "hidden")
            return at + 1
        if self._is_table(lines, at):
            return self._table(lines, at)
        if depth < _DEEPEST and _QUOTE.match(self.text, start, end):
            return self._quote(lines, at, depth)
        if depth < _DEEPEST and _ITEM.match(self.text, start, end):
            return self._list(lines, at, depth)
        return self._paragraph(lines, at, depth)

    def _fenced(self, lines: Sequence[Line], at: int, fence: str) -> int:
        start, first_end = lines[at]
        last = at + 1
        while last < len(lines) and not self._closes(lines[last], fence):
            last += 1
        end = lines[min(last, len(lines) - 1)][1]
        self.add(start, end, "block")
        body = lines[at + 1][0] if at + 1 < len(lines) else first_end
        self.add(start, body, "hidden")
        for before, after in zip(lines[at + 1 : last], lines[at + 2 : last], strict=False):
            self.add(before[1] + 1, after[0], "hidden")
        if last < len(lines):
            self.add(lines[last - 1][1] if last > at + 1 else body, end, "hidden")
        return min(last + 1, len(lines))

    def _closes(self, line: Line, fence: str) -> bool:
        said = self.text[line[0] : line[1]].strip()
        return len(said) >= len(fence) and not said.strip(fence[0])

    def _is_rule(self, start: int, end: int) -> bool:
        said = self.text[start:end].replace(" ", "")
        return len(said) > 2 and said[0] in "-*_" and not said.strip(said[0])

    def _is_table(self, lines: Sequence[Line], at: int) -> bool:
        if at + 1 >= len(lines) or "|" not in self.text[slice(*lines[at])]:
            return False
        cells = self.text[slice(*lines[at + 1])].strip().strip("|").split("|")
        return all((one := cell.strip()) and not one.strip(":-") and "-" in one for cell in cells)

    def _table(self, lines: Sequence[Line], at: int) -> int:
        last = at + 2
        while last < len(lines) and "|" in self.text[slice(*lines[last])]:
            last += 1
        self.add(lines[at][0], lines[last - 1][1], "table")
        self.add(lines[at][1], lines[at + 1][1], "hidden")
        for row in (at, *range(at + 2, last)):
            self.add(lines[row - 1][1], lines[row][0], "hidden") if row > at else None
            self._row(lines[row][0], lines[row][1], "head" if row == at else "cell")
        return last

    def _row(self, start: int, end: int, name: str) -> None:
        self.add(start, end, "row")
        shown = start
        for cell in regex.finditer(r"(?:[^|\\\n]|\\.)+", self.text, pos=start, endpos=end):
            said = cell.group()
            if not said.strip() and (cell.start() == start or cell.end() == end):
                continue
            left = cell.start() + len(said) - len(said.lstrip())
            right = max(left, cell.end() - len(said) + len(said.rstrip()))
            self.add(shown, left, "hidden")
            self.add(left, right, name)
            self.inline(left, right)
            shown = right
        self.add(shown, end, "hidden")

    def _quote(self, lines: Sequence[Line], at: int, depth: int) -> int:
        inner, last = [], at
        while last < len(lines) and (sign := _QUOTE.match(self.text, *lines[last])):
            inner.append((sign.end(), lines[last][1]))
            last += 1
        self.add(lines[at][0], lines[last - 1][1], "quote")
        self.add(lines[at][0], inner[0][0], "hidden")
        self.blocks(inner, depth + 1)
        return last

    def _list(self, lines: Sequence[Line], at: int, depth: int) -> int:
        items: list[list[Line]] = []
        heads: list[tuple[int, int, str]] = []
        here, indent = at, 0
        while here < len(lines):
            start, end = lines[here]
            said = self.text[start:end]
            sign, space = _ITEM.match(self.text, start, end), len(said) - len(said.lstrip(" "))
            if sign and (not items or space < indent + 2):
                indent, is_bullet = space, sign.group(2) in "-*+"
                shown = sign.end() if is_bullet else start + space
                heads.append((start, shown, "item" if is_bullet else "number"))
                items.append([(shown, end)])
            elif items and said.strip() and space >= indent + 2:
                items[-1].append((start + min(space, indent + 4), end))
            elif not said.strip() and self._goes_on(lines, here, indent):
                items[-1].append((end, end))
            else:
                break
            here += 1
        self.add(heads[0][0], items[-1][-1][1], "list")
        last = heads[0][0]
        for item, (start, shown, name) in zip(items, heads, strict=True):
            self.add(last, start, "hidden")
            last = item[-1][1]
            self.add(start, last, name)
            self.add(start, shown, "hidden")
            if name == "number":
                # The number stays, as it was written.
                first = item.pop(0)
                self.inline(*first)
                self.add(first[1], item[0][0], "hidden") if item else None
            if item:
                self.blocks(item, depth + 1)
        return here

    def _goes_on(self, lines: Sequence[Line], at: int, indent: int) -> bool:
        following = next((line for line in lines[at + 1 : at + 3] if self.text[slice(*line)].strip()), None)
        if following is None:
            return False
        said = self.text[slice(*following)]
        return len(said) - len(said.lstrip(" ")) >= indent + 2 or _ITEM.match(said) is not None

    def _paragraph(self, lines: Sequence[Line], at: int, depth: int) -> int:
        last = at + 1
        while last < len(lines) and not self._begins(lines, last, depth):
            last += 1
        self.add(lines[at][0], lines[last - 1][1], "p")
        for place in range(at, last):
            if place > at:
                self.add(lines[place - 1][1] + 1, lines[place][0], "hidden")
            self.inline(*lines[place])
        return last

    def _begins(self, lines: Sequence[Line], at: int, depth: int) -> bool:
        """Whether a line ends the paragraph before it."""
        start, end = lines[at]
        if not self.text[start:end].strip() or self._is_rule(start, end) or self._is_table(lines, at):
            return True
        signs = [_FENCE, _HEADING, *([_QUOTE, _ITEM] if depth < _DEEPEST else [])]
        return any(sign.match(self.text, start, end) for sign in signs)

    def inline(self, start: int, end: int) -> None:
        """What is marked up within a line."""
        ticks: dict[int, deque[int]] = {}
        for run in regex.finditer("`+", self.text, pos=start, endpos=end):
            ticks.setdefault(len(run.group()), deque()).append(run.start())
        opened: list[_Open] = []
        at = start
        while sign := _SIGN.search(self.text, at, end):
            said, here, at = sign.group(), sign.start(), sign.end()
            if said[0] == "`":
                at = self._code(here, at, ticks[len(said)])
            elif said[0] == "\\":
                self.add(here, here + 1, "hidden")
            elif said[-1] == "[":
                _push(opened, _Open("[", here, at))
            elif said == "]":
                at = self._link(opened, here, end)
            elif said[0].lower() == "h":
                at = self._address(opened, here, end)
            else:
                self._emphasis(opened, said, here, at, start, end)

    def _code(self, here: int, after: int, same: deque[int]) -> int:
        while same and same[0] < after:
            same.popleft()
        if not same:
            return after
        close, size = same.popleft(), after - here
        self.add(here, close + size, "code")
        self.add(here, after, "hidden")
        self.add(close, close + size, "hidden")
        return close + size

    def _link(self, opened: list[_Open], here: int, end: int) -> int:
        place = next((n for n in range(len(opened) - 1, -1, -1) if opened[n].sign == "["), None)
        if place is None:
            return here + 1
        begun = opened[place]
        del opened[place:]
        link = _LINK.match(self.text, here, end)
        if link is None or not _SAFE.fullmatch(link.group(1)) or begun.end == here:
            return here + 1
        # No link stands in a link.
        within = len(self.found)
        while within and self.found[within - 1][0] >= begun.start:
            within -= 1
        self.found[within:] = [one for one in self.found[within:] if one[2] != "link"]
        opened[:] = [one for one in opened if one.sign != "["]
        self.add(begun.start, link.end(), "link", link.group(1))
        self.add(begun.start, begun.end, "hidden")
        self.add(here, link.end(), "hidden")
        return link.end()

    def _address(self, opened: list[_Open], here: int, end: int) -> int:
        found = _ADDRESS.match(self.text, here, end)
        if found is None:
            return here + 1
        said = found.group().rstrip(".,;:!?*_~]")
        while said.endswith(")") and said.count("(") < said.count(")"):
            said = said[:-1]
        if "](" in said:
            said = said[: said.index("](")]
        if len(said) > len("https://"):
            self.add(here, here + len(said), "link", said)
        return here + len(said)

    def _emphasis(self, opened: list[_Open], said: str, here: int, after: int, start: int, end: int) -> None:
        before = self.text[here - 1] if here > start else " "
        behind = self.text[after] if after < end else " "
        if len(said) not in _SIZES:
            return
        if said[0] == "_" and before.isalnum() and behind.isalnum():
            return
        place = next((n for n in range(len(opened) - 1, -1, -1) if opened[n].sign == said), None)
        if place is not None and not before.isspace():
            begun = opened[place]
            del opened[place:]
            for size in _SIZES[len(said)]:
                self.add(begun.start, after, _EMPHASIS[said[0], size])
            self.add(begun.start, begun.end, "hidden")
            self.add(here, after, "hidden")
        elif not behind.isspace():
            _push(opened, _Open(said, here, after))


def _push(opened: list[_Open], one: _Open) -> None:
    """What is open too long is forgotten, so that reading takes no longer than its length."""
    opened.append(one)
    if len(opened) > _MOST_OPEN:
        del opened[0]


_SIZES: Final = {1: (1,), 2: (2,), 3: (2, 1)}
"""How long a run of signs is, and what it stands for: three are two and one."""
