from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dragoman.archive.finding import FoundFile, by_hand
from dragoman.archive.following import FollowedMessage, follow
from dragoman.model.messages import Prompt, SessionStarted, Text, ToolResult, TurnEnded
from dragoman.reading.compression import zstd
from dragoman.reading.read import read
from support.archive.saved_sessions import Rows, save, simple


class Play:
    """Follows a home, in which something happens whenever the follower sleeps."""

    def __init__(self, home: Path, *scenes: Callable[[], object], only: str | None = None) -> None:
        self._home = home
        self._scenes = list(scenes)
        self._follow = follow(self._find, only=only, sleep=self._next)

    def _find(self) -> list[FoundFile]:
        return list(by_hand([self._home]))

    def _next(self, _seconds: float) -> None:
        if not self._scenes:
            raise EOFError
        self._scenes.pop(0)()

    def heard(self) -> list[FollowedMessage]:
        told: list[FollowedMessage] = []
        try:
            for batch in self._follow:
                told += batch
        except EOFError:
            return told
        raise AssertionError


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def rest(rows: Rows) -> bytes:
    """Rows without their header."""
    return rows.data.split(b"\n", 1)[1]


def test_only_what_comes_is_told(tmp_path: Path) -> None:
    path = save(tmp_path, 1, simple(1, ["old"] * 500))
    save(tmp_path, 2, simple(2, ["quiet"]))

    heard = Play(
        tmp_path, lambda: append(path, rest(Rows(1).turn("new prompt", "new text")))
    ).heard()

    assert {each.path for each in heard} == {str(path)}
    assert [each.message.text for each in heard if isinstance(each.message, Prompt | Text)] == [
        "new prompt",
        "new text",
    ]


def test_a_call_from_before_gets_its_result(tmp_path: Path) -> None:
    rows = Rows(1).begin("go").run("sleep 9", "woke up")
    cut = rows.data.rindex(b"\n", 0, -1) + 1
    path = save(tmp_path, 1, rows.data[:cut])

    heard = Play(tmp_path, lambda: append(path, rows.data[cut:])).heard()

    [result] = [each.message for each in heard if isinstance(each.message, ToolResult)]
    assert "woke up" in result.output


def test_a_new_file_is_told_from_its_beginning_and_lines_when_they_are_whole(
    tmp_path: Path,
) -> None:
    data = simple(3, ["fresh"])
    path = tmp_path / "sessions/new.jsonl"
    path.parent.mkdir()

    heard = Play(
        tmp_path,
        lambda: path.write_bytes(b""),
        lambda: append(path, data[:50]),
        lambda: append(path, data[50:2000]),
        lambda: append(path, data[2000:]),
    ).heard()

    assert isinstance(heard[0].message, SessionStarted)
    assert [each.message.text for each in heard if isinstance(each.message, Prompt)] == [
        "please fresh"
    ]


def test_one_session_alone_can_be_followed(tmp_path: Path) -> None:
    one, other = save(tmp_path, 1, simple(1)), save(tmp_path, 2, simple(2))

    def both() -> None:
        append(one, rest(Rows(1).turn("mine", "a")))
        append(other, rest(Rows(2).turn("theirs", "b")))

    heard = Play(tmp_path, both, only=str(one)).heard()

    assert [each.message.text for each in heard if isinstance(each.message, Prompt)] == ["mine"]


def test_files_that_are_cut_or_go_away_do_not_stop_it(tmp_path: Path) -> None:
    path = save(tmp_path, 1, simple(1, ["a", "b"]))

    heard = Play(
        tmp_path, lambda: path.write_bytes(simple(1, ["c"])), path.unlink, lambda: None
    ).heard()

    assert [each.message.text for each in heard if isinstance(each.message, Prompt)] == ["please c"]


def texts(heard: list[FollowedMessage]) -> list[str]:
    return [each.message.text for each in heard if isinstance(each.message, Prompt | Text)]


def test_a_file_that_is_moved_or_compressed_is_still_the_same(tmp_path: Path) -> None:
    one, other = save(tmp_path, 1, simple(1, ["a"])), save(tmp_path, 2, simple(2, ["b"]))
    put_away = tmp_path / "archived_sessions" / one.name
    put_away.parent.mkdir()

    def compress(path: Path, more: bytes = b"") -> None:
        packed = zstd().compress(path.read_bytes() + more)
        path.with_name(f"{path.name}.zst").write_bytes(packed)
        path.unlink()

    heard = Play(
        tmp_path,
        lambda: append(one, rest(Rows(1).turn("second", "two"))),
        lambda: one.rename(put_away),
        lambda: append(put_away, rest(Rows(1).turn("third", "three"))),
        lambda: compress(put_away, rest(Rows(1).turn("fourth", "four"))),
        lambda: compress(other, rest(Rows(2).turn("late", "word"))),
        lambda: None,
    ).heard()

    assert texts(heard) == ["second", "two", "third", "three", "fourth", "four", "late", "word"]


def test_a_turn_ends_when_its_file_says_so_and_not_before(tmp_path: Path) -> None:
    rows = Rows(1).begin("go").run("ls", "x").data
    done = Rows(1).begin("go").run("ls", "x").say("done").end().data
    path = save(tmp_path, 1, b"")

    heard = Play(
        tmp_path,
        lambda: append(path, rows),
        *[lambda: None] * 5,
        *[lambda byte=byte: append(path, bytes((byte,))) for byte in done[len(rows) :]],
    ).heard()

    assert [each.message for each in heard] == list(read(done))
    assert sum(isinstance(each.message, TurnEnded) for each in heard) == 1
