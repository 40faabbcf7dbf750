"""Chat completions as a wire of the stand-in model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from dragoman.rehearsal.actions import Action, HangUp, Head, Wait, json_head
from dragoman.rehearsal.chat.auxiliary import auxiliary_parts
from dragoman.rehearsal.chat.events import ChatReply, data
from dragoman.rehearsal.chat.parts import call_part, part_of
from dragoman.rehearsal.chat.places import find_place
from dragoman.rehearsal.functions.calls import FunctionTools
from dragoman.rehearsal.functions.offered import offered_functions
from dragoman.rehearsal.openai.errors import http_error
from dragoman.rehearsal.pacing import extra_headers, paced
from dragoman.rehearsal.places import ScriptPlace
from dragoman.rehearsal.requests import HttpRequest, mapping, mappings, text_of
from dragoman.rehearsal.script import (
    Call,
    Drop,
    Fail,
    Fault,
    Garbage,
    Http,
    Incomplete,
    Item,
    Pause,
    Script,
    Search,
    Silence,
    Slow,
    Step,
    Tokens,
)
from dragoman.rehearsal.wires import Played, RequestHistory

_REASONS = {"max_tokens": "length", "max_output_tokens": "length", "refusal": "content_filter"}
_OVERFLOW = "context_length_exceeded"


class ChatWire:
    """``POST …/chat/completions``, answered by a stream of chunks or by one completion."""

    # The agent searches the web with a tool of its own, so a search hands control back.
    calling: tuple[type[Step], ...] = (Call, Search)

    def serves(self, request: HttpRequest) -> bool:
        """Whether the request asks for a completion."""
        return request.method == "POST" and request.endpoint.endswith("/chat/completions")

    def auxiliary(self, request: HttpRequest, number: int) -> Iterable[Action] | None:
        """The answer to a request that is not part of a conversation."""
        parts = auxiliary_parts(request)
        if parts is None:
            return None
        played = [(Item(part), part) for part in parts]
        return self.stream(request, self.history(request), number, played)

    def history(self, request: HttpRequest) -> RequestHistory:
        """The messages of the request."""
        messages = mappings(request.body.get("messages"))
        outputs = [text_of(m.get("content")) for m in messages if m.get("role") == "tool"]
        return RequestHistory(request.headers.get("x-session-id", ""), messages, outputs)

    def place(self, script: Script, request: HttpRequest, history: RequestHistory) -> ScriptPlace:
        """Where the request stands in the script."""
        return find_place(script, request, history.items, self.calling)

    def tools(self, request: HttpRequest, place: ScriptPlace) -> FunctionTools:
        """The tools that the request offers."""
        messages = mappings(request.body.get("messages"))
        return FunctionTools(
            offered_functions(request.body.get("tools")),
            texts=[text_of(each.get("content")) for each in messages],
            called=[_called(call) for m in messages for call in mappings(m.get("tool_calls"))],
            prepared=place.prepared,
        )

    def item(self, step: Step, number: int) -> dict[str, Any] | None:
        """The part of the message for a step that is not a call."""
        return part_of(step)

    def call(
        self, item: dict[str, Any], place: ScriptPlace, following: int, number: int
    ) -> dict[str, Any]:
        """A call with its id."""
        return call_part(item, place, following, number)

    def summary(self, words: str) -> str:
        """A summary is plain text here."""
        return words

    def error(self, step: Http) -> Head:
        """An HTTP error, in the API's usual words."""
        return http_error(step)

    def stream(
        self, request: HttpRequest, history: RequestHistory, number: int, played: Played
    ) -> Iterator[Action]:
        """The answer: chunks, or one completion if the request wants no stream."""
        refused = next((http for step, _ in played if (http := _refused(step))), None)
        if refused is not None:
            return iter((http_error(refused),))
        tokens = Tokens(input=100 + 10 * len(history.items))
        for step, _ in played:
            if isinstance(step, Tokens):
                tokens = step
        reply = ChatReply(f"chatcmpl-{number:06x}", request.model)
        if request.body.get("stream") is True:
            return paced(played, _chunks(reply, tokens, played))
        return _whole(reply, tokens, played)


def _called(call: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    function = mapping(call.get("function"))
    try:
        arguments = mapping(json.loads(str(function.get("arguments"))))
    except ValueError:
        arguments = {}
    return str(function.get("name")), arguments


def _refused(step: Step) -> Http | None:
    if not isinstance(step, Fail) or step.code != _OVERFLOW:
        return None
    return Http(400, code=step.code, kind="invalid_request_error", message=step.message)


def _chunks(reply: ChatReply, tokens: Tokens, played: Played) -> Iterator[Action | Slow]:
    yield reply.begin()
    for step, part in played:
        match step:
            case Pause(seconds):
                yield Wait(seconds)
            case Slow():
                yield step
            case Fault():
                yield from _fault(reply, tokens, step)
                if not isinstance(step, Garbage):
                    return
            case _:
                if part is not None:
                    yield from reply.part(part)
    yield from reply.end(reply.usual_end, tokens)


def _fault(reply: ChatReply, tokens: Tokens, step: Fault) -> Iterator[Action]:
    match step:
        case Drop(saying):
            if saying is not None:
                yield from reply.part({"text": saying})
            yield HangUp()
        case Silence(seconds):
            yield Wait(seconds)
            yield HangUp()
        case Fail(code, message):
            yield data({"error": {"message": message, "type": code, "code": code}})
        case Incomplete(reason):
            yield from reply.end(_REASONS.get(reason, reason), tokens)
        case Garbage(text):
            yield b"data: " + text.encode() + b"\n\n"
        case _:
            return


def _whole(reply: ChatReply, tokens: Tokens, played: Played) -> Iterator[Action]:
    parts: list[dict[str, Any]] = []
    reason = None
    for step, part in played:
        match step:
            case Pause(seconds):
                yield Wait(seconds)
            case Drop():
                yield HangUp()
                return
            case Silence(seconds):
                yield Wait(seconds)
                yield HangUp()
                return
            case Fail():
                yield http_error(Http(500, code=step.code, message=step.message))
                return
            case Incomplete(given):
                reason = _REASONS.get(given, given)
                break
            case Garbage(text):
                yield json_head(200, text.encode())
                return
            case _:
                parts += [part] if part is not None else []
    yield json_head(200, reply.whole(parts, reason, tokens), extra_headers(played))
