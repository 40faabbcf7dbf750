from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dragoman.archive.finding import by_hand
from dragoman.archive.ledger import rate_limits as module
from dragoman.archive.ledger.rate_limits import newest_limits


def _row(used: float, second: int) -> bytes:
    limits = {"primary": {"used_percent": used, "window_minutes": 300, "resets_at": 1794799999}}
    payload: dict[str, Any] = {"type": "token_count", "info": None, "rate_limits": limits}
    at = f"2026-11-16T02:00:{second:02d}.000Z"
    row = {"timestamp": at, "type": "event_msg", "payload": payload}
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


_META = (
    b'{"timestamp":"2026-11-16T02:00:00.000Z","type":"session_meta",'
    b'"payload":{"id":"s","cwd":"/w","cli_version":"0.142.0"}}\n'
)


def _write(path: Path, *rows: bytes, age: int = 0) -> None:
    path.write_bytes(b"".join((_META, *rows)))
    os.utime(path, (1_794_800_000 - age, 1_794_800_000 - age))


def test_the_newest_word_counts(tmp_path: Path) -> None:
    _write(tmp_path / "old.jsonl", _row(90, 50), age=100)
    _write(tmp_path / "new.jsonl", _row(10, 1), _row(20, 2))
    _write(tmp_path / "newest-but-silent.jsonl", age=-100)

    told = newest_limits(by_hand([tmp_path]))

    assert told is not None
    assert told.file == str(tmp_path / "new.jsonl")
    assert told.at == datetime(2026, 11, 16, 2, 0, 2, tzinfo=UTC)
    [window] = told.windows
    assert (window.name, window.used_percent) == ("primary", 20)
    assert window.resets_at == datetime.fromtimestamp(1794799999, UTC)


def test_only_the_end_of_a_long_file_is_read(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "_TAIL", 2000)
    _write(tmp_path / "long.jsonl", *(_row(number, number) for number in range(60)))
    told = newest_limits(by_hand([tmp_path]))
    assert told is not None
    assert told.windows[0].used_percent == 59

    # Where the end tells nothing, the whole is read.
    filler = (
        b'{"timestamp":"2026-11-16T02:00:00.000Z","type":"compacted","payload":{"message":"x"}}\n'
    )
    _write(tmp_path / "long.jsonl", _row(7, 7), *([filler] * 100))
    told = newest_limits(by_hand([tmp_path]))
    assert told is not None
    assert told.windows[0].used_percent == 7


def test_what_unchanged_files_said_is_kept(tmp_path: Path, monkeypatch: Any) -> None:
    read: list[str] = []
    last = module._last

    def counted(found: Any) -> Any:
        read.append(Path(found.path).name)
        return last(found)

    monkeypatch.setattr(module, "_last", counted)
    home, cache = tmp_path / "home", str(tmp_path / "limits.json")
    home.mkdir()
    _write(home / "a.jsonl", _row(10, 1), age=100)
    _write(home / "silent.jsonl")

    told = [newest_limits(by_hand([home]), cache=cache) for _ in range(3)]
    assert told[0] == told[1] == told[2] == newest_limits(by_hand([home]))
    assert read == ["silent.jsonl", "a.jsonl"] * 2

    _write(home / "a.jsonl", _row(10, 1), _row(33, 2), age=50)
    grown = newest_limits(by_hand([home]), cache=cache)
    assert grown is not None
    assert grown.windows[0].used_percent == 33
    assert read[4:] == ["a.jsonl"]

    Path(cache).write_bytes(b"something else")
    assert newest_limits(by_hand([home]), cache=cache) == grown
    (home / os.fsdecode(b"\xff.jsonl")).write_bytes(_META)
    assert newest_limits(by_hand([home]), cache=cache) == grown


def test_nobody_may_tell_limits(tmp_path: Path) -> None:
    _write(tmp_path / "silent.jsonl")
    [found] = by_hand([tmp_path])

    assert newest_limits([found, found._replace(path=str(tmp_path / "gone.jsonl"))]) is None
    assert newest_limits([]) is None
