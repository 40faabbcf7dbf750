"""Session files that no release writes, yet a disk may hold."""

from __future__ import annotations

import json

import pytest

from dragoman import Unknown, Usage, UsageReport, audit, encode, read
from dragoman.model.messages import type_of
from dragoman.reading.mapper import Mapper


def test_a_patch_call_that_is_written_twice_is_accounted_for() -> None:
    call = (
        b'{"type":"response_item","payload":'
        b'{"type":"custom_tool_call","call_id":"c1","name":"apply_patch"}}\n'
    )
    data = b'{"type":"session_meta","payload":{"id":"s","history_mode":"paginated"}}\n' + call * 2

    account = audit(data)

    assert (account.lines, account.unaccounted) == (3, [])


def test_a_late_header_of_another_session_tells_the_same_in_chunks() -> None:
    data = (
        b'{"type":"session_meta","payload":{"id":"s1"}}\n'
        b'{"type":"turn_context","payload":{}}\n'
        b'{"type":"session_meta","payload":{"id":"s2"}}\n'
    )

    assert list(read(data.splitlines(keepends=True))) == list(read(data))


@pytest.mark.parametrize("only", ["usage", "turn_started"])
def test_reading_some_types_of_a_file_without_its_head_is_reading_all_and_choosing(
    only: str,
) -> None:
    data = (
        b'{"timestamp":"2026-11-16T02:33:17.329Z","type":"response_item","payload":'
        b'{"type":"function_call","name":"shell","call_id":"c1"}}\n'
        b'{"timestamp":"2026-11-16T02:33:18.329Z","type":"event_msg","payload":{"type":"token_count",'
        b'"info":{"last_token_usage":{"input_tokens":5}}}}\n'
    )

    chosen = [each for each in read(data) if type_of(type(each)) == only]

    assert len(chosen) == 1
    assert list(read(data, only={only})) == chosen


@pytest.mark.parametrize("to", ["claude", "orchestrator"])
def test_times_with_and_without_a_zone_may_stand_in_one_file(to: str) -> None:
    data = (
        b'{"timestamp":"2026-11-15T22:26:06","type":"event_msg","payload":'
        b'{"type":"user_message","message":"fix it"}}\n'
        b'{"timestamp":"2026-11-15T22:26:10.500Z","type":"turn_context","payload":{}}\n'
    )
    mapper = Mapper(to)

    lines = [json.loads(line) for line in mapper.push(data) + mapper.flush()]

    assert lines
    [asked] = [each for each in read(data) if type_of(type(each)) == "prompt"]
    assert asked.at is not None
    assert asked.at.isoformat() == "2026-11-15T22:26:06+00:00"


def test_a_count_that_is_none_is_kept_as_it_came_and_the_next_one_counts() -> None:
    usage = (
        b'{"type":"event_msg","payload":{"type":"token_count",'
        b'"info":{"last_token_usage":{"input_tokens":%s}}}}\n'
    )

    messages = list(read(usage % (b"9" * 4300) + usage % b"160", dialect="codex-rollout"))

    kept = [each for each in messages if isinstance(each, Unknown)]
    assert [each.line for each in kept] == [1]
    assert [each.total for each in messages if isinstance(each, UsageReport)] == [Usage(160)]
    assert all(encode(message) for message in messages)
