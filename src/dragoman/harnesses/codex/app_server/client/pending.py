"""What the server has asked and still waits for: approvals, questions, calls of our tools.

Each stays open until it is decided, or until the server withdraws it. What
no one here can answer is refused at once, with the reason, so that the agent does not wait forever.
Up to 0.114 an event asks a moment before the request does; who decides that quickly is kept waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.harnesses.codex.app_server.client.decisions import (
    DECIDED,
    PLAIN_DECISIONS,
    STOPS_NOTHING,
    TOOL_CALL,
    answer_to,
    tool_answer,
)
from dragoman.harnesses.codex.app_server.parser import AppServerParser
from dragoman.harnesses.codex.questions import ANSWERED, CANCEL, DENY
from dragoman.harnesses.codex.values.loose import as_dict, as_str
from dragoman.harnesses.codex.versions import Version
from dragoman.harnesses.contract.conversation import Refusal, ToolRequest
from dragoman.model.intents import AnswerTool, Decide
from dragoman.wire.jsonrpc import METHOD_NOT_FOUND, Peer, Request, RequestId

INVALID_PARAMS: Final = -32602
NO_ANSWER: Final = -32000
"""The code of our refusals that are not about the request's form."""

_REFUSED: Final = {
    "account/chatgptAuthTokens/refresh": "this client holds no tokens; sign in with the agent's own program",
    "attestation/generate": "this client cannot attest anything",
    "currentTime/read": "this client does not provide the time",
}


class _OpenRequest(NamedTuple):
    method: str
    params: dict[str, Any]
    session_id: str
    name: str
    turn_id: str | None


class OpenRequests:
    """The server's open requests, by the names that their messages have."""

    def __init__(
        self, peer: Peer, parser: AppServerParser, now: Callable[[], int] | None = None
    ) -> None:
        self._peer = peer
        self._parser = parser
        self._now = now
        self._open: dict[RequestId, _OpenRequest] = {}
        self._seen: set[tuple[str, str]] = set()
        """What has been asked by a request, in which session and under which name."""
        self._early: dict[tuple[str, str], tuple[Decide, Version | None]] = {}
        """Decisions about what only an event has asked yet."""
        self._tools: list[ToolRequest] = []
        self._cancelled: list[tuple[str, str | None]] = []

    def receive(self, request: Request) -> None:
        """Take a request that the parser has read before."""
        method, told = request.method, self._parser.request(request.id)
        if method == "currentTime/read" and self._now is not None:
            self._peer.answer(request.id, {"currentTimeAt": self._now()})
        elif method in _REFUSED:
            self._peer.refuse(request.id, NO_ANSWER, _REFUSED[method])
        elif method != TOOL_CALL and method not in DECIDED:
            self._peer.refuse(request.id, METHOD_NOT_FOUND, f"unknown method {method!r}")
        elif told is None or told.method != method or told.thread.session.session_id is None:
            self._peer.refuse(request.id, INVALID_PARAMS, f"{method!r} was not understood")
        elif told.turn_id in told.thread.given_up:
            self._peer.refuse(request.id, NO_ANSWER, "the turn was given up")
        else:
            params, session_id = as_dict(request.params), told.thread.session.session_id
            asked = _OpenRequest(method, params, session_id, told.approval_id, told.turn_id)
            self._open[request.id] = asked
            self._seen.add((session_id, asked.name))
            early = self._early.pop((session_id, asked.name), None)
            if method == TOOL_CALL:
                self._tools.append(_tool_request(asked))
            elif early is not None and self.decide(*early) is not None:
                # It was taken before anybody could know what it was about, and is no answer.
                intent, release = early
                self.decide(msgspec.structs.replace(intent, decision=DENY), release)

    def decide(self, intent: Decide, release: Version | None) -> Refusal | None:
        """Answer what was asked under this name; or why that cannot be done."""
        request_id = self._find(intent.session_id, intent.approval_id)
        key = (intent.session_id, intent.approval_id)
        if request_id is None and self._is_early(key):
            if intent.decision not in (*PLAIN_DECISIONS, ANSWERED):
                return _no_answer(intent.decision, "an approval")
            self._early[key] = (intent, release)
            return None
        if request_id is None or self._open[request_id].method == TOOL_CALL:
            return _settled(intent.approval_id)
        asked = self._open[request_id]
        answer = answer_to(asked.method, asked.params, intent, release)
        if answer is None:
            return _no_answer(intent.decision, asked.method)
        del self._open[request_id]
        self._peer.answer(request_id, answer)
        if intent.decision == CANCEL and asked.method in STOPS_NOTHING:
            self._cancelled.append((asked.session_id, asked.turn_id))
        return None

    def cancelled(self) -> list[tuple[str, str | None]]:
        """Sessions and turns that are to be stopped, because something in them was cancelled."""
        cancelled, self._cancelled = self._cancelled, []
        return cancelled

    def answer_tool(self, intent: AnswerTool) -> Refusal | None:
        """Answer a call of one of our tools; or why that cannot be done."""
        request_id = self._find(intent.session_id, intent.call_id)
        if request_id is None or self._open[request_id].method != TOOL_CALL:
            return _settled(intent.call_id)
        del self._open[request_id]
        self._peer.answer(request_id, tool_answer(intent))
        return None

    def resolved(self, request_id: Any) -> None:
        """The server needs no answer to this one any more."""
        if isinstance(request_id, int | str):
            self._open.pop(request_id, None)

    def turn_over(self, session_id: str, turn_id: str | None, *, refuse: bool = False) -> None:
        """Nothing that was asked in this turn needs an answer; ``refuse``: the server may wait."""
        for request_id, asked in list(self._open.items()):
            if asked.session_id == session_id and asked.turn_id == turn_id is not None:
                del self._open[request_id]
                if refuse:
                    self._peer.refuse(request_id, NO_ANSWER, "the turn was given up")
        self._early = {key: told for key, told in self._early.items() if key[0] != session_id}

    def drop_all(self) -> None:
        self._open.clear()
        self._early.clear()

    def tool_requests(self) -> list[ToolRequest]:
        """The calls of our tools since the last call."""
        tools, self._tools = self._tools, []
        return tools

    def _is_early(self, key: tuple[str, str]) -> bool:
        """Whether an event has asked, no request has, and no decision was made yet."""
        is_open = key not in self._seen and key not in self._early
        return is_open and self._parser.has_asked(*key)

    def _find(self, session_id: str, name: str) -> RequestId | None:
        for request_id, asked in self._open.items():
            if asked.name == name and asked.session_id == session_id:
                return request_id
        return None


def _tool_request(asked: _OpenRequest) -> ToolRequest:
    return ToolRequest(
        session_id=asked.session_id,
        call_id=asked.name,
        tool=as_str(asked.params.get("tool")) or "",
        namespace=as_str(asked.params.get("namespace")),
        arguments=asked.params.get("arguments"),
    )


def _no_answer(decision: str, asked: str) -> Refusal:
    return Refusal(kind="response_error", message=f"{decision!r} is no answer to {asked}")


def _settled(name: str) -> Refusal:
    return Refusal(
        kind="response_error",
        message=f"nothing is open under {name!r}: it was settled, or its turn is over",
    )
