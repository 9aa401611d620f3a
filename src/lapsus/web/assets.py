"""Our own scripts, styles and pictures, under addresses that change with their content."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

_TYPES = {".js": "text/javascript", ".woff2": "font/woff2", ".svg": "image/svg+xml"}


class Asset(NamedTuple):
    """A file as it is sent."""

    content: bytes
    media_type: str
    digest: str


class Assets:
    """Static files, read once. The one digest over all is in each address: scripts import each other by name."""

    def __init__(self, folder: Traversable | None = None) -> None:
        self._files = dict(_read(folder or files("lapsus.web") / "static", ""))
        whole = hashlib.sha256()
        for name, asset in sorted(self._files.items()):
            whole.update(f"{name}\0{asset.digest}\0".encode())
        self.digest = whole.hexdigest()[:12]

    def url(self, name: str) -> str:
        """The address of a file."""
        return f"/static/{self.digest}/{name}"

    def get(self, name: str) -> Asset | None:
        """The file of that name. Names are looked up, never joined to a path."""
        return self._files.get(name)


def _read(folder: Traversable, prefix: str) -> Mapping[str, Asset]:
    found: dict[str, Asset] = {}
    if not folder.is_dir():
        return found
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found.update(_read(entry, f"{name}/"))
        elif not entry.name.startswith("."):
            content = entry.read_bytes()
            found[name] = Asset(content, _media_type(entry.name), hashlib.sha256(content).hexdigest())
    return found


def _media_type(name: str) -> str:
    suffix = f".{name.rpartition('.')[2]}"
    return _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
