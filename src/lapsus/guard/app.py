"""The guard as a server: `/check`, and a system behind it under `/v1`."""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

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
    passed,
    replies,
)
from lapsus.guard.recording import Recorder
from lapsus.guard.records import NOT_JUDGED, Candidate, CheckRequest, Refusal, Verdict, rank_of
from lapsus.guard.settings import Settings

_COMPLETIONS: Final = "/chat/completions"
_RISK, _STATE = "x-lapsus-risk", "x-lapsus-guard"
_BUSY: Final = {"retry-after": "1"}


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

    def _limited(
        self, path: str, answer: Callable[[Request, bytes], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """An answer within the limits of size and of requests under way."""

        async def limited(request: Request) -> Response:
            if self._metrics.under_way >= self._settings.at_once:
                # A request that is answered before it was read may be cut off before its answer is.
                await self._body(request)
                return self._noted(path, _refused(503, "The guard is busy.", "Ask again.", _BUSY))
            self._metrics.under_way += 1
            try:
                body = await self._body(request)
                if body is None:
                    return self._noted(path, _refused(413, "The request is too large.", "Send less."))
                return self._noted(path, await answer(request, body))
            finally:
                self._metrics.under_way -= 1

        return limited

    def _noted(self, path: str, response: Response) -> Response:
        self._metrics.add("requests", path=path, status=str(response.status_code))
        return response

    async def _body(self, request: Request) -> bytes | None:
        found = bytearray()
        async for piece in request.stream():
            found += piece
            if len(found) > self._settings.largest:
                return None
        return bytes(found)

    async def _check(self, request: Request, body: bytes) -> Response:
        try:
            asked = msgspec.json.decode(body, type=CheckRequest)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
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
        try:
            asked = json.loads(body)
        except ValueError:
            asked = None
        settings, headers = self._settings, passed(dict(request.headers))
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
            if answer.data is None or not replies(answer.data):
                if not found:
                    return Response(answer.content, answer.status, answer.headers)
                break
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
            return Response(json.dumps(whole, ensure_ascii=False).encode(), 200, headers)
        with_usage = bool((streamed.get("stream_options") or {}).get("include_usage"))
        headers["content-type"] = "text/event-stream"
        return Response(b"".join(as_events(whole, with_usage)), 200, headers)

    async def _passed(self, request: Request, body: bytes, asked: Any = None) -> Response:
        """An answer as it comes; a completion is judged when it has gone by."""
        if self._upstream is None:
            raise UpstreamError("there is none")
        path = request.url.path.removeprefix("/v1") + (f"?{request.url.query}" if request.url.query else "")
        status, headers, pieces = await self._upstream.stream(
            request.method, path, body or None, passed(dict(request.headers))
        )
        heard: Heard | None = None
        whole = bytearray()
        if isinstance(asked, dict) and may_choose(asked) and status == 200:
            heard = Heard() if asked.get("stream") else None

            async def listened(source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
                async for piece in source:
                    heard.hear(piece) if heard is not None else whole.extend(piece)
                    yield piece

            after = BackgroundTask(self._afterwards, asked, heard, whole)
            self._metrics.add("decisions", result="passed")
            return StreamingResponse(listened(pieces), status, headers, background=after)
        return StreamingResponse(pieces, status, headers)

    async def _afterwards(self, asked: dict[str, Any], heard: Heard | None, whole: bytearray) -> None:
        """Judge a reply that has been sent."""
        if heard is not None:
            reply = heard.reply
        else:
            data = Answer(200, {}, bytes(whole)).data
            said = replies(data) if data else []
            reply = said[0] if said and not calls_tools(said[0]) else None
        if reply is None:
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


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, "application/json")


def _refused(status: int, error: str, hint: str | None, headers: dict[str, str] | None = None) -> Response:
    return _json(Refusal(error, hint), status, headers)


def _of_openai(status: int, message: str) -> Response:
    return _json({"error": {"message": message, "type": "lapsus_guard", "code": status}}, status)
