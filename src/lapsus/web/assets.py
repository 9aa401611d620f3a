"""Our own scripts, styles and pictures, under addresses that change with their content."""

import hashlib
import mimetypes
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

import regex

from lapsus.reports.charts import style
from lapsus.web.addresses import at

_TYPES = {".js": "text/javascript", ".woff2": "font/woff2", ".svg": "image/svg+xml"}


_DARK = regex.compile(r"@media \(prefers-color-scheme: dark\) \{\s*:root \{([^}]*)\}\s*\}")
THEMES = ("light", "dark")
_COMMENT = regex.compile(
    r"^[ \t]*(?:/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)[ \t]*$"  # on lines of its own
    r"|/\*\* @type \{(?:[^*]|\*(?!/))*\*/ ?",  # a type within a line, which no text begins like
    regex.MULTILINE,
)


class Asset(NamedTuple):
    """A file as it is sent."""

    content: bytes
    media_type: str
    digest: str


class Assets:
    """Static files, read once. The one digest over all is in each address: scripts import each other by name."""

    def __init__(self, folder: Traversable | None = None) -> None:
        self._files = dict(_read(folder or files("lapsus.web") / "static", ""))
        self._files["css/chart.css"] = _asset("chart.css", style().encode())
        whole = hashlib.sha256()
        for name, asset in sorted(self._files.items()):
            whole.update(f"{name}\0{asset.digest}\0".encode())
        self.digest = whole.hexdigest()[:12]

    def url(self, name: str) -> str:
        """The address of a file."""
        return at(f"/static/{self.digest}/{name}")

    def get(self, name: str) -> Asset | None:
        """The file of that name. Names are looked up, never joined to a path."""
        return self._files.get(name)


@cache
def own_assets() -> Assets:
    """Our own static files: the same for every application in a process."""
    return Assets()


def _read(folder: Traversable, prefix: str) -> Mapping[str, Asset]:
    found: dict[str, Asset] = {}
    if not folder.is_dir():
        return found
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found.update(_read(entry, f"{name}/"))
        elif not entry.name.startswith("."):
            found[name] = _asset(entry.name, entry.read_bytes())
    return found


def by_choice(styles: str) -> str:
    """Styles whose dark colours follow `data-theme` of the page, and the system where that says nothing."""
    return _DARK.sub(
        r"@media (prefers-color-scheme: dark) { :root:not([data-theme]) {\1} } "
        r":root[data-theme=dark] { color-scheme: dark; \1}",
        styles,
    )


def without_comments(source: str) -> str:
    """A file as it goes over the wire: what was said to people only is left out, and every line keeps its number."""
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), source)


def _asset(name: str, content: bytes) -> Asset:
    if name.endswith(".css"):
        content = without_comments(by_choice(content.decode())).encode()
    elif name.endswith(".js"):
        content = without_comments(content.decode()).encode()
    return Asset(content, _media_type(name), hashlib.sha256(content).hexdigest())


def _media_type(name: str) -> str:
    suffix = f".{name.rpartition('.')[2]}"
    return _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
