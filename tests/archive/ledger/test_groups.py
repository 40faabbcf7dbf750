from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dragoman.archive.ledger.groups import By, summary
from dragoman.archive.ledger.ledger import Ledger
from dragoman.archive.ledger.reading import read_file_usage

TIMES = (
    "2026-11-15T23:50:00Z",  # a Sunday
    "2026-11-16T00:20:00Z",
    "2026-11-16T04:00:00Z",  # five hours after 23:00: the next block
    "2026-11-16T08:59:59Z",
    "2026-11-16T10:30:00Z",
    "2026-12-01T12:10:00Z",
)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = os.environ.get("TZ")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A response of 10 and 1 tokens at each of the times."""
    path = tmp_path / "rollout.jsonl"
    head = (
        '{"timestamp":"2026-11-15T23:50:00Z","type":"session_meta","payload":{"id":"s","cwd":"/w",'
        '"timestamp":"2026-11-15T23:50:00Z","cli_version":"0.142.0","originator":"x"}}\n'
        '{"timestamp":"2026-11-15T23:50:00Z","type":"event_msg","payload":{"type":"task_started",'
        '"turn_id":"t"}}\n'
    )
    rows = "".join(
        f'{{"timestamp":"{at}","type":"event_msg","payload":{{"type":"token_count","info":{{'
        f'"total_token_usage":{_tokens(number)},"last_token_usage":{_tokens(1)}}}}}}}\n'
        for number, at in enumerate(TIMES, 1)
    )
    path.write_text(head + rows, encoding="utf-8")
    return Ledger({str(path): read_file_usage(path)})


def _tokens(times: int) -> str:
    return (
        f'{{"input_tokens":{10 * times},"cached_input_tokens":0,"output_tokens":{times},'
        f'"reasoning_output_tokens":0,"total_tokens":{11 * times}}}'
    )


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("day", {"2026-11-15": 1, "2026-11-16": 4, "2026-12-01": 1}),
        ("week", {"2026-W46": 1, "2026-W47": 4, "2026-W49": 1}),
        ("month", {"2026-11": 5, "2026-12": 1}),
        (
            "block",
            {
                "2026-11-15 23:00-04:00": 2,
                "2026-11-16 04:00-09:00": 2,
                "2026-11-16 10:00-15:00": 1,
                "2026-12-01 12:00-17:00": 1,
            },
        ),
    ],
)
def test_times_are_summed_in_their_order(ledger: Ledger, by: By, groups: dict[str, int]) -> None:
    found = summary(ledger, by)

    assert {group.key: group.responses for group in found.groups} == groups
    assert [group.key for group in found.groups] == list(groups)
    assert found.total.responses == len(TIMES)
    assert found.groups[0].first_at == datetime(2026, 11, 15, 23, 50, tzinfo=UTC)
