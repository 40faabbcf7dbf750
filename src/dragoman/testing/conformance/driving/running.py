"""Rules about a process for each prompt: whatever becomes of it, the prompt is emitted and the turn ends once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from dragoman.harnesses.contract.transport import OneShot, Run, TurnTransport
from dragoman.model.messages import Message, Prompt, Text, TurnEnded
from dragoman.testing.conformance.check import BUGS, ConformanceRule, described
from dragoman.testing.conformance.corpus import Corpus
from dragoman.testing.conformance.driving.exchange import release_of
from dragoman.testing.conformance.driving.stories import FIRST, LAST, TURNS, cues, story
from dragoman.testing.conformance.once import call_problems
from dragoman.testing.mutations import mutated

_PROMPT = "Make the file."


def _transports(corpus: Corpus) -> Iterator[tuple[TurnTransport, list[bytes], Callable[[], Run]]]:
    """Yield each such transport, what its process prints for one prompt, and how to make a run."""
    if corpus.harness.playback is None:
        return
    release = release_of(corpus.harness)
    version = ".".join(map(str, release or (1, 0, 0)))
    messages = [
        message
        for message in story(corpus.harness.name, version, asks=False)
        if message.turn_id != TURNS[1]
    ]
    lines = [line for _, line in corpus.harness.playback.run(cues(messages))]
    for transport in corpus.harness.transports:
        if isinstance(transport, TurnTransport):

            def make(transport: TurnTransport = transport) -> Run:
                return transport.make_run(release, OneShot(prompt=_PROMPT, cwd="/w"))

            yield transport, lines, make


def _ran(run: Run, lines: Sequence[bytes], code: int | None) -> list[Message]:
    run.opening()
    for line in lines:
        run.receive_line(line)
    messages = run.messages()
    run.receive_exit(code)
    return messages + run.messages()


def a_prompt_of_its_own_ends_once(corpus: Corpus) -> Iterator[str]:
    """The process prints its answer and ends."""
    for transport, lines, make in _transports(corpus):
        messages = _ran(make(), lines, 0)
        texts = [each.text for each in messages if isinstance(each, Text)]
        if texts != [FIRST, LAST]:
            yield f"{transport.name}: the texts are {texts}"
        yield from (f"{transport.name}: {problem}" for problem in _problems(messages, "completed"))


def a_process_that_dies_ends_its_turn(corpus: Corpus) -> Iterator[str]:
    """It may die before its first line, or after any other."""
    for transport, lines, make in _transports(corpus):
        for length in range(len(lines)):
            messages = _ran(make(), lines[:length], -9)
            for problem in _problems(messages):
                yield f"{transport.name}, killed after {length} lines: {problem}"


def a_process_that_is_given_up_ends_its_turn(corpus: Corpus) -> Iterator[str]:
    """What still arrives belongs to the turn that was ended."""
    for transport, lines, make in _transports(corpus):
        for length in range(len(lines)):
            run = make()
            for line in lines[:length]:
                run.receive_line(line)
            run.end_turn("failed")
            for problem in _problems(_ran(run, lines[length:], -15)):
                yield f"{transport.name}, given up after {length} lines: {problem}"


def no_line_of_the_process_raises(corpus: Corpus) -> Iterator[str]:
    """The lines are damaged at random."""
    for transport, lines, make in _transports(corpus):
        for seed in range(corpus.mutations):
            try:
                messages = _ran(make(), mutated(Random(seed), lines), 0)
            except BUGS as problem:
                yield f"{transport.name}, damaged with seed {seed}: {described(problem)}"
                continue
            ends = [each for each in messages if isinstance(each, TurnEnded)]
            if len({(each.session_id, each.turn_id) for each in ends}) != len(ends) or not ends:
                yield f"{transport.name}, damaged with seed {seed}: the ends {ends}"


def _problems(messages: Sequence[Message], outcome: str | None = None) -> Iterator[str]:
    prompts = [each.text for each in messages if isinstance(each, Prompt)]
    if prompts != [_PROMPT]:
        yield f"the prompts are {prompts}"
    ends = [each.outcome for each in messages if isinstance(each, TurnEnded)]
    if len(ends) != 1 or (outcome is not None and ends != [outcome]):
        yield f"the turn ends as {ends}"
    yield from call_problems(messages)


RULES: tuple[ConformanceRule, ...] = (
    a_prompt_of_its_own_ends_once,
    a_process_that_dies_ends_its_turn,
    a_process_that_is_given_up_ends_its_turn,
    no_line_of_the_process_raises,
)
