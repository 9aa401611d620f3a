"""A provider of sign-in that lies, or whose tokens somebody forged, lets nobody in and breaks nothing."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.testclient import TestClient

from lapsus.store import Store
from lapsus.web.app import create_app
from lapsus.web.deployment import Deployment, OidcProvider

OWN, FOREIGN = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
PUBLIC = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(OWN.public_key()))


class Provider(ThreadingHTTPServer):
    """It says what a test tells it to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.nonce = ""
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.answers: dict[str, bytes] = {}
        self.token: Callable[[dict[str, Any]], str] = _signed

    def said(self, path: str) -> bytes:
        if path in self.answers:
            return self.answers[path]
        if path == "/keys":
            return json.dumps({"keys": [PUBLIC | {"kid": "own", "use": "sig", "alg": "RS256"}]}).encode()
        if path == "/token":
            now = int(time.time())
            claims = {"iss": self.issuer, "sub": "1", "aud": "lapsus", "exp": now + 60, "iat": now}
            return json.dumps(
                {"id_token": self.token(claims | {"nonce": self.nonce, "name": "Ada"})}
            ).encode()
        names = {"authorization_endpoint": "/there", "token_endpoint": "/token", "jwks_uri": "/keys"}
        return json.dumps({"issuer": self.issuer, **{k: self.issuer + v for k, v in names.items()}}).encode()


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        said = self.server.said(self.path)
        if said == b"garbage":
            self.wfile.write(b"what is this?\r\n\r\n")
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _signed(claims: dict[str, Any], key: Any = OWN, **header: str) -> str:
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": "own", **header})


def _with_public_key_as_password(claims: dict[str, Any]) -> str:
    """The old trick: what everybody knows, taken for a shared secret."""
    return jwt.encode(claims, base64.b64decode(PUBLIC["n"] + "=="), algorithm="HS256", headers={"kid": "own"})


def came_back(store: Store, provider: Provider) -> int:
    """The status of coming back from the provider."""
    app = create_app(store, deployment=Deployment(oidc=OidcProvider(provider.issuer, "lapsus")))
    client = TestClient(app, raise_server_exceptions=False)
    left = client.get("/sign-in/provider", follow_redirects=False)
    if left.status_code != 303:
        return left.status_code
    asked = parse_qs(urlsplit(left.headers["location"]).query)
    provider.nonce = asked["nonce"][0]
    back = client.get(
        "/sign-in/provider/back", params={"code": "c", "state": asked["state"][0]}, follow_redirects=False
    )
    return back.status_code


def test_an_honest_provider_lets_in(store: Store, provider: Provider) -> None:
    assert came_back(store, provider) == 303
    assert [person.name for person in store.people.all()] == ["Ada"]


def test_a_provider_on_this_machine_is_asked_by_way_of_no_proxy(
    store: Store, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    assert came_back(store, provider) == 303


@pytest.mark.parametrize(
    "forged",
    [
        lambda claims: _signed(claims | {"iss": "https://other.example"}),
        lambda claims: _signed(claims | {"aud": "somebody-else"}),
        lambda claims: _signed(claims | {"aud": ["lapsus", "other"], "azp": "other"}),
        lambda claims: _signed(claims | {"nonce": "another"}),
        lambda claims: _signed({key: value for key, value in claims.items() if key != "nonce"}),
        lambda claims: _signed(claims | {"exp": int(time.time()) - 600}),
        lambda claims: _signed(claims, FOREIGN),
        lambda claims: _signed(claims, FOREIGN, kid="unknown"),
        lambda claims: jwt.encode(claims, None, algorithm="none"),
        _with_public_key_as_password,
        lambda claims: "no.token.atall",
    ],
)
def test_forged_tokens_let_nobody_in(
    store: Store, provider: Provider, forged: Callable[[dict[str, Any]], str]
) -> None:
    provider.token = forged
    assert came_back(store, provider) == 502
    assert store.people.all() == []


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token", "/keys"])
@pytest.mark.parametrize(
    "said",
    [
        b"garbage",
        b"[" * 100_000,
        b"[]",
        b"null",
        b"{}",
        b'{"issuer": 7}',
        b'{"keys": [7]}',
        b'{"keys": 7}',
        b"\xff",
    ],
)
def test_what_it_should_not_say_is_told(store: Store, provider: Provider, path: str, said: bytes) -> None:
    provider.answers[path] = said
    assert came_back(store, provider) == 502
    assert store.people.all() == []
