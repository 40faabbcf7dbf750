from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses import HARNESSES
from dragoman.wire import jsonl

_PIECES = st.sampled_from(
    [
        b'{"timestamp":"2026-01-01T00:00:00.000Z","ordinal":0,"type":"session_meta","payload":'
        b'{"id":"s","history_mode":"paginated"}}',
        b'{"timestamp":"2026-01-01T00:00:01.000Z","ordinal":1,"type":"event_msg","payload":'
        b'{"type":"task_started","turn_id":"t"}}',
        b'{"timestamp":"2026-01-01T00:00:02.000Z","type":"event_msg","payload":'
        b'{"type":"agent_message","message":"a \\"quote\\" \xc3\xa9"}}',
        b"\n",
        b"\0\0",
        b"}",
        b'{"',
        b"\xff",
        b"null",
        b"[]",
        b'{"id":"x","timestamp":"y"}',
    ]
)


@given(st.lists(_PIECES, max_size=12), st.integers(0, 400))
def test_a_repaired_copy_of_any_file_has_only_rows(pieces: list[bytes], cut: int) -> None:
    data = b"".join(pieces)
    lines = data[: max(1, len(data) - cut)].splitlines(keepends=True)
    able = [harness for harness in HARNESSES if harness.care is not None]
    assert able
    for harness in able:
        assert harness.care is not None
        checker = harness.care.make_checker()
        for line in lines:
            checker.receive_line(line)
        checker.finish()
        repairer = checker.repairer("s")

        new = [row for line in lines for row in repairer.receive_line(line)] + repairer.finish()

        for row in new:
            assert isinstance(jsonl.loads(row), dict)
