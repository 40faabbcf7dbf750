from __future__ import annotations

import pytest

from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.history import Origin
from dragoman.harnesses.contract.writer import HandedConversation
from support.handoff import AT, new_session

_WITH_WRITER = [each for each in HARNESSES if each.writer is not None]


@pytest.mark.parametrize("harness", _WITH_WRITER, ids=lambda each: each.name)
def test_what_is_written_is_found_again_as_a_session_of_that_harness(harness: Harness) -> None:
    new = new_session(harness.name)
    history = harness.history
    assert harness.writer is not None
    assert history is not None
    written = harness.writer.write(HandedConversation(), new)
    folder = written.file.split("/")[0]

    assert folder in [place.folder for place in history.places if not place.archived]
    assert written.file.endswith(history.suffixes)
    by_path = history.identify(f"/home/{written.file}", ())
    origin = history.identify(f"/home/{written.file}", written.lines)
    assert by_path is not None
    assert by_path.session_id == new.session_id
    assert origin == Origin(
        session_id=new.session_id, kind="hand-off", parent_session_id="source-1"
    )


@pytest.mark.parametrize("harness", _WITH_WRITER, ids=lambda each: each.name)
def test_ids_differ_and_are_in_the_command_that_resumes(harness: Harness) -> None:
    writer = harness.writer
    assert writer is not None
    one, other = writer.new_id(AT, bytes(16)), writer.new_id(AT, b"\x01" * 16)

    assert one != other
    assert writer.resume(one)[-1] == one
