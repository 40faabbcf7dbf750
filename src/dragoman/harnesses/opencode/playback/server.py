"""Playing ``opencode serve``: each prompt gets the recording's next turn.

Requests, responses and events are lines, as the link makes them. Where the recording asks something, the turn waits for
the client's answer, and then continues as recorded. Nothing is ever executed, so the guard is shown as in place.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import parse_qs

import msgspec

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.opencode.playback.events import OpencodeEventWriter, ServerEvent
from dragoman.harnesses.opencode.playback.recorded import turns_in
from dragoman.harnesses.opencode.playback.release import RELEASE
from dragoman.model.messages import TurnEnded, TurnError
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_list, as_str

_GUARDED: Final = [
    {"permission": "*", "pattern": "*", "action": "ask"},
    {"permission": "dragoman", "pattern": "*", "action": "ask"},
]


class PlayedRequest(NamedTuple):
    """What the client asks."""

    match: re.Match[str]
    directory: str | None
    body: dict[str, Any]
    now: float


class PlayedResponse(NamedTuple):
    """What it gets."""

    status: int
    body: Any = None


class OpencodeServer:
    """One server. The recording's session plays in whichever session is prompted."""

    def __init__(self, cues: Sequence[TimedMessage]) -> None:
        self._run = turns_in(cues)
        session_id = self._run.own or "ses_recorded"
        self._writer = OpencodeEventWriter(self._run.own, session_id, self._run.agents)
        self._session_id = session_id
        self._directory = self._run.started.cwd
        self._out: list[bytes] = []
        self._steps: deque[ServerEvent] = deque()
        self._queue: deque[dict[str, Any]] = deque()
        """The prompts that wait for the turn before them."""
        self._waits_for: str | None = None
        self._next_at = 0.0
        self._played = 0
        self._events = 0

    # Lines in, lines out.

    def receive_line(self, line: bytes, now: float) -> None:
        try:
            asked = as_dict(jsonl.loads(line))
        except jsonl.NotJson:
            return
        method, full, id = as_str(asked.get("method")), as_str(asked.get("path")), asked.get("id")
        if method is None or full is None or id is None:
            return
        path, _, query = full.partition("?")
        directory = next(iter(parse_qs(query).get("directory", ())), None)
        response = PlayedResponse(404, {"name": "NotFoundError", "data": {"message": path}})
        for known, pattern, answer in _ROUTES:
            found = re.fullmatch(pattern, path) if known == method else None
            if found is not None:
                request = PlayedRequest(found, directory, as_dict(asked.get("body")), now)
                response = answer(self, request)
                break
        self._send({"id": id, "status": response.status, "body": response.body})
        self._play(now)

    def lines_to_send(self, now: float) -> list[bytes]:
        self._play(now)
        out, self._out = self._out, []
        return out

    def due_at(self) -> float | None:
        return self._next_at if self._steps and self._waits_for is None else None

    # Turns.

    def _begin(self, now: float) -> None:
        prompt = self._queue.popleft()
        if self._played < len(self._run.turns):
            turn = self._run.turns[self._played]
            self._played += 1
        else:
            said = f"the recording has no further turn: it has {len(self._run.turns)}"
            error = TurnError("response_error", said, retryable=False)
            ended = TurnEnded(session_id=self._run.own, outcome="failed", error=error)
            turn = [TimedMessage(0.0, ended)]
        self._steps = deque(self._writer.turn(turn, prompt))
        self._next_at = now + self._steps[0].after

    def _play(self, now: float) -> None:
        while self._waits_for is None and (self._steps or self._queue):
            if not self._steps:
                self._begin(now)
            if self._next_at > now:
                return
            event = self._steps.popleft()
            self._event(event)
            self._waits_for = event.asks
            if self._steps:
                self._next_at = max(self._next_at, now) + self._steps[0].after

    def _event(self, event: ServerEvent) -> None:
        self._events += 1
        line = {"id": f"evt_{self._events:026x}", "type": event.type}
        self._send({**line, "properties": event.properties})

    def _send(self, line: dict[str, Any]) -> None:
        self._out.append(msgspec.json.encode(line))

    # What is asked of it.

    def _info(self) -> dict[str, Any]:
        version = self._run.started.version or RELEASE
        info = self._writer.info(self._directory, self._run.started.model)
        return {**info, "version": version, "title": "Recorded"}

    def _health(self, request: PlayedRequest) -> PlayedResponse:
        return PlayedResponse(200, {"healthy": True, "version": RELEASE})

    def _stream(self, request: PlayedRequest) -> PlayedResponse:
        self._directory = request.directory or self._directory
        return PlayedResponse(200)

    def _agents(self, request: PlayedRequest) -> PlayedResponse:
        names = ("build", "plan", "general")
        return PlayedResponse(200, [{"name": name, "permission": _GUARDED} for name in names])

    def _session(self, request: PlayedRequest) -> PlayedResponse:
        self._directory = request.directory or self._directory
        return PlayedResponse(200, self._info())

    def _sessions(self, request: PlayedRequest) -> PlayedResponse:
        return PlayedResponse(200, [self._info()])

    def _messages(self, request: PlayedRequest) -> PlayedResponse:
        return PlayedResponse(200, [])

    def _prompted(self, request: PlayedRequest) -> PlayedResponse:
        if self._steps:
            for event in self._writer.joined(as_list(request.body.get("parts"))):
                self._event(event)
        else:
            self._queue.append({"parts": as_list(request.body.get("parts"))})
        return PlayedResponse(204)

    def _abort(self, request: PlayedRequest) -> PlayedResponse:
        if self._steps or self._waits_for is not None:
            self._waits_for = None
            self._steps.clear()
            for event in self._writer.end(self._session_id, TurnEnded(outcome="interrupted")):
                self._event(event)
        return PlayedResponse(200, True)

    def _replied(self, request: PlayedRequest) -> PlayedResponse:
        kind, name, verb = request.match.groups()
        if name != self._waits_for:
            return PlayedResponse(404, {"message": f"{kind} request not found: {name}"})
        self._waits_for = None
        settled = "rejected" if verb == "reject" else "replied"
        given = {"requestID": name, "reply": request.body.get("reply")}
        properties = {"sessionID": self._session_id, **given}
        self._event(ServerEvent(0.0, f"{kind}.{settled}", properties))
        self._next_at = request.now + (self._steps[0].after if self._steps else 0.0)
        return PlayedResponse(200, True)

    def _status(self, request: PlayedRequest) -> PlayedResponse:
        busy = {self._session_id: {"type": "busy"}} if self._steps else {}
        return PlayedResponse(200, busy)

    def _providers(self, request: PlayedRequest) -> PlayedResponse:
        model = self._run.started.model or "recorded"
        models = {model: {"id": model, "name": model}}
        return PlayedResponse(200, {"providers": [{"id": "recorded", "models": models}]})

    def _nothing_asked(self, request: PlayedRequest) -> PlayedResponse:
        return PlayedResponse(200, [])


_Played: TypeAlias = Callable[[OpencodeServer, PlayedRequest], PlayedResponse]
_ROUTES: Final[tuple[tuple[str, str, _Played], ...]] = (
    ("GET", "/global/health", OpencodeServer._health),
    ("GET", "/event", OpencodeServer._stream),
    ("GET", "/agent", OpencodeServer._agents),
    ("GET", "/session/status", OpencodeServer._status),
    ("POST", "/session", OpencodeServer._session),
    ("GET", "/experimental/session", OpencodeServer._sessions),
    ("GET", "/permission", OpencodeServer._nothing_asked),
    ("GET", "/config/providers", OpencodeServer._providers),
    ("POST", "/session/[^/]+/fork", OpencodeServer._session),
    ("GET", "/session/[^/]+/message", OpencodeServer._messages),
    ("GET", "/session/[^/]+/children", OpencodeServer._messages),
    ("POST", "/session/[^/]+/prompt_async", OpencodeServer._prompted),
    ("POST", "/session/[^/]+/abort", OpencodeServer._abort),
    ("GET", "/session/[^/]+", OpencodeServer._session),
    ("PATCH", "/session/[^/]+", OpencodeServer._session),
    ("POST", "/(permission|question)/([^/]+)/(reply|reject)", OpencodeServer._replied),
)
