from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from dragoman.reading.regular import NotRegular, is_regular, open_regular


def test_a_file_is_opened_and_not_inherited(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x\n")

    with open_regular(path) as file:
        assert file.read() == b"x\n"
        assert not os.get_inheritable(file.fileno())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_named_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")

    with pytest.raises(NotRegular, match="it is a named pipe, not a file"):
        open_regular(tmp_path / "pipe.jsonl")


def test_a_directory_a_socket_and_a_device_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="it is a directory"):
        open_regular(tmp_path)
    with pytest.raises(NotRegular, match="it is a device"):
        open_regular("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        with pytest.raises(NotRegular, match="it is a socket"):
            open_regular(tmp_path / "s")


def test_what_takes_the_place_of_a_file_while_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")
    before = os.stat(path)
    path.unlink()
    os.mkfifo(path)

    def stat(_path: str) -> os.stat_result:
        return before

    monkeypatch.setattr(os, "stat", stat)

    assert is_regular(before)
    with pytest.raises(NotRegular):
        open_regular(path)
