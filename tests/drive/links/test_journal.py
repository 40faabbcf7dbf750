from __future__ import annotations

import json
import os
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dragoman.drive.links.journal import Journal
from dragoman.wire.lines import LongLine

AT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def test_lines_are_kept_as_they_are_in_the_recordings_wrapper(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.sent([b'{"id":1, "x":1.50}\n'], AT)
    journal.received([b'{"id":1}', b'{"method":"a"}\r'], AT)
    journal.close()

    assert (tmp_path / "journal.jsonl").read_bytes() == (
        b'{"dir":"send","t":1767323045.678000,"msg":{"id":1, "x":1.50}}\n'
        b'{"dir":"recv","t":1767323045.678000,"msg":{"id":1}}\n'
        b'{"dir":"recv","t":1767323045.678000,"msg":{"method":"a"}}\n'
    )


def test_the_time_is_now_unless_it_is_told(tmp_path: Path) -> None:
    before = datetime.now(UTC).timestamp()
    journal = Journal(tmp_path / "journal")
    journal.received([b"1"])
    journal.close()

    [entry] = read(tmp_path / "journal")
    assert before - 0.001 <= entry["t"] <= datetime.now(UTC).timestamp() + 0.001


def test_what_is_not_json_is_kept_as_text(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.received(
        [
            b"warning: low disk",
            b'{"cut":',
            b"caf\xe9",
            b"",
            LongLine(head=b"head", tail=b"tail", length=5000),
        ]
    )
    journal.received([b"[" * 100_000])
    journal.sent([b"{}\n{}\n"])
    journal.close()

    entries = read(tmp_path / "journal")
    assert [entry["raw"] for entry in entries[:5]] == [
        "warning: low disk",
        '{"cut":',
        "caf\ufffd",
        "",
        "head … tail",
    ]
    assert entries[4]["length"] == 5000
    assert entries[5]["raw"] == "[" * 100_000
    assert entries[6]["raw"] == "{}\n{}"


def test_given_secrets_are_masked(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", secrets=["swordfish", "1234567"])
    journal.sent([b'{"apiKey":"swordfish"}', b'{"number":1234567}'])
    journal.received([LongLine(head=b"a swordfish", tail=b"swordfish!", length=100)])
    journal.close()

    assert b"swordfish" not in (tmp_path / "journal").read_bytes()
    first, second, third = read(tmp_path / "journal")
    assert first["msg"] == {"apiKey": "[secret]"}
    assert second["raw"] == '{"number":[secret]}'
    assert third["raw"] == "a [secret] … [secret]!"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    Journal(tmp_path / "journal").close()

    assert stat.S_IMODE((tmp_path / "journal").stat().st_mode) == 0o600


def test_a_journal_goes_on_after_a_line_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b'{"dir":"recv","t":1,"msg":1}\n{"dir":"re')
    journal = Journal(path)
    journal.received([b"2"], AT)
    journal.close()

    assert path.read_bytes().split(b"\n")[1:3] == [
        b'{"dir":"re',
        b'{"dir":"recv","t":1767323045.678000,"msg":2}',
    ]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk here")
def test_a_full_disk_is_reported_once_and_nothing_raises() -> None:
    reported: list[OSError] = []
    journal = Journal("/dev/full", failed=reported.append)
    for _ in range(3):
        journal.received([b"{}"])
        journal.sent([b"{}"])
    journal.close()

    assert len(reported) == 1
    assert journal.error is reported[0]


def test_a_journal_that_cannot_be_opened_is_reported_once(tmp_path: Path) -> None:
    reported: list[OSError] = []
    journal = Journal(tmp_path / "no" / "journal", failed=reported.append)
    journal.received([b"{}"])

    assert [type(error) for error in reported] == [FileNotFoundError]


def test_a_closed_journal_keeps_nothing_and_says_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.close()
    journal.close()
    journal.sent([b"{}"])

    assert journal.error is None
    assert (tmp_path / "journal").read_bytes() == b""
