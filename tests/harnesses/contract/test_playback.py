from __future__ import annotations

from typing import Any

from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import Prompt, SessionStarted, Text, TurnEnded, TurnStarted


def test_a_harness_that_can_be_played_plays_a_session_of_one_answer() -> None:
    able = [harness for harness in HARNESSES if harness.playback is not None]
    assert able
    for harness in able:
        assert harness.playback is not None
        ids: dict[str, Any] = {"session_id": "s", "turn_id": "t"}
        answer = [
            SessionStarted(session_id="s", harness=harness.name),
            TurnStarted(**ids),
            Prompt(**ids, text="hi"),
            Text(**ids, text="Hello."),
            TurnEnded(**ids, outcome="completed"),
        ]
        timed = [TimedMessage(0.0, message) for message in answer]

        assert b"Hello." in b"".join(each.line for each in harness.playback.run(timed))
        assert harness.playback.serve(timed).due_at() is None
