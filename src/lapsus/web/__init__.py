"""The workbench: people judge in the browser, programs over an interface in JSON."""

from lapsus.web.app import create_app
from lapsus.web.server import serve

__all__ = ["create_app", "serve"]
