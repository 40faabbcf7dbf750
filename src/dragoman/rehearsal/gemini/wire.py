"""The Gemini API as a wire of the stand-in model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dragoman.rehearsal.actions import Action, HangUp, Head, Wait, json_head
from dragoman.rehearsal.functions.calls import FunctionTools
from dragoman.rehearsal.functions.offered import offered_functions
from dragoman.rehearsal.gemini.auxiliary import auxiliary_parts, grounding
from dragoman.rehearsal.gemini.errors import OVERFLOW, error_of, http_error
from dragoman.rehearsal.gemini.events import GeminiReply, data
from dragoman.rehearsal.gemini.parts import call_part, part_of
from dragoman.rehearsal.gemini.places import find_place, output_of
from dragoman.rehearsal.pacing import extra_headers, paced
from dragoman.rehearsal.places import ScriptPlace
from dragoman.rehearsal.requests import HttpRequest, mapping, mappings
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

_REASONS = {"max_tokens": "MAX_TOKENS", "max_output_tokens": "MAX_TOKENS", "refusal": "SAFETY"}
_STREAM, _WHOLE, _COUNT = ":streamGenerateContent", ":generateContent", ":countTokens"
_OVERFLOW = "context_length_exceeded"


class GeminiWire:
    """``POST …/models/NAME:streamGenerateContent``, answered by a stream of responses."""

    # The agent searches the web with a tool of its own, so a search hands control back.
    calling: tuple[type[Step], ...] = (Call, Search)

    def serves(self, request: HttpRequest) -> bool:
        """Whether the request asks for content, or for the number of its tokens."""
        return request.method == "POST" and request.endpoint.endswith((_STREAM, _WHOLE, _COUNT))

    def auxiliary(self, request: HttpRequest, number: int) -> Iterable[Action] | None:
        """The answer to a request that is not part of a conversation."""
        if request.endpoint.endswith(_COUNT):
            return (json_head(200, {"totalTokens": len(request.raw) // 4}),)
        parts = auxiliary_parts(request)
        if parts is None:
            return None
        found = grounding(request)
        if found is not None:
            body = _reply(request, number, Tokens()).body(parts, "STOP")
            body["candidates"][0]["groundingMetadata"] = found
            return (json_head(200, body),)
        return self.stream(request, self.history(request), number, [(Item(p), p) for p in parts])

    def history(self, request: HttpRequest) -> RequestHistory:
        """The contents of the request."""
        contents = mappings(request.body.get("contents"))
        outputs = [
            output_of(mapping(part["functionResponse"]))
            for content in contents
            for part in mappings(content.get("parts"))
            if "functionResponse" in part
        ]
        return RequestHistory("", contents, outputs)

    def place(self, script: Script, request: HttpRequest, history: RequestHistory) -> ScriptPlace:
        """Where the request stands in the script."""
        return find_place(script, history.items, self.calling)

    def tools(self, request: HttpRequest, place: ScriptPlace) -> FunctionTools:
        """The tools that the request offers."""
        contents = mappings(request.body.get("contents"))
        contents = [mapping(request.body.get("systemInstruction")), *contents]
        parts = [part for content in contents for part in mappings(content.get("parts"))]
        calls = [mapping(part["functionCall"]) for part in parts if "functionCall" in part]
        return FunctionTools(
            offered_functions(request.body.get("tools")),
            texts=[str(part["text"]) for part in parts if "text" in part],
            called=[(str(call.get("name")), mapping(call.get("args"))) for call in calls],
            prepared=place.prepared,
        )

    def item(self, step: Step, number: int) -> dict[str, Any] | None:
        """The part for a step that is not a call."""
        return part_of(step)

    def call(
        self, item: dict[str, Any], place: ScriptPlace, following: int, number: int
    ) -> dict[str, Any]:
        """A function call with its id."""
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
        """The answer: a stream of responses, or one if the request wants no stream."""
        if any(isinstance(step, Fail) and step.code == _OVERFLOW for step, _ in played):
            return iter((http_error(OVERFLOW),))
        tokens = Tokens(input=100 + 10 * len(history.items))
        for step, _ in played:
            if isinstance(step, Tokens):
                tokens = step
        reply = _reply(request, number, tokens)
        if not request.endpoint.endswith(_STREAM):
            return _whole(reply, played)
        return paced(played, _pieces(reply, [*played, *_finishing(request, played)]))


def _reply(request: HttpRequest, number: int, tokens: Tokens) -> GeminiReply:
    model = request.endpoint.rpartition("/")[2].partition(":")[0]
    return GeminiReply(f"resp-{number:06x}", model, tokens)


def _finishing(request: HttpRequest, played: Played) -> Played:
    """The call with which a sub-agent ends: its last words alone would be asked for again."""
    parts = [part for _, part in played if part is not None]
    texts = [str(part["text"]) for part in parts if "text" in part and not part.get("thought")]
    if not texts or any("functionCall" in part for part in parts):
        return []
    call = FunctionTools(offered_functions(request.body.get("tools"))).finishing("".join(texts))
    if call is None:
        return []
    item = {"functionCall": {"name": call["name"], "args": call["arguments"]}}
    return [(Item(item), item)]


def _pieces(reply: GeminiReply, played: Played) -> Iterator[Action | Slow]:
    for step, part in played:
        match step:
            case Pause(seconds):
                yield Wait(seconds)
            case Slow():
                yield step
            case Fault():
                yield from _fault(reply, step)
                if not isinstance(step, Garbage):
                    return
            case _:
                if part is not None:
                    yield from reply.part(part)
    yield reply.end("STOP")


def _fault(reply: GeminiReply, step: Fault) -> Iterator[Action]:
    match step:
        case Drop(saying):
            if saying is not None:
                yield from reply.part({"text": saying})
            yield HangUp()
        case Silence(seconds):
            yield Wait(seconds)
            yield HangUp()
        case Fail():
            yield data({"error": error_of(500, step.message, None)})
        case Incomplete(reason):
            yield reply.end(_REASONS.get(reason, reason))
        case Garbage(text):
            yield b"data: " + text.encode() + b"\r\n\r\n"
        case _:
            return


def _whole(reply: GeminiReply, played: Played) -> Iterator[Action]:
    parts = [part for _, part in played if part is not None]
    for step, _ in played:
        match step:
            case Pause(seconds):
                yield Wait(seconds)
            case Drop() | Silence():
                yield Wait(step.seconds if isinstance(step, Silence) else 0)
                yield HangUp()
                return
            case Fail():
                yield http_error(Http(500, message=step.message))
                return
            case _:
                continue
    yield json_head(200, reply.body(parts, "STOP"), extra_headers(played))
