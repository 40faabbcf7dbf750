from __future__ import annotations

from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import SessionStarted


def test_a_harness_that_can_be_played_plays_even_an_empty_session() -> None:
    able = [harness for harness in HARNESSES if harness.playback is not None]
    assert able
    for harness in able:
        assert harness.playback is not None
        timed = [TimedMessage(0.0, SessionStarted(session_id="s", harness=harness.name))]

        assert len(list(harness.playback.run(timed))) >= 1
        assert harness.playback.serve(timed).due_at() is None
