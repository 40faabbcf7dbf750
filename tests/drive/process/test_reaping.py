from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager

import pytest

from dragoman.drive.process import reaping
from dragoman.drive.process.reaping import (
    TAG,
    Known,
    Register,
    Stat,
    find,
    read_stat,
    read_tags,
    stop_all,
)

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"), reason="everything here is read from /proc"
)

SLEEP = "print('up', flush=True); import time; time.sleep(60)"
PARENT = (
    "import subprocess, sys\n"
    f"child = subprocess.Popen([sys.executable, '-I', '-S', '-c', {SLEEP!r}], stdout=-3 {{options}})\n"
    "print(child.pid, flush=True)\nsys.stdin.read()"
)


@contextmanager
def sleeping(
    source: str = SLEEP, tag: str | None = "mine"
) -> Generator[tuple[subprocess.Popen[str], str]]:
    env = {**os.environ, TAG: tag} if tag else {**os.environ}
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        assert process.stdout
        yield process, process.stdout.readline().strip()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=5)


def start_of(pid: int) -> int:
    stat = read_stat(pid)
    assert stat
    return stat.start


def test_a_process_is_known_by_number_start_and_tag() -> None:
    with sleeping() as (process, _):
        start = start_of(process.pid)
        pid = process.pid

        assert [stat.pid for stat in find([Known("mine", pid, start)])] == [pid]
        assert find([Known("other", pid, start)]) == []
        assert find([Known("other", pid, start - 1)]) == []
        assert find([Known("other", pid, start + 1)]) == []
        assert find([]) == []


def test_a_number_that_is_used_again_is_not_touched() -> None:
    with sleeping(PARENT.format(options=""), tag=None) as (process, line):
        recorded = Known("mine", process.pid, start_of(process.pid) - 100)

        assert stop_all([recorded]) == []
        assert process.poll() is None
        assert read_stat(int(line)), "nor is the group of who has the number now"


def test_who_hides_its_environment_is_known_by_number_and_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reaping, "read_tags", lambda pid: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with sleeping() as (process, _):
        start = start_of(process.pid)

        assert [stat.pid for stat in find([Known("mine", process.pid, start)])] == [process.pid]
        assert find([Known("mine", process.pid, start - 1)]) == []


def test_the_dead_and_ourselves_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaping, "read_tags", lambda pid: frozenset(["mine"]))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    me = os.getpid()

    with sleeping() as (process, _):
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        found = [stat.pid for stat in find([Known("mine", me, start_of(me))])]

    assert me not in found
    assert process.pid not in found


def test_who_left_the_session_is_found_by_its_tag_and_stopped() -> None:
    with sleeping(PARENT.format(options=", start_new_session=True")) as (process, line):
        known = Known("mine", process.pid, start_of(process.pid))
        end = time.monotonic() + 5
        while read_tags(int(line)) is None:  # for a moment after its start there is nothing to see
            assert time.monotonic() < end
        assert {stat.pid for stat in find([known])} == {process.pid, int(line)}

        assert stop_all([known]) == []
        assert process.wait(timeout=5) == -signal.SIGTERM
        assert find([known]) == []


def test_who_cleared_its_environment_is_found_by_its_group() -> None:
    with sleeping(PARENT.format(options=", env={}")) as (process, line):
        known = Known("mine", process.pid, start_of(process.pid))
        process.kill()
        process.wait(timeout=5)

        assert [stat.pid for stat in find([known])] == [int(line)]
        assert stop_all([known]) == []


def test_a_tag_is_found_among_those_of_who_stands_around_us() -> None:
    with sleeping(tag="outer:mine") as (process, _):
        assert read_tags(process.pid) == {"outer", "mine"}
        assert [stat.pid for stat in find([Known("outer")])] == [process.pid]


def test_what_cannot_be_read_is_not_there() -> None:
    assert read_stat(1 << 30) is None
    assert read_tags(1 << 30) is None


def test_a_signal_goes_to_nobody_else() -> None:
    with sleeping() as (process, _):
        stat = read_stat(process.pid)
        assert stat
        reaping.send_signal(stat._replace(start=stat.start - 1), signal.SIGKILL)
        assert process.poll() is None
        reaping.send_signal(stat._replace(pid=1 << 30), signal.SIGKILL)

        reaping.send_signal(stat, signal.SIGKILL)
        assert process.wait(timeout=5) == -signal.SIGKILL


def test_the_register_holds_what_runs_however_the_lines_are_cut() -> None:
    register = Register()
    for byte in b"+a\n=a 12 345\n+b\n+c\n-c\n-never\nnonsense\n\n=b\n":
        register.receive(bytes([byte]))

    assert register.known == {"a": Known("a", 12, 345), "b": Known("b")}


def run_reaper(lines: str, parent: int | None = None) -> None:
    subprocess.run(
        [sys.executable, "-I", "-S", reaping.__file__, str(parent or os.getpid())],
        input=lines,
        encoding="ascii",
        timeout=10,
        check=True,
    )


def test_the_program_stops_what_is_recorded_and_nothing_else() -> None:
    with sleeping(tag="one") as (one, _), sleeping(tag="two") as (two, _), sleeping() as (mine, _):
        run_reaper(
            f"+one\n=one {one.pid} {start_of(one.pid)}\n"
            f"=two {two.pid} {start_of(two.pid)}\n-two\n"
            f"=elsewhere {mine.pid} {start_of(mine.pid)}\n"
        )

        assert one.wait(timeout=1) == -signal.SIGTERM
        assert two.poll() is None
        assert mine.poll() is None


def test_who_ignores_the_program_is_killed() -> None:
    deaf = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"
    with sleeping(deaf) as (process, _):
        run_reaper(f"=mine {process.pid} {start_of(process.pid)}\n")

        assert process.wait(timeout=1) == -signal.SIGKILL


def test_the_program_does_not_wait_for_a_parent_that_is_gone() -> None:
    """Somebody else holds the other end of its input, and its parent is not who it should be."""
    with sleeping() as (process, _):
        read, write = os.pipe()
        os.write(write, f"=mine {process.pid} {start_of(process.pid)}\n".encode())
        try:
            subprocess.run(
                [sys.executable, "-I", "-S", reaping.__file__, "1"],
                stdin=read,
                timeout=10,
                check=True,
            )
        finally:
            os.close(read)
            os.close(write)

        assert process.wait(timeout=1) == -signal.SIGTERM


def test_who_gets_its_tag_only_when_we_are_gone_is_stopped_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Forked, and not started yet: so it was when we were killed."""
    late = (
        "import os, sys\nprint('forked', flush=True)\nsys.stdin.readline()\n"
        f"os.execve(sys.executable, [sys.executable, '-I', '-S', '-c', {SLEEP!r}], {{{TAG!r}: 'late'}})"
    )
    with sleeping(late, tag=None) as (process, said):
        assert said == "forked"
        looks: list[int] = []

        def look(known: Iterable[Known]) -> list[Stat]:
            found = find(known)
            if not looks:
                assert process.stdin
                process.stdin.write("\n")
                process.stdin.flush()
            looks.append(len(found))
            return found

        monkeypatch.setattr(reaping, "find", look)
        reaping.stop_beginning([Known("late"), Known("recorded", 1, 1)])

        assert looks[0] == 0
        assert process.wait(timeout=1) == -signal.SIGTERM
