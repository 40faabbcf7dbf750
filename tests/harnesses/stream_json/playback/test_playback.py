"""A recording as turns to play."""

from __future__ import annotations

from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.harnesses.stream_json.playback.recorded import made_up_id, recorded
from dragoman.model.messages import SessionStarted, Text, TurnEnded, TurnStarted


def test_a_recording_is_cut_into_turns_and_each_has_an_end() -> None:
    said = [
        SessionStarted(session_id="s", harness="toy"),
        TurnStarted(session_id="s", turn_id="1"),
        Text(session_id="s", turn_id="1", text="One."),
        TurnEnded(session_id="s", turn_id="1", outcome="completed"),
        TurnStarted(session_id="s", turn_id="2"),
    ]
    script = recorded([TimedMessage(1.0, each) for each in said])

    assert script.session_id == "s"
    assert [len(turn) for turn in script.turns] == [3, 2]
    assert [turn[0].after for turn in script.turns] == [0.0, 0.0]
    (last,) = [cue.message for cue in script.turns[1] if isinstance(cue.message, TurnEnded)]
    assert last.outcome == "interrupted"


def test_an_id_that_is_made_up_is_always_the_same() -> None:
    assert made_up_id("a", 1) == made_up_id("a", 1) != made_up_id("a", 2)
