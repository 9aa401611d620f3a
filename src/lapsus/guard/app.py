"""The guard as a server: `/check`, and a system behind it under `/v1`."""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import quote, unquote

import msgspec
from anyio import CapacityLimiter, move_on_after, to_thread
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from lapsus.errors import LapsusError
from lapsus.guard.description import description
from lapsus.guard.guard import Guard, as_message
from lapsus.guard.metrics import Metrics
from lapsus.guard.proxy import (
    Answer,
    Heard,
    Upstream,
    UpstreamError,
    as_events,
    calls_tools,
    chosen,
    may_choose,
    parsed,
    passed,
    replies,
)
from lapsus.guard.recording import Recorder
from lapsus.guard.records import NOT_JUDGED, Candidate, CheckRequest, Refusal, Verdict, rank_of
from lapsus.guard.settings import Settings

_COMPLETIONS: Final = "/chat/completions"
_RISK, _STATE = "x-lapsus-risk", "x-lapsus-guard"
_BUSY: Final = {"retry-after": "1"}
_BODY_SECONDS: Final = 30.0
"""In which a request has to be here."""


class UnjudgedError(Exception):
    """A reply could not be judged, in words."""


class GuardServer:
    """Answers requests. `app` is the ASGI application."""

    def __init__(self, guard: Guard, settings: Settings, metrics: Metrics, recorder: Recorder) -> None:
        self._guard, self._settings, self._metrics, self._recorder = guard, settings, metrics, recorder
        self._judging = CapacityLimiter(settings.threads)
        self._upstream = Upstream(settings) if settings.upstream else None
        routes = [
            Route("/check", self._limited("/check", self._check), methods=["POST"]),
            Route("/health", self._health),
            Route("/metrics", self._figures),
            Route("/openapi.json", self._description),
        ]
        if self._upstream is not None:
            complete = self._limited("/v1/chat/completions", self._complete)
            other = self._limited("/v1", self._other)
            routes += [
                Route(f"/v1{_COMPLETIONS}", complete, methods=["POST"]),
                Route("/v1/{path:path}", other, methods=["GET", "POST", "DELETE"]),
            ]
        self.app = Starlette(routes=routes, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        self._recorder.end()

    def _limited(self, path: str, answer: Callable[[Request, bytes], Awaitable[Response]]) -> ASGIApp:
        """An answer within the limits of size, of time, and of requests under way."""
        return _Limited(self._metrics, self._settings, path, answer)

    async def _check(self, request: Request, body: bytes) -> Response:
        try:
            asked = msgspec.json.decode(body, type=CheckRequest)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return _refused(422, str(error), "Send {messages, candidates?}; /openapi.json describes it.")
        try:
            found = await self._judge(asked.messages, asked.candidates)
        except LapsusError as error:
            return _refused(422, str(error.what), None if error.hint is None else str(error.hint))
        talk, said = (
            (asked.messages, asked.candidates)
            if asked.candidates
            else (asked.messages[:-1], asked.messages[-1:])
        )
        for place, (reply, one) in enumerate(zip(said, found.candidates, strict=True)):
            # Whoever asks is taken to send the best.
            self._keep({"messages": talk}, as_message(reply), one, was_sent=place == found.best)
        return _json(found)

    async def _judge(self, messages: list[Any], candidates: list[Any] | None) -> Verdict:
        begun = time.perf_counter()
        try:
            found = await to_thread.run_sync(self._guard.check, messages, candidates, limiter=self._judging)
        except Exception:
            self._metrics.add("replies", result="unjudged")
            raise
        self._metrics.took(time.perf_counter() - begun)
        for one in found.candidates:
            state = "unjudged" if one.risk is None else "flagged" if one.flagged else "sound"
            self._metrics.add("replies", result=state)
        return found

    async def _judged(self, request: dict[str, Any], said: list[dict[str, Any]]) -> Verdict | None:
        """What is said of replies; None where they cannot be judged and are to be sent all the same."""
        try:
            return await self._judge(request["messages"], said)
        except Exception as error:  # whatever it is, the operator has said what is to be done
            if self._settings.fail == "closed":
                raise UnjudgedError(str(error)) from error
            return None

    async def _complete(self, request: Request, body: bytes) -> Response:
        """A completion, judged."""
        asked = parsed(body)
        settings, headers = self._settings, passed(request.headers)
        is_held = settings.then != "pass" and not (
            settings.stream == "pass" and isinstance(asked, dict) and asked.get("stream")
        )
        try:
            if not isinstance(asked, dict) or not may_choose(asked) or not is_held:
                return await self._passed(request, body, asked)
            return await self._held(asked, headers)
        except UpstreamError as error:
            self._metrics.add("upstream_errors")
            return _of_openai(502, f"The system behind the guard did not answer: {error}")
        except UnjudgedError as error:
            self._metrics.add("decisions", result="refused")
            return _of_openai(503, f"The reply could not be judged: {error}")

    async def _held(self, asked: dict[str, Any], headers: dict[str, str]) -> Response:
        wants_events = bool(asked.get("stream"))
        plain = {name: value for name, value in asked.items() if name not in ("stream", "stream_options")}
        answers: list[Answer] = []
        found: list[tuple[Answer, int, Candidate | None]] = []
        while len(found) < self._wanted():
            more = self._wanted() - len(found) if self._settings.then == "choose" else 1
            try:
                answer = await self._ask(plain | ({"n": more} if more > 1 else {}), headers)
            except UpstreamError:
                if not found:
                    raise
                self._metrics.add("upstream_errors")
                break
            if answer.data is None:
                if found:
                    break
                if answer.status == 200 and self._settings.fail == "closed":
                    raise UnjudgedError("what came is no completion")
                return Response(answer.content, answer.status, answer.headers)
            answers.append(answer)
            said = replies(answer.data)
            if not found and calls_tools(said[0]):
                self._metrics.add("decisions", result="tools")
                return self._sent(answer, 0, answers, asked if wants_events else None, "tools", None)
            words = [place for place, one in enumerate(said) if not calls_tools(one)]
            verdict = await self._judged(asked, [said[place] for place in words]) if words else None
            for order, place in enumerate(words):
                found.append((answer, place, verdict.candidates[order] if verdict else None))
            if verdict is None or (self._settings.then != "choose" and not verdict.flagged):
                break
        return self._best(found, answers, asked, wants_events)

    def _wanted(self) -> int:
        return self._settings.candidates if self._settings.then in ("choose", "regenerate") else 1

    async def _ask(self, plain: dict[str, Any], headers: dict[str, str]) -> Answer:
        if self._upstream is None:
            raise UpstreamError("there is none")
        answer = await self._upstream.ask("POST", _COMPLETIONS, json.dumps(plain).encode(), headers)
        if answer.status in (400, 422) and "n" in plain:
            # Not every system gives several replies at once: it is asked for them one by one.
            rest = {name: value for name, value in plain.items() if name != "n"}
            return await self._upstream.ask("POST", _COMPLETIONS, json.dumps(rest).encode(), headers)
        return answer

    def _best(
        self,
        found: list[tuple[Answer, int, Candidate | None]],
        answers: list[Answer],
        asked: dict[str, Any],
        wants_events: bool,
    ) -> Response:
        judged = [one for one in found if one[2] is not None and one[2].risk is not None]
        best = min(judged, key=lambda one: rank_of(one[2] or NOT_JUDGED), default=found[0])
        answer, place, said = best
        decision = "first" if best is found[0] else "other" if self._settings.then == "choose" else "again"
        self._metrics.add("decisions", result=decision)
        state = "unjudged" if said is None else "flagged" if said.flagged else "sound"
        for one in judged:
            if one[2] is not None and one[0].data is not None:
                self._keep(asked, replies(one[0].data)[one[1]], one[2], was_sent=one is best)
        return self._sent(answer, place, answers, asked if wants_events else None, state, said)

    def _sent(
        self,
        answer: Answer,
        place: int,
        answers: list[Answer],
        streamed: dict[str, Any] | None,
        state: str,
        said: Candidate | None,
    ) -> Response:
        data = answer.data or {}
        headers = answer.headers | {_STATE: state}
        if said is not None and said.risk is not None:
            headers[_RISK] = str(said.risk)
        whole = chosen(data, data["choices"][place], [one.data for one in answers if one.data])
        if streamed is None:
            headers["content-type"] = "application/json"
            return Response(json.dumps(whole), 200, headers)
        options = streamed.get("stream_options")
        with_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        headers["content-type"] = "text/event-stream"
        return Response(b"".join(as_events(whole, with_usage)), 200, headers)

    async def _passed(self, request: Request, body: bytes, asked: Any = None) -> Response:
        """An answer as it comes; a completion is judged when it has gone by."""
        if self._upstream is None:
            raise UpstreamError("there is none")
        status, headers, pieces = await self._upstream.stream(
            request.method, _beyond(request), body or None, passed(request.headers)
        )
        if isinstance(asked, dict) and may_choose(asked) and status == 200:
            heard = Heard(is_stream=bool(asked.get("stream")))

            async def listened(source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
                async for piece in source:
                    heard.hear(piece)
                    yield piece

            after = BackgroundTask(self._afterwards, asked, heard)
            self._metrics.add("decisions", result="passed")
            return StreamingResponse(listened(pieces), status, headers, background=after)
        return StreamingResponse(pieces, status, headers)

    async def _afterwards(self, asked: dict[str, Any], heard: Heard) -> None:
        """Judge a reply that has been sent."""
        if (reply := heard.reply()) is None:
            return
        try:
            verdict = await self._judge(asked["messages"], [reply])
        except Exception:  # it is counted; the reply has been sent
            return
        self._keep(asked, reply, verdict.candidates[0], was_sent=True)

    def _keep(self, asked: dict[str, Any], reply: dict[str, Any], said: Candidate, *, was_sent: bool) -> None:
        if said.risk is None:
            return
        model = asked.get("model")
        named = model if isinstance(model, str) else None
        self._recorder.keep(asked["messages"], reply, said, named, was_sent=was_sent)

    async def _other(self, request: Request, body: bytes) -> Response:
        try:
            return await self._passed(request, body)
        except UpstreamError as error:
            self._metrics.add("upstream_errors")
            return _of_openai(502, f"The system behind the guard did not answer: {error}")

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _figures(self, request: Request) -> Response:
        return PlainTextResponse(self._metrics.text(), media_type="text/plain; version=0.0.4")

    async def _description(self, request: Request) -> Response:
        return JSONResponse(description(has_upstream=self._upstream is not None))


class _Limited:
    """Answers a route. Who sends slowly takes up no place; who is answered does, to the end of the answer."""

    def __init__(
        self,
        metrics: Metrics,
        settings: Settings,
        path: str,
        answer: Callable[[Request, bytes], Awaitable[Response]],
    ) -> None:
        self._metrics, self._settings, self._path, self._answer = metrics, settings, path, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the request, answer it, and count it."""
        request = Request(scope, receive)
        body = await self._body(request)
        if isinstance(body, Response):
            await self._noted(body)(scope, receive, send)
        elif self._metrics.under_way >= self._settings.at_once:
            busy = _refused(503, "The guard is busy.", "Ask again.", _BUSY)
            await self._noted(busy)(scope, receive, send)
        else:
            self._metrics.under_way += 1
            try:
                await self._noted(await self._answer(request, body))(scope, receive, send)
            finally:
                self._metrics.under_way -= 1

    async def _body(self, request: Request) -> bytes | Response:
        found = bytearray()
        with move_on_after(_BODY_SECONDS):
            async for piece in request.stream():
                found += piece
                if len(found) > self._settings.largest:
                    return _refused(413, "The request is too large.", "Send less.")
            return bytes(found)
        return _refused(408, "The request did not arrive in time.", "Send it at once.")

    def _noted(self, response: Response) -> Response:
        self._metrics.add("requests", path=self._path, status=str(response.status_code))
        return response


def _beyond(request: Request) -> str:
    """What a request is for, below the address of the system behind the guard and nowhere else."""
    # Whatever a client says it is called must not change the path: Request.url is made of that, too.
    raw: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    path = quote(raw.split(b"?")[0], safe="/%:@!$&'()*+,;=~")
    if any(part in (".", "..") for part in unquote(path).replace("\\", "/").split("/")):
        raise HTTPException(404)
    query = quote(request.scope["query_string"], safe="/%:@!$&'()*+,;=~?[]")
    return path.removeprefix("/v1") + (f"?{query}" if query else "")


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, "application/json")


def _refused(status: int, error: str, hint: str | None, headers: dict[str, str] | None = None) -> Response:
    return _json(Refusal(error, hint), status, headers)


def _of_openai(status: int, message: str) -> Response:
    return _json({"error": {"message": message, "type": "lapsus_guard", "code": status}}, status)
