from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dragoman.archive.ledger.sharing import can_share, share

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="copies of a process pay only on Linux"),
    # The processes of the tests themselves have threads; from 3.12 on that is worth a warning.
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]
_PORTIONS = [f"portion {number}" for number in range(300)]


def _work(portion: str) -> bytes:
    return portion.encode() * 200


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_every_portion_is_worked_on_once(processes: int) -> None:
    before = _children()
    made = list(share(_PORTIONS, _work, processes))

    assert sorted(made) == sorted(map(_work, _PORTIONS))
    assert _children() == before


def test_nothing_to_do_is_done() -> None:
    assert list(share([], _work, 3)) == []


class _Helped:
    """Work of which a helper does some for certain, in its own way."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self._own = os.getpid()
        self._heard, self._said = os.pipe()

    def __call__(self, portion: str) -> bytes:
        if os.getpid() != self._own:
            os.write(self._said, b"!")
            self._act()
        elif portion == _PORTIONS[0] or not self.was_helped():
            assert select.select([self._heard], [], [], 20)[0]
        return _work(portion)

    def was_helped(self) -> bool:
        return bool(select.select([self._heard], [], [], 0)[0])

    def close(self) -> None:
        os.close(self._heard)
        os.close(self._said)


@pytest.fixture
def helped(request: pytest.FixtureRequest) -> Iterator[_Helped]:
    work = _Helped(request.param)
    yield work
    work.close()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _fail() -> None:
    raise RuntimeError("a mistake of ours")


@pytest.mark.parametrize("helped", [_die, _fail, bool], indirect=True)
def test_what_a_helper_left_undone_is_done(helped: _Helped) -> None:
    made = list(share(_PORTIONS, helped, 2))

    assert helped.was_helped()
    assert sorted(made) == sorted(map(_work, _PORTIONS))


@pytest.mark.parametrize("helped", [signal.pause], indirect=True)
def test_a_helper_ends_with_whoever_stops_asking(helped: _Helped) -> None:
    before = _children()
    sharing = share(_PORTIONS, helped, 3)
    next(sharing)
    assert len(_children() - before) == 2

    sharing.close()
    assert _children() == before


_PROGRAM = """
import os
from dragoman.archive.ledger.sharing import share
def work(portion):
    os.write(1, b"%d\\n" % os.getpid())
    return b""
for _ in share(range(4000), work, 2):
    pass
"""


def test_a_helper_does_not_outlive_us() -> None:
    with subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        helper = next(pid for pid in map(int, program.stdout) if pid != program.pid)
        handle = os.pidfd_open(helper)
        program.kill()
        program.stdout.close()
        assert select.select([handle], [], [], 20)[0], "the helper is still there"
        os.close(handle)


def test_no_file_is_left_open() -> None:
    before = set(os.listdir("/proc/self/fd"))
    list(share(_PORTIONS, _work, 4))

    assert set(os.listdir("/proc/self/fd")) == before


def test_a_process_with_threads_is_not_copied() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait, args=(10,))
    thread.start()
    try:
        assert not can_share()
    finally:
        done.set()
        thread.join()
