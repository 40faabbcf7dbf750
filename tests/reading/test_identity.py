from __future__ import annotations

from dragoman.reading.identity import harness_of_file, identify, named_session
from support.archive.saved_sessions import session_id, simple

_NAMED = f"/a/rollout-2026-11-15T22-25-24-{session_id(2)}.jsonl"


def test_the_lines_identify_a_file_and_without_them_its_name() -> None:
    lines = simple(1).split(b"\n")

    origin = identify("codex", _NAMED, lines)
    assert origin is not None
    assert origin.session_id == session_id(1)
    assert named_session(_NAMED) == session_id(2)
    assert named_session(_NAMED, "codex") == session_id(2)
    assert named_session("/a/notes.jsonl") is None
    assert named_session(_NAMED, "dragoman") is None  # it keeps no sessions
    assert identify(None, _NAMED, lines) is None


def test_a_damaged_file_belongs_to_the_harness_that_names_files_so() -> None:
    by_lines = harness_of_file("/a/x", simple(1).split(b"\n"))
    by_name = harness_of_file(_NAMED, [b"\0\0\0"])

    assert by_lines is not None
    assert by_lines.name == "codex"
    assert by_name is by_lines
    assert harness_of_file("/a/x", [b"\0\0\0"]) is None
