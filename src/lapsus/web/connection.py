"""Limits of connections: size and time of a request's head, and how many requests may wait.

Uvicorn reads a head of any length for as long as it takes, and keeps every request that comes while another is being
answered: one connection could fill the memory, and some hundred half-sent requests would stay for ever.
"""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD: Final = 64_000
"""Bytes of a request's first line and headers."""
LARGEST_FRAMING: Final = 1_000_000
"""Bytes of whatever else is sent that is no body: the sizes of chunks, and headers after them."""
HEAD_SECONDS: Final = 15.0
MOST_WAITING: Final = 16
"""Requests that may wait on a connection behind the one that is being answered."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class _TooManyWaitingError(Exception):
    """Raised into the parser to stop it."""


class LimitedProtocol(HttpToolsProtocol):
    """A connection that is closed when a head is too large or too slow, or when too many requests wait."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = True
        self._beside = 0
        """Bytes that came and are no body, since the last head began or ended."""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody comes, and has so long to ask for something."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is waited for any more."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless it is too much."""
        if self._in_head:
            self._expect_head()
        self._beside += len(data)
        super().data_received(data)
        if not self.transport.is_closing() and self._beside > (
            LARGEST_HEAD if self._in_head else LARGEST_FRAMING
        ):
            self._end(_TOO_LARGE if self._in_head else b"")

    def on_message_begin(self) -> None:
        """Another request, unless too many wait already."""
        if len(self.pipeline) >= MOST_WAITING:
            self._end(b"")
            # The parser would go on to the end of what was received, however much that is.
            raise _TooManyWaitingError
        super().on_message_begin()

    def on_response_complete(self) -> None:
        """Read on only when no request waits; uvicorn reads on after every response."""
        super().on_response_complete()
        if self.pipeline:
            self.flow.pause_reading()

    def send_400_response(self, msg: str) -> None:
        """Say that the request was not understood, unless the connection was closed for another reason."""
        if not self.transport.is_closing():
            super().send_400_response(msg)

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head, self._beside = False, 0
        self._stop_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Bodies are counted elsewhere."""
        self._beside -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The next thing to come is another head."""
        self._in_head, self._beside = True, 0
        super().on_message_complete()

    def _expect_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._end, _TOO_SLOW)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self, answer: bytes) -> None:
        self._stop_timer()
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()
