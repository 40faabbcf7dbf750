from __future__ import annotations

from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.playback import Cue
from dragoman.model.messages import SessionStarted


def test_a_harness_that_can_be_played_plays_even_an_empty_session() -> None:
    able = [harness for harness in HARNESSES if harness.acting is not None]
    assert able
    for harness in able:
        assert harness.acting is not None
        cues = [Cue(0.0, SessionStarted(session_id="s", harness=harness.name))]

        assert len(list(harness.acting.run(cues))) == 1
        assert harness.acting.serve(cues).due_at() is None
