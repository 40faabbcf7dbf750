from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dragoman.drive.process import releases
from dragoman.drive.process.releases import recall_release, remember_release

RELEASE = (0, 166, 0)


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A file as large as a program."""
    path = tmp_path / "agent"
    with path.open("wb") as file:
        file.truncate(releases.SMALLEST)
    return str(path)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"DRAGOMAN_CACHE": str(tmp_path / "cache")}


def test_an_answer_is_kept_where_only_the_user_reads_it(
    program: str, environment: dict[str, str]
) -> None:
    assert recall_release(program, environment) is None
    remember_release(program, RELEASE, environment)

    assert recall_release(program, environment) == RELEASE
    (file,) = Path(environment["DRAGOMAN_CACHE"]).iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_program_that_was_replaced_is_asked_again(
    program: str, environment: dict[str, str]
) -> None:
    remember_release(program, RELEASE, environment)
    before = os.stat(program)
    Path(program).rename(f"{program}.old")
    with open(program, "wb") as file:
        file.truncate(releases.SMALLEST)
    # Package managers give every file the same time.
    os.utime(program, ns=(before.st_mtime_ns, before.st_mtime_ns))

    assert recall_release(program, environment) is None


def test_a_launcher_is_never_remembered(tmp_path: Path, environment: dict[str, str]) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text("#!/bin/sh\nexec the-current-release\n")
    remember_release(str(launcher), RELEASE, environment)

    assert recall_release(str(launcher), environment) is None


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"x": 1}', b"\xff\xfe", b"[" * 100_000, b'{"x":[[1,2],[3]]}']
)
def test_a_damaged_cache_is_no_cache(
    program: str, environment: dict[str, str], content: bytes
) -> None:
    remember_release(program, RELEASE, environment)
    (file,) = Path(environment["DRAGOMAN_CACHE"]).iterdir()
    file.write_bytes(content)

    assert recall_release(program, environment) is None
    remember_release(program, RELEASE, environment)
    assert recall_release(program, environment) == RELEASE


def test_a_cache_that_cannot_be_written_is_no_error(program: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environment = {"DRAGOMAN_CACHE": str(tmp_path / "file")}
    remember_release(program, RELEASE, environment)

    assert recall_release(program, environment) is None


def test_the_newest_programs_are_kept(
    program: str, environment: dict[str, str], tmp_path: Path
) -> None:
    remember_release(program, RELEASE, environment)
    for number in range(40):
        other = tmp_path / f"other-{number}"
        os.link(program, other)
        remember_release(str(other), (number, 0, 0), environment)

    assert recall_release(str(tmp_path / "other-39"), environment) == (39, 0, 0)
    assert recall_release(str(tmp_path / "other-0"), environment) is None
