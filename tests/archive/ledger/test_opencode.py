"""The ledger over opencode's database, against opencode's own account of each session, which shares no code with it.

opencode adds up the tokens of a session in its row. That account has one trap: a fork begins with the tokens of the
messages that were copied from its parent.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from dragoman.archive.finding import by_hand, walk
from dragoman.archive.homes import registered
from dragoman.archive.ledger.groups import LedgerGroup, summary
from dragoman.archive.ledger.ledger import Ledger
from dragoman.archive.ledger.prices import Prices

_DATA = Path(__file__).parents[2] / "data" / "opencode"
_HOME = next(home for home in registered() if home.harness == "opencode")
_OWN = (
    "SELECT id, tokens_input + tokens_cache_read + tokens_cache_write, tokens_cache_read,"
    " tokens_output + tokens_reasoning FROM session WHERE tokens_output > 0"
)
_COPIED = (
    "SELECT p.data FROM part p JOIN message m ON m.id = p.message_id JOIN session s ON s.id = m.session_id"
    " WHERE s.id = ? AND json_extract(m.data, '$.time.created') < s.time_created"
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    shutil.copyfile(_DATA / "database" / "opencode.db", folder / "opencode.db")
    return folder


def _groups(paths: Iterable[Path]) -> dict[str, LedgerGroup]:
    ledger = Ledger.read(by_hand(paths), prices=Prices())
    return {group.key: group for group in summary(ledger, "session").groups}


def _counted(paths: Iterable[Path]) -> dict[str, tuple[int, ...]]:
    return {
        name: (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens)
        for name, group in _groups(paths).items()
        if (usage := group.usage) is not None and usage.total_tokens
    }


def _copies(home: Path) -> list[Path]:
    return [Path(each.path) for each in walk(_HOME, str(home), str(home / "cache"))]


def _oracle(database: Path) -> dict[str, tuple[int, ...]]:
    made: dict[str, tuple[int, ...]] = {}
    with closing(sqlite3.connect(database)) as connection:
        for name, *own in connection.execute(_OWN).fetchall():
            for (data,) in connection.execute(_COPIED, (name,)).fetchall():
                tokens = json.loads(data).get("tokens")
                if tokens is not None:
                    cache = tokens["cache"]
                    own[0] -= tokens["input"] + cache["read"] + cache["write"]
                    own[1] -= cache["read"]
                    own[2] -= tokens["output"] + tokens["reasoning"]
            if any(own):
                made[name] = tuple(own)
    return made


def _change(home: Path, *statements: str) -> None:
    with closing(sqlite3.connect(home / "opencode.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_each_response_of_opencode_is_counted_once(home: Path) -> None:
    expected = _oracle(home / "opencode.db")
    with closing(sqlite3.connect(home / "opencode.db")) as connection:
        naive = sum(own[1] for own in connection.execute(_OWN).fetchall())

    assert naive > sum(each[0] for each in expected.values()) > 0, "the fork is the trap"
    assert _counted(_copies(home)) == _counted(_copies(home)[::-1]) == expected


def test_rows_that_are_written_again_count_no_more(home: Path) -> None:
    before = _counted(_copies(home))
    _change(
        home,
        "UPDATE part SET time_updated = time_updated + 5, data = json_set(data, '$.seen', 1)",
        "UPDATE message SET time_updated = time_updated + 5, data = json_set(data, '$.seen', 1)",
    )
    copies = _copies(home)

    assert sum(path.read_bytes().count(b'"seen"') for path in copies) > 20
    assert _counted(copies) == before


def test_a_journal_of_the_same_turns_adds_nothing() -> None:
    for name in ("driven", "approvals", "story"):
        saved = sorted((_DATA / "1.18.33").glob(f"{name}.disk*.jsonl"))
        journal = _DATA / "1.18.33" / f"{name}.live.jsonl"

        assert _counted(saved)
        assert _counted([*saved, journal]) == _counted([journal, *saved]) == _counted(saved)


def test_what_opencode_says_to_have_cost_is_shown_beside_our_own_count(home: Path) -> None:
    step = "json_extract(data, '$.type') = 'step-finish'"
    _change(home, f"UPDATE part SET data = json_set(data, '$.cost', 0.25) WHERE {step}")
    with closing(sqlite3.connect(home / "opencode.db")) as connection:
        names = [
            name for (name,) in connection.execute("SELECT id FROM session ORDER BY time_created")
        ]
        count = "SELECT count(*) FROM part WHERE session_id = ? AND " + step
        steps = connection.execute(count, (names[0],)).fetchone()[0]
    groups = _groups(_copies(home))

    assert groups[names[0]].reported_cost == pytest.approx(0.25 * steps)
    assert sum(group.reported_cost or 0 for group in groups.values()) == pytest.approx(0.25 * steps)
