"""Tokens that only our own pages know, so that no other site can act in somebody's name."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

SIZE = 32


class Csrf:
    """Makes and checks tokens. Each belongs to one session and looks different every time.

    Different, because pages are compressed: a constant secret beside text of strangers could be guessed by size.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def token(self, nonce: str) -> str:
        """A token for a session."""
        mask = secrets.token_bytes(SIZE)
        return base64.urlsafe_b64encode(mask + _xor(mask, self._value(nonce))).decode().rstrip("=")

    def is_right(self, token: str, nonce: str) -> bool:
        """Whether a token belongs to a session."""
        try:
            data = base64.urlsafe_b64decode(token.encode() + b"==")
        except (binascii.Error, ValueError):
            return False
        if len(data) != 2 * SIZE:
            return False
        return hmac.compare_digest(_xor(data[:SIZE], data[SIZE:]), self._value(nonce))

    def _value(self, nonce: str) -> bytes:
        return hmac.digest(self._secret, nonce.encode(), hashlib.sha256)


def _xor(left: bytes, right: bytes) -> bytes:
    return (int.from_bytes(left) ^ int.from_bytes(right)).to_bytes(SIZE)
