from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dragoman.web.logins import Logins


def test_a_login_needs_both_of_its_secrets() -> None:
    logins = Logins()
    one, other = logins.begin(), logins.begin()

    assert logins.find(one.cookie, one.key) is not None
    for cookie, key in (
        (one.cookie, other.key),
        (other.cookie, one.key),
        (one.cookie, ""),
        ("", one.key),
        (one.cookie, one.cookie),
        (one.cookie + one.key, ""),
        ("", ""),
    ):
        assert logins.find(cookie, key) is None


def test_a_login_that_has_ended_is_no_login_after_a_restart_either(tmp_path: Path) -> None:
    path = tmp_path / "logins.json"
    logins = Logins(path)
    one, other = logins.begin(), logins.begin()
    name = logins.find(*one)
    assert name is not None

    logins.end(name)

    for known in (logins, Logins(path)):
        assert known.find(*one) is None
        assert known.find(*other) is not None


def test_the_file_is_private_and_of_no_use_to_who_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "logins.json"
    login = Logins(path).begin()

    said = path.read_text(encoding="utf-8")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert login.cookie not in said
    assert login.key not in said
    for word in said.split('"'):
        assert Logins(path).find(word, word) is None
        assert Logins(path).find(login.cookie, word) is None


def test_logins_end_by_themselves_after_a_month(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    logins = Logins(tmp_path / "logins.json", now=lambda: now[0])
    login = logins.begin()
    now[0] += timedelta(days=29)
    assert logins.find(*login) is not None
    now[0] += timedelta(days=2)
    assert logins.find(*login) is None

    logins.begin()

    assert (
        Logins(tmp_path / "logins.json", now=lambda: datetime(2026, 1, 2, tzinfo=UTC)).find(*login)
        is None
    )


def test_there_are_not_ever_more_logins(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    logins = Logins(now=lambda: now[0])
    made: list[tuple[str, str]] = []
    for _ in range(300):
        now[0] += timedelta(seconds=1)
        made.append(logins.begin())

    assert logins.find(*made[0]) is None
    assert all(logins.find(*each) for each in made[-256:])


@pytest.mark.parametrize("said", [b"", b"{", b"[]", b'{"a": 1}', b"\xff"])
def test_a_damaged_file_signs_nobody_in_and_stops_nobody(tmp_path: Path, said: bytes) -> None:
    path = tmp_path / "logins.json"
    path.write_bytes(said)

    logins = Logins(path)
    login = logins.begin()

    assert Logins(path).find(*login) is not None


def test_a_code_works_once_and_not_for_long() -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    logins = Logins(now=lambda: now[0])
    code, late = logins.new_code(), logins.new_code()

    assert not logins.take_code("wrong")
    assert logins.take_code(code)
    assert not logins.take_code(code)
    now[0] += timedelta(minutes=6)
    assert not logins.take_code(late)
