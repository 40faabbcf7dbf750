from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest

from dragoman.cli.approvals.asker import Asker
from dragoman.cli.live.keys import KeyReader, Listener
from dragoman.cli.live.live import LiveView
from dragoman.model.messages import ApprovalRequested

COMMAND = ApprovalRequested(
    approval_id="a",
    kind="command",
    summary="rm -rf build",
    detail={"command": "rm -rf build", "reason": "it is stale"},
    choices=["allow", "allow_for_session", "deny", "cancel"],
)
QUESTION = ApprovalRequested(
    approval_id="q",
    kind="question",
    summary="Which colour? How many?",
    detail={
        "questions": [
            {
                "id": "colour",
                "question": "Which colour?",
                "options": [{"label": "Red"}, {"label": "Blue"}],
            },
            {"id": "count", "question": "How many?"},
        ]
    },
)


class Person:
    """Interrupts keys at a time of their own; the clock goes only as far as they say."""

    def __init__(self, terminal: Any) -> None:
        self.now = 0.0
        self.terminal = terminal
        self.view = LiveView(terminal, colour=False, width=terminal.width, animate=True)
        self._listeners: list[Listener] = []

    @contextmanager
    def sent_to(self, listener: Listener) -> Generator[None]:
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def press(self, data: bytes) -> None:
        for key in KeyReader().feed(data):
            for listener in self._listeners[-1:]:
                listener(key)

    def answer(self, request: ApprovalRequested, *pressed: bytes, calm: float = 1.0) -> Any:
        asker = Asker(self.view, self, lambda: self.now, patience=60, shows=True)

        async def run() -> Any:
            async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
                asked = tasks.create_task(asker(request))
                for data in pressed:
                    await asyncio.sleep(0)
                    self.now += calm
                    self.press(data)
                if not pressed:
                    await asyncio.sleep(0)
                    self.now += 61
                    self.press(b"?")  # means nothing, and makes it look at the clock
                return await asked

        return asyncio.run(run())


@pytest.fixture
def person(terminal: Callable[..., Any]) -> Person:
    return Person(terminal(90))


@pytest.mark.parametrize(
    ("key", "word"),
    {b"y": "allow", b"a": "allow_for_session", b"n": "deny", b"c": "cancel"}.items(),
)
def test_a_key_decides(key: bytes, word: str, person: Person) -> None:
    assert person.answer(COMMAND, key).word == word


def test_the_whole_question_is_shown_with_the_choices_and_the_time(person: Person) -> None:
    person.answer(COMMAND, b"x", b"n")

    assert any(
        frame.endswith(
            "? Run this command?\n  │ rm -rf build\n"
            "  │ directory: the session's directory\n  │ it is stale\n\n"
            "y yes   a yes, for this session   n no   w no, and say why   c no, and stop\n"
            "denied in 60 s"
        )
        for frame in (frame.replace("61 s", "60 s") for frame in person.terminal.frames)
    ), person.terminal.frames
    assert person.view.footed == []


def test_a_choice_that_is_not_offered_is_none(person: Person) -> None:
    assert person.answer(COMMAND, b"p", b"n").word == "deny"


def test_who_does_not_answer_in_time_has_denied(person: Person) -> None:
    decision = person.answer(COMMAND)

    assert decision.word == "deny"
    assert decision.by == "deadline"


def test_a_word_to_the_agent_goes_with_the_refusal(person: Person) -> None:
    decision = person.answer(COMMAND, b"w", b"move it away", b"\r")

    assert decision.word == "deny"
    assert decision.message == "move it away"


def test_who_was_typing_when_the_question_came_has_not_answered_it(person: Person) -> None:
    hurried = [b"y", b"e", b"s", b"y"]

    async def ask() -> str:
        asker = Asker(person.view, person, lambda: person.now, patience=60)
        async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
            asked = tasks.create_task(asker(COMMAND))
            await asyncio.sleep(0)
            for key in hurried:
                person.now += 0.3
                person.press(key)
            assert not asked.done()
            person.now += 0.6
            person.press(b"n")
            return (await asked).word

    assert asyncio.run(ask()) == "deny"


def test_questions_are_answered_by_number_or_in_own_words(person: Person) -> None:
    decision = person.answer(QUESTION, b"2", b"\r", b"three or so", b"\r")

    assert decision.word == "answered"
    assert decision.answers == {"colour": ["Blue"], "count": ["three or so"]}


def test_the_end_of_the_terminal_is_a_no(person: Person) -> None:
    assert person.answer(COMMAND, b"\x04").word == "deny"
