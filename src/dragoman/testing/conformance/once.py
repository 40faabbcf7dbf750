"""Rules about messages: nothing twice, one end per turn, each call with its result, each token once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from dragoman.model.messages import (
    ApprovalRequested,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReport,
    type_of,
)
from dragoman.model.usage import Usage
from dragoman.testing.conformance.check import ConformanceRule
from dragoman.testing.conformance.corpus import Corpus


def nothing_is_emitted_twice(corpus: Corpus) -> Iterator[str]:
    """What arrives on several channels is emitted once, also if the lines differ."""
    for recorded, _ in corpus.recordings:
        seen = Counter(key for message in recorded.messages if (key := _identity(message)))
        for key, times in seen.items():
            if times > 1:
                yield f"{recorded}: {times} times {' '.join(map(str, key))}"


def _identity(message: Message) -> tuple[Any, ...] | None:
    """Return what can be emitted only once in a session; None for a message without an id."""
    kind, session = type_of(type(message)), message.session_id
    match message:
        case TurnStarted() if message.turn_id is not None:
            return kind, session, message.turn_id
        case ToolCall():
            return kind, session, message.call_id
        case ApprovalRequested():
            return kind, session, message.approval_id
        case Text() if message.item_id or message.message_id:
            # Without an item id, several texts share the id of their message.
            return kind, session, message.item_id or message.message_id, message.text
        case Thinking() if message.item_id:
            return kind, session, message.item_id, message.text
        case _:
            return None


def every_turn_ends_once(corpus: Corpus) -> Iterator[str]:
    """A turn that was started has one end when its stream is over, and no turn has two."""
    for recorded, _ in corpus.recordings:
        open_turns: dict[str | None, TurnStarted] = {}
        ended: Counter[tuple[str | None, str]] = Counter()
        for message in recorded.messages:
            session = message.session_id
            if isinstance(message, TurnStarted):
                if session in open_turns:
                    yield f"{recorded}: line {message.line}: a turn starts before the last one ended"
                open_turns[session] = message
            elif isinstance(message, TurnEnded):
                if open_turns.pop(session, None) is None:
                    yield f"{recorded}: line {message.line}: a turn ends that was not started"
                if message.turn_id is not None:
                    ended[session, message.turn_id] += 1
        for started in open_turns.values():
            yield f"{recorded}: the turn of line {started.line} has no end"
        for (_, turn_id), times in ended.items():
            if times > 1:
                yield f"{recorded}: turn {turn_id} ends {times} times"


def calls_have_results(corpus: Corpus) -> Iterator[str]:
    """Each call has one result of its own, or was abandoned; a late result may follow that."""
    for recorded, _ in corpus.recordings:
        yield from (f"{recorded}: {problem}" for problem in call_problems(recorded.messages))


def call_problems(messages: Iterable[Message]) -> Iterator[str]:
    """Pair the calls of a stream that is over with their results.

    ``abandoned`` is the result of a call whose turn ended without one.
    """
    results: dict[tuple[str | None, str], list[str]] = {}
    for message in messages:
        if isinstance(message, ToolCall):
            results[message.session_id, message.call_id] = []
        elif isinstance(message, ToolResult):
            key = (message.session_id, message.call_id)
            if key not in results:
                yield f"line {message.line}: a result without a call: {key[1]}"
            results.setdefault(key, []).append(message.status)
    for (_, call_id), statuses in results.items():
        own = [status for status in statuses if status != "abandoned"]
        if not statuses or len(own) > 1 or len(statuses) - len(own) > 1:
            yield f"call {call_id} has the results {statuses}"


def tokens_are_counted_once(corpus: Corpus) -> Iterator[str]:
    """What a turn spent is the sum of its responses, of which each counts once.

    Cached and written tokens are part of the input, reasoning is part of the output. A turn is compared if each of its
    reports names its response.
    """
    for recorded, _ in corpus.recordings:
        responses: dict[tuple[str | None, str | None], dict[str | None, Usage]] = defaultdict(dict)
        for message in recorded.messages:
            key = (message.session_id, message.turn_id)
            if isinstance(message, UsageReport):
                for usage in (message.last, message.total):
                    if usage is not None and not _is_sound(usage):
                        yield f"{recorded}: line {message.line}: {usage}"
                if message.last is not None:
                    responses[key][message.response_id] = message.last
            elif isinstance(message, TurnEnded) and message.usage is not None:
                if not _is_sound(message.usage):
                    yield f"{recorded}: line {message.line}: {message.usage}"
                reported = responses.pop(key, {})
                spent = sum(reported.values(), Usage())
                if reported and None not in reported and not _is_same(spent, message.usage):
                    yield f"{recorded}: line {message.line}: {message.usage}, but responses {spent}"


def _is_same(one: Usage, other: Usage) -> bool:
    return (one.input_tokens, one.output_tokens) == (other.input_tokens, other.output_tokens)


def _is_sound(usage: Usage) -> bool:
    cached = usage.cached_input_tokens + usage.cache_write_input_tokens
    return cached <= usage.input_tokens and usage.reasoning_output_tokens <= usage.output_tokens


RULES: tuple[ConformanceRule, ...] = (
    nothing_is_emitted_twice,
    every_turn_ends_once,
    calls_have_results,
    tokens_are_counted_once,
)
