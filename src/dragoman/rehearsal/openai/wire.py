"""The Responses API as a wire of the stand-in model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dragoman.rehearsal.actions import Action, HangUp, Head, Wait
from dragoman.rehearsal.openai.errors import http_error
from dragoman.rehearsal.openai.events import ResponseStream
from dragoman.rehearsal.openai.items import call_item, item_of, message
from dragoman.rehearsal.openai.places import Turns, find_place
from dragoman.rehearsal.openai.tools import ResponsesTools
from dragoman.rehearsal.pacing import paced
from dragoman.rehearsal.places import ScriptPlace
from dragoman.rehearsal.requests import HttpRequest, mappings, text_of
from dragoman.rehearsal.script import (
    Call,
    Drop,
    Fail,
    Fault,
    Garbage,
    Http,
    Incomplete,
    Pause,
    Script,
    Silence,
    Slow,
    Step,
    Tokens,
)
from dragoman.rehearsal.wires import Played, RequestHistory

_CONVERSATION_HEADERS = ("conversation_id", "session_id", "session-id", "thread-id")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "mcp_tool_call_output")
_REASONS = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}


class ResponsesWire:
    """``POST …/responses``, answered by a stream of events."""

    calling: tuple[type[Step], ...] = (Call,)

    def __init__(self) -> None:
        self._turns = Turns()

    def serves(self, request: HttpRequest) -> bool:
        """Whether the request asks for a response."""
        return request.method == "POST" and request.endpoint.endswith("/responses")

    def auxiliary(self, request: HttpRequest, number: int) -> Iterable[Action] | None:
        """Every request for a response is part of a conversation here."""
        return None

    def history(self, request: HttpRequest) -> RequestHistory:
        """The items of the request's input."""
        given = request.body.get("input")
        if isinstance(given, str):
            given = [{"type": "message", "role": "user", "content": given}]
        items = mappings(given)
        outputs = [text_of(item.get("output")) for item in items if item.get("type") in _OUTPUTS]
        return RequestHistory(_conversation(request), items, outputs)

    def place(self, script: Script, request: HttpRequest, history: RequestHistory) -> ScriptPlace:
        """Where the request stands in the script."""
        return find_place(script, request, history.items, self._turns)

    def tools(self, request: HttpRequest, place: ScriptPlace) -> ResponsesTools:
        """The tools that the request offers."""
        return ResponsesTools(request.body, searched=place.prepared)

    def item(self, step: Step, number: int) -> dict[str, Any] | None:
        """The output item for a step that is no call."""
        return item_of(step, number)

    def call(
        self, item: dict[str, Any], place: ScriptPlace, following: int, number: int
    ) -> dict[str, Any]:
        """A call with its ids."""
        return call_item(item, place.turn or 0, following, number)

    def summary(self, words: str) -> str:
        """A summary is plain text here."""
        return words

    def error(self, step: Http) -> Head:
        """An HTTP error, in the API's usual words."""
        return http_error(step)

    def stream(
        self, request: HttpRequest, history: RequestHistory, number: int, played: Played
    ) -> Iterator[Action]:
        """The events of the answer."""
        stream = ResponseStream(f"resp_{number:06x}", request.model)
        tokens = Tokens(input=100 + 10 * len(history.items))
        return paced(played, _events(stream, number, tokens, played))


def _conversation(request: HttpRequest) -> str:
    key = request.body.get("prompt_cache_key")
    if isinstance(key, str):
        return key
    headers = request.headers
    return next((headers[name] for name in _CONVERSATION_HEADERS if name in headers), "")


def _events(
    stream: ResponseStream, number: int, tokens: Tokens, played: Played
) -> Iterator[Action | Slow]:
    yield stream.begin()
    for step, item in played:
        match step:
            case Tokens():
                tokens = step
            case Pause(seconds):
                yield Wait(seconds)
            case Slow():
                yield step
            case Fault():
                yield from _fault(stream, number, step)
                if not isinstance(step, Garbage):
                    return
            case _:
                if item is not None:
                    yield from stream.item(item)
    yield stream.complete(tokens)


def _fault(stream: ResponseStream, number: int, step: Fault) -> Iterator[Action]:
    match step:
        case Drop(saying):
            if saying is not None:
                yield from stream.unfinished_text(message(saying, f"msg_{number:06x}"))
            yield HangUp()
        case Silence(seconds):
            yield Wait(seconds)
            yield HangUp()
        case Fail(code, text):
            yield stream.fail(code, text)
        case Incomplete(reason):
            yield stream.stop_early(_REASONS.get(reason, reason))
        case Garbage(text):
            yield b"event: response.output_item.done\ndata: " + text.encode() + b"\n\n"
        case _:
            return
