"""The Messages API as a wire of the stand-in model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dragoman.rehearsal.actions import Action, HangUp, Head, Wait, json_head
from dragoman.rehearsal.anthropic.auxiliary import auxiliary_blocks
from dragoman.rehearsal.anthropic.blocks import block_of, call_block
from dragoman.rehearsal.anthropic.errors import http_error, kind_of, overflow
from dragoman.rehearsal.anthropic.events import MessageStream
from dragoman.rehearsal.anthropic.places import find_place
from dragoman.rehearsal.anthropic.tools import MessagesTools
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

_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
_COUNT = "/messages/count_tokens"


class MessagesWire:
    """``POST …/messages``, answered by a stream of events or by one message."""

    # The agent searches the web with a tool of its own, so a search hands control back.
    calling: tuple[type[Step], ...] = (Call, Search)

    def serves(self, request: HttpRequest) -> bool:
        """Whether the request asks for a message, or for the number of its tokens."""
        return request.method == "POST" and request.endpoint.endswith(("/messages", _COUNT))

    def auxiliary(self, request: HttpRequest, number: int) -> Iterable[Action] | None:
        """The answer to a request that is not part of a conversation."""
        if request.endpoint.endswith(_COUNT):
            return (json_head(200, {"input_tokens": len(request.raw) // 4}),)
        blocks = auxiliary_blocks(request)
        if blocks is None:
            return None
        played = [(Item(block), block) for block in blocks]
        return self.stream(request, self.history(request), number, played)

    def history(self, request: HttpRequest) -> RequestHistory:
        """The messages of the request."""
        messages = mappings(request.body.get("messages"))
        outputs = [
            text_of(block.get("content"))
            for message in messages
            for block in mappings(message.get("content"))
            if block.get("type") == "tool_result"
        ]
        return RequestHistory(_conversation(request), messages, outputs)

    def place(self, script: Script, request: HttpRequest, history: RequestHistory) -> ScriptPlace:
        """Where the request stands in the script."""
        return find_place(script, request, history.items, self.calling)

    def tools(self, request: HttpRequest, place: ScriptPlace) -> MessagesTools:
        """The tools that the request offers."""
        return MessagesTools(request.body, prepared=place.prepared)

    def item(self, step: Step, number: int) -> dict[str, Any] | None:
        """The content block for a step that is not a call."""
        return block_of(step, number)

    def call(
        self, item: dict[str, Any], place: ScriptPlace, following: int, number: int
    ) -> dict[str, Any]:
        """A call with its id."""
        return call_block(item, place, following, number)

    def summary(self, words: str) -> str:
        """A summary without these tags is asked for again."""
        return f"<summary>\n{words}\n</summary>"

    def error(self, step: Http) -> Head:
        """An HTTP error, in the API's usual words."""
        return http_error(step)

    def stream(
        self, request: HttpRequest, history: RequestHistory, number: int, played: Played
    ) -> Iterator[Action]:
        """The answer: events, or one message if the request wants no stream."""
        refused = next((http for step, _ in played if (http := _refused(step))), None)
        if refused is not None:
            return iter((http_error(refused),))
        tokens = Tokens(input=100 + 10 * len(history.items))
        for step, _ in played:
            if isinstance(step, Tokens):
                tokens = step
        stream = MessageStream(f"msg_{number:06x}", request.model, tokens)
        if request.body.get("stream") is True:
            return paced(played, _events(stream, played))
        return _whole(stream, played)


def _conversation(request: HttpRequest) -> str:
    agent = request.headers.get("x-claude-code-agent-id", "")
    session = request.headers.get("x-claude-code-session-id")
    if session is None:
        session = str(mapping(request.body.get("metadata")).get("user_id", ""))
    return f"{session}/{agent}" if agent else session


def _refused(step: Step) -> Http | None:
    return overflow(step) if isinstance(step, Fail) else None


def _events(stream: MessageStream, played: Played) -> Iterator[Action | Slow]:
    yield stream.begin()
    for step, block in played:
        match step:
            case Pause(seconds):
                yield Wait(seconds)
            case Slow():
                yield step
            case Fault():
                yield from _fault(stream, step)
                if not isinstance(step, Garbage):
                    return
            case _:
                if block is not None:
                    yield from stream.block(block)
    yield from stream.end("tool_use" if stream.calls else "end_turn")


def _fault(stream: MessageStream, step: Fault) -> Iterator[Action]:
    match step:
        case Drop(saying):
            if saying is not None:
                yield from stream.opened({"type": "text", "text": saying})
            yield HangUp()
        case Silence(seconds):
            yield Wait(seconds)
            yield HangUp()
        case Fail():
            yield stream.error(kind_of(step), step.message)
        case Incomplete(reason):
            yield from stream.end(_REASONS.get(reason, reason))
        case Garbage(text):
            yield b"event: content_block_delta\ndata: " + text.encode() + b"\n\n"
        case _:
            return


def _whole(stream: MessageStream, played: Played) -> Iterator[Action]:
    blocks: list[dict[str, Any]] = []
    reason = None
    for step, block in played:
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
                yield http_error(Http(500, kind=kind_of(step), message=step.message))
                return
            case Incomplete(given):
                reason = _REASONS.get(given, given)
                break
            case Garbage(text):
                yield json_head(200, text.encode())
                return
            case _:
                blocks += [block] if block is not None else []
    called = any(block.get("type") == "tool_use" for block in blocks)
    message = stream.whole(blocks, reason or ("tool_use" if called else "end_turn"))
    yield json_head(200, message, extra_headers(played))
