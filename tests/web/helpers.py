"""A workbench to try things on, and people who use it."""

from __future__ import annotations

from itertools import count
from types import TracebackType
from typing import Any, Self

from starlette.testclient import TestClient

from lapsus.model import Document, Segment
from lapsus.store import Plan, Role, Store
from lapsus.web.app import create_app

PASSWORD = "correct horse"  # noqa: S105
_keys = count()


class Bench:
    """The application on a store. Everybody who signs in has a browser of their own."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.app = create_app(store)
        self._starting = TestClient(self.app)

    def __enter__(self) -> Self:
        self._starting.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._starting.__exit__(kind, error, trace)

    def stranger(self, **more: Any) -> TestClient:
        """A browser in which nobody is signed in. All are answered in one loop, as by a server."""
        made = TestClient(self.app, **more)
        made.portal = self._starting.portal
        return made

    def person(self, name: str, role: Role = "annotator") -> Browser:
        """Somebody new who has signed in."""
        made = self.store.people.add(name, role, password=PASSWORD)
        browser = Browser(self.app, made.id, self.stranger())
        browser.sign_in(name)
        return browser

    def campaign(
        self, scheme: str = "breakdown", documents: list[Document] | None = None, **plan: Any
    ) -> str:
        name = plan.pop("name", scheme)
        self.store.campaigns.create(Plan(name=name, scheme=scheme, order="given", **plan))
        if plan.get("chain") is None:
            self.store.campaigns.add_documents(name, documents or [chat("d0"), chat("d1")])
        return str(name)


class Browser:
    """A browser in which somebody is signed in."""

    def __init__(self, app: Any, person: int, http: TestClient | None = None) -> None:
        self.id = person
        self.http = http or TestClient(app)
        self.csrf = ""

    def sign_in(self, name: str, password: str = PASSWORD) -> Any:
        form = {"name": name, "password": password, "csrf": self.token()}
        answer = self.http.post("/sign-in.json", data=form)
        self.csrf = self.token()
        return answer

    def token(self) -> str:
        return str(self.http.get("/session.json").json()["csrf"])

    def get(self, path: str, **more: Any) -> Any:
        return self.http.get(path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        headers = {"X-CSRF-Token": self.csrf, **more.pop("headers", {})}
        return self.http.post(path, json=body, headers=headers, **more)

    def save(self, campaign: str, unit: int, answers: Any, *, lang: str = "en", **more: Any) -> Any:
        body = {"key": new_key(), "answers": answers, **more}
        path = f"/api/v1/campaigns/{campaign}/units/{unit}/judgments"
        return self.post(path, body, headers={"Accept-Language": lang})

    def next(self, campaign: str) -> Any:
        return self.get(f"/api/v1/campaigns/{campaign}/next").json()


def new_key() -> str:
    return f"test-{next(_keys)}"


def chat(name: str, turns: int = 3, said: str = "turn {place} of {name}") -> Document:
    """A chat in which the system speaks `turns` times, a person in between."""
    roles = ("system", "user")
    texts = [said.format(place=place, name=name) for place in range(2 * turns - 1)]
    segments = tuple(Segment(str(n), roles[n % 2], text) for n, text in enumerate(texts))  # type: ignore[arg-type]
    return Document(name, segments, "en")


def pair(name: str) -> Document:
    triple = Segment.triple("t1", "Ida Vale", "birthPlace", "Orsk")
    return Document(name, (triple, Segment("text", "text", "Ida Vale 👩‍🔬 lives in Orsk")), "en")


ANSWERS: dict[str, dict[str, Any]] = {
    "breakdown": {"breakdown": "T"},
    "error-types": {"types": ["wrong-information"]},
    "response-quality": {
        **dict.fromkeys(
            ("soundness", "conciseness", "completeness", "relevance", "clarity", "brevity", "coherence"), 4
        ),
        "dialogue-act": "Y",
        "emotion": "P",
        "communicative-goal": "N",
    },
    "semantic-errors": {
        "errors": [
            {"segment": "t1", "start": 0, "end": 8, "label": "omission"},
            {"segment": "text", "start": 9, "end": 12, "label": "addition"},
        ]
    },
}
"""Answers that keep the rules of each guideline. The scientist is one visible sign of three code points."""
