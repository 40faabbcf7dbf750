from __future__ import annotations

import os
import socket
import sys

import pytest

from dragoman.drive.process import sock_diag
from dragoman.drive.process.sock_diag import find_socket

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is Linux that is asked")


def _no_way(*_: object) -> None:
    return None


@pytest.fixture(params=["asked", "listed"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """By each of the two ways alone."""
    if request.param == "listed":
        monkeypatch.setattr(sock_diag, "_asked", _no_way)
    else:
        monkeypatch.setattr(sock_diag, "_listed", _no_way)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize(
    ("listens", "connects"),
    [("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "::ffff:127.0.0.1"), ("::1", "::1")],
)
def test_a_socket_is_found_by_its_ends(listens: str, connects: str) -> None:
    families = [socket.AF_INET6 if ":" in each else socket.AF_INET for each in (listens, connects)]
    with socket.socket(families[0]) as server, socket.socket(families[1]) as client:
        server.bind((listens, 0))
        server.listen()
        port = server.getsockname()[1]
        client.connect((connects, port))
        accepted, peer = server.accept()
        with accepted:
            found = find_socket(peer[:2], accepted.getsockname()[:2])

            assert found is not None
            assert found.inode == os.fstat(client.fileno()).st_ino
            assert found.uid == os.getuid()
            client.close()
            closed = find_socket(peer[:2], accepted.getsockname()[:2])
            assert closed is None or closed.inode == 0


@pytest.mark.usefixtures("_way")
def test_a_socket_of_another_machine_is_not_found() -> None:
    assert find_socket(("192.0.2.7", 4000), ("192.0.2.1", 8787)) is None
    assert find_socket(("2001:db8::1", 4000), ("2001:db8::2", 8787)) is None
